"""Queries that give the same rows each time they run."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, Final

from pyspark.sql import DataFrame

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import items
from acidsql.spark.catalyst.logical_plans import nodes_of
from acidsql.spark.catalyst.size_estimates import CTE_REFERENCE, plans

_REPEATABLE: Final = frozenset(
    {
        *("Project", "Filter", "SubqueryAlias", "View", "Union", "Join", "Distinct", "Generate", "Sort"),
        *("LocalRelation", "OneRowRelation", "Range"),
        *("WithCTE", "CTERelationDef", CTE_REFERENCE),
    }
)
"""Names of plan nodes that give the same rows each time, if their expressions do."""
_ORDERLESS: Final = frozenset({"Max", "Min", "Count"})
"""Aggregate functions whose result does not depend on the order of the rows. That of max_by and of sums of fractions
does."""


def is_repeatable(frame: DataFrame) -> bool:
    """Whether a query gives the same rows when it runs again: it reads files, or values in the plan itself, and none of
    its functions depends on chance or on the order of rows."""
    return all(plan.deterministic() and all(map(_gives_same_rows, nodes_of(plan))) for plan in plans(frame))


def _gives_same_rows(node: Any) -> bool:
    name = node.nodeName()
    match name:
        case "LogicalRelation":
            return bool(node.relation().getClass().getName() == names.FILE_RELATION.name)
        case "Aggregate":
            return all(map(_is_orderless, items(node.aggregateExpressions())))
        case _:
            return name in _REPEATABLE


def _is_orderless(expression: Any) -> bool:
    """Whether every aggregate function in an expression is one of _ORDERLESS.

    Spark gives the expression's nodes as JSON, in prefix order with the class of each, in one call: the first child of
    an AggregateExpression is its function. The text of a query, such as a string literal, has no part in it.
    """
    classes = [node["class"] for node in json.loads(expression.toJSON())]
    functions = (of for kind, of in pairwise(classes) if kind == names.AGGREGATE_EXPRESSION.name)
    return all(function.rpartition(".")[2] in _ORDERLESS for function in functions)
