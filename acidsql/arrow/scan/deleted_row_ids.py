"""The row IDs of a partition's deleted rows: a sorted array for each write ID and bucket property. For the changes of a
table also the writes that deleted them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.layout import (
    BUCKET,
    CURRENT_TRANSACTION,
    OPERATION,
    OPERATION_DELETE,
    ORIGINAL_TRANSACTION,
    ROW_ID,
)
from acidsql.arrow.scan.orc_columns import OrcFile, acid_columns
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.delete_applicability import RowRange, visible_mask
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.file_systems import FileSystem
from acidsql.values.numpy_arrays import stored_numbers

Longs: TypeAlias = "NDArray[np.int64]"
_COLUMNS: Final = (OPERATION, ORIGINAL_TRANSACTION, BUCKET, ROW_ID, CURRENT_TRANSACTION)


@dataclass(frozen=True, slots=True)
class RowIds:
    """The row IDs of some rows: write IDs, bucket properties and numbers, an array for each."""

    write_id: Longs
    bucket: Longs
    row: Longs

    def filtered(self, which: NDArray[np.bool_] | Longs) -> RowIds:
        """Those in a mask, or at some positions in their order."""
        return RowIds(self.write_id[which], self.bucket[which], self.row[which])

    @classmethod
    def joined(cls, parts: Sequence[RowIds]) -> RowIds:
        """Those of all parts, one behind the other."""
        none = [np.zeros(0, np.int64)]
        return cls(
            np.concatenate([p.write_id for p in parts] or none),
            np.concatenate([p.bucket for p in parts] or none),
            np.concatenate([p.row for p in parts] or none),
        )


@dataclass(frozen=True, slots=True)
class DeletedRowIds:
    """The numbers of the deleted rows, sorted, by write ID and bucket property."""

    by_write: dict[tuple[int, int], Longs]

    def within(self, keys: RowRange) -> Longs:
        """The numbers of the deleted rows in a range of row IDs."""
        deleted = self.by_write.get((keys.write_id, keys.bucket_property))
        if deleted is None:
            return np.zeros(0, np.int64)
        start, stop = np.searchsorted(deleted, (keys.row_ids.start, keys.row_ids.stop))
        return deleted[start:stop]

    def contains(self, ids: RowIds) -> NDArray[np.bool_]:
        """For each row ID, whether its row is deleted."""
        found = np.zeros(len(ids.row), np.bool_)
        for start, stop in runs(ids):
            deleted = self.by_write.get((int(ids.write_id[start]), int(ids.bucket[start])))
            if deleted is not None:
                rows = ids.row[start:stop]
                places = np.searchsorted(deleted, rows)
                places[places == len(deleted)] = 0
                found[start:stop] = deleted[places] == rows
        return found


@dataclass(frozen=True, slots=True)
class FirstDeletes:
    """The first delete event of each deleted row of a partition, by write ID and bucket property: `deleters` are the
    write IDs of the events, and `labels` their labels, in the order of the rows in `ids`."""

    ids: DeletedRowIds
    deleters: dict[tuple[int, int], Longs]
    labels: dict[tuple[int, int], Longs]

    def of(self, rows: RowIds) -> tuple[Longs, Longs]:
        """The deleters and the labels of deleted rows."""
        deleters, labels = np.zeros(len(rows.row), np.int64), np.zeros(len(rows.row), np.int64)
        for start, stop in runs(rows):
            key = int(rows.write_id[start]), int(rows.bucket[start])
            places = np.searchsorted(self.ids.by_write[key], rows.row[start:stop])
            deleters[start:stop], labels[start:stop] = self.deleters[key][places], self.labels[key][places]
        return deleters, labels


def deleted_row_ids(files: FileSystem, deletes: Iterable[SourceFile]) -> DeletedRowIds:
    """The row IDs in the visible delete events of some files, which are read stripe by stripe. Raises
    MALFORMED_LAYOUT."""
    found: dict[tuple[int, int], list[Longs]] = {}
    for file in deletes:
        for ids, _ in _visible_events(files, file):
            for start, stop in runs(ids):
                key = (int(ids.write_id[start]), int(ids.bucket[start]))
                found.setdefault(key, []).append(ids.row[start:stop])
    return DeletedRowIds({key: _sorted(parts) for key, parts in found.items()})


def first_deletes(
    files: FileSystem,
    deletes: Mapping[int, Sequence[SourceFile]],
    are_wanted: Callable[[Longs], NDArray[np.bool_]],
) -> FirstDeletes:
    """The first one of the visible delete events of each row whose deleters are wanted, from the files of each label.
    Of two events of one write, the one with the lower label counts. Raises MALFORMED_LAYOUT."""
    found: dict[tuple[int, int], list[NDArray[np.int64]]] = {}
    for label, of_label in deletes.items():
        for file in of_label:
            for ids, deleter in _visible_events(files, file):
                for start, stop in runs(ids):
                    key = (int(ids.write_id[start]), int(ids.bucket[start]))
                    rows, deleters = ids.row[start:stop], deleter[start:stop]
                    events = np.stack([rows, deleters, np.full(len(rows), label, np.int64)])[:, are_wanted(deleters)]
                    if events.size:
                        found.setdefault(key, []).append(events)
    ids_of, deleters_of, labels_of = {}, {}, {}
    for key, parts in found.items():
        rows, deleters, labels = np.concatenate(parts, axis=1)
        order = np.lexsort((labels, deleters, rows))
        ids_of[key], firsts = np.unique(rows[order], return_index=True)
        deleters_of[key], labels_of[key] = deleters[order][firsts], labels[order][firsts]
    return FirstDeletes(DeletedRowIds(ids_of), deleters_of, labels_of)


def _visible_events(files: FileSystem, file: SourceFile) -> Iterator[tuple[RowIds, Longs]]:
    """The row IDs that the visible events of a stripe delete, and the write IDs of the events."""
    opened = OrcFile(files, file)
    for stripe, _, _ in opened.stripe_starts():
        columns, _ = opened.read(stripe, acid_columns(*_COLUMNS), ())
        operation, write_id, bucket, row, deleter = (longs(c, file.origin) for c in columns)
        seen = visible_mask(deleter, file.hidden)
        if (operation[seen] != OPERATION_DELETE).any():
            reason = "a delete_delta holds an event that is not a delete"
            raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=file.origin, reason=reason)
        yield RowIds(write_id, bucket, row).filtered(seen), deleter[seen]


def longs(column: Any, path: str) -> Longs:
    """An ACID column as numbers. Raises MALFORMED_LAYOUT for a NULL in it."""
    if column.null_count:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event has a NULL in an ACID column")
    return np.asarray(stored_numbers(column.cast(pa.int64())), np.int64)


def _sorted(parts: Sequence[Longs]) -> Longs:
    return np.unique(np.concatenate(parts))


def runs(ids: RowIds) -> Iterable[tuple[int, int]]:
    """The ranges of rows with one write ID and one bucket property."""
    if not len(ids.row):
        return ()
    changes = np.flatnonzero((np.diff(ids.write_id) != 0) | (np.diff(ids.bucket) != 0)) + 1
    return zip([0, *changes.tolist()], [*changes.tolist(), len(ids.row)], strict=True)
