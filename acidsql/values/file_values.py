"""Values as pyarrow must get them to write a file that Hive reads right.

pyarrow's files do not tell their calendar, so that readers take it for Hive's hybrid one, which is Julian before
1582-10-15. pyarrow's ORC writer has two more faults (arrow/adapters/orc/util.cc): it writes a fraction of a second
before 1970 as a negative number, which no reader understands, and it writes the values below some NULLs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.values.hybrid_calendar import FIRST_GREGORIAN, LAST_JULIAN, hybrid_days

_Numbers: TypeAlias = "NDArray[np.int64]"

_SECOND: Final = 1_000_000
_DAY: Final = 86400 * _SECOND


def storable(table: Table, rows: pa.Table) -> pa.Table:
    """The rows for pyarrow's writer of the table's file format.

    Times are wall-clock times: those of a column with local time zone are those of UTC. Raises INVALID_STORE_VALUE for
    a value that the file cannot hold.
    """
    whole = _copied(rows.combine_chunks())
    columns = [_column(table, c, a) for c, a in zip(table.columns, whole.columns, strict=True)]
    return pa.table(columns, names=rows.column_names)


def _copied(rows: Any) -> Any:
    """A table or an array in memory of its own, without slices: pyarrow's writer takes a slice of structs for another
    one."""
    return rows.take(pa.array(np.arange(len(rows))))


def _column(table: Table, column: Column, values: pa.ChunkedArray) -> pa.Array:
    array = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if _has_times(array.type):
        for times in _leaves(array):
            _check(column, table.file_format, times)
    return _written(array)


def _has_times(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_has_times(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """The dates and times in an array at any depth, without those below a NULL."""
    kind = array.type
    if pa.types.is_struct(kind):
        for field in array.flatten():
            yield from _leaves(field)
    elif pa.types.is_map(kind):
        yield from _leaves(array.keys)
        yield from _leaves(array.items)
    elif pa.types.is_list(kind):
        yield from _leaves(array.flatten())
    elif _has_times(kind):
        yield array


def _check(column: Column, file_format: str, times: pa.Array) -> None:
    numbers = _numbers(times.drop_null())
    days = numbers if pa.types.is_date32(times.type) else numbers // _DAY
    refused = {"Files of Hive have no days from 1582-10-05 to 1582-10-14": _is_missing(days)}
    if days is not numbers and file_format == "orc":
        lost = (numbers < 0) & (numbers % _SECOND != 0)
        refused["Fractions of a second before 1970 cannot be written to an ORC file"] = lost
    for reason, found in refused.items():
        if found.any():
            value = times.drop_null()[int(np.flatnonzero(found)[0])].cast(pa.string()).as_py()
            raise AcidSqlError(
                Condition.INVALID_STORE_VALUE,
                hint=f"{reason}.",
                value=f"'{value}'",
                column=column.name,
                type=column.type,
            )


def _is_missing(days: _Numbers) -> NDArray[np.bool_]:
    """Whether the hybrid calendar leaves the days out."""
    return np.asarray((days > LAST_JULIAN) & (days < FIRST_GREGORIAN))


def _written(array: pa.Array) -> pa.Array:
    """The array with its dates and times in the hybrid calendar, times without zone, and NULLs in all fields of a NULL
    struct. Of a struct in a struct, pyarrow's writer would write the values below a NULL, and readers would take them
    for those of the next row."""
    kind = array.type
    if pa.types.is_date32(kind):
        return _with_numbers(array, hybrid_days(_numbers(array)), kind)
    if pa.types.is_timestamp(kind):
        numbers = _numbers(array)
        days = numbers // _DAY
        return _with_numbers(array, numbers + (hybrid_days(days) - days) * _DAY, pa.timestamp("us"))
    if not pa.types.is_nested(kind):
        return array
    if array.offset:
        array = _copied(array)
    if pa.types.is_struct(kind):
        children = [_written(field) for field in array.flatten()]
        fields = [pa.field(f.name, c.type) for f, c in zip(kind, children, strict=True)]
        return pa.Array.from_buffers(pa.struct(fields), len(array), [_validity(array)], array.null_count, 0, children)
    if pa.types.is_map(kind):
        entries = [_written(array.keys), _written(array.items)]
        filed = pa.map_(entries[0].type, entries[1].type)
        values = pa.StructArray.from_arrays(entries, fields=[filed.key_field, filed.item_field])
    else:
        values = _written(array.values)
        filed = pa.list_(values.type)
    own = [_validity(array), array.buffers()[1]]
    return pa.Array.from_buffers(filed, len(array), own, array.null_count, 0, [values])


def _with_numbers(array: pa.Array, numbers: _Numbers, kind: pa.DataType) -> pa.Array:
    stored = pa.array(numbers.astype(np.int32) if pa.types.is_date32(kind) else numbers)
    return pa.Array.from_buffers(kind, len(array), [_validity(array), stored.buffers()[1]], array.null_count)


def _validity(array: pa.Array) -> pa.Buffer | None:
    """The bits of values that are not NULL, from the first value on."""
    if not array.null_count:
        return None
    return pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))


def _numbers(array: pa.Array) -> _Numbers:
    """Days, or microseconds. A NULL is any number."""
    if pa.types.is_date32(array.type):
        return np.asarray(array.view(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    return np.asarray(array.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), np.int64)
