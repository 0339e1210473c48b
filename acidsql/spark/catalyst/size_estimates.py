"""How much a query reads, as Spark's statistics have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from acidsql.planner.write_strategy import ONE_TASK
from acidsql.spark.catalyst.gateway import items
from acidsql.spark.catalyst.logical_plans import plan_of

SMALL: Final = ONE_TASK
"""Bytes of a small query."""
_UNKNOWN: Final = 1 << 60
"""What Spark answers for an RDD is more than this."""
_VALUES: Final = "ResolvedInlineTable"
"""VALUES with current_timestamp and its like, of which Spark's optimizer makes rows. Before that it has no statistics,
and raises an UnsupportedOperationException for them."""


def leaf_sizes(frame: DataFrame) -> list[int | None]:
    """The bytes that Spark expects the query to read, in its subqueries too, leaf by leaf; None for one that it knows
    nothing of."""
    return [_size(leaf) for plan in plans(frame) for leaf in items(plan.collectLeaves())]


def leaf_bytes(sizes: Iterable[int | None]) -> int:
    """Of all leaves; a little more than SMALL for one of which nothing is known."""
    return sum(SMALL + 1 if size is None else size for size in sizes)


def plans(frame: DataFrame) -> list[Any]:
    """The analyzed query, and all subqueries in it."""
    plan: Any = plan_of(frame)
    return [plan, *items(plan.subqueriesAll())]


def _size(leaf: Any) -> int | None:
    try:
        size = int(str(leaf.stats().sizeInBytes()))
    except PySparkException:
        if leaf.nodeName() != _VALUES:
            raise
        size = int(leaf.rows().size()) * int(leaf.schema().defaultSize())
    return size if size < _UNKNOWN else None
