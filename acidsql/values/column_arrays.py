"""The values of a column as an Arrow array of the column's type: from Python values, and from other Arrow arrays.

acidsql.values.stored_values says which values a column takes. What is here is faster for many values and has the same
results: where it is not sure of a value, it asks value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from types import NoneType
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from acidsql.acid import hive_types as t
from acidsql.values.arrow_types import arrow_type
from acidsql.values.stored_values import Unfit, storing

_FIRST_DAY: Final = date(1, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
_LAST_DAY: Final = date(9999, 12, 31).toordinal() - date(1970, 1, 1).toordinal()
_DAY: Final = 86_400_000_000
"""Microseconds of a day."""
_DIRECT: Final[dict[str, type]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), int),
    "double": float,
    "string": str,
    "boolean": bool,
    "binary": bytes,
    "date": date,
    "timestamp": datetime,
    "timestamp with local time zone": datetime,
}
"""The types whose values pyarrow stores just as `storing` does, or refuses."""
_REFUSALS: Final = (pa.ArrowException, OverflowError, UnicodeError)
"""What pyarrow raises for a value that it cannot store exactly."""


class UnfitValue(Exception):  # noqa: N818 - as Unfit
    """The value at a place of a column does not fit the column's type."""

    def __init__(self, place: int, value: object, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.value = value
        self.reason = reason


def array_of_values(values: Sequence[object], hive_type: t.HiveType) -> pa.Array:
    """The array of a column with these Python values. Raises UnfitValue for the first one that does not fit."""
    if _is_direct(values, hive_type):
        try:
            return _fitted(pa.array(values, arrow_type(hive_type)), hive_type)
        except _REFUSALS:
            pass  # the values themselves say which of them is the one
    return _one_by_one(enumerate(values), hive_type)


def array_of_arrow(column: pa.Array | pa.ChunkedArray, hive_type: t.HiveType) -> pa.Array:
    """The array of a column with the values of an Arrow array of any type. Raises UnfitValue."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # pyarrow before 22 gives one for no chunks
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, array.type)
    array = _decoded(array)
    try:
        found = _cast(array, hive_type)
    except _REFUSALS:
        found = None
    return found if found is not None else _one_by_one(_python_values(array), hive_type)


def _one_by_one(values: Iterable[tuple[int, object]], hive_type: t.HiveType) -> pa.Array:
    store = storing(hive_type)
    stored = []
    for place, value in values:
        try:
            stored.append(store(value))
        except Unfit as error:
            raise UnfitValue(place, value, str(error)) from None
    return pa.array(stored, arrow_type(hive_type))


def _python_values(array: pa.Array) -> Iterable[tuple[int, object]]:
    for place, scalar in enumerate(array):
        try:
            value = scalar.as_py()
        except (ValueError, OverflowError):  # Python has no such date or time
            shown = f"{getattr(scalar, 'value', '')} of Arrow's type {array.type}"
            raise UnfitValue(place, shown, "it is out of the type's range, or has digits beyond microseconds") from None
        yield place, value


def _is_direct(values: Sequence[object], hive_type: t.HiveType) -> bool:
    match hive_type:
        case t.Primitive(name):
            wanted = _DIRECT.get(name)
        case t.Decimal():
            wanted = Decimal
        case t.Char() | t.Varchar():
            wanted = str
        case _:
            return False
    if wanted is None or not set(map(type, values)) <= {wanted, NoneType}:
        return False
    if wanted is not datetime:
        return True
    has_zone = hive_type != t.Primitive("timestamp")
    return all((at.tzinfo is not None) == has_zone for at in values if isinstance(at, datetime))


def _fitted(array: pa.Array, hive_type: t.HiveType) -> pa.Array:
    """Text with the length of a CHAR or VARCHAR; other arrays as they are."""
    match hive_type:
        case t.Varchar(length):
            return pc.utf8_slice_codeunits(array, 0, length)
        case t.Char(length):
            return pc.utf8_rpad(pc.utf8_slice_codeunits(array, 0, length), length)
        case _:
            return array


# ------------------------------------------------------------------------------------------------ casts


def _decoded(array: pa.Array) -> pa.Array:
    """The array without an encoding of its values."""
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(array, pa.DictionaryArray):
        return _decoded(array.dictionary_decode())
    return pc.run_end_decode(array) if isinstance(array, pa.RunEndEncodedArray) else array


def _cast(array: pa.Array, hive_type: t.HiveType) -> pa.Array | None:
    """The array of the column's type, or None where the values must be asked one by one. Raises one of _REFUSALS if a
    value may not fit."""
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), arrow_type(hive_type))
    match hive_type:
        case t.Primitive(name):
            return _CASTS[name](array, arrow_type(hive_type))
        case t.Decimal():
            return _to_decimal(array, arrow_type(hive_type))
        case t.Char() | t.Varchar():
            text = _to_text(array, pa.string())
            return None if text is None else _fitted(text, hive_type)
        case t.Array(element):
            return _to_list(array, element)
        case t.Struct(fields):
            return _to_struct(array, fields)
        case t.Map():
            return None


def _to_integer(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    kind = array.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return array.cast(wanted) if is_number else None


def _to_double(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    return array.cast(wanted) if pa.types.is_integer(array.type) or pa.types.is_floating(array.type) else None


def _to_float(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    found = _to_double(array, wanted)
    if found is None or not pa.types.is_float64(array.type):
        return found
    infinite = pc.and_(pc.is_inf(found), pc.invert(pc.is_inf(array)))
    return None if pc.any(infinite).as_py() else found


def _to_decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_integer(array.type):
        return array.cast(pa.decimal128(20, 0)).cast(wanted)
    return array.cast(wanted) if pa.types.is_decimal(array.type) else None


def _to_text(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    kind = array.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return array.cast(wanted) if is_text else None


def _to_binary(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    kind = array.type
    known = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return array.cast(wanted) if any(is_kind(kind) for is_kind in known) else None


def _to_boolean(array: pa.Array, _wanted: pa.DataType) -> pa.Array | None:
    return array if pa.types.is_boolean(array.type) else None


def _to_date(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_date(array.type):
        days = array.cast(wanted)
        return days if _is_within(days.view(pa.int32()), _FIRST_DAY, _LAST_DAY) else None
    if not pa.types.is_timestamp(array.type) or array.type.tz is not None:
        return None
    at = array.cast(pa.timestamp("us"))
    days = at.cast(wanted, safe=False)
    return _to_date(days, wanted) if days.cast(at.type).equals(at) else None


def _to_timestamp(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_date(array.type):
        days = _to_date(array, pa.date32())
        return None if days is None else days.cast(wanted)
    return _to_time(array, wanted, has_zone=False)


def _to_instant(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    return _to_time(array, wanted, has_zone=True)


def _to_time(array: pa.Array, wanted: pa.DataType, *, has_zone: bool) -> pa.Array | None:
    if not pa.types.is_timestamp(array.type) or (array.type.tz is not None) != has_zone:
        return None
    at = array.cast(wanted)
    return at if _is_within(at.view(pa.int64()), _FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1) else None


def _is_within(numbers: pa.Array, low: int, high: int) -> bool:
    bounds = pc.min_max(numbers).as_py()
    return bounds["min"] is None or low <= bounds["min"] <= bounds["max"] <= high


def _to_list(array: pa.Array, element: t.HiveType) -> pa.Array | None:
    kind = array.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return None
    items = _cast(_decoded(array.flatten()), element)  # without the items behind NULLs
    if items is None:
        return None
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    offsets = pa.array(ends, pa.int32())
    return pa.ListArray.from_arrays(offsets, items, type=pa.list_(items.type), mask=array.is_null())


def _to_struct(array: pa.Array, fields: Sequence[tuple[str, t.HiveType]]) -> pa.Array | None:
    if not pa.types.is_struct(array.type):
        return None
    names = [field.name.lower() for field in array.type]
    if len(set(names)) < len(names) or not set(names) <= {name for name, _ in fields}:
        return None
    given = dict(zip(names, array.flatten(), strict=True))  # NULL where the struct is
    children = []
    for name, of in fields:
        child = _cast(_decoded(given[name]), of) if name in given else pa.nulls(len(array), arrow_type(of))
        if child is None:
            return None
        children.append(child)
    wanted = [pa.field(name, child.type) for (name, _), child in zip(fields, children, strict=True)]
    return pa.StructArray.from_arrays(children, fields=wanted, mask=array.is_null())


_CASTS: Final[dict[str, Callable[[pa.Array, pa.DataType], pa.Array | None]]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), _to_integer),
    "float": _to_float,
    "double": _to_double,
    "string": _to_text,
    "boolean": _to_boolean,
    "binary": _to_binary,
    "date": _to_date,
    "timestamp": _to_timestamp,
    "timestamp with local time zone": _to_instant,
}
