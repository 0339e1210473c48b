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
from typing import TYPE_CHECKING

from acidsql.compactor.background import Background
from acidsql.compactor.metrics import Metric, metrics, serve_prometheus
from acidsql.compactor.service import Compactor
from acidsql.ddl.plan_runner import Ddl
from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.parser import parse
from acidsql.grammar.placeholders import name_placeholders
from acidsql.grammar.script_splitter import Piece, split_script
from acidsql.interrupts import interruptible
from acidsql.metastore.client import Catalog, Metastore
from acidsql.metastore.registry import open_metastore
from acidsql.metastore.transactions import Transactions
from acidsql.results import Result, Summary
from acidsql.settings import Settings
from acidsql.snapshot.event_visibility import StoredEvent, stored_events
from acidsql.snapshot.table_contents import PartContent, TableContent, table_content
from acidsql.spark.engine import Engine
from acidsql.spark.executor import Executor, Request
from acidsql.spark.write.load_data import Loader
from acidsql.statement_dispatch import StatementDispatch
from acidsql.statement_plans import StatementPlans
from acidsql.storage.file_systems import is_local
from acidsql.uses import Uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Session", "connect"]

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
        self.last_result: Summary | None = None
        self._uses = Uses()
        self._metastore = metastore
        self._engine = engine
        self._settings = Settings()
        self._transactions = Transactions(metastore, self._settings.patience)
        self._executor = Executor(engine, self._transactions, self._settings.values)
        ddl = Ddl(self._transactions, warehouse, engine.files)
        lookup = TableLookup.waiting(self._transactions, engine.files)
        self._plans = StatementPlans(engine, self._executor, ddl, lookup, self._settings.values)
        self.compactor = Compactor(engine, self._transactions, self._settings.values)
        """Compacts, and runs the service that does."""
        self._background = Background(self.compactor, self._settings.values)
        self._dispatch = StatementDispatch(
            metastore,
            engine,
            self._executor,
            ddl,
            lookup,
            Loader(engine, self._transactions),
            self._plans,
            self._settings,
            self.compactor,
            self._background,
        )

    @property
    def database(self) -> str:
        """The current database, which USE changes."""
        return self._plans.database

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
        result = replace(result, seconds=seconds, spark_of=self)
        self.last_result = Summary.of(result)  # without the frame of a query, which would keep its transaction open
        return result

    def _run_or_roll_back(
        self, text: str, args: Mapping[str, object] | Sequence[object] | None, frames: Mapping[str, object]
    ) -> Result:
        """Whatever a statement raises ends the transaction that it is part of."""
        begun = self._executor.begun.id
        try:
            statement, named = name_placeholders(parse(text), args)
            return self._dispatch.run(statement, Request(text, named, frames))
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
            return self._plans.explain(inner)

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


@contextmanager
def _located(text: str, piece: Piece | None) -> Iterator[None]:
    """Errors of the statement, at their place in the script that it is a piece of."""
    try:
        yield
    except AcidSqlError as error:
        if piece is None or error.span is None or error.span.source != text:
            raise
        raise error.moved(piece.source, piece.start) from error.__cause__
