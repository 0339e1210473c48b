"""Whether a condition can be true in a file, given the smallest and the largest value of each column.

The conditions are those of `row_conditions.row_filter`: comparisons of columns with literals, AND and OR, none of which
is true for NULL. A condition that cannot be decided may be true: Spark applies the conditions again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Final, TypeVar

from sqlglot import exp

from acidsql.acid.value_range import Range
from acidsql.values.literals import day_of, value_of

_Ordered = TypeVar("_Ordered", Decimal, date, bytes)
_RECENT: Final = date(1600, 1, 1)
"""The first day of a range in which the calendars of all writers agree."""
FLIPPED: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def can_hold(conditions: Sequence[exp.Expr], range_of: Callable[[str], Range | None]) -> bool:
    """Whether a row may fulfil all conditions. `range_of` returns the bounds of a column by its name in lower case;
    None if they are unknown."""
    return all(_can_be_true(c, range_of) for c in conditions)


def _can_be_true(condition: exp.Expr, range_of: Callable[[str], Range | None]) -> bool:
    match condition:
        case exp.Paren():
            return _can_be_true(condition.this, range_of)
        case exp.Boolean():
            return bool(condition.this)
        case exp.And():
            return _can_be_true(condition.this, range_of) and _can_be_true(condition.expression, range_of)
        case exp.Or():
            return _can_be_true(condition.this, range_of) or _can_be_true(condition.expression, range_of)
        case exp.In() if condition.expressions and not condition.args.get("query"):
            return any(_can_compare(exp.EQ, condition.this, item, range_of) for item in condition.expressions)
        case exp.Between():
            low, high = condition.args["low"], condition.args["high"]
            return _can_compare(exp.GTE, condition.this, low, range_of) and _can_compare(
                exp.LTE, condition.this, high, range_of
            )
        case _ if type(condition) in FLIPPED:
            return _can_compare(type(condition), condition.this, condition.expression, range_of)
        case _:
            return True


def _can_compare(
    kind: type[exp.Expr], left: exp.Expr, right: exp.Expr, range_of: Callable[[str], Range | None]
) -> bool:
    if not isinstance(left, exp.Column):
        kind, left, right = FLIPPED[kind], right, left
    bounds = range_of(left.name.lower()) if isinstance(left, exp.Column) else None
    if bounds is None:
        return True
    match bounds, value_of(right, {}):
        case (Decimal() as low, Decimal() as high), Decimal() as number:
            return _overlaps(kind, low, high, number)
        case (date() as first, date() as last), (date() | str()) as day:
            parsed = day_of(day) if isinstance(day, str) else day
            return not isinstance(parsed, date) or parsed < _RECENT or _overlaps(kind, first, last, parsed)
        case (bytes() as least, bytes() as most), str() as text:
            return _overlaps(kind, least, most, text.encode())
        case _:
            return True


def _overlaps(kind: type[exp.Expr], low: _Ordered, high: _Ordered, value: _Ordered) -> bool:
    """Whether the comparison `kind` with `value` holds for some value between the bounds."""
    match kind:
        case exp.EQ:
            return low <= value <= high
        case exp.NEQ:
            return not low == value == high
        case exp.LT:
            return low < value
        case exp.LTE:
            return low <= value
        case exp.GT:
            return high > value
        case _:
            return high >= value
