"""Rewrites expressions that differ between Hive and Spark, so that Spark computes Hive's result (Hive 4.0.1).

CHAR and VARCHAR: a cast cuts the value to the type's length. Trailing blanks of a CHAR do not count (HiveChar,
HiveVarchar): the scan strips them from CHAR columns (spark/scan/file_columns.py), and this module strips them from
literals that are compared with a CHAR column, which Hive converts to CHAR (TypeCheckProcFactory). Hive does not do so
in BETWEEN. greatest and least return NULL if an argument is NULL. stddev, std and variance are those of the population.

Hive's TIMESTAMP is wall-clock time, and its functions return wall-clock times in the session's time zone. Spark's
functions of the same names return instants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import to_spark

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_RENAMED: Final = {"stddev": "stddev_pop", "std": "stddev_pop", "variance": "var_pop"}
_STRICT: Final = ("greatest", "least")
_NOW: Final = ("current_timestamp", "now")
_UTC: Final = exp.Literal.string("UTC")
_WALL_CLOCK: Final = exp.DataType.Type.TIMESTAMPNTZ
_INSTANT: Final = exp.DataType.Type.TIMESTAMPLTZ


def rewrite(tree: exp.Query) -> None:
    """Rewrites the expressions of a query in place. Its output columns keep their names. A CAST to a nested type that
    contains CHAR stays as it is."""
    for node in _differing(tree):
        _keep_name(node)
    for node in sorted(_differing(tree), key=lambda found: -found.depth):  # the inner ones first
        node.replace(_as_in_hive(node))


def _differing(tree: exp.Query) -> list[exp.Expr]:
    sized = [cast for cast in tree.find_all(exp.Cast) if sized_length(cast.to) is not None]
    return [*sized, *tree.find_all(exp.CurrentTimestamp), *filter(_is_differing, tree.find_all(exp.Anonymous))]


def _is_differing(call: exp.Anonymous) -> bool:
    """Whether Hive computes a call differently. The rewrite of greatest and least repeats their arguments, so it leaves
    subqueries alone, which Spark would read twice."""
    name = call.name.lower()
    if name in _STRICT:
        return len(call.expressions) > 1 and call.find(exp.Query) is None
    return name in _RENAMED or (name, len(call.expressions)) in _TIME_FUNCTIONS


def _as_in_hive(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.CurrentTimestamp):
        return _now([])
    if isinstance(node, exp.Cast):
        return _cut(node)
    assert isinstance(node, exp.Anonymous)
    name = node.name.lower()
    arguments = [e.copy() for e in node.expressions]
    if name in _RENAMED:
        return _call(_RENAMED[name], *arguments)
    return _strict(node) if name in _STRICT else _TIME_FUNCTIONS[name, len(arguments)](arguments)


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _now(_: list[exp.Expr]) -> exp.Expr:
    return _call("localtimestamp")


def _to_utc(arguments: list[exp.Expr]) -> exp.Expr:
    wall_clock, zone = arguments
    return _call("convert_timezone", zone, _UTC.copy(), exp.cast(wall_clock, _WALL_CLOCK))


def _from_utc(arguments: list[exp.Expr]) -> exp.Expr:
    wall_clock, zone = arguments
    return _call("convert_timezone", _UTC.copy(), zone, exp.cast(wall_clock, _WALL_CLOCK))


def _to_timestamp(arguments: list[exp.Expr]) -> exp.Expr:
    return exp.cast(arguments[0], _WALL_CLOCK)


def _seconds(arguments: list[exp.Expr]) -> exp.Expr:
    """unix_timestamp interprets a TIMESTAMP in the session's time zone. COALESCE with a NULL instant converts a
    TIMESTAMP to an instant and leaves text as it is."""
    value, *form = arguments
    if not (isinstance(value, exp.Literal) and value.is_string):
        value = _call("coalesce", value, exp.cast(exp.null(), _INSTANT))
    return _call("unix_timestamp", value, *form)


_TIME_FUNCTIONS: Final = {
    **{(name, 0): _now for name in _NOW},
    ("to_utc_timestamp", 2): _to_utc,
    ("from_utc_timestamp", 2): _from_utc,
    ("timestamp", 1): _to_timestamp,
    **{(name, count): _seconds for name in ("unix_timestamp", "to_unix_timestamp") for count in (1, 2)},
}
"""The rewrites of functions of time, by name and number of arguments."""


def _strict(call: exp.Anonymous) -> exp.Expr:
    missing = [exp.Is(this=e.copy(), expression=exp.null()) for e in call.expressions if not isinstance(e, exp.Literal)]
    return exp.case().when(exp.or_(*missing), exp.null()).else_(call.copy()) if missing else call.copy()


def _cut(cast: exp.Cast) -> exp.Expr:
    to_string = cast.copy()
    to_string.set("to", exp.DataType.build("string"))
    cut = exp.func("substring", to_string, exp.Literal.number(1), exp.Literal.number(sized_length(cast.to)))
    return exp.Anonymous(this="rtrim", expressions=[cut]) if cast.to.this == exp.DataType.Type.CHAR else cut


def _keep_name(node: exp.Expr) -> None:
    """Gives an unnamed item of a SELECT list its text as its alias."""
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    if isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and not isinstance(node, exp.Alias):
        node.replace(exp.alias_(node.copy(), to_spark(node), quoted=True))


def sized_length(kind: exp.DataType) -> str | None:
    """The length of CHAR(n) and VARCHAR(n); None for another type."""
    if kind.this not in (exp.DataType.Type.CHAR, exp.DataType.Type.VARCHAR) or len(kind.expressions) != 1:
        return None
    return str(kind.expressions[0].name)


def trim_literals(columns: Iterable[exp.Column], is_char: Callable[[exp.Column], bool]) -> None:
    """Strips trailing blanks from the literals that are compared with a CHAR column."""
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
