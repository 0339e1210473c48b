"""Columns of UNION, INTERSECT and EXCEPT that are FLOAT in one query and DECIMAL in another: the common type is FLOAT
(FunctionRegistry.getCommonClassForUnionAll). In Spark it is DOUBLE."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from acidsql.acid.hive_types import Decimal
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.item_names import keep_name
from acidsql.values.common_types import FLOAT


def convert_columns(tree: exp.Query, types: ExpressionTypes) -> None:
    """Casts the DECIMALs of such columns to FLOAT in place."""
    for operation in tree.find_all(exp.SetOperation):
        kinds = list((types.output(operation) or {}).values())
        if FLOAT not in kinds:
            continue
        for select in _selects(operation):
            items = list(select.expressions)
            if len(items) == len(kinds) and not any(item.is_star for item in items):
                _convert(select, [place for place, kind in enumerate(kinds) if kind == FLOAT], types)


def _selects(query: exp.Expr) -> Iterator[exp.Select]:
    inner = query.unnest()
    if isinstance(inner, exp.SetOperation):
        yield from _selects(inner.left)
        yield from _selects(inner.right)
    elif isinstance(inner, exp.Select):
        yield inner


def _convert(select: exp.Select, places: list[int], types: ExpressionTypes) -> None:
    for place in places:
        value = select.expressions[place].unalias()
        if isinstance(types.of(value), Decimal):
            keep_name(value)
            value.replace(exp.cast(value.copy(), "float"))
