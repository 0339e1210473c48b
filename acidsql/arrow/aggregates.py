"""Aggregates over the live rows of a scan, in one pass: count, min, max, and sums of integers and DECIMALs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context
from decimal import Decimal as Number
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from acidsql.acid.hive_types import MOST_DIGITS, Char, Decimal, HiveType, Primitive, Varchar
from acidsql.arrow.scan.live_rows import LiveRows
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.simple_scan import SUM_DIGITS, Aggregate, Function
from acidsql.values.numpy_arrays import stored_mask, stored_numbers

_LONG: Final = 1 << 63
_EXACT: Final = Context(prec=80)
_LOW_BITS: Final = 32


def aggregate_type(function: Function, column: HiveType | None) -> HiveType:
    """The type of an aggregate of a column, as in Spark and Hive."""
    match function, column:
        case Function.SUM, Decimal(precision, scale):
            return Decimal(precision + SUM_DIGITS, scale)
        case ((Function.MIN | Function.MAX), Char() | Varchar()):
            return Primitive("string")
        case ((Function.MIN | Function.MAX), kind) if kind is not None:
            return kind
        case _:
            return Primitive("bigint")


def aggregated(live: Iterable[LiveRows], aggregates: Sequence[Aggregate], kinds: Sequence[HiveType]) -> list[Any]:
    """An array with the one value of each aggregate, whose types are `kinds`.

    Raises NOT_YET_SUPPORTED for a sum that its type does not hold.
    """
    states = [_State(one.function, kind) for one, kind in zip(aggregates, kinds, strict=True)]
    for rows in live:
        for one, state in zip(aggregates, states, strict=True):
            state.add(rows.count, None if one.column is None else rows.columns[one.column])
    return [state.value() for state in states]


class _State:
    """What is known of an aggregate while rows come."""

    def __init__(self, function: Function, kind: HiveType) -> None:
        self._function = function
        self._kind = kind
        self._count = 0
        self._sum = Number(0)
        self._bounds: list[Any] = []
        """The smallest or the largest value of each piece, as arrays of one value."""

    def add(self, count: int, column: Any | None) -> None:
        if column is None:
            self._count += count
            return
        known = len(column) - column.null_count
        self._count += known
        match self._function:
            case Function.MIN | Function.MAX if known:
                self._bounds.append(self._bound(column))
            case Function.SUM if known:
                self._sum = _EXACT.add(self._sum, _sum(column))

    def _bound(self, column: Any) -> Any:
        return pa.repeat(pc.min_max(column)[self._function.value], 1)

    def value(self) -> Any:
        kind = column_type(self._kind)
        match self._function:
            case Function.COUNT | Function.COUNT_ROWS:
                return pa.array([self._count], kind)
            case Function.SUM:
                self._check_sum()
                found = int(self._sum) if pa.types.is_integer(kind) else self._sum
                return pa.array([found if self._count else None], kind)
            case _:
                return self._bound(pa.concat_arrays(self._bounds)) if self._bounds else pa.nulls(1, kind)

    def _check_sum(self) -> None:
        match self._kind:
            case Decimal(precision, scale):
                fits = abs(self._sum.scaleb(scale, _EXACT)) < 10**precision
            case _:
                fits = -_LONG <= int(self._sum) < _LONG
        if not fits:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="A sum beyond its type without Spark")


def _sum(column: Any) -> Number:
    """The exact sum of the values that are not NULL. DECIMALs have 28 digits at most, so that a stripe of them fits
    into 38."""
    if pa.types.is_decimal(column.type):
        wide = column.cast(pa.decimal128(MOST_DIGITS, column.type.scale))
        return Number(pc.sum(wide).as_py())
    numbers = np.where(stored_mask(pc.is_valid(column)), stored_numbers(column), 0).astype(np.int64)
    high, low = int((numbers >> _LOW_BITS).sum()), int((numbers & ((1 << _LOW_BITS) - 1)).sum())
    return Number((high << _LOW_BITS) + low)
