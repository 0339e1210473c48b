"""Values of files, as pyarrow reads them, as values of a table's columns: their types, their calendar, the blanks of
CHAR.

pyarrow reads ORC's dates as the numbers in the file, whatever their calendar, its times as nanoseconds, and CHAR with
its blanks. A CHAR column itself has no blanks here, as in acidsql's scans of Spark: conditions compare it without them,
and `padded` adds them last. A CHAR inside of another type has its blanks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct
from acidsql.arrow.scan import broken_texts
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.values.hybrid_calendar import FIRST_GREGORIAN, gregorian_days
from acidsql.values.numpy_arrays import bits, number_array, stored_mask, stored_numbers

_SECOND_UNITS: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MICROS: Final = 1_000_000
_DAY: Final = 86_400 * _MICROS
_CHANGED: Final = ("date", "timestamp", "timestamp with local time zone")


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendars of a file: whether its dates, and its wall-clock times, are those of the hybrid calendar; and the
    time zone of its wall-clock times, if they are stored as instants."""

    hybrid_dates: bool = False
    hybrid_times: bool = False
    zone: str = "UTC"


def column_values(array: Any, kind: HiveType, calendar: Calendar) -> Any:
    """The array as values of a column of the type `kind`. Raises pa.ArrowInvalid for values that the type lacks."""
    if isinstance(kind, Char):
        return pc.ascii_rtrim(array.cast(pa.string()), characters=" ")
    return _values(array, kind, calendar)


def padded(array: Any, kind: HiveType) -> Any:
    """The values of a column as readers get them: CHAR has its length."""
    if not isinstance(kind, Char):
        return array
    try:
        return pc.utf8_rpad(pc.utf8_slice_codeunits(array, 0, kind.length), width=kind.length)
    except pa.ArrowInvalid:
        return broken_texts.padded_to(array, kind.length)


def _values(array: Any, kind: HiveType, calendar: Calendar) -> Any:
    wanted = column_type(kind)
    match kind:
        case Char():
            return padded(array.cast(pa.string()), kind)
        case Primitive("date"):
            return _dates(array, hybrid=calendar.hybrid_dates)
        case Primitive(name) if name in _CHANGED:
            return _times(array, wanted, calendar, wall_clock=name == "timestamp")
        case Array() | Map() | Struct() if _is_changed(kind) or isinstance(kind, Struct):
            return _nested(array, kind, calendar)
        case _:
            return array if array.type == wanted else _cast(array, wanted)


def _cast(array: Any, wanted: pa.DataType) -> Any:
    """The values of another type of the same family. Raises NOT_YET_SUPPORTED for other types."""
    if not any(of(array.type) and of(wanted) for of in _FAMILIES) and not pa.types.is_nested(wanted):
        feature = f"Reading values of the Arrow type {array.type} as {wanted} without Spark"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint="session.sql(..) reads them with Spark.")
    return array.cast(wanted)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


_FAMILIES: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, _is_text)


def _is_changed(kind: HiveType) -> bool:
    """Whether a value of the type, or inside of it, is not the one in the file."""
    match kind:
        case Primitive(name):
            return name in _CHANGED
        case Array(element):
            return _is_changed(element)
        case Map(key, value):
            return _is_changed(key) or _is_changed(value)
        case Struct():
            return True  # its fields may be others
        case _:
            return isinstance(kind, Char)


# ------------------------------------------------------------------------------------------------ dates and times


def _dates(array: Any, *, hybrid: bool) -> Any:
    if not pa.types.is_date32(array.type):
        array = array.cast(pa.date32())
    if not hybrid:
        return array
    days = _longs(array.view(pa.int32()))
    if not (days < FIRST_GREGORIAN).any():
        return array
    return _of_numbers(array, gregorian_days(days).astype(np.int32), pa.date32())


def _times(array: Any, wanted: pa.DataType, calendar: Calendar, *, wall_clock: bool) -> Any:
    if not pa.types.is_timestamp(array.type):
        return array.cast(wanted)
    numbers = _longs(array.view(pa.int64()))
    scale = _SECOND_UNITS[array.type.unit]
    micros = numbers * (_MICROS // scale) if scale <= _MICROS else numbers // (scale // _MICROS)
    if wall_clock and calendar.zone != "UTC":
        instants = _of_numbers(array, micros, pa.timestamp("us", tz=calendar.zone))
        micros = _longs(pc.local_timestamp(instants).view(pa.int64()))
    if calendar.hybrid_times and (micros < FIRST_GREGORIAN * _DAY).any():
        days = micros // _DAY
        micros = micros + (gregorian_days(days) - days) * _DAY
    return _of_numbers(array, micros, wanted)


def _longs(array: Any) -> NDArray[np.int64]:
    """The numbers of an array of integers of 32 or 64 bits. A NULL is 0."""
    numbers = stored_numbers(array).astype(np.int64)
    return np.where(stored_mask(array.is_valid()), numbers, 0) if array.null_count else numbers


def _of_numbers(array: Any, numbers: NDArray[Any], kind: pa.DataType) -> Any:
    """The numbers as an array of a type, with the NULLs of `array`."""
    return number_array(numbers, kind, _validity(array), array.null_count)


# ------------------------------------------------------------------------------------------------ nested types


def _nested(array: Any, kind: Array | Map | Struct, calendar: Calendar) -> Any:
    if array.offset:
        array = array.take(number_array(np.arange(len(array)), pa.int64()))
    wanted = column_type(kind)
    if isinstance(kind, Struct):
        inside = [_field(array, name, of, calendar) for name, of in kind.fields]
        return pa.Array.from_buffers(wanted, len(array), [_validity(array)], array.null_count, 0, inside)
    if isinstance(kind, Map):
        entries = [_values(array.keys, kind.key, calendar), _values(array.items, kind.value, calendar)]
        inside = [pa.StructArray.from_arrays(entries, fields=[wanted.key_field, wanted.item_field])]
    else:
        inside = [_values(array.values, kind.element, calendar)]
    own = [_validity(array), array.buffers()[1]]
    return pa.Array.from_buffers(wanted, len(array), own, array.null_count, 0, inside)


def _field(array: Any, name: str, kind: HiveType, calendar: Calendar) -> Any:
    """A field of structs, by its name in any case, as Spark's readers find it; NULLs where the file has none."""
    numbers = [i for i in range(array.type.num_fields) if array.type.field(i).name.lower() == name.lower()]
    if not numbers:
        return pa.nulls(len(array), column_type(kind))
    return _values(array.field(numbers[0]), kind, calendar)


def _validity(array: Any) -> pa.Buffer | None:
    """The bits of values that are not NULL, from the first value on."""
    if not array.null_count:
        return None
    return bits(stored_mask(array.is_valid()))
