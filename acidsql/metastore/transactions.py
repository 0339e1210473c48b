"""How a session opens transactions: with a heartbeat, with its patience, with its own readers out of the way.

open -> lock, again where it came too late -> the block -> commit; whatever fails, abort and undo
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.interrupts import hold, holding
from acidsql.metastore.client import DEFAULT_PATIENCE, LockComponent, LockType, Metastore, Patience
from acidsql.metastore.heartbeat import Heartbeat, is_lost
from acidsql.metastore.lock_rules import Resources, resource

_ATTEMPTS: Final = 5
"""How often a statement opens another transaction because its locks came too late (Hive:
hive.txn.retrysnapshot.max.count)."""

_AWAY: Final = (Condition.METASTORE_UNAVAILABLE.name, Condition.METASTORE_FAILED.name)

Locks: TypeAlias = Callable[[], Sequence[LockComponent]]
"""What a statement locks; asked again when the locks are held, for partitions may have come in between."""


@dataclass(slots=True)
class OpenTransaction:
    """An open transaction with a heartbeat. It ends with `commit` or `abort`."""

    metastore: Metastore
    id: TxnId
    heartbeat: Heartbeat
    committing: Callable[[], None] | None = None
    """What commits it, where that is more than the metastore's commit."""
    undo: list[Callable[[], None]] = field(default_factory=list)
    """What removes its traces once it is aborted, the last first."""

    def require_open(self) -> None:
        """Asks the metastore, for what must not happen when the transaction is lost: others have its locks then, and
        the directory of a dropped table may be that of a new one. A process that was stopped for longer than the
        timeout does not know yet that others have aborted its transactions.

        Raises TRANSACTION_ABORTED, NO_SUCH_TRANSACTION.
        """
        self.heartbeat.check()
        self.metastore.heartbeat(self.id)

    def lost(self, error: BaseException) -> AcidSqlError | None:
        """Why the transaction is gone, where `error` may come of that: jobs were cancelled, or files removed."""
        if self.heartbeat.lost is None and isinstance(error, Exception) and not isinstance(error, AcidSqlError):
            try:
                self.require_open()
            except AcidSqlError as told:
                return told if is_lost(told) else None
        return self.heartbeat.lost

    def commit(self) -> None:
        """Makes it visible; an interrupt that has come is raised before, and one that comes now waits.

        Raises WRITE_CONFLICT, TRANSACTION_ABORTED (a heartbeat came too late), NO_SUCH_TRANSACTION.
        """
        self.heartbeat.check()
        if hold():
            raise KeyboardInterrupt
        (self.committing or (lambda: self.metastore.commit(self.id)))()
        self.heartbeat.stop()

    def abort(self) -> None:
        """Its traces go only once it is known not to be committed."""
        self.heartbeat.stop()
        self.metastore.abort(self.id)
        for step in reversed(self.undo):
            step()


@dataclass(slots=True)
class Transactions:
    """The transactions of a session. `patience` is asked at each lock; `readers` are its read-only transactions, by
    what they lock; `unfinished` those that could not be aborted when the metastore was away."""

    metastore: Metastore
    patience: Callable[[], Patience] = lambda: DEFAULT_PATIENCE
    readers: dict[TxnId, tuple[LockComponent, ...]] = field(default_factory=dict)
    unfinished: list[OpenTransaction] = field(default_factory=list)

    @contextmanager
    def run(
        self,
        locks: Locks,
        on_lost: Callable[[], None] | None = None,
        opener: Callable[[], TxnId] | None = None,
    ) -> Iterator[OpenTransaction]:
        """A transaction that commits behind the block; on any failure it is aborted. `on_lost` is called, on another
        thread, when the transaction turns out to be gone. `opener` opens one that is not like others.

        Raises LOCK_TIMEOUT, DEADLOCK, WRITE_CONFLICT, TRANSACTION_ABORTED.
        """
        txn = self.open(locks, on_lost, opener)
        try:
            yield txn
            txn.commit()
        except BaseException as error:
            lost = txn.lost(error)
            self.abort(txn)
            if lost is not None and isinstance(error, Exception) and error is not lost:
                raise lost from error
            raise

    def open(
        self,
        locks: Locks = tuple,
        on_lost: Callable[[], None] | None = None,
        opener: Callable[[], TxnId] | None = None,
    ) -> OpenTransaction:
        """A transaction that holds `locks`; whoever calls this ends it."""
        attempt = 1
        while True:
            txn: OpenTransaction | None = None
            try:
                with holding():  # or one would be open that nobody knows of
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

    def abort(self, txn: OpenTransaction) -> None:
        """Aborts it and removes its traces; where the metastore is away, with the next transaction. Until then nobody
        sees them: it is not committed."""
        with holding():
            try:
                txn.abort()
            except AcidSqlError as error:
                if error.condition not in _AWAY:
                    raise
                self.unfinished.append(txn)

    def lock(self, txn: TxnId, components: Sequence[LockComponent]) -> bool:
        """As the metastore's; the session's own readers give way to what would wait for them."""
        exclusive = [c for c in components if c.lock_type is LockType.EXCLUSIVE]
        if exclusive and self.readers:
            self._make_way(exclusive)
        return self.metastore.lock(txn, components, patience=self.patience())

    def _begin(self, on_lost: Callable[[], None] | None, opener: Callable[[], TxnId]) -> OpenTransaction:
        interval = self.metastore.txn_timeout / 5
        txn = opener()
        heartbeat = Heartbeat(self.metastore, txn, interval=interval, on_lost=on_lost)
        heartbeat.start()
        return OpenTransaction(self.metastore, txn, heartbeat)

    def _finish_others(self) -> None:
        """The metastore is there: what could not be aborted before is aborted now."""
        with holding():
            others, self.unfinished = self.unfinished, []
            for other in others:
                with suppress(AcidSqlError):  # the metastore remembers it no more; it may have been committed
                    self.abort(other)

    def _make_way(self, exclusive: Sequence[LockComponent]) -> None:
        """Frames that the user has not let go of yet must not hold up his next statement. Their transactions stay
        open: no cleaner removes what they read."""
        wanted = Resources(resource(c.database, c.table, c.partition) for c in exclusive)
        for reader, held in list(self.readers.items()):
            if any(wanted.overlapping(resource(c.database, c.table, c.partition)) for c in held):
                self.metastore.release_locks(reader)
                self.readers[reader] = ()
