"""A write transaction: its statements publish their files before the commit, and a failure removes all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from acidsql.acid.row_id import MAX_STATEMENT_ID
from acidsql.acid.table import Table, in_the_way
from acidsql.acid.write_ids import StatementId, TxnId, ValidTxnList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition
from acidsql.metastore.client import Metastore
from acidsql.metastore.streams import StreamProgress
from acidsql.metastore.transactions import Locks, OpenTransaction, Transactions, report_writes
from acidsql.planner.plan import Branch, Evolution
from acidsql.snapshot.foreign_directories import Siblings
from acidsql.snapshot.read_view import ReadView
from acidsql.storage.file_systems import remove_all
from acidsql.storage.leftovers import is_taken, is_there
from acidsql.tracing import current
from acidsql.writing.publishing import WriteTarget, remove
from acidsql.writing.table_write import TableWrite, committed_writes

FIRST_WRITE_ID = WriteId(1)
"""The write ID of the statement that creates a table."""


@dataclass(slots=True)
class WriteTransaction:
    """An open transaction and what its statements have written. START TRANSACTION opens one for several statements;
    every other statement has its own.

    `creates` is the table that the transaction creates. The catalog does not know it before the commit.
    """

    opened: OpenTransaction
    metastore: Metastore
    creates: Table | None = None
    committing: Callable[[WriteTransaction], None] | None = None
    """Commits in place of `Metastore.commit`, where a commit takes more than one call (row_conflicts.py)."""
    progress: StreamProgress | None = None
    """What is committed of a stream together with the writes."""
    evolutions: list[Evolution] = field(default_factory=list)
    """The changes of the targets' definitions that come with the commit."""
    writes: list[TableWrite] = field(default_factory=list)
    _txns: ValidTxnList | None = None
    _own: dict[str, WriteId] = field(default_factory=dict)
    _unchanged: set[str] = field(default_factory=set)
    """The targets, by qualified name, that are those that their statements were planned for."""
    _statement_ids: int = 0
    _finished: int = 0
    """How many of the writes belong to statements that have ended well."""

    def __post_init__(self) -> None:
        self.opened.committing = self._commit
        self.opened.undo.append(self._remove_files)

    @property
    def id(self) -> TxnId:
        return self.opened.id

    def view(self) -> ReadView:
        """What the statements see: the snapshot of the first statement, and their own writes. Call it only after the
        first statement has its locks."""
        if self._txns is None:
            self._txns = self.metastore.valid_txns(self.id)
        added: dict[str, list[Partition]] = {}
        for write in self.writes:
            added.setdefault(write.target.table.qualified, []).extend(write.new_partitions)
        return ReadView(self.metastore, self._txns, dict(self._own), added, unchanged=frozenset(self._unchanged))

    def write_id(self, table: Table) -> WriteId:
        """Allocates the write ID for a table; 0 for a plain table, which has none."""
        if not table.is_transactional:
            return WriteId(0)
        if table is self.creates:
            return FIRST_WRITE_ID
        self._own[table.qualified] = write_id = self.metastore.allocate_write_id(self.id, table)
        if (trace := current()) is not None:
            trace.write_ids[table.qualified] = write_id
        return write_id

    def statement_ids(self, branches: tuple[Branch, ...]) -> tuple[tuple[Branch, StatementId], ...]:
        """The branches of the running statement with statement IDs that follow those of the statements before it.

        Raises TOO_MANY_STATEMENTS: a row ID has 12 bits for a statement ID.
        """
        found = tuple((b, StatementId(b.statement_id + self._statement_ids)) for b in branches)
        if any(number > MAX_STATEMENT_ID for _, number in found):
            raise AcidSqlError(Condition.TOO_MANY_STATEMENTS, limit=MAX_STATEMENT_ID + 1)
        return found

    def end_statement(self) -> None:
        """Ends a statement: the statement IDs of the next one follow those in use."""
        used = (number for write in self.writes for _, number in write.target.branches)
        self._statement_ids = max(used, default=-1) + 1
        self._finished = len(self.writes)

    def forget_unfinished(self) -> bool:
        """Removes the files of a statement that failed before it published any. Returns False if it has published
        some: then the transaction cannot go on."""
        unfinished = self.writes[self._finished :]
        if any(write.made for write in unfinished):
            return False
        gone = [self._remove(write) for write in unfinished]
        if all(gone):
            del self.writes[self._finished :]
        return all(gone)

    def begin(self, target: WriteTarget) -> TableWrite:
        """Registers a write: from here on the transaction removes the files of `target` if it fails."""
        write = TableWrite(target)
        self.writes.append(write)
        return write

    def siblings(self, write: TableWrite) -> Siblings | None:
        """Checks what lies beside the directories of a write; None for a table that the catalog does not know yet."""
        target = write.target
        if target.table is self.creates or not target.table.is_transactional:
            return None
        own = [w.made for w in self.writes if w.target.table.qualified == target.table.qualified]
        return Siblings(self.metastore, target.table, target.write_id, target.write_id, self.id, own)

    def check_unchanged(self, table: Table) -> None:
        """Checks that the table is the one that the statement was planned for, before it had its locks.

        Raises TABLE_CHANGED, TABLE_ALREADY_EXISTS.
        """
        if table.is_directory:
            return
        found = self.metastore.find_table(table.database, table.name)
        if table is self.creates:
            if in_the_way(found, temporary=table.temporary) is not None:
                raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=table.qualified)
        elif found != table or not found.may_be(table):
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)
        self._unchanged.add(table.qualified)

    def check_seen(self, table: Table) -> None:
        """Checks that the snapshot has all committed writes of a table that INSERT OVERWRITE replaces. A write that was
        committed after the snapshot, even an INSERT, is a conflict: the overwrite would hide it unseen.

        Raises WRITE_CONFLICT.
        """
        txns = self.metastore.valid_txns()
        now, seen = self.metastore.valid_write_ids(table, txns), self.view().write_ids(table)
        unseen = {*seen.open, *map(WriteId, range(seen.high_watermark + 1, now.high_watermark + 1))}
        later = min(filter(now.is_valid, unseen), default=None)
        if later is None:
            return
        writer = self.metastore.writer(table, later)
        hint = "Run the transaction again: it will see what the other one wrote."
        raise AcidSqlError(
            Condition.WRITE_CONFLICT,
            hint=hint if writer is not None else f"{hint} The metastore tells its write ID only, {later}.",
            txn_id=self.id,
            commit_id=txns.high_watermark,
            resource=f"{table.database}/{table.name}",
            other_txn_id=writer if writer is not None else "?",
            other_commit_id=txns.high_watermark,
            operations="u/i",
        )

    def check_not_overwritten(self, table: Table) -> None:
        """Checks that the transaction has not overwritten the table. The base of an INSERT OVERWRITE would hide later
        writes of the same transaction (AcidUtils: a delta up to the base's write ID is obsolete).

        Raises OVERWRITTEN_IN_TRANSACTION.
        """
        if any(w.target.overwrites and w.target.table.qualified == table.qualified for w in self.writes):
            raise AcidSqlError(Condition.OVERWRITTEN_IN_TRANSACTION, table=table.qualified)

    def _commit(self) -> None:
        """Makes the writes visible."""
        if self.progress is not None:
            self._check_target_of_stream(self.progress)
        if self.creates is not None:
            partitions = [p for w in self.writes for p in w.new_partitions]
            made = [d for w in self.writes for d in w.made_directories()]
            self.metastore.commit_created(self.id, self.creates, partitions, made, committed_writes(self.writes))
            return
        self._evolve()
        for write in self.writes:
            table = write.target.table
            if (write.staged or write.emptied) and not table.is_directory:
                report_writes(
                    self.metastore,
                    self.id,
                    table,
                    added=write.new_partitions,
                    touched=write.touched() if table.partition_columns and table.is_transactional else {},
                    written=write.written_partitions,
                    made=write.made_directories(),
                )
        if self.committing is not None:
            self.committing(self)
        else:
            self.metastore.commit(self.id, progress=self.progress, writes=committed_writes(self.writes))

    def _check_target_of_stream(self, progress: StreamProgress) -> None:
        """Raises TABLE_CHANGED where the rows went to another table than the one that the stream was claimed of: that
        one was renamed meanwhile, and its offset belongs to it still."""
        claimed = progress.claim.table
        for write in self.writes:
            if write.target.table.qualified == claimed.qualified and not write.target.table.may_be(claimed):
                raise AcidSqlError(Condition.TABLE_CHANGED, table=claimed.qualified)

    def _evolve(self) -> None:
        """Gives the targets their new definitions, as the last step before the commit: a statement that fails before it
        changes nothing. If the commit itself fails, the columns stay, NULL in all rows: other transactions may have
        seen them, because the locks have ended with the transaction."""
        if self.evolutions:
            self.opened.require_open()
        for change in self.evolutions:
            self.metastore.alter_table(change.before, change.after)

    def _remove_files(self) -> None:
        gone = [self._remove(write) for write in self.writes]
        if all(gone):
            self.metastore.forget_leftovers(self.id)

    def _remove(self, write: TableWrite) -> bool:
        """Removes what a write has made. Leaves a new table of the same name alone: the locks ended with the
        transaction."""
        target = write.target
        if target.table is self.creates:
            found = self.metastore.find_table(target.table.database, target.table.name)
            is_free = in_the_way(found, temporary=target.table.temporary) is None
            is_own = is_free and not is_taken(self.metastore, target.table.location, lambda _: target.files)
            # What this transaction has published must not become rows of a table that another session has made.
            return remove_all(target.files, [target.directory]) if is_own else remove(target, write.made)
        is_own = target.table.is_directory or is_there(self.metastore, target.table, lambda _: target.files)
        return remove(target, write.made if is_own else ())


@contextmanager
def transaction(
    transactions: Transactions,
    locks: Locks,
    *,
    creates: Table | None = None,
    committing: Callable[[WriteTransaction], None] | None = None,
    on_lost: Callable[[], None] | None = None,
    before_undo: Callable[[], None] | None = None,
) -> Iterator[WriteTransaction]:
    """Opens a transaction, waits for its locks, and commits after the block. On any failure it calls `before_undo`,
    aborts, and leaves no file.

    Raises LOCK_TIMEOUT, DEADLOCK, WRITE_CONFLICT, and TRANSACTION_ABORTED where a heartbeat came too late.
    """
    with transactions.run(locks, on_lost) as opened:
        txn = WriteTransaction(opened, transactions.metastore, creates, committing)
        if before_undo is not None:
            opened.undo.append(before_undo)
        yield txn
