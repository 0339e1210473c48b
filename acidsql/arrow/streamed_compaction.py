"""A major compaction without Spark of more rows than are kept in memory, for files whose rows are in order.

Mostly all rows of a file come before or behind all rows of any other file of its bucket (acidsql.writing.merge_order).
Then the files are read one behind the other, a stripe at a time, and written as they come. Threads write the buckets,
or parts of them, at the same time; the parts of a bucket become stripes of one file.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from acidsql.acid.partition_names import escape
from acidsql.acid.row_id import MAX_BUCKET, decode_bucket
from acidsql.arrow.scan.deleted_row_ids import RowIds
from acidsql.arrow.scan.live_rows import FileReader, LiveRows, PreparedRows
from acidsql.arrow.write.changed_rows import filed
from acidsql.errors import AcidSqlError
from acidsql.storage.file_systems import SCRATCH
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.event_columns import inserted_columns
from acidsql.storage.orc.orc_footers import adds_acid_columns
from acidsql.writing.compaction_files import IN_ORDER, Job, Staged, finish
from acidsql.writing.event_files import EventFile, are_in_order
from acidsql.writing.file_slots import SLOT
from acidsql.writing.merge_order import Extremes, extremes
from acidsql.writing.task_files import listed

_MOST_MEMORY: Final = 1024 * 1024 * 1024
"""Bytes of memory that the stripes may take which are read and written at a time."""
_EXPANDED: Final = 8
"""Bytes of memory that a thread takes for each compressed byte of a stripe: for the rows that it reads, for those that
are left, and for those that it writes."""


class _ForSparkError(Exception):
    """The rows are not in order, or pyarrow cannot read or write them as Hive does."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the compaction, its bucket, and the bounds of its rows."""

    reader: FileReader
    bucket: int
    bounds: Extremes


@dataclass(frozen=True, slots=True)
class _Part:
    """Files of a bucket that are written by one thread, one behind the other."""

    bucket: int
    number: int
    readers: Sequence[FileReader]


def staged_in_order(job: Job, prepared: PreparedRows, check: Callable[[], None]) -> list[Staged] | None:
    """Stages the files of the compaction; None, and nothing is staged, if it is one for Spark. Calls `check` before
    each stripe.

    Raises what `check` raises.
    """
    buckets = _in_order(prepared)
    if buckets is None:
        return None
    if isinstance(job.files, LocalFiles):
        return _staged(job, buckets, prepared, check)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as directory:
        here = replace(job, files=LocalFiles(), part=replace(job.part, directory=directory))
        staged = _staged(here, buckets, prepared, check)
        return None if staged is None else [_sent(job, number, file) for number, file in enumerate(staged)]


def _sent(job: Job, number: int, file: Staged) -> Staged:
    """A staged file of this machine in the staging directory of the compaction."""
    path = f"{job.staging}/{number}.orc"
    job.files.make_directories(job.staging)
    job.files.take_local(file.path, path)
    return replace(file, path=path)


def _staged(
    job: Job, buckets: Sequence[Sequence[_File]], prepared: PreparedRows, check: Callable[[], None]
) -> list[Staged] | None:
    """Stages the files of the buckets on this machine; None, and nothing is staged, if Spark has to do it."""
    threads = max(1, min(os.cpu_count() or 1, _MOST_MEMORY // (_EXPANDED * _largest_stripe(prepared))))
    divides = adds_acid_columns(job.files, job.target)
    parts = [part for bucket in buckets for part in _parts(bucket, -(-threads // len(buckets)) if divides else 1)]
    try:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: _write(job, part, check), parts))
    except _ForSparkError:
        job.files.delete(job.staging)
        return None
    return finish(job, listed(job.files, job.staging), None)


def _in_order(prepared: PreparedRows) -> list[Sequence[_File]] | None:
    """The files of each bucket in the order of their rows; None if the rows of one lie among those of another."""
    found = [_File(reader, _bucket(reader), bounds) for reader in prepared.readers() if (bounds := _bounds(reader))]
    if len(found) < len(prepared.files):
        return None
    found.sort(key=lambda file: (file.bucket, file.bounds.first))
    buckets = [list(of_bucket) for _, of_bucket in groupby(found, lambda file: file.bucket)]
    follow = all(one.bounds.last < other.bounds.first for files in buckets for one, other in pairwise(files))
    return list(buckets) if follow else None


def _largest_stripe(prepared: PreparedRows) -> int:
    """The compressed bytes of a stripe of the file whose stripes are largest, at least one."""
    sizes = (file.size // max(1, len(file.tail.stripe_rows)) for file in prepared.files if file.tail is not None)
    return max([1, *sizes])


def _bounds(reader: FileReader) -> Extremes | None:
    file = reader.file
    return extremes(file.tail) if file.is_acid and file.tail is not None else None


def _bucket(reader: FileReader) -> int:
    return decode_bucket(reader.file.bucket_property).bucket


def _parts(files: Sequence[_File], count: int) -> Iterator[_Part]:
    """The files of a bucket in at most `count` parts of about as many bytes each. All rows of a write are in one part,
    because the statistics of a file of several writes do not tell where the rows of the last one end."""
    whole = sum(file.reader.file.size for file in files)
    parts: list[list[FileReader]] = [[]]
    size, last_write = 0, -math.inf
    for file in files:
        if parts[-1] and size * count >= whole * len(parts) and file.bounds.first[0] > last_write:
            parts.append([])
        parts[-1].append(file.reader)
        size += file.reader.file.size
        last_write = file.bounds.last[0]
    return (_Part(files[0].bucket, number, readers) for number, readers in enumerate(parts))


def _write(job: Job, part: _Part, check: Callable[[], None]) -> None:
    """Writes a part of a bucket to a file of its own; no file for no rows."""
    directory = f"{job.staging}/{IN_ORDER}/{escape(SLOT)}={part.bucket}"
    os.makedirs(directory, exist_ok=True)
    last: tuple[int, ...] = ()
    with EventFile(f"{directory}/part-{part.number:05}-direct.orc", job.target) as file:
        for rows in _rows(part):
            check()
            ids = rows.row_ids
            if ids is None or not rows.count:
                continue
            if not _are_of(ids, part.bucket) or not ascend(ids) or _key(ids, 0) <= last:
                raise _ForSparkError
            last = _key(ids, -1)
            columns = {f"_c{i}": _filed(rows, job, i) for i in range(len(job.table.columns))}
            file.write(inserted_columns(ids.write_id, ids.bucket.astype(np.int32), ids.row), pa.table(columns))


def _rows(part: _Part) -> Iterator[LiveRows]:
    try:
        for reader in part.readers:
            yield from reader.rows()
    except (AcidSqlError, OSError, pa.ArrowException) as error:  # Spark reads the file, or reports what is wrong
        raise _ForSparkError from error


def _filed(rows: LiveRows, job: Job, number: int) -> Any:
    column = job.table.columns[number]
    array = filed(column, [rows.columns[column.name]])
    if array is None:
        raise _ForSparkError
    return array


def _are_of(ids: RowIds, bucket: int) -> bool:
    return bool((ids.bucket.astype(np.int64) >> 16 & MAX_BUCKET == bucket).all())


def _key(ids: RowIds, place: int) -> tuple[int, ...]:
    return int(ids.write_id[place]), int(ids.bucket[place]), int(ids.row[place])


def ascend(ids: RowIds) -> bool:
    """Whether each row ID is greater than the one before it."""
    return are_in_order((ids.write_id, ids.bucket, ids.row), strictly=True)
