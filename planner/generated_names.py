"""Names of unnamed columns inside a query: Hive names the column at position N of a subquery `_cN`, counted from 0."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

_MANY_COLUMNS: Final = frozenset(
    """
    explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple parse_url_tuple
    variant_explode variant_explode_outer
    """.split()  # noqa: SIM905
)
"""Functions that give columns, which have names of their own."""


def name_columns(tree: exp.Query) -> None:
    """Names the unnamed columns of subqueries in FROM and of common table expressions, up to the first `*`."""
    for node in tree.find_all(exp.Subquery, exp.CTE):
        if not node.alias_column_names and (isinstance(node, exp.CTE) or _is_in_from(node)):
            _name_columns(node.this)
    for query in tree.find_all(exp.Select):
        _name_literal(query)


def _is_in_from(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.From | exp.Join)


def _name_columns(query: exp.Expr) -> None:
    """The first query of a set operation names its columns."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        return
    for position, item in enumerate(query.expressions):
        if item.is_star or isinstance(item, exp.Aliases):
            return
        if _is_unnamed(item):
            item.replace(exp.alias_(item.copy(), f"_c{position}", quoted=True))


def _is_unnamed(item: exp.Expr) -> bool:
    if isinstance(item, exp.Alias | exp.Column | exp.Dot | exp.QueryTransform):
        return False
    return not (isinstance(item, exp.Anonymous) and item.name.lower() in _MANY_COLUMNS)


def _name_literal(query: exp.Select) -> None:
    """Names the column of `(SELECT 'a')`, which Spark's parser takes for a literal of the type SELECT."""
    first = query.expressions[0] if query.expressions else None
    if query.parent is not None and isinstance(first, exp.Literal) and first.is_string:
        first.replace(exp.alias_(first.copy(), "_c0", quoted=True))
