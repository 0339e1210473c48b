"""The Spark session of an acidsql session: given, or started when a statement first needs it.

This module imports no PySpark: a session whose statements need no Spark does not pay for it. What runs is a
`acidsql.spark.running_spark.RunningSpark`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.session.pyspark_version import major_version
from acidsql.spark.session.time_zone import ZONE, local_zone
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.stores.hadoop_settings import HadoopSettings, settings_without_spark
from acidsql.storage.stores.not_understood import NotUnderstood

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from acidsql.spark.running_spark import RunningSpark
    from acidsql.spark.session.jobs import JobGroup


class Engine:
    """A Spark session: the given one, or one that is started when it is first needed."""

    def __init__(self, spark: SparkSession | None, conf: Mapping[str, str]) -> None:
        """Raises SPARK_CONNECT for a given session of Spark Connect."""
        self._running: RunningSpark | None = None
        self._given = spark is not None
        self._own = False
        """Whether acidsql started the session, and its last user stops it."""
        self._starting = False
        self._closed = False
        self._gone: AcidSqlError | None = None
        """The reason why the session before this one is gone."""
        self._conf = dict(conf)
        self._lock = threading.Lock()
        self._groups: list[JobGroup] = []
        """The job groups of the statements that run now."""
        if spark is not None:
            from acidsql.spark.running_spark import given

            self._running = given(spark)

    # -- the session

    @property
    def running(self) -> RunningSpark:
        """Starts Spark if it is not running in this process, or its JVM is gone.

        Raises SPARK_CONNECT, JAVA_NOT_FOUND, CANNOT_START, SPARK_NOT_SUPPORTED, and SPARK_GONE for a session that
        was given.
        """
        with self._lock:
            if self._running is not None and self._running.is_lost:
                if self._given:
                    raise self._running.gone
                self._let_go(self._running)
            if self._running is None:
                self._running = self._found_or_started()
                self._gone = None
            self._running.check()  # refuses a Spark that lacks a private name, at the first statement on it
            return self._running

    @property
    def spark(self) -> SparkSession:
        """The session. Starts Spark, and raises, as `running` does."""
        return self.running.session

    def _found_or_started(self) -> RunningSpark:
        """The Spark session of the process, or a new one. Raises SESSION_CLOSED if this engine is closed meanwhile."""
        from acidsql.spark.running_spark import found_or_started

        running, self._own = found_or_started(self._conf, id(self), self._note_start)
        if self._closed:
            running.leave(id(self))
            raise AcidSqlError(Condition.SESSION_CLOSED, reason="it was closed while Spark started")
        return running

    def _note_start(self, is_starting: bool) -> None:
        self._starting = is_starting

    @property
    def living(self) -> RunningSpark | None:
        """The session, if one is running."""
        running = self._running
        return None if running is None or running.is_lost else running

    @property
    def is_running(self) -> bool:
        return self.living is not None

    def use(self, spark: SparkSession) -> None:
        """Runs what follows on a session that is given. One that was started here stays open: frames may read from it.

        Raises SPARK_CONNECT.
        """
        from acidsql.spark.running_spark import given

        running = given(spark)
        with self._lock:
            self._running, self._given, self._own = running, True, False

    def lost_by(self, error: BaseException) -> AcidSqlError | None:
        """The error SPARK_GONE, if a statement raised `error` because the JVM ended; the next statement starts a new
        JVM. When this returns, no task of the statement runs any more."""
        with self._lock:
            if self._running is None:
                return self._gone
            found = self._running.lost_by(error)
            if found is not None and not self._given:
                self._let_go(self._running)
                self._gone = found
            return found

    def _let_go(self, running: RunningSpark) -> None:
        """Forgets a session whose JVM is gone, or about to go."""
        running.forget(id(self))
        self._running = None

    def close(self) -> None:
        """Stops Spark if acidsql started it and no other session uses it. Does not wait for a start that another thread
        makes: that thread stops what it has started."""
        self._closed = True
        if self._starting:
            return
        with self._lock:
            if self._running is not None and self._own:
                self._running.leave(id(self))
                self._running = None

    # -- jobs

    @contextmanager
    def jobs(self, description: str) -> Iterator[JobGroup]:
        """The group of all jobs that start inside."""
        with self.running.jobs(description, lambda error: self.lost_by(error) is not None) as group:
            self._groups.append(group)
            try:
                yield group
            finally:
                self._groups.remove(group)

    def cancel_statements(self) -> None:
        """Cancels the jobs of running statements. Jobs of frames go on: other code may use these frames."""
        if self._groups:
            from acidsql.spark.session.jobs import cancel_all

            cancel_all(list(self._groups))

    def cancel(self) -> None:
        """Cancels the running jobs."""
        if (running := self.living) is not None:
            running.cancel()

    def progress(self) -> str:
        """The progress of the running jobs in words; empty if none runs. Any thread may call this."""
        if self.living is None:
            return "Spark is starting" if self._starting else ""
        if waits_for := self.cancelled_tasks():
            return f"waits for {waits_for} tasks of a cancelled statement"
        done, total = self.tasks()
        return f"{done} of {total} tasks" if total > 1 else ""

    def tasks(self) -> tuple[int, int]:
        """How many tasks of the running stages are done, and how many tasks these have. Any thread may call this."""
        running = self.living
        return (0, 0) if running is None else running.tasks()

    def cancelled_tasks(self) -> int:
        """How many tasks of cancelled statements still run. Any thread may call this."""
        running = self.living
        return 0 if running is None else running.cancelled_tasks()

    # -- settings

    def set_conf(self, key: str, value: str) -> None:
        """Sets a Spark setting (SET spark.x=y) on the session, or for the session that is started later."""
        with self._lock:
            if (running := self.living) is not None:
                running.set_conf(key, value)
            self._conf[key] = value

    @property
    def zone(self) -> str:
        """The name of the session's time zone. Does not start Spark."""
        running = self.living
        return running.zone if running is not None else self._conf.get(ZONE) or local_zone()

    @property
    def parallelism(self) -> int | None:
        """How many tasks run at once; None if Spark is not running."""
        running = self.living
        return None if running is None else running.parallelism

    @property
    def has_star_except(self) -> bool:
        """Whether Spark has `* EXCEPT (..)`, as Spark 4 does and Spark 3.5 does not. Imports no PySpark."""
        return major_version() != 3

    def temporary_views(self) -> frozenset[str]:
        """Names of the temporary views of the user's session; none where no session is running."""
        running = self.living
        return frozenset() if running is None else running.temporary_views()

    def require_exact_time(self, table: Table) -> None:
        """Raises UNSAFE_TIME_ZONE, as `RunningSpark.require_exact_time`, where Spark is running."""
        if (running := self.living) is not None:
            running.require_exact_time(table)

    # -- Hadoop's client, which runs in Spark's JVM

    def hadoop_settings(self) -> HadoopSettings | NotUnderstood:
        """The settings of Hadoop's client: those of Spark where it is running, else those of the files that Spark would
        read."""
        running = self.living
        return settings_without_spark(self._conf, os.environ) if running is None else running.hadoop_settings()

    def hadoop_files(self) -> FileSystem:
        """The files of Hadoop's client. Starts Spark if it is not running."""
        return self.running.hadoop_files()
