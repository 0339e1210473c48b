"""A session: the life of a statement, from its text to its result.

text --parse--> Statement --plan--> Plan --execute--> staged files --commit--> visible
     grammar/             planner/       acidsql/engines/         acidsql/metastore/
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

from acidsql.acid.object_names import table_of
from acidsql.acid.table import Table
from acidsql.arrow.queries import table_item
from acidsql.compactor.background import Background
from acidsql.compactor.service import Compactor
from acidsql.ddl.plan_runner import Ddl
from acidsql.ddl.table_lookup import TableLookup
from acidsql.engines.compaction_engines import CompactionEngines
from acidsql.engines.statement_engines import StatementEngines
from acidsql.errors import AcidSqlError, Condition
from acidsql.frame_api.change_items import ChangeOptionArguments, changes_item, check_no_range
from acidsql.frame_api.frame_statements import FrameStatements
from acidsql.grammar import statements as s
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.parser import parse
from acidsql.grammar.placeholders import name_placeholders
from acidsql.grammar.script_splitter import Piece, split_script
from acidsql.ingest.stream import Stream
from acidsql.ingest.stream_options import (
    DEFAULT_BATCH_SIZE,
    DEFAULT_COMMIT_ROWS,
    DEFAULT_COMMIT_SECONDS,
    StreamOptions,
)
from acidsql.interrupts import interruptible
from acidsql.metastore.catalog import Catalog
from acidsql.metastore.client import Metastore
from acidsql.metastore.history_retention import RETENTION
from acidsql.metastore.registry import configured_metastore, open_metastore
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.stream_claims import StreamClaims
from acidsql.metastore.streams import StreamProgress
from acidsql.metastore.transactions import Transactions
from acidsql.planner.lock_requests import XLOCK_WRITE
from acidsql.planner.queries.macro_expansion import Macro, with_macros
from acidsql.request import Request
from acidsql.session_inspection import SessionInspection
from acidsql.spark.engine import Engine
from acidsql.statements.absent_warehouse import check_warehouse, with_note_on_absence
from acidsql.statements.change_readers import ChangeReaders
from acidsql.statements.dispatch import StatementDispatch
from acidsql.statements.log import check_variables, logged
from acidsql.statements.plans import StatementPlans
from acidsql.statements.results import QueryResult, Result, ScanResult, Summary
from acidsql.statements.session_changes import SessionChanges
from acidsql.statements.settings import OWN_CLIENTS, Settings, settings_of_file
from acidsql.statements.variables import Variables
from acidsql.storage.file_systems import is_local
from acidsql.storage.session_scratch import SessionScratch
from acidsql.storage.warehouse_files import WarehouseFiles
from acidsql.tracing import Phase, phase
from acidsql.uses import Uses
from acidsql.writing.load_data import Loader
from acidsql.writing.session_transaction import is_in_transaction

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Session", "connect"]

WAREHOUSE_VARIABLE = "ACIDSQL_WAREHOUSE"
SETTINGS_VARIABLE = "ACIDSQL_SETTINGS"
METASTORE_VARIABLE = "ACIDSQL_METASTORE"


def connect(
    warehouse: str | os.PathLike[str] | None = None,
    metastore: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    settings: Mapping[str, str] | None = None,
) -> Session:
    """Opens a session. Spark starts with the first statement that needs it.

    `warehouse` is a directory or a URI; the default is $ACIDSQL_WAREHOUSE, else ./warehouse. `metastore` is
    `sqlite:///PATH` for the embedded metastore, or `thrift://HOST:PORT[,HOST:PORT..]` for a Hive Metastore, which
    brings its own warehouse; the default is $ACIDSQL_METASTORE; without it, and if no warehouse is named either, the
    metastore of $HIVE_CONF_DIR/hive-site.xml; else <warehouse>/.acidsql/metastore.db. `spark` is a Spark session to use
    instead of a new one, and `conf` holds Spark settings for the new one. `settings` are those of acidsql and Hive, as
    SET changes them, behind those of the TOML file $ACIDSQL_SETTINGS.
    Raises METASTORE_UNAVAILABLE, SPARK_CONNECT, INVALID_SETTING for $ACIDSQL_LOG, INVALID_SETTINGS_FILE, and what
    `Session.set_settings` raises.
    """
    file = os.environ.get(SETTINGS_VARIABLE)
    wanted = {**(settings_of_file(file) if file else {}), **(settings or {})}
    check_variables()
    named = os.environ.get(WAREHOUSE_VARIABLE) if warehouse is None else str(warehouse)
    where = "warehouse" if named is None else named
    root = os.path.abspath(where) if is_local(where) and not where.startswith("file:") else where.rstrip("/")
    uri = metastore if metastore is not None else os.environ.get(METASTORE_VARIABLE)
    if not uri and named is None:
        uri = configured_metastore()
    engine = Engine(spark, conf or {})  # refuses a session of Spark Connect before a metastore is made
    opened = open_metastore(uri or _embedded_uri(root), root)
    session = Session(opened.warehouse, opened.metastore, engine)
    try:
        session.set_settings(wanted)
    except BaseException:
        session.close()
        raise
    return session


def _embedded_uri(warehouse: str) -> str:
    """The embedded metastore's file in a local warehouse. Raises METASTORE_UNAVAILABLE for any other warehouse."""
    if not is_local(warehouse):
        reason = "a warehouse that is not local needs a metastore given: sqlite:///PATH or thrift://HOST:PORT"
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri="(none)", reason=reason)
    return f"sqlite:///{Path(warehouse.removeprefix('file://')) / '.acidsql' / 'metastore.db'}"


class Session(FrameStatements, SessionInspection):
    """Runs statements on a warehouse. `acidsql.connect` opens a session, which is a context manager."""

    keeps_transaction: bool = False
    """Whether a statement that is refused, and has changed nothing, leaves an open transaction as it is. By default
    every error but IN_TRANSACTION rolls back the transaction that START TRANSACTION began."""

    def __init__(self, warehouse: str, metastore: Metastore, engine: Engine) -> None:
        self.warehouse = warehouse
        self.last_result: Summary | None = None
        self._uses = Uses()
        self._metastore = SessionMetastore(metastore)
        self._engine = engine
        self._settings = Settings()
        self._files = WarehouseFiles(engine, lambda: self._settings.values[OWN_CLIENTS] == "true")
        self._scratch = SessionScratch(warehouse, self._files.of)
        self._variables = Variables(self._settings, warehouse)
        self._macros: dict[str, Macro] = {}
        self._streams: set[Stream] = set()
        self._transactions = Transactions(self._metastore, self._settings.patience)
        self._engines = StatementEngines(engine, self._files, self._transactions, self._settings.values)
        ddl = Ddl(self._transactions, warehouse, self._files.of, self._scratch, self._settings.values)
        lookup = TableLookup.waiting(self._transactions, self._files.of)
        self._plans = StatementPlans(engine, self._engines, ddl, lookup, self._settings.values)
        self.stream_claims = StreamClaims(self._transactions)
        """The claims of the streaming queries that write through this session, and of its readers of changes."""
        self._readers = ChangeReaders(self._metastore, self.stream_claims, self._engines.transactions, self._plans)
        of_shared_tables = Transactions(metastore, self._settings.patience)
        self.compactor = Compactor(
            CompactionEngines(engine, self._files, self._settings.values), of_shared_tables, self._settings.values
        )
        """Runs compactions, and the background service."""
        self._background = Background(self.compactor, self._settings.values)
        self._changes = SessionChanges(
            self._metastore,
            engine,
            self._files,
            self._plans,
            self._settings,
            self._variables,
            self._macros,
            self._background,
        )
        self._dispatch = StatementDispatch(
            self._metastore,
            engine,
            self._files,
            self._engines,
            ddl,
            lookup,
            Loader(self._files.of, self._transactions),
            self._plans,
            self._changes,
            self.compactor,
        )

    @property
    def database(self) -> str:
        """The current database, which USE changes.

        >>> session.database
        'default'
        """
        return self._plans.database

    @property
    def catalog(self) -> Catalog:
        """Databases, tables and partitions.

        >>> [(column.name, column.type) for column in session.catalog.table("default", "employee").columns]
        [('id', 'int'), ('name', 'string'), ('salary', 'int')]
        """
        return self._metastore

    @property
    def spark(self) -> SparkSession:
        """The Spark session. Starts Spark if it is not running.

        >>> session.spark.range(2).count()
        2
        """
        return self._engine.spark

    @property
    def transaction_id(self) -> int | None:
        """The ID of the transaction that START TRANSACTION has opened, or None.

        >>> session.transaction_id is None
        True
        """
        return self._engines.session_transaction.id

    @property
    def autocommit(self) -> bool:
        """Whether each statement commits by itself. With `False` a query or DML statement begins a transaction where
        none is open. `SET AUTOCOMMIT FALSE` changes it too. Can be set while no transaction is open.

        Raises IN_TRANSACTION.

        >>> session.autocommit
        True
        """
        return self._engines.session_transaction.autocommit

    @autocommit.setter
    def autocommit(self, on: bool) -> None:
        if on != self.autocommit and (txn_id := self.transaction_id) is not None:
            operation = "A change of autocommit"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation=operation, txn_id=f"txnid:{txn_id}")
        self._engines.session_transaction.autocommit = on

    @property
    def is_closed(self) -> bool:
        """Whether the session was closed.

        >>> session.is_closed
        False
        """
        return self._uses.is_closed

    def start(self) -> None:
        """Starts Spark if it is not running. Raises JAVA_NOT_FOUND, CANNOT_START.

        >>> session.start()
        """
        _ = self._engine.spark

    def use_spark(self, spark: SparkSession) -> None:
        """Uses this Spark session for the following statements.

        >>> session.use_spark(session.spark.newSession())
        """
        self._engine.use(spark)
        self._files.forget_settings()

    def cancel(self) -> None:
        """Cancels the running Spark jobs, for example those of a query whose rows are being fetched.

        >>> session.cancel()
        """
        self._engine.cancel()

    def close(self) -> None:
        """Closes the session.

        This ends the statements of other threads and open streams, rolls back an open transaction, removes the
        session's temporary tables, closes the metastore, and stops Spark if the session has started it. DataFrames of
        the session cannot be read afterwards. In a forked process this does nothing.

        >>> other = acidsql.connect(session.warehouse, spark=session.spark)
        >>> other.close()
        """
        if not self._uses.is_of_this_process:
            return
        self._uses.end(self._engine.cancel_statements)
        for stream in tuple(self._streams):
            stream.drop_and_close()
        self._background.stop()
        self.stream_claims.release()
        self._engines.close()
        if self._scratch.is_used and (is_local(self.warehouse) or self._engine.is_running):
            self._scratch.remove()
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
        """Runs one statement, like SparkSession.sql.

        Args:
            sql: The statement.
            args: The values of `:name` parameters (a mapping) or of `?` parameters (a sequence).
            **frames: Spark, pandas, polars or Arrow frames that the statement names as `{name}`.

        Returns:
            The rows of a query, which runs when they are fetched; one row of counts for a DML statement, which runs at
            once; the rows of SHOW, DESCRIBE and EXPLAIN.

        Raises:
            AcidSqlError: For every error.

        >>> session.sql("SELECT name FROM employee WHERE salary > :least", {"least": 8000}).collect()
        [Row(name='Mary')]
        >>> session.sql("DELETE FROM employee WHERE id = ?", [2]).first().num_deleted_rows
        1
        """
        return self.execute(sql, args, frames=frames).frame()

    def script(self, text: str) -> Iterator[Result]:
        """Runs the statements of a script and yields a Result for each. Stops at the first error.

        >>> for result in session.script("UPDATE employee SET salary = 1 WHERE id > 2; SHOW TABLES;"):
        ...     print(result.operation, result.counts, list(result.rows()))
        UPDATE Counts(affected=2, updated=2, deleted=0, inserted=0) []
        SHOW TABLES None [('employee',)]
        """
        for piece in split_script(text):
            yield self.execute(piece.text, piece=piece)

    def execute(
        self,
        text: str,
        args: Mapping[str, object] | Sequence[object] | None = None,
        *,
        piece: Piece | None = None,
        frames: Mapping[str, object] | None = None,
        progress: StreamProgress | None = None,
        rows_only: bool = False,
        strict: bool = False,
        names_key: bool = True,
    ) -> Result:
        """Runs one statement and returns its Result. If `piece` is a part of a script, errors point into the script.

        `progress` is what the statement, which must write, commits of a stream with its rows. With `rows_only` a query
        that is nothing but a scan is answered without Spark. With `strict` a value that does not fit its column raises
        INVALID_STORE_VALUE, as with `SET acidsql.store.assignment=ansi`. With `names_key` the error about several rows
        of a MERGE's source for one row names the key of this row.

        >>> result = session.execute("UPDATE employee SET salary = 7000 WHERE id = 2")
        >>> result.counts.updated, sorted(result.write_ids)
        (1, ['default.employee'])
        """
        started = time.perf_counter()
        with (
            logged(text, self.database, self.transaction_id) as record,
            _located(text, piece),
            self._uses.use(),
            depth_limited(),
            interruptible(self.cancel),
        ):
            result: Result | None = None
            try:
                given = Request(text, {}, frames or {}, progress, rows_only, strict, names_key)
                result = self._run_or_roll_back(given, args)
            finally:
                if not isinstance(result, QueryResult | ScanResult):
                    self._engines.look_after_statement()
            if record is not None:
                record.succeed(result)
        seconds = time.perf_counter() - started
        result = replace(result, seconds=seconds, spark_of=self)
        self.last_result = Summary.of(result)  # without the frame of a query, which would keep its transaction open
        return result

    def _run_or_roll_back(self, given: Request, args: Mapping[str, object] | Sequence[object] | None) -> Result:
        """Runs a statement. Errors roll back the transaction that START TRANSACTION began (see keeps_transaction), but
        for IN_TRANSACTION: the statement is one that no transaction can have, and has done nothing."""
        txn_id = self._engines.session_transaction.id
        begun = False
        if given.progress is not None and txn_id is not None:
            operation = f"A batch of stream '{given.progress.claim.id}'"
            raise AcidSqlError(Condition.IN_TRANSACTION, operation=operation, txn_id=f"txnid:{txn_id}")
        try:
            with self._substituted(given.text) as read:
                with phase(Phase.PARSE):
                    statement, named = name_placeholders(parse(read), args)
                    statement = with_macros(statement, self._macros)
                if txn_id is None and given.progress is None and self._begins_transaction(statement):
                    txn_id, begun = self._engines.transactions.begin(), True
                with self._telling_absence():
                    result = self._dispatch.run(statement, replace(given, text=read, args=named))
                return with_note_on_absence(result, statement, self._metastore, self.warehouse)
        except BaseException as error:
            if txn_id is None or self._engines.session_transaction.id is None:
                raise
            lost = self._engines.session_transaction.lost
            keeps = self.keeps_transaction or is_in_transaction(error)
            if keeps and not begun and lost is None and self._engines.session_transaction.outlives(error):
                raise error.with_hint(f"Transaction {txn_id} is still open.") from error.__cause__
            self._engines.session_transaction.rollback()
            if begun:  # nothing else was lost with it
                raise
            if isinstance(error, AcidSqlError):
                raise (lost or error).with_hint(f"Transaction {txn_id} was rolled back.") from error.__cause__
            error.add_note(f"Transaction {txn_id} was rolled back.")
            raise

    def _begins_transaction(self, statement: s.Statement) -> bool:
        """Whether a statement begins a transaction, where none is open, because autocommit is off."""
        return not self._engines.session_transaction.autocommit and isinstance(statement, s.RowStatement)

    def check_warehouse(self) -> None:
        """Raises WAREHOUSE_NOT_FOUND where the first statement that writes has not yet made an embedded metastore.

        >>> session.check_warehouse()
        """
        check_warehouse(self._metastore, self.warehouse)

    def set_variables(self, values: Mapping[str, str]) -> None:
        """Sets variables, as `SET hivevar:name=value` does: statements name them as `${name}` or `${hivevar:name}`.

        >>> session.set_variables({"who": "Kate"})
        >>> session.sql("SELECT salary FROM employee WHERE name = '${who}'").first().salary
        6000
        """
        _check_texts(values)
        self._variables.hive.update(values)

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Changes settings, as `SET name=value` does, but takes each value as it is: with quotes, semicolons, comments
        and what looks like a variable.

        Raises:
            AcidSqlError: UNKNOWN_SETTING and INVALID_SETTING, as SET; INVALID_PARAMETER for a value that is no text.

        >>> session.set_settings({"acidsql.store.assignment": "ansi"})
        >>> session.setting("acidsql.store.assignment")
        'ansi'
        """
        _check_texts(values)
        with self._uses.use():
            for key, value in values.items():
                self._changes.set_setting(key, value)

    def setting(self, key: str) -> str | None:
        """The value of a setting of acidsql or Hive, which SET changes; None for a setting without a value.

        >>> session.execute("SET acidsql.store.assignment=ansi").operation
        'SET'
        >>> session.setting("acidsql.store.assignment")
        'ansi'
        """
        return self._settings.get(key)

    def substituted(self, sql: str) -> str:
        """The statement with its variables (`${name}`) replaced, as it is read. Raises VARIABLE_DEPTH.

        >>> session.set_variables({"least": "5"})
        >>> session.substituted("SELECT * FROM employee WHERE id > ${least}")
        'SELECT * FROM employee WHERE id > 5'
        """
        return self._variables.substituted(sql).text

    @contextmanager
    def _substituted(self, text: str) -> Iterator[str]:
        """The statement with its variables replaced. Errors point into the text that the user wrote."""
        substituted = self._variables.substituted(text)
        try:
            yield substituted.text
        except AcidSqlError as error:
            original = substituted.original_error(error)
            if original is error:
                raise
            raise original from error.__cause__

    def explain(self, sql: str) -> str:
        """The plan of a statement as text. Opens no transaction. `EXPLAIN EXTENDED statement` and `EXPLAIN FORMATTED
        statement` have the Spark SQL and the plan of Spark too.

        Starts Spark for CREATE TABLE .. AS, to find the types of the columns, and for FORMATTED.

        >>> "employee" in session.explain("DELETE FROM employee WHERE id = 2")
        True
        """
        with _located(sql, None), depth_limited(), self._substituted(sql) as read, self._telling_absence():
            statement = with_macros(parse(read), self._macros)
            if isinstance(statement, s.Explain):
                return self._plans.explain(statement.statement, locks=statement.locks, detail=statement.detail)
            return self._plans.explain(statement)

    def table(self, name: str, version: int | None = None, timestamp: str | None = None) -> DataFrame:
        """The rows of a table at the current snapshot, or of an earlier version.

        Args:
            name: The table.
            version: A write ID of the table: the rows are those that the committed writes up to it made, with the
                columns of now (`VERSION AS OF`).
            timestamp: A moment, `2026-11-01 00:00:00` in the session's time zone, or with an offset: the rows are those
                that were committed then (`TIMESTAMP AS OF`).

        Raises:
            AcidSqlError: TABLE_NOT_FOUND; for a version NOT_ENOUGH_HISTORY where a compaction or an overwrite has
                replaced its files or a partition was dropped since, INVALID_PARAMETER for a write ID that the table
                does not have, and NOT_YET_SUPPORTED for a view.

        >>> session.table("employee").count()
        3
        """
        return self.sql(f"SELECT * FROM {table_item(name, version, timestamp)}")

    def changes(
        self,
        name: str,
        from_version: int | None = None,
        to_version: int | None = None,
        *,
        from_timestamp: str | None = None,
        to_timestamp: str | None = None,
        since: str | None = None,
        deduplication_mode: str | None = None,
        compute_updates: bool = False,
        row_id: str | Sequence[str] = (),
    ) -> DataFrame:
        """The rows that some writes inserted, deleted and updated (`CHANGES FROM VERSION`, `CHANGES FROM TIMESTAMP`).

        Args:
            name: The table.
            from_version: The write ID of the first version whose changes are wanted.
            to_version: The write ID of the last one; None for the newest.
            from_timestamp: In place of versions, the first moment of the commits whose changes are wanted, as for
                `table`.
            to_timestamp: The last moment; None for now.
            since: In place of a range, the name of a reader: the changes begin where this reader stopped. The first
                time they are all rows, as insertions. In a `transaction`, its commit moves the place of the reader to
                the end of the changes; a transaction reads the changes of one reader. Elsewhere the place stays.
            deduplication_mode: `netChanges` for at most one change of a row in the range: what came and went in it is
                left out. The default, `dropCarryovers`, and `none` give the changes of each write.
            compute_updates: Whether an old and a new row with equal values in `row_id` are an update.
            row_id: The columns that identify a row of the table, for `compute_updates`.

        Returns:
            The table's columns, and behind them `_change_type`, which is insert, delete, update_preimage or
            update_postimage, `_commit_version`, which is a write ID, and `_commit_timestamp`, which is NULL where it is
            not known.

        Raises:
            AcidSqlError: TABLE_NOT_FOUND; INVALID_PARAMETER for versions that the table does not have;
                NOT_ENOUGH_HISTORY where the version before the changes cannot be read any more (see `table`);
                NOT_YET_SUPPORTED for a view; and for a reader STREAM_IN_USE while another one of its name is in a
                transaction.

        >>> session.changes("employee", 1).count()
        3
        >>> with session.transaction():
        ...     session.changes("employee", since="copy").count()
        3
        >>> session.changes("employee", since="copy").count()
        0
        """
        options = ChangeOptionArguments(deduplication_mode, compute_updates, row_id)
        versions, timestamps = (from_version, to_version), (from_timestamp, to_timestamp)
        if since is None:
            return self.sql(f"SELECT * FROM {changes_item(name, versions, timestamps, options)}")
        check_no_range(versions, timestamps)
        with self._uses.use(), self._telling_absence():
            item = self._readers.item(self._catalog_table(name), since, options.sql())
        try:
            return self.sql(f"SELECT * FROM {item}")
        except AcidSqlError as error:
            if error.condition != Condition.NOT_ENOUGH_HISTORY.name:
                raise
            hint = (
                f"forget_changes({name!r}, {since!r}) lets the reader begin anew, with all rows. The table property"
                f" {RETENTION} keeps what compactions replace for a time."
            )
            raise error.with_hint(hint) from error.__cause__

    def forget_changes(self, name: str, since: str) -> None:
        """Forgets where a reader of changes stopped, so that it begins anew with all rows.

        Raises TABLE_NOT_FOUND, STREAM_IN_USE while the reader is in a transaction, and IN_TRANSACTION.

        >>> session.forget_changes("employee", since="copy")
        """
        with self._uses.use(), self._telling_absence():
            self._readers.forget(self._catalog_table(name), since)

    def _catalog_table(self, name: str) -> Table:
        return self._metastore.table(*table_of(name, self.database))

    def read_arrow(
        self, name: str, columns: Sequence[str] | None = None, where: str | None = None, version: int | None = None
    ) -> pa.RecordBatchReader:
        """The live rows of a table as a pyarrow.RecordBatchReader, read without Spark and Java.

        Args:
            name: The table.
            columns: The columns in the wanted order, `row__id` and `input__file__name` among them; None for all.
            where: A condition in HiveQL on columns and literals: comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT.
            version: A write ID of the table: the rows are those of this version (see `table`).

        Returns:
            A reader on the snapshot of now, or of the version, whose transaction is open until it is read to its end or
            dropped.

        Raises:
            AcidSqlError: TABLE_NOT_FOUND, COLUMN_NOT_FOUND, NOT_YET_SUPPORTED for what only Spark can read; for a
                version also what `table` raises.

        >>> session.read_arrow("employee", columns=["name"], where="salary < 7000").read_all().to_pylist()
        [{'name': 'Kate'}]
        """
        shown = f"read_arrow {name}{f' WHERE {where}' if where else ''}"
        with (
            logged(shown, self.database, self.transaction_id) as record,
            self._uses.use(),
            depth_limited(),
            self._telling_absence(),
        ):
            if record is not None:
                record.operation = "READ ARROW"
            return self._dispatch.read_arrow(name, columns, where, version).reader()

    def stream(
        self,
        name: str,
        id: str | None = None,  # noqa: A002  the name that the documented interface has
        *,
        partition: Mapping[str, object] | None = None,
        commit_rows: int | None = DEFAULT_COMMIT_ROWS,
        commit_seconds: float | None = DEFAULT_COMMIT_SECONDS,
        batch_size: int = DEFAULT_BATCH_SIZE,
    ) -> Stream:
        """Opens a stream, which writes rows to a transactional table in small transactions. Starts no Spark.

        Args:
            name: The table.
            id: The ID under which offsets are committed with the rows. One writer at a time may use it.
            partition: The values of a static PARTITION clause; the rows give the values of other partition columns.
            commit_rows: How many rows may wait for their commit. None leaves the commit to time, or to the caller.
            commit_seconds: How long, in seconds, a row may wait for its commit. None leaves it to the number of rows.
            batch_size: How many transactions are reserved at once. Those of a batch share their files, which a reader
                finds complete after each commit; 1 writes a delta directory for each transaction.

        Raises:
            AcidSqlError: TABLE_NOT_FOUND, READ_ONLY_DATABASE, STREAM_IN_USE, and the errors of a table that takes no
                streams.

        >>> with session.stream("employee", id="hr") as stream:
        ...     stream.write([{"id": 9, "name": "Ann", "salary": 5000}], offset=42)
        ...     stream.commit()
        ...     stream.committed_offset
        42
        """
        with self._telling_absence():
            table = self._metastore.table(*table_of(name, self.database))
        options = StreamOptions(
            commit_rows, commit_seconds, batch_size, exclusive_write=self._settings.values[XLOCK_WRITE] == "true"
        )
        with self._uses.use():
            opened = Stream(
                self._metastore,
                table,
                self._files.of(table.location),
                stream_id=id,
                partition=partition,
                options=options,
                patience=self._settings.patience,
                on_close=self._streams.discard,
            )
            self._streams.add(opened)
        return opened

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Runs the statements of a `with` block as one transaction, and rolls it back if the block raises.

        Raises IN_TRANSACTION at the beginning, and the errors of COMMIT, such as WRITE_CONFLICT, at the end.

        >>> with session.transaction():
        ...     paid = session.update("employee", {"salary": "salary - 10"}, where="id = 2")
        ...     earned = session.update("employee", {"salary": "salary + 10"}, where="id = 3")
        >>> session.transaction_id is None
        True
        """
        self.execute("START TRANSACTION")
        try:
            yield self
        except BaseException:
            if self._engines.session_transaction.id is not None:
                self.execute("ROLLBACK")
            raise
        self.execute("COMMIT")


def _check_texts(values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            reason = f"{name!r} is {value!r}: both must be text"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="values", reason=reason)


@contextmanager
def _located(text: str, piece: Piece | None) -> Iterator[None]:
    """Moves the place of an error from the statement to the script that the statement is a piece of."""
    try:
        yield
    except AcidSqlError as error:
        if piece is None or error.span is None or error.span.source != text:
            raise
        raise error.moved(piece.source, piece.start) from error.__cause__
