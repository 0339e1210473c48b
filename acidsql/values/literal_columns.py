"""Literals as the values that a column stores, where Hive's store assignment leaves no doubt.

A value that must be converted with a loss, that is out of range, or whose text has more than one reading is UNKNOWN:
the query engine computes it. So is a column whose literals are of several types, which VALUES first brings to one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid import hive_types as t
from acidsql.acid.hive_types import FIRST_GREGORIAN_DAY, MOST_DIGITS
from acidsql.values.literals import UNKNOWN, day_of, fraction_digits

FIRST_TIMESTAMP: Final = datetime(1970, 1, 1)
"""The first values in a file of pyarrow that every reader understands in one way (spark/write/driver_write.py)."""
_BITS: Final = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_DIGITS: Final = re.compile(r"[0-9]{1,38}")
_POINT: Final = re.compile(r"(?=[0-9.]{2,39}$)(?:[0-9]+\.[0-9]*|\.[0-9]+)")
_DOUBLE: Final = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,3}")
_SUFFIX: Final = re.compile(r"(?:BD|D|L)$", re.IGNORECASE)
"""The suffixes of DECIMAL, DOUBLE and BIGINT literals."""
_INTEGER_TEXT: Final = re.compile(r"-?[0-9]{1,18}")
_NUMBER_TEXT: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?")
_LONG: Final = 1 << 63
_DIGITS_OF_BIGINT: Final = 20
"""Digits before the point that a BIGINT has as a DECIMAL in Spark."""
_EXACT_IN_DOUBLE: Final = 1 << 53
_EXACT_IN_FLOAT: Final = 1 << 24
_DIGITS_OF_FLOAT: Final = 7
"""Up to so many digits, of which as many may be behind the point, rounding to DOUBLE and then to FLOAT is rounding to
FLOAT: no such number is close enough to the middle between two FLOATs."""
_HIGHEST_FLOAT: Final = 1e38
_TIMES: Final = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPNTZ)
"""The types of a literal TIMESTAMP '..', which is wall-clock time if its text has no zone."""


class Kind(Enum):
    """The type of a literal."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"


Typed: TypeAlias = "tuple[Kind, object]"
_OTHER: Final[Typed] = (Kind.OTHER, None)
_NUMBERS: Final = {Kind.INTEGER, Kind.DECIMAL}


def stored_column(trees: Iterable[exp.Expr], target: t.HiveType) -> list[object] | None:
    """The values that a column of the type `target` stores for the literals of all rows; None if one of them is not
    certain."""
    found = [literal(tree) for tree in trees]
    kinds = {kind for kind, _ in found} - {Kind.NULL}
    if not _has_one_type(kinds, found):
        return None
    stores = {kind: _storing(kind, target, kinds) for kind in kinds}
    values: list[object] = []
    for kind, value in found:
        stored = None if kind is Kind.NULL else stores[kind](value)
        if stored is UNKNOWN:
            return None
        values.append(stored)
    return values


def _has_one_type(kinds: set[Kind], found: Sequence[Typed]) -> bool:
    """Whether the type to which VALUES brings all rows holds each of them unchanged."""
    if Kind.OTHER in kinds:
        return False
    if Kind.DECIMAL not in kinds:
        return len(kinds) <= 1
    decimals = [value for kind, value in found if kind is Kind.DECIMAL and isinstance(value, Decimal)]
    scale = max(fraction_digits(value) for value in decimals)
    whole = max(len(value.as_tuple().digits) - fraction_digits(value) for value in decimals)
    before = max(whole, _DIGITS_OF_BIGINT) if Kind.INTEGER in kinds else max(whole, 1)
    return kinds <= _NUMBERS and before + scale <= MOST_DIGITS


# ------------------------------------------------------------------------------------------------ literals


def literal(node: exp.Expr) -> Typed:
    """The type and the value of a literal.

    >>> import sqlglot
    >>> literal(sqlglot.parse_one("-1.50"))
    (<Kind.DECIMAL: 'decimal'>, Decimal('-1.50'))
    >>> literal(exp.Literal.number("1.50D"))
    (<Kind.DOUBLE: 'double'>, 1.5)
    """
    match node:
        case exp.Literal(is_string=True):
            return _text(str(node.this))
        case exp.Literal():
            return _number(str(node.this))
        case exp.Null():
            return Kind.NULL, None
        case exp.Boolean():
            return Kind.BOOLEAN, bool(node.this)
        case exp.Paren():
            return literal(node.this)
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return _negative(*_number(str(number.this)))
        case exp.Cast(this=exp.Literal(is_string=True) as text):
            return _time(str(text.this), node.to)
        case _:
            return _OTHER


def is_null(node: exp.Expr) -> bool | None:
    """Whether a literal is NULL; None for an expression, which has its value only when it runs.

    >>> import sqlglot
    >>> [is_null(sqlglot.parse_one(text)) for text in ("NULL", "-99999999999999999999", "1 + x")]
    [True, False, None]
    """
    match literal(node)[0], node.unnest():
        case Kind.NULL, _:
            return True
        case Kind.OTHER, exp.Literal() | exp.Neg(this=exp.Literal()):
            return False
        case Kind.OTHER, _:
            return None
        case _:
            return False


def _text(text: str) -> Typed:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _OTHER
    return Kind.STRING, text


def _number(text: str) -> Typed:
    suffix = _SUFFIX.search(text)
    number = text if suffix is None else text[: suffix.start()]
    kind = _kind_of_number(number)
    match kind, "" if suffix is None else suffix.group().upper():
        case Kind.INTEGER, "" | "L":
            whole = int(number)
            return (kind, whole) if whole < _LONG else _OTHER
        case (Kind.DECIMAL, "" | "BD") | (Kind.INTEGER, "BD"):
            return Kind.DECIMAL, Decimal(number)
        case (Kind.DOUBLE, "") | (Kind.INTEGER | Kind.DECIMAL | Kind.DOUBLE, "D"):
            return _double(float(number))
        case _:
            return _OTHER


def _kind_of_number(text: str) -> Kind:
    """The type of a number without a suffix, by its form."""
    forms = ((_DIGITS, Kind.INTEGER), (_POINT, Kind.DECIMAL), (_DOUBLE, Kind.DOUBLE))
    return next((kind for form, kind in forms if form.fullmatch(text)), Kind.OTHER)


def _negative(kind: Kind, number: object) -> Typed:
    match number:
        case Decimal():
            return kind, number.copy_negate() if number else abs(number)  # a DECIMAL has no -0
        case int() | float():
            return kind, -number
        case _:
            return _OTHER


def _double(number: float) -> Typed:
    return (Kind.DOUBLE, number) if math.isfinite(number) else _OTHER


def _time(text: str, kind: exp.DataType) -> Typed:
    if kind.this == exp.DataType.Type.DATE:
        day = day_of(text)
        return (Kind.DATE, day) if isinstance(day, date) else _OTHER
    if kind.this in _TIMES:
        at = _timestamp_of(text)
        return (Kind.TIMESTAMP, at) if isinstance(at, datetime) else _OTHER
    return _OTHER


def _timestamp_of(text: str) -> object:
    try:
        return datetime.fromisoformat(text) if _TIMESTAMP.fullmatch(text) else UNKNOWN
    except ValueError:
        return UNKNOWN


# ------------------------------------------------------------------------------------------------ store assignment

_Store: TypeAlias = Callable[[object], object]


def _storing(kind: Kind, target: t.HiveType, kinds: set[Kind]) -> _Store:
    """The function that gives a literal as the column stores it, or UNKNOWN."""
    match kind, target:
        case Kind.INTEGER, t.Primitive(name) if name in _BITS:
            return lambda value: _in_range(value, _BITS[name])
        case ((Kind.INTEGER | Kind.DECIMAL), t.Decimal(precision, scale)):
            return lambda value: _as_decimal(value, precision, scale)
        case Kind.INTEGER, t.Primitive("string") | t.Varchar() | t.Char() if kinds == {Kind.INTEGER}:
            return str
        case Kind.INTEGER, t.Primitive("double"):
            return lambda value: _whole_float(value, _EXACT_IN_DOUBLE)
        case Kind.INTEGER, t.Primitive("float"):
            return lambda value: _whole_float(value, _EXACT_IN_FLOAT)
        case Kind.DECIMAL, t.Primitive("double"):
            return lambda value: float(str(value))
        case Kind.DECIMAL, t.Primitive("float"):
            return _short_float
        case Kind.DOUBLE, t.Primitive("double"):
            return lambda value: value
        case Kind.DOUBLE, t.Primitive("float"):
            return lambda value: value if isinstance(value, float) and abs(value) < _HIGHEST_FLOAT else UNKNOWN
        case Kind.STRING, _:
            return _of_text(target)
        case Kind.BOOLEAN, t.Primitive("boolean"):
            return lambda value: value
        case Kind.DATE, t.Primitive("date"):
            return _known_date
        case Kind.TIMESTAMP, t.Primitive("timestamp"):
            return _known_timestamp
        case _:
            return lambda _: UNKNOWN


def _of_text(target: t.HiveType) -> _Store:
    match target:
        case t.Primitive("string") | t.Varchar() | t.Char():
            return lambda value: value
        case t.Primitive("binary"):
            return lambda value: str(value).encode()
        case t.Primitive(name) if name in _BITS:
            return lambda value: _in_range(int(str(value)), _BITS[name]) if _is(_INTEGER_TEXT, value) else UNKNOWN
        case t.Primitive("double"):
            return lambda value: float(str(value)) if _is(_NUMBER_TEXT, value) else UNKNOWN
        case t.Decimal(precision, scale):
            return lambda value: (
                _as_decimal(Decimal(str(value)), precision, scale) if _is(_NUMBER_TEXT, value) else UNKNOWN
            )
        case t.Primitive("date"):
            return lambda value: _known_date(day_of(str(value)))
        case t.Primitive("timestamp"):
            return lambda value: _known_timestamp(_timestamp_of(str(value)))
        case _:
            return lambda _: UNKNOWN


def _is(pattern: re.Pattern[str], value: object) -> bool:
    return pattern.fullmatch(str(value)) is not None


def _in_range(value: object, bits: int) -> object:
    return value if isinstance(value, int) and -(1 << bits) <= value < 1 << bits else UNKNOWN


def _as_decimal(value: object, precision: int, scale: int) -> object:
    """The number, if it has no more digits than the column."""
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    whole = abs(int(number)) < 10 ** (precision - scale)
    return number if whole and fraction_digits(number) <= scale else UNKNOWN


def _whole_float(value: object, limit: int) -> object:
    return float(value) if isinstance(value, int) and abs(value) <= limit else UNKNOWN


def _short_float(value: object) -> object:
    if not isinstance(value, Decimal) or fraction_digits(value) > _DIGITS_OF_FLOAT:
        return UNKNOWN
    return float(str(value)) if len(value.as_tuple().digits) <= _DIGITS_OF_FLOAT else UNKNOWN


def _known_date(value: object) -> object:
    return value if isinstance(value, date) and value >= FIRST_GREGORIAN_DAY else UNKNOWN


def _known_timestamp(value: object) -> object:
    return value if isinstance(value, datetime) and value >= FIRST_TIMESTAMP else UNKNOWN
