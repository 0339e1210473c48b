"""CHAR and VARCHAR as Hive's expressions have them, where Spark has strings only.

A value that is cast to one is cut to its length, and the blanks at a CHAR's end do not count (HiveChar, HiveVarchar):
not in its column, which is read without them (spark/read.py), and not in a literal that it is compared with, which Hive
takes for a CHAR (TypeCheckProcFactory); seen on Hive 4.0.1 for the comparisons here and not for BETWEEN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)


def cut_casts(tree: exp.Query) -> None:
    """CAST(x AS VARCHAR(3)) made to cut; one inside an array or the like stays as it is. What the query gives keeps its
    name."""
    for cast in _sized_casts(tree):
        _keep_name(cast)
    for cast in reversed(_sized_casts(tree)):  # the inner ones first
        is_char, length = cast.to.this == exp.DataType.Type.CHAR, _length(cast.to)
        cast.set("to", exp.DataType.build("string"))
        cut = exp.func("substring", cast.copy(), exp.Literal.number(1), exp.Literal.number(length))
        cast.replace(exp.Anonymous(this="rtrim", expressions=[cut]) if is_char else cut)


def _sized_casts(tree: exp.Expr) -> list[exp.Cast]:
    return [cast for cast in tree.find_all(exp.Cast) if _length(cast.to) is not None]


def _keep_name(node: exp.Expr) -> None:
    """A column of a SELECT without a name goes by its text."""
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and not isinstance(node, exp.Alias):
        node.replace(exp.alias_(node.copy(), to_spark(node), quoted=True))


def _length(kind: exp.DataType) -> str | None:
    if kind.this not in (exp.DataType.Type.CHAR, exp.DataType.Type.VARCHAR) or len(kind.expressions) != 1:
        return None
    return str(kind.expressions[0].name)


def trim_literals(columns: Iterable[exp.Column], is_char: Callable[[exp.Column], bool]) -> None:
    """Takes the blanks off the ends of literals that a CHAR column is compared with."""
    for column in columns:
        padded = [text for text in _compared(column) if text.is_string and str(text.this).endswith(" ")]
        if padded and is_char(column):
            for text in padded:
                text.set("this", str(text.this).rstrip(" "))


def _compared(column: exp.Column) -> Iterator[exp.Expr]:
    parent = column.parent
    if isinstance(parent, _COMPARISONS):
        yield parent.expression if parent.this is column else parent.this
    elif isinstance(parent, exp.In) and parent.this is column:
        yield from parent.expressions
