"""The streaming queries that run in the driver."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import jvm


def has_running(spark: SparkSession, query: str) -> bool:
    """Whether a streaming query runs, by its ID, in any session of the driver.

    `SparkSession.streams` knows those of one session only, and the function of foreachBatch gets a copy of the session
    that started the query.
    """
    java = jvm(spark)
    if not java.has(names.SHARED_STATE):
        return True
    jsession: Any = spark._jsparkSession
    queries = jsession.sharedState().activeStreamingQueries()
    return bool(queries.containsKey(java.java_class("java.util.UUID").fromString(query)))
