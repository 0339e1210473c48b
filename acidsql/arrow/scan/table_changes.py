"""The changes of a table, read by pyarrow: the rows that a range of writes inserted, and those that it deleted, each
with the values that it had.

The rows are those of `live_rows`, over the files that `ChangedFiles` names, with CHANGE_COLUMNS in addition. Deleted
rows are found by the row IDs of the delete events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.write_ids import WriteId
from acidsql.arrow.scan.deleted_row_ids import FirstDeletes, Longs, RowIds, first_deletes
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.orc_columns import WAY_OUT
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.as_of import named_zone
from acidsql.planner.change_range import CHANGE_COLUMNS, CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeType
from acidsql.planner.conditions.row_predicates import RowPredicate
from acidsql.snapshot.changed_files import ChangedFiles
from acidsql.snapshot.delete_applicability import row_range
from acidsql.snapshot.scan_binding import BoundScan, SourceFile
from acidsql.snapshot.version import Version
from acidsql.storage.footer_cache import FooterCache
from acidsql.values.numpy_arrays import mask_array, number_array, scalar

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PreparedChanges:
    """The files of a scan of changes, all of which can be read: what `PreparedRows` is to a scan of rows."""

    bound: BoundScan
    before: Version
    """The version to which the changes apply."""
    times: Mapping[WriteId, int]
    """Microseconds on the clocks of the session's time zone at which writes were committed."""
    inserted: Mapping[ChangeType, PreparedRows]
    deletes: Mapping[ChangeType, Sequence[SourceFile]]
    """The files of delete events (`ChangedFiles.deletions`)."""
    holding: PreparedRows | None
    """The rows of the files that may have deleted rows; None without delete events."""
    is_net: bool
    """Whether the rows that came and went behind `before` are left out."""

    @classmethod
    def of(
        cls,
        bound: BoundScan,
        footers: FooterCache,
        columns: Sequence[str],
        predicate: RowPredicate | None,
        time_zone: str,
    ) -> PreparedChanges:
        """Finds the files. `columns` are those of the table, and COMMIT_TIMESTAMP if it is wanted. Raises what
        `PreparedRows.of` raises."""
        assert bound.changes is not None
        assert bound.scan.changes is not None
        before, is_net = bound.changes.before, bound.scan.changes.is_net
        times = _clock_micros(bound.changes.times, time_zone) if COMMIT_TIMESTAMP in columns else {}
        stored = [name for name in columns if name not in CHANGE_COLUMNS]
        rows = replace(bound, scan=replace(bound.scan, changes=None), changes=None)
        files = ChangedFiles(rows, before, footers)
        scans = files.insertions(net=is_net).items()
        inserted = {k: PreparedRows.of(of, footers, stored, predicate, row_ids=True) for k, of in scans}
        deletes = files.deletions(net=is_net)
        deleting = [file for of_kind in deletes.values() for file in of_kind]
        found = PreparedRows.of(files.holding(deleting), footers, stored, predicate, row_ids=True) if deleting else None
        return cls(bound, before, times, inserted, deletes, found, is_net)

    @property
    def most_changes(self) -> int:
        """A number that is not smaller than that of the changed rows."""
        inserts = [file for prepared in self.inserted.values() for file in prepared.files]
        deletes = [file for of_kind in self.deletes.values() for file in of_kind]
        return sum(file.tail.rows for file in (*inserts, *deletes) if file.tail is not None)

    @property
    def searched_rows(self) -> int:
        """The number of rows whose row IDs are compared with those of deleted rows. Where row IDs tell the places of
        rows, none are."""
        files = [] if self.holding is None else self.holding.files
        return sum(file.tail.rows for file in files if file.tail is not None and row_range(file) is None)

    def rows(self) -> Iterator[LiveRows]:
        """The changed rows. `LiveRows.row_ids` are the row IDs of the rows, and `columns` has CHANGE_COLUMNS, too."""
        for kind, prepared in self.inserted.items():
            for found in prepared.rows():
                rows = _filtered(found, self.before.lacks(_ids(found).write_id))
                if rows.count:
                    yield self._changed(rows, pa.repeat(_text(kind), rows.count), _ids(rows).write_id)
        if self.holding is not None:
            kinds = pa.concat_arrays([pa.repeat(_text(kind), 1) for kind in self.deletes])
            deletes = self._first_deletes()
            wanted = replace(self.holding, only={part: of_part.ids for part, of_part in deletes.items()})
            for found in wanted.rows():
                rows = _filtered(found, ~self.before.lacks(_ids(found).write_id)) if self.is_net else found
                if rows.count:
                    deleters, labels = deletes[rows.file.part].of(_ids(rows))
                    yield self._changed(rows, kinds.take(number_array(labels, pa.int64())), deleters)

    def _first_deletes(self) -> dict[int, FirstDeletes]:
        """By the number of the partition. The labels are the places of the changes in `deletes`."""
        parts: dict[int, dict[int, list[SourceFile]]] = {}
        for label, files in enumerate(self.deletes.values()):
            for file in files:
                parts.setdefault(file.part, {}).setdefault(label, []).append(file)
        return {part: first_deletes(self.bound.files, of_part, self.before.lacks) for part, of_part in parts.items()}

    def _changed(self, rows: LiveRows, types: Any, versions: Longs) -> LiveRows:
        timestamp = column_type(CHANGE_COLUMNS[COMMIT_TIMESTAMP])
        writes, places = np.unique(versions, return_inverse=True)
        times = (scalar(self.times.get(WriteId(write)), timestamp) for write in writes.tolist())
        of_writes = pa.concat_arrays([pa.repeat(time, 1) for time in times])
        found = {
            CHANGE_TYPE: types,
            COMMIT_VERSION: number_array(versions, column_type(CHANGE_COLUMNS[COMMIT_VERSION])),
            COMMIT_TIMESTAMP: of_writes.take(number_array(places, pa.int64())),
        }
        return replace(rows, columns={**rows.columns, **found})


def _text(kind: ChangeType) -> Any:
    return scalar(kind.value, pa.string())


def _ids(rows: LiveRows) -> RowIds:
    assert rows.row_ids is not None
    return rows.row_ids


def _filtered(rows: LiveRows, mask: NDArray[np.bool_]) -> LiveRows:
    if mask.all():
        return rows
    columns = {name: array.filter(mask_array(mask)) for name, array in rows.columns.items()}
    return replace(rows, columns=columns, row_ids=_ids(rows).filtered(mask), positions=rows.positions[mask])


def _clock_micros(times: Mapping[WriteId, datetime], time_zone: str) -> dict[WriteId, int]:
    """What the clocks in a time zone showed at some moments, as microseconds since 1970. Raises NOT_YET_SUPPORTED for a
    time zone that only Spark knows."""
    zone = named_zone(time_zone)
    if zone is None:
        feature = f"Showing times in the time zone {time_zone} without Spark"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=WAY_OUT)
    return {i: (time.astimezone(zone).replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND for i, time in times.items()}
