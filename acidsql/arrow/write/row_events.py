"""Placed events (acidsql/writing/placed_columns.py) of a statement whose rows this process has found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.arrow.scan.deleted_row_ids import RowIds
from acidsql.arrow.write.inserted_columns import buckets_of
from acidsql.planner.plan import BRANCH, WritePlan
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.writing.event_files import NewRows
from acidsql.writing.file_slots import SLOT, Slots, assign_slots
from acidsql.writing.placed_columns import (
    NEW_BUCKET,
    OLD_BUCKET,
    OLD_ROW,
    OLD_WRITE_ID,
    PLACE_DIRECTORY,
    value_directories,
)

EVENT_BYTES: Final = 40
"""Bytes of memory that an event takes without its row, at most, unless it moves to another partition."""
_ROWS_PER_FILE: Final = 250_000
"""New rows of a file where there are several, at least: each is written by a thread of its own."""
_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Placed:
    """Events without their rows, these rows, and the files that both go to."""

    events: pa.Table
    rows: NewRows
    slots: Slots


@dataclass(frozen=True, slots=True)
class OldRows:
    """The row IDs of changed rows, and the numbers of their partitions in the scan."""

    ids: RowIds
    part: _Numbers

    @property
    def count(self) -> int:
        return len(self.part)

    def filtered(self, places: _Numbers) -> OldRows:
        return OldRows(self.ids.filtered(places), self.part[places])

    def columns(self) -> dict[str, Any]:
        return {
            OLD_WRITE_ID: pa.array(self.ids.write_id),
            OLD_BUCKET: pa.array(self.ids.bucket.astype(np.int32)),
            OLD_ROW: pa.array(self.ids.row),
        }


@dataclass(frozen=True, slots=True)
class _Group:
    """Events of one branch. `files` are the bucket numbers of their files; None for new rows that may go to any."""

    branch: int
    columns: Mapping[str, Any]
    files: _Numbers | None
    rows: _Numbers
    """The places of their rows among all new rows."""


class PlacedEvents:
    """Collects the events of a statement, one branch after the other."""

    def __init__(self, plan: WritePlan, bound: BoundScan) -> None:
        """`bound` is the scan of the target, whose rows are deleted."""
        self._plan = plan
        self._buckets = frozenset[int]().union(*(part.buckets for part in bound.parts))
        self._groups: list[_Group] = []
        self._rows: list[pa.Table] = []

    def add_deletes(self, branch: int, old: OldRows) -> None:
        """Adds the delete events of some rows."""
        files = old.ids.bucket.astype(np.int64) >> 16 & MAX_BUCKET
        columns = self._columns(old.count, old.columns(), old.part, {})
        self._groups.append(_Group(branch, columns, files, np.zeros(old.count, np.int64)))

    def add_new(self, branch: int, old: OldRows, new: Mapping[str, Any]) -> None:
        """Adds new rows in place of old ones, columns by their names."""
        self._add_rows(branch, self._columns(old.count, old.columns(), old.part, {}), new)

    def add_inserts(self, branch: int, texts: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Adds new rows. `texts` are the values of their partitions, by `value_directories`."""
        count = len(next(iter(new.values())))
        none = {name: pa.nulls(count, kind) for name, kind in _OLD.items()}
        self._add_rows(branch, self._columns(count, none, None, texts), new)

    def placed(self) -> Placed:
        """All events, with the slots of their files."""
        plan = self._plan
        new = sum(table.num_rows for table in self._rows)
        tasks = 1 if plan.target.bucket_count else max(1, min(os.cpu_count() or 1, new // _ROWS_PER_FILE))
        slots = assign_slots(plan.branches, self._buckets, tasks, plan.target.bucket_count)
        events = [_placed(group, slots, tasks) for group in self._groups]
        rows = pa.concat_tables(self._rows).combine_chunks() if self._rows else pa.table({})
        of_events = np.concatenate([group.rows for group in self._groups])
        return Placed(pa.concat_tables(events).combine_chunks(), NewRows(rows, of_events), slots)

    def _add_rows(self, branch: int, columns: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        table = self._plan.target
        rows = pa.table({f"_c{i}": new[c.name] for i, c in enumerate(table.columns)})
        buckets = buckets_of(table, new)
        files = None if buckets is None else np.asarray(buckets, np.int64)
        first = sum(rows.num_rows for rows in self._rows)
        self._rows.append(rows)
        self._groups.append(_Group(branch, columns, files, np.arange(first, first + rows.num_rows)))

    def _columns(
        self, count: int, old: Mapping[str, Any], part: _Numbers | None, texts: Mapping[str, Any]
    ) -> dict[str, Any]:
        columns: dict[str, Any] = {**old}
        if self._plan.keeps_places:
            columns[PLACE_DIRECTORY] = pa.nulls(count, pa.int64()) if part is None else pa.array(part)
        if self._plan.moves_rows:
            for name in value_directories(self._plan.target):
                columns[name] = texts.get(name, pa.nulls(count, pa.string()))
        return columns


def _placed(group: _Group, slots: Slots, tasks: int) -> pa.Table:
    """The events of a group with their files. New rows that may go to any keep their order, a range to each file."""
    count = len(group.rows)
    files = np.arange(count) * tasks // max(1, count) if group.files is None else group.files
    codes = np.array(slots.by_bucket(group.branch), np.int32)
    return pa.table(
        {
            BRANCH: np.full(count, group.branch, np.int32),
            **group.columns,
            NEW_BUCKET: files.astype(np.int32),
            SLOT: codes[files],
        }
    )


_OLD: Final = {OLD_WRITE_ID: pa.int64(), OLD_BUCKET: pa.int32(), OLD_ROW: pa.int64()}
