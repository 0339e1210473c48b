"""Expressions that mean one thing in Hive and another one in Spark, made to mean Hive's. Seen on Hive 4.0.1.

CHAR and VARCHAR: a value that is cast to one is cut to its length, and the blanks at a CHAR's end do not count
(HiveChar, HiveVarchar): not in its column, which is read without them (spark/read.py), and not in a literal that it is
compared with, which Hive takes for a CHAR (TypeCheckProcFactory), but in BETWEEN. greatest and least are NULL where an
argument is. stddev, std and variance are those of the population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_RENAMED: Final = {"stddev": "stddev_pop", "std": "stddev_pop", "variance": "var_pop"}
_STRICT: Final = ("greatest", "least")


def rewrite(tree: exp.Query) -> None:
    """Of what the query itself says; CAST to an array of CHARs or the like stays as it is. What the query gives keeps
    its name."""
    for node in _others(tree):
        _keep_name(node)
    for node in sorted(_others(tree), key=lambda found: -found.depth):  # the inner ones first
        node.replace(_as_in_hive(node))


def _others(tree: exp.Query) -> list[exp.Cast | exp.Anonymous]:
    sized = [cast for cast in tree.find_all(exp.Cast) if sized_length(cast.to) is not None]
    return [*sized, *filter(_is_other, tree.find_all(exp.Anonymous))]


def _is_other(call: exp.Anonymous) -> bool:
    """A subquery stands where it is: asked twice, it would be read twice."""
    name = call.name.lower()
    return name in _RENAMED or (name in _STRICT and len(call.expressions) > 1 and call.find(exp.Query) is None)


def _as_in_hive(node: exp.Cast | exp.Anonymous) -> exp.Expr:
    if isinstance(node, exp.Cast):
        return _cut(node)
    name = _RENAMED.get(node.name.lower())
    if name is not None:
        return exp.Anonymous(this=name, expressions=[e.copy() for e in node.expressions])
    return _strict(node)


def _strict(call: exp.Anonymous) -> exp.Expr:
    missing = [exp.Is(this=e.copy(), expression=exp.null()) for e in call.expressions if not isinstance(e, exp.Literal)]
    return exp.case().when(exp.or_(*missing), exp.null()).else_(call.copy()) if missing else call.copy()


def _cut(cast: exp.Cast) -> exp.Expr:
    to_string = cast.copy()
    to_string.set("to", exp.DataType.build("string"))
    cut = exp.func("substring", to_string, exp.Literal.number(1), exp.Literal.number(sized_length(cast.to)))
    return exp.Anonymous(this="rtrim", expressions=[cut]) if cast.to.this == exp.DataType.Type.CHAR else cut


def _keep_name(node: exp.Expr) -> None:
    """A column of a SELECT without a name goes by its text."""
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and not isinstance(node, exp.Alias):
        node.replace(exp.alias_(node.copy(), to_spark(node), quoted=True))


def sized_length(kind: exp.DataType) -> str | None:
    """Of CHAR(n) and VARCHAR(n)."""
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
