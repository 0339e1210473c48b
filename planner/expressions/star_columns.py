"""The columns that `*` and `t.*` stand for in a SELECT list, with their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import HiveType

Fields: TypeAlias = Mapping[str, HiveType | None]
"""The columns of a FROM item by name, in order."""
Pairs: TypeAlias = list[tuple[str, HiveType | None]]


def star_columns(star: exp.Expr, query: exp.Select, items: Mapping[str, Fields | None]) -> Pairs | None:
    """The columns of a star in the SELECT list of `query`, in order; None if they are not known. `items` holds the
    columns of the FROM items by alias."""
    owner = star.table.lower() if isinstance(star, exp.Column) else None
    inner = star.this if isinstance(star, exp.Column) else star
    if not isinstance(inner, exp.Star) or any(value for key, value in inner.args.items() if key != "except_"):
        return None
    pairs = _all(query, items) if owner is None else _of_item(items.get(owner))
    dropped = {node.name.lower() for node in inner.args.get("except_") or ()}
    return None if pairs is None else [(name, kind) for name, kind in pairs if name not in dropped]


def is_natural(query: exp.Expr) -> bool:
    """Whether a join merges the columns of equal names (NATURAL)."""
    return any(join.args.get("method") for join in query.args.get("joins") or ())


def merges(name: str, query: exp.Expr) -> bool:
    """Whether a join merges the columns of this name, if both of its sides have one."""
    using = (node for join in query.args.get("joins") or () for node in join.args.get("using") or ())
    return is_natural(query) or any(node.name.lower() == name for node in using)


def hides_right_side(join: exp.Join) -> bool:
    """Whether only the ON of a join can name the columns of its right side: SEMI and ANTI."""
    return join.kind in ("SEMI", "ANTI")


def hidden_aliases(query: exp.Expr) -> set[str]:
    """The aliases of the right sides of SEMI and ANTI joins."""
    return {join.this.alias_or_name.lower() for join in query.args.get("joins") or () if hides_right_side(join)}


def _all(query: exp.Select, items: Mapping[str, Fields | None]) -> Pairs | None:
    """The columns of all FROM items. A join with USING puts the merged columns first."""
    source = query.args.get("from_")
    if source is None or is_natural(query):
        return None
    found = _columns(source.this, items)
    for join in query.args.get("joins") or ():
        right = _columns(join.this, items)
        if found is None or right is None:
            return None
        names = [node.name.lower() for node in join.args.get("using") or ()]
        if hides_right_side(join):
            right = []
        found = [*_merged(names, found, right), *_without(names, found), *_without(names, right)]
    for lateral in query.args.get("laterals") or ():
        generated = _columns(lateral, items)
        if found is None or generated is None:
            return None
        found = [*found, *generated]
    return found


def _columns(item: exp.Expr, items: Mapping[str, Fields | None]) -> Pairs | None:
    """The columns of a FROM item; None for joins in parentheses, and for PIVOT."""
    if item.args.get("joins") or item.args.get("pivots"):
        return None
    is_query = isinstance(item, exp.Subquery) and isinstance(item.unnest(), exp.Query | exp.Values)
    known = is_query or isinstance(item, exp.Table | exp.Values | exp.Lateral)
    return _of_item(items.get(item.alias_or_name.lower())) if known else None


def _of_item(fields: Fields | None) -> Pairs | None:
    return None if fields is None else list(fields.items())


def _merged(names: list[str], left: Pairs, right: Pairs) -> Iterator[tuple[str, HiveType | None]]:
    for name in names:
        kinds = {kind for found, kind in (*left, *right) if found == name}
        yield name, kinds.pop() if len(kinds) == 1 else None


def _without(names: list[str], pairs: Pairs) -> Pairs:
    return [(name, kind) for name, kind in pairs if name not in names]
