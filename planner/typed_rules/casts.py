"""CAST, and implicit conversions to text, where Hive's result differs from Spark's.

A BOOLEAN as text is TRUE or FALSE. Text is false if it is empty or one of `false`, `no`, `off` and `0`, and else true
(PrimitiveObjectInspectorUtils.getBoolean). Text that begins with year, month and day is a date, whatever follows; it is
a timestamp at midnight where no time of day can be read (DateParser, TimestampParser). A FLOAT becomes the DECIMAL that
its text shows.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Char, Decimal, HiveType, Varchar
from acidsql.planner.common_types import BOOLEAN, DATE, FLOAT, STRING, TIMESTAMP, is_text
from acidsql.planner.expression_types import ExpressionTypes

_FALSE: Final = ("", "false", "no", "off", "0")
_DAY: Final = r"(-?)([0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2})"
_DATE_OR_ALL: Final = rf"(?s)^(?:\s*{_DAY}.*|.*)$"
_ZERO_YEARS: Final = "$1000$2"
"""Spark requires four digits of a year and takes seven. Where no date was found, `000` is left, which is no date."""
_WITH_TIME: Final = rf"^\s*{_DAY}[ T][0-9]{{1,2}}:"
_TEXT_OF_DATE: Final = re.compile(r"\s*([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})")
_JOINS_TEXTS: Final = ("concat", "concat_ws")


def cast_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    match node:
        case exp.TryCast() if not node.args.get("safe") and not node.args.get("format"):
            return _cast(node, types.of(node.this), types.of(node))
        case exp.DPipe() if BOOLEAN in map(types.of, (node.this, node.expression)):
            return exp.DPipe(this=_shown(node.this, types), expression=_shown(node.expression, types), safe=True)
        case exp.Anonymous() if node.name.lower() in _JOINS_TEXTS and BOOLEAN in map(types.of, node.expressions):
            return exp.Anonymous(this=node.name, expressions=[_shown(e, types) for e in node.expressions])
        case _:
            return None


def _cast(node: exp.Cast, source: HiveType | None, target: HiveType | None) -> exp.Expr | None:
    operand = node.this
    match target:
        case Char() | Varchar() if source == BOOLEAN:
            return exp.TryCast(this=_upper(operand), to=node.to)
        case _ if target == STRING and source == BOOLEAN:
            return _upper(operand)
        case Decimal() if source == FLOAT:
            return exp.TryCast(this=exp.cast(operand, "string", copy=False), to=node.to)
        case _ if not is_text(source):
            return None
        case _ if target == BOOLEAN:
            return boolean_of_text(operand)
        case _ if target == DATE:
            return date_of_text(operand)
        case _ if target == TIMESTAMP:
            return timestamp_of_text(operand)
        case _:
            return None


def _shown(operand: exp.Expr, types: ExpressionTypes) -> exp.Expr:
    return _upper(operand) if types.of(operand) == BOOLEAN else operand


def _upper(boolean: exp.Expr) -> exp.Expr:
    return _call("upper", exp.cast(boolean, "string", copy=False))


def boolean_of_text(text: exp.Expr) -> exp.Expr:
    words = [exp.Literal.string(word) for word in _FALSE]
    return exp.Paren(this=exp.Not(this=exp.In(this=_call("lower", text), expressions=words)))


def date_of_text(text: exp.Expr) -> exp.Expr:
    """The date that a text begins with, or NULL. The date of a literal is a literal, by which files can be skipped."""
    if isinstance(text, exp.Literal):
        found = _TEXT_OF_DATE.match(str(text.this))
        try:
            day = found and date(*map(int, found.groups()))
        except ValueError:
            day = None
        if day is not None:
            return exp.Cast(this=exp.Literal.string(day.isoformat()), to=exp.DataType.build("date"))
    padded = _call("regexp_replace", text, exp.Literal.string(_DATE_OR_ALL), exp.Literal.string(_ZERO_YEARS))
    return exp.cast(padded, "date", copy=False)


def timestamp_of_text(text: exp.Expr) -> exp.Expr:
    """The timestamp that a text shows, else midnight of the date that it begins with, or NULL."""
    if isinstance(text, exp.Literal | exp.Column):
        return _timestamp_of(text)
    name = exp.to_identifier("@text", quoted=True)
    of_item = exp.Lambda(this=_timestamp_of(exp.Column(this=name)), expressions=[name.copy()])
    items = _call("transform", _call("array", text), of_item)
    return _call("element_at", items, exp.Literal.number(1))


def _timestamp_of(text: exp.Expr) -> exp.Expr:
    wall_clock = exp.DataType.Type.TIMESTAMPNTZ
    has_time = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_WITH_TIME))
    time = exp.case().when(has_time, exp.cast(text.copy(), wall_clock))
    return _call("coalesce", time, exp.cast(date_of_text(text.copy()), wall_clock))


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))
