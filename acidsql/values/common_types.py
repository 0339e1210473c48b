"""The type of an expression of several operands, by Hive's rules (FunctionRegistry, HiveDecimalUtils of Hive 4.0.1)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final

from acidsql.acid.hive_types import MOST_DIGITS, Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar

VOID: Final = Primitive("void")
"""The type of NULL."""
BOOLEAN: Final = Primitive("boolean")
INT: Final = Primitive("int")
BIGINT: Final = Primitive("bigint")
FLOAT: Final = Primitive("float")
DOUBLE: Final = Primitive("double")
STRING: Final = Primitive("string")
BINARY: Final = Primitive("binary")
DATE: Final = Primitive("date")
TIMESTAMP: Final = Primitive("timestamp")
INSTANT: Final = Primitive("timestamp with local time zone")
FRAME_TEXT: Final = Primitive("string")
"""The type of a text column of a frame or of a temporary view, which may hold values of a CHAR column with the blanks
that readers give at their end. It equals STRING; only `is` tells them apart."""

_LEAST_QUOTIENT_SCALE: Final = 6
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""The integer types from narrow to wide, each with the digits of a DECIMAL that holds its numbers."""
_NUMBERS: Final = (*_DIGITS, "decimal", "float", "double")
_TIMES: Final = ("date", "timestamp", "timestamp with local time zone")


def is_text(kind: HiveType | None) -> bool:
    return kind == STRING or isinstance(kind, Varchar | Char)


def is_number(kind: HiveType | None) -> bool:
    return isinstance(kind, Decimal) or (isinstance(kind, Primitive) and kind.name in _NUMBERS)


def is_integer(kind: HiveType | None) -> bool:
    return isinstance(kind, Primitive) and kind.name in _DIGITS


def is_approximate(kind: HiveType | None) -> bool:
    return kind in (FLOAT, DOUBLE)


def common_type(kinds: Iterable[HiveType | None]) -> HiveType | None:
    """The type of the results of CASE, COALESCE and set operations; None if it is not known."""
    start: HiveType | None = VOID
    return reduce(_common, kinds, start)


def _common(left: HiveType | None, right: HiveType | None) -> HiveType | None:
    if left in (VOID, right):
        return right
    if right == VOID:
        return left
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        return _wider(left, right)
    if is_text(left) or is_text(right):
        complex_types = isinstance(left, Array | Map | Struct) or isinstance(right, Array | Map | Struct)
        return None if complex_types or BINARY in (left, right) else STRING
    if isinstance(left, Primitive) and isinstance(right, Primitive) and {left.name, right.name} <= set(_TIMES):
        return max(left, right, key=lambda kind: _TIMES.index(kind.name))
    return None


def _wider(left: HiveType, right: HiveType) -> HiveType:
    if is_approximate(left) or is_approximate(right):
        return DOUBLE if DOUBLE in (left, right) else FLOAT
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        a, b = as_decimal(left), as_decimal(right)
        scale = max(a.scale, b.scale)
        return _limited(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)
    return max(left, right, key=_rank)


def _rank(kind: HiveType) -> int:
    return list(_DIGITS).index(str(kind))


def as_decimal(kind: HiveType) -> Decimal:
    """The DECIMAL that holds the numbers of an exact type."""
    return kind if isinstance(kind, Decimal) else Decimal(_DIGITS[str(kind)], 0)


def arithmetic_type(operator: str, left: HiveType | None, right: HiveType | None) -> HiveType | None:
    """The type of `left operator right` for + - * / and %, where text counts as DOUBLE; None if it is not known."""
    if VOID in (left, right):
        left = right = right if left == VOID else left
    a, b = (DOUBLE if is_text(kind) else kind for kind in (left, right))
    if a is None or b is None or not (is_number(a) and is_number(b)):
        return None
    if is_approximate(a) or is_approximate(b):
        return DOUBLE if operator == "/" else _wider(a, b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return _decimal_result(operator, as_decimal(a), as_decimal(b))
    return DOUBLE if operator == "/" else _wider(a, b)


def _decimal_result(operator: str, a: Decimal, b: Decimal) -> Decimal:
    match operator:
        case "*":
            return _shortened(a.precision + b.precision + 1, a.scale + b.scale)
        case "/":
            scale = max(_LEAST_QUOTIENT_SCALE, a.scale + b.precision + 1)
            return _shortened(a.precision - a.scale + b.scale + scale, scale)
        case "%":
            scale = max(a.scale, b.scale)
            return _shortened(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)
        case _:
            scale = max(a.scale, b.scale)
            return _shortened(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def _limited(precision: int, scale: int) -> Decimal:
    """Gives up fraction digits where 38 digits do not suffice."""
    return Decimal(min(precision, MOST_DIGITS), max(scale - max(precision - MOST_DIGITS, 0), 0))


def _shortened(precision: int, scale: int) -> Decimal:
    """Gives up fraction digits, but at most down to six, where 38 digits do not suffice."""
    if precision <= MOST_DIGITS:
        return Decimal(precision, scale)
    kept = max(MOST_DIGITS - (precision - scale), min(scale, _LEAST_QUOTIENT_SCALE))
    return Decimal(MOST_DIGITS, kept)
