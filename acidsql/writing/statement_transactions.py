"""The transactions of statements: one of a statement's own, or that of START TRANSACTION.

Both engines run their statements in them. What computes and stages the rows of a DML statement is given as a function;
the rest is here, and the same for all:

    open a transaction -> lock -> stage and publish the files -> commit

On any failure the transaction is aborted and its files are removed (acidsql/writing/write_transaction.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.streams import StreamProgress
from acidsql.metastore.transactions import Transactions
from acidsql.planner.ddl.ddl_plan import EmptyTable
from acidsql.planner.lock_requests import CONFLICTS, inserts_are_updates, on_partitions
from acidsql.planner.plan import Create, Effect, MultiWritePlan, QueryPlan, WritePlan
from acidsql.snapshot.foreign_directories import check_whole
from acidsql.snapshot.read_transactions import ReadTransactions
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.storage.file_systems import FilesOf, FileSystem
from acidsql.storage.leftovers import tidy_up
from acidsql.tracing import Phase, current, phase
from acidsql.writing.catalog_partitions import CatalogPartitions
from acidsql.writing.outcomes import RowCounts, Written
from acidsql.writing.publishing import StagedFile, WriteTarget
from acidsql.writing.row_conflicts import commit_by_rows
from acidsql.writing.session_transaction import SessionTransaction, SharedTransaction
from acidsql.writing.truncation import empty_table
from acidsql.writing.write_transaction import WriteTransaction, transaction

_HISTORY_NAMES: Final = {"INSERT OVERWRITE": "OVERWRITE", "LOAD DATA": "LOAD"}
"""The operations of plans that have another name in the history of a table."""


class Work(Protocol):
    """What computes the rows of a statement, on threads or in processes of its own."""

    def cancel(self) -> None:
        """Ends the work, because the transaction is lost."""

    def end(self) -> None:
        """Ends the work, and waits until it can write no more file."""


class LateWork:
    """Work of which it shows only when its transaction is open who does it."""

    def __init__(self) -> None:
        self.running: Work | None = None

    def cancel(self) -> None:
        """Cancels the work, if there is any."""
        if self.running is not None:
            self.running.cancel()

    def end(self) -> None:
        """Ends the work, if there is any."""
        if self.running is not None:
            self.running.end()


class StatementTransactions:
    """Runs statements in transactions, and ends the transaction of START TRANSACTION."""

    def __init__(
        self,
        transactions: Transactions,
        readers: ReadTransactions,
        settings: Mapping[str, str],
        files_of: FilesOf,
    ) -> None:
        """`settings` are the live settings of the session; `files_of` gives the file system of a location."""
        self.session_transaction = SessionTransaction(transactions, readers)
        self.transactions = transactions
        self.readers = readers
        self._metastore = transactions.metastore
        self._settings = settings
        self._files_of = files_of
        self._running: Work | None = None
        """The work of the statement that runs in the open transaction of START TRANSACTION."""

    def begin(self) -> TxnId:
        """START TRANSACTION. `commit` or a rollback of `session_transaction` ends the transaction."""
        return self.session_transaction.begin(self._committing(), self._cancel_running)

    def commit(self) -> TxnId:
        """COMMIT of the open transaction. Raises what `SessionTransaction.commit` raises."""
        shared = self.session_transaction.current
        txn = self.session_transaction.commit()
        if shared is not None:
            self.tidy_up(shared.write)
        return txn

    def set_autocommit(self, *, on: bool) -> TxnId | None:
        """SET AUTOCOMMIT: TRUE commits the transaction that is open, as JDBC's setAutoCommit does. Returns its ID.

        Raises what `SessionTransaction.commit` raises.
        """
        self.session_transaction.autocommit = on
        return self.commit() if on and self.session_transaction.current is not None else None

    def run(
        self,
        plan: WritePlan | MultiWritePlan,
        progress: StreamProgress | None,
        work: Work,
        write: Callable[[WriteTransaction], RowCounts],
    ) -> Written:
        """Runs a DML statement, in a transaction of its own or in that of START TRANSACTION. `write` stages and
        publishes its files. `progress` is what the statement commits of a stream with its rows.

        Raises what `write` raises, LOCK_TIMEOUT, DEADLOCK, and WRITE_CONFLICT if another transaction committed first.
        """
        with self.session_transaction.alone() as shared:
            if shared is not None:
                if progress is not None:  # another thread has begun it just now
                    txn_id = f"txnid:{shared.write.id}"
                    raise AcidSqlError(Condition.IN_TRANSACTION, operation="A batch of a stream", txn_id=txn_id)
                return self._run_in(shared.write, plan, work, write)
            creates = plan.target if isinstance(plan, WritePlan) and isinstance(plan.mode, Create) else None
            with transaction(
                self.transactions,
                lambda: (*self.locks(plan), *self._stream_locks(progress)),
                creates=creates,
                committing=self._committing(),
                on_lost=work.cancel,
                before_undo=work.end,
            ) as txn:
                with phase(Phase.WRITE):
                    counts = write(txn)
                txn.evolutions.extend(one.evolution for one in plan.writes if one.evolution is not None)
                if progress is not None:
                    txn.progress = replace(progress, rows=counts.affected)
            self.tidy_up(txn)
            return _written(txn, counts)

    def hold_snapshot(self, plan: QueryPlan) -> tuple[ReadView, Callable[[], None]]:
        """The snapshot for a query whose reader says when it ends, and the function that says so. In a transaction of
        START TRANSACTION, that is the transaction's snapshot with its own writes."""
        with self.session_transaction.alone() as shared:
            if shared is not None:
                return self.view_in(shared, plan), self.readers.hold(shared.guard)
            reader = self.readers.open(self.locks(plan))
            try:
                return self.now(), self.readers.hold(reader)
            except BaseException:
                self.readers.end(reader)
                raise

    def view_in(self, shared: SharedTransaction, plan: QueryPlan) -> ReadView:
        """Takes the locks of a query, and gives what it sees in the transaction of START TRANSACTION.

        A query without locks reads nothing that has snapshots, and does not fix the transaction's: that would be older
        than the first lock, and an UPDATE could miss a commit between the two.
        """
        if locks := self.locks(plan):
            self.transactions.lock(shared.write.id, locks)
        return shared.write.view() if locks or shared.write.writes else self.now()

    def now(self) -> ReadView:
        """What a statement sees that begins now."""
        return ReadView(self._metastore, self._metastore.valid_txns())

    def truncate(self, step: EmptyTable) -> tuple[TxnId, WriteId]:
        """TRUNCATE TABLE: its transaction and its write ID. Raises IN_TRANSACTION, and what `empty_table` raises."""
        if self.session_transaction.current is not None:
            txn_id = f"txnid:{self.session_transaction.id}"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation="TRUNCATE", txn_id=txn_id)
        txn = empty_table(step, self.transactions, self._files_of)
        self.tidy_up(txn)
        return txn.id, txn.writes[0].target.write_id

    def locks(self, plan: QueryPlan | WritePlan | MultiWritePlan) -> tuple[LockComponent, ...]:
        """The locks that a plan needs."""
        return on_partitions(plan, self._metastore.partition_values)

    def tidy_up(self, txn: WriteTransaction) -> None:
        """Removes staging files of crashed writers, where a committed transaction wrote."""
        tidy_up(self._metastore, self._files_of, ((w.target.files, w.target.directory) for w in txn.writes))

    def _run_in(
        self,
        txn: WriteTransaction,
        plan: WritePlan | MultiWritePlan,
        work: Work,
        write: Callable[[WriteTransaction], RowCounts],
    ) -> Written:
        """Runs a statement in the transaction of START TRANSACTION. Any error ends the transaction (session.py)."""
        before = len(txn.writes)
        for one in plan.writes:
            if not one.target.is_transactional:
                operation = f"{plan.operation} of the plain table {one.target.qualified}"
                raise AcidSqlError(Condition.IN_TRANSACTION, operation=operation, txn_id=f"txnid:{txn.id}")
            txn.check_not_overwritten(one.target)
        self._running = work
        try:
            self.transactions.lock(txn.id, self.locks(plan))
            by_row = txn.committing is not None and not any(map(inserts_are_updates, plan.writes))
            if not by_row and (conflicts := self._metastore.conflicts(txn.id)):
                raise conflicts[0].error
            for one in plan.writes:
                if one.overwrite is not None:
                    txn.check_seen(one.target)
            with phase(Phase.WRITE):
                counts = write(txn)
        except BaseException as error:
            lost = txn.opened.lost(error)
            work.end()
            if lost is not None and isinstance(error, Exception) and error is not lost:
                raise lost from error
            raise
        finally:
            self._running = None
        txn.end_statement()
        return _written(txn, counts, before)

    def _stream_locks(self, progress: StreamProgress | None) -> Sequence[LockComponent]:
        return () if progress is None else self._metastore.stream_locks(progress.claim)

    def _committing(self) -> Callable[[WriteTransaction], None] | None:
        return commit_by_rows if self._settings.get(CONFLICTS) == "row" else None

    def _cancel_running(self) -> None:
        if self._running is not None:
            self._running.cancel()


def write_target(plan: WritePlan, parts: Sequence[BoundPart], txn: WriteTransaction, files: FileSystem) -> WriteTarget:
    """Where the transaction writes the rows of a plan; allocates its write ID. `parts` are the partitions that the
    target's scans read."""
    table = plan.target
    if table is not txn.creates:
        check_whole(txn.metastore, table, lambda _: files)
    return WriteTarget(
        table,
        files.resolve(table.location),
        files,
        txn.id,
        txn.write_id(table),
        txn.statement_ids(plan.branches),
        _partitions(plan, parts, txn, files),
        overwrites=plan.overwrite is not None,
        inserts_are_updates=inserts_are_updates(plan),
        operation=_HISTORY_NAMES.get(plan.operation, plan.operation),
        places=tuple(part.directory for part in parts),
    )


def _partitions(
    plan: WritePlan, parts: Sequence[BoundPart], txn: WriteTransaction, files: FileSystem
) -> CatalogPartitions:
    """The partitions of the catalog that the plan may write to."""
    table = plan.target
    if not table.partition_columns or isinstance(plan.mode, Create):
        return CatalogPartitions({}, table, files, None)
    read = {part.values: part.directory for part in parts}
    return CatalogPartitions(read, table, files, txn.view() if plan.moves_rows else None)


def row_counts(plan: WritePlan, staged: Sequence[StagedFile]) -> RowCounts:
    """The counts of the events in the staged files."""
    of = dict.fromkeys(Effect, 0)
    for file in staged:
        of[plan.branches[file.slot.branch].effect] += file.rows
    return RowCounts(of[Effect.UPDATED], of[Effect.DELETED], of[Effect.INSERTED])


def _written(txn: WriteTransaction, counts: RowCounts, first: int = 0) -> Written:
    """The result of the statement whose writes begin at index `first`."""
    if (trace := current()) is not None:
        trace.files_written += sum(len(w.staged) for w in txn.writes[first:])
    targets = (w.target for w in txn.writes[first:])
    return Written(counts, txn.id, {t.table.qualified: t.write_id for t in targets if t.table.is_transactional})
