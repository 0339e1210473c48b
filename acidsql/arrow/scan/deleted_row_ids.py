"""The row IDs of a partition's deleted rows: a sorted array for each write ID and bucket property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from acidsql.acid.row_id import RowId
from acidsql.acid.write_ids import WriteId
from acidsql.arrow.scan.orc_columns import OrcFile, acid_columns
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.delete_applicability import visible_mask
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.file_systems import FileSystem

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

    def listed(self) -> list[RowId]:
        columns = (self.write_id.tolist(), self.bucket.tolist(), self.row.tolist())
        return [RowId(WriteId(w), b, r) for w, b, r in zip(*columns, strict=True)]

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

    @classmethod
    def of(cls, ids: Iterable[RowId]) -> DeletedRowIds:
        """Some row IDs, in any order."""
        found: dict[tuple[int, int], list[int]] = {}
        for each in ids:
            found.setdefault((each.write_id, each.bucket_property), []).append(each.row_id)
        return cls({key: np.unique(np.array(rows, np.int64)) for key, rows in found.items()})

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


def deleted_row_ids(files: FileSystem, deletes: Iterable[SourceFile]) -> DeletedRowIds:
    """The row IDs in the visible delete events of some files, which are read stripe by stripe. Raises
    MALFORMED_LAYOUT."""
    found: dict[tuple[int, int], list[Longs]] = {}
    for file in deletes:
        for ids, _ in visible_events(files, file):
            for start, stop in runs(ids):
                key = (int(ids.write_id[start]), int(ids.bucket[start]))
                found.setdefault(key, []).append(ids.row[start:stop])
    return DeletedRowIds({key: _sorted(parts) for key, parts in found.items()})


def visible_events(files: FileSystem, file: SourceFile) -> Iterator[tuple[RowIds, Longs]]:
    """The row IDs that the visible delete events of a file name, and the write IDs of the events, by stripe. Raises
    MALFORMED_LAYOUT."""
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
    return np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)


def _sorted(parts: Sequence[Longs]) -> Longs:
    return np.unique(np.concatenate(parts))


def runs(ids: RowIds) -> Iterable[tuple[int, int]]:
    """The ranges of rows with one write ID and one bucket property."""
    if not len(ids.row):
        return ()
    changes = np.flatnonzero((np.diff(ids.write_id) != 0) | (np.diff(ids.bucket) != 0)) + 1
    return zip([0, *changes.tolist()], [*changes.tolist(), len(ids.row)], strict=True)
