"""Deleted rows as bitmaps: for each write and bucket, one bit for each row ID up to the last deleted one.

An array of arrays of longs, which is part of the scan's plan as a literal: a row asks whether it is deleted with two
reads of memory, and a scan of a table with deletes is one stage, as one without. The outer array is a grid of groups of
rows, a group being (partition, write ID, bucket, statement); most have no array. A group's bits are 64 to a long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from acidsql.acid.row_id import MAX_BUCKET, MAX_STATEMENT_ID, encode_bucket
from acidsql.spark.scan.deletes.array_lookup import Longs

_MAX_BLOCKS: Final = 1 << 20
"""The largest number of longs in all masks: 64 million row IDs, 8 MiB."""
_MAX_GRID: Final = 1 << 16
_MAX_GROUPS: Final = 1 << 14
_OTHER_BITS: Final = ~(MAX_BUCKET << 16 | MAX_STATEMENT_ID) & 0xFFFFFFFF
"""The bits of a bucket property that are neither bucket nor statement (BucketCodec V1): the version, and zeros."""
_VERSION_1: Final = encode_bucket(0, 0)


@dataclass(frozen=True, slots=True)
class DeleteKeys:
    """The row IDs of deleted rows, an array for each part: number of the partition, write ID, bucket property, row ID.
    The rows come in runs that are sorted by write ID and bucket, as in delete files."""

    part: Longs
    write_id: Longs
    bucket: Longs
    row: Longs


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of one part of a group's number: `count` values, from `low` on."""

    low: int
    count: int


@dataclass(frozen=True, slots=True)
class DeleteBitmap:
    """The deleted rows of a scan. The number of a group is its place in a grid of the four axes. `masks` has the mask
    of each number, up to the last group with deleted rows."""

    parts: Axis
    write_ids: Axis
    buckets: Axis
    statements: Axis
    masks: tuple[Longs | None, ...]

    def keeps_sql(self, part: str, write_id: str, bucket: str, row: str, masks: str) -> str:
        """SQL that is true for a row that is not deleted. The arguments are SQL of the row's numbers, and of the masks.

        `part` occurs only once in it, because it may be a long expression.
        """
        may_be = [_is_on(write_id, self.write_ids)]
        if self.buckets.count == self.statements.count == 1:
            may_be.append(f"{bucket} = {encode_bucket(self.buckets.low, self.statements.low)}")
        else:
            may_be += [_is_on(_bucket_sql(bucket), self.buckets), _is_on(_statement_sql(bucket), self.statements)]
            may_be.append(f"({bucket} & {_signed(_OTHER_BITS)}) = {_VERSION_1}")
        if self.parts.count == 1:
            may_be.append(_is_on(part, self.parts))
        values = (part, write_id, _bucket_sql(bucket), _statement_sql(bucket))
        group = "0"
        for value, axis in zip(values, self._axes, strict=True):
            if axis.count > 1:
                group = f"({group} * {axis.count} + CAST({value} - {axis.low} AS INT))"
        mask = f"{masks}[{group}][CAST(shiftright({row}, 6) AS INT)]"  # NULL where there is none
        is_deleted = f"shiftrightunsigned({mask}, CAST({row} & 63 AS INT)) & 1"
        return f"CASE WHEN {' AND '.join(may_be)} THEN coalesce({is_deleted}, 0) = 0 ELSE true END"

    @property
    def _axes(self) -> tuple[Axis, Axis, Axis, Axis]:
        return self.parts, self.write_ids, self.buckets, self.statements

    def count(self, part: int, write_id: int, bucket: int, rows: range) -> int:
        """The number of deleted row IDs of a group."""
        values = (part, write_id, bucket >> 16 & MAX_BUCKET, bucket & MAX_STATEMENT_ID)
        group = 0
        for value, axis in zip(values, self._axes, strict=True):
            if not axis.low <= value < axis.low + axis.count:
                return 0
            group = group * axis.count + value - axis.low
        mask = self.masks[group] if group < len(self.masks) else None
        if mask is None or bucket & _OTHER_BITS != _VERSION_1:
            return 0
        first = rows.start >> 6
        bits = np.unpackbits(mask[first : (rows.stop >> 6) + 1].view(np.uint8), bitorder="little")
        return int(np.count_nonzero(bits[rows.start - (first << 6) : rows.stop - (first << 6)]))


def _is_on(value: str, axis: Axis) -> str:
    last = axis.low + axis.count - 1
    return f"{value} = {axis.low}" if axis.count == 1 else f"{value} BETWEEN {axis.low} AND {last}"


def _bucket_sql(bucket: str) -> str:
    return f"(shiftright({bucket}, 16) & {MAX_BUCKET})"


def _statement_sql(bucket: str) -> str:
    return f"({bucket} & {MAX_STATEMENT_ID})"


def delete_bitmap(keys: DeleteKeys) -> DeleteBitmap | None:
    """The bitmap of some rows; None if it would be much larger than the rows, or if they are no row IDs of Hive's."""
    if _is_odd(keys):
        return None
    fields = (keys.part, keys.write_id, keys.bucket >> 16 & MAX_BUCKET, keys.bucket & MAX_STATEMENT_ID)
    axes = [_axis(f) for f in fields]
    if np.prod([float(a.count) for a in axes]) > _MAX_GRID:
        return None
    numbers = np.zeros(len(keys.row), np.int64)
    for values, axis in zip(fields, axes, strict=True):
        numbers = numbers * axis.count + (values - axis.low)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1])
    groups, of_runs = np.unique(numbers[starts], return_inverse=True)
    highest = np.zeros(len(groups), np.int64)
    np.maximum.at(highest, of_runs, np.maximum.reduceat(keys.row, starts))
    blocks = (highest >> 6) + 1
    if len(groups) > _MAX_GROUPS or blocks.sum() > _MAX_BLOCKS:
        return None
    first = np.cumsum(blocks) - blocks
    bits = np.zeros(int(blocks.sum()) << 6, np.bool_)
    bits[np.repeat((first << 6)[of_runs], np.diff(starts, append=len(keys.row))) + keys.row] = True
    longs = np.packbits(bits, bitorder="little").view("<i8").astype(np.int64)
    masks: list[Longs | None] = [None] * (int(groups[-1]) + 1)
    for group, start, count in zip(groups.tolist(), first.tolist(), blocks.tolist(), strict=True):
        masks[group] = longs[start : start + count]
    return DeleteBitmap(axes[0], axes[1], axes[2], axes[3], tuple(masks))


def concatenated(keys: Sequence[DeleteKeys]) -> DeleteKeys:
    return DeleteKeys(
        np.concatenate([k.part for k in keys]),
        np.concatenate([k.write_id for k in keys]),
        np.concatenate([k.bucket for k in keys]),
        np.concatenate([k.row for k in keys]),
    )


def _is_odd(keys: DeleteKeys) -> bool:
    """Whether there are row IDs with another codec of bucket properties, or with numbers that no bit can represent."""
    odd = (keys.bucket & _OTHER_BITS) != _VERSION_1
    return bool(odd.any()) or int(keys.row.min()) < 0 or int(keys.row.max()) >= 1 << 40


def _axis(values: Longs) -> Axis:
    low = int(values.min())
    return Axis(low, int(values.max()) - low + 1)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value
