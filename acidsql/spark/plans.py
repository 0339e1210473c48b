"""Plans of resolved expressions: most of the time before a query runs is Spark's analyzer's, and here it has nothing
to do.

What these functions make is what `filter`, `withColumns` and the like would make of SQL, marked as analyzed: it is not
checked either, so they take what is known to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from acidsql.spark.jvm import jvm


def frame_of(spark: SparkSession, plan: Any) -> DataFrame:
    """A frame of a plan in which nothing is left to resolve."""
    plan.setAnalyzed()
    return DataFrame(jvm(spark).dataset.ofRows(spark._jsparkSession, plan), spark)


def plan_of(frame: DataFrame) -> Any:
    """The analyzed plan."""
    return frame._jdf.queryExecution().analyzed()


def scan_of(spark: SparkSession, relation: Any) -> DataFrame:
    """All columns of a BaseRelation."""
    return frame_of(spark, jvm(spark).scan(relation))


def rows_of(spark: SparkSession, name: str, count: int, tasks: int) -> DataFrame:
    """Rows with one column, their number."""
    java = jvm(spark)
    rows = java.range(count, tasks)
    columns = rows.output()
    return frame_of(spark, java.projected(columns.updated(0, java.named(columns.head(), name)), rows))


def keeping_columns(frame: DataFrame, leaf: int) -> DataFrame:
    """All rows, of a query that no column can be pruned from, but of the last one, a struct, all fields except `leaf`.

    The condition is true of any row, and looks at none (AtLeastNNonNulls of none).
    """
    java, plan = jvm(frame.sparkSession), plan_of(frame)
    columns = plan.output()
    kept = columns.init().appended(java.field_of(columns.last(), leaf))
    return frame_of(frame.sparkSession, java.filtered(java.at_least(0, kept), plan))


def with_literals(frame: DataFrame, literals: Mapping[str, Column]) -> DataFrame:
    """The frame with further columns, which are literals."""
    if not literals:
        return frame
    java, plan = jvm(frame.sparkSession), plan_of(frame)
    columns = plan.output()
    for name, literal in literals.items():
        columns = columns.appended(java.named(java.expression(literal), name))
    return frame_of(frame.sparkSession, java.projected(columns, plan))


def same_micros(frame: DataFrame, columns: Mapping[int, str], *, wall_clock: bool) -> DataFrame:
    """The frame with TIMESTAMP_LTZ columns as the TIMESTAMP_NTZ of the same microseconds, or the other way: what a CAST
    gives in UTC, but that a CAST looks for each value's place in the calendar. The session's zone must be UTC.

    `columns` are their names by their places.
    """
    if not columns:
        return frame
    java, plan = jvm(frame.sparkSession), plan_of(frame)
    output = plan.output()
    for place, name in columns.items():
        value = java.same_micros(output.apply(place), wall_clock=wall_clock)
        output = output.updated(place, java.named(value, name))
    return frame_of(frame.sparkSession, java.projected(output, plan))
