"""MASK and its relatives of values that are no text (BaseMaskUDF, MaskTransformer).

They mask the digits of an integer and the parts of a DATE, with numbers that follow the characters for text. For values
of other types they return NULL. The result has the type of the value.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import HiveType
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.hive_functions.template import call, filled, number_of
from acidsql.values.common_types import DATE, VOID, is_integer, is_text

_PARTS: Final = ("mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n")
_FIRST_MARKS: Final = {"mask": 1, **dict.fromkeys(_PARTS, 2)}
"""The place of the character for upper-case letters among the arguments."""
_DIGIT_PLACE: Final = 4
"""How far behind it the number for digits is; the numbers for day, month and year follow."""
_KEEP: Final = -1
_COUNT: Final = 4
"""The number of digits where the call does not give it."""


def mask_in_hive(node: exp.Expr, types: ExpressionTypes) -> exp.Expr | None:
    if not isinstance(node, exp.Anonymous) or not node.expressions:
        return None
    name, kind = node.name.lower(), types.of(node.expressions[0])
    first = _FIRST_MARKS.get(name)
    if kind in (None, VOID) or is_text(kind) or (first is None and name != "mask_hash"):
        return None
    if first is not None and is_integer(kind):
        return _masked_integer(node, first + _DIGIT_PLACE, kind)
    if first is not None and kind == DATE:
        return _masked_date(node, first + _DIGIT_PLACE + 1)
    return exp.cast(exp.null(), exp.DataType.build(str(kind)))


def _masked_integer(node: exp.Anonymous, place: int, kind: HiveType | None) -> exp.Expr:
    number = _number(node, place, 1)
    digit = exp.Literal.string(str(number if 0 <= number <= 9 else 1))
    value, *rest = node.expressions
    counts = (rest or [exp.Literal.number(_COUNT)])[: place - 1 - _DIGIT_PLACE]
    digits = filled("CAST(abs(CAST(a AS DECIMAL(20, 0))) AS STRING)", {"a": value})
    masked = call(node.name, digits, *(n.copy() for n in counts), *(digit.copy() for _ in range(4)))
    signed = filled("CAST(CAST(IF(a < 0, concat('-', m), m) AS DECIMAL(38, 0)) AS BIGINT)", {"a": value, "m": masked})
    return call(str(kind), signed)  # a call, because a CAST would ask again whether its operand is a DECIMAL


def _masked_date(node: exp.Anonymous, place: int) -> exp.Expr:
    day, month, year = (_number(node, place + offset, default) for offset, default in ((0, 1), (1, 0), (2, 0)))
    parts = {
        "y": "year(a)" if year == _KEEP else str(year),
        "m": "month(a)" if month == _KEEP else str((month if 0 <= month <= 11 else 0) + 1),
        "d": "day(a)" if day == _KEEP else str(day if 1 <= day <= 31 else 1),
    }
    sql = f"IF(a IS NULL, NULL, make_date({parts['y']}, {parts['m']}, {parts['d']}))"
    return filled(sql, {"a": node.expressions[0]})


def _number(node: exp.Anonymous, place: int, default: int) -> int:
    given = node.expressions[place : place + 1]
    number = number_of(given[0]) if given else None
    return default if number is None else number
