"""Runs the plans of a session's statements by the engine that `engine_choice` names.

    choose -> open the transaction, lock, fix the snapshot -> the engine stages and publishes -> commit

The transaction is the same for both engines. Where the Arrow engine finds that Spark has to compute the rows, it has
written nothing, and Spark goes on in the open transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from acidsql.acid.table import Table
from acidsql.arrow.executor import ArrowExecutor, ArrowWrite, LeftToSpark
from acidsql.arrow.history.stored_events import EventFiles
from acidsql.arrow.queries import check_arrow_plan
from acidsql.arrow.scan_batches import ArrowScans, ScanBatches, few_changes
from acidsql.engines.engine_choice import (
    FEW_ROWS,
    SOURCE_BY_SPARK,
    Choice,
    EngineName,
    may_read,
    query_choice,
    reads_files,
    write_choice,
)
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.metastore.transactions import Transactions
from acidsql.planner.conditions.row_predicates import undecided
from acidsql.planner.plan import ArrowInsert, FrameRows, MultiWritePlan, Plan, QueryPlan, WritePlan
from acidsql.request import Request
from acidsql.snapshot.read_transactions import ReadTransactions
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories, while_cleaned
from acidsql.snapshot.table_contents import table_content
from acidsql.spark.engine import Engine
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.copies import OriginalFiles
from acidsql.storage.warehouse_files import WarehouseFiles
from acidsql.writing.outcomes import RowCounts, Written
from acidsql.writing.statement_transactions import LateWork, StatementTransactions
from acidsql.writing.steering import Steering
from acidsql.writing.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from acidsql.spark.executor import SparkExecutor
    from acidsql.spark.frames.answer_frames import QueryRows

_T = TypeVar("_T")


class StatementEngines:
    """The engines of a session, and the transactions in which they run its statements."""

    def __init__(
        self, engine: Engine, files: WarehouseFiles, transactions: Transactions, settings: Mapping[str, str]
    ) -> None:
        """`settings` are the live settings of the session."""
        self.steering = Steering()
        self._engine = engine
        self._files = files
        self._settings = settings
        self._readers = ReadTransactions(transactions)
        self.transactions = StatementTransactions(transactions, self._readers, settings, files.of)
        self.session_transaction = self.transactions.session_transaction
        self._footers = FooterCache()
        self.arrow = ArrowExecutor(files.of, lambda: self.spark, self._footers, settings, self._may_read, self._reads)
        self._scans = ArrowScans(files.of, replace(self._footers, copies=OriginalFiles()), lambda: engine.zone)

    @cached_property
    def spark(self) -> SparkExecutor:
        """The Spark engine. A session whose statements need none does not import PySpark."""
        from acidsql.spark.executor import SparkExecutor

        return SparkExecutor(
            self._engine,
            self._files.of,
            self.transactions,
            self._footers,
            self._settings,
            self.steering,
            self._few_changes,
        )

    def close(self) -> None:
        """Rolls back the open transaction, and ends all readers."""
        if self.session_transaction.current is not None:
            self.session_transaction.rollback()
        self._readers.close()

    def look_after_statement(self) -> None:
        """Called behind each statement of the session but queries (`FrameReaders.look_after_statement`)."""
        if self._readers.silent is not None:
            self.spark.look_after_statement()

    @contextmanager
    def translated(self, request: Request) -> Iterator[None]:
        """Raises an error of Spark, of a file system or of the JVM as an AcidSqlError."""
        try:
            yield
        except (AcidSqlError, KeyboardInterrupt):
            raise
        except _errors_of_spark():
            with self.spark.translated(request):
                raise

    def _may_read(self, rows: int) -> bool:
        return may_read(rows, self._engine.parallelism)

    def _reads(self, table: Table) -> bool:
        return reads_files(table, self._files.needs_hadoop)

    # -- the choice

    def choice(self, plan: Plan, request: Request) -> Choice:
        """The engine of a statement, and why, for EXPLAIN, which may not know the frames that the statement names."""
        if isinstance(plan, QueryPlan):
            return query_choice(plan, self._files.needs_hadoop)
        given = plan.arrow if isinstance(plan, WritePlan) else None
        frame = given.rows if isinstance(given, ArrowInsert) and isinstance(given.rows, FrameRows) else None
        if frame is not None and frame.frame not in request.frames:
            return write_choice(plan, self._files.needs_hadoop)
        return self._decided(plan, request)[0]

    def _decided(self, plan: WritePlan | MultiWritePlan, request: Request) -> tuple[Choice, ArrowWrite | None]:
        """The engine of a DML statement, and what the Arrow engine does if it is the one."""
        if not self.steering.may_skip_spark:
            return Choice(EngineName.SPARK, "a test asks for it"), None
        choice = write_choice(plan, self._files.needs_hadoop)
        if not choice.is_arrow or isinstance(plan, MultiWritePlan):
            return choice, None
        prepared = self.arrow.prepared(plan, request)
        if isinstance(prepared, LeftToSpark):
            return Choice(EngineName.SPARK, prepared.reason), None
        return Choice(EngineName.ARROW, SOURCE_BY_SPARK) if prepared.needs_spark else choice, prepared

    # -- queries

    def query(self, plan: QueryPlan, request: Request) -> tuple[QueryRows, Callable[[], None]]:
        """The lazy rows of a query as a DataFrame, and a function that ends its transaction."""
        return self.spark.query(plan, request)

    def scan(self, plan: QueryPlan) -> ScanBatches | None:
        """The rows of a query, read by the Arrow engine; None if it is one for Spark."""
        if not query_choice(plan, self._files.needs_hadoop).is_arrow:
            return None
        try:
            return self._scans.open(plan, *self.transactions.hold_snapshot(plan))
        except AcidSqlError as error:
            if error.condition != Condition.NOT_YET_SUPPORTED.name:
                raise
            return None

    def read_arrow(self, plan: QueryPlan, statement: s.Query) -> ScanBatches:
        """The rows of a query of `arrow_query`, by the Arrow engine in any case.

        Raises what `check_arrow_plan` and `ArrowScans.open` raise.
        """
        check_arrow_plan(plan, statement)
        return self._scans.open(plan, *self.transactions.hold_snapshot(plan))

    def _few_changes(self, bound: BoundScan) -> Any | None:
        """The changes of a scan, read by the Arrow engine for a query of Spark, if this is faster."""
        reason = self._files.needs_hadoop(bound.table.location)
        if reason is not None or not self.steering.may_skip_spark:
            return None
        return few_changes(bound, self._scans.footers, self._engine.zone, FEW_ROWS)

    def read_stored(self, plan: QueryPlan, read: Callable[[StoredDirectories, ReadView], _T]) -> _T:
        """What is read of all that lies in the directories of a query's one table, in a transaction that keeps the
        files of its snapshot. It is read again where the cleaner has removed other files meanwhile."""
        table = plan.scans[0].table
        files = self._files.of(table.location)
        view, release = self.transactions.hold_snapshot(plan)

        def once() -> _T:
            content = table_content(table, view.metastore, files, view=view, counts_rows=False)
            return read(StoredDirectories(content, files, self._scans.footers), view)

        try:
            return while_cleaned(once)
        finally:
            release()

    def stored_rows(self, plan: QueryPlan, directories: StoredDirectories, request: Request) -> Iterator[RowPlace]:
        """The rows for which the condition of a query is true, among all that are stored: by the Arrow engine where it
        evaluates the condition, else by Spark. A row comes once for each file that holds it. The query gives row__id
        and INPUT__FILE__NAME of one table."""
        predicate = None if plan.simple is None else plan.simple.predicate
        is_simple = plan.simple is not None and (predicate is None or undecided(predicate) is None)
        if is_simple and self._files.needs_hadoop(directories.content.table.location) is None:
            return EventFiles(directories).matching(plan.scans[0], predicate)
        return self.spark.stored_rows(plan, directories, request)

    # -- DML

    def write(self, plan: WritePlan | MultiWritePlan, request: Request) -> Written:
        """Runs a DML statement, in a transaction of its own or in that of START TRANSACTION.

        Raises the errors of the statement, LOCK_TIMEOUT, DEADLOCK, and WRITE_CONFLICT if another transaction committed
        first.
        """
        _, prepared = self._decided(plan, request)
        if prepared is None or isinstance(plan, MultiWritePlan):
            return self.spark.write(plan, request)
        if prepared.needs_spark:
            self.spark.start()  # it computes the source, and starts before the transaction has locks
        self._engine.require_exact_time(plan.target)
        work = LateWork()

        def write(txn: WriteTransaction) -> RowCounts:
            txn.check_unchanged(plan.known_target)
            by_arrow = prepared.run(txn, work)
            return self.spark.write_in(plan, request, txn, work) if by_arrow is None else by_arrow

        return self.transactions.run(plan, request.progress, work, write)


def _errors_of_spark() -> tuple[type[Exception], ...]:
    """The exceptions of calls of Spark and of file systems. Imports PySpark."""
    from acidsql.spark.session.jvm_loss import SPARK_ERRORS

    return SPARK_ERRORS
