"""Columns of integers that rise by a fixed step, as ORC stores them: run lengths, statistics, row indexes.

Nothing is computed row by row: a run of 512 values takes a few bytes. Source: the ORC v1 specification, "Run Length
Encoding version 2", "Column Statistics", "Row Group Index".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from acidsql.storage.orc.codecs import compress
from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, encode, varint

_LONGEST_RUN: Final = 512
_SHORTEST_DELTA: Final = 3
"""Values of the shortest run that ORC's writers encode as a delta; a shorter one has its values as they are."""
_DIRECT: Final = 0b01 << 14
_DELTA: Final = 0b11 << 14
_64_BITS: Final = 31 << 9
"""The code of the width of 64 bits. In a run of deltas the width 0 means that all are equal."""
_LONG: Final = 1 << 63

# orc_proto.ColumnStatistics and IntegerStatistics
_VALUES: Final = 1
_INTEGERS: Final = 2
_HAS_NULL: Final = 10
_BYTES_ON_DISK: Final = 11
_MINIMUM: Final = 1
_MAXIMUM: Final = 2
_SUM: Final = 3
# orc_proto.RowIndex and RowIndexEntry
_ENTRY: Final = 1
_POSITIONS: Final = 1
_STATISTICS: Final = 2


@dataclass(frozen=True, slots=True)
class Sequence:
    """The values first, first + step, first + 2 * step and so on, none of which is NULL."""

    first: int
    step: int = 0

    def behind(self, rows: int) -> Sequence:
        """The sequence without its first `rows` values."""
        return Sequence(self.first + self.step * rows, self.step)


@dataclass(frozen=True, slots=True)
class Chunks:
    """How the streams of a file are stored: its codec, and the longest chunk before its compression."""

    codec: str
    size: int


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """The streams of a column in one stripe. `index` is empty if the file has no row indexes, `data` for a struct."""

    index: bytes
    data: bytes


def stored_column(values: Sequence | None, rows: int, stride: int, chunks: Chunks) -> StoredColumn:
    """The streams of a column of `rows` values; None for a struct that is never NULL, which has no values of its own.

    Each row group of `stride` rows begins with a run of its own. 0 stands for a file without row indexes.
    """
    starts = range(0, rows, stride or max(rows, 1))
    sizes = [min(starts.step, rows - start) for start in starts]
    if values is None:
        entries = [_entry(b"", statistics(None, size)) for size in sizes]
        return StoredColumn(_index(entries, stride, chunks), b"")
    groups = [_runs(values.behind(start), size) for start, size in zip(starts, sizes, strict=True)]
    data = compress(b"".join(groups), chunks.codec, chunks.size)
    chunk_starts, at, entries = _chunk_starts(data, chunks), 0, []
    for start, size, group in zip(starts, sizes, groups, strict=True):
        entries.append(_entry(_position(at, chunk_starts, chunks), statistics(values.behind(start), size)))
        at += len(group)
    return StoredColumn(_index(entries, stride, chunks), data)


@lru_cache(256)
def statistics(values: Sequence | None, rows: int, stored: int | None = None) -> bytes:
    """The ColumnStatistics of a column; `stored` is the number of bytes of its data on disk, where that is known."""
    fields = [Field(_VALUES, VARINT, rows)]
    if values is not None and rows:
        fields.append(Field(_INTEGERS, BYTES, _integers(values, rows)))
    fields.append(Field(_HAS_NULL, VARINT, 0))
    if stored is not None:
        fields.append(Field(_BYTES_ON_DISK, VARINT, stored))
    return encode(fields)


def _integers(values: Sequence, rows: int) -> bytes:
    """Bounds and sum. A sum that does not fit 64 bits is left out."""
    ends = (values.first, values.first + values.step * (rows - 1))
    total = sum(ends) * rows // 2
    fields = [Field(_MINIMUM, VARINT, _zigzag(min(ends))), Field(_MAXIMUM, VARINT, _zigzag(max(ends)))]
    if -_LONG <= total < _LONG:
        fields.append(Field(_SUM, VARINT, _zigzag(total)))
    return encode(fields)


# ------------------------------------------------------------------------------------------------ runs


@lru_cache(256)
def _runs(values: Sequence, rows: int) -> bytes:
    """The values of a row group as runs."""
    if not values.step:
        whole, rest = divmod(rows, _LONGEST_RUN)
        return _run(values, _LONGEST_RUN) * whole + _run(values, rest)
    starts = range(0, rows, _LONGEST_RUN)
    return b"".join(_run(values.behind(start), min(_LONGEST_RUN, rows - start)) for start in starts)


def _run(values: Sequence, length: int) -> bytes:
    """A header of 16 bits: encoding, width, length less one. Behind it the first value and the step, or the values."""
    if length >= _SHORTEST_DELTA:
        header = (_DELTA | length - 1).to_bytes(2, "big")
        return header + varint(_zigzag(values.first)) + varint(_zigzag(values.step))
    if not length:
        return b""
    each = (_zigzag(values.behind(row).first).to_bytes(8, "big") for row in range(length))
    return (_DIRECT | _64_BITS | length - 1).to_bytes(2, "big") + b"".join(each)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


# ------------------------------------------------------------------------------------------------ row indexes


def _index(entries: list[bytes], stride: int, chunks: Chunks) -> bytes:
    if not stride:
        return b""
    return compress(b"".join(entries), chunks.codec, chunks.size)


def _entry(positions: bytes, of_group: bytes) -> bytes:
    fields = (Field(_POSITIONS, BYTES, positions), Field(_STATISTICS, BYTES, of_group))
    return encode((Field(_ENTRY, BYTES, encode(fields if positions else fields[1:])),))


def _position(at: int, chunk_starts: list[int], chunks: Chunks) -> bytes:
    """Where a row group begins in the stream, `at` bytes behind its start before compression: the offset of the chunk
    and that in the chunk, or only the offset in a file without codec, and then the number of values in the run."""
    if chunks.codec == "none":
        return varint(at) + varint(0)
    chunk, offset = divmod(at, chunks.size)
    return varint(chunk_starts[chunk]) + varint(offset) + varint(0)


def _chunk_starts(stored: bytes, chunks: Chunks) -> list[int]:
    """The offsets of the chunks of a stream, each of which has a header of its length."""
    starts, at = [], 0
    while chunks.codec != "none" and at < len(stored):
        starts.append(at)
        at += 3 + (int.from_bytes(stored[at : at + 3], "little") >> 1)
    return starts
