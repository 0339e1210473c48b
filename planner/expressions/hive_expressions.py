"""Rewrites expressions that differ between Hive and Spark, so that Spark computes Hive's result (Hive 4.0.1).

CHAR and VARCHAR: a cast cuts the value to the type's length. Trailing blanks of a CHAR do not count (HiveChar,
HiveVarchar): the scan strips them from CHAR columns (spark/scan/file_columns.py), and typed_rules/comparisons.py strips
them from literals that are compared with a CHAR column. The package `hive_functions` has the rules of functions and
operators.
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.hashes import CUT
from acidsql.planner.expressions.hive_functions.rule_table import differing, rewritten
from acidsql.planner.expressions.item_names import keep_name


def rewrite(tree: exp.Query) -> None:
    """Rewrites the expressions of a query in place. Its output columns keep their names. A CAST to a nested type that
    contains CHAR stays as it is."""
    differences = _differing(tree)
    for node in differences:
        keep_name(node)
    for node in sorted(differences, key=lambda found: -found.depth):  # the inner ones first
        node.replace(_cut(node) if _is_sized(node) else rewritten(node))


def _differing(tree: exp.Query) -> list[exp.Expr]:
    return [*filter(_is_sized, tree.find_all(exp.Cast)), *differing(tree)]


def _is_sized(node: exp.Expr) -> TypeGuard[exp.Cast]:
    return isinstance(node, exp.Cast) and sized_length(node.to) is not None and node.args.get("format") is None


def _cut(cast: exp.Cast) -> exp.Expr:
    to_string = cast.copy()
    to_string.set("to", exp.DataType.build("string"))
    cut = exp.func("substring", to_string, exp.Literal.number(1), exp.Literal.number(sized_length(cast.to)))
    new = exp.Anonymous(this="rtrim", expressions=[cut]) if cast.to.this == exp.DataType.Type.CHAR else cut
    new.meta[CUT] = True
    return new


def sized_length(kind: exp.DataType) -> str | None:
    """The length of CHAR(n) and VARCHAR(n); None for another type."""
    if kind.this not in (exp.DataType.Type.CHAR, exp.DataType.Type.VARCHAR) or len(kind.expressions) != 1:
        return None
    return str(kind.expressions[0].name)
