"""The names of SELECT items: of an item with a rewritten expression, and of the unnamed columns of a subquery."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark

_TABLE_FUNCTIONS: Final = frozenset(
    f"{name}{outer}"
    for name in ("explode", "posexplode", "inline", "variant_explode", "stack", "json_tuple", "parse_url_tuple")
    for outer in ("", "_outer")
)


def is_table_function(item: exp.Expr) -> bool:
    """Whether an item is a call of a function that returns columns, which have names of their own."""
    return isinstance(item, exp.Anonymous) and item.name.lower() in _TABLE_FUNCTIONS


def keep_name(node: exp.Expr) -> None:
    """Gives the unnamed SELECT item that contains the node its text as its alias. The nodes stay the same objects."""
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    is_item = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    if is_item and not isinstance(node, exp.Alias | exp.Aliases) and not is_table_function(node):
        named = exp.Alias(alias=exp.to_identifier(to_spark(node), quoted=True))
        node.replace(named)
        named.set("this", node)


def name_unnamed_columns(tree: exp.Query) -> None:
    """Names the unnamed columns of subqueries in FROM and of common table expressions as Hive does: the column at
    position N is `_cN`, counted from 0. Names no column behind a `*`."""
    for node in tree.find_all(exp.Subquery, exp.CTE):
        if not node.alias_column_names and (isinstance(node, exp.CTE) or isinstance(node.parent, exp.From | exp.Join)):
            _name_columns(node.this)
    for query in tree.find_all(exp.Select):
        _name_literal(query)


def _name_columns(query: exp.Expr) -> None:
    """The first query of a set operation names its columns."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select):
        return
    for position, item in enumerate(query.expressions):
        if item.is_star or isinstance(item, exp.Aliases):
            return
        if not isinstance(item, exp.Alias | exp.Column | exp.Dot | exp.QueryTransform) and not is_table_function(item):
            item.replace(exp.alias_(item.copy(), f"_c{position}", quoted=True))


def _name_literal(query: exp.Select) -> None:
    """Names the column of `(SELECT 'a')`, which Spark's parser takes for a literal of the type SELECT."""
    first = query.expressions[0] if query.expressions else None
    if query.parent is not None and isinstance(first, exp.Literal) and first.is_string:
        first.replace(exp.alias_(first.copy(), "_c0", quoted=True))
