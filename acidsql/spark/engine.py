"""The Spark session, started or given, and private copies of it for every statement."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.hive_types import has_instant, has_timestamp, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst import sessions
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import compares_each_with_each
from acidsql.spark.catalyst.pyspark_api import IS_SPARK_35
from acidsql.spark.catalyst.scheduler import cancelled_tasks
from acidsql.spark.catalyst.sessions import adopt, clone
from acidsql.spark.catalyst.spark_connect import require_classic, require_classic_process
from acidsql.spark.frames.caller_frames import column_types
from acidsql.spark.session import started_spark
from acidsql.spark.session.jobs import JobGroup, job_group
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, forget, forget_ended, gone, is_lost, lost_by, quiet_py4j
from acidsql.spark.session.parameter_values import literals
from acidsql.spark.session.quiet_analysis import quiet_analysis
from acidsql.spark.session.session_settings import Meaning
from acidsql.spark.session.session_start import ZONE, require_own_jvm, running_session, start_spark
from acidsql.spark.session.time_zone import UTC, local_zone
from acidsql.spark.spark_types import in_wall_clock_time
from acidsql.storage.file_systems import FileSystem, is_local
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings, settings_without_spark
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.stores import Stores

CONCURRENT_WRITERS: Final = "spark.sql.maxConcurrentOutputFileWriters"
"""Setting: for how many directories a task keeps a file open at once, so that it need not sort its rows by
directory."""

_STATEMENT_CONF: Final = {
    # `${..}` is plain text to Spark. acidsql.statements.variables replaces the session's variables before a statement
    # is parsed.
    "spark.sql.variable.substitute": "false",
    # Bind parameters as values. As text, an instant would be parsed as wall-clock time.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # Expressions follow Hive, not ANSI (semantics.md, "Expressions follow Hive").
    "spark.sql.ansi.enabled": "false",
    # TIMESTAMP is wall-clock time without a zone, as in Hive.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "false",
    # encode and decode take each character set that Java has (GenericUDFEncode).
    "spark.sql.legacy.javaCharsets": "true",
    # In a map with a key twice, the last value counts, as in Hive.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # The scan of ACID files needs the vectorized ORC reader with these settings (spark-findings.md 1).
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.enableVectorizedReader": "true",
    "spark.sql.orc.enableNestedColumnVectorizedReader": "true",
    "spark.sql.orc.filterPushdown": "true",
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # The driver collects small results as Arrow tables and writes them with pyarrow.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled": "false",
    # Scans name each file. List the files in the driver, not in a job with a task for each.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Write one file for each bucket and task, whatever its size.
    "spark.sql.files.maxRecordsPerFile": "0",
    CONCURRENT_WRITERS: "0",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.legacy.charVarcharAsString": "false",
}

_OPEN_COST: Final = "spark.sql.files.openCostInBytes"
_OPENS_FAST: Final = str(256 * 1024)
"""The bytes that opening a file counts for when files are assigned to tasks, unless the user's session sets it. DML
leaves many small files behind. With Spark's 4 MB each, one task would get all large files, and the others the small
ones."""

FILE_PER_TASK: Final = {
    "spark.sql.files.maxPartitionBytes": str(1 << 42),
    _OPEN_COST: str(1 << 42),
    # A task that reads one file writes to few directories. It keeps a file open in each and need not sort its rows.
    CONCURRENT_WRITERS: "4",
}
"""Settings for scans that assign each whole file to a task of its own, and for the writes that follow them."""

_STORAGE_CONF: Final = {
    # Parquet as Hive writes and reads it: instants, and the hybrid Julian calendar (tests/golden/insert_only_times).
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.writeLegacyFormat": "false",
    # The search argument of ACID files is built in scan/data_skipping.py.
    "spark.sql.orc.filterPushdown": "false",
    # SQL of the storage session names its types in full. Spark 4.0 reads ORC's timestamps as this type.
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # The scan renames unneeded ACID columns to capitals, so that ORC's reader skips them (scan/table_scan.py).
    "spark.sql.caseSensitive": "true",
}

ANY_CASE: Final = {"spark.sql.caseSensitive": "false"}
"""Settings for scans of files in which column names may differ from the table's in case."""


@dataclass(frozen=True, slots=True)
class StatementSpark:
    """Two private copies of the user's session, so that a statement's settings stay its own.

    `query` has the user's time zone and temporary views. `storage` reads and writes files in the time zone of the JVM,
    in which ORC's TIMESTAMP is exact.
    """

    user: SparkSession
    query: SparkSession
    storage: SparkSession
    in_utc: bool = False
    """Whether `query` runs in UTC instead, because the statement uses wall-clock times only (planner/wall_clock.py)."""

    def rows(self, text: str, args: Mapping[str, object] | None = None) -> DataFrame:
        """The rows of a query as the user sees them. If the query runs in UTC, all its times are wall-clock times."""
        rows = self.sql(text, args)
        return in_wall_clock_time(rows) if self.in_utc else rows

    def sql(self, text: str, args: Mapping[str, object] | None = None) -> DataFrame:
        with quiet_analysis():
            return sessions.run_statement(self.query, text, literals(args or {}))

    def define_view(self, name: str, frame: DataFrame) -> None:
        """Makes a temporary view that only this statement sees. The frame may belong to any session."""
        sessions.define_view(self.query, name, frame)

    def drop_views(self, names: Iterable[str]) -> None:
        """Releases what the views read. Python may release the session itself much later."""
        sessions.drop_views(self.query, names)


_OF_STORES: Final = ("spark.hadoop.", "fs.", "dfs.")


class Engine:
    """A Spark session: the given one, or one that is started when it is first needed."""

    has_star_except: Final = not IS_SPARK_35
    """Whether Spark has `* EXCEPT (..)`."""

    def __init__(self, spark: SparkSession | None, conf: Mapping[str, str]) -> None:
        if spark is not None:
            require_classic(spark)
        self._spark = spark
        self._given = spark is not None
        self._own = False
        """Whether acidsql started the session, and its last user stops it."""
        self._starting = False
        self._closed = False
        self._gone: AcidSqlError | None = None
        """The reason why the session before this one is gone."""
        self._conf = dict(conf)
        self._lock = threading.Lock()
        self._hadoop: HadoopFiles | None = None
        self._local = LocalFiles()
        self._stores = Stores(self._settings_of_hadoop, self._hadoop_files)
        self._groups: list[JobGroup] = []
        """The job groups of the statements that run now."""
        self._of_statements: tuple[Meaning, Any, Any] | None = None
        """The remover of the user's settings that change meaning, and the java.util.Properties for the two sessions of
        a statement."""

    @property
    def spark(self) -> SparkSession:
        """Starts Spark if it is not running in this process, or its JVM is gone.

        Raises SPARK_CONNECT, JAVA_NOT_FOUND, CANNOT_START, SPARK_NOT_SUPPORTED, and SPARK_GONE for a session that
        was given.
        """
        with self._lock:
            if self._spark is not None and is_lost(self._spark.sparkContext):
                if self._given:
                    raise gone(self._spark.sparkContext)
                self._let_go(self._spark)
            if self._spark is None:
                require_classic_process()
                require_own_jvm()
                forget_ended()
                quiet_py4j()
                self._spark = self._found_or_started()
                self._gone = None
            jvm(self._spark)  # refuses a Spark that lacks a private name, at the first statement on it
            return self._spark

    def _found_or_started(self) -> SparkSession:
        """The Spark session of the process, or a new one. Raises SESSION_CLOSED if this engine is closed meanwhile."""
        found = running_session()
        self._starting = found is None
        try:
            spark = found or start_spark(self._conf)
        finally:
            self._starting = False
        self._own = started_spark.join(spark.sparkContext, id(self), started=found is None)
        if self._closed:
            self._stop(spark)
            raise AcidSqlError(Condition.SESSION_CLOSED, reason="it was closed while Spark started")
        return spark

    def lost_by(self, error: BaseException) -> AcidSqlError | None:
        """The error SPARK_GONE, if a statement raised `error` because the JVM ended; the next statement starts a new
        JVM. When this returns, no task of the statement runs any more."""
        with self._lock:
            if self._spark is None:
                return self._gone
            if not lost_by(error, self._spark.sparkContext):
                return None
            found = gone(self._spark.sparkContext)
            if not self._given:
                self._let_go(self._spark)
                self._gone = found
            return found

    def _let_go(self, spark: SparkSession) -> None:
        """Forgets a session whose JVM is gone, or about to go."""
        started_spark.leave(spark.sparkContext, id(self))
        forget(spark.sparkContext)
        self._spark = self._hadoop = self._of_statements = None

    @property
    def _living(self) -> SparkSession | None:
        """The session, if one is running."""
        spark = self._spark
        return None if spark is None or is_lost(spark.sparkContext) else spark

    @property
    def is_running(self) -> bool:
        return self._living is not None

    def statement(self, *, in_utc: bool = False) -> StatementSpark:
        """Private copies of the session for one statement, which runs in UTC or in the session's own time zone."""
        spark = self.spark
        if self._of_statements is None:
            zone = {ZONE: str(jvm(spark).zone.getID())}
            of = jvm(spark).properties
            self._of_statements = Meaning(jvm(spark)), of(_STATEMENT_CONF), of({**_STORAGE_CONF, **zone})
        meaning, of_query, of_storage = self._of_statements
        query = clone(spark)
        settings = meaning.forget(query)
        settings.putIfAbsent(_OPEN_COST, _OPENS_FAST)
        settings.putAll(of_query)
        if in_utc:
            settings.put(ZONE, UTC)
        sessions.activate(query)
        return StatementSpark(spark, query, clone(query, of_storage), in_utc)

    @contextmanager
    def jobs(self, description: str) -> Iterator[JobGroup]:
        """The group of all jobs that start inside."""
        context = self.spark.sparkContext
        with (
            sessions.active_session_kept(),
            job_group(context, description, lambda error: self.lost_by(error) is not None) as group,
        ):
            self._groups.append(group)
            try:
                yield group
            finally:
                self._groups.remove(group)

    def cancel_statements(self) -> None:
        """Cancels the jobs of running statements. Jobs of frames go on: other code may use these frames."""
        for group in list(self._groups):
            with suppress(Py4JError):  # the JVM is gone, and its jobs with it
                group.cancel()

    def progress(self) -> str:
        """The progress of the running jobs in words; empty if none runs. Any thread may call this."""
        spark = self._living
        if spark is None:
            return "Spark is starting" if self._starting else ""
        if waits_for := self.cancelled_tasks():
            return f"waits for {waits_for} tasks of a cancelled statement"
        done, total = self.tasks()
        return f"{done} of {total} tasks" if total > 1 else ""

    def tasks(self) -> tuple[int, int]:
        """How many tasks of the running stages are done, and how many tasks these have. Any thread may call this."""
        spark = self._living
        try:
            tracker = None if spark is None else spark.sparkContext.statusTracker()
            active = () if tracker is None else map(tracker.getStageInfo, tracker.getActiveStageIds())
            stages = [info for info in active if info is not None]
        except SPARK_ERRORS:  # the running statement reports the error
            return 0, 0
        return sum(info.numCompletedTasks for info in stages), sum(info.numTasks for info in stages)

    def cancelled_tasks(self) -> int:
        """How many tasks of cancelled statements still run. Any thread may call this."""
        spark = self._living
        try:
            return 0 if spark is None else cancelled_tasks(spark.sparkContext)
        except SPARK_ERRORS:
            return 0

    def files(self, location: str) -> FileSystem:
        """The file system of a location. Starts Spark if Hadoop's client has to read it (`needs_hadoop`)."""
        if is_local(location):
            return self._local
        found = self._stores.find(location)
        return self._hadoop_files() if isinstance(found, NotUnderstood) else found

    def use_own_clients_if(self, uses_own_clients: Callable[[], bool]) -> None:
        """`uses_own_clients` tells whether other clients than Hadoop's may read and write stores."""
        self._stores.use_own_clients_if(uses_own_clients)

    def needs_hadoop(self, location: str) -> str | None:
        """Why Hadoop's client in the JVM has to read and write a location, as a clause; None if this process does."""
        if is_local(location):
            return None
        found = self._stores.find(location)
        return found.reason if isinstance(found, NotUnderstood) else None

    def _settings_of_hadoop(self) -> HadoopSettings | NotUnderstood:
        spark = self._living
        return settings_without_spark(self._conf, os.environ) if spark is None else sessions.hadoop_settings(spark)

    def _hadoop_files(self) -> HadoopFiles:
        """The files of Hadoop's client. Starts Spark if it is not running."""
        spark = self.spark
        if self._hadoop is None:
            self._hadoop = sessions.hadoop_files(spark)
        return self._hadoop

    def require_exact_time(self, table: Table) -> None:
        """Raises UNSAFE_TIME_ZONE for a table with timestamps if the time zone of the JVM differs from UTC.

        ORC's TIMESTAMP is read in that zone: only a zone without shifts keeps every value.
        """
        types = [parse_type(c.type) for c in table.columns]
        if not any(has_timestamp(kind) or has_instant(kind) for kind in types):
            return
        java = jvm(self.spark)
        zone = java.zone
        if not zone.hasSameRules(java.zone_named("UTC")):
            raise AcidSqlError(Condition.UNSAFE_TIME_ZONE, table=table.qualified, zone=zone.getID())

    def use(self, spark: SparkSession) -> None:
        """Runs what follows on a session that is given. One that was started here stays open: frames may read from it.

        Raises SPARK_CONNECT.
        """
        require_classic(spark)
        with self._lock:
            self._spark, self._given, self._own = spark, True, False
            self._hadoop = self._of_statements = None
            self._stores.forget()

    def names_of_its_own(self) -> frozenset[str]:
        """The names of the temporary views and functions of the user's session. What they give is not known."""
        return self.temporary_views() | self.temporary_functions()

    def temporary_functions(self) -> frozenset[str]:
        """Names of the temporary functions of the user's session. Starts Spark if it is not running."""
        return sessions.temporary_functions(self.spark)

    def drop_temporary_function(self, name: str) -> None:
        """Drops a temporary function of the user's session."""
        self.spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS `{name}`")

    def temporary_views(self) -> frozenset[str]:
        """Names of the temporary views of the user's session; none where no session is running."""
        spark = self._living
        return frozenset() if spark is None else sessions.temporary_views(spark)

    def column_types(self, view: str) -> Mapping[str, str | None]:
        """The columns of a temporary view of the user's session, with their Hive types (frames.column_types)."""
        try:
            return column_types(self.spark.table(f"`{view}`"))
        except SPARK_ERRORS:  # the statement reports the error
            return {}

    def set_conf(self, key: str, value: str) -> None:
        """Sets a Spark setting (SET spark.x=y) on the session, or for the session that is started later."""
        with self._lock:
            spark = self._living
            if spark is not None:
                spark.conf.set(key, value)
            self._conf[key] = value
        if key.startswith(_OF_STORES):
            self._stores.forget()

    def conf(self, key: str) -> str | None:
        """The value of a Spark setting, or None. Starts Spark if it is not running: its defaults count."""
        return self.spark.conf.get(key, None)

    @property
    def zone(self) -> str:
        """The name of the session's time zone. Does not start Spark."""
        spark = self._living
        return str(spark.conf.get(ZONE)) if spark is not None else self._conf.get(ZONE) or local_zone()

    def cancel(self) -> None:
        """Cancels the running jobs."""
        spark = self._living
        if spark is not None:
            spark.sparkContext.cancelAllJobs()

    def free_disk(self) -> None:
        """Frees the disk space of removed files. Hadoop leaves a stream open that failed to write, and its file keeps
        its space until the JVM collects the stream."""
        jvm(self.spark).collect_garbage()

    def close(self) -> None:
        """Stops Spark if acidsql started it and no other session uses it. Does not wait for a start that another thread
        makes: that thread stops what it has started."""
        self._closed = True
        if self._starting:
            return
        with self._lock:
            if self._spark is not None and self._own:
                self._stop(self._spark)
                self._spark = None

    def _stop(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        if not started_spark.leave(context, id(self)):
            return
        if is_lost(context):
            forget(context)
            return
        try:
            spark.stop()
        except SPARK_ERRORS as error:
            if not lost_by(error, context):
                raise


def for_little(frame: DataFrame) -> DataFrame:
    """The same query without generated code: for few rows, compiling takes longer than interpreting.

    Spark interprets queries too when the JVM refuses their code (CodeGeneratorWithInterpretedFallback). A query that
    compares each row with each row stays as it is: it can take long on little data, and a hundred times as long when
    interpreted, and its tasks do not notice meanwhile that they are cancelled.
    """
    spark = frame.sparkSession
    interpreted = adopt(frame, clone(spark, jvm(spark).for_little))
    return frame if compares_each_with_each(interpreted) else interpreted


def copy_with(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A copy of the session, with settings of its own."""
    return clone(spark, jvm(spark).properties(settings))
