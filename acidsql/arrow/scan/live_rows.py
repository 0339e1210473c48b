"""The live rows of a scan, read by pyarrow: stripe by stripe, without Spark and Java.

    bound = StatementSnapshots(files_of, view).bind(scan)     # the snapshot, with the partitions that the scan needs
    for rows in live_rows(bound, FooterCache(OriginalFiles()), ["id", "name"], predicate, row_ids=True):
        rows.columns["name"]          # an Arrow array of the table's type; CHAR still without its blanks
        rows.row_ids.row              # NumPy arrays: write_id, bucket (the bucket property), row
        rows.positions                # the numbers of the rows in their file
        rows.file, rows.part          # the SourceFile, and the BoundPart with the partition's values and directory

`predicate` is a RowPredicate (acidsql.planner.conditions.row_predicates) without `Undecided` parts; only rows for which
it is true are given. `scan.row_filter` skips files and stripes by their statistics. The columns may be partition
columns too. One stripe's columns, and the row IDs of the deleted rows of one partition, are in memory at a time; of a
store also those of the files that are being fetched. The columns that the predicate does not name are read only for
stripes in which a row fulfils it. Rows come in the order of partitions, directories, files and positions.

The reader of a table must be in a transaction that keeps cleaners away (`acidsql.snapshot.read_transactions`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.acid.layout import (
    BUCKET,
    CURRENT_TRANSACTION,
    OPERATION,
    OPERATION_INSERT,
    ORIGINAL_TRANSACTION,
    ROW_ID,
)
from acidsql.acid.partition_names import value_as_read
from acidsql.acid.table import Column, Table
from acidsql.arrow.scan.deleted_row_ids import DeletedRowIds, Longs, RowIds, deleted_row_ids, longs
from acidsql.arrow.scan.orc_columns import WAY_OUT, OrcFile, acid_columns, unreadable
from acidsql.arrow.scan.orc_single_rows import ROWS_PER_LOOKUP
from acidsql.arrow.scan.parquet_columns import parquet_batches
from acidsql.arrow.scan.partition_constants import partition_constant
from acidsql.arrow.scan.predicate_masks import true_rows
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.arrow.scan.stored_arrays import column_values
from acidsql.arrow.scan.widened_values import check_readable, stored_values
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.conditions.row_predicates import RowPredicate, columns_of
from acidsql.snapshot.delete_applicability import applicable_delete_files, row_range, visible_mask
from acidsql.snapshot.file_skipping import FileSkipping
from acidsql.snapshot.scan_binding import BoundPart, BoundScan, SourceFile, data_files
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.local_files import LocalFiles
from acidsql.values.numpy_arrays import mask_array

READABLE_FORMATS: Final = ("orc", "parquet")
PARQUET_BATCH_ROWS: Final = 64 * 1024
_AHEAD: Final = 4
"""Files that are being fetched while one is read."""
_IDS: Final = (ORIGINAL_TRANSACTION, BUCKET, ROW_ID)


@dataclass(frozen=True, slots=True)
class LiveRows:
    """Some live rows of one file. `columns` has the arrays of the wanted columns by their names."""

    file: SourceFile
    part: BoundPart
    columns: Mapping[str, Any]
    row_ids: RowIds | None
    positions: Longs

    @property
    def count(self) -> int:
        return len(self.positions)


def live_rows(
    bound: BoundScan,
    footers: FooterCache,
    columns: Sequence[str],
    predicate: RowPredicate | None = None,
    *,
    row_ids: bool = False,
) -> Iterator[LiveRows]:
    """The live rows for which the predicate is true.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE, NOT_YET_SUPPORTED; all but damage inside of a file is found before the first
    row.
    """
    return PreparedRows.of(bound, footers, columns, predicate, row_ids=row_ids).rows()


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """The files of a scan with what is to be read of them, checked."""

    bound: BoundScan
    files: Sequence[SourceFile]
    deletes: Sequence[SourceFile]
    columns: Sequence[str]
    predicate: RowPredicate | None
    row_ids: bool
    skipping: FileSkipping
    only: Mapping[int, DeletedRowIds] | None = None
    """The row IDs of the rows that are wanted, by the number of their part; None if all are."""

    @classmethod
    def of(
        cls,
        bound: BoundScan,
        footers: FooterCache,
        columns: Sequence[str],
        predicate: RowPredicate | None = None,
        *,
        row_ids: bool = False,
    ) -> PreparedRows:
        """Finds the files. Raises what `live_rows` raises before the first row."""
        table = bound.table
        if table.file_format not in READABLE_FORMATS:
            feature = f"Reading {table.qualified}, stored as {table.file_format}, without Spark"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=WAY_OUT)
        skipping = FileSkipping(bound.scan)
        files = skipping.files(data_files(bound, footers))
        deletes = applicable_delete_files(bound, footers) if files and table.is_full_acid else []
        prepared = cls(bound, files, deletes, columns, predicate, row_ids, skipping)
        prepared._check()
        return prepared

    def _check(self) -> None:
        wanted = set(self.columns) | (columns_of(self.predicate) if self.predicate is not None else frozenset())
        for i, column in enumerate(self.bound.table.partition_columns):
            if column.name in wanted:
                for part in self.bound.parts:
                    partition_constant(value_as_read(part.values[i], column.type), column)
        columns = [(i, c) for i, c in enumerate(self.bound.table.columns) if c.name in wanted]
        for file in self.files:
            if file.tail is not None:
                orc = OrcFile(self.bound.files, file)
                present = [(i, c) for i, c in columns if i < len(file.names)]
                for i, column in present:
                    check_readable(orc.types[i], parse_type(column.type), column.name)
                orc.check_times([i for i, _ in present])

    def rows(self) -> Iterator[LiveRows]:
        """Of a store, the rows of a file are given while the next files are being fetched."""
        ahead = 0 if isinstance(self.bound.files, LocalFiles) else _AHEAD
        begun: deque[Iterator[LiveRows]] = deque()
        for reader in self.readers():
            begun.append(reader.rows())
            if len(begun) > ahead:
                yield from begun.popleft()
        while begun:
            yield from begun.popleft()

    def readers(self) -> Iterator[FileReader]:
        """The readers of the files, of which several may run at once."""
        deletes: dict[int, list[SourceFile]] = {}
        for file in self.deletes:
            deletes.setdefault(file.part, []).append(file)
        part, deleted = -1, None
        for file in self.files:
            if file.part != part:
                part = file.part
                of_part = deletes.get(part)
                deleted = deleted_row_ids(self.bound.files, of_part) if of_part else None
            yield FileReader(self, file, deleted)

    def parquet_rows(self, file: SourceFile) -> Iterator[LiveRows]:
        stored = [c.name for c in self.bound.table.columns if c.name in self.needed]
        first = 0
        for count, found, calendar in parquet_batches(self.bound.files, file, stored, PARQUET_BATCH_ROWS):
            values = _Values(self, file, count)
            for name, array in zip(stored, found, strict=True):
                values.put(name, None if array is None else column_values(array, values.kinds[name], calendar))
            yield from self._given(file, values, None, np.arange(first, first + count), None)
            first += count

    @property
    def needed(self) -> frozenset[str]:
        """The columns that are given, and those of the predicate."""
        return frozenset(self.columns) | self.tested

    @property
    def tested(self) -> frozenset[str]:
        return columns_of(self.predicate) if self.predicate is not None else frozenset()

    def _given(
        self, file: SourceFile, values: _Values, ids: RowIds | None, positions: Longs, mask: NDArray[np.bool_] | None
    ) -> Iterator[LiveRows]:
        """The rows in `mask` for which the predicate is true."""
        if self.predicate is not None:
            mask = _both(mask, true_rows(self.predicate, values.array, values.kinds, len(positions)))
        if mask is not None and mask.all():
            mask = None
        if mask is not None:
            if not mask.any():
                return
            ids, positions = None if ids is None else ids.filtered(mask), positions[mask]
        arrays = {name: values.given(name, mask) for name in self.columns}
        wanted = (ids or ids_of_plain_rows(self.bound.table, file, positions)) if self.row_ids else None
        yield LiveRows(file, self.bound.parts[file.part], arrays, wanted, positions)


@dataclass(frozen=True, slots=True)
class FileReader:
    """A file of a scan, and the deleted rows of its partition."""

    prepared: PreparedRows
    file: SourceFile
    deleted: DeletedRowIds | None

    def rows(self) -> Iterator[LiveRows]:
        """The file's live rows for which the predicate is true. The first of them are being fetched when this
        returns, if the file is not on this machine."""
        if self.file.tail is None:
            return self.prepared.parquet_rows(self.file)
        only = None if self.prepared.only is None else self.prepared.only.get(self.file.part, DeletedRowIds({}))
        rows = _OrcRows(self.prepared, OrcFile(self.prepared.bound.files, self.file), self.deleted, only)
        rows.begin()
        return rows.rows()


class _Values:
    """The columns of some rows of a file, as values of the table's types."""

    def __init__(self, prepared: PreparedRows, file: SourceFile, count: int) -> None:
        table = prepared.bound.table
        self._table = table
        self._file = file
        self._part = prepared.bound.parts[file.part]
        self._count = count
        self._arrays: dict[str, Any] = {}
        self._later: dict[str, Callable[[], Any]] = {}
        self.kinds: dict[str, HiveType] = {c.name: parse_type(c.type) for c in table.all_columns}
        for i, column in enumerate(table.partition_columns):
            value = value_as_read(self._part.values[i], column.type)
            self._later[column.name] = partial(_constants, value, column, count)

    def put(self, name: str, array: Any | None) -> None:
        """Adds a column of the file; None for one that the file does not have."""
        self._arrays[name] = pa.nulls(self._count, column_type(self.kinds[name])) if array is None else array

    def array(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self._later[name]()
        return self._arrays[name]

    def filtered(self, prepared: PreparedRows, mask: NDArray[np.bool_]) -> _Values:
        """The same columns of the rows in `mask`."""
        few = _Values(prepared, self._file, int(mask.sum()))
        for name in self._arrays:
            few._arrays[name] = self.given(name, mask)
        return few

    def given(self, name: str, mask: NDArray[np.bool_] | None) -> Any:
        array = self.array(name)
        return array if mask is None else array.filter(mask_array(mask))


def _both(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """The rows of both masks. None is the mask of all rows."""
    return other if one is None else one if other is None else one & other


def _constants(text: str | None, column: Column, count: int) -> Any:
    """A partition column. Its text is looked at only where somebody wants the column, for only then was it checked."""
    return pa.repeat(partition_constant(text, column), count)


def ids_of_plain_rows(table: Table, file: SourceFile, positions: Longs) -> RowIds:
    """The row IDs of a file without ACID columns. All rows of an insert-only file have the row ID 0."""
    rows = positions + file.first_row if table.is_full_acid else np.zeros(len(positions), np.int64)
    count = len(positions)
    return RowIds(np.full(count, file.write_id, np.int64), np.full(count, file.bucket_property, np.int64), rows)


def _are_few(wanted: int, rows: int) -> bool:
    """Whether it is faster to look up the wanted rows of a stripe than to read all its rows."""
    return wanted * ROWS_PER_LOOKUP <= rows


_Found: TypeAlias = tuple[_Values, Mapping[str, Longs]]
"""Columns of some rows, and their ACID columns."""


@dataclass(frozen=True)
class _OrcRows:
    """The live rows of an ORC file."""

    prepared: PreparedRows
    orc: OrcFile
    deleted: DeletedRowIds | None
    only: DeletedRowIds | None = None

    def begin(self) -> None:
        """Begins to fetch the first stripe."""
        for stripe, _, _ in islice(self._needed, 1):
            self.orc.fetch_ahead(stripe, *self._read_first)

    def rows(self) -> Iterator[LiveRows]:
        for number, (stripe, first, count) in enumerate(self._needed):
            self.orc.fetch(stripe, *self._read_first)
            for following, _, _ in self._needed[number + 1 : number + 2]:
                self.orc.fetch_ahead(following, *self._read_first)
            yield from self._stripe_rows(stripe, first, count)

    @cached_property
    def _needed(self) -> Sequence[tuple[int, int, int]]:
        """The stripes that may have wanted rows, with their first rows and numbers of rows."""
        needed = set(self.prepared.skipping.stripes(self.orc.source))
        return [found for found in self.orc.stripe_starts() if found[0] in needed and found[2]]

    @cached_property
    def _read_first(self) -> tuple[Sequence[int], Sequence[int]]:
        """The columns that are read of every stripe, ACID columns and those of the table. The others follow where the
        predicate is true for a row."""
        prepared = self.prepared
        acid = () if self._ids_wait else self._acid_columns()
        all_are_wanted = prepared.predicate is None and self.only is None
        names = prepared.needed if all_are_wanted else prepared.tested
        _, present = self._columns(names)
        return acid_columns(*acid), [i for i, _ in present]

    @property
    def _ids_wait(self) -> bool:
        """Whether row IDs can wait until it is known which rows are wanted. The operation of every event is looked at
        first."""
        has_other_columns = self.prepared.predicate is not None and self.only is None
        return has_other_columns and OPERATION not in self._acid_columns()

    def _stripe_rows(self, stripe: int, first: int, count: int) -> Iterator[LiveRows]:
        prepared, file = self.prepared, self.orc.source
        acid = self._acid_columns()
        if self.only is not None and (wanted := self._numbered_rows(range(first, first + count), acid)) is not None:
            yield from wanted
            return
        positions = np.arange(first, first + count)
        values = _Values(prepared, file, count)
        ids_wait = self._ids_wait
        found = self._read(stripe, values, prepared.tested, () if ids_wait else acid)
        ids, mask = (None, None) if ids_wait else self._live(found, positions)
        if prepared.predicate is not None:
            mask = _both(mask, true_rows(prepared.predicate, values.array, values.kinds, count))
        if mask is not None and not mask.any():
            return
        if mask is not None and (ids_wait or self.only is not None) and _are_few(int(mask.sum()), count):
            few = self._single_rows(positions[mask], acid, values.filtered(prepared, mask), prepared.tested)
            if few is not None:
                yield from self._living(few, positions[mask])
                return
        rest = self._read(stripe, values, prepared.needed - prepared.tested, acid if ids_wait else ())
        if ids_wait:
            ids, live = self._live(rest, positions)
            mask = _both(mask, live)
        yield from prepared._given(file, values, ids, positions, mask)

    def _numbered_rows(self, stripe: range, acid: Sequence[str]) -> Iterator[LiveRows] | None:
        """The wanted rows of a stripe that has these rows, found by their row IDs; None if these do not tell the places
        of the rows, or if the rows are many."""
        keys = row_range(self.orc.source)
        if keys is None or self.only is None:
            return None
        numbers = self.only.within(keys) - keys.row_ids.start
        numbers = numbers[(numbers >= stripe.start) & (numbers < stripe.stop)]
        if not len(numbers):
            return iter(())
        if not _are_few(len(numbers), len(stripe)):
            return None
        found = self._single_rows(numbers, acid, _Values(self.prepared, self.orc.source, len(numbers)), ())
        if found is None:
            return None
        _, events = found
        if ROW_ID in events and not np.array_equal(events[ROW_ID] - keys.row_ids.start, numbers):
            return None  # the rows are in another order
        return self._living(found, numbers)

    def _single_rows(
        self, numbers: Longs, acid: Sequence[str], values: _Values, known: Collection[str]
    ) -> _Found | None:
        """Looks up the rows with these numbers one by one. `values` has the `known` columns of them, and gets the
        others. None if the file has to be read by stripes."""
        wanted, present = self._columns(self.prepared.needed - frozenset(known))
        found = self.orc.read_rows(numbers.tolist(), acid_columns(*acid), [i for i, _ in present])
        if found is None:
            return None
        self._put(values, wanted, present, found[len(acid) :])
        return values, self._events(acid, found[: len(acid)])

    def _living(self, found: _Found, numbers: Longs) -> Iterator[LiveRows]:
        """Those of the rows with these numbers that are live."""
        values, events = found
        ids, live = self._live(events, numbers)
        return self.prepared._given(self.orc.source, values, ids, numbers, live)

    def _read(self, stripe: int, values: _Values, names: Collection[str], acid: Sequence[str]) -> Mapping[str, Longs]:
        """Reads columns of a stripe into `values`, and gives its ACID columns."""
        wanted, present = self._columns(names)
        events, found = self.orc.read(stripe, acid_columns(*acid), [i for i, _ in present])
        self._put(values, wanted, present, found)
        return self._events(acid, events)

    def _columns(self, names: Collection[str]) -> tuple[Sequence[tuple[int, str]], Sequence[tuple[int, str]]]:
        """The columns with these names by their positions in the table, and those of them that the file has."""
        wanted = [(i, c.name) for i, c in enumerate(self.prepared.bound.table.columns) if c.name in names]
        return wanted, [(i, name) for i, name in wanted if i < len(self.orc.source.names)]

    def _put(
        self,
        values: _Values,
        wanted: Sequence[tuple[int, str]],
        present: Sequence[tuple[int, str]],
        found: Sequence[Any],
    ) -> None:
        try:
            for (i, name), array in zip(present, found, strict=True):
                values.put(name, stored_values(array, self.orc.types[i], values.kinds[name], self.orc.calendar))
        except pa.ArrowException as error:  # such as a number that the column's DECIMAL cannot hold
            raise unreadable(error, self.orc.source.origin) from error
        for _, name in wanted[len(present) :]:
            values.put(name, None)

    def _events(self, acid: Sequence[str], found: Sequence[Any]) -> Mapping[str, Longs]:
        return {name: longs(array, self.orc.source.origin) for name, array in zip(acid, found, strict=True)}

    def _acid_columns(self) -> list[str]:
        """The ACID columns that tell which events of the file are live rows, and their IDs."""
        file = self.orc.source
        if not file.is_acid:
            return []
        unknown = [] if file.is_all(OPERATION_INSERT) and not file.hidden else [OPERATION, CURRENT_TRANSACTION]
        are_compared = self.deleted is not None or self.only is not None
        return [*unknown, *(_IDS if are_compared or self.prepared.row_ids else ())]

    def _live(self, events: Mapping[str, Longs], positions: Longs) -> tuple[RowIds | None, NDArray[np.bool_] | None]:
        file, table = self.orc.source, self.prepared.bound.table
        mask = None
        if CURRENT_TRANSACTION in events:
            mask = visible_mask(events[CURRENT_TRANSACTION], file.hidden)
            if (events[OPERATION][mask] != OPERATION_INSERT).any():
                raise AcidSqlError(Condition.ACID_V1_FILE, path=file.origin, table=table.qualified)
        ids = None
        if ROW_ID in events:
            ids = RowIds(events[ORIGINAL_TRANSACTION], events[BUCKET], events[ROW_ID])
        elif self.deleted is not None or self.only is not None:
            ids = ids_of_plain_rows(table, file, positions)
        if self.deleted is not None and ids is not None:
            mask = _both(mask, ~self.deleted.contains(ids))
        if self.only is not None and ids is not None:
            mask = _both(mask, self.only.contains(ids))
        return ids, mask
