"""Deleted rows as bits: one for each row ID between the first and the last that is deleted of a write and a bucket.

Two arrays of longs, which are part of the scan's plan as literals: a row asks whether it is deleted with three reads
of memory, and a scan of a table with deletes is one stage, as one without. The pages are three longs for every group
of rows, a group being (partition, write ID, bucket, statement): the first row ID, the number of row IDs, and where its
bits begin in the masks, 64 to a long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from acidsql.spark.lookup import LongLookup, Longs, long_lookup

_MAX_BLOCKS: Final = 1 << 20
"""Longs of the masks: 64 million row IDs, 8 MiB."""
_MAX_GROUPS: Final = 1 << 17
_MAX_GRID: Final = 1 << 62
_PREFIX: Final = "@deleted_"
_PAGES: Final = "@deleted_pages"
_MASKS: Final = "@deleted_masks"
_FIELD: Final = 0xFFF
_OTHER_BITS: Final = ~(_FIELD << 16 | _FIELD) & 0xFFFFFFFF
"""What is neither bucket nor statement in a bucket property (BucketCodec V1): the version, and bits that are 0."""
_VERSION_1: Final = 1 << 29


@dataclass(frozen=True, slots=True)
class DeleteKeys:
    """Row IDs of deleted rows, an array each: the number of the partition, the write ID, the bucket property, the row
    ID. In runs, as delete files have them: sorted by write ID and bucket."""

    part: Longs
    write_id: Longs
    bucket: Longs
    row: Longs


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` on, `count` of them, of one part of a group's number."""

    low: int
    count: int


@dataclass(frozen=True, slots=True)
class DeleteBitmap:
    """The deleted rows of a scan. A group's number is its place in a grid of the four axes, `places` where it lies in
    `pages`."""

    parts: Axis
    write_ids: Axis
    buckets: Axis
    statements: Axis
    places: LongLookup
    pages: Longs
    masks: Longs

    @property
    def tables(self) -> dict[str, Longs]:
        """The arrays that the SQL reads, by column name."""
        found = {f"{_PREFIX}{name}": table for name, table in self.places.tables.items()}
        return {**found, _PAGES: self.pages, _MASKS: self.masks}

    def keeps_sql(self, part: str, write_id: str, bucket: str, row: str) -> str:
        """SQL that is true for a row that is not deleted; the arguments are columns with its numbers."""
        axes = (
            (part, self.parts),
            (write_id, self.write_ids),
            (f"(shiftright({bucket}, 16) & {_FIELD})", self.buckets),
            (f"({bucket} & {_FIELD})", self.statements),
        )
        inside = " AND ".join(f"{v} BETWEEN {a.low} AND {a.low + a.count - 1}" for v, a in axes)
        group = "0L"
        for value, axis in axes:
            group = f"({group} * {axis.count} + ({value} - {axis.low}))" if axis.count > 1 else group
        page = f"({self.places.sql(group, _PREFIX)}) * 3"
        offset = f"({row} - `{_PAGES}`[{page}])"
        bit = f"(`{_PAGES}`[{page} + 2] + {offset})"
        mask = f"`{_MASKS}`[CAST(shiftright({bit}, 6) AS INT)]"
        return (
            f"CASE WHEN NOT ({inside} AND ({bucket} & {_signed(_OTHER_BITS)}) = {_VERSION_1}) THEN true"
            f" WHEN {offset} BETWEEN 0 AND `{_PAGES}`[{page} + 1] - 1"
            f" THEN (shiftrightunsigned({mask}, CAST({bit} & 63 AS INT)) & 1) = 0 ELSE true END"
        )


def delete_bitmap(keys: DeleteKeys) -> DeleteBitmap | None:
    """None where the rows lie so far apart that bits would be many more than rows, or are no row IDs of Hive's."""
    if _is_odd(keys):
        return None
    fields = (keys.part, keys.write_id, keys.bucket >> 16 & _FIELD, keys.bucket & _FIELD)
    axes = [_axis(f) for f in fields]
    if np.prod([float(a.count) for a in axes]) > _MAX_GRID:
        return None
    numbers = np.zeros(len(keys.row), np.int64)
    for values, axis in zip(fields, axes, strict=True):
        numbers = numbers * axis.count + (values - axis.low)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
    if len(starts) > _MAX_GROUPS:
        return None
    groups, of_runs = np.unique(numbers[starts], return_inverse=True)
    places = long_lookup(groups)
    return _bits(axes, places, places.places[of_runs], starts, keys.row)


def _bits(axes: Sequence[Axis], places: LongLookup, of_runs: Longs, starts: Longs, rows: Longs) -> DeleteBitmap | None:
    """`starts` is where each run of rows begins, `of_runs` the place of its group."""
    low = np.full(places.size, np.iinfo(np.int64).max, np.int64)
    high = np.full(places.size, -1, np.int64)
    np.minimum.at(low, of_runs, np.minimum.reduceat(rows, starts))
    np.maximum.at(high, of_runs, np.maximum.reduceat(rows, starts))
    low[high < 0] = 0
    counts = high - low + 1
    blocks = counts + 63 >> 6
    if blocks.sum() > _MAX_BLOCKS:
        return None
    first = (np.cumsum(blocks) - blocks) << 6
    bits = np.zeros(int(blocks.sum()) << 6, np.bool_)
    bits[np.repeat((first - low)[of_runs], np.diff(starts, append=len(rows))) + rows] = True
    masks = np.packbits(bits, bitorder="little").view("<i8").astype(np.int64)
    pages = np.stack([low, counts, first], axis=1).reshape(-1)
    return DeleteBitmap(axes[0], axes[1], axes[2], axes[3], places, pages, masks)


def concatenated(keys: Sequence[DeleteKeys]) -> DeleteKeys:
    return DeleteKeys(
        np.concatenate([k.part for k in keys]),
        np.concatenate([k.write_id for k in keys]),
        np.concatenate([k.bucket for k in keys]),
        np.concatenate([k.row for k in keys]),
    )


def _is_odd(keys: DeleteKeys) -> bool:
    """Row IDs that no bucket property of today, or no bit, can stand for."""
    odd = (keys.bucket & _OTHER_BITS) != _VERSION_1
    return bool(odd.any()) or int(keys.row.min()) < 0 or int(keys.row.max()) >= 1 << 40


def _axis(values: Longs) -> Axis:
    low = int(values.min())
    return Axis(low, int(values.max()) - low + 1)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value
