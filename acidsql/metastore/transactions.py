"""The transactions of a session: opening with locks and a heartbeat, commit, abort and undo.

open -> lock, and open again where the locks came too late -> the block -> commit; on any failure abort and undo
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.interrupts import hold, holding
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore
from acidsql.metastore.heartbeat import Heartbeat, interval_of, is_lost
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_rules import Resources, resource
from acidsql.metastore.lock_waits import LockWaits
from acidsql.metastore.locks import DEFAULT_PATIENCE, Patience
from acidsql.tracing import Phase, current, phase

_AT_ONCE: Final = Patience(retries=0)
_ATTEMPTS: Final = 5
"""How often a statement opens another transaction because its locks came too late (Hive:
hive.txn.retrysnapshot.max.count)."""

_AWAY: Final = (Condition.METASTORE_UNAVAILABLE.name, Condition.METASTORE_FAILED.name)

Locks: TypeAlias = Callable[[], Sequence[LockComponent]]
"""Returns the locks of a statement. Called again once the locks are held: partitions may have been added meanwhile."""


def report_writes(
    metastore: Metastore,
    txn: TxnId,
    table: Table,
    *,
    added: Sequence[Partition],
    touched: Mapping[Operation, Collection[str]],
    written: Sequence[PartitionValues],
    made: Sequence[WrittenDirectory],
) -> None:
    """Tells the metastore what a transaction has written to a table, which comes before the commit.

    `added` are new partitions; they stay, empty, if the commit fails. `touched` are the names (`p=a/q=b`) of the
    partitions that it wrote to, by operation, if the table is partitioned and transactional. `written` are the values
    of all partitions that it wrote to. `made` are the directories that it has made in a transactional table.
    """
    if added:
        metastore.add_partitions(table, added)
    for operation, names in touched.items():
        metastore.add_dynamic_partitions(txn, table, sorted(names), operation)
    if made:
        metastore.note_written(txn, table, made)
    metastore.forget_statistics(txn if table.is_transactional else None, table, written)


@dataclass(slots=True)
class OpenTransaction:
    """An open transaction with a heartbeat. It ends with `commit` or `abort`."""

    metastore: Metastore
    id: TxnId
    heartbeat: Heartbeat
    committing: Callable[[], None] | None = None
    """Commits the transaction, where the metastore's `commit` is not enough."""
    undo: list[Callable[[], object]] = field(default_factory=list)
    """Steps that remove the transaction's files after an abort; they run in reverse order."""

    def require_open(self) -> None:
        """Asks the metastore whether the transaction is open, before a step that must not happen after its loss: other
        transactions then hold its locks, and a new table may use the directory of a dropped one. A process that was
        stopped for longer than the timeout does not know yet that its transactions were aborted.

        Raises TRANSACTION_ABORTED, NO_SUCH_TRANSACTION.
        """
        self.heartbeat.check()
        self.metastore.heartbeat(self.id)

    def lost(self, error: BaseException) -> AcidSqlError | None:
        """The reason why the transaction is gone, which may have caused `error` (cancelled jobs, removed files); None
        while it is open."""
        if self.heartbeat.lost is None and isinstance(error, Exception) and not isinstance(error, AcidSqlError):
            try:
                self.require_open()
            except AcidSqlError as answer:
                return answer if is_lost(answer) else None
        return self.heartbeat.lost

    def commit(self) -> None:
        """Commits the transaction. An earlier interrupt is raised before the commit, and a later one waits.

        Raises WRITE_CONFLICT, TRANSACTION_ABORTED (a heartbeat came too late), NO_SUCH_TRANSACTION.
        """
        with phase(Phase.COMMIT):
            self.heartbeat.check()
            if hold():
                raise KeyboardInterrupt
            (self.committing or (lambda: self.metastore.commit(self.id)))()
            self.heartbeat.stop()

    def abort(self) -> None:
        """Aborts the transaction, and only then removes its files: until the abort it may have committed."""
        with phase(Phase.UNDO):
            self.heartbeat.stop()
            self.metastore.abort(self.id)
            for step in reversed(self.undo):
                step()


@dataclass(slots=True)
class Transactions:
    """Opens the transactions of a session.

    `patience` is called at each lock. `readers` maps the session's read-only transactions to their locks. `unfinished`
    holds the transactions that could not be aborted because the metastore was out of reach. `waits` are the requests
    that wait for their locks.
    """

    metastore: Metastore
    patience: Callable[[], Patience] = lambda: DEFAULT_PATIENCE
    readers: dict[TxnId, tuple[LockComponent, ...]] = field(default_factory=dict)
    unfinished: list[OpenTransaction] = field(default_factory=list)
    given_up: dict[TxnId, tuple[LockComponent, ...]] = field(default_factory=dict)
    """The locks that readers have given up for a statement of the session."""
    waits: LockWaits = field(init=False)

    def __post_init__(self) -> None:
        self.waits = LockWaits(self.metastore)

    @contextmanager
    def run(
        self,
        locks: Locks,
        on_lost: Callable[[], None] | None = None,
        opener: Callable[[], TxnId] | None = None,
    ) -> Iterator[OpenTransaction]:
        """Runs the block in a transaction: commits after the block, aborts on any failure.

        `on_lost` is called on another thread when a heartbeat finds the transaction gone. `opener` opens a special
        transaction, such as a compaction's.

        Raises LOCK_TIMEOUT, DEADLOCK, WRITE_CONFLICT, TRANSACTION_ABORTED.
        """
        txn = self.open(locks, on_lost, opener)
        try:
            yield txn
            txn.commit()
        except BaseException as error:
            lost = txn.lost(error)
            self.abort(txn, after=error)
            if lost is not None and isinstance(error, Exception) and error is not lost:
                raise lost from error
            raise

    def open(
        self,
        locks: Locks = tuple,
        on_lost: Callable[[], None] | None = None,
        opener: Callable[[], TxnId] | None = None,
    ) -> OpenTransaction:
        """Opens a transaction that holds `locks`. The caller ends it."""
        attempt = 1
        while True:
            txn: OpenTransaction | None = None
            try:
                with holding():  # an interrupt here would leave a transaction open that nobody knows
                    txn = self._begin(on_lost, opener or self.metastore.open_txn)
                self._finish_others()
                wanted = locks()
                current = not wanted or self.lock(txn.id, wanted)
                late = not set(locks()) <= set(wanted)
            except BaseException:
                if txn is not None:
                    self.abort(txn)
                raise
            if attempt == _ATTEMPTS or (current and not late):
                return txn
            self.abort(txn)
            attempt += 1

    def abort(self, txn: OpenTransaction, *, after: BaseException | None = None) -> None:
        """Aborts the transaction and removes its files. While the metastore is out of reach, the next transaction does
        it; until then no reader sees the files, because the transaction has not committed.

        `after` is the error of the transaction. After COMMIT_UNKNOWN, a transaction that the metastore does not know
        may have committed: it keeps its files.
        """
        with holding():
            try:
                txn.abort()
            except AcidSqlError as error:
                unknown = isinstance(after, AcidSqlError) and after.condition == Condition.COMMIT_UNKNOWN.name
                if unknown and is_lost(error):
                    return
                if error.condition not in _AWAY:
                    raise
                self.unfinished.append(txn)

    def lock(self, txn: TxnId, components: Sequence[LockComponent]) -> bool:
        """Locks as the metastore does, after the session's own readers have released locks that are in the way."""
        exclusive = [c for c in components if c.lock_type is LockType.EXCLUSIVE]
        if exclusive and self.readers:
            self._make_way(exclusive)
        with phase(Phase.LOCK), self.waits.waiting(txn):
            return self.metastore.lock(txn, components, patience=self.patience())

    def _begin(self, on_lost: Callable[[], None] | None, opener: Callable[[], TxnId]) -> OpenTransaction:
        interval = interval_of(self.metastore)
        txn = opener()
        if (trace := current()) is not None:
            trace.txn_id = txn
        heartbeat = Heartbeat(self.metastore, txn, interval=interval, on_lost=on_lost)
        heartbeat.start()
        return OpenTransaction(self.metastore, txn, heartbeat)

    def _finish_others(self) -> None:
        """Aborts the transactions that could not be aborted earlier; the metastore is in reach again."""
        with holding():
            others, self.unfinished = self.unfinished, []
            for other in others:
                with suppress(AcidSqlError):  # the metastore does not know it any more; it may have committed
                    self.abort(other)

    def _make_way(self, exclusive: Sequence[LockComponent]) -> None:
        """Releases the locks of readers, so that a frame that the user still holds does not block the next statement.
        The readers' transactions stay open: cleaners keep the files that the frames read."""
        wanted = Resources(resource(c.database, c.table, c.partition) for c in exclusive)
        for reader, held in list(self.readers.items()):
            if any(wanted.overlapping(resource(c.database, c.table, c.partition)) for c in held):
                self.given_up[reader] = held
                self.readers[reader] = ()  # first: from here on, a frame compares its files
                self.metastore.release_locks(reader)

    def lock_again(self, reader: TxnId) -> None:
        """Takes back the locks that a reader has given up, if nobody holds or awaits one that is in the way. Otherwise
        the next call may succeed."""
        with holding():
            held = self.given_up.get(reader, ())
            if not held or reader not in self.readers:
                self.given_up.pop(reader, None)
                return
            with suppress(AcidSqlError):
                self.metastore.lock(reader, held, patience=_AT_ONCE)
                # The reader may have ended meanwhile, when the garbage collector found its frame.
                if self.given_up.pop(reader, None) is not None:
                    self.readers[reader] = held
