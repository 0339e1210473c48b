"""A major compaction without Spark: this process reads the rows that are not deleted, and writes a file per bucket.

The files are those that the jobs of `acidsql.spark.compaction` leave. Few rows are all read before any is written; more
of them are streamed (streamed_compaction.py). What takes too much memory, and what pyarrow cannot read or write as Hive
does, is left to Spark.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.arrow.scan.deleted_row_ids import RowIds
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.parallel_reads import MemoryLimit, TooMuchMemoryError, read_in_threads
from acidsql.arrow.streamed_compaction import ascend, staged_in_order
from acidsql.arrow.write.changed_rows import filed, rows_to_read
from acidsql.errors import AcidSqlError
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.event_columns import inserted_columns
from acidsql.writing.compaction_files import ROWS, Job, Merged, Staged, amount, publish
from acidsql.writing.event_files import write_events
from acidsql.writing.file_slots import Slot

_MOST_BYTES: Final = 32 * 1024 * 1024
"""Compressed bytes of rows that are all in memory, at most."""
STREAMED_BYTES: Final = 8
"""How many compressed bytes are streamed, at most, for each byte of the setting."""
_MOST_MEMORY: Final = 512 * 1024 * 1024
"""Bytes of memory that the rows may take. Writing them takes as much again."""
_MOST_ROWS: Final = 4_000_000


def compact_by_arrow(
    job: Job, footers: FooterCache, most_bytes: int, before_publishing: Callable[[], None]
) -> Merged | None:
    """Runs a compaction that `compaction_choice` gives to this engine, as `acidsql.spark.compaction.compact` does;
    None, and nothing is written, if its files show that it is one for Spark. It reads at most `most_bytes`, or eight
    times as many if the rows are in order."""
    size = amount(job).bytes
    if size <= min(_MOST_BYTES, most_bytes):
        staged = _staged(job, footers)
    else:
        staged = _streamed(job, footers, before_publishing)
    if staged is None:
        return None
    before_publishing()
    return publish(job, staged)


def _staged(job: Job, footers: FooterCache) -> list[Staged] | None:
    """Reads all rows, and then writes them; None, and nothing is written, if Spark has to do it."""
    buckets = _rows_by_bucket(job, footers)
    if buckets is None:
        return None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda item: _written(job, *item), buckets.items()))


def _streamed(job: Job, footers: FooterCache, check: Callable[[], None]) -> list[Staged] | None:
    """Writes the rows while it reads them; None, and nothing is written, if Spark has to do it."""
    try:
        prepared = PreparedRows.of(job.source, footers, [c.name for c in job.table.columns], row_ids=True)
    except (AcidSqlError, OSError, pa.ArrowException):  # Spark reads the files, or reports what is wrong with them
        return None
    return staged_in_order(job, prepared, check)


def _rows_by_bucket(job: Job, footers: FooterCache) -> dict[int, tuple[RowIds, Any]] | None:
    """The row IDs and the rows of each bucket; None if Spark has to read them."""
    names = [c.name for c in job.table.columns]
    try:
        prepared = PreparedRows.of(job.source, footers, names, row_ids=True)
        if rows_to_read(prepared) > _MOST_ROWS:
            return None
        found: dict[int, list[LiveRows]] = {}
        limit = MemoryLimit(_MOST_MEMORY)
        for pieces in read_in_threads(prepared, limit.taken):
            for bucket, some in (pair for rows in pieces for pair in _by_bucket(rows)):
                found.setdefault(bucket, []).append(some)
    except (AcidSqlError, OSError, pa.ArrowException, TooMuchMemoryError):
        return None  # Spark's way reads the file, or reports what is wrong with it
    merged = {bucket: _merged(job, pieces) for bucket, pieces in found.items()}
    known = {bucket: rows for bucket, rows in merged.items() if rows is not None}
    return known if len(known) == len(merged) else None


def _by_bucket(rows: LiveRows) -> list[tuple[int, LiveRows]]:
    """The rows by the bucket number that their row IDs have; mostly a file has those of one bucket."""
    if rows.row_ids is None or not rows.count:
        return []
    numbers = rows.row_ids.bucket.astype(np.int64) >> 16 & MAX_BUCKET
    if (numbers == numbers[0]).all():
        return [(int(numbers[0]), rows)]
    return [(int(number), _taken(rows, np.flatnonzero(numbers == number))) for number in np.unique(numbers)]


def _taken(rows: LiveRows, places: NDArray[np.int64]) -> LiveRows:
    assert rows.row_ids is not None
    columns = {name: column.take(pa.array(places)) for name, column in rows.columns.items()}
    return LiveRows(rows.file, rows.part, columns, rows.row_ids.filtered(places), rows.positions[places])


def _merged(job: Job, pieces: Sequence[LiveRows]) -> tuple[RowIds, Any] | None:
    """The row IDs, in their order, and the rows of one bucket, as an Arrow table; None if pyarrow cannot write a
    value."""
    columns = {}
    for number, column in enumerate(job.table.columns):
        array = filed(column, [rows.columns[column.name] for rows in pieces])
        if array is None:
            return None
        columns[f"_c{number}"] = array
    every = RowIds.joined([rows.row_ids for rows in pieces if rows.row_ids is not None])
    table = pa.table(columns)
    if ascend(every):
        return every, table
    order = np.lexsort((every.row, every.bucket, every.write_id))
    return every.filtered(order), table.take(pa.array(order)).combine_chunks()


def _written(job: Job, bucket: int, rows: tuple[RowIds, Any]) -> Staged:
    ids, table = rows
    events = inserted_columns(ids.write_id, ids.bucket.astype(np.int32), ids.row)
    file = write_events(job.files, job.staging, job.target, str(bucket), events, table, is_delete=False)
    return Staged(f"{job.staging}/{file.path}", Slot(ROWS, bucket), table.num_rows, file.pieces)
