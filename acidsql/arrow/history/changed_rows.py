"""The changes of a range of versions, read by pyarrow: the rows that its writes inserted, and those that they deleted.

What is read is what Spark reads (acidsql/spark/scan/change_scan.py): the files that `ChangedFiles` names. All of the
changes are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.hive_types import parse_type
from acidsql.acid.layout import BUCKET, CURRENT_TRANSACTION, OPERATION, ORIGINAL_TRANSACTION, ROW_ID
from acidsql.acid.row_id import RowId
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.arrow.python_values import python_rows
from acidsql.arrow.scan.deleted_row_ids import DeletedRowIds, visible_events
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.stored_arrays import padded
from acidsql.planner.change_range import DELETE, INSERT, POSTIMAGE, PREIMAGE
from acidsql.snapshot.changed_files import ChangedFiles
from acidsql.snapshot.scan_binding import BoundScan, SourceFile
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.footer_cache import FooterCache

_Event: TypeAlias = tuple[WriteId, str]
"""The write ID of an event that deletes a row, and the `_change_type` of the row."""
_EVENT: Final = (OPERATION, ORIGINAL_TRANSACTION, BUCKET, ROW_ID, CURRENT_TRANSACTION)


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A row that the write ID `version` has inserted or deleted, with its row__id and the file that holds it. `kind` is
    its `_change_type`."""

    values: tuple[object, ...]
    kind: str
    version: WriteId
    row_id: RowId
    file: str


def changed_rows(bound: BoundScan, footers: FooterCache, may_read: Callable[[int], bool]) -> list[ChangedRow] | None:
    """The changes that a scan of ORC files reads, by version and row__id; None if so many rows may not be read here.

    Raises what `live_rows` raises.
    """
    assert bound.changes is not None
    first = bound.changes.first
    rows = replace(bound, scan=replace(bound.scan, changes=None), changes=None)
    files = ChangedFiles(rows, first, footers)
    new = {kind: _prepared(files.inserted(by_updates=kind == POSTIMAGE), footers) for kind in (INSERT, POSTIMAGE)}
    of_deletes = (DELETE, PREIMAGE) if bound.table.is_full_acid else ()
    deletes = {kind: files.delete_files(by_updates=kind == PREIMAGE) for kind in of_deletes}
    events = [file for of_kind in deletes.values() for file in of_kind]
    old = _prepared(files.holding(events), footers) if events else None
    read = (*events, *(file for prepared in (*new.values(), old) if prepared is not None for file in prepared.files))
    if not may_read(sum(file.tail.rows for file in read if file.tail is not None)):
        return None
    found = [row for kind, prepared in new.items() for row in _inserted(prepared, kind, first)]
    if old is not None:
        found += _deleted(old, _first_events(bound.files, deletes, first))
    found.sort(key=lambda row: (row.version, row.row_id))
    return found


def _prepared(bound: BoundScan, footers: FooterCache) -> PreparedRows:
    return PreparedRows.of(bound, footers, [column.name for column in bound.table.all_columns], row_ids=True)


def _inserted(prepared: PreparedRows, kind: str, first: WriteId) -> Iterator[ChangedRow]:
    for rows in prepared.rows():
        assert rows.row_ids is not None
        for row_id, values in _taken(rows, rows.row_ids.write_id >= first, prepared.bound.table):
            yield ChangedRow(values, kind, row_id.write_id, row_id, rows.file.origin)


def _deleted(holding: PreparedRows, events: Mapping[int, Mapping[RowId, _Event]]) -> Iterator[ChangedRow]:
    ids = {part: DeletedRowIds.of(of_part) for part, of_part in events.items()}
    for rows in holding.rows():
        assert rows.row_ids is not None
        part = rows.file.part
        if part in ids:
            for row_id, values in _taken(rows, ids[part].contains(rows.row_ids), holding.bound.table):
                version, kind = events[part][row_id]
                yield ChangedRow(values, kind, version, row_id, rows.file.origin)


def _taken(rows: LiveRows, mask: NDArray[np.bool_], table: Table) -> Iterator[tuple[RowId, tuple[object, ...]]]:
    """The row IDs and the values of the rows in a mask."""
    if rows.row_ids is not None and mask.any():
        kinds = [parse_type(column.type) for column in table.all_columns]
        arrays = [padded(rows.columns[c.name], kind) for c, kind in zip(table.all_columns, kinds, strict=True)]
        batch = pa.RecordBatch.from_arrays(arrays, [column.name for column in table.all_columns])
        values = python_rows([batch.filter(pa.array(mask))], kinds)
        yield from zip(rows.row_ids.filtered(mask).listed(), values, strict=True)


def _first_events(
    files: FileSystem, deletes: Mapping[str, Sequence[SourceFile]], first: WriteId
) -> Mapping[int, Mapping[RowId, _Event]]:
    """For each partition, by its number, the events of the writes from `first` on. If several delete a row, the first
    one counts."""
    found: dict[int, dict[RowId, _Event]] = {}
    for kind, of_kind in deletes.items():
        for file in of_kind:
            of_part = found.setdefault(file.part, {})
            for ids, deleters in visible_events(files, file):
                recent = deleters >= first
                for row_id, deleter in zip(ids.filtered(recent).listed(), deleters[recent].tolist(), strict=True):
                    event = (WriteId(deleter), kind)
                    of_part[row_id] = min(of_part.get(row_id, event), event)
    return found
