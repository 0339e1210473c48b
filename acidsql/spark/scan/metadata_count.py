"""Counting rows by footers and delete events, for queries that ask only for the number of rows.

A file that a write made contains the rows of one write, bucket and statement, numbered without a gap. Its footer gives
the range of its row IDs, and so how many of the deleted rows are in it. The footer of a compacted file does not, so a
compacted file is read if there are deleted rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from acidsql.snapshot.delete_applicability import row_range, shows_all_rows
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.logical_plans import rows_of
from acidsql.spark.scan.deletes.cache import DeleteCache
from acidsql.storage.file_systems import FileSystem

_COLUMN: Final = ":counted"
_ROWS_PER_TASK: Final = 1 << 27
"""Rows that one task counts in a tenth of a second."""


def counted_rows(
    spark: SparkSession,
    files: FileSystem,
    data: Sequence[SourceFile],
    deletes: Sequence[SourceFile],
    cache: DeleteCache,
) -> DataFrame | None:
    """As many rows as are live in the files, without their columns; None if the files must be read to count them.

    Raises MALFORMED_LAYOUT.
    """
    if not all(map(shows_all_rows, data)):
        return None
    living = sum(f.tail.rows for f in data if f.tail is not None)
    if deletes:
        deleted = _deleted(spark, files, data, deletes, cache)
        if deleted is None:
            return None
        living -= deleted
    return rows_of(spark, _COLUMN, living, -(-living // _ROWS_PER_TASK) or 1)


def _deleted(
    spark: SparkSession,
    files: FileSystem,
    data: Sequence[SourceFile],
    deletes: Sequence[SourceFile],
    cache: DeleteCache,
) -> int | None:
    """The number of deleted rows in the files; None if it is not known."""
    ranges = [row_range(f) for f in data]
    found = cache.bits(jvm(spark), files, deletes) if None not in ranges else None
    if found is None:
        return None
    return sum(
        found.bitmap.count(file.part, of.write_id, of.bucket_property, of.row_ids)
        for file, of in zip(data, ranges, strict=True)
        if of is not None
    )
