"""GROUPING SETS, ROLLUP and CUBE: the column grouping__id, and sets that are written twice (CalcitePlanner)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark
from acidsql.planner.expressions.hive_functions.template import Rule, call

_ID: Final = "grouping__id"


def is_grouping_id(node: exp.Column) -> bool:
    """Whether a column is the number of the row's grouping set."""
    if node.table or node.name.lower() != _ID:
        return False
    query = node.find_ancestor(exp.Select)
    group = query.args.get("group") if query is not None else None
    return group is not None and any(group.args.get(key) for key in ("grouping_sets", "rollup", "cube"))


def grouping_id(_: exp.Column) -> exp.Expr:
    return call("grouping_id")


def _of_several(arguments: list[exp.Expr]) -> exp.Expr:
    """GROUPING, which is a BIGINT, also of several columns."""
    return call("grouping_id", *arguments) if len(arguments) > 1 else call("bigint", call("grouping", *arguments))


VARIADIC: Final[dict[str, Rule]] = {"grouping": _of_several}


def is_repeating(node: exp.GroupingSets) -> bool:
    return len({_keys(item) for item in node.expressions}) < len(node.expressions)


def without_repeated(node: exp.GroupingSets) -> exp.Expr:
    """Each grouping set once: Hive takes them for a set of sets."""
    once = {_keys(item): item for item in reversed(node.expressions)}
    return exp.GroupingSets(expressions=[item.copy() for item in reversed(once.values())])


def _keys(item: exp.Expr) -> frozenset[str]:
    plain = item.unnest()
    keys = plain.expressions if isinstance(plain, exp.Tuple) else [plain]
    return frozenset(to_spark(key).lower() for key in keys)
