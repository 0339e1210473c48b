"""CAST, and implicit conversions to text, where Hive's result differs from Spark's.

A BOOLEAN as text is TRUE or FALSE. Text is false if it is empty or one of `false`, `no`, `off` and `0`, and else true
(PrimitiveObjectInspectorUtils.getBoolean). Text that begins with year, month and day is a date, whatever follows; it is
a timestamp at midnight where no time of day can be read (DateParser, TimestampParser). A FLOAT becomes the DECIMAL that
its text shows. Text of a DECIMAL has no exponent (HiveDecimal.toFormatString). Text of a TIMESTAMP WITH LOCAL TIME ZONE
ends in the zone (TimestampTZ). Bytes that are not UTF-8 become U+FFFD in text. Text is a number if Java's
Double.parseDouble takes it: `NaN`, but not `nan` or `inf`.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Char, Decimal, HiveType, Varchar
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_functions.intervals import INTERVAL
from acidsql.planner.expressions.hive_functions.template import filled
from acidsql.values.common_types import BINARY, BOOLEAN, DATE, DOUBLE, FLOAT, INSTANT, STRING, TIMESTAMP, is_text

_FALSE: Final = ("", "false", "no", "off", "0")
_DAY: Final = r"(-?)([0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2})(?![0-9])"
_DATE_OR_ALL: Final = rf"(?s)^(?:\s*{_DAY}.*|.*)$"
_ZERO_YEARS: Final = "$1000$2"
"""Pads the year to seven digits: Spark requires at least four and accepts up to seven. For a text without a date the
result is `000`, which is not a date."""
_TIME: Final = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}"
_WITH_TIME: Final = rf"^\s*{_DAY}(?: {_TIME}(?![0-9]|[.](?![0-9]))|T{_TIME}([.][0-9]+)?\s*$)"
"""A time of day has seconds. Behind a blank it may end in a time zone, which does not count."""
_EXACT: Final = rf"^\s*{_DAY}[ T]{_TIME}([.][0-9]+)?\s*$"
_TEXT_OF_DATE: Final = re.compile(r"\s*([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})(?![0-9])")
_NUMBER: Final = "[0-9]|NaN|Infinity"
"""Matches in every text that Java reads as a number, and does not match in other spellings of NaN and infinity."""
_NUMBER_OF_TEXT: Final = "acidsql_number_of_text"
"""Key in the `meta` of an expression that `number_of_text` made."""
_TIMESTAMP_OF_TEXT: Final = "acidsql_timestamp_of_text"
"""Key in the `meta` of an expression that `timestamp_of_text` made of a literal: its text."""
_LEAST_EXPONENT: Final = 7
"""The scale from which on Spark's text of a DECIMAL may have an exponent."""
_PLAIN: Final = (
    "IF(locate('E', s) = 0, s, concat(IF(left(s, 1) = '-', '-', ''), '0.',"
    " repeat('0', CAST(substring_index(s, 'E-', -1) AS INT) - 1),"
    " replace(replace(substring_index(s, 'E-', 1), '.', ''), '-', '')))"
)
_WITH_ZONE: Final = "concat(s, IF(locate('.', s) = 0, '.0', ''), ' ', current_timezone())"
_SECONDS: Final = (
    "((CAST(unix_date(CAST(t AS DATE)) AS DECIMAL(20, 0)) * 24 + hour(t)) * 60 + minute(t)) * 60"
    " + date_part('SECOND', t)"
)
_TIMESTAMP_OF_BOOLEAN: Final = (
    "CASE WHEN b THEN TIMESTAMP_NTZ '1970-01-01 00:00:00.001' WHEN NOT b THEN TIMESTAMP_NTZ '1970-01-01 00:00:00' END"
)
"""A BOOLEAN is a number of milliseconds (PrimitiveObjectInspectorUtils.getTimestamp)."""
_JOINS_TEXTS: Final = ("concat", "concat_ws", "quote")


def cast_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    match node:
        case exp.TryCast() if types.of(node) == STRING and is_interval(node.this, types):
            new = node.copy()
            new.this.meta[INTERVAL] = True
            return new
        case exp.TryCast() if not node.args.get("safe") and not node.args.get("format"):
            return _cast(node, types.of(node.this), types.of(node))
        case exp.DPipe():
            texts = _texts([node.this, node.expression], types)
            return None if texts is None else exp.DPipe(this=texts[0], expression=texts[1], safe=True)
        case exp.Anonymous() if node.name.lower() in _JOINS_TEXTS:
            texts = _texts(node.expressions, types)
            return None if texts is None else exp.Anonymous(this=node.name, expressions=texts)
        case _:
            return None


def is_interval(node: exp.Expr, types: ExpressionTypes) -> bool:
    """Whether an expression is the difference of two times."""
    operands = node.unnest()
    times = (DATE, TIMESTAMP)
    return isinstance(operands, exp.Sub) and types.of(operands.this) in times and types.of(operands.expression) in times


def _cast(node: exp.Cast, source: HiveType | None, target: HiveType | None) -> exp.Expr | None:
    operand = node.this
    match target:
        case Char() | Varchar() if (text := _text(operand, source)) is not None:
            return exp.TryCast(this=text, to=node.to)
        case Decimal() if (number := converted(operand, source, target)) is not None:
            return exp.TryCast(this=number, to=node.to)
        case _:
            return converted(operand, source, target)


def converted(operand: exp.Expr, source: HiveType | None, target: HiveType | None) -> exp.Expr | None:
    """A value that Spark casts to `target` with Hive's result; None where that is the operand itself."""
    match target:
        case _ if target == STRING:
            return _text(operand, source)
        case Decimal() if source == TIMESTAMP:
            return seconds_of_timestamp(operand)
        case _ if target == TIMESTAMP and source == BOOLEAN:
            return filled(_TIMESTAMP_OF_BOOLEAN, {"b": operand})
        case Decimal() if source == FLOAT:
            return exp.cast(operand, "string", copy=False)
        case _ if not is_text(source):
            return None
        case _ if target in (FLOAT, DOUBLE):
            return number_of_text(operand, str(target))
        case _ if target == BOOLEAN:
            return boolean_of_text(operand)
        case _ if target == DATE:
            return date_of_text(operand)
        case _ if target == TIMESTAMP:
            return timestamp_of_text(operand)
        case _:
            return None


def _texts(values: list[exp.Expr], types: ExpressionTypes) -> list[exp.Expr] | None:
    """The values, converted to text where Spark's text differs from Hive's; None if no value needs a conversion."""
    texts = [_text(value, types.of(value)) for value in values]
    return [text or value for text, value in zip(texts, values, strict=True)] if any(texts) else None


def _text(value: exp.Expr, kind: HiveType | None) -> exp.Expr | None:
    """The text of a value; None where Spark's text is the same."""
    match kind:  # copies a value only where it is converted: a copy in each level of a long chain would be quadratic
        case Decimal(_, scale) if scale >= _LEAST_EXPONENT:
            return filled(_PLAIN, {"s": exp.cast(value.copy(), "string", copy=False)})
        case _ if kind == BOOLEAN:
            return _call("upper", exp.cast(value.copy(), "string", copy=False))
        case _ if kind == BINARY:
            return _call("make_valid_utf8", exp.cast(value.copy(), "string", copy=False))
        case _ if kind == INSTANT:
            return filled(_WITH_ZONE, {"s": exp.cast(value.copy(), "string", copy=False)})
        case _:
            return None


def seconds_of_timestamp(value: exp.Expr) -> exp.Expr:
    """The seconds from 1970-01-01 00:00:00 to a TIMESTAMP, as a DECIMAL (TimestampWritableV2.getHiveDecimal)."""
    return filled(_SECONDS, {"t": exp.cast(value.copy(), exp.DataType.Type.TIMESTAMPNTZ)})


def number_of_text(text: exp.Expr, kind: str = "double") -> exp.Expr:
    """The DOUBLE or FLOAT that a text shows, or NULL."""
    number = exp.cast(text.copy(), kind)
    if isinstance(text, exp.Literal):
        return number if re.search(_NUMBER, str(text.this)) else exp.cast(exp.null(), kind)
    found = filled(f"IF(t RLIKE '{_NUMBER}', CAST(t AS {kind.upper()}), NULL)", {"t": text.copy()})
    found.meta[_NUMBER_OF_TEXT] = True
    return found


def is_number_of_text(node: exp.Expr) -> bool:
    """Whether `number_of_text` made an expression of a value that is not a literal."""
    return bool(node.meta.get(_NUMBER_OF_TEXT))


def text_of_number(node: exp.Expr) -> exp.Column | None:
    """The column whose text `number_of_text` shows as a DOUBLE; None for another expression."""
    number = node.find(exp.Cast) if node.meta.get(_NUMBER_OF_TEXT) else None
    is_double = number is not None and number.to.this == exp.DataType.Type.DOUBLE
    return number.this if number is not None and is_double and isinstance(number.this, exp.Column) else None


def boolean_of_text(text: exp.Expr) -> exp.Expr:
    words = [exp.Literal.string(word) for word in _FALSE]
    return exp.Paren(this=exp.Not(this=exp.In(this=_call("lower", text), expressions=words)))


def date_of_text(text: exp.Expr) -> exp.Expr:
    """The date that a text begins with, or NULL. The date of a literal is a literal too, by which scans can skip
    files."""
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
        found = _timestamp_of(text)
        if isinstance(text, exp.Literal):
            found.meta[_TIMESTAMP_OF_TEXT] = str(text.this)
        return found
    name = exp.to_identifier("@text", quoted=True)
    of_item = exp.Lambda(this=_timestamp_of(exp.Column(this=name)), expressions=[name.copy()])
    items = _call("transform", _call("array", text), of_item)
    return _call("element_at", items, exp.Literal.number(1))


def text_of_timestamp(node: exp.Expr) -> str | None:
    """The literal whose text `timestamp_of_text` shows as a timestamp; None for another expression."""
    return node.meta.get(_TIMESTAMP_OF_TEXT)


def exact_timestamp_of_text(text: exp.Expr) -> exp.Expr:
    """The timestamp that a text shows if it consists of a date and a time of day, or NULL."""
    pattern = exp.Literal.string(_EXACT)
    return filled("CASE WHEN t RLIKE p THEN CAST(t AS TIMESTAMP_NTZ) END", {"t": text, "p": pattern})


def _timestamp_of(text: exp.Expr) -> exp.Expr:
    wall_clock = exp.DataType.Type.TIMESTAMPNTZ
    has_time = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_WITH_TIME))
    time = exp.case().when(has_time, exp.cast(text.copy(), wall_clock))
    return _call("coalesce", time, exp.cast(date_of_text(text.copy()), wall_clock))


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))
