"""The start of a Spark session of acidsql's own: its settings, its JVM, and what a machine must have for it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.time_zone import local_zone

ZONE: Final = "spark.sql.session.timeZone"

_OWN_CONF: Final = {
    "spark.app.name": "acidsql",
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.showConsoleProgress": "false",
    # Or every call that makes a Column asks the JVM nine things more, to say in errors where it was made.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # DML is many small jobs of few tasks.
    "spark.sql.shuffle.partitions": "64",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
}

_LOG4J: Final = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.window.name = org.apache.spark.sql.execution.window.WindowExec
logger.window.level = off
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.writer.name = org.apache.spark.sql.execution.datasources
logger.writer.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
"""
"""Failures of tasks reach the user as the statement's error; Spark's log would print them three times more."""

_STACK: Final = "-Xss8m"
"""Spark's analyzer and optimizer call themselves for each level of a query: with Java's own 1 MB a condition of some
thousand terms ends in a StackOverflowError."""


def start_spark(conf: Mapping[str, str]) -> SparkSession:
    """Starts Spark in this process. Raises JAVA_NOT_FOUND, CANNOT_START."""
    _require_java()
    log4j = Path(tempfile.mkdtemp(prefix="acidsql-")) / "log4j2.properties"
    log4j.write_text(_LOG4J)
    settings = {"spark.master": "local[*]", ZONE: local_zone(), **_OWN_CONF, **conf}
    settings["spark.sql.warehouse.dir"] = conf.get("spark.sql.warehouse.dir", str(log4j.parent))
    options = f"-Dlog4j2.configurationFile={log4j} -Duser.timezone=UTC {_STACK}"
    settings["spark.driver.extraJavaOptions"] = f"{options} {conf.get('spark.driver.extraJavaOptions', '')}".strip()
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        with _utf8_locale():
            return builder.getOrCreate()
    except (RuntimeError, Py4JError, PySparkException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise AcidSqlError(Condition.CANNOT_START, message=f"Spark cannot start: {reason}") from error
    finally:
        # PySpark's handler talks to the JVM on the connection that the interrupted call still holds: a Py4JError, no
        # KeyboardInterrupt, and no job is cancelled (tests/shell/test_story.py).
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)


@contextmanager
def _utf8_locale() -> Iterator[None]:
    """For the JVM that is started: in the locale C it opens no file whose name is not ASCII (partition values)."""
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    before = os.environ.get("LC_ALL")
    locale = next((os.environ[name] for name in names if os.environ.get(name)), "C")
    if "utf" not in locale.lower():
        os.environ["LC_ALL"] = "C.UTF-8"
    try:
        yield
    finally:
        if before is not None:
            os.environ["LC_ALL"] = before
        else:
            os.environ.pop("LC_ALL", None)


_inherited = False
"""Whether this process was forked from one that has a JVM."""


def _after_fork() -> None:
    global _inherited
    _inherited = SparkContext._gateway is not None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def require_own_jvm() -> None:
    """Calls of two processes on one connection would get each other's answers. Raises CANNOT_START."""
    if _inherited:
        message = "Spark cannot start in a process that was forked from one in which it runs"
        hint = "Start the process with multiprocessing's method `spawn`."
        raise AcidSqlError(Condition.CANNOT_START, hint=hint, message=message)


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and not Path(home, "bin", "java").exists():
        # PySpark would take it all the same, and fail with a stack trace.
        raise AcidSqlError(Condition.CANNOT_START, message=f"JAVA_HOME is {home}, and there is no bin/java in it")
    if home or shutil.which("java"):
        return
    raise AcidSqlError(Condition.JAVA_NOT_FOUND)
