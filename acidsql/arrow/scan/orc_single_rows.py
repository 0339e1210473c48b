"""Single rows of an ORC file, read by pyorc. It decodes the row groups that have these rows and no others, by the row
index of their stripe, while pyarrow decodes whole stripes, of up to some million rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyorc
from pyorc.converters import ORCConverter

ROWS_PER_LOOKUP: Final = 50_000
"""How many rows of a stripe pyarrow decodes in about the time in which pyorc finds one."""


class _Days(ORCConverter):
    """A DATE as days since 1970, whose range is larger than that of Python's dates."""

    @staticmethod
    def from_orc(*parts: Any) -> int:
        (days,) = parts
        return int(days)

    @staticmethod
    def to_orc(*parts: Any) -> Any:
        raise NotImplementedError


class _Nanoseconds(ORCConverter):
    """A TIMESTAMP as nanoseconds since 1970."""

    @staticmethod
    def from_orc(*parts: Any) -> int:
        seconds, nanoseconds, _zone_of_reader = parts
        return int(seconds) * 1_000_000_000 + int(nanoseconds)

    @staticmethod
    def to_orc(*parts: Any) -> Any:
        raise NotImplementedError


_CONVERTERS: Final = {pyorc.TypeKind.DATE: _Days, pyorc.TypeKind.TIMESTAMP: _Nanoseconds}


def is_readable(kind: pa.DataType) -> bool:
    """Whether `single_rows` reads a column of this type, which is the one that pyarrow gives it."""
    return not pa.types.is_nested(kind) and not (pa.types.is_timestamp(kind) and kind.tz is not None)


def single_rows(
    path: str, numbers: Sequence[int], names: Sequence[str], kinds: Sequence[pa.DataType]
) -> list[pa.Array] | None:
    """Columns of the rows with these numbers, which ascend.

    `names` are those of columns in the order of the file; one inside of `row` is named `row.NAME`. `kinds` are the
    types that pyarrow gives the columns. None if pyorc cannot read them.
    """
    try:
        with open(path, "rb") as file:
            reader = pyorc.Reader(file, column_names=list(names), converters=_CONVERTERS)
            rows = [_flat(_row(reader, number)) for number in numbers]
        return [_array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    except (pyorc.ORCError, pa.ArrowException, OSError, ValueError, LookupError):
        return None  # LookupError: there is no database of time zones


def _row(reader: Any, number: int) -> tuple[Any, ...]:
    reader.seek(number)
    row: tuple[Any, ...] = next(reader)
    return row


def _flat(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The ACID columns, and behind them those of `row`."""
    return (*row[:-1], *row[-1]) if isinstance(row[-1], tuple) else row


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).view(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).view(kind)
    return pa.array(values, kind)
