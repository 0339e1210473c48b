"""Text of a frame beside a CHAR value: blanks at its end do not count.

A reader gives the values of a CHAR column with their blanks, and a frame keeps no type of Hive: what was read from a
table, and is given back as a frame, is text. Beside a CHAR value it is compared as a CHAR, so that a row which was read
is found again. Text of a table's STRING column keeps its blanks, as in Hive.
"""

from __future__ import annotations

from sqlglot import exp

from acidsql.acid.hive_types import Char, HiveType
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.star_columns import Fields, is_natural
from acidsql.values.common_types import FRAME_TEXT


def is_padded(kind: HiveType | None, beside: HiveType | None) -> bool:
    """Whether a value of the type `kind` is text of a frame, and is beside a CHAR value."""
    return kind is FRAME_TEXT and isinstance(beside, Char)


def without_blanks(text: exp.Expr) -> exp.Expr:
    """A copy of a text without the blanks at its end."""
    return exp.Anonymous(this="rtrim", expressions=[text.copy()])


def convert_joins(tree: exp.Query, types: ExpressionTypes) -> None:
    """Takes the blanks from the frames' columns that a join with USING, or a NATURAL join, merges with CHAR columns."""
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for query in list(tree.find_all(exp.Select)):
        joins = query.args.get("joins") or ()
        source = query.args.get("from_")
        if source is None or not (is_natural(query) or any(join.args.get("using") for join in joins)):
            continue
        items = [source.this, *(join.this for join in joins)]
        fields = [{} if item.name.lower() in ctes else types.fields_of(item) or {} for item in items]
        merged = {node.name.lower() for join in joins for node in join.args.get("using") or ()}
        if is_natural(query):
            merged = {name for of in fields for name in of}
        chars = {name for name in merged if any(isinstance(of.get(name), Char) for of in fields)}
        for item, of in zip(items, fields, strict=True):
            if any(of.get(name) is FRAME_TEXT for name in chars):
                item.replace(_trimmed(item, of, chars))


def _trimmed(item: exp.Expr, fields: Fields, names: set[str]) -> exp.Expr:
    """The FROM item as a subquery in which columns have no blanks at the end."""
    columns = []
    for name, kind in fields.items():
        column = exp.column(name, quoted=True)
        is_trimmed = name in names and kind is FRAME_TEXT
        columns.append(exp.alias_(without_blanks(column), name, quoted=True) if is_trimmed else column)
    alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name, quoted=True))
    return exp.Subquery(this=exp.select(*columns).from_(item.copy()), alias=alias)
