"""The tail of an ORC file, parsed: its footer, its postscript and the statistics of its stripes.

Source: the ORC v1 specification, "File Tail".
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from acidsql.acid.hive_types import HiveType
from acidsql.acid.layout import ACID_FIELDS
from acidsql.acid.value_range import Range
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.orc.codecs import codec_name, decompress
from acidsql.storage.orc.column_statistics import integer_range, time_range, value_count, value_range
from acidsql.storage.orc.footer_messages import (
    FOOTER_CALENDAR,
    FOOTER_ROWS,
    FOOTER_STATISTICS,
    FOOTER_STRIPES,
    FOOTER_TYPES,
    PS_COMPRESSION,
    PS_FOOTER_LENGTH,
    PS_METADATA_LENGTH,
    SPARK_TYPE,
    field_names,
    is_instant,
    name_as_read,
    number_of,
    subtypes,
)
from acidsql.storage.orc.protobuf import Field, decode

_PROLEPTIC: Final = 2
"""PROLEPTIC_GREGORIAN of orc_proto.CalendarKind."""
TAIL_GUESS: Final = 16 * 1024
"""Bytes that are first read from the end of a file: enough for the tail of nearly every file."""
OPERATION_COLUMN: Final = 1
ORIGINAL_TRANSACTION_COLUMN: Final = 2
BUCKET_COLUMN: Final = 3
ROW_ID_COLUMN: Final = 4
CURRENT_TRANSACTION_COLUMN: Final = 5
ROW_COLUMN: Final = 6
"""ORC's numbers of the ACID columns."""


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file, from `messages`, the orc_proto.Type of each column by ORC's number of it."""

    messages: tuple[bytes, ...]

    @cached_property
    def top_level_names(self) -> tuple[str, ...]:
        return field_names(decode(self.messages[0]))

    @cached_property
    def is_acid(self) -> bool:
        return [n.lower() for n in self.top_level_names] == [n.lower() for n in ACID_FIELDS]

    @cached_property
    def struct(self) -> int:
        """ORC's number of the struct whose fields are the table's columns: `row`, or the root of a plain file."""
        return subtypes(decode(self.messages[0]))[-1] if self.is_acid else 0

    @cached_property
    def row_columns(self) -> tuple[int, ...]:
        return tuple(subtypes(decode(self.messages[self.struct])))

    @cached_property
    def written_names(self) -> tuple[str, ...]:
        return field_names(decode(self.messages[self.struct]))

    @cached_property
    def read_names(self) -> tuple[str, ...]:
        return tuple(map(name_as_read, self.written_names))

    @cached_property
    def has_clear_names(self) -> bool:
        return "" not in self.read_names and len(set(self.read_names)) == len(self.read_names)

    @cached_property
    def has_unnamed_instants(self) -> bool:
        return any(is_instant(t) and SPARK_TYPE not in t for t in map(decode, self.messages))


@lru_cache(maxsize=1024)
def _columns_of(messages: tuple[bytes, ...]) -> FileColumns:
    """Cached: most files of a table have the same columns."""
    return FileColumns(messages)


@dataclass(frozen=True)
class Tail:
    """The content of an ORC file of `size` bytes behind its stripes. `footer_start` is the offset of the footer."""

    path: str
    size: int
    footer_start: int
    footer: tuple[Field, ...]
    postscript: tuple[Field, ...]
    stripe_statistics: bytes
    codec: str

    @cached_property
    def rows(self) -> int:
        return next((f.int for f in self.footer if f.number == FOOTER_ROWS), 0)

    @cached_property
    def stripe_rows(self) -> tuple[int, ...]:
        """Number of rows of each stripe."""
        stripes = (decode(f.bytes) for f in self.footer if f.number == FOOTER_STRIPES)
        return tuple(next((f.int for f in s if f.number == 5), 0) for s in stripes)

    @cached_property
    def _columns(self) -> FileColumns:
        return _columns_of(self.type_messages)

    @property
    def top_level_names(self) -> tuple[str, ...]:
        """Names of the root struct's fields."""
        return self._columns.top_level_names

    @cached_property
    def type_messages(self) -> tuple[bytes, ...]:
        """The orc_proto.Type of each column, by ORC's number of the column; that of the root is the first."""
        return tuple(f.bytes for f in self.footer if f.number == FOOTER_TYPES)

    @property
    def is_acid(self) -> bool:
        """Whether the file has Hive's six ACID columns; the query-based compactor writes them in lower case."""
        return self._columns.is_acid

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the table's columns in the file, in order: the fields of `row`, or of the root of a plain file. They
        are the names that ORC's readers give, or, if these are not distinct, those that `with_clear_names` restores."""
        return self._columns.read_names if self.has_clear_names else self.written_names

    @property
    def has_clear_names(self) -> bool:
        """Whether ORC's readers accept the names of the table's columns, and give each column a distinct one."""
        return self._columns.has_clear_names

    @property
    def written_names(self) -> tuple[str, ...]:
        """Names of the table's columns as they stand in the footer."""
        return self._columns.written_names

    @property
    def has_unnamed_instants(self) -> bool:
        """Whether a column is a TIMESTAMP_INSTANT, Hive's timestamp with local time zone, and lacks the attribute by
        which Spark knows it."""
        return self._columns.has_unnamed_instants

    @property
    def row_columns(self) -> tuple[int, ...]:
        """ORC's numbers of the table's columns, in order."""
        return self._columns.row_columns

    @property
    def struct_of_columns(self) -> int:
        """ORC's number of the struct whose fields are the table's columns: `row`, or the root of a plain file."""
        return self._columns.struct

    def integer_range(self, column: int) -> tuple[int, int] | None:
        """Minimum and maximum of an integer column, by its ORC number; None if the file has no statistics of it."""
        if column not in self._integer_ranges:
            statistics = self._statistics
            self._integer_ranges[column] = integer_range(statistics[column]) if column < len(statistics) else None
        return self._integer_ranges[column]

    def time_range(self, column: int) -> tuple[int, int] | None:
        """Milliseconds of the first and the last time of a column, by its ORC number."""
        statistics = self._statistics
        return time_range(statistics[column]) if column < len(statistics) else None

    def value_range(self, position: int, hive_type: HiveType) -> Range | None:
        """Bounds of the values of a table's column, by its position in the row, for
        planner/conditions/value_ranges.py."""
        if position not in self._value_ranges:
            statistics = self._statistics
            column = self.row_columns[position]
            found = value_range(statistics[column], hive_type) if column < len(statistics) else None
            self._value_ranges[position] = found
        return self._value_ranges[position]

    def nulls(self, position: int) -> int | None:
        """The number of rows in which a table's column is NULL, by its position in the row; None without statistics.
        In an ACID file only where every row is an insert event."""
        column = self.row_columns[position]
        count = value_count(self._statistics[column]) if column < len(self._statistics) else None
        return None if count is None else self.rows - count

    @cached_property
    def _statistics(self) -> list[bytes]:
        return [f.bytes for f in self.footer if f.number == FOOTER_STATISTICS]

    @cached_property
    def _integer_ranges(self) -> dict[int, tuple[int, int] | None]:
        """A cache: every statement that reads the file asks for ranges."""
        return {}

    @cached_property
    def _value_ranges(self) -> dict[int, Range | None]:
        return {}

    @property
    def is_proleptic(self) -> bool:
        """Whether dates count in the proleptic Gregorian calendar; else they count in Hive's hybrid one."""
        return any(f.number == FOOTER_CALENDAR and f.value == _PROLEPTIC for f in self.footer)

    def stripe_value_ranges(self, position: int, hive_type: HiveType) -> tuple[Range | None, ...]:
        """The `value_range` of each stripe; empty if the file has no statistics of stripes."""
        column = self.row_columns[position]
        stripes = ([f.bytes for f in decode(s) if f.number == 1] for s in self._stripe_statistics)
        return tuple(value_range(c[column], hive_type) if column < len(c) else None for c in stripes)

    @property
    def _stripe_statistics(self) -> list[bytes]:
        return [f.bytes for f in decode(self.stripe_statistics) if f.number == 1]

    def stripe_integer_ranges(self, column: int) -> tuple[tuple[int, int] | None, ...]:
        """The `integer_range` of each stripe."""
        columns = ([f.bytes for f in decode(s) if f.number == 1] for s in self._stripe_statistics)
        return tuple(integer_range(c[column]) if column < len(c) else None for c in columns)


def read_whole_tail(path: str, size: int, end_of_file: Callable[[int], bytes]) -> Tail:
    """Parses the tail of a file of `size` bytes. `end_of_file` gives as many of its last bytes as it is asked for, and
    is asked again where the tail is longer than most. Raises MALFORMED_LAYOUT if it is not an ORC file."""
    tail = read_tail(path, size, end_of_file(TAIL_GUESS))
    if isinstance(tail, int):
        tail = read_tail(path, size, end_of_file(tail))
    assert isinstance(tail, Tail)
    return tail


def read_tail(path: str, size: int, end: bytes) -> Tail | int:
    """Parses the tail of a file of `size` bytes from its last bytes; returns how many it needs if these are too few."""
    if size < 4 or not end:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="it is too short for an ORC file")
    try:
        return _tail(path, size, end)
    except (IndexError, zlib.error, OSError) as error:
        # The end is cut off in the middle of a number, or does not decompress.
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="its end is damaged") from error


def _tail(path: str, size: int, end: bytes) -> Tail | int:
    ps_length = end[-1]
    postscript = decode(end[-1 - ps_length : -1])
    numbers = {f.number: f.value for f in postscript}
    if numbers.get(8000) != b"ORC":
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="it is not an ORC file")
    footer_length = number_of(numbers, PS_FOOTER_LENGTH)
    metadata_length = number_of(numbers, PS_METADATA_LENGTH)
    needed = 1 + ps_length + footer_length + metadata_length
    if needed > size:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="its end is longer than the file")
    if needed > len(end):
        return needed
    codec = codec_name(number_of(numbers, PS_COMPRESSION))
    footer_at = len(end) - 1 - ps_length - footer_length
    footer = decompress(end[footer_at : footer_at + footer_length], codec, path)
    metadata = decompress(end[footer_at - metadata_length : footer_at], codec, path)
    return Tail(path, size, size - 1 - ps_length - footer_length, decode(footer), postscript, metadata, codec)
