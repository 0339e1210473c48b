"""The start of acidsql's own Spark session: its settings, its JVM, and what the machine must have."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.driver_log import LOG4J
from acidsql.spark.catalyst.jvm_process import active_context, has_jvm
from acidsql.spark.catalyst.spark_connect import require_classic_mode
from acidsql.spark.session.time_zone import ZONE, local_zone

_OWN_CONF: Final = {
    "spark.app.name": "acidsql",
    # With the package pyspark-connect installed, PySpark would start a session of Spark Connect.
    "spark.api.mode": "classic",
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.showConsoleProgress": "false",
    # Otherwise every call that makes a Column makes nine more calls of the JVM, to tell errors where it was made.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # DML is many small jobs of few tasks.
    "spark.sql.shuffle.partitions": "64",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
}

_STACK: Final = "-Xss8m"
"""Size of a thread's stack. Spark's analyzer and optimizer recurse into each level of a query: with Java's default of
1 MB, a condition of some thousand terms ends in a StackOverflowError."""


def start_spark(conf: Mapping[str, str]) -> SparkSession:
    """Starts Spark in this process. Raises SPARK_CONNECT, JAVA_NOT_FOUND, CANNOT_START."""
    require_classic_mode(conf)
    _require_java()
    log4j = Path(tempfile.mkdtemp(prefix="acidsql-")) / "log4j2.properties"
    log4j.write_text(LOG4J)
    settings = {"spark.master": "local[*]", ZONE: local_zone(), **_OWN_CONF, **conf}
    settings["spark.sql.warehouse.dir"] = conf.get("spark.sql.warehouse.dir", str(log4j.parent))
    options = f"-Dlog4j2.configurationFile={log4j} -Duser.timezone=UTC {_STACK}"
    settings["spark.driver.extraJavaOptions"] = f"{options} {conf.get('spark.driver.extraJavaOptions', '')}".strip()
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        with _utf8_locale(), own_python(settings):
            return builder.getOrCreate()
    except (RuntimeError, Py4JError, PySparkException) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise AcidSqlError(Condition.CANNOT_START, message=f"Spark cannot start: {reason}") from error
    finally:
        # PySpark installs a handler of SIGINT. It calls the JVM on the connection that the interrupted call still
        # holds: that ends in a Py4JError instead of a KeyboardInterrupt, and cancels no job
        # (tests/frontends/test_story.py).
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)


def running_session() -> SparkSession | None:
    """The Spark session that is running in this process, if there is one. A thread other than the one that started it
    has no active session, but may use it."""
    active = SparkSession.getActiveSession()
    if active is not None or active_context() is None:
        return active
    return SparkSession.builder.getOrCreate()


@contextmanager
def _utf8_locale() -> Iterator[None]:
    """Gives the JVM that is started inside a UTF-8 locale. In the locale C it cannot open a file whose name is not
    ASCII, such as a partition's directory."""
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


@contextmanager
def own_python(conf: Mapping[str, str]) -> Iterator[None]:
    """Lets Spark's Python workers on this machine use the Python of this process, which has the same packages. PySpark
    itself would take the first `python3` of the search path."""
    is_chosen = "PYSPARK_PYTHON" in os.environ or "spark.pyspark.python" in conf
    if is_chosen or not conf["spark.master"].startswith("local"):
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        os.environ.pop("PYSPARK_PYTHON", None)


_inherited = False
"""Whether this process was forked from one that has a JVM."""


def _after_fork() -> None:
    global _inherited
    _inherited = has_jvm()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def require_own_jvm() -> None:
    """Raises CANNOT_START in a process that inherited its connection to the JVM by a fork: each of the two processes
    would receive answers to the other's calls."""
    if _inherited:
        message = "Spark cannot start in a process that was forked from one in which it runs"
        hint = "Start the process with multiprocessing's method `spawn`."
        raise AcidSqlError(Condition.CANNOT_START, hint=hint, message=message)


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and not Path(home, "bin", "java").exists():
        # PySpark would use it without looking, and fail with a stack trace.
        raise AcidSqlError(Condition.CANNOT_START, message=f"JAVA_HOME is {home}, which has no bin/java")
    if home or shutil.which("java"):
        return
    raise AcidSqlError(Condition.JAVA_NOT_FOUND)
