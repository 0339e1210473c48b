"""PySpark's one JVM in this process: whether it runs, and how PySpark is made to forget it."""

from __future__ import annotations

import logging
import subprocess
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession


def has_jvm() -> bool:
    """Whether PySpark has a connection to a JVM."""
    return SparkContext._gateway is not None


def active_context() -> SparkContext | None:
    """The Spark context that PySpark has, whoever started it."""
    return SparkContext._active_spark_context


def is_stopped(context: SparkContext) -> bool:
    """Whether a context was stopped from Python, or its JVM is not PySpark's JVM any more. Calls no JVM."""
    jcontext: Any = context._jsc
    gateway: Any = SparkContext._gateway
    return jcontext is None or gateway is None or gateway._gateway_client is not jcontext._gateway_client


def is_of_other_jvm(context: SparkContext) -> bool:
    """Whether PySpark has started another JVM since the one of a context that was not stopped."""
    jcontext: Any = context._jsc
    gateway: Any = SparkContext._gateway
    return jcontext is not None and gateway is not None and gateway._gateway_client is not jcontext._gateway_client


def jvm_process() -> subprocess.Popen[bytes] | None:
    """The process of PySpark's JVM, if PySpark started it in this process."""
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process


def forget_jvm() -> None:
    """Has PySpark start a new JVM for the next session."""
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None


def is_send_failure(record: logging.LogRecord) -> bool:
    """Whether Py4J logged that a call to the JVM could not be sent."""
    return record.funcName == "send_command" and record.module == "java_gateway"
