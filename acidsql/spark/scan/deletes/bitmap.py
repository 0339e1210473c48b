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

from acidsql.acid.row_id import MAX_BUCKET, MAX_STATEMENT_ID
from acidsql.spark.scan.deletes.array_lookup import Longs
from acidsql.spark.scan.deletes.known_rows import OTHER_BITS, VERSION_1, Axis, KnownRows, axis_of

_MAX_BLOCKS: Final = 1 << 20
"""The largest number of longs in all masks: 64 million row IDs, 8 MiB."""
_MAX_GRID: Final = 1 << 16
_MAX_GROUPS: Final = 1 << 14
_UNKNOWN: Final = KnownRows()


@dataclass(frozen=True, slots=True)
class DeleteKeys:
    """The row IDs of deleted rows, an array for each part: number of the partition, write ID, bucket property, row ID.
    The rows come in runs that are sorted by write ID and bucket, as in delete files."""

    part: Longs
    write_id: Longs
    bucket: Longs
    row: Longs


@dataclass(frozen=True, slots=True)
class DeleteBitmap:
    """The deleted rows of a scan. The number of a group is its place in a grid of the four axes. `masks` has the mask
    of each number, up to the last group with deleted rows."""

    parts: Axis
    write_ids: Axis
    buckets: Axis
    statements: Axis
    masks: tuple[Longs | None, ...]

    def keeps_sql(
        self, part: str, write_id: str, bucket: str, row: str, masks: str, known: KnownRows = _UNKNOWN
    ) -> str | None:
        """SQL that is true for a row that is not deleted; None if it is true for every row.

        The arguments are SQL of the row's numbers, and of the masks. What `known` tells is not asked of a row: a column
        that it makes superfluous does not occur in the SQL. `part` occurs only once, because it may be a long
        expression.
        """
        axes = (
            (part, self.parts, known.parts),
            (write_id, self.write_ids, known.write_ids),
            (_bucket_sql(bucket), self.buckets, known.buckets),
            (_statement_sql(bucket), self.statements, known.statements),
        )
        if any(of_rows is not None and not axis.meets(of_rows) for _, axis, of_rows in axes):
            return None
        asked = [_is_on(value, axis) for value, axis, of_rows in axes if of_rows is None or not axis.contains(of_rows)]
        if self.parts.count > 1:  # the leading axis: a place outside of it is outside of the grid
            asked = [question for question in asked if question != _is_on(part, self.parts)]
        if known.buckets is None or known.statements is None:
            asked.append(f"({bucket} & {_signed(OTHER_BITS)}) = {VERSION_1}")
        group, terms, weight = 0, list[str](), 1
        for value, axis, of_rows in reversed(axes):
            only = axis.only if of_rows is None or of_rows.only is None else of_rows.only
            if only is None:
                terms.append(f"CAST({value} - {axis.low} AS INT)" + (f" * {weight}" if weight > 1 else ""))
            else:
                group += (only - axis.low) * weight
            weight *= axis.count
        if not terms and (group >= len(self.masks) or self.masks[group] is None):
            return None
        number = " + ".join([*terms, *([f"{group}"] if group or not terms else [])])
        mask = f"{masks}[{number}][CAST(shiftright({row}, 6) AS INT)]"  # NULL where there is none
        keeps = f"coalesce(shiftrightunsigned({mask}, CAST({row} & 63 AS INT)) & 1, 0) = 0"
        return f"CASE WHEN {' AND '.join(asked)} THEN {keeps} ELSE true END" if asked else keeps

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
        if mask is None or bucket & OTHER_BITS != VERSION_1:
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
    odd = (keys.bucket & OTHER_BITS) != VERSION_1
    return bool(odd.any()) or int(keys.row.min()) < 0 or int(keys.row.max()) >= 1 << 40


def _axis(values: Longs) -> Axis:
    return axis_of((int(values.min()), int(values.max())))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value
