"""Queries of little data that Spark interprets, and those that it compiles."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from acidsql.spark.running_spark import for_little


@pytest.mark.parametrize(
    ("query", "is_interpreted"),
    [
        ("SELECT 'BroadcastNestedLoopJoin, CartesianProduct' AS v, id FROM range(3)", True),
        ("SELECT * FROM range(3) a JOIN range(3) b ON a.id = b.id", True),
        ("SELECT * FROM range(3) a JOIN range(3) b ON a.id < b.id", False),
        ("SELECT * FROM range(3) a WHERE a.id < (SELECT max(b.id + c.id) FROM range(3) b, range(3) c)", False),
    ],
)
def test_only_a_query_that_joins_all_rows_with_all_is_compiled(
    spark: SparkSession, query: str, is_interpreted: bool
) -> None:
    frame = spark.sql(query)
    assert (for_little(frame) is not frame) is is_interpreted
