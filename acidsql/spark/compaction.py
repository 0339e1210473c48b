"""The Spark jobs of a compaction, which merges the directories of a Scope into one directory, or two.

    the scope's files -> events -> one task a bucket file, sorted -> staged files -> directories with a _v
                                                                    (writing/compaction_files.py)

A major compaction sorts only a part of many rows: files whose rows come one behind the other are copied in their order,
without a shuffle, and the copies become stripes of one file (writing/merge_order.py).

Rows and delete events come from the scan that queries use (table_scan.py), so that original files, altered columns and
files of other writers are read alike. Only the rows that a task sorts are in memory, and Spark spills them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.data_files import File
from acidsql.acid.layout import OPERATION_DELETE
from acidsql.acid.row_id import MAX_BUCKET, decode_bucket, encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId
from acidsql.grammar.quoting import name_sql
from acidsql.snapshot.delete_applicability import delete_buckets, every_delete_file, without_deletes
from acidsql.snapshot.scan_binding import BoundScan, SourceFile, data_files
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.catalyst.sessions import adopt
from acidsql.spark.failures import told
from acidsql.spark.running_spark import ANY_CASE, FILE_PER_TASK, StatementSpark, copy_with
from acidsql.spark.scan.deletes.delete_events import BUCKET, DELETER, ROW, WRITE_ID
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.table_scan import delete_events, scan_frame
from acidsql.spark.session.jvm_loss import SPARK_ERRORS
from acidsql.spark.write.bucket_expression import bucket_column
from acidsql.spark.write.event_rows import code_of_bucket, filed, insert_event
from acidsql.spark.write.staging import save
from acidsql.storage.orc.orc_footers import adds_acid_columns, writes_statistics
from acidsql.writing.compaction_files import (
    AS_THEY_COME,
    BY_ORIGIN,
    DELETES,
    IN_ORDER,
    ROW_ID,
    ROWS,
    SORTED,
    Job,
    Merged,
    amount,
    finish,
    publish,
)
from acidsql.writing.file_slots import SLOT, Slot, Slots, slot_a_task
from acidsql.writing.merge_order import Candidate, Merging, extremes, merging

_SOURCE: Final = "acidsql_compacted"
_FILE: Final = ":bucket_file"
_KEY: Final = ("originalTransaction", "bucket", "rowId")
_TASK: Final = 128 * 1024 * 1024
"""Compressed bytes of a file of an insert-only table without buckets."""
_FEW: Final = 2 * 1024 * 1024
"""Compressed bytes, up to which one task sorts all rows without a shuffle."""
_SHARE: Final = 4
"""Files are copied in their order, which takes a job of its own, only if they hold at least one byte of so many."""


def compact(spark: StatementSpark, job: Job, caches: ScanCaches, before_publishing: Callable[[], None]) -> Merged:
    """Reads and stages the files, calls `before_publishing`, and publishes. Readers do not see the directories before
    the transaction commits; `undo` removes them.

    Raises what reading and `before_publishing` raise, and NOT_YET_SUPPORTED.
    """
    try:
        written, slots = _write(spark, job, caches)
    except SPARK_ERRORS as error:
        context = spark.user.sparkContext
        raise told(error, context, "") from error
    staged = finish(job, written, slots)
    before_publishing()
    return publish(job, staged)


def _write(spark: StatementSpark, job: Job, caches: ScanCaches) -> tuple[list[File], Slots | None]:
    """Stages the files. Returns them, with paths relative to the staging directory, and the slots that name them."""
    for key, value in job.settings.items():
        if key.startswith("spark."):
            spark.storage.conf.set(key, value)
    if job.table.is_insert_only:
        return _write_rows(spark, job, caches), None
    if job.scope.rewrite is CompactionType.REBALANCE:
        return _write_rebalanced(spark, job, caches), None
    return _write_events(spark, job, caches)


# ------------------------------------------------------------------------------------------------ full ACID


def _write_events(spark: StatementSpark, job: Job, caches: ScanCaches) -> tuple[list[File], Slots]:
    """A minor compaction sorts all events. A major one copies the files that need no sort, and sorts the rows of the
    others."""
    if job.scope.rewrite is CompactionType.MINOR:
        deletes = every_delete_file(job.source, caches.footers)
        wanted = [Slot(ROWS, b) for b in sorted(job.source.buckets)]
        wanted += [Slot(DELETES, b) for b in (delete_buckets(job.scope.source) if deletes else [])]
        slots = slot_a_task(wanted, max(1, len(wanted)))
        return _write_sorted(spark, job, caches, without_deletes(job.source), slots, deletes), slots
    merge = _merging(job, caches)
    by_origin, in_order, others = (_of_files(job, files) for files in (merge.by_origin, merge.in_order, merge.sorted))
    wanted = [Slot(ROWS, b) for b in (*sorted(others.buckets), *sorted(in_order.buckets - others.buckets))]
    slots = slot_a_task(wanted, max(1, len(others.buckets)))
    written: list[File] = []
    if by_origin.buckets:
        written += _write_by_origin(spark, job, caches, by_origin)
    if in_order.buckets:
        written += _write_in_order(spark, job, caches, in_order, slots)
    if others.buckets or not (by_origin.buckets or in_order.buckets):
        written += _write_sorted(spark, job, caches, others, slots)
    return written, slots


def _merging(job: Job, caches: ScanCaches) -> Merging:
    """What is done with the files. All rows are sorted if the files that need no sort are too small for a job of their
    own."""
    found = data_files(job.source, caches.footers)
    joins = adds_acid_columns(job.files, job.target) and writes_statistics(job.target)
    merge = merging(map(_candidate, found), joins=joins)
    to_sort = sum(file.size for file in found if file.origin in merge.sorted)
    size = sum(file.size for file in found)
    return merge if (size - to_sort) * _SHARE >= size else Merging(sorted=frozenset(file.origin for file in found))


def _candidate(file: SourceFile) -> Candidate:
    bounds = extremes(file.tail) if file.is_acid and file.tail is not None else None
    return Candidate(file.origin, decode_bucket(file.bucket_property).bucket, file.size, file.is_acid, bounds)


def _of_files(job: Job, files: Collection[str]) -> BoundScan:
    """The source reduced to some data files."""
    (part,) = job.source.parts
    return replace(job.source, parts=(part.of_files(files),))


def _write_sorted(
    spark: StatementSpark,
    job: Job,
    caches: ScanCaches,
    source: BoundScan,
    slots: Slots,
    deletes: Sequence[SourceFile] = (),
) -> list[File]:
    """Sorts the events of each new file in one task, to which a shuffle brings them. Where there are few events, one
    task reads and sorts all of them."""
    events = _insert_events(scan_frame(spark.storage, source, caches), job.table)
    if deletes:
        events = events.unionAll(_deletions(delete_events(spark.storage, job.source, deletes), events))
    of_rows, of_deletes = (code_of_bucket(slots, branch, _FILE) for branch in (ROWS, DELETES))
    slot = f"CASE WHEN operation = {OPERATION_DELETE} THEN {of_deletes} ELSE {of_rows} END AS {name_sql(SLOT)}"
    placed = select(_numbered(events), ("*", slot))
    (part,) = source.parts
    size = sum(file.file.length for file in part.data_files) + sum(file.size for file in deletes)
    arranged = placed.coalesce(1) if size <= _FEW else placed.repartition(slots.tasks, SLOT)
    by_key = (SLOT, *_KEY, F.col("currentTransaction").desc())
    return _save(arranged.sortWithinPartitions(*by_key).drop(_FILE), job, SORTED)


def _write_by_origin(spark: StatementSpark, job: Job, caches: ScanCaches, source: BoundScan) -> list[File]:
    """Copies files, each of rows of one write ID and one bucket property. The only ACID columns that the tasks write
    are those of the row ID."""
    rows = _in_order(spark, source, caches)
    row_id = name_sql(ROW_ID)
    columns = [f"{row_id}.{of} AS {name}" for name, of in zip(_KEY, ("writeid", "bucketid", "rowid"), strict=True)]
    return _save(filed(rows, columns, job.table), job, BY_ORIGIN)


def _write_in_order(spark: StatementSpark, job: Job, caches: ScanCaches, source: BoundScan, slots: Slots) -> list[File]:
    """Copies files with all ACID columns."""
    events = _numbered(_insert_events(_in_order(spark, source, caches), job.table))
    placed = select(events, ("*", f"{code_of_bucket(slots, ROWS, _FILE)} AS {name_sql(SLOT)}"))
    return _save(placed.drop(_FILE), job, IN_ORDER)


def _in_order(spark: StatementSpark, source: BoundScan, caches: ScanCaches) -> DataFrame:
    """The rows that are not deleted, in the order of their files, each of which a task of its own reads."""
    return scan_frame(copy_with(spark.storage, FILE_PER_TASK), source, caches)


def _numbered(events: DataFrame) -> DataFrame:
    """The events with the bucket number of their file."""
    return select(events, ("*", f"{_bucket_number('bucket')} AS `{_FILE}`"))


def _bucket_number(bucket_property: str) -> str:
    return f"CAST(shiftright({bucket_property}, 16) & {MAX_BUCKET} AS INT)"


def _insert_events(rows: DataFrame, table: Table) -> DataFrame:
    row_id = f"`{ROW_ID}`"
    event = insert_event(f"{row_id}.writeid", f"{row_id}.bucketid", f"{row_id}.rowid", f"{row_id}.writeid")
    return filed(rows, event, table)


def _deletions(events: DataFrame, inserts: DataFrame) -> DataFrame:
    """Delete events with the columns of insert events; the columns of the row are NULL."""
    types = {f.name: f.dataType for f in inserts.schema.fields}
    values: dict[str, Column] = {
        "operation": F.lit(OPERATION_DELETE),
        "originalTransaction": F.col(WRITE_ID),
        "bucket": F.col(BUCKET),
        "rowId": F.col(ROW),
        "currentTransaction": F.col(DELETER),
    }
    return events.select(*(values.get(n, F.lit(None)).cast(kind).alias(n) for n, kind in types.items()))


def _write_rebalanced(spark: StatementSpark, job: Job, caches: ScanCaches) -> list[File]:
    """Writes the rows in equal shares, in the requested order or by row ID, with new row IDs under the highest write
    ID.

    Rows of later write IDs cannot have these row IDs. All committed events that name an old row ID have been applied.
    No other can commit any more, because of the exclusive write lock, and of the conflict for a transaction with an
    older snapshot (worker.py).
    """
    row_id = f"`{ROW_ID}`"
    parts = ((WRITE_ID, "writeid"), (BUCKET, "bucketid"), (ROW, "rowid"))
    rows = select(
        scan_frame(spark.storage, job.source, caches), ("*", *(f"{row_id}.{of} AS `{name}`" for name, of in parts))
    )
    shares = str(job.buckets or len(job.source.buckets) or 1)
    settings = {"spark.sql.shuffle.partitions": shares, "spark.sql.adaptive.enabled": "false"}
    sorting = copy_with(spark.storage, settings | ANY_CASE)
    adopt(rows, sorting).createOrReplaceTempView(_SOURCE)
    order = ", ".join((*([job.order_by] if job.order_by else []), f"`{WRITE_ID}`", f"`{BUCKET}`", f"`{ROW}`"))
    ordered = sorting.sql(f"SELECT * FROM `{_SOURCE}` ORDER BY {order}")
    write_id = f"{max(job.scope.high, 0)}L"
    new_bucket = f"shiftleft(spark_partition_id(), 16) | {encode_bucket(0, StatementId(0))}"
    event = insert_event(write_id, new_bucket, ROW_NUMBER, write_id)
    numbered = filed(ordered, event, job.table)
    return _save(numbered, job)


# ------------------------------------------------------------------------------------------------ insert-only


def _write_rows(spark: StatementSpark, job: Job, caches: ScanCaches) -> list[File]:
    """Writes the rows of an insert-only table: a file for each bucket, or else for each _TASK bytes."""
    rows = scan_frame(spark.storage, job.source, caches)
    table = job.table
    if table.bucket_count:
        bucketed = rows.withColumn(SLOT, bucket_column(table))
        arranged = bucketed.repartition(table.bucket_count, SLOT).sortWithinPartitions(SLOT)
        arranged = filed(arranged, (name_sql(SLOT),), table)
    else:
        size = amount(job).bytes
        arranged = filed(rows.coalesce(min(MAX_BUCKET + 1, max(1, -(-size // _TASK)))), (), table)
    return _save(arranged, job)


def _save(rows: DataFrame, job: Job, within: str = AS_THEY_COME) -> list[File]:
    """Stages the files of the rows in the directory `within` of the staging directory."""
    by_slot = [SLOT] if SLOT in rows.columns else []
    written = save(rows, job.target, job.files, f"{job.staging}/{within}", by_slot)
    return [replace(file, path=f"{within}/{file.path}") for file in written]
