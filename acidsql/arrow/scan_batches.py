"""The answer of a simple query as Arrow record batches, in a transaction that stays open while they are read."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.hive_types import HiveType, Primitive, parse_type
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.spark_schema import ROW_ID_TYPE, column_type
from acidsql.arrow.scan.stored_arrays import mask_array, number_array, padded
from acidsql.errors import AcidSqlError
from acidsql.planner.plan import QueryPlan, Scan, SimpleScan
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import NO_WRITE_ID
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.file_systems import FilesOf
from acidsql.storage.footer_cache import FooterCache

BATCH_ROWS: Final = 64 * 1024
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

    def open(self, plan: QueryPlan, view: ReadView, release: Callable[[], None]) -> ScanBatches:
        """The batches of a query that is a simple scan. `release` ends its transaction: it is called when the last
        batch was read, when nobody refers to the batches any more, and if an error is raised here.

        Raises what `live_rows` raises before the first row.
        """
        assert plan.simple is not None
        (scan,) = plan.scans
        try:
            bound = StatementSnapshots(self.files_of, view).bind(scan)
            names = {c.name for c in scan.table.all_columns}
            wanted = list(dict.fromkeys(o.column for o in plan.simple.outputs if o.column in names))
            has_ids = scan.row_id is not None and any(o.column == scan.row_id for o in plan.simple.outputs)
            prepared = PreparedRows.of(bound, self.footers, wanted, plan.simple.predicate, row_ids=has_ids)
            return ScanBatches(scan, plan.simple, prepared, release)
        except BaseException:
            release()
            raise


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of the batches."""

    scan: Scan
    simple: SimpleScan
    kinds: tuple[HiveType, ...]
    schema: Any

    @classmethod
    def of(cls, scan: Scan, simple: SimpleScan) -> _Shape:
        kinds = tuple(output_type(scan, output.column) for output in simple.outputs)
        fields = [pa.field(o.name, column_type(k)) for o, k in zip(simple.outputs, kinds, strict=True)]
        return cls(scan, simple, kinds, pa.schema(fields))

    def batches(self, live: Iterator[LiveRows]) -> Iterator[Any]:
        left = self.simple.limit
        if left == 0:
            return
        for rows in live:
            columns = [self._column(rows, o.column, k) for o, k in zip(self.simple.outputs, self.kinds, strict=True)]
            whole = pa.RecordBatch.from_arrays(columns, schema=self.schema)
            for start in range(0, rows.count, BATCH_ROWS):
                batch = whole.slice(start, BATCH_ROWS if left is None else min(left, BATCH_ROWS))
                yield batch
                if left is not None:
                    left -= batch.num_rows
                    if left == 0:
                        return

    def _column(self, rows: LiveRows, name: str, kind: HiveType) -> Any:
        if name == self.scan.row_id:
            return _row_ids(rows, full_acid=self.scan.table.is_full_acid)
        if name == self.scan.file_name:
            return pa.repeat(_file_name(rows.file.origin), rows.count)
        return padded(rows.columns[name], kind)


class ScanBatches:
    """An iterator over record batches of at most BATCH_ROWS rows.

    Its transaction ends with the last batch, with an error, with `close`, and when nobody refers to the iterator any
    more; nothing that it holds refers to it, so that this is soon.
    """

    def __init__(self, scan: Scan, simple: SimpleScan, prepared: PreparedRows, release: Callable[[], None]) -> None:
        shape = _Shape.of(scan, simple)
        self.kinds = shape.kinds
        self.schema = shape.schema
        self._rows = shape.batches(prepared.rows())
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
    return next(parse_type(c.type) for c in scan.table.all_columns if c.name == column)


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
