"""`hash(*)` and `hash(t.*)`: a star among the arguments of a function stands for columns, as in a SELECT list.

Spark replaces such a star itself, but computes its own function. So the star is replaced here where the function has a
rule of Hive's.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_functions.rule_table import REWRITTEN
from acidsql.planner.expressions.item_names import keep_name

_HINT: Final = "Name the columns in the call."
_EXPANDED: Final = REWRITTEN - {"struct"}
"""STRUCT keeps the names of the columns, by which the branches of a multi-insert find them; Hive's are col1, col2 .."""


def expand_stars(tree: exp.Query, types: ExpressionTypes) -> None:
    """Replaces the stars in place. Raises NOT_YET_SUPPORTED where the columns are not known, or two have one name."""
    for node in list(tree.find_all(exp.Anonymous)):
        if node.name.lower() in _EXPANDED and any(argument.is_star for argument in node.expressions):
            keep_name(node)
            expanded = [
                column
                for argument in node.expressions
                for column in (_columns(argument, node, types) if argument.is_star else [argument])
            ]
            node.set("expressions", expanded)


def _columns(star: exp.Expr, call: exp.Anonymous, types: ExpressionTypes) -> list[exp.Expr]:
    query = call.find_ancestor(exp.Select)
    pairs = None if query is None else types.columns_of_star(star, query)
    owner = star.args.get("table") if isinstance(star, exp.Column) else None
    if pairs is None or len({name for name, _ in pairs}) < len(pairs):
        feature = f"{call.name}(*) of columns whose names are not known, or of two of one name,"
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED, span=span_of(star) or span_of(call), feature=feature, hint=_HINT
        )
    columns: list[exp.Expr] = []
    for name, kind in pairs:
        columns.append(exp.column(name, table=None if owner is None else owner.copy(), quoted=True))
        types.put(columns[-1], kind)
    return columns
