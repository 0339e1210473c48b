"""Compaction as one Spark job: merges the directories of a Scope into one directory, or two.

    the scope's files -> events -> one task a bucket file, sorted -> staged files -> directories with a _v

Rows and delete events come from the scan that queries use (table_scan.py), so that original files, altered columns and
files of other writers are read alike. Only the rows that a task sorts are in memory, and Spark spills them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from acidsql.acid.compaction_scope import Rewrite, Scope
from acidsql.acid.layout import (
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    OPERATION_DELETE,
    STAGING_DIRECTORY,
    bucket_name,
    original_name,
)
from acidsql.acid.partition_names import escape
from acidsql.acid.row_id import MAX_BUCKET, encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.event_queries import name_sql
from acidsql.planner.plan import Scan
from acidsql.snapshot.delete_applicability import delete_buckets, every_delete_file, without_deletes
from acidsql.snapshot.scan_binding import BoundPart, BoundScan, SourceFile, data_files
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.catalyst.sessions import adopt
from acidsql.spark.engine import A_FILE_A_TASK, ANY_CASE, StatementSpark, copy_with
from acidsql.spark.failures import told
from acidsql.spark.jvm_loss import SPARK_ERRORS
from acidsql.spark.scan.deletes.delete_events import BUCKET, DELETER, ROW, WRITE_ID
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.table_scan import delete_events, scan_frame
from acidsql.spark.write.bucket_expression import bucket_column
from acidsql.spark.write.event_rows import code_of_bucket, filed, insert_event
from acidsql.spark.write.staging import save
from acidsql.storage.file_systems import FileSystem, remove_all
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.orc.orc_footers import adds_acid_columns, count_rows, finish_events, finish_plain, finish_rows
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN
from acidsql.writing.file_slots import SLOT, Slot, Slots, slot_a_task

_ROW_ID: Final = ":row_id"
_SOURCE: Final = "acidsql_compacted"
_FILE: Final = ":bucket_file"
_ROWS, _DELETES = 0, 1
"""The branches of a slot."""
_KEY: Final = ("originalTransaction", "bucket", "rowId")
_TASK: Final = 128 * 1024 * 1024
"""Compressed bytes of a file of an insert-only table without buckets."""
_PART: Final = re.compile(r"part-(\d{5,})-")
_THREADS: Final = 8
_SHARE: Final = 4
"""Buckets of one file are written in a job of their own if they hold one byte of so many."""


@dataclass(frozen=True, slots=True)
class Amount:
    """The content of directories: their names, and the number and bytes of their files."""

    directories: tuple[str, ...]
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a compaction: what it read and what it wrote."""

    before: Amount
    after: Amount
    rows: int
    """Rows and delete events written."""


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction of the directory of a table or partition. Only a rebalance has `order_by` and `buckets`."""

    table: Table
    part: BoundPart
    scope: Scope
    files: FileSystem
    txn: TxnId
    properties: Mapping[str, str] = field(default_factory=dict)
    """Properties that override the table's, such as those of ORC."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark for this job. Keys that are not Spark's are ignored."""
    order_by: str | None = None
    """The items of ORDER BY, as Spark SQL."""
    buckets: int | None = None

    @property
    def staging(self) -> str:
        return f"{self.part.directory}/{STAGING_DIRECTORY}_{self.txn}_compaction"

    @property
    def target(self) -> Table:
        return replace(self.table, properties={**self.table.properties, **self.properties})

    @property
    def source(self) -> BoundScan:
        scan = Scan("compacted", self.table, row_id=_ROW_ID if self.table.is_full_acid else None)
        return BoundScan(scan, self.files, (BoundPart(self.part.values, self.part.directory, self.scope.source),))

    @property
    def directories(self) -> list[str]:
        """The directories that it may make: first that of rows, then that of delete events."""
        names = [self.scope.data_name(self.txn)]
        if self.scope.rewrite is Rewrite.MINOR:
            names.append(self.scope.delete_name(self.txn))
        return [f"{self.part.directory}/{name}" for name in names]


def compact(spark: StatementSpark, job: Job, caches: ScanCaches, before_publishing: Callable[[], None]) -> Merged:
    """Reads and stages the files, calls `before_publishing`, and publishes. Readers do not see the directories before
    the transaction commits; `undo` removes them.

    Raises what reading and `before_publishing` raise, and NOT_YET_SUPPORTED.
    """
    try:
        written = _write(spark, job, caches)
    except SPARK_ERRORS as error:
        context = spark.user.sparkContext
        raise told(error, context, "") from error
    staged = _finish(job, written)
    before_publishing()
    return _publish(job, staged)


@dataclass(frozen=True, slots=True)
class _Origin:
    """What all rows of a file have in common."""

    write_id: WriteId
    bucket_property: int


@dataclass(frozen=True, slots=True)
class _Written:
    """The slots that name the staged files, or None if they are numbered by task or by bucket. Files of the buckets in
    `origins` lack the ACID columns other than the row IDs."""

    slots: Slots | None
    origins: Mapping[int, _Origin] = field(default_factory=dict)


def _write(spark: StatementSpark, job: Job, caches: ScanCaches) -> _Written:
    """Stages the files."""
    for key, value in job.settings.items():
        if key.startswith("spark."):
            spark.storage.conf.set(key, value)
    if job.table.is_insert_only:
        _write_rows(spark, job, caches)
    elif job.scope.rewrite is Rewrite.REBALANCE:
        _write_rebalanced(spark, job, caches)
    else:
        return _write_events(spark, job, caches)
    return _Written(None)


def undo(job: Job) -> bool:
    """Removes everything that the compaction staged or published; whether all is gone."""
    return remove_all(job.files, (job.staging, *job.directories))


# ------------------------------------------------------------------------------------------------ full ACID


def _write_events(spark: StatementSpark, job: Job, caches: ScanCaches) -> _Written:
    """Writes the buckets of one file as they are, and sorts the rows of the other buckets."""
    if job.scope.rewrite is Rewrite.MINOR:
        deletes = every_delete_file(job.source, caches.footers)
        wanted = [Slot(_ROWS, b) for b in sorted(job.source.buckets)]
        wanted += [Slot(_DELETES, b) for b in (delete_buckets(job.scope.source) if deletes else [])]
        slots = slot_a_task(wanted, max(1, len(wanted)))
        _write_sorted(spark, job, caches, without_deletes(job.source), slots, deletes)
        return _Written(slots)
    in_order, others = _split(job)
    wanted = [Slot(_ROWS, b) for source in (others, in_order) for b in sorted(source.buckets)]
    slots = slot_a_task(wanted, max(1, len(others.buckets)))
    origins = _write_in_order(spark, job, caches, in_order, slots) if in_order.buckets else {}
    if others.buckets or not in_order.buckets:
        _write_sorted(spark, job, caches, others, slots)
    return _Written(slots, origins)


def _split(job: Job) -> tuple[BoundScan, BoundScan]:
    """The source reduced to the buckets of one file, and to all others. The first has no buckets if it would have too
    few bytes to be worth a job of its own."""
    (part,) = job.source.parts
    alone = part.buckets_of_one_file
    size = sum(f.file.length for f in part.data_files if f.bucket in alone)
    if size * _SHARE < sum(f.file.length for f in part.data_files):
        alone = frozenset()

    def of(buckets: frozenset[int]) -> BoundScan:
        return replace(job.source, parts=(part.of_buckets(buckets),))

    return of(alone), of(part.buckets - alone)


def _write_sorted(
    spark: StatementSpark,
    job: Job,
    caches: ScanCaches,
    source: BoundScan,
    slots: Slots,
    deletes: Sequence[SourceFile] = (),
) -> None:
    """A shuffle brings the events of each file to one task, which sorts them."""
    events = _insert_events(scan_frame(spark.storage, source, caches), job.table)
    if deletes:
        events = events.unionAll(_deletions(delete_events(spark.storage, job.source, deletes), events))
    of_rows, of_deletes = (code_of_bucket(slots, branch, _FILE) for branch in (_ROWS, _DELETES))
    slot = f"CASE WHEN operation = {OPERATION_DELETE} THEN {of_deletes} ELSE {of_rows} END AS {name_sql(SLOT)}"
    placed = select(_numbered(events), ("*", slot))
    by_key = (SLOT, *_KEY, F.col("currentTransaction").desc())
    _save(placed.repartition(slots.tasks, SLOT).sortWithinPartitions(*by_key).drop(_FILE), job, "sorted")


def _write_in_order(
    spark: StatementSpark, job: Job, caches: ScanCaches, source: BoundScan, slots: Slots
) -> Mapping[int, _Origin]:
    """Each task reads one whole file and writes its rows without the deleted ones: no shuffle and no sort.

    If every file has rows of one write ID only, the tasks write no other ACID column than the row ID. Returns what then
    the rows of each bucket have in common.
    """
    reading = copy_with(spark.storage, A_FILE_A_TASK)
    origins = _origins(source, caches) if adds_acid_columns(job.files, job.target) else {}
    rows = scan_frame(reading, source, caches)
    row_id = name_sql(_ROW_ID)
    if origins:
        kept = (f"{row_id}.rowid AS rowId", f"{_bucket_number(f'{row_id}.bucketid')} AS `{_FILE}`")
        events = filed(rows, kept, job.table)
    else:
        events = _numbered(_insert_events(rows, job.table))
    placed = select(events, ("*", f"{code_of_bucket(slots, _ROWS, _FILE)} AS {name_sql(SLOT)}"))
    _save(placed.drop(_FILE), job, "in_order")
    return origins


def _origins(source: BoundScan, caches: ScanCaches) -> dict[int, _Origin]:
    """What the rows of each bucket have in common, by the statistics of its file; empty unless they tell it of all."""
    found: dict[int, _Origin] = {}
    files = data_files(source, caches.footers)
    for file in files:
        write_ids, properties = (
            file.tail.integer_range(c) if file.tail is not None else None
            for c in (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN)
        )
        if write_ids and properties and write_ids[0] == write_ids[1] and properties[0] == properties[1]:
            found[properties[0] >> 16 & MAX_BUCKET] = _Origin(WriteId(write_ids[0]), properties[0])
    return found if len(found) == len(files) else {}


def _numbered(events: DataFrame) -> DataFrame:
    """The events with the bucket number of their file."""
    return select(events, ("*", f"{_bucket_number('bucket')} AS `{_FILE}`"))


def _bucket_number(bucket_property: str) -> str:
    return f"CAST(shiftright({bucket_property}, 16) & {MAX_BUCKET} AS INT)"


def _insert_events(rows: DataFrame, table: Table) -> DataFrame:
    row_id = f"`{_ROW_ID}`"
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


def _write_rebalanced(spark: StatementSpark, job: Job, caches: ScanCaches) -> None:
    """Writes the rows in equal shares, in the requested order or by row ID, with new row IDs under the highest write
    ID.

    Rows of later write IDs cannot have these row IDs. No event that names an old row ID can commit any more, because of
    the exclusive write lock, and of the conflict for a transaction with an older snapshot (worker.py).
    """
    row_id = f"`{_ROW_ID}`"
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
    _save(numbered, job)


# ------------------------------------------------------------------------------------------------ insert-only


def _write_rows(spark: StatementSpark, job: Job, caches: ScanCaches) -> None:
    """Writes the rows of an insert-only table: a file for each bucket, or else for each _TASK bytes."""
    rows = scan_frame(spark.storage, job.source, caches)
    table = job.table
    if table.bucket_count:
        bucketed = rows.withColumn(SLOT, bucket_column(table))
        arranged = bucketed.repartition(table.bucket_count, SLOT).sortWithinPartitions(SLOT)
        arranged = filed(arranged, (name_sql(SLOT),), table)
    else:
        size = _amount(job).bytes
        arranged = filed(rows.coalesce(min(MAX_BUCKET + 1, max(1, -(-size // _TASK)))), (), table)
    _save(arranged, job)


# ------------------------------------------------------------------------------------------------ files


def _save(rows: DataFrame, job: Job, within: str = "rows") -> None:
    """Stages the files of the rows in the directory `within` of the staging directory."""
    save(rows, job.target, job.files, f"{job.staging}/{within}", [SLOT] if SLOT in rows.columns else [])


@dataclass(frozen=True, slots=True)
class _Staged:
    path: str
    slot: Slot
    rows: int


def _finish(job: Job, written: _Written) -> list[_Staged]:
    """Finishes the footers of the staged files, and gives those that hold rows."""
    by_code = written.slots.by_code() if written.slots is not None else None
    found = [f for f in job.files.list_below(job.staging).files if _PART.match(f.path.rpartition("/")[2])]

    def finish(path: str, length: int) -> _Staged:
        slot = _slot(path, by_code)
        whole = f"{job.staging}/{path}"
        if job.table.file_format != "orc":
            return _Staged(whole, slot, count_rows(job.files, whole, job.table.file_format))
        tail = read_file_tail(job.files, whole, length)
        if tail.rows and job.table.is_insert_only:
            finish_plain(job.files, whole, tail, job.table)
        elif tail.rows and (of := written.origins.get(slot.bucket)) is not None:
            whole = finish_rows(job.files, tail, job.table, of.write_id, of.bucket_property, has_row_ids=True)
        elif tail.rows:
            finish_events(job.files, whole, tail, job.table, is_delete=slot.branch == _DELETES)
        return _Staged(whole, slot, tail.rows)

    with ThreadPoolExecutor(_THREADS) as pool:
        return [s for s in pool.map(lambda f: finish(f.path, f.length), found) if s.rows]


def _slot(path: str, by_code: Mapping[int, Slot] | None) -> Slot:
    directory, _, name = path.rpartition("/")
    directory = directory.partition("/")[2]  # the name of the job stands before it
    if by_code is None and not directory:
        task = _PART.match(name)
        assert task is not None
        return Slot(_ROWS, int(task.group(1)))
    code = directory.removeprefix(f"{escape(SLOT)}=")
    if by_code is None:
        return Slot(_ROWS, int(code))
    if not code.isdigit() or int(code) not in by_code:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason="an event names a bucket without a file")
    return by_code[int(code)]


def _publish(job: Job, staged: Sequence[_Staged]) -> Merged:
    """Moves the files to the directories that the scope names. A base is made even if it has no rows."""
    made: dict[int, str] = {}
    if job.scope.rewrite is not Rewrite.MINOR:
        made[_ROWS] = _make_directory(job, _ROWS)
    written = 0
    if len({file.slot for file in staged}) < len(staged):
        reason = "rows of one bucket lie in files of several buckets"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=job.part.directory, reason=reason)
    for file in staged:
        if file.slot.branch not in made:
            made[file.slot.branch] = _make_directory(job, file.slot.branch)
        name = original_name if job.table.is_insert_only else bucket_name
        target = f"{made[file.slot.branch]}/{name(file.slot.bucket)}"
        job.files.rename(file.path, target)
        written += job.files.file_size(target) or 0
    job.files.delete(job.staging)
    names = tuple(made[branch].rpartition("/")[2] for branch in sorted(made))
    return Merged(_amount(job), Amount(names, len(staged), written), sum(s.rows for s in staged))


def _make_directory(job: Job, branch: int) -> str:
    path = job.directories[branch]
    job.files.make_directories(path)
    if not job.table.is_insert_only:
        job.files.write(f"{path}/{ACID_VERSION_FILE}", ACID_VERSION_CONTENT)
    return path


def _amount(job: Job) -> Amount:
    source = job.scope.source
    files = [*source.originals, *(f.file for d in job.scope.directories for f in d.files)]
    names = tuple(d.name for d in job.scope.directories)
    return Amount(names, len(files), sum(f.length for f in files))
