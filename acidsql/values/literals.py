"""SQL literals as Python values, which compare as Spark compares the literals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Char, Primitive, Varchar, parse_type
from acidsql.acid.hive_types import Decimal as DecimalType

UNKNOWN: Final = object()
"""A value that only Spark can determine."""
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
"""The text of an integer. Spark cuts the fraction of other texts, and Hive does not."""
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""The only form of a date that all readers interpret in the same way."""
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_PLAIN_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_MOST_DIGITS: Final = 15
"""The number of digits up to which different numbers are different DOUBLEs."""
_SUFFIX: Final = re.compile(r"(?<=[\d.])(bd|[lsy])$", re.IGNORECASE)
"""The type suffix of an exact number: 7Y, 7S, 7L, 1.50BD."""
_INEXACT: Final = re.compile(r"e", re.IGNORECASE)
"""The exponent of a DOUBLE literal, such as 1e3."""
_INTEGER_BITS: Final = {
    exp.DataType.Type.TINYINT: 8,
    exp.DataType.Type.SMALLINT: 16,
    exp.DataType.Type.INT: 32,
    exp.DataType.Type.BIGINT: 64,
}


def value_of(node: exp.Expr, values: Mapping[str, object]) -> object:
    """The value of a literal, or of a column that `values` names; UNKNOWN for any other expression."""
    match node:
        case exp.Paren():
            return value_of(node.this, values)
        case exp.Column():
            return values.get(node.name.lower(), UNKNOWN)
        case exp.Literal():
            return str(node.this) if node.is_string else _number(str(node.this))
        case exp.Neg():
            inner = value_of(node.this, values)
            # The operator `-` would round to 28 digits.
            return inner.copy_negate() if isinstance(inner, Decimal) else UNKNOWN
        case exp.Cast() if node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
            return day_of(str(node.this.this))
        case exp.Cast() if node.to.this in _INTEGER_BITS:
            return _integer(value_of(node.this, values), _INTEGER_BITS[node.to.this])
        case exp.Cast() if node.to.this == exp.DataType.Type.DECIMAL and len(node.to.expressions) == 2:
            return _decimal(value_of(node.this, values), *(int(size.name) for size in node.to.expressions))
        case exp.Cast() if node.to.this == exp.DataType.Type.DOUBLE:
            return _double(value_of(node.this, values))
        case exp.Null():
            return None
        case _:
            return UNKNOWN


def _number(text: str) -> object:
    is_exact = text[-2:].lower() == "bd" or not _INEXACT.search(text)
    return _exact(_SUFFIX.sub("", text)) if is_exact else UNKNOWN


def _integer(number: object, bits: int) -> object:
    """The number, if the cast does not change it; UNKNOWN for others, which Spark cuts or wraps."""
    fits = isinstance(number, Decimal) and number == int(number) and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    return number if fits else UNKNOWN


def _decimal(number: object, precision: int, scale: int) -> object:
    """The number, if the cast does not change it; UNKNOWN for others, which Spark rounds, and texts."""
    if not isinstance(number, Decimal):
        return UNKNOWN
    whole, fraction = number_digits(number)
    return number if whole <= precision - scale and fraction <= scale else UNKNOWN


def _double(value: object) -> object:
    """The exact number that a number or a text shows, if it has so few digits that it compares like the DOUBLE."""
    if isinstance(value, str):
        value = _exact(value) if _PLAIN_NUMBER.fullmatch(value) else UNKNOWN
    if isinstance(value, Decimal):
        has_few_digits = len(value.as_tuple().digits) <= _MOST_DIGITS and abs(fraction_digits(value)) <= _MOST_DIGITS
        return value if has_few_digits else UNKNOWN
    return None if value is None else UNKNOWN


def typed(value: str | None, kind: str) -> object:
    """The text of a partition value as a Python value that compares like the type `kind`; UNKNOWN if only Spark can
    compare it, as with FLOAT and DOUBLE."""
    if value is None:
        return None
    match parse_type(kind):
        case Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return Decimal(value) if _INTEGER.fullmatch(value) else UNKNOWN
        case DecimalType(_, scale):
            number = _exact(value)
            return number if isinstance(number, Decimal) and fraction_digits(number) <= scale else UNKNOWN
        case Primitive("date"):
            return day_of(value)
        case Primitive("string") | Varchar() | Char():
            return value
        case _:
            return UNKNOWN


def fraction_digits(number: Decimal) -> int:
    _, _, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # the number is finite
    return -exponent


def number_digits(number: Decimal) -> tuple[int, int]:
    """The digits of a number before and behind its point."""
    fraction = fraction_digits(number)
    return len(number.as_tuple().digits) - fraction, fraction


def _exact(text: str) -> object:
    number = exact_number(text)
    return UNKNOWN if number is None else number


def exact_number(text: str) -> Decimal | None:
    """The number that a text shows in the form which Hive and Spark read; None for another text. Python also reads
    `1_0` and digits of other scripts."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def day_of(text: str) -> object:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else UNKNOWN
    except ValueError:
        return UNKNOWN


def integer_of(text: str) -> object:
    """The text as an integer; UNKNOWN if a comparison as an integer and one as a DOUBLE could differ."""
    return Decimal(text) if _INTEGER.fullmatch(text) and len(text) <= _MOST_DIGITS else UNKNOWN
