"""Columns that `*` does not give, though the views of scans have them: row__id and the like.

Spark 4 has `* EXCEPT (..)` for it. Spark 3.5 lacks that: there the star is spelled as the names of the other columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.expressions.star_columns import hides_right_side, is_natural

_SPELLED: Final = "On Spark 3.5, `*` without some columns over a join with USING or NATURAL, a pivot or a query"


def hide_columns(
    query: exp.Select, hidden: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[str]] | None
) -> None:
    """Excludes the hidden columns of FROM items from the stars in the SELECT list of `query`. `hidden` has their names
    by the alias of the item. `columns` has the names of the other columns of tables, where Spark lacks `* EXCEPT`.

    Raises NOT_YET_SUPPORTED for a star that cannot be spelled.
    """
    for star in list(query.find_all(exp.Star)):
        if star.parent_select is not query or is_counted(star):
            continue
        owner = star.parent.table if isinstance(star.parent, exp.Column) else ""
        names = [n for alias, ns in hidden.items() if owner in ("", alias) for n in ns]
        kept = star.args.get("except_") or []
        if columns is not None and (names or kept):
            _spell(star, owner, query, columns, {node.name.lower() for node in kept})
        elif names:
            star.set("except_", [*kept, *map(_quoted, names)])


def is_counted(star: exp.Star) -> bool:
    """Whether the star is that of COUNT(*), which Spark does not expand."""
    parent = star.parent
    return isinstance(parent, exp.Count) or (isinstance(parent, exp.Anonymous) and parent.name.lower() == "count")


def _spell(
    star: exp.Star, owner: str, query: exp.Select, columns: Mapping[str, Sequence[str]], dropped: set[str]
) -> None:
    """Replaces a star by columns: all but those dropped, whose names are in lower case."""
    found: list[exp.Expr] = []
    for item in [owner] if owner else _items(query):
        if item in columns:
            kept = (name for name in columns[item] if name.lower() not in dropped)
            found += [exp.Column(this=_quoted(name), table=_quoted(item)) for name in kept]
        elif dropped:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=_SPELLED)
        else:
            found.append(exp.Column(this=exp.Star(), table=_quoted(item)))
    spelled = star.parent if owner else star
    assert spelled is not None
    spelled.replace(found)


def _items(query: exp.Select) -> list[str]:
    """The aliases of the FROM items whose columns `*` gives, in order. Raises NOT_YET_SUPPORTED."""
    source, joins = query.args.get("from_"), query.args.get("joins") or ()
    nodes = [source.this, *(join.this for join in joins if not hides_right_side(join))] if source is not None else []
    merged = is_natural(query) or any(join.args.get("using") for join in joins)
    if merged or any(node.args.get("joins") or node.args.get("pivots") for node in nodes):
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=_SPELLED)
    return [node.alias_or_name for node in (*nodes, *(query.args.get("laterals") or ()))]


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
