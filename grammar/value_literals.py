"""Python values as literals of SQL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral
from types import NoneType
from typing import Any, cast

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS
from acidsql.grammar.dialect import typed_literal


def literal_of(value: object) -> exp.Expr | None:
    """The literal that has exactly this value; None for a value that has none, such as an instant or a dict.

    A float is a DOUBLE, a Decimal a DECIMAL, a datetime without a time zone a TIMESTAMP, and a list a call of `array`.
    NumPy's numbers are those of Python, and the NaT of pandas is NULL.

    >>> [literal_of(value).sql() for value in (-3, "it's", 1.5, Decimal("1.50"), b"a")]
    ['-3', "'it''s'", '1.5D', '1.50BD', "x'61'"]
    """
    match plain_value(value):
        case None:
            return exp.null()
        case bool() as plain:
            return exp.true() if plain else exp.false()
        case Integral() as plain:
            fits = abs(plain) < 10**MOST_DIGITS  # a literal of more digits is a DOUBLE
            return _number(str(abs(int(plain))), is_negative=plain < 0) if fits else None
        case float() as plain:
            # Infinity and NaN have no literal.
            finite = math.isfinite(plain)
            text = f"{abs(float(plain))!r}D"
            return _number(text, is_negative=math.copysign(1, plain) < 0) if finite else None
        case Decimal() as plain:
            return _number(f"{abs(plain):f}BD", is_negative=plain < 0) if _is_decimal(plain) else None
        case str() as plain:
            return _text(str(plain))
        case bytes() as plain:
            return exp.HexString(this=plain.hex())
        case datetime() as plain:
            text = plain.isoformat(sep=" ")
            return typed_literal(text, exp.DataType.Type.TIMESTAMPNTZ) if plain.tzinfo is None else None
        case date() as plain:
            return typed_literal(plain.isoformat(), exp.DataType.Type.DATE)
        case [_, *_] as plain if isinstance(plain, list) and _have_one_type(plain):
            elements = [literal_of(element) for element in plain]
            return None if None in elements else exp.Anonymous(this="array", expressions=elements)
        case _:
            return None


def plain_value(value: object) -> object:
    """NumPy's numbers and texts as Python's, and None for NaT, which is a datetime that differs from itself."""
    if type(value).__module__ == "numpy":
        array = cast("Any", value)
        is_plain = getattr(array, "ndim", 1) == 0 and array.dtype.kind in "biufU"
        return array.item() if is_plain else value
    return None if isinstance(value, datetime) and value != value else value


def _have_one_type(values: Sequence[object]) -> bool:
    """Whether an array may hold the values together: numbers, or values of one type."""
    kinds = {type(plain_value(value)) for value in values} - {NoneType}
    return len(kinds) <= 1 or kinds <= {int, float, Decimal}


def _number(text: str, *, is_negative: bool) -> exp.Expr:
    number = exp.Literal.number(text)
    return exp.Neg(this=number) if is_negative else number


def _is_decimal(value: Decimal) -> bool:
    """Whether the type DECIMAL has the number."""
    _, digits, exponent = value.as_tuple()
    return isinstance(exponent, int) and max(len(digits) + exponent, 0) + max(-exponent, 0) <= MOST_DIGITS


def _text(text: str) -> exp.Expr | None:
    """The literal of a text; None for half of a character, which UTF-8 does not have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return exp.Literal.string(text)
