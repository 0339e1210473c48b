"""Plans of resolved expressions: most of the time before a query runs is Spark's analyzer's, and here it has nothing
to do.

What these functions make is what `filter`, `withColumns` and the like would make of SQL, marked as analyzed: it is not
checked either, so they take what is known to be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from acidsql.spark.catalyst.gateway import Jvm, items, jvm, scala_object


class _Catalyst:
    """Classes of Spark's expressions and plans."""

    def __init__(self, java: Jvm) -> None:
        self._java = java
        self._of_all: Any = java.view.org.apache.spark.sql.catalyst

    def literal(self, column: Column) -> Any:
        """A column that is a literal, as an expression."""
        return self._java.column_classes.expression(column._jc)

    def named(self, value: Any, name: str) -> Any:
        """An Alias, and with it a new column."""
        alias, ids, empty = self._aliases
        return alias(value, name, ids.newExprId(), empty, self._java.none, empty)

    @cached_property
    def _aliases(self) -> tuple[Any, Any, Any]:
        expressions = self._of_all.expressions
        nil = scala_object(self._java.view.scala.collection.immutable, "Nil")
        return expressions.Alias, scala_object(expressions, "NamedExpression"), nil

    def field_of(self, struct: Any, number: int) -> Any:
        return self._struct_field(struct, number, self._java.none)

    @cached_property
    def _struct_field(self) -> Any:
        return self._of_all.expressions.GetStructField

    @cached_property
    def at_least(self) -> Any:
        """AtLeastNNonNulls(number, expressions)."""
        return self._of_all.expressions.AtLeastNNonNulls

    def same_micros(self, value: Any, *, wall_clock: bool) -> Any:
        """A TIMESTAMP_LTZ as a TIMESTAMP_NTZ, or the other way."""
        before, after = self._times if wall_clock else reversed(self._times)
        return self._precise(value, before, after)

    @cached_property
    def _times(self) -> tuple[Any, Any]:
        return self._java.data_type('"timestamp"'), self._java.data_type('"timestamp_ntz"')

    @cached_property
    def _precise(self) -> Any:
        return self._of_all.expressions.PreciseTimestampConversion

    @cached_property
    def filtered(self) -> Any:
        """Filter(condition, plan)."""
        return self._of_all.plans.logical.Filter

    @cached_property
    def projected(self) -> Any:
        """Project(expressions, plan)."""
        return self._of_all.plans.logical.Project

    @cached_property
    def join(self) -> Any:
        """The TreePattern that a plan contains if a Join is in it."""
        return scala_object(self._of_all.trees, "TreePattern").JOIN()

    @cached_property
    def range(self) -> Any:
        """range.apply(first, end, step, tasks)."""
        return scala_object(self._of_all.plans.logical, "Range")

    @cached_property
    def scan(self) -> Any:
        """scan.apply(relation, is_streaming)."""
        return scala_object(self._java.sources, "LogicalRelation")


@lru_cache(maxsize=2)
def _of_jvm(java: Jvm) -> _Catalyst:
    return _Catalyst(java)


def _catalyst(spark: SparkSession) -> _Catalyst:
    return _of_jvm(jvm(spark))


def frame_of(spark: SparkSession, plan: Any) -> DataFrame:
    """A frame of an analyzed plan."""
    return DataFrame(jvm(spark).dataset.ofRows(spark._jsparkSession, plan), spark)


def _resolved(spark: SparkSession, plan: Any) -> DataFrame:
    """A frame of a plan in which nothing is left to resolve."""
    plan.setAnalyzed()
    return frame_of(spark, plan)


def plan_of(frame: DataFrame) -> Any:
    """The analyzed plan."""
    return frame._jdf.queryExecution().analyzed()


def nodes_of(plan: Any) -> Iterator[Any]:
    """The nodes of a logical or physical plan, without those of its subqueries."""
    yield plan
    for child in items(plan.children()):
        yield from nodes_of(child)


def has_join(spark: SparkSession, plan: Any) -> bool:
    """Whether a Join is in a logical plan, or in a subquery of it."""
    return bool(plan.containsPattern(_catalyst(spark).join))


def scan_of(spark: SparkSession, relation: Any) -> DataFrame:
    """All columns of a BaseRelation."""
    return _resolved(spark, _catalyst(spark).scan.apply(relation, False))


def rows_of(spark: SparkSession, name: str, count: int, tasks: int) -> DataFrame:
    """Rows with one column, their number."""
    catalyst = _catalyst(spark)
    rows = catalyst.range.apply(0, count, 1, tasks)
    columns = rows.output()
    return _resolved(spark, catalyst.projected(columns.updated(0, catalyst.named(columns.head(), name)), rows))


def keeping_columns(frame: DataFrame, leaf: int) -> DataFrame:
    """All rows, of a query that no column can be pruned from; of the last one, a struct, not the field `leaf`.

    The condition is true of any row, and looks at none (AtLeastNNonNulls of none).
    """
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    columns = plan.output()
    kept = columns.init().appended(catalyst.field_of(columns.last(), leaf))
    return _resolved(frame.sparkSession, catalyst.filtered(catalyst.at_least(0, kept), plan))


def with_literals(frame: DataFrame, literals: Mapping[str, Column]) -> DataFrame:
    """The frame with further columns, which are literals."""
    if not literals:
        return frame
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    columns = plan.output()
    for name, literal in literals.items():
        columns = columns.appended(catalyst.named(catalyst.literal(literal), name))
    return _resolved(frame.sparkSession, catalyst.projected(columns, plan))


def same_micros(frame: DataFrame, columns: Mapping[int, str], *, wall_clock: bool) -> DataFrame:
    """The frame with TIMESTAMP_LTZ columns as the TIMESTAMP_NTZ of the same microseconds, or the other way: what a CAST
    gives in UTC, but that a CAST looks for each value's place in the calendar. The session's zone must be UTC.

    `columns` are their names by their places.
    """
    if not columns:
        return frame
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    output = plan.output()
    for place, name in columns.items():
        value = catalyst.same_micros(output.apply(place), wall_clock=wall_clock)
        output = output.updated(place, catalyst.named(value, name))
    return _resolved(frame.sparkSession, catalyst.projected(output, plan))
