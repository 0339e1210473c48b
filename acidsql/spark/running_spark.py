"""A Spark session that runs, and private copies of it for every statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, Row, SparkSession

from acidsql.acid.hive_types import has_instant, has_timestamp, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst import sessions
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import compares_each_with_each
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
from acidsql.spark.session.session_start import require_own_jvm, running_session, start_spark
from acidsql.spark.session.time_zone import UTC, ZONE
from acidsql.spark.spark_types import in_wall_clock_time
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings

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


def given(spark: SparkSession) -> RunningSpark:
    """The session that a caller has given. Raises SPARK_CONNECT."""
    require_classic(spark)
    return RunningSpark(spark)


def found_or_started(conf: Mapping[str, str], user: int, on_start: Callable[[bool], None]) -> tuple[RunningSpark, bool]:
    """The Spark session of the process, or a new one, and whether acidsql has started it, now or before.

    `user` is the number under which `leave` ends the use; `on_start` is told when a start begins and when it ends.
    Raises SPARK_CONNECT, JAVA_NOT_FOUND and CANNOT_START.
    """
    require_classic_process()
    require_own_jvm()
    forget_ended()
    quiet_py4j()
    found = running_session()
    on_start(found is None)
    try:
        spark = found or start_spark(conf)
    finally:
        on_start(False)
    return RunningSpark(spark), started_spark.join(spark.sparkContext, user, started=found is None)


class RunningSpark:
    """A Spark session, and what acidsql keeps for its statements."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._context = session.sparkContext
        self._hadoop: HadoopFiles | None = None
        self._of_statements: tuple[Meaning, Any, Any] | None = None
        """The remover of the user's settings that change meaning, and the java.util.Properties for the two sessions of
        a statement."""

    # -- the life of its JVM

    def check(self) -> None:
        """Raises SPARK_NOT_SUPPORTED for a Spark that lacks a private name."""
        jvm(self.session)

    @property
    def is_lost(self) -> bool:
        """Whether its JVM has ended, or its context was stopped. Makes no call of the JVM."""
        return is_lost(self._context)

    def lost_by(self, error: BaseException) -> AcidSqlError | None:
        """The error SPARK_GONE, if a call raised `error` because the JVM ended."""
        return gone(self._context) if lost_by(error, self._context) else None

    @property
    def gone(self) -> AcidSqlError:
        """The error of a statement whose JVM is gone."""
        return gone(self._context)

    def forget(self, user: int) -> None:
        """Removes what is left of a JVM that is gone, or about to go."""
        started_spark.leave(self._context, user)
        forget(self._context)

    def leave(self, user: int) -> None:
        """Ends the use, and stops the Spark that acidsql has started if nobody else uses it."""
        if not started_spark.leave(self._context, user):
            return
        if self.is_lost:
            forget(self._context)
            return
        try:
            self.session.stop()
        except SPARK_ERRORS as error:
            if not lost_by(error, self._context):
                raise

    # -- statements and their jobs

    def statement(self, *, in_utc: bool = False) -> StatementSpark:
        """Private copies of the session for one statement, which runs in UTC or in the session's own time zone."""
        spark = self.session
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

    def answer(self, command: str) -> list[Row]:
        """The rows of a command of Spark, which runs in a private session."""
        with sessions.active_session_kept():
            return self.statement().sql(command).collect()

    @contextmanager
    def jobs(self, description: str, is_lost: Callable[[BaseException], bool]) -> Iterator[JobGroup]:
        """The group of all jobs that start inside. `is_lost` tells whether an error came from the end of the JVM."""
        with sessions.active_session_kept(), job_group(self._context, description, is_lost) as group:
            yield group

    def cancel(self) -> None:
        """Cancels all running jobs."""
        self._context.cancelAllJobs()

    def tasks(self) -> tuple[int, int]:
        """How many tasks of the running stages are done, and how many tasks these have. Any thread may call this."""
        try:
            tracker = self._context.statusTracker()
            stages = [i for i in map(tracker.getStageInfo, tracker.getActiveStageIds()) if i is not None]
        except SPARK_ERRORS:  # the running statement reports the error
            return 0, 0
        return sum(info.numCompletedTasks for info in stages), sum(info.numTasks for info in stages)

    def cancelled_tasks(self) -> int:
        """How many tasks of cancelled statements still run. Any thread may call this."""
        try:
            return cancelled_tasks(self._context)
        except SPARK_ERRORS:
            return 0

    # -- settings, and what the user has in the session

    def set_conf(self, key: str, value: str) -> None:
        self.session.conf.set(key, value)

    def conf(self, key: str) -> str | None:
        """The value of a setting, or None."""
        return self.session.conf.get(key, None)

    @property
    def zone(self) -> str:
        """The name of the session's time zone."""
        return str(self.session.conf.get(ZONE))

    @property
    def parallelism(self) -> int:
        """How many tasks run at once."""
        return self._context.defaultParallelism

    def require_exact_time(self, table: Table) -> None:
        """Raises UNSAFE_TIME_ZONE for a table with timestamps if the time zone of the JVM differs from UTC.

        ORC's TIMESTAMP is read in that zone: only a zone without shifts keeps every value.
        """
        types = [parse_type(c.type) for c in table.columns]
        if not any(has_timestamp(kind) or has_instant(kind) for kind in types):
            return
        java = jvm(self.session)
        zone = java.zone
        if not zone.hasSameRules(java.zone_named("UTC")):
            raise AcidSqlError(Condition.UNSAFE_TIME_ZONE, table=table.qualified, zone=zone.getID())

    def names_of_its_own(self) -> frozenset[str]:
        """The names of the temporary views and functions of the user's session. What they give is not known."""
        return self.temporary_views() | self.temporary_functions()

    def temporary_functions(self) -> frozenset[str]:
        """Names of the temporary functions of the user's session."""
        return sessions.temporary_functions(self.session)

    def drop_temporary_function(self, name: str) -> None:
        """Drops a temporary function of the user's session."""
        self.session.sql(f"DROP TEMPORARY FUNCTION IF EXISTS `{name}`")

    def temporary_views(self) -> frozenset[str]:
        """Names of the temporary views of the user's session."""
        return sessions.temporary_views(self.session)

    def column_types(self, view: str) -> Mapping[str, str | None]:
        """The columns of a temporary view of the user's session, with their Hive types (frames.column_types)."""
        try:
            return column_types(self.session.table(f"`{view}`"))
        except SPARK_ERRORS:  # the statement reports the error
            return {}

    # -- files

    def hadoop_settings(self) -> HadoopSettings:
        """The settings of Hadoop's client."""
        return sessions.hadoop_settings(self.session)

    def hadoop_files(self) -> HadoopFiles:
        """The files of Hadoop's client."""
        if self._hadoop is None:
            self._hadoop = sessions.hadoop_files(self.session)
        return self._hadoop

    def free_disk(self) -> None:
        """Frees the disk space of removed files. Hadoop leaves a stream open that failed to write, and its file keeps
        its space until the JVM collects the stream."""
        jvm(self.session).collect_garbage()


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
