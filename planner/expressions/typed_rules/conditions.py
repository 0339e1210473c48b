"""Conditions that are text or numbers: WHERE, HAVING, ON, AND, OR and NOT convert them to BOOLEAN, as CAST does."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.typed_rules.casts import boolean_of_text
from acidsql.values.common_types import is_number, is_text


def convert_conditions(tree: exp.Query, types: ExpressionTypes) -> None:
    """Converts each condition of a query in place."""
    for condition in list(_conditions(tree)):
        kind = types.of(condition)
        if is_text(kind):
            condition.replace(boolean_of_text(condition.copy()))
        elif is_number(kind):
            condition.replace(exp.paren(exp.NEQ(this=condition.copy(), expression=exp.Literal.number(0)), copy=False))


def _conditions(tree: exp.Query) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.Where, exp.Having, exp.Not):
        yield node.this
    for connector in tree.find_all(exp.And, exp.Or):
        yield from (connector.this, connector.expression)
    for join in tree.find_all(exp.Join):
        if join.args.get("on") is not None:
            yield join.args["on"]
