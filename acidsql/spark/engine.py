"""The Spark session, started or given, and private copies of it for every statement."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.hive_types import has_instant, has_timestamp, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst import sessions
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import compares_each_with_each
from acidsql.spark.catalyst.sessions import adopt, clone
from acidsql.spark.catalyst.spark_connect import require_classic, require_classic_process
from acidsql.spark.jobs import JobGroup, job_group
from acidsql.spark.jvm_loss import SPARK_ERRORS, forget, forget_ended, gone, is_lost, lost_by, quiet_py4j
from acidsql.spark.parameter_values import literals
from acidsql.spark.session_settings import Meaning
from acidsql.spark.session_start import ZONE, require_own_jvm, start_spark
from acidsql.spark.spark_types import in_wall_clock_time
from acidsql.spark.time_zone import UTC
from acidsql.storage.file_systems import FileSystem, LocalFiles, is_local
from acidsql.storage.hadoop_files import HadoopFiles

CONCURRENT_WRITERS: Final = "spark.sql.maxConcurrentOutputFileWriters"
"""Files in different directories that a task writes at once, without sorting its rows for them."""

_STATEMENT_CONF: Final = {
    # `${..}` is text: what acidsql substitutes, the shell has substituted before.
    "spark.sql.variable.substitute": "false",
    # As text a parameter that is an instant would be read as wall-clock time.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # Hive's expressions, not ANSI's (semantics.md, "Expressions follow Hive").
    "spark.sql.ansi.enabled": "false",
    # TIMESTAMP is wall-clock time without a zone, as in Hive.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "false",
    # The ACID scan relies on these (spark-findings.md 1).
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.enableVectorizedReader": "true",
    "spark.sql.orc.enableNestedColumnVectorizedReader": "true",
    "spark.sql.orc.filterPushdown": "true",
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Rows of little data are collected as Arrow tables, and written as ORC files by pyarrow.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled": "false",
    # Files are given one by one: list them here, not in a job of a task for each.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # One file for each bucket and task, whatever its size.
    "spark.sql.files.maxRecordsPerFile": "0",
    CONCURRENT_WRITERS: "0",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.legacy.charVarcharAsString": "false",
}

_OPEN_COST: Final = "spark.sql.files.openCostInBytes"
_OPENS_FAST: Final = str(256 * 1024)
"""What opening a file counts for when files are dealt out to tasks, unless the user's session says it. By Spark's 4 MB
one task would get all large files of a table beside many small ones, which DML leaves behind, and the others those."""

A_FILE_A_TASK: Final = {
    "spark.sql.files.maxPartitionBytes": str(1 << 42),
    _OPEN_COST: str(1 << 42),
    # A task that reads one file writes few: it has them open together, and need not sort for their directories.
    CONCURRENT_WRITERS: "4",
}
"""Settings for scans that give every file, whole, to a task of its own, and for the writes that follow."""

_STORAGE_CONF: Final = {
    # Parquet as Hive writes and reads it: instants, and the hybrid Julian calendar (tests/golden/insert_only_times).
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.writeLegacyFormat": "false",
    # What is told to ORC of ACID files, data_skipping.py says.
    "spark.sql.orc.filterPushdown": "false",
    # What runs here writes its types out. Spark 4.0 takes the setting for what the timestamps of ORC files are.
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # By their case the ACID columns that nobody wants are told from those of the files (table_scan.py).
    "spark.sql.caseSensitive": "true",
}

ANY_CASE: Final = {"spark.sql.caseSensitive": "false"}
"""Settings for scans of files whose names may have other capitals than the table's."""


@dataclass(frozen=True, slots=True)
class StatementSpark:
    """Two private copies of the user's session, so that no setting of a statement is seen elsewhere.

    `query` has the user's time zone and temporary views; `storage` reads and writes files, in the zone of the JVM,
    in which ORC's TIMESTAMP is exact.
    """

    user: SparkSession
    query: SparkSession
    storage: SparkSession
    in_utc: bool = False
    """Whether `query` has UTC's zone instead: the statement is about wall-clock time alone (planner/wall_clock.py)."""

    def rows(self, text: str, args: Mapping[str, object] | None = None) -> DataFrame:
        """A query's rows as the user sees them: in UTC all times are wall-clock time."""
        rows = self.sql(text, args)
        return in_wall_clock_time(rows) if self.in_utc else rows

    def sql(self, text: str, args: Mapping[str, object] | None = None) -> DataFrame:
        with _quiet():
            if args:
                return self.query.sql(text, args=literals(args))
            return sessions.run_sql(self.query, text)

    def define_view(self, name: str, frame: DataFrame) -> None:
        """A temporary view of this statement; the frame may be of any session."""
        sessions.define_view(self.query, name, frame)

    def drop_views(self, names: Iterable[str]) -> None:
        """Releases what the views read. Python may release the session itself much later."""
        sessions.drop_views(self.query, names)


_quiet_lock = threading.Lock()
_quiet_count = 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the JSON record that PySpark logs for every analysis error: the error itself reaches the user. Several
    threads may be inside."""
    # Through PySpark: a plain logger made under this name first would fail on the arguments that PySpark gives it.
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    _silence(logger, 1)
    try:
        yield
    finally:
        _silence(logger, -1)


def _silence(logger: PySparkLogger, change: int) -> None:
    global _quiet_count
    with _quiet_lock:
        _quiet_count += change
        logger.disabled = _quiet_count > 0


class Engine:
    """A Spark session: the given one, or one that is started when it is first needed."""

    def __init__(self, spark: SparkSession | None, conf: Mapping[str, str]) -> None:
        if spark is not None:
            require_classic(spark)
        self._spark = spark
        self._given = spark is not None
        self._own = False
        """Whether it was started here, and not found running."""
        self._gone: AcidSqlError | None = None
        """Why the session that was there before is gone."""
        self._conf = dict(conf)
        self._lock = threading.Lock()
        self._hadoop: HadoopFiles | None = None
        self._local = LocalFiles()
        self._groups: list[JobGroup] = []
        """The jobs of the statements that run."""
        self._of_statements: tuple[Meaning, Any, Any] | None = None
        """What takes the user's settings of meaning out of a private session, and the settings, as the JVM has them,
        that are put into the two sessions of a statement."""

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
                running = SparkSession.getActiveSession()
                self._own = running is None
                self._spark = running or start_spark(self._conf)
                self._gone = None
            jvm(self._spark)  # refuses a Spark that lacks a private name, at the first statement on it
            return self._spark

    def lost_by(self, error: BaseException) -> AcidSqlError | None:
        """SPARK_GONE, if it was the end of the JVM that made a statement raise the error; the next statement starts
        another one. When this returns, none of the statement's tasks runs any more."""
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
        forget(spark.sparkContext)
        self._spark = self._hadoop = self._of_statements = None

    @property
    def _living(self) -> SparkSession | None:
        """The session that runs, if one does."""
        spark = self._spark
        return None if spark is None or is_lost(spark.sparkContext) else spark

    @property
    def is_running(self) -> bool:
        return self._living is not None

    def statement(self, *, in_utc: bool = False) -> StatementSpark:
        """Private copies of the session for one statement, which runs in UTC or in the session's own zone."""
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
        return StatementSpark(spark, query, clone(query, of_storage), in_utc)

    @contextmanager
    def jobs(self, description: str) -> Iterator[JobGroup]:
        """The group of all jobs that are started inside."""
        with job_group(self.spark.sparkContext, description, lambda error: self.lost_by(error) is not None) as group:
            self._groups.append(group)
            try:
                yield group
            finally:
                self._groups.remove(group)

    def cancel_statements(self) -> None:
        """Cancels the jobs of the statements that run; not those of frames, which may be others' too."""
        for group in list(self._groups):
            with suppress(Py4JError):  # the JVM is gone, and all that ran in it
                group.cancel()

    def progress(self) -> str:
        """How far the running jobs are, in words; empty where none runs. May be asked from any thread."""
        spark = self._living
        if spark is None:
            return ""
        try:
            tracker = spark.sparkContext.statusTracker()
            stages = [info for i in tracker.getActiveStageIds() if (info := tracker.getStageInfo(i)) is not None]
        except SPARK_ERRORS:  # the statement that runs says what has happened
            return ""
        total = sum(info.numTasks for info in stages)
        return f"{sum(info.numCompletedTasks for info in stages)} of {total} tasks" if total > 1 else ""

    def files(self, location: str) -> FileSystem:
        """The file system of a location; Spark is started for one that is not local."""
        if is_local(location):
            return self._local
        spark = self.spark
        if self._hadoop is None:
            self._hadoop = sessions.hadoop_files(spark)
        return self._hadoop

    def require_exact_time(self, table: Table) -> None:
        """ORC's TIMESTAMP is read in the JVM's zone: only one without shifts keeps every value.

        Raises UNSAFE_TIME_ZONE for a table that has some.
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

    def names_of_its_own(self) -> frozenset[str]:
        """The names of the temporary views and functions of the user's session. What they give is not known."""
        return self.temporary_views() | sessions.temporary_functions(self.spark)

    def temporary_views(self) -> frozenset[str]:
        """Names of the temporary views of the user's session; none where no session is running."""
        spark = self._living
        return frozenset() if spark is None else sessions.temporary_views(spark)

    def set_conf(self, key: str, value: str) -> None:
        """SET spark.x=y: on the session, or for the session that is to be started."""
        with self._lock:
            spark = self._living
            if spark is not None:
                spark.conf.set(key, value)
            self._conf[key] = value

    def cancel(self) -> None:
        """Cancels the running jobs."""
        spark = self._living
        if spark is not None:
            spark.sparkContext.cancelAllJobs()

    def free_disk(self) -> None:
        """Hadoop leaves a stream open that could not be written: its file keeps its space, removed or not, until the
        stream is collected."""
        jvm(self.spark).collect_garbage()

    def close(self) -> None:
        """Stops Spark if it was started here: a session that ran before is others' too."""
        with self._lock:
            spark = self._living
            if spark is not None and self._own:
                try:
                    spark.stop()
                except SPARK_ERRORS as error:
                    if not lost_by(error, spark.sparkContext):
                        raise
            elif self._spark is not None and self._own:
                forget(self._spark.sparkContext)
            if self._own:
                self._spark = None


def for_little(frame: DataFrame) -> DataFrame:
    """The same rows, of a query that is interpreted: compiling its code takes longer than running it on some rows.

    Spark does the same with code that the JVM refuses (CodeGeneratorWithInterpretedFallback). Not so a query that joins
    each row with each: that may take long on little data, and a hundred times as long where it is interpreted; its
    tasks do not notice meanwhile that they are cancelled.
    """
    spark = frame.sparkSession
    interpreted = adopt(frame, clone(spark, jvm(spark).for_little))
    return frame if compares_each_with_each(interpreted) else interpreted


@contextmanager
def settings_of_write(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a statement's storage session for one write, and for the scans in it, which look them up when they
    run. A copy of the session would not reach the scans: they keep the session that they were made in."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def copy_with(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A copy of the session, with settings of its own."""
    return clone(spark, jvm(spark).properties(settings))
