"""MERGE with a small source: the target's rows that match none of its keys are left out before the join.

The keys are broadcast, so that rows of the target are dropped where they are read instead of being shuffled and sorted
for the join. That reads the source a second time, so it must give the same rows again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from acidsql.planner.plan import KEYS, Narrowing
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.logical_plans import nodes_of
from acidsql.spark.catalyst.size_estimates import SMALL, leaf_bytes, leaf_sizes, plans
from acidsql.spark.engine import StatementSpark

_LEAST: Final = 1024 * 1024
"""Bytes of a target for which it is worth it."""
_MUCH: Final = 4
"""How many times the source's bytes these must be."""
_REPEATABLE: Final = frozenset(
    {
        *("Project", "Filter", "SubqueryAlias", "View", "Union", "Join", "Distinct", "Generate", "Sort"),
        *("LocalRelation", "OneRowRelation", "Range"),
    }
)
"""Nodes of Spark's plans that give the same rows each time, if their expressions do."""
_ORDERLESS: Final = frozenset({"max", "min", "count", "cast", "coalesce"})
"""Functions of an Aggregate that give the same in whatever order rows come; max_by and sums of fractions do not."""
_CALLED: Final = re.compile(r"([A-Za-z_]\w*)\(")


def narrow(
    spark: StatementSpark, narrowing: Narrowing, target: Sequence[BoundScan], args: Mapping[str, object]
) -> None:
    """Defines the view of the target's scan anew, where it is worth it and right."""
    size = sum(f.file.length for b in target for part in b.parts for f in part.data_files)
    if size < _LEAST:
        return
    try:
        keys = spark.sql(narrowing.keys, args)
    except AnalysisException:
        return  # the statement's own query says what is wrong, and where
    of_source = leaf_bytes(leaf_sizes(keys))
    if of_source > SMALL or of_source * _MUCH > size or not _is_repeatable(keys):
        return
    spark.define_view(KEYS, F.broadcast(keys))
    spark.define_view(narrowing.view, spark.sql(narrowing.rows))


def _is_repeatable(keys: DataFrame) -> bool:
    """Whether a query gives the same rows when it runs again: of files, or of values in the plan itself, and without
    functions that say otherwise of themselves."""
    return all(plan.deterministic() and all(map(_gives_the_same, nodes_of(plan))) for plan in plans(keys))


def _gives_the_same(node: Any) -> bool:
    name = node.nodeName()
    match name:
        case "LogicalRelation":
            return bool(node.relation().getClass().getSimpleName() == "HadoopFsRelation")
        case "Aggregate":
            return _ORDERLESS.issuperset(_CALLED.findall(node.aggregateExpressions().mkString(" ")))
        case _:
            return name in _REPEATABLE
