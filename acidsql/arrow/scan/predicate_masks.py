"""The rows of Arrow columns for which a RowPredicate is true, false or NULL.

    predicate = row_predicate(condition, column_of)          # acidsql.planner.conditions.row_predicates
    mask = true_rows(predicate, values.__getitem__, kinds, rows)    # a NumPy mask: True where the condition is true

`values` gives the array of a column by its name, and `kinds` has the Hive types of the columns. The arrays are those of
`stored_arrays.column_values`: CHAR has no blanks. The predicate must have no `Undecided` part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context
from decimal import Decimal as Number
from functools import reduce
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from acidsql.acid.hive_types import Decimal, HiveType, Primitive
from acidsql.arrow.scan import broken_texts
from acidsql.planner.conditions.row_predicates import (
    And,
    Compare,
    CompareRemainder,
    Constant,
    IsNull,
    IsOneOf,
    IsTrue,
    Like,
    Not,
    Operator,
    Or,
    RowPredicate,
    Undecided,
    Value,
)
from acidsql.values.numpy_arrays import mask_array, scalar, stored_mask, stored_numbers

_COMPARE: Final[dict[Operator, Callable[[Any, Any], Any]]] = {
    Operator.EQ: pc.equal,
    Operator.NE: pc.not_equal,
    Operator.LT: pc.less,
    Operator.LE: pc.less_equal,
    Operator.GT: pc.greater,
    Operator.GE: pc.greater_equal,
}
_COMPARE_NUMBERS: Final[dict[Operator, Callable[[Any, int], Any]]] = {
    Operator.EQ: eq,
    Operator.NE: ne,
    Operator.LT: lt,
    Operator.LE: le,
    Operator.GT: gt,
    Operator.GE: ge,
}
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_EXACT: Final = Context(prec=80)
_TYPES: Final = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
_ARE_ABOVE: Final = (Operator.LT, Operator.LE, Operator.NE)
"""The comparisons that are true with a value above all that the column can have."""
_ARE_BELOW: Final = (Operator.GT, Operator.GE, Operator.NE)


def true_rows(
    predicate: RowPredicate, values: Callable[[str], Any], kinds: Mapping[str, HiveType], rows: int
) -> NDArray[np.bool_]:
    """The rows for which the predicate is true."""
    found = _Masks(values, kinds, rows).mask(predicate)
    return stored_mask(pc.and_kleene(found, pc.is_valid(found)))


class _Masks:
    """Boolean arrays with NULLs, for `rows` rows."""

    def __init__(self, values: Callable[[str], Any], kinds: Mapping[str, HiveType], rows: int) -> None:
        self._values = values
        self._kinds = kinds
        self._rows = rows

    def mask(self, predicate: RowPredicate) -> Any:
        match predicate:
            case And(left, right):
                return pc.and_kleene(self.mask(left), self.mask(right))
            case Or(left, right):
                return pc.or_kleene(self.mask(left), self.mask(right))
            case Not(inner):
                return pc.invert(self.mask(inner))
            case Constant(value):
                return pa.repeat(scalar(value, pa.bool_()), self._rows)
            case IsNull(column):
                return pc.is_null(self._values(column))
            case IsTrue(column):
                return self._values(column)
            case Like(column, pattern):
                return _like(self._values(column), pattern)
            case IsOneOf(column, wanted):
                return self._one_of(column, wanted)
            case Compare(column, operator, value):
                return self._compared(column, operator, value)
            case CompareRemainder(column, divisor, operator, value):
                return self._compared_remainder(column, divisor, operator, value)
            case Undecided(node):
                raise AssertionError(f"this condition needs Spark: {node.sql()}")
            case _:
                assert_never(predicate)

    def _compared(self, column: str, operator: Operator, value: Value) -> Any:
        array, kind = self._values(column), self._kinds[column]
        if isinstance(value, int) and not isinstance(value, bool):
            least, most = _bounds(kind)
            if not least <= value <= most:
                return self._constant(array, value=operator in (_ARE_ABOVE if value > most else _ARE_BELOW))
        found = _COMPARE[operator](array, _scalar(value, kind))
        if isinstance(value, float) and operator in (Operator.GT, Operator.GE):
            return pc.or_kleene(found, pc.is_nan(array))
        return found

    def _compared_remainder(self, column: str, divisor: int, operator: Operator, value: int) -> Any:
        array = self._values(column)
        is_known = pc.is_valid(array)
        numbers = np.where(stored_mask(is_known), stored_numbers(array), 0).astype(np.int64)
        found = mask_array(_COMPARE_NUMBERS[operator](np.fmod(numbers, divisor), value))
        return pc.if_else(is_known, found, scalar(None, pa.bool_()))

    def _one_of(self, column: str, wanted: tuple[Value, ...]) -> Any:
        array, kind = self._values(column), self._kinds[column]
        least, most = _bounds(kind)
        possible = [v for v in wanted if not isinstance(v, int) or isinstance(v, bool) or least <= v <= most]
        if not possible:
            return self._constant(array, value=False)
        if isinstance(possible[0], float):  # `is_in` would tell 0.0 from -0.0
            equal = [pc.equal(array, _scalar(v, kind)) for v in possible]
            return reduce(pc.or_kleene, equal)
        found = pc.is_in(array, value_set=pa.concat_arrays([_single(v, kind, array.type) for v in possible]))
        return pc.if_else(pc.is_valid(array), found, scalar(None, pa.bool_()))

    def _constant(self, array: Any, *, value: bool) -> Any:
        """The value, or NULL where the column is NULL."""
        return pc.if_else(pc.is_valid(array), scalar(value, pa.bool_()), scalar(None, pa.bool_()))


def _like(array: Any, pattern: str) -> Any:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:  # `_` and `%` of pyarrow match no byte that is not UTF-8
        return broken_texts.like(array, pattern)
    return pc.match_like(array, pattern)


def _single(value: Value, kind: HiveType, wanted: pa.DataType) -> Any:
    return pa.repeat(_scalar(value, kind).cast(wanted), 1)


def _bounds(kind: HiveType) -> tuple[int, int]:
    """The smallest and the largest number of units that a column can have."""
    match kind:
        case Decimal(precision, _):
            return -(10**precision) + 1, 10**precision - 1
        case Primitive(name):
            bits = _BITS.get(name, 32 if name == "date" else 64)
            return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        case _:
            return 0, 0


def _scalar(value: Value, kind: HiveType) -> Any:
    match kind:
        case Decimal(precision, scale):
            return scalar(Number(int(value)).scaleb(-scale, _EXACT), pa.decimal128(precision, scale))
        case Primitive("date"):
            return scalar(int(value), pa.date32())
        case Primitive("timestamp"):
            return scalar(int(value), pa.timestamp("us"))
        case Primitive("float"):
            return scalar(float(value), pa.float32())
        case Primitive(name) if name in _BITS:
            return scalar(int(value), pa.int64())
        case _:
            return scalar(value, _TYPES[type(value)])
