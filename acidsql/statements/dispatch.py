"""Dispatch of parsed statements: which component runs a statement, and how its outcome becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from acidsql.acid.row_id import RowId
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.arrow.queries import arrow_query
from acidsql.arrow.scan.spark_schema import spark_name
from acidsql.arrow.scan_batches import ScanBatches
from acidsql.compactor.compaction_requests import compaction_requests
from acidsql.compactor.service import Compactor
from acidsql.ddl.plan_runner import Ddl
from acidsql.ddl.table_lookup import TableLookup
from acidsql.engines.statement_engines import StatementEngines
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.metastore.client import Metastore
from acidsql.planner.ddl.ddl_planner import truncate_step
from acidsql.planner.plan import MultiWritePlan, Plan, QueryPlan, WritePlan
from acidsql.planner.queries.macro_expansion import with_macros
from acidsql.planner.stored_values.misfits import nulled
from acidsql.planner.written_databases import check_writable, written_databases
from acidsql.request import Request
from acidsql.show import show
from acidsql.snapshot.row_history import RowHistories
from acidsql.spark.engine import Engine
from acidsql.statements.in_transaction import may_run_in_transaction
from acidsql.statements.plans import StatementPlans, first_words
from acidsql.statements.repeated_keys import naming_repeated_key
from acidsql.statements.results import (
    Counts,
    CountsResult,
    Done,
    QueryResult,
    Result,
    ResultColumn,
    ScanResult,
    rows_result,
)
from acidsql.statements.row_changes import Queries, RowChanges, pairs_of_updates, row_changes
from acidsql.statements.row_histories import ROW_COLUMNS, found_histories
from acidsql.statements.session_changes import SessionChanges
from acidsql.storage.warehouse_files import WarehouseFiles
from acidsql.writing.load_data import Loader

if TYPE_CHECKING:
    from acidsql.spark.frames.answer_frames import QueryRows

_NO_COLUMN_STATISTICS: Final = "Rows and files were counted. acidsql collects no statistics of columns."
_COLUMN_STATISTICS_NOT_KEPT: Final = "Nothing was changed: acidsql keeps no statistics of columns."

_MOST_EVOLUTIONS: Final = 5
"""How often a statement that evolves a table is planned, if other sessions keep changing the table."""


@dataclass(frozen=True, slots=True)
class StatementDispatch:
    """The components of a session, and the one place that knows which of them runs which statement."""

    metastore: Metastore
    engine: Engine
    files: WarehouseFiles
    engines: StatementEngines
    ddl: Ddl
    lookup: TableLookup
    loader: Loader
    plans: StatementPlans
    changes: SessionChanges
    compactor: Compactor

    def run(self, statement: s.Statement, request: Request) -> Result:
        """Runs one statement.

        Raises IN_TRANSACTION, NOT_YET_SUPPORTED, what the component raises, and for an error of a file system
        STORAGE_FAILED or DISK_FULL.
        """
        with self.engines.translated(request):
            return self._run(statement, request)

    def _run(self, statement: s.Statement, request: Request) -> Result:
        if self.engines.session_transaction.id is not None and not may_run_in_transaction(statement):
            txn = f"txnid:{self.engines.session_transaction.id}"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation=first_words(statement), txn_id=txn)
        self._check_writable(statement)
        request = _with_readable_frames(request)
        match statement:
            case s.Insert(evolves=True):
                return self._evolve(statement, request)
            case s.Merge():
                with self._naming_repeated_key(statement, request):
                    if statement.evolves:
                        return self._evolve(statement, request)
                    return self._execute(self.plans.plan(statement, request), request)
            case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.InsertDirectory():
                return self._execute(self.plans.plan(statement, request), request)
            case s.RestoreTable():
                return self._execute(self.plans.plan(statement, request), request)
            case s.LoadData():
                return self._load(statement, request)
            case s.CreateTable():
                return self._create_table(statement, request)
            case s.TruncateTable():
                return self._truncate(statement)
            case s.AlterTable():
                return self._alter_table(statement)
            case s.RepairTable():
                report = self.ddl.run(statement, self.plans.database)
                return rows_result("MSCK", show.Answer(("result",), tuple((line,) for line in report)))
            case s.AnalyzeTable():
                return self._analyze(statement, request)
            case s.DropTable():
                self.ddl.run(statement, self.plans.database)
                return Done("DROP TABLE")
            case s.CreateDatabase():
                self.ddl.run(statement, self.plans.database)
                return Done("CREATE DATABASE")
            case s.AlterDatabase():
                self.ddl.run(statement, self.plans.database)
                return Done("ALTER DATABASE")
            case s.DropDatabase():
                self.ddl.run(statement, self.plans.database)
                return Done("DROP DATABASE")
            case s.UseDatabase():
                self.plans.database = self.lookup.database(statement.database).name
                return Done("USE")
            case s.CreateView() | s.AlterView():
                definition = self.plans.view_definition(statement, request)
                self.ddl.run(statement, self.plans.database, definition)
                return Done("CREATE VIEW" if isinstance(statement, s.CreateView) else "ALTER VIEW")
            case s.DropView():
                self.ddl.run(statement, self.plans.database)
                return Done("DROP VIEW")
            case s.CreateMacro():
                return self.changes.create_macro(statement, request)
            case s.DropMacro():
                return self.changes.drop_macro(statement)
            case s.CreateFunction():
                return self.changes.create_function(statement)
            case s.DropFunction():
                return self.changes.drop_function(statement)
            case s.StartTransaction():
                return Done("START TRANSACTION", self.engines.transactions.begin())
            case s.Commit():
                return Done("COMMIT", self.engines.transactions.commit())
            case s.Rollback():
                return Done("ROLLBACK", self.engines.session_transaction.rollback())
            case s.SetAutocommit():
                return Done("SET AUTOCOMMIT", self.engines.transactions.set_autocommit(on=statement.on))
            case s.AbortTransactions():
                return self._abort_transactions(statement)
            case s.AbortCompactions():
                return self._abort_compactions(statement)
            case s.Show():
                database, macros = self.plans.database, self.changes.macros.keys()
                answer = show.show(statement, self.lookup, database, self.compactor, self.engine, self.files.of, macros)
                is_text = statement.what in (s.Shown.CREATE_TABLE, s.Shown.CREATE_DATABASE)
                return rows_result(f"SHOW {statement.what.value}", answer, is_text=is_text)
            case s.Describe():
                database, macros = self.plans.database, self.changes.macros.keys()
                return rows_result("DESCRIBE", show.describe(statement, self.lookup, database, self.engine, macros))
            case s.DescribeHistory():
                answer = show.describe_history(statement, self.lookup, self.plans.database, self.files.of)
                return rows_result("DESCRIBE HISTORY", answer)
            case s.Explain():
                given, frames = statement.statement, request.frames
                text = self.plans.explain(given, locks=statement.locks, detail=statement.detail, frames=frames)
                return rows_result(
                    "EXPLAIN", show.Answer(("plan",), tuple((line,) for line in text.splitlines())), is_text=True
                )
            case s.NoEffect():
                return Done(statement.operation, note=statement.cache.value)
            case s.SetSetting():
                return self.changes.set(statement)
            case s.ResetSettings():
                return self.changes.reset(statement)
            case _:
                assert_never(statement)

    def _check_writable(self, statement: s.Statement) -> None:
        """Raises READ_ONLY_DATABASE. A database that does not exist is the error of the statement's component."""
        named = list(written_databases(statement, self.plans.database))
        if not named:
            return
        known = {found.name: found for found in self.metastore.databases()}
        for name in named:
            if name.value in known:
                check_writable(known[name.value], name.span)

    # -- queries and DML

    def _execute(self, plan: Plan, request: Request) -> Result:
        with _naming_views(plan):
            return self._execute_plan(plan, request)

    def _naming_repeated_key(self, statement: s.Merge, request: Request) -> AbstractContextManager[None]:
        """A method with a frame names the key of the frame instead."""
        if not request.names_key:
            return nullcontext()
        return naming_repeated_key(statement, self.lookup, self.plans, self._query)

    def _scan(self, text: str) -> ScanResult | None:
        plan = self.plans.query_plan(parse(text))
        return self._scanned(plan) if self.engines.steering.may_skip_spark else None

    def _query(self, text: str) -> QueryResult:
        plan = self.plans.query_plan(parse(text))
        request = Request(text, {}, {})
        rows, release = self.engines.query(plan, request)
        return _query_result(rows, release, request)

    def _evolve(self, statement: s.Insert | s.Merge, request: Request) -> Result:
        """INSERT and MERGE with WITH SCHEMA EVOLUTION. They are planned again if another session has changed the table
        while they waited for its lock, for instance by the same evolution.

        Raises IN_TRANSACTION: like ALTER TABLE, the clause changes the catalog, and ROLLBACK could not take that back.
        """
        txn_id = self.engines.session_transaction.id
        if txn_id is not None:
            operation = f"{'MERGE' if isinstance(statement, s.Merge) else 'INSERT'} WITH SCHEMA EVOLUTION"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation=operation, txn_id=f"txnid:{txn_id}")
        for _ in range(_MOST_EVOLUTIONS - 1):
            try:
                return self._execute(self.plans.plan(statement, request), request)
            except AcidSqlError as error:
                if error.condition != Condition.TABLE_CHANGED.name:
                    raise
        return self._execute(self.plans.plan(statement, request), request)

    def _execute_plan(self, plan: Plan, request: Request) -> Result:
        match plan:
            case QueryPlan():
                if request.rows_only and (scanned := self._scanned(plan)) is not None:
                    return scanned
                rows, release = self.engines.query(plan, request)
                return _query_result(rows, release, request)
            case WritePlan() | MultiWritePlan():
                done = self.engines.write(plan, request)
                c = done.counts
                counts = Counts(c.affected, c.updated, c.deleted, c.inserted, sum(nulled(c.misfits).values()))
                return CountsResult(plan.operation, counts, done.txn_id or None, done.write_ids, c.misfits)
            case _:
                assert_never(plan)

    def read_arrow(
        self, name: str, columns: Sequence[str] | None, where: str | None, version: int | None = None
    ) -> ScanBatches:
        """The live rows of a table, or of an earlier version, by the Arrow engine. Raises what
        `StatementEngines.read_arrow` raises."""
        query = arrow_query(name, columns, where, version)
        plan = self.plans.query_plan(with_macros(query, self.changes.macros))
        return self.engines.read_arrow(plan, query)

    def row_histories(self, name: str, wanted: RowId | str, limit: int | None) -> RowHistories:
        """What happened to the row with a row ID, or to the rows for which a condition was ever true, at most `limit`.
        Raises what `found_histories` raises."""
        where = wanted if isinstance(wanted, str) else None
        query = arrow_query(name, ROW_COLUMNS, where)
        plan = self.plans.query_plan(with_macros(query, self.changes.macros))
        return found_histories(self.engines, self.files.of, plan, query, wanted, limit)

    def row_changes(self, name: str, item: str, limit: int | None) -> RowChanges:
        """The changes of a table that a FROM item gives, at most `limit`. Raises what `row_changes` raises."""

        def pairing(old: Sequence[tuple[RowId, str]], new: Sequence[tuple[RowId, str]]) -> Mapping[int, int]:
            plan = self.plans.query_plan(arrow_query(name, ROW_COLUMNS, None))
            return pairs_of_updates(self.engines, plan, old, new)

        return row_changes(Queries(self._scan, self._query), pairing, item, limit)

    def _scanned(self, plan: QueryPlan) -> ScanResult | None:
        """The answer of a query that needs no Spark: the planner has found that it is nothing but the scan of a table
        on a local disk, in whose files there is nothing that pyarrow reads in another way than Spark."""
        batches = self.engines.scan(plan)
        if batches is None:
            return None
        names = zip(batches.schema.names, batches.kinds, strict=True)
        return ScanResult(tuple(ResultColumn(name, spark_name(kind)) for name, kind in names), batches)

    def _load(self, statement: s.LoadData, request: Request) -> Result:
        table = self.lookup.target(statement.target, self.plans.database, Condition.INSERT_INTO_VIEW)
        loaded = self.plans.loaded(statement, table)
        if loaded is not None:
            with self.loader.linked(statement, loaded, table) as files:
                return self._execute(self.plans.plan_load(statement, files), request)
        done = self.loader.load(statement, table)
        write_ids = {} if done.write_id is None else {table.qualified: done.write_id}
        counts = Counts(done.rows, 0, 0, done.rows)
        return CountsResult("LOAD DATA", counts, done.txn, write_ids)

    # -- tables

    def _create_table(self, statement: s.CreateTable, request: Request) -> Result:
        if statement.query is None:
            self.ddl.run(statement, self.plans.database)
            return Done("CREATE TABLE")
        if statement.if_not_exists and self.lookup.exists(statement.table, self.plans.database):
            return Done("CREATE TABLE AS SELECT")
        return self._execute(self.plans.plan_create(statement, request), request)

    def _truncate(self, statement: s.TruncateTable) -> Result:
        table = self.lookup.target(statement.table, self.plans.database, Condition.TRUNCATE_EXTERNAL)
        txn_id, write_id = self.engines.transactions.truncate(truncate_step(statement, table))
        write_ids = {table.qualified: write_id} if table.is_transactional else {}
        return Done("TRUNCATE TABLE", txn_id, write_ids)

    def _analyze(self, statement: s.AnalyzeTable, request: Request) -> Result:
        """ANALYZE TABLE. Rows are counted by a query of its own."""
        from acidsql.spark.table_analysis import RowCountsOfParts, TableAnalysis, count_query, counted_parts

        def count(table: Table) -> RowCountsOfParts:
            query = parse(count_query(table))
            plan = self.plans.query_plan(query, request)
            return counted_parts(self.engines.spark, plan, table)

        analysis = TableAnalysis(self.ddl.transactions, self.files.of, count)
        analysis.run(self.ddl.plan(statement, self.plans.database))
        note = "" if statement.columns is None else _NO_COLUMN_STATISTICS
        return Done("ANALYZE TABLE", note=note)

    def _alter_table(self, statement: s.AlterTable) -> Result:
        if isinstance(statement.action, s.Compact):
            return self._compact(statement.table, statement.action)
        self.ddl.run(statement, self.plans.database)
        note = _COLUMN_STATISTICS_NOT_KEPT if isinstance(statement.action, s.UpdateColumnStatistics) else ""
        return Done("ALTER TABLE", note=note)

    def _compact(self, name: s.TableName, action: s.Compact) -> Result:
        """The answer has a row for each request: what became of it and, with AND WAIT, what was merged.

        Raises COMPACTION_FAILED, and what `compaction_requests` raises.
        """
        table = self.lookup.target(name, self.plans.database, Condition.ALTER_COMMAND_FOR_VIEWS)
        if table.temporary:
            message = f"{table.qualified} cannot be compacted: it is a temporary table"
            raise AcidSqlError(Condition.ALTER_REFUSED, span=name.span, message=message)
        partitions = self.metastore.partition_values(table) if table.partition_columns else ()
        requests = compaction_requests(action, table, name, partitions)
        done = self.compactor.request(requests, wait=action.wait)
        rows = tuple((str(one.id), one.state.value, one.message) for one in done)
        return rows_result("ALTER TABLE", show.Answer(("compactionid", "state", "message"), rows))

    # -- transactions

    def _abort_transactions(self, statement: s.AbortTransactions) -> Result:
        """As in Hive, an ID that is not open is no error: the answer has a row for each ID with its outcome."""
        open_txns = {t.id for t in self.metastore.transactions() if t.is_open}
        rows = []
        for txn in map(TxnId, statement.txn_ids):
            if txn in open_txns:
                self.metastore.abort(txn)
            rows.append((str(txn), "aborted" if txn in open_txns else "not open"))
        return rows_result("ABORT TRANSACTIONS", show.Answer(("txnid", "outcome"), tuple(rows)))

    def _abort_compactions(self, statement: s.AbortCompactions) -> Result:
        done = self.metastore.abort_compactions(statement.compaction_ids)
        rows = ((str(d.id), "Success" if d.aborted else "Error", d.message) for d in done)
        return rows_result("ABORT COMPACTIONS", show.Answer(("compactionid", "status", "message"), tuple(rows)))


def _with_readable_frames(request: Request) -> Request:
    """The request with frames that can be read several times (`readable_frames`)."""
    if not request.frames:
        return request
    from acidsql.spark.frames.caller_frames import readable_frames

    return replace(request, frames=readable_frames(request.frames))


def _query_result(rows: QueryRows, release: Callable[[], None], request: Request) -> QueryResult:
    columns = tuple(ResultColumn(f.name, f.dataType.simpleString()) for f in rows.frame.schema.fields)
    return QueryResult(columns, rows.frame, rows.private, release, request.text)


@contextmanager
def _naming_views(plan: Plan) -> Iterator[None]:
    """Names the views in an error about a missing column: a table may have lost a column that a view reads."""
    try:
        yield
    except AcidSqlError as error:
        if not plan.views or error.condition != Condition.COLUMN_NOT_FOUND.name:
            raise
        views = ", ".join(view.qualified for view in plan.views)
        raise error.with_hint(f"The query reads the view {views}.") from error.__cause__
