"""Aggregates of the rows that pass through a query while it runs (Dataset.observe)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession

from acidsql.spark.catalyst.gateway import jvm

_MILLIS: Final = 30_000
"""How long Spark may take to tell its listeners of the end of a job."""


class Observation:
    """The aggregates of one run of a query.

    It takes the place of pyspark.sql.Observation, which waits for ever in two cases: the query runs in a copy of the
    session, or Spark's optimizer finds that there are no rows, and removes the observation with them.
    """

    def __init__(self, rows: DataFrame, aggregates: Mapping[str, Column]) -> None:
        self._java = jvm(rows.sparkSession)
        self._context = rows.sparkSession.sparkContext
        self._name = str(uuid4())
        self._frame: Any = rows._jdf
        self._expected: list[Any] = []
        self.rows = rows.observe(self._name, *(column.alias(name) for name, column in aggregates.items()))
        """The rows to run the query with."""
        self.expect_in(rows.sparkSession)

    def expect_in(self, spark: SparkSession) -> None:
        """Prepares for a run in this session. A session completes only the observations that it has registered."""
        expected = self._java.spark_class(self._java.shim.observation)(self._name)
        self._java.shim.register_observation(self._java, expected, spark._jsparkSession, self._frame)
        self._expected.append(expected)

    def values(self) -> Mapping[str, Any]:
        """The aggregates, by name, of the first job that has run the query; empty if it read no row, or if Spark does
        not tell."""
        context: Any = self._context._jsc.sc()
        try:
            context.listenerBus().waitUntilEmpty(_MILLIS)
            return next((dict(o.getAsJava()) for o in self._expected if self._java.shim.is_observed(o)), {})
        except Py4JJavaError:  # a listener of the user's is slow; or a row without columns, from Spark 4.1 on
            return {}
