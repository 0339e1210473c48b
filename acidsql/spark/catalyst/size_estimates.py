"""Estimates of how many bytes a query reads, from Spark's statistics."""

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
"""Spark's estimate for an RDD is larger than this."""
CTE_REFERENCE: Final = "CTERelationRef"
"""The name of a leaf that stands for the rows of a CTE, whose query is in the same plan."""
_VALUES: Final = "ResolvedInlineTable"
"""VALUES with functions such as current_timestamp. Spark's optimizer turns them into rows; before that, Spark raises an
UnsupportedOperationException when it is asked for their statistics."""


def leaf_sizes(frame: DataFrame) -> list[int | None]:
    """The bytes that Spark expects each leaf of the query and of its subqueries to read; None for a leaf without an
    estimate. The leaves of a CTE count once."""
    leaves = (leaf for plan in plans(frame) for leaf in items(plan.collectLeaves()))
    return [_size(leaf) for leaf in leaves if leaf.nodeName() != CTE_REFERENCE]


def leaf_bytes(sizes: Iterable[int | None]) -> int:
    """The sum over all leaves. A leaf without an estimate counts as slightly more than SMALL."""
    return sum(SMALL + 1 if size is None else size for size in sizes)


def estimated_bytes(frame: DataFrame) -> int:
    """The bytes that Spark expects the rows of the query to have, with only the columns that the query reads. It has
    Spark optimize the query."""
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    return int(str(plan.stats().sizeInBytes()))


def plans(frame: DataFrame) -> list[Any]:
    """The analyzed plans of the query and of all its subqueries."""
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
