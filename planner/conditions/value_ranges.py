"""Whether a condition can be true in a file, given the smallest and the largest value of each column.

The conditions are those of `row_conditions.row_filter`: comparisons of columns with literals, AND and OR, none of which
is true for NULL. A condition that cannot be decided may be true: Spark applies the conditions again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Final, TypeAlias, TypeVar

from sqlglot import exp

from acidsql.acid.value_range import Range
from acidsql.values.literals import day_of, value_of

_Ordered = TypeVar("_Ordered", Decimal, date, bytes)
RangeOf: TypeAlias = Callable[[str], Range | None]
BoundsCheck: TypeAlias = Callable[[RangeOf], bool]
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


def can_hold(conditions: Sequence[exp.Expr], range_of: RangeOf) -> bool:
    """Whether a row may fulfil all conditions. `range_of` returns the bounds of a column by its name in lower case;
    None if they are unknown."""
    return bounds_check(conditions)(range_of)


def bounds_check(conditions: Sequence[exp.Expr]) -> BoundsCheck:
    """`can_hold` for many files: the literals of the conditions are read once."""
    checks = [_check(condition) for condition in conditions]
    return lambda range_of: all(check(range_of) for check in checks)


def _check(condition: exp.Expr) -> BoundsCheck:
    """Whether the condition can be true between the bounds of its columns."""
    match condition:
        case exp.Paren():
            return _check(condition.this)
        case exp.Boolean():
            value = bool(condition.this)
            return lambda range_of: value
        case exp.And() | exp.Or():
            left, right = _check(condition.this), _check(condition.expression)
            if isinstance(condition, exp.And):
                return lambda range_of: left(range_of) and right(range_of)
            return lambda range_of: left(range_of) or right(range_of)
        case exp.In() if condition.expressions and not condition.args.get("query"):
            items = [_comparison(exp.EQ, condition.this, item) for item in condition.expressions]
            return lambda range_of: any(item(range_of) for item in items)
        case exp.Between():
            low = _comparison(exp.GTE, condition.this, condition.args["low"])
            high = _comparison(exp.LTE, condition.this, condition.args["high"])
            return lambda range_of: low(range_of) and high(range_of)
        case _ if type(condition) in FLIPPED:
            return _comparison(type(condition), condition.this, condition.expression)
        case _:
            return lambda range_of: True


def _comparison(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> BoundsCheck:
    if not isinstance(left, exp.Column):
        kind, left, right = FLIPPED[kind], right, left
    if not isinstance(left, exp.Column):
        return lambda range_of: True
    name, value = left.name.lower(), value_of(right, {})
    day = day_of(value) if isinstance(value, str) else value

    def can_be_true(range_of: RangeOf) -> bool:
        match range_of(name), value:
            case (Decimal() as low, Decimal() as high), Decimal() as number:
                return _overlaps(kind, low, high, number)
            case (date() as first, date() as last), (date() | str()):
                return not isinstance(day, date) or day < _RECENT or _overlaps(kind, first, last, day)
            case (bytes() as least, bytes() as most), str() as text:
                return _overlaps(kind, least, most, text.encode())
            case _:
                return True

    return can_be_true


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
