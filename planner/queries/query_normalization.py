"""Normalizes the tree of a query before its names are resolved: what sqlglot's scopes or Spark would misread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import frame_of
from acidsql.planner.expressions.hive_functions.other_names import CASTS
from acidsql.planner.expressions.item_names import keep_name
from acidsql.planner.queries.hive_syntax import rewrite_syntax
from acidsql.planner.queries.values_queries import select_late_rows

ROW_ID_COLUMN: Final = "row__id"
ROW_ID_FIELDS: Final = ("writeid", "bucketid", "rowid")
_CASTS: Final = {
    **CASTS,
    **{name: name for name in ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")},
    **{name: name for name in ("string", "date", "timestamp")},
}
"""Functions that CAST calls, each with its type (FunctionRegistry)."""


def normalized(tree: exp.Query) -> exp.Query:
    """The tree, changed in place, or a query around it."""
    _lower_names(tree)
    _unnest_row_id_fields(tree)
    rewrite_syntax(tree)
    _write_casts(tree)
    tree = select_late_rows(tree)
    _type_bare_nulls(tree)
    tree = _lift_values(tree)
    _name_items(tree)
    return tree


def _name_items(tree: exp.Query) -> None:
    """Names the unnamed FROM items if there are several: sqlglot's scopes would take them for one item."""
    for query in tree.find_all(exp.Select):
        clauses = [query.args.get("from_"), *(query.args.get("joins") or ())]
        unnamed = [clause.this for clause in clauses if clause is not None and _has_no_name(clause.this)]
        for number, item in enumerate(unnamed if len(unnamed) > 1 else (), start=1):
            item.set("alias", exp.TableAlias(this=exp.to_identifier(f"@item{number}", quoted=True)))


def _has_no_name(item: exp.Expr) -> bool:
    """Whether a FROM item needs a name. Parentheses around tables need none: the names in them are visible outside."""
    if item.alias:
        return False
    match item:
        case exp.Subquery():
            return isinstance(item.unnest(), exp.Query | exp.Values)
        case exp.Table():
            return not isinstance(item.this, exp.Identifier)
        case _:
            return isinstance(item, exp.Values | exp.Lateral)


def _lower_names(tree: exp.Query) -> None:
    """Lowers the names of tables, CTEs and aliases: Hive ignores case, sqlglot's scopes do not."""
    for node in tree.find_all(exp.Table, exp.TableAlias, exp.Column):
        keys = ("db", "table") if isinstance(node, exp.Column) else ("this", "db")
        for name in (node.args.get(key) for key in keys):
            if isinstance(name, exp.Identifier):
                name.set("this", name.name.lower())
        if isinstance(node, exp.Table) and frame_of(node) is not None:
            _name_frame(node)


def _name_frame(node: exp.Table) -> None:
    """Gives the frame `{x}` the alias x and a name that no CTE has."""
    if not node.alias:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
    node.set("this", exp.to_identifier(f"{node.name}@frame", quoted=True))


def _unnest_row_id_fields(tree: exp.Expr) -> None:
    """Makes `row__id.writeid` a field of the column row__id, and `row__id.*` all its fields: sqlglot parses both as
    columns of a table row__id."""
    for node in list(tree.find_all(exp.Column)):
        names = [p.name.lower() for p in node.parts]
        if ROW_ID_COLUMN not in names[:-1]:
            continue
        at = names.index(ROW_ID_COLUMN)
        if isinstance(node.this, exp.Star) and isinstance(node.parent, exp.Select):
            items = [_row_id_field(node.parts, at, [exp.to_identifier(name)]) for name in ROW_ID_FIELDS]
            node.parent.set("expressions", [i for e in node.parent.expressions for i in (items if e is node else [e])])
        else:
            node.replace(_row_id_field(node.parts, at, node.parts[at + 1 :]))


def _row_id_field(parts: Sequence[exp.Expr], at: int, names: Sequence[exp.Expr]) -> exp.Expr:
    field: exp.Expr = exp.Column(this=parts[at].copy(), table=parts[at - 1].copy() if at else None)
    for name in names:
        field = exp.Dot(this=field, expression=name.copy())
    return field


def _write_casts(tree: exp.Expr) -> None:
    """Writes casts that are calls of functions, such as `string(x)`, as CAST: Hive has one function for both."""
    for node in list(tree.find_all(exp.Anonymous)):
        kind = _CASTS.get(node.name.lower())
        if kind is not None and len(node.expressions) == 1:
            keep_name(node)
            node.replace(exp.TryCast(this=node.expressions[0], to=exp.DataType.build(kind)))


def _type_bare_nulls(tree: exp.Query) -> None:
    """Casts a condition that is only NULL to BOOLEAN: Spark requires a condition to have a type."""
    for clause in tree.find_all(exp.Where, exp.Having, exp.Join):
        key = "on" if isinstance(clause, exp.Join) else "this"
        condition = clause.args.get(key)
        if condition is not None and isinstance(condition.unnest(), exp.Null):
            clause.set(key, exp.cast(exp.null(), "boolean"))


def _lift_values(tree: exp.Query) -> exp.Query:
    """Rewrites VALUES to SELECT * FROM VALUES: sqlglot has no scope for VALUES alone."""
    return exp.select("*").from_(tree) if isinstance(tree, exp.Values) else tree
