"""The answer of a simple query as Arrow record batches, in a transaction that stays open while they are read."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from acidsql.acid.hive_types import HiveType, Primitive, has_instant, is_complex, parse_type
from acidsql.arrow.aggregates import aggregate_type, aggregated
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.spark_schema import ROW_ID_TYPE, column_type
from acidsql.arrow.scan.stored_arrays import padded
from acidsql.arrow.scan.table_changes import PreparedChanges
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.change_range import CHANGE_COLUMNS
from acidsql.planner.plan import QueryPlan, Scan
from acidsql.planner.simple_scan import Aggregate, SimpleScan
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import NO_WRITE_ID, BoundScan
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.file_systems import FilesOf
from acidsql.storage.footer_cache import FooterCache
from acidsql.values.numpy_arrays import mask_array, number_array, scalar

BATCH_ROWS: Final = 64 * 1024
MOST_CHANGES: Final = 10_000
"""The number of changed rows that are read for Spark."""
MOST_SORTED_BYTES: Final = 256 * 1024 * 1024
"""Bytes of memory that the rows of a sorted query take, at most."""
_DROPPED: SimpleQueue[Callable[[], None]] = SimpleQueue()
"""What ends the transactions of scans that nobody refers to any more. The garbage collector runs finalizers anywhere,
also inside a transaction of the metastore, so a finalizer only puts its function here: `put` may interrupt itself."""


def _end_dropped() -> None:
    while True:
        release = _DROPPED.get()
        with suppress(AcidSqlError):  # the session was closed, or the metastore is away
            release()


@lru_cache(maxsize=1)
def _start_ending() -> None:
    """Starts the thread that ends dropped scans, once in a process."""
    threading.Thread(target=_end_dropped, name="acidsql-dropped-scans", daemon=True).start()


os.register_at_fork(after_in_child=_start_ending.cache_clear)


@dataclass(frozen=True, slots=True)
class ArrowScans:
    """Opens the scans of a session. Footers of files are read once."""

    files_of: FilesOf
    footers: FooterCache
    time_zone: Callable[[], str]
    """The name of the session's time zone."""

    def open(self, plan: QueryPlan, view: ReadView, release: Callable[[], None]) -> ScanBatches:
        """The batches of a query that is a simple scan. `release` ends its transaction: it is called when the last
        batch was read, when nobody refers to the batches any more, and if an error is raised here.

        Raises what `live_rows` raises before the first row, and NOT_YET_SUPPORTED where ORDER BY has so many rows that
        only Spark sorts them, or a sum is beyond its type.
        """
        assert plan.simple is not None
        (scan,) = plan.scans
        try:
            bound = StatementSnapshots(self.files_of, view).bind(scan)
            names = {c.name for c in scan.table.all_columns} | (CHANGE_COLUMNS.keys() if scan.changes else set())
            simple = plan.simple
            read = [output.column for output in simple.outputs] + [key.column for key in simple.order]
            read += [one.column for one in simple.aggregates if one.column is not None]
            wanted = list(dict.fromkeys(name for name in read if name in names))
            return ScanBatches(scan, simple, self._prepared(bound, simple, wanted).rows(), release)
        except BaseException:
            release()
            raise

    def _prepared(self, bound: BoundScan, simple: SimpleScan, columns: Sequence[str]) -> PreparedRows | PreparedChanges:
        scan = bound.scan
        if scan.changes is not None:
            return PreparedChanges.of(bound, self.footers, columns, simple.predicate, self.time_zone())
        has_ids = scan.row_id is not None and any(o.column == scan.row_id for o in simple.outputs)
        return PreparedRows.of(bound, self.footers, columns, simple.predicate, row_ids=has_ids)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of the batches."""

    scan: Scan
    simple: SimpleScan
    kinds: tuple[HiveType, ...]
    schema: Any

    @classmethod
    def of(cls, scan: Scan, simple: SimpleScan) -> _Shape:
        kinds = [output_type(scan, output.column) for output in simple.outputs]
        kinds += [_type_of(scan, aggregate) for aggregate in simple.aggregates]
        names = [output.name for output in simple.outputs] + [aggregate.name for aggregate in simple.aggregates]
        fields = [pa.field(name, column_type(kind)) for name, kind in zip(names, kinds, strict=True)]
        return cls(scan, simple, tuple(kinds), pa.schema(fields))

    def batches(self, live: Iterator[LiveRows]) -> Iterator[Any]:
        """The batches in the order of the query. Those that are sorted are read at once, and so are aggregates."""
        if self.simple.aggregates:
            row = aggregated(live, self.simple.aggregates, self.kinds)
            return iter([pa.RecordBatch.from_arrays(row, schema=self.schema)])
        if self.simple.limit == 0:
            return iter(())
        return self._limited(iter([self._sorted(live)]) if self.simple.order else map(self._whole, live))

    def _whole(self, rows: LiveRows) -> Any:
        columns = [
            padded(_column(self.scan, rows, output.column), kind)
            for output, kind in zip(self.simple.outputs, self.kinds, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _sorted(self, live: Iterator[LiveRows]) -> Any:
        """All rows in the order of the keys. Raises NOT_YET_SUPPORTED."""
        order = self.simple.order
        kinds = [column_type(output_type(self.scan, key.column)) for key in order]
        found: list[tuple[Any, Sequence[Any]]] = []
        left = MOST_SORTED_BYTES
        for rows in live:
            found.append((self._whole(rows), [_column(self.scan, rows, key.column) for key in order]))
            left -= found[-1][0].get_total_buffer_size() + sum(key.get_total_buffer_size() for key in found[-1][1])
            if left < 0:
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="Sorting so many rows without Spark")
        keys: dict[str, Any] = {}
        directions = []
        for i, (key, kind) in enumerate(zip(order, kinds, strict=True)):
            column = pa.chunked_array([of_rows[i] for _, of_rows in found], kind)
            keys[f"null{i}"] = pc.is_null(column).cast(pa.int8())
            keys[f"key{i}"] = column.cast(pa.int8()) if pa.types.is_boolean(kind) else column
            directions.append((f"null{i}", "descending" if key.nulls_first else "ascending"))
            directions.append((f"key{i}", "descending" if key.descending else "ascending"))
        places = pc.sort_indices(pa.table(keys), sort_keys=directions)
        whole = pa.Table.from_batches([batch for batch, _ in found], self.schema)
        some = whole.take(places if self.simple.limit is None else places.slice(0, self.simple.limit))
        batches = some.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], self.schema)

    def _limited(self, found: Iterator[Any]) -> Iterator[Any]:
        left = self.simple.limit
        for whole in found:
            for start in range(0, whole.num_rows, BATCH_ROWS):
                batch = whole.slice(start, BATCH_ROWS if left is None else min(left, BATCH_ROWS))
                yield batch
                if left is not None:
                    left -= batch.num_rows
                    if left == 0:
                        return


class ScanBatches:
    """An iterator over record batches of at most BATCH_ROWS rows.

    Its transaction ends with the last batch, with an error, with `close`, and when nobody refers to the iterator any
    more; nothing that it holds refers to it, so that this is soon.
    """

    def __init__(self, scan: Scan, simple: SimpleScan, rows: Iterator[LiveRows], release: Callable[[], None]) -> None:
        shape = _Shape.of(scan, simple)
        self.kinds = shape.kinds
        self.schema = shape.schema
        self._rows = shape.batches(rows)
        _start_ending()
        self._release = release
        self._dropped = weakref.finalize(self, _DROPPED.put, release)
        self._dropped.atexit = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._rows)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the transaction. A second call does nothing."""
        self._dropped.detach()
        self._release()

    def reader(self) -> Any:
        """A RecordBatchReader over the batches."""
        return pa.RecordBatchReader.from_batches(self.schema, self)


def output_type(scan: Scan, column: str) -> HiveType:
    """The Hive type of a column of the scan."""
    if column == scan.row_id:
        return ROW_ID_TYPE
    if column == scan.file_name:
        return Primitive("string")
    if scan.changes is not None and column in CHANGE_COLUMNS:
        return CHANGE_COLUMNS[column]
    return next(parse_type(c.type) for c in scan.table.all_columns if c.name == column)


def _type_of(scan: Scan, aggregate: Aggregate) -> HiveType:
    column = None if aggregate.column is None else output_type(scan, aggregate.column)
    return aggregate_type(aggregate.function, column)


def few_changes(bound: BoundScan, footers: FooterCache, time_zone: str, most_searched: int) -> Any | None:
    """The changes of a scan as an Arrow table: the columns of the table, CHANGE_COLUMNS, and the virtual columns that
    the scan asks for. None if only Spark can read them, if there may be more than MOST_CHANGES of them, or if more than
    `most_searched` rows had to be searched for the deleted ones.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE.
    """
    scan = bound.scan
    columns = {c.name: parse_type(c.type) for c in scan.table.all_columns} | CHANGE_COLUMNS
    if scan.changes is None or scan.changes.compares_rows:
        return None
    if scan.table.file_format != "orc" or any(is_complex(kind) or has_instant(kind) for kind in columns.values()):
        return None
    try:
        prepared = PreparedChanges.of(bound, footers, list(columns), None, time_zone)
        if prepared.most_changes > MOST_CHANGES or prepared.searched_rows > most_searched:
            return None
        names = [*columns, *filter(None, (scan.row_id, scan.file_name))]
        schema = pa.schema([pa.field(name, column_type(output_type(scan, name))) for name in names])
        found = [[_column(scan, rows, name) for name in names] for rows in prepared.rows()]
    except AcidSqlError as error:
        if error.condition != Condition.NOT_YET_SUPPORTED.name:
            raise
        return None
    return pa.Table.from_batches([pa.RecordBatch.from_arrays(arrays, schema=schema) for arrays in found], schema)


def _column(scan: Scan, rows: LiveRows, name: str) -> Any:
    """A column of the scan, CHAR without its blanks."""
    if name == scan.row_id:
        return _row_ids(rows, full_acid=scan.table.is_full_acid)
    if name == scan.file_name:
        return pa.repeat(scalar(_file_name(rows.file.origin), pa.string()), rows.count)
    return rows.columns[name]


def _row_ids(rows: LiveRows, *, full_acid: bool) -> Any:
    """row__id: NULL where an insert-only table does not tell it, as in results of compactions."""
    ids = rows.row_ids
    assert ids is not None
    wanted = column_type(ROW_ID_TYPE)
    numbers: tuple[NDArray[Any], ...] = (ids.write_id, ids.bucket.astype(np.int32), ids.row)
    arrays = [number_array(column, of.type) for column, of in zip(numbers, wanted, strict=True)]
    mask = None if full_acid else mask_array(ids.write_id == NO_WRITE_ID)
    return pa.StructArray.from_arrays(arrays, fields=list(wanted), mask=mask)


def _file_name(path: str) -> str:
    return f"file:{path}" if path.startswith("/") else path
