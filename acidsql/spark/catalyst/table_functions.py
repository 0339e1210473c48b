"""A table function of a Spark session whose rows this process gives, each time that Spark analyzes a call of it.

Spark's registry of table functions keeps a builder for each: a scala.Function1 from the arguments to a logical plan.
Here Py4J calls back an object of Python, on the thread that runs the query where PySpark pins Python's threads to those
of the JVM (PYSPARK_PIN_THREAD, Spark's default).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import jvm

_SOURCE: Final = "scala_udf"
"""What Spark shows as the origin of the function."""


class _Builder:
    """A scala.Function1, from a Seq with one text to a logical plan."""

    def __init__(self, rows: Callable[[str], DataFrame]) -> None:
        self._rows = rows

    def apply(self, arguments: Any) -> Any:
        frame = self._rows(str(arguments.head().value().toString()))
        return frame._jdf.queryExecution().analyzed()

    class Java:
        implements: Final = ["scala.Function1"]


def define_table_function(spark: SparkSession, name: str, rows: Callable[[str], DataFrame]) -> None:
    """Registers a temporary table function with one argument, a text, for which `rows` gives the rows."""
    context: Any = spark.sparkContext
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    jsession: Any = spark._jsparkSession
    jsession.sessionState().tableFunctionRegistry().createOrReplaceTempFunction(name, _Builder(rows), _SOURCE)


def drop_table_function(spark: SparkSession, name: str) -> None:
    """Removes a table function, if there is one of this name."""
    jsession: Any = spark._jsparkSession
    jsession.sessionState().catalog().dropTempFunction(name, True)


class RunningAnalysis:
    """Tells in a builder whether Spark still analyzes the query for which a builder of this thread was called before.

    Spark makes one cache of relations for the analysis of a query, and hands it on to the views that the query reads
    (AnalysisContext.relationCache).
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._caches = threading.local()

    def is_same(self) -> bool:
        """Whether this call belongs to the same analysis as the one before it on this thread. False where that cannot
        be told: outside of a view, and where the JVM calls back on another thread than that of the analysis."""
        java = jvm(self._spark)
        before, self._caches.of_analysis = getattr(self._caches, "of_analysis", None), None
        if not java.has(names.ANALYSIS_CONTEXT):
            return False
        context = java.scala_object(names.ANALYSIS_CONTEXT).get()
        if not context.nestedViewDepth():
            return False
        cache = context.relationCache()
        if before is not None and before.containsKey(cache):
            self._caches.of_analysis = before
            return True
        by_identity = java.java_class("java.util.IdentityHashMap")()
        by_identity.put(cache, True)
        self._caches.of_analysis = by_identity
        return False
