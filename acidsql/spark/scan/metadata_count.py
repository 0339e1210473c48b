"""Rows of which a query asks only how many there are: counted by footers and delete events, not read.

A file that a write has made holds the rows of one write, bucket and statement, numbered without a gap: its footer says
which row IDs are in it, and so how many of the deleted ones are. Of a compacted file it does not, so one with deleted
rows beside it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.layout import OPERATION_INSERT
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import rows_of
from acidsql.spark.scan.deletes.cache import DeleteCache
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, ROW_ID_COLUMN

_COLUMN: Final = ":counted"
_ROWS_A_TASK: Final = 1 << 27
"""A task counts that many in a tenth of a second."""


def counted_rows(
    spark: SparkSession,
    files: FileSystem,
    data: Sequence[SourceFile],
    deletes: Sequence[SourceFile],
    cache: DeleteCache,
) -> DataFrame | None:
    """As many rows as live in the files, with none of their columns; None where it takes reading them to know.

    Raises MALFORMED_LAYOUT.
    """
    if not all(_is_told(f) for f in data):
        return None
    living = sum(f.tail.rows for f in data if f.tail is not None)
    if deletes:
        deleted = _deleted(spark, files, data, deletes, cache)
        if deleted is None:
            return None
        living -= deleted
    return rows_of(spark, _COLUMN, living, -(-living // _ROWS_A_TASK) or 1)


def _is_told(file: SourceFile) -> bool:
    """Whether its footer says how many rows are seen."""
    return file.tail is not None and not file.hidden and (not file.is_acid or file.is_all(OPERATION_INSERT))


def _deleted(
    spark: SparkSession,
    files: FileSystem,
    data: Sequence[SourceFile],
    deletes: Sequence[SourceFile],
    cache: DeleteCache,
) -> int | None:
    """How many of the files' rows are deleted."""
    places = [_row_ids(f) for f in data]
    found = cache.bits(jvm(spark), files, deletes) if None not in places else None
    if found is None:
        return None
    return sum(
        found.bitmap.count(file.part, *place) for file, place in zip(data, places, strict=True) if place is not None
    )


def _row_ids(file: SourceFile) -> tuple[int, int, range] | None:
    """The write ID, the bucket property and the row IDs of all of a file's rows; None where they have no such order."""
    assert file.tail is not None
    if not file.is_acid:
        return file.write_id, file.bucket_property, range(file.first_row, file.first_row + file.tail.rows)
    ranges = [file.tail.integer_range(c) for c in (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN, ROW_ID_COLUMN)]
    if None in ranges:
        return None
    (write_id, last_write_id), (bucket, last_bucket), (first, last) = (r for r in ranges if r is not None)
    if (write_id, bucket, last - first + 1) != (last_write_id, last_bucket, file.tail.rows):
        return None
    return write_id, bucket, range(first, last + 1)
