"""Plans made of resolved expressions, and plans that Spark has made.

Most of the time before a query runs goes to Spark's analyzer, and here it has nothing to do. The functions make what
`filter`, `withColumns` and the like make of SQL, and mark it as analyzed. Nothing checks such a plan: callers must give
what is known to be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import Jvm, items, jvm, where

_EACH_WITH_EACH: Final = ("BroadcastNestedLoopJoin", "CartesianProduct")
"""Names of the nodes of physical plans that compare each row of one side with each row of the other."""
_ASKED: Final = ":asked"
"""The names of columns that only a condition reads begin with it."""


class _Catalyst:
    """Classes of Spark's expressions and plans."""

    def __init__(self, java: Jvm) -> None:
        self._java = java
        self.scala = java.scala

    def literal(self, column: Column) -> Any:
        """The expression of a column that is a literal."""
        return self._java.shim.expression(self._java, column._jc)

    def named(self, value: Any, name: str, expr_id: Any = None) -> Any:
        """An Alias, which makes a new column of a value, or one with a known ID."""
        alias, ids, nil = self._aliases
        return alias(value, name, ids.newExprId() if expr_id is None else expr_id, nil, self._java.none, nil)

    @cached_property
    def _aliases(self) -> tuple[Any, Any, Any]:
        java = self._java
        return java.spark_class(names.ALIAS), java.scala_object(names.NAMED_EXPRESSION), java.nil

    def field_of(self, struct: Any, number: int) -> Any:
        return self._struct_field(struct, number, self._java.none)

    @cached_property
    def _struct_field(self) -> Any:
        return self._java.spark_class(names.GET_STRUCT_FIELD)

    @cached_property
    def at_least(self) -> Any:
        """AtLeastNNonNulls(number, expressions)."""
        return self._java.spark_class(names.AT_LEAST_N_NON_NULLS)

    def same_micros(self, value: Any, *, wall_clock: bool) -> Any:
        """A TIMESTAMP_LTZ as a TIMESTAMP_NTZ, or the other way round."""
        before, after = self._times if wall_clock else reversed(self._times)
        return self._precise(value, before, after)

    @cached_property
    def _times(self) -> tuple[Any, Any]:
        return self._java.data_type('"timestamp"'), self._java.data_type('"timestamp_ntz"')

    @cached_property
    def _precise(self) -> Any:
        return self._java.spark_class(names.PRECISE_TIMESTAMP_CONVERSION)

    @cached_property
    def filtered(self) -> Any:
        """Filter(condition, plan)."""
        return self._java.spark_class(names.FILTER)

    @cached_property
    def projected(self) -> Any:
        """Project(expressions, plan)."""
        return self._java.spark_class(names.PROJECT)

    @cached_property
    def join(self) -> Any:
        """The TreePattern of a plan with a Join in it."""
        return self._java.scala_object(names.TREE_PATTERN).JOIN()

    @cached_property
    def range(self) -> Any:
        """range.apply(first, end, step, tasks)."""
        return self._java.scala_object(names.RANGE)

    @cached_property
    def scan(self) -> Any:
        """scan.apply(relation, is_streaming)."""
        return self._java.scala_object(names.LOGICAL_RELATION_OBJECT)


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
    """The analyzed plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def nodes_of(plan: Any) -> Iterator[Any]:
    """The nodes of a logical or physical plan, without those of its subqueries."""
    yield plan
    for child in items(plan.children()):
        yield from nodes_of(child)


def has_join(spark: SparkSession, plan: Any) -> bool:
    """Whether a Join is in a logical plan, or in a subquery of it."""
    return bool(plan.containsPattern(_catalyst(spark).join))


def compares_each_with_each(frame: DataFrame) -> bool:
    """Whether the frame's physical plan compares each row of something with each row of something else."""
    execution: Any = frame._jdf.queryExecution()
    if not has_join(frame.sparkSession, execution.optimizedPlan()):
        return False
    plan = execution.executedPlan()
    nodes = (node.nodeName() for one in (plan, *items(plan.subqueriesAll())) for node in nodes_of(one))
    return any(name in _EACH_WITH_EACH for name in nodes)


def scan_of(spark: SparkSession, relation: Any, kept: int | None = None) -> DataFrame:
    """All columns of a BaseRelation.

    With `kept`, Spark can prune no column, and of the last column, a struct, only the field with this number is read. A
    filter names all of them. It is true of every row and evaluates nothing: "at least 0 of these are not NULL".
    """
    catalyst = _catalyst(spark)
    plan = catalyst.scan.apply(relation, False)
    if kept is not None:
        columns = plan.output()
        named = catalyst.scala.appended(columns.init(), catalyst.field_of(columns.last(), kept))
        plan = catalyst.filtered(catalyst.at_least(0, named), plan)
    return _resolved(spark, plan)


def rows_of(spark: SparkSession, name: str, count: int, tasks: int) -> DataFrame:
    """As many rows as `count`, with one column: the number of the row."""
    catalyst = _catalyst(spark)
    rows = catalyst.range.apply(0, count, 1, tasks)
    columns = rows.output()
    named = catalyst.scala.updated(columns, 0, catalyst.named(columns.head(), name))
    return _resolved(spark, catalyst.projected(named, rows))


def with_literals(frame: DataFrame, literals: Mapping[str, Column]) -> DataFrame:
    """The frame with further columns, which are literals."""
    if not literals:
        return frame
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    columns = plan.output()
    for name, literal in literals.items():
        columns = catalyst.scala.appended(columns, catalyst.named(catalyst.literal(literal), name))
    return _resolved(frame.sparkSession, catalyst.projected(columns, plan))


@dataclass(frozen=True, slots=True)
class ResolvedCondition:
    """A condition that Spark has analyzed once, over columns that any frame can be given.

    `ids` are Spark's IDs of these columns, by name. Two plans with the same IDs below their outputs can stand in one
    query, as two uses of one view can.
    """

    expression: Any
    ids: Mapping[str, Any]


def resolved_condition(template: DataFrame, condition: str) -> ResolvedCondition:
    """A condition on the columns of a frame, which has them for their names and types only."""
    columns = zip(template.columns, items(plan_of(template).output()), strict=True)
    resolved = plan_of(where(template, condition)).condition()
    return ResolvedCondition(resolved, {name: column.exprId() for name, column in columns})


def where_resolved(
    frame: DataFrame, condition: ResolvedCondition, places: Mapping[str, int], literals: Mapping[str, Column]
) -> DataFrame:
    """The rows for which the condition is true, without an analysis of it, and with its columns beside the frame's.

    `places` are the positions of the frame's columns that the condition reads, by its own names of them. `literals` are
    its other columns. Their types must be those that the condition was analyzed for.
    """
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    output = plan.output()
    values = [(name, output.apply(place)) for name, place in places.items()]
    values += [(name, catalyst.literal(column)) for name, column in literals.items()]
    columns = output
    for name, value in values:
        columns = catalyst.scala.appended(columns, catalyst.named(value, f"{_ASKED}{name}", condition.ids[name]))
    return _resolved(frame.sparkSession, catalyst.filtered(condition.expression, catalyst.projected(columns, plan)))


def same_micros(frame: DataFrame, columns: Mapping[int, str], *, wall_clock: bool) -> DataFrame:
    """The frame with TIMESTAMP_LTZ columns as the TIMESTAMP_NTZ of the same microseconds, or the other way round.

    A CAST gives the same in UTC, but computes each value's place in the calendar. The session's zone must be UTC.
    `columns` has the names of the columns by their positions.
    """
    if not columns:
        return frame
    catalyst, plan = _catalyst(frame.sparkSession), plan_of(frame)
    output = plan.output()
    for place, name in columns.items():
        value = catalyst.same_micros(output.apply(place), wall_clock=wall_clock)
        output = catalyst.scala.updated(output, place, catalyst.named(value, name))
    return _resolved(frame.sparkSession, catalyst.projected(output, plan))
