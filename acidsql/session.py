"""A session: the four calls of a statement's life, parse, plan, execute, and what they give.

text --parse--> Statement --plan--> Plan --execute--> staged files --commit--> visible
     grammar/             planner/       acidsql/spark/           acidsql/metastore/
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

from acidsql.acid.write_ids import TxnId
from acidsql.compactor.background import Background
from acidsql.compactor.compaction_requests import compaction_request
from acidsql.compactor.metrics import Metric, metrics, serve_prometheus
from acidsql.compactor.service import Compactor
from acidsql.ddl.alteration import Alter
from acidsql.ddl.catalog_changes import Ddl
from acidsql.ddl.ddl_explain import DDL_STATEMENTS, plan_ddl
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.parser import parse
from acidsql.grammar.placeholders import name_placeholders
from acidsql.grammar.script_splitter import Piece, split_script
from acidsql.grammar.table_names import table_names
from acidsql.interrupts import interruptible
from acidsql.metastore.client import DEFAULT_DATABASE, Catalog, Metastore
from acidsql.metastore.registry import open_metastore
from acidsql.metastore.transactions import Transactions
from acidsql.planner.create_as import column_names, column_types, plan_create_as, plan_create_query
from acidsql.planner.explain import explain, explain_locks
from acidsql.planner.lock_requests import CONFLICTS, on_partitions
from acidsql.planner.plan import Facts, MultiWritePlan, Plan, QueryPlan, Shortcuts, WritePlan
from acidsql.planner.statement_planner import plan_statement
from acidsql.results import COUNT_COLUMNS, Counts, Result, ResultColumn
from acidsql.settings import OPEN_TXNS, Settings
from acidsql.show import show
from acidsql.snapshot.event_visibility import StoredEvent, stored_events
from acidsql.snapshot.table_contents import PartContent, TableContent, table_content
from acidsql.spark.engine import Engine
from acidsql.spark.executor import Executor, Request
from acidsql.spark.frames import frame_of_counts, frame_of_texts
from acidsql.spark.write.load_data import Loader
from acidsql.storage.file_systems import is_local
from acidsql.uses import Uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Counts", "Result", "ResultColumn", "Session", "connect"]

WAREHOUSE_VARIABLE = "ACIDSQL_WAREHOUSE"
METASTORE_VARIABLE = "ACIDSQL_METASTORE"


def connect(
    warehouse: str | os.PathLike[str] | None = None,
    metastore: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
) -> Session:
    """Opens a session. Starts nothing: Spark starts with the first statement that needs it.

    `warehouse` is a directory or a URI (default $ACIDSQL_WAREHOUSE, else ./warehouse), `metastore` is
    `sqlite:///PATH` or None for the embedded one, `thrift://HOST:PORT[,HOST:PORT..]` for a Hive Metastore, whose own
    warehouse it then is (default $ACIDSQL_METASTORE, else <warehouse>/.acidsql/metastore.db), `spark` a session to use
    instead of one of its own, `conf` Spark settings for that one.
    Raises METASTORE_UNAVAILABLE.
    """
    where = str(warehouse) if warehouse is not None else os.environ.get(WAREHOUSE_VARIABLE, "warehouse")
    root = os.path.abspath(where) if is_local(where) and not where.startswith("file:") else where.rstrip("/")
    uri = metastore if metastore is not None else os.environ.get(METASTORE_VARIABLE)
    opened = open_metastore(uri or _embedded_uri(root), root)
    return Session(opened.warehouse, opened.metastore, Engine(spark, conf or {}))


def _embedded_uri(warehouse: str) -> str:
    """The embedded metastore's file in a local warehouse. Raises METASTORE_UNAVAILABLE for any other warehouse."""
    if not is_local(warehouse):
        reason = "a warehouse that is not local needs a metastore given: sqlite:///PATH or thrift://HOST:PORT"
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri="(none)", reason=reason)
    return f"sqlite:///{Path(warehouse.removeprefix('file://')) / '.acidsql' / 'metastore.db'}"


class Session:
    """Statements in, results out. A context manager; `connect` makes one."""

    def __init__(self, warehouse: str, metastore: Metastore, engine: Engine) -> None:
        self.warehouse = warehouse
        self.database = DEFAULT_DATABASE
        self.last_result: Result | None = None
        self._uses = Uses()
        self._metastore = metastore
        self._engine = engine
        self._settings = Settings()
        self._shortcuts = Shortcuts()
        self._transactions = Transactions(metastore, self._settings.patience)
        self._executor = Executor(engine, self._transactions, self._settings.values)
        self._ddl = Ddl(self._transactions, warehouse, engine.files)
        self._alter = Alter(self._ddl)
        self._loader = Loader(engine, self._transactions)
        self.compactor = Compactor(engine, self._transactions, self._settings.values)
        """Compacts, and runs the service that does."""
        self._background = Background(self.compactor, self._settings.values)

    @property
    def catalog(self) -> Catalog:
        """Databases, tables and partitions."""
        return self._metastore

    @property
    def spark(self) -> SparkSession:
        """The Spark session; starts it."""
        return self._engine.spark

    @property
    def transaction_id(self) -> int | None:
        """Of the transaction that START TRANSACTION began and that is under way."""
        return self._executor.begun.id

    def start(self) -> None:
        """Starts Spark if it is not running. Raises JAVA_NOT_FOUND, CANNOT_START."""
        _ = self._engine.spark

    def use_spark(self, spark: SparkSession) -> None:
        """Runs what follows on this Spark session."""
        self._engine.use(spark)

    def cancel(self) -> None:
        """Cancels the Spark jobs that run, for example those of a query whose rows are being read."""
        self._engine.cancel()

    def progress(self) -> str:
        """How far the running Spark jobs are, in words; empty where none runs. May be asked from any thread."""
        return self._engine.progress()

    def close(self) -> None:
        """Ends the statements that other threads run in it, rolls back a transaction that is under way, closes the
        metastore, and stops Spark if this session started it. Frames that the session gave must not be read after it.

        In a process that was forked from the session's it does nothing.
        """
        if not self._uses.is_of_this_process:
            return
        self._uses.end(self._engine.cancel_statements)
        self._background.stop()
        self._executor.close()
        self._metastore.close()
        self._engine.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- statements

    def sql(self, sql: str, args: Mapping[str, object] | Sequence[object] | None = None, **frames: object) -> DataFrame:
        """Runs one statement, like SparkSession.sql: a query's rows, lazily; a DML statement's counts; SHOW's rows.

        `args` are the values of `:name` (a mapping) or `?` (a sequence) parameters, `frames` the frames that the text
        names as `{name}`. Raises AcidSqlError.
        """
        return self.execute(sql, args, frames=frames).frame()

    def script(self, text: str) -> Iterator[Result]:
        """Runs the statements of a script one by one, yielding a Result each; stops at the first error."""
        for piece in split_script(text):
            yield self.execute(piece.text, piece=piece)

    def execute(
        self,
        text: str,
        args: Mapping[str, object] | Sequence[object] | None = None,
        *,
        piece: Piece | None = None,
        frames: Mapping[str, object] | None = None,
    ) -> Result:
        """Runs one statement. With the piece of a script that it is, errors point into the whole script."""
        started = time.perf_counter()
        with _located(text, piece), self._uses.use(), depth_limited(), interruptible(self.cancel):
            result = self._run_or_roll_back(text, args, frames or {})
        seconds = time.perf_counter() - started
        result = replace(result, seconds=seconds, text=text, make_frame=self._frame_of)
        self.last_result = replace(result, query=None, fetched=None, release=None)  # it must not keep the frame
        return result

    def _run_or_roll_back(
        self, text: str, args: Mapping[str, object] | Sequence[object] | None, frames: Mapping[str, object]
    ) -> Result:
        """Whatever a statement raises ends the transaction that it is part of."""
        begun = self._executor.begun.id
        try:
            statement, named = name_placeholders(parse(text), args)
            return self._run(statement, Request(text, named, frames))
        except BaseException as error:
            if begun is None or self._executor.begun.id is None:
                raise
            lost = self._executor.begun.lost
            self._executor.begun.rollback()
            if isinstance(error, AcidSqlError):
                raise (lost or error).with_hint(f"Transaction {begun} was rolled back.") from error.__cause__
            raise

    def explain(self, sql: str) -> str:
        """The plan of a statement as text; opens no transaction, and starts Spark for CREATE TABLE .. AS only, whose
        column types it tells."""
        with _located(sql, None), depth_limited():
            statement = parse(sql)
            inner = statement.statement if isinstance(statement, s.Explain) else statement
            if isinstance(inner, DDL_STATEMENTS) and not _has_query(inner):
                return plan_ddl(inner, self._ddl, self.database).text()
            return explain(self._plan(inner))

    def table(self, name: str, version: int | None = None) -> DataFrame:
        """One snapshot of a table. Raises TABLE_NOT_FOUND."""
        if version is not None:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="Reading an earlier version of a table")
        quoted = ".".join(f"`{part}`" for part in name.replace("`", "").split("."))
        return self.sql(f"SELECT * FROM {quoted}")

    def inspect(self, name: str) -> TableContent:
        """What lies in a table's directories, read or not, and why not. Starts no Spark where they are local.

        Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND.
        """
        database, _, table = name.replace("`", "").lower().rpartition(".")
        found = self._metastore.table(database or self.database, table)
        return table_content(found, self._metastore, self._engine.files(found.location))

    def events(self, content: TableContent, part: PartContent) -> Iterator[StoredEvent]:
        """The events in the files of a partition that `inspect` gave, whether a reader sees each, and why not."""
        return stored_events(content, part, self._engine.files(content.table.location))

    def metrics(self) -> Sequence[Metric]:
        """Figures of transactions and compactions, under Hive's names."""
        return metrics(self._metastore, self.compactor)

    def serve_metrics(self, port: int) -> None:
        """Serves them as Prometheus' text, from a thread of its own. Raises CANNOT_START."""
        serve_prometheus(port, self._metastore, self.compactor)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """START TRANSACTION .. COMMIT, with ROLLBACK where the block raises.

        Raises IN_TRANSACTION, and at the end WRITE_CONFLICT and what else COMMIT raises.
        """
        self.execute("START TRANSACTION")
        try:
            yield self
        except BaseException:
            if self._executor.begun.id is not None:
                self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")

    # -- one statement

    def _run(self, statement: s.Statement, request: Request) -> Result:
        if self._executor.begun.id is not None:
            _check_in_transaction(statement, self._executor.begun.id)
        match statement:
            case s.StartTransaction():
                return Result("START TRANSACTION", txn_id=self._executor.begin())
            case s.Commit():
                return Result("COMMIT", txn_id=self._executor.commit())
            case s.Rollback():
                return Result("ROLLBACK", txn_id=self._executor.begun.rollback())
            case s.AbortTransactions():
                return self._abort(statement)
            case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.Merge():
                return self._execute(self._plan(statement), request)
            case s.CreateTable() if statement.query is not None:
                if self._ddl.exists(statement, self.database):
                    return Result("CREATE TABLE AS SELECT")
                return self._execute(self._plan_create(statement, request), request)
            case s.CreateTable():
                self._ddl.create_table(statement, self.database)
                return Result("CREATE TABLE")
            case s.LoadData():
                return self._load(statement)
            case s.TruncateTable():
                table = self._ddl.lookup(statement.table, self.database)
                txn_id, write_id = self._executor.truncate(table, statement.partition, statement.table)
                write_ids = {table.qualified: write_id} if table.is_transactional else {}
                return Result("TRUNCATE TABLE", txn_id=txn_id, write_ids=write_ids)
            case s.AlterTable(action=s.Compact() as action):
                return self._compact(statement.table, action)
            case s.AbortCompactions():
                return self._abort_compactions(statement)
            case s.AlterTable():
                self._alter.run(statement, self.database)
                return Result("ALTER TABLE")
            case s.DropTable():
                self._ddl.drop_table(statement, self.database)
                return Result("DROP TABLE")
            case s.CreateDatabase():
                self._ddl.create_database(statement)
                return Result("CREATE DATABASE")
            case s.DropDatabase():
                self._ddl.drop_database(statement)
                return Result("DROP DATABASE")
            case s.UseDatabase():
                self.database = self._ddl.database(statement.database).name
                return Result("USE")
            case s.Show(what=s.Shown.METRICS):
                rows = tuple((m.name, m.place, f"{m.value:g}", m.help) for m in self.metrics())
                return _answer("SHOW METRICS", show.Answer(("name", "place", "value", "help"), rows))
            case s.Show():
                answer = show.show(statement, self._ddl, self.database)
                return _answer(f"SHOW {statement.what.value}", answer)
            case s.Describe():
                return _answer("DESCRIBE", show.describe(statement, self._ddl, self.database))
            case s.Explain():
                return self._explain(statement)
            case s.SetSetting():
                return self._set(statement)
            case _:
                raise _not_yet(statement)

    def _execute(self, plan: Plan, request: Request) -> Result:
        match plan:
            case QueryPlan():
                rows, release = self._executor.query(plan, request)
                columns = tuple(ResultColumn(f.name, f.dataType.simpleString()) for f in rows.frame.schema.fields)
                return Result("SELECT", columns, query=rows.frame, fetched=rows.private, release=release)
            case WritePlan() | MultiWritePlan():
                done = self._executor.write(plan, request)
                c = done.counts
                counts = Counts(c.affected, c.updated, c.deleted, c.inserted)
                return Result(plan.operation, counts=counts, txn_id=done.txn_id or None, write_ids=done.write_ids)

    def _abort(self, statement: s.AbortTransactions) -> Result:
        """As in Hive, an ID that is not open is no error; a row for each says what became of it."""
        opened = {t.id for t in self._metastore.transactions() if t.is_open}
        rows = []
        for txn in map(TxnId, statement.txn_ids):
            if txn in opened:
                self._metastore.abort(txn)
            rows.append((str(txn), "aborted" if txn in opened else "not open"))
        return _answer("ABORT TRANSACTIONS", show.Answer(("txnid", "outcome"), tuple(rows)))

    def _compact(self, name: s.TableName, action: s.Compact) -> Result:
        """A row says what became of the request; with AND WAIT, what was merged.

        Raises COMPACTION_FAILED, and what requests.compaction_request raises.
        """
        table = self._ddl.lookup(name, self.database)
        partitions = self._metastore.partitions(table) if table.partition_columns else ()
        request = compaction_request(action, table, name, partitions)
        done = self.compactor.request(request, wait=action.wait)
        columns = ("compactionid", "state", "message")
        return _answer("ALTER TABLE", show.Answer(columns, ((str(done.id), done.state.value, done.message),)))

    def _abort_compactions(self, statement: s.AbortCompactions) -> Result:
        done = self._metastore.abort_compactions(statement.compaction_ids)
        rows = ((str(d.id), "Success" if d.aborted else "Error", d.message) for d in done)
        return _answer("ABORT COMPACTIONS", show.Answer(("compactionid", "status", "message"), tuple(rows)))

    def _load(self, statement: s.LoadData) -> Result:
        table = self._ddl.lookup(statement.target, self.database)
        done = self._loader.load(statement, table)
        write_ids = {} if done.write_id is None else {table.qualified: done.write_id}
        counts = Counts(done.rows, 0, 0, done.rows)
        return Result("LOAD DATA", counts=counts, txn_id=done.txn, write_ids=write_ids)

    def _plan(self, statement: s.Statement) -> Plan:
        match statement:
            case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.Merge():
                return plan_statement(statement, self._facts(statement))
            case s.CreateTable() if statement.query is not None:
                return self._plan_create(statement, Request(statement.source, {}, {}))
            case _:
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"EXPLAIN {_feature(statement)}")

    def _plan_create(self, statement: s.CreateTable, request: Request) -> WritePlan:
        """CREATE TABLE .. AS: Spark tells the types of the query's columns."""
        facts = self._facts(statement)
        query = plan_create_query(statement, facts)
        columns = self._executor.columns(query, request)
        names = column_names([name for name, _ in columns])
        types = column_types(statement, [kind for _, kind in columns])
        table = self._ddl.declare(statement, self.database, list(zip(names, types, strict=True)))
        return plan_create_as(statement, table, query, names, facts)

    def _facts(self, statement: s.Statement) -> Facts:
        """What the planner needs: the tables that the statement names, and near misses for its errors."""
        tables = {}
        unknown = False
        for name in table_names(statement):
            table = self._ddl.find(name, self.database)
            if table is not None:
                tables[table.qualified] = table
            unknown = unknown or table is None
        views = self._engine.temporary_views() if unknown else frozenset[str]()
        near = tuple(self._metastore.tables(self.database)) if unknown else ()
        return Facts(self.database, tables, views, self._settings.values, near, self._shortcuts)

    def _explain(self, statement: s.Explain) -> Result:
        inner = statement.statement
        if isinstance(inner, DDL_STATEMENTS) and not _has_query(inner):
            done = plan_ddl(inner, self._ddl, self.database)
            text = explain_locks(done.locks) if statement.locks else done.text()
        else:
            plan = self._plan(inner)
            locks = on_partitions(plan, self._metastore.partitions) if statement.locks else ()
            text = explain_locks(locks) if statement.locks else explain(plan)
        rows = tuple((line,) for line in text.splitlines())
        return Result("EXPLAIN", (ResultColumn("plan", "string"),), answer=rows)

    def _set(self, statement: s.SetSetting) -> Result:
        if statement.key is not None and statement.value is not None:
            if statement.key.startswith("spark."):
                self._engine.set_conf(statement.key, statement.value)
            else:
                if statement.key.lower() == CONFLICTS and not self._metastore.detects_row_conflicts:
                    feature = f"SET {CONFLICTS} with a Hive Metastore"
                    raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
                self._settings.set(statement.key, statement.value)
                self._background.adjust()
                self._metastore.limit_open_txns(int(self._settings.values[OPEN_TXNS]))
            return Result("SET")
        values = self._settings.values
        if statement.key is not None:
            value = self._settings.get(statement.key)
            values = {statement.key: "<undefined>" if value is None else value}
        columns = (ResultColumn("key", "string"), ResultColumn("value", "string"))
        return Result("SET", columns, answer=tuple(sorted(values.items())))

    def _frame_of(self, result: Result) -> DataFrame:
        """A DataFrame of a result that is no query: counts, or rows of text."""
        if result.counts is not None:
            return frame_of_counts(COUNT_COLUMNS, result.counts.as_row(), self.spark)
        names = [c.name for c in result.columns or ()] or ["result"]
        return frame_of_texts(names, result.answer or (), self.spark)


def _answer(operation: str, answer: show.Answer) -> Result:
    return Result(operation, tuple(ResultColumn(name, "string") for name in answer.columns), answer=answer.rows)


_ALLOWED_IN_TRANSACTION: Final = (
    s.Query,
    s.Insert,
    s.MultiInsert,
    s.Update,
    s.Delete,
    s.Merge,
    s.Commit,
    s.Rollback,
    s.Show,
    s.Describe,
    s.Explain,
    s.SetSetting,
    s.UseDatabase,
)


def _check_in_transaction(statement: s.Statement, txn: TxnId) -> None:
    """DDL has transactions of its own, and a transaction has none inside. Raises IN_TRANSACTION."""
    if not isinstance(statement, _ALLOWED_IN_TRANSACTION):
        raise AcidSqlError(Condition.IN_TRANSACTION, operation=_feature(statement), txn_id=f"txnid:{txn}")


def _has_query(statement: s.Statement) -> bool:
    """CREATE TABLE .. AS, which has a plan of its own."""
    return isinstance(statement, s.CreateTable) and statement.query is not None


def _not_yet(statement: s.Statement) -> AcidSqlError:
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=_feature(statement))


def _feature(statement: s.Statement) -> str:
    """A statement's name, as its first words."""
    return " ".join(statement.source.split()[:2]).upper().rstrip(";")


@contextmanager
def _located(text: str, piece: Piece | None) -> Iterator[None]:
    """Errors of the statement, at their place in the script that it is a piece of."""
    try:
        yield
    except AcidSqlError as error:
        if piece is None or error.span is None or error.span.source != text:
            raise
        raise error.moved(piece.source, piece.start) from error.__cause__
