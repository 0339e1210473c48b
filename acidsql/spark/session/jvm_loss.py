"""The loss of the JVM: how to distinguish it from an error of Spark, and how to clean up after it."""

from __future__ import annotations

import logging
import subprocess
import warnings
from contextlib import suppress
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.jvm_process import (
    active_context,
    forget_jvm,
    is_of_other_jvm,
    is_send_failure,
    is_stopped,
    jvm_process,
)

SPARK_ERRORS: Final = (PySparkException, Py4JError, OSError, EOFError)
"""The exceptions of calls to Spark, including calls to a JVM that ends while it answers."""
_ENDING_SECONDS: Final = 10.0
"""Seconds that the process may take to end after its connections or its Spark context."""
_STOPPING: Final = ("SparkContext was shut down", "SparkContext has been shutdown", "stopped SparkContext")
"""Texts in the errors of jobs when the JVM is about to end: Spark stops its context first."""
_OUT_OF_MEMORY: Final = 52
"""Exit status of a JVM that Spark ended because a task ran out of memory (SparkExitCode.OOM)."""


def is_lost(context: SparkContext) -> bool:
    """Whether the JVM of a Spark context has ended, or Python code stopped the context. Makes no call of the JVM."""
    if is_stopped(context):
        return True
    process = jvm_process()
    return process is not None and process.poll() is not None


def lost_by(error: BaseException, context: SparkContext) -> bool:
    """Whether a call of Spark raised the error because the JVM has ended or is about to end."""
    if is_lost(context):
        return True
    process = jvm_process()
    if any(text in str(error) for text in _STOPPING):
        _wait(process)
        return True
    if not _breaks_off(error):
        return False
    _wait(process)
    return process.poll() is not None if process is not None else isinstance(error, ConnectionError)


def _breaks_off(error: BaseException) -> bool:
    """Whether a call may have ended without an answer from the JVM. An answer contains a stack trace."""
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
    """Removes what is left of a JVM that has ended or is about to end, so that PySpark can start a new one."""
    is_current = not is_of_other_jvm(context)
    process = jvm_process()
    if is_current and process is not None:
        process.kill()
        process.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(2):  # a failed call leaves the rest of the work to the next call
            with suppress(*SPARK_ERRORS):
                context.stop()
    if is_current:
        forget_jvm()


def forget_ended() -> None:
    """Forgets PySpark's JVM if it has ended, whoever started it."""
    context = active_context()
    if context is not None and is_lost(context):
        forget(context)


def quiet_py4j() -> None:
    """Keeps Py4J from logging a stack trace when the JVM ends in the middle of a call: the call raises an error."""
    root = logging.getLogger()
    if _is_worth_logging not in root.filters:
        root.addFilter(_is_worth_logging)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    return not is_send_failure(record)


def _wait(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_SECONDS)


def _reason(context: SparkContext) -> str:
    process = jvm_process()
    status = None if process is None else process.poll()
    if status is None:
        return "its Spark context was stopped" if process is not None else "it does not answer"
    if status == _OUT_OF_MEMORY:
        return "it ran out of memory"
    return f"it was ended by signal {-status}" if status < 0 else f"it ended with exit status {status}"
