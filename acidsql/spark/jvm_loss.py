"""A JVM that is gone: how it is told from an error of Spark's, and what is left of it in this process."""

from __future__ import annotations

import logging
import subprocess
import warnings
from contextlib import suppress
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition

SPARK_ERRORS: Final = (PySparkException, Py4JError, OSError, EOFError)
"""What calls of Spark raise, those too of a JVM that ends while it answers."""
_ENDING_SECONDS: Final = 10.0
"""How long a process may need to end after its connections or its Spark context."""
_STOPPING: Final = ("SparkContext was shut down", "SparkContext has been shutdown", "stopped SparkContext")
"""In an error of a job whose JVM is about to end: Spark stops its context first."""
_OUT_OF_MEMORY: Final = 52
"""Exit status of a JVM that Spark ended because a task ran out of memory (SparkExitCode.OOM)."""


def is_lost(context: SparkContext) -> bool:
    """Whether the JVM of a Spark context has ended, or the context was stopped from Python. Calls no JVM."""
    jcontext: Any = context._jsc
    gateway: Any = SparkContext._gateway
    if jcontext is None or gateway is None or gateway._gateway_client is not jcontext._gateway_client:
        return True  # PySpark has one JVM at a time
    process = _process()
    return process is not None and process.poll() is not None


def lost_by(error: BaseException, context: SparkContext) -> bool:
    """Whether a call of Spark raised the error because the JVM has ended, or is about to."""
    if is_lost(context):
        return True
    process = _process()
    if any(text in str(error) for text in _STOPPING):
        _wait(process)
        return True
    if not _breaks_off(error):
        return False
    _wait(process)
    return process.poll() is not None if process is not None else isinstance(error, ConnectionError)


def _breaks_off(error: BaseException) -> bool:
    """Whether a call may have ended without an answer of the JVM; with its answer comes a stack trace."""
    if isinstance(error, PySparkException | Py4JJavaError):
        return False
    return isinstance(error, ConnectionError | EOFError) or (
        isinstance(error, Py4JError) and "Trace:" not in str(error)
    )


def gone(context: SparkContext) -> AcidSqlError:
    """The error of a statement whose JVM is gone."""
    hint = (
        "The next statement starts a new one (spark.driver.memory is the memory that it gets), unless the Spark"
        " session was given to acidsql: then give it another one."
    )
    return AcidSqlError(Condition.SPARK_GONE, reason=_reason(context), hint=hint)


def forget(context: SparkContext) -> None:
    """Ends what is left of a JVM that is gone or about to go, so that PySpark can start another one."""
    jcontext: Any = context._jsc
    gateway: Any = SparkContext._gateway
    is_current = jcontext is None or gateway is None or gateway._gateway_client is jcontext._gateway_client
    process = _process()
    if is_current and process is not None:
        process.kill()
        process.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(2):  # the call that fails leaves what else there is to stop to the next one
            with suppress(*SPARK_ERRORS):
                context.stop()
    if is_current:
        SparkContext._gateway = None
        SparkContext._jvm = None
        SparkSession._instantiatedSession = None
        SparkSession._activeSession = None


def forget_ended() -> None:
    """The same for PySpark's JVM, whoever started it, if it has ended."""
    context = SparkContext._active_spark_context
    if context is not None and is_lost(context):
        forget(context)


def quiet_py4j() -> None:
    """Keeps py4j from printing a stack trace when the JVM ends in the middle of a call: the call raises an error."""
    root = logging.getLogger()
    if _is_told not in root.filters:
        root.addFilter(_is_told)


def _is_told(record: logging.LogRecord) -> bool:
    """Whether a record of the root logger is anything else than that of py4j."""
    return not (record.funcName == "send_command" and record.module == "java_gateway")


def _process() -> subprocess.Popen[bytes] | None:
    """The process of PySpark's JVM, where PySpark started it in this process."""
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process


def _wait(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_SECONDS)


def _reason(context: SparkContext) -> str:
    process = _process()
    status = None if process is None else process.poll()
    if status is None:
        return "its Spark context was stopped" if process is not None else "it does not answer"
    if status == _OUT_OF_MEMORY:
        return "it ran out of memory"
    return f"it was ended by signal {-status}" if status < 0 else f"it ended with exit status {status}"
