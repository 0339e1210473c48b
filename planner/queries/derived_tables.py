"""Conditions of a query that its FROM items inherit: those on the columns of a subquery in FROM, which a view becomes.

`SELECT .. FROM (SELECT t.p AS q FROM t) v WHERE v.q = 'a'` needs only the rows of t with p = 'a'. The query itself does
not change: Spark filters the rows where the text says so. The conditions only decide what a scan may skip
(row_conditions.py), so this module, too, takes a condition only where it knows what its names refer to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from acidsql.planner.conditions.row_conditions import (
    CLAUSES,
    conditions_on,
    conjuncts,
    has_only,
    item_index,
    merges_columns,
)

_TRANSPARENT: Final = CLAUSES - {"windows", "qualify", "limit", "offset"}
"""The clauses of a SELECT that give the same rows whether a condition on its columns filters before or after them."""


def inherited_conditions(query: exp.Expr) -> tuple[exp.Expr, ...]:
    """The conditions on the columns of the query's FROM items that follow from the queries around it."""
    item = query.parent
    if not isinstance(item, exp.Subquery) or not isinstance(item.parent, exp.From | exp.Join):
        return ()
    outer = item.parent.parent
    place = item_index(outer, item) if outer is not None else None
    columns = _plain_columns(query, item)
    if outer is None or place is None or not columns:
        return ()
    merges = merges_columns(outer)
    found = conditions_on(outer, place, inherited_conditions(outer))
    conditions = (c for condition in found for c in conjuncts(condition))
    translated = (_translated(c, item.alias_or_name.lower(), columns, merges=merges) for c in conditions)
    return tuple(condition for condition in translated if condition is not None)


def _plain_columns(query: exp.Expr, item: exp.Subquery) -> Mapping[str, exp.Column]:
    """The columns of a subquery that are columns of its own FROM items, by the names that they have outside."""
    if not isinstance(query, exp.Select) or not has_only(query, _TRANSPARENT) or query.find(exp.Window) is not None:
        return {}
    names = [name.lower() for name in item.alias_column_names] or [i.output_name.lower() for i in query.expressions]
    if len(names) != len(query.expressions) or (item.alias_column_names and query.is_star):
        return {}
    pairs = [(name, i.unalias()) for name, i in zip(names, query.expressions, strict=True)]
    grouped = _group_keys(query)
    return {
        name: column
        for name, column in pairs
        if _is_plain(column) and names.count(name) == 1 and (grouped is None or _key(column) in grouped)
    }


def _group_keys(query: exp.Select) -> set[tuple[str, str]] | None:
    """The columns of GROUP BY, on which a condition filters whole groups; None without GROUP BY."""
    group = query.args.get("group")
    if group is None:
        return None
    return {_key(key) for key in group.expressions if _is_plain(key)} if has_only(group, {"expressions"}) else set()


def _key(column: exp.Expr) -> tuple[str, str]:
    assert isinstance(column, exp.Column)
    return column.table.lower(), column.name.lower()


def _is_plain(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and has_only(node, ("this", "table"))


def _translated(condition: exp.Expr, alias: str, columns: Mapping[str, exp.Column], *, merges: bool) -> exp.Expr | None:
    """The condition in terms of the subquery's FROM items; None if it names anything else."""
    if isinstance(condition, exp.Column) or condition.find(exp.Query, exp.Lambda) is not None:
        return None
    found = condition.copy()
    for node in list(found.find_all(exp.Column)):
        is_of_item = node.table.lower() == alias if node.table else not merges
        column = columns.get(node.name.lower()) if is_of_item and _is_plain(node) else None
        if column is None:
            return None
        node.replace(column.copy())
    return found
