"""Intervals: the forms that only Hive has, and sums of dates and intervals (GenericUDFOPDTIPlus)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import filled, marked

_OF_MONTHS: Final = ("YEAR", "MONTH")
_TEXT: Final = (
    "concat(IF(a < INTERVAL '0' SECOND, '-', ''), CAST(abs(EXTRACT(DAY FROM a)) AS STRING), ' ',"
    " lpad(CAST(abs(EXTRACT(HOUR FROM a)) AS STRING), 2, '0'), ':',"
    " lpad(CAST(abs(EXTRACT(MINUTE FROM a)) AS STRING), 2, '0'), ':',"
    " lpad(CAST(CAST(abs(EXTRACT(SECOND FROM a)) AS DECIMAL(8, 6)) AS STRING), 9, '0'), '000')"
)
_TEXT_OF_MONTHS: Final = (
    "concat(IF(a < INTERVAL '0' MONTH, '-', ''), CAST(abs(EXTRACT(YEAR FROM a)) AS STRING), '-',"
    " CAST(abs(EXTRACT(MONTH FROM a)) AS STRING))"
)


INTERVAL: Final = "acidsql_interval"
"""Key in the `meta` of an expression that is an interval by the types of its operands."""


def is_interval(node: exp.Expr) -> bool:
    """Whether an expression is certainly an interval, by its form or by a note. The last operand of a sum tells it
    first: a sum of thousands of numbers is no deeper for this function than one of two."""
    while isinstance(node, exp.Paren | exp.Neg) and not node.meta.get(INTERVAL):
        node = node.this
    match node:
        case exp.Interval():
            return True
        case _ if node.meta.get(INTERVAL):
            return True
        case exp.Add() | exp.Sub():
            return is_interval(node.expression) and is_interval(node.this)
        case exp.Mul():
            return any(isinstance(side, exp.Interval) for side in (node.this, node.expression))
        case _:
            return False


def _unit(node: exp.Expr) -> str:
    """The first unit of an interval, such as YEAR of YEAR TO MONTH."""
    interval = node.find(exp.Interval)
    unit = interval.args["unit"] if interval is not None else None
    if isinstance(unit, exp.IntervalSpan):
        unit = unit.this
    return str(unit.name).upper().removesuffix("S") if unit is not None else ""


def of_expression(node: exp.Interval) -> exp.Expr:
    """INTERVAL (expression) DAY: the number times one day."""
    unit = node.args["unit"]
    return marked(
        exp.Paren(this=exp.Mul(this=node.this.copy(), expression=exp.Interval(this=_one(), unit=unit.copy())))
    )


def _one() -> exp.Expr:
    return exp.Literal.string("1")


def is_of_expression(node: exp.Interval) -> bool:
    return isinstance(node.this, exp.Paren) and not isinstance(node.args.get("unit"), exp.IntervalSpan)


def moved(node: exp.Add | exp.Sub) -> exp.Expr:
    """A DATE plus or minus days or hours is a TIMESTAMP. Months leave a DATE a DATE."""
    new = node.copy()
    side = new.this if is_interval(new.expression) else new.expression
    side.replace(exp.cast(side.copy(), exp.DataType.Type.TIMESTAMPNTZ))
    return new


def is_moved(node: exp.Add | exp.Sub) -> bool:
    """Whether one side is an interval of days or less, and the other is no interval."""
    sides = (node.this, node.expression)
    intervals = [side for side in sides if is_interval(side)]
    if len(intervals) != 1 or _unit(intervals[0]) in _OF_MONTHS:
        return False
    if isinstance(node, exp.Sub) and intervals[0] is node.this:
        return False
    (other,) = (side for side in sides if side is not intervals[0])
    # The difference of two times is an interval.
    return not isinstance(other.unnest(), exp.Sub | exp.Mul)


def text(node: exp.Cast) -> exp.Expr:
    """The text of an interval: 1 02:00:00.000000000, or 1-2 (HiveIntervalDayTime, HiveIntervalYearMonth)."""
    if _unit(node.this) in _OF_MONTHS:
        return filled(_TEXT_OF_MONTHS, {"a": exp.Add(this=_enclosed(node.this), expression=_nothing("YEAR", "MONTH"))})
    return filled(_TEXT, {"a": exp.Add(this=_enclosed(node.this), expression=_nothing("DAY", "SECOND"))})


def _enclosed(value: exp.Expr) -> exp.Expr:
    return exp.Paren(this=value.copy())


def _nothing(first: str, last: str) -> exp.Expr:
    """An interval of nothing with all units, so that EXTRACT finds each of them in a sum with it."""
    nothing = {"YEAR": "0-0", "DAY": "0 00:00:00"}[first]
    unit = exp.IntervalSpan(this=exp.Var(this=first), expression=exp.Var(this=last))
    return exp.Interval(this=exp.Literal.string(nothing), unit=unit)


def is_text(node: exp.Cast) -> bool:
    return node.to.this == exp.DataType.Type.TEXT and is_interval(node.this)
