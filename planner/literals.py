"""Literals of SQL as Python's values that compare as Spark compares them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Final

from sqlglot import exp

UNKNOWN: Final = object()
"""What Spark must decide."""
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "decimal")
"""Not float and double: their texts do not compare as their values do."""
_SUFFIX: Final = re.compile(r"(?<=[\d.])(bd|[lsy])$", re.IGNORECASE)
"""Of an exact number: 7Y, 7S, 7L, 1.50BD."""
_INEXACT: Final = re.compile(r"e", re.IGNORECASE)
"""1e3 is a DOUBLE, with which Spark compares as with one."""
_INTEGER_BITS: Final = {
    exp.DataType.Type.TINYINT: 8,
    exp.DataType.Type.SMALLINT: 16,
    exp.DataType.Type.INT: 32,
    exp.DataType.Type.BIGINT: 64,
}


def value_of(node: exp.Expr, values: Mapping[str, object]) -> object:
    """The value of a literal, or of a column that has one: `values` by name. UNKNOWN for all others."""
    match node:
        case exp.Paren():
            return value_of(node.this, values)
        case exp.Column():
            return values.get(node.name.lower(), UNKNOWN)
        case exp.Literal():
            return str(node.this) if node.is_string else _number(str(node.this))
        case exp.Neg():
            inner = value_of(node.this, values)
            return inner.copy_negate() if isinstance(inner, Decimal) else UNKNOWN  # a minus rounds to 28 digits
        case exp.Cast() if node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
            return typed(str(node.this.this), "date")
        case exp.Cast() if node.to.this in _INTEGER_BITS:
            return _integer(value_of(node.this, values), _INTEGER_BITS[node.to.this])
        case exp.Null():
            return None
        case _:
            return UNKNOWN


def _number(text: str) -> object:
    return UNKNOWN if _INEXACT.search(text) else typed(_SUFFIX.sub("", text), "decimal")


def _integer(number: object, bits: int) -> object:
    """A number that the cast leaves as it is; UNKNOWN for others, which Spark cuts or wraps."""
    fits = isinstance(number, Decimal) and number == int(number) and -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    return number if fits else UNKNOWN


def typed(value: str | None, kind: str) -> object:
    """A partition's text as a value that compares like its type; UNKNOWN where Spark must decide."""
    if value is None:
        return None
    try:
        if kind in _NUMBERS:
            number = Decimal(value)
            return number if number.is_finite() else UNKNOWN
        if kind == "date":
            return date.fromisoformat(value)
    except (InvalidOperation, ValueError):
        return UNKNOWN
    return value if kind in ("string", "varchar", "char") else UNKNOWN
