"""The events of single rows in all files of a full ACID table, also in those that no reader reads.

Row IDs in footers rule out files and stripes. Of the others the ACID columns are read, and of the rows that are found
the values, one by one where the file allows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.directories import Base, Delta
from acidsql.acid.hive_types import parse_type
from acidsql.acid.layout import BUCKET, CURRENT_TRANSACTION, ORIGINAL_TRANSACTION, ROW_ID
from acidsql.acid.partition_names import value_as_read
from acidsql.acid.row_id import RowId
from acidsql.acid.write_ids import WriteId
from acidsql.arrow.python_values import python_rows
from acidsql.arrow.scan.deleted_row_ids import DeletedRowIds, Longs, RowIds, longs
from acidsql.arrow.scan.live_rows import PreparedRows, ids_of_plain_rows
from acidsql.arrow.scan.orc_columns import OrcFile, acid_columns
from acidsql.arrow.scan.partition_constants import partition_constant
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.arrow.scan.stored_arrays import padded
from acidsql.arrow.scan.widened_values import check_readable, stored_values
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.conditions.row_predicates import RowPredicate
from acidsql.planner.plan import Scan
from acidsql.snapshot.changed_files import Bounds, key_bounds, meets
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories, Wanted
from acidsql.storage.orc.tail import BUCKET_COLUMN, CURRENT_TRANSACTION_COLUMN, ORIGINAL_TRANSACTION_COLUMN
from acidsql.values.numpy_arrays import number_array

_IDS: Final = (ORIGINAL_TRANSACTION, BUCKET, ROW_ID)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row in a file, by its number there."""

    place: RowPlace
    file: SourceFile
    number: int


@dataclass(frozen=True, slots=True)
class StoredDelete:
    """An event that deletes a row, by the write ID `deleter`."""

    place: RowPlace
    file: SourceFile
    deleter: WriteId


@dataclass(frozen=True)
class EventFiles:
    """Finds events in the files of a table."""

    stored: StoredDirectories

    def matching(self, scan: Scan, predicate: RowPredicate | None) -> Iterator[RowPlace]:
        """The rows for which a condition is true, in each file that holds them. Raises what `live_rows` raises."""
        prepared = PreparedRows.of(self.stored.all_rows(scan), self.stored.footers, [], predicate, row_ids=True)
        for rows in prepared.rows():
            assert rows.row_ids is not None
            yield from _places(rows.file.part, rows.row_ids)

    def rows(self, places: Collection[RowPlace]) -> list[StoredRow]:
        """The rows with these row IDs, in each file that holds them."""
        wanted = _by_part(places)
        found = []
        for file in self.stored.files_with_rows(_may_have_rows(wanted)):
            if (keys := wanted.get(file.part)) is not None and meets(key_bounds(file), keys.bounds):
                for first, ids in self._ids(file, keys.bounds):
                    numbers = np.flatnonzero(keys.ids.contains(ids))
                    places_here = _places(file.part, ids.filtered(numbers))
                    found += [StoredRow(p, file, first + int(n)) for p, n in zip(places_here, numbers, strict=True)]
        return found

    def deletes(self, places: Collection[RowPlace]) -> list[StoredDelete]:
        """The events that delete the rows with these row IDs, in each file that holds them."""
        wanted = _by_part(places)
        found = []
        for file in self.stored.files_with_deletes(_may_delete(wanted)):
            if (keys := wanted.get(file.part)) is not None and meets(key_bounds(file), keys.bounds):
                for ids, deleters in self._deletes(file):
                    numbers = np.flatnonzero(keys.ids.contains(ids))
                    places_here = _places(file.part, ids.filtered(numbers))
                    found += [
                        StoredDelete(p, file, WriteId(int(w)))
                        for p, w in zip(places_here, deleters[numbers], strict=True)
                    ]
        return found

    def inserted_by(self, write_id: WriteId, most: int) -> set[RowPlace] | None:
        """The rows that a write has inserted; None if they are more than `most`."""
        found: set[RowPlace] = set()
        for file in self.stored.files_with_rows(lambda _, parsed: may_have(parsed, write_id, write_id)):
            if _holds(key_bounds(file)[0], write_id):
                for _, ids in self._ids(file, ((write_id, write_id), None, None)):
                    found |= set(_places(file.part, ids.filtered(np.flatnonzero(ids.write_id == write_id)[: most + 1])))
                    if len(found) > most:
                        return None
        return found

    def deleted_by(self, write_id: WriteId, most: int) -> set[RowPlace] | None:
        """The rows that a write has deleted; None if they are more than `most`."""
        found: set[RowPlace] = set()
        for file in self.stored.files_with_deletes(lambda _, parsed: may_have(parsed, write_id, write_id)):
            if file.tail is None or _holds(file.tail.integer_range(CURRENT_TRANSACTION_COLUMN), write_id):
                for ids, deleters in self._deletes(file):
                    found |= set(_places(file.part, ids.filtered(np.flatnonzero(deleters == write_id)[: most + 1])))
                    if len(found) > most:
                        return None
        return found

    def all_rows(self, files: Iterable[SourceFile]) -> RowIds:
        """The row IDs of all rows in some files, in their order."""
        return RowIds.joined([ids for file in files for _, ids in self._ids(file, (None, None, None))])

    def all_deletes(self, files: Iterable[SourceFile]) -> RowIds:
        """The row IDs that the events in some files name, in their order."""
        return RowIds.joined([ids for file in files for ids, _ in self._deletes(file)])

    def values(self, rows: Iterable[StoredRow]) -> Mapping[RowPlace, Mapping[str, object]]:
        """The values of rows by the names of the table's columns.

        Raises NOT_YET_SUPPORTED, also where files have different rows with one row ID: a rebalance numbers all rows
        anew under the highest write ID, whose rows had these numbers before. Raises MALFORMED_LAYOUT.
        """
        by_file: dict[str, list[StoredRow]] = {}
        for row in rows:
            by_file.setdefault(row.file.path, []).append(row)
        found: dict[RowPlace, Mapping[str, object]] = {}
        for of_file in by_file.values():
            ordered = sorted(of_file, key=lambda row: row.number)
            values = self._values(ordered[0].file, [row.number for row in ordered])
            for row, each in zip(ordered, values, strict=True):
                if _are_of_two_rows(found.setdefault(row.place, each), each):
                    raise _renumbered(row.place.id)
        return found

    # -- files

    def _ids(self, file: SourceFile, bounds: Sequence[Bounds | None]) -> Iterator[tuple[int, RowIds]]:
        """The first row and the row IDs of each stripe that may have row IDs within the bounds."""
        orc = OrcFile(self.stored.files, file)
        for stripe, first, count in orc.stripe_starts():
            if not count or not _may_hold(orc, stripe, bounds):
                continue
            if not file.is_acid:
                yield first, ids_of_plain_rows(self.stored.content.table, file, np.arange(first, first + count))
                continue
            columns, _ = orc.read(stripe, acid_columns(*_IDS), ())
            yield first, RowIds(*(longs(column, file.origin) for column in columns))

    def _deletes(self, file: SourceFile) -> Iterator[tuple[RowIds, Longs]]:
        """The row IDs that the events of each stripe name, and the write IDs of the events."""
        orc = OrcFile(self.stored.files, file)
        for stripe, _, count in orc.stripe_starts():
            if count:
                columns, _ = orc.read(stripe, acid_columns(*_IDS, CURRENT_TRANSACTION), ())
                write_id, bucket, row, deleter = (longs(column, file.origin) for column in columns)
                yield RowIds(write_id, bucket, row), deleter

    def _values(self, file: SourceFile, numbers: Sequence[int]) -> list[Mapping[str, object]]:
        """The values of the rows of a file with these numbers, which ascend."""
        table, orc = self.stored.content.table, OrcFile(self.stored.files, file)
        present = list(enumerate(table.columns))[: len(file.names)]
        kinds = {c.name: parse_type(c.type) for c in table.all_columns}
        for i, column in present:
            check_readable(orc.types[i], kinds[column.name], column.name)
        orc.check_times([i for i, _ in present])
        arrays: dict[str, Any] = {}
        for (i, column), array in zip(present, _rows_of(orc, numbers, [i for i, _ in present]), strict=True):
            kind = kinds[column.name]
            arrays[column.name] = padded(stored_values(array, orc.types[i], kind, orc.calendar), kind)
        for column in table.columns[len(present) :]:
            arrays[column.name] = pa.nulls(len(numbers), column_type(kinds[column.name]))
        texts = self.stored.parts[file.part].values
        for column, text in zip(table.partition_columns, texts, strict=True):
            constant = partition_constant(value_as_read(text, column.type), column)
            arrays[column.name] = pa.repeat(constant, len(numbers))
        batch = pa.table(arrays).combine_chunks().to_batches()
        rows = python_rows(batch, [kinds[name] for name in arrays])
        return [dict(zip(arrays, row, strict=True)) for row in rows]


def _are_of_two_rows(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether values cannot be those of the same row in two files. NaN inside of a value is unequal to itself."""
    return one != other and repr(one) != repr(other)


def _renumbered(row_id: RowId) -> AcidSqlError:
    shown = f"({row_id.write_id}, {row_id.bucket_property}, {row_id.row_id})"
    feature = f"The life of a row whose row__id {shown} a rebalance has given to another row"
    hint = "The files from before the rebalance are still there. Once the cleaner has removed them, the ID is unique."
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint)


@dataclass(frozen=True)
class _Wanted:
    """Some row IDs of a partition."""

    places: Sequence[RowId]

    @cached_property
    def ids(self) -> DeletedRowIds:
        numbers: dict[tuple[int, int], list[int]] = {}
        for each in self.places:
            numbers.setdefault((each.write_id, each.bucket_property), []).append(each.row_id)
        return DeletedRowIds({key: np.unique(np.array(rows, np.int64)) for key, rows in numbers.items()})

    @cached_property
    def bounds(self) -> tuple[Bounds, ...]:
        columns = zip(*((i.write_id, i.bucket_property, i.row_id) for i in self.places), strict=True)
        return tuple((min(column), max(column)) for column in columns)


def _by_part(places: Iterable[RowPlace]) -> dict[int, _Wanted]:
    found: dict[int, list[RowId]] = {}
    for place in places:
        found.setdefault(place.part, []).append(place.id)
    return {part: _Wanted(ids) for part, ids in found.items()}


def _places(part: int, ids: RowIds) -> list[RowPlace]:
    columns = (ids.write_id.tolist(), ids.bucket.tolist(), ids.row.tolist())
    return [RowPlace(part, RowId(WriteId(w), b, r)) for w, b, r in zip(*columns, strict=True)]


def may_have(parsed: Base | Delta | None, low: int, high: int) -> bool:
    """Whether a directory may have rows, or delete events, of the writes from `low` to `high`, by its name."""
    match parsed:
        case Base(write_id):
            return low <= max(write_id, 0)
        case Delta(first, last):
            return first <= high and low <= last
        case None:
            return low <= 0


def _may_have_rows(wanted: Mapping[int, _Wanted]) -> Wanted:
    return lambda part, parsed: part in wanted and may_have(parsed, *wanted[part].bounds[0])


def _may_delete(wanted: Mapping[int, _Wanted]) -> Wanted:
    """A row is deleted by its own write or by a later one."""

    def is_wanted(part: int, parsed: Base | Delta | None) -> bool:
        return isinstance(parsed, Delta) and part in wanted and parsed.max_write_id >= wanted[part].bounds[0][0]

    return is_wanted


def _holds(bounds: Bounds | None, number: int) -> bool:
    return bounds is None or bounds[0] <= number <= bounds[1]


def _may_hold(orc: OrcFile, stripe: int, bounds: Sequence[Bounds | None]) -> bool:
    """Whether a stripe may have row IDs within the bounds, by its statistics."""
    if not orc.source.is_acid:
        return True
    for column, bound in zip((ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN), bounds, strict=False):
        known = orc.tail.stripe_integer_ranges(column)
        if bound is not None and stripe < len(known) and not meets((known[stripe],), (bound,)):
            return False
    return True


def _rows_of(orc: OrcFile, numbers: Sequence[int], positions: Sequence[int]) -> list[Any]:
    """Columns of some rows, by their numbers in the file."""
    found = orc.read_rows(numbers, (), positions)
    if found is not None:
        return found
    wanted = np.asarray(numbers, np.int64)
    parts: list[list[Any]] = []
    for stripe, first, count in orc.stripe_starts():
        here: NDArray[np.int64] = wanted[(wanted >= first) & (wanted < first + count)] - first
        if len(here):
            _, columns = orc.read(stripe, (), positions)
            parts.append([column.take(number_array(here, pa.int64())) for column in columns])
    return [pa.concat_arrays(columns) for columns in zip(*parts, strict=True)]
