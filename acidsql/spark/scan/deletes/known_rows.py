"""What the footers of a scan's files tell of the row IDs in them, before a row is read.

A statement writes each file with one write ID and one bucket property, and ORC's statistics show it. So most scans need
to decode the row's number only, and ask less of every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.acid.layout import BUCKET, ORIGINAL_TRANSACTION
from acidsql.acid.row_id import MAX_BUCKET, MAX_STATEMENT_ID, encode_bucket
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN

OTHER_BITS: Final = ~(MAX_BUCKET << 16 | MAX_STATEMENT_ID) & 0xFFFFFFFF
"""The bits of a bucket property that are neither bucket nor statement (BucketCodec V1): the version, and zeros."""
VERSION_1: Final = encode_bucket(0, 0)


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of numbers: `count` of them, from `low` on."""

    low: int
    count: int

    @property
    def only(self) -> int | None:
        """The number, if there is but one."""
        return self.low if self.count == 1 else None

    def contains(self, other: Axis) -> bool:
        return self.low <= other.low and other.low + other.count <= self.low + self.count

    def meets(self, other: Axis) -> bool:
        return self.low < other.low + other.count and other.low < self.low + self.count


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Ranges in which the numbers of all rows lie; None where the footers do not tell.

    Where `buckets` and `statements` are known, every bucket property has Hive's codec V1.
    """

    parts: Axis | None = None
    write_ids: Axis | None = None
    buckets: Axis | None = None
    statements: Axis | None = None

    @property
    def write_id(self) -> int | None:
        """The write ID of every row."""
        return None if self.write_ids is None else self.write_ids.only

    @property
    def bucket_property(self) -> int | None:
        """The bucket property of every row."""
        bucket = None if self.buckets is None else self.buckets.only
        statement = None if self.statements is None else self.statements.only
        return None if bucket is None or statement is None else encode_bucket(bucket, statement)


def known_rows(files: Sequence[SourceFile]) -> KnownRows:
    """What is known of the rows of data files. `files` are not empty."""
    parts = axis_of(f.part for f in files)
    write_ids = [_range(f, ORIGINAL_TRANSACTION_COLUMN, f.write_id) for f in files]
    ends = [end for found in write_ids if found is not None for end in found]
    known = KnownRows(parts, axis_of(ends) if None not in write_ids else None)
    ranges = {_range(f, BUCKET_COLUMN, f.bucket_property) for f in files}
    properties = [r[0] for r in ranges if r is not None and r[0] == r[1] and (r[0] & OTHER_BITS) == VERSION_1]
    if len(properties) < len(ranges):
        return known
    buckets = axis_of(p >> 16 & MAX_BUCKET for p in properties)
    return KnownRows(parts, known.write_ids, buckets, axis_of(p & MAX_STATEMENT_ID for p in properties))


def constant_columns(known: KnownRows) -> dict[str, str]:
    """SQL of the ACID columns that have the same value in every row, by their names."""
    constants: dict[str, str] = {}
    if known.write_id is not None:
        constants[ORIGINAL_TRANSACTION] = f"{known.write_id}L"
    if known.bucket_property is not None:
        constants[BUCKET] = f"{known.bucket_property}"
    return constants


def axis_of(numbers: Iterable[int]) -> Axis:
    """The smallest range that has all the numbers, of which there is at least one."""
    known = set(numbers)
    return Axis(min(known), max(known) - min(known) + 1)


def _range(file: SourceFile, column: int, of_plain_file: int) -> tuple[int, int] | None:
    if not file.is_acid:
        return of_plain_file, of_plain_file
    return None if file.tail is None else file.tail.integer_range(column)
