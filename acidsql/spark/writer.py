"""One table's writing: the plan's event query, run as the one Spark write of the table into its staging directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.rowid import MAX_BUCKET
from acidsql.acid.types import parse_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.events import stored
from acidsql.planner.insert import wrong_count
from acidsql.planner.plan import ROWS, EventKind, Overwrite, WritePlan
from acidsql.spark import small
from acidsql.spark.bound import BoundScan
from acidsql.spark.engine import A_FILE_A_TASK, StatementSpark
from acidsql.spark.estimates import SMALL, leaf_bytes, leaf_sizes
from acidsql.spark.events import arranged_events, events_in_place, numbered_inserts, staging_columns
from acidsql.spark.plans import plan_of
from acidsql.spark.publish import StagedFile, WriteTarget, finish_staged
from acidsql.spark.slots import Slot, assign_slots, slot_a_task
from acidsql.spark.spread import can_spread, write_rows
from acidsql.spark.staging import save
from acidsql.spark.transaction import TableWrite
from acidsql.spark.types import is_storable

_TASK: Final = 64 * 1024 * 1024
"""Compressed bytes that a task should get, where there are many."""
_FILES: Final = 8
"""Small files that a task may write."""
_FOR_DRIVER: Final = 4_000_000
"""Row IDs that the driver arranges."""
_WHOLE_FILE: Final = 128 * 1024 * 1024
"""Bytes of a file that one task reads, as Spark would have it."""


def event_rows(spark: StatementSpark, plan: WritePlan, args: Mapping[str, object]) -> DataFrame:
    """The plan's event query, over the view of its rows. Raises INSERT_COLUMN_COUNT, INCOMPATIBLE_TYPE."""
    rows = spark.sql(plan.rows, args)
    if plan.positional is not None:
        if len(rows.columns) != len(plan.positional):
            raise wrong_count(plan.target, len(plan.positional), len(rows.columns), plan.source_span)
        rows = rows.toDF(*plan.positional)
    _check_types(rows, plan)
    spark.define_view(ROWS, rows)
    return spark.sql(plan.events)


def stage(
    spark: SparkSession,
    events: DataFrame,
    plan: WritePlan,
    target: WriteTarget,
    bound: Sequence[BoundScan],
    driver_bytes: int,
) -> list[StagedFile]:
    """Writes the events, in the storage session `spark`; `bound` are the target's scans, `driver_bytes` how much the
    statement may read for the driver to write."""
    sizes = leaf_sizes(events)
    size = leaf_bytes(sizes)
    by_driver = None not in sizes and size <= driver_bytes and small.can_write(spark, plan.target, target.files, size)
    if plan.inserts_only:
        _stage_inserts(events, plan, target, size if by_driver and size <= small.LITTLE else None)
        return finish_staged(target, None)
    buckets = frozenset[int]().union(*(b.buckets for b in bound))
    if by_driver:
        tasks = 1 if plan.few_rows else _task_count(spark, size, 0)
        slots = assign_slots(plan.branches, buckets, tasks, plan.target.bucket_count)
        if small.write_events(events, plan, slots, target, size):
            return finish_staged(target, slots.by_code())
    if _can_write_in_place(spark, events, plan, bound):
        slots = slot_a_task([Slot(n, b) for n in range(len(plan.branches)) for b in sorted(buckets)], 1)
        for key, value in A_FILE_A_TASK.items():
            spark.conf.set(key, value)
        rows = events_in_place(events, plan, slots, target.statement_ids, target.write_id)
        save(rows, plan.target, target.files, target.staging, staging_columns(plan))
        return finish_staged(target, slots.by_code())
    files = sum(len(part.buckets) for b in bound for part in b.parts)
    if can_spread(plan, bound, target, size):
        return _stage_spread(spark, events, plan, target, buckets, files)
    return _stage_arranged(spark, events, plan, target, buckets, _task_count(spark, size, files))


def _stage_spread(
    spark: SparkSession, events: DataFrame, plan: WritePlan, target: WriteTarget, buckets: Iterable[int], files: int
) -> list[StagedFile]:
    """The new rows where they are made, and the delete events in a second step (spread.py)."""
    staged, aside = write_rows(spark, events, plan, target)
    if not aside.count:
        return staged
    target = replace(target, part="deletes")
    if aside.count <= _FOR_DRIVER and small.can_write(spark, plan.target, target.files, aside.size):
        slots = assign_slots(plan.branches, buckets, 1)
        small.write_placed(aside.placed(plan, slots), plan, target)
        return [*staged, *finish_staged(target, slots.by_code())]
    tasks = _task_count(spark, aside.size, files)
    return [*staged, *_stage_arranged(spark, aside.events(spark, plan), plan, target, buckets, tasks)]


def _stage_arranged(
    spark: SparkSession, events: DataFrame, plan: WritePlan, target: WriteTarget, buckets: Iterable[int], tasks: int
) -> list[StagedFile]:
    slots = assign_slots(plan.branches, buckets, 1 if plan.few_rows else tasks, plan.target.bucket_count)
    rows = arranged_events(events, plan, slots, target.statement_ids, target.write_id)
    save(rows, plan.target, target.files, target.staging, staging_columns(plan))
    return finish_staged(target, slots.by_code())


def _can_write_in_place(spark: SparkSession, events: DataFrame, plan: WritePlan, bound: Sequence[BoundScan]) -> bool:
    """Whether tasks that read one file each are as many as there could be, and can write what comes of it."""
    if not plan.row_by_row or plan.moves_rows or not all(b.has_one_file_a_bucket for b in bound):
        return False
    sizes = [f.file.length for b in bound for part in b.parts for f in part.data_files]
    makes_rows = any(b.kind is EventKind.INSERT for b in plan.branches)
    if makes_rows and sum(1 for b in bound for part in b.parts if part.data_files) > 1:
        return False  # tasks of two partitions would give their new rows the same row IDs
    few = len(sizes) < spark.sparkContext.defaultParallelism and max(sizes, default=0) > SMALL
    if few or max(sizes, default=0) > _WHOLE_FILE:
        return False
    # Deleted rows that are no bits are joined away, and a join may put rows into another order.
    return "Join" not in str(plan_of(events).toString())


def _stage_inserts(events: DataFrame, plan: WritePlan, target: WriteTarget, size_for_driver: int | None) -> None:
    if size_for_driver is not None and small.write_inserts(events, plan, target, size_for_driver):
        return
    rows = numbered_inserts(few_tasks(events, plan), plan, target.statement_ids[0], target.write_id)
    save(rows, plan.target, target.files, target.staging, ())


def few_tasks(events: DataFrame, plan: WritePlan) -> DataFrame:
    """Buckets are numbered by task in 12 bits; rows from the statement's own text need one task only."""
    return events.coalesce(1 if plan.few_rows else MAX_BUCKET + 1)


def replaced_directories(spark: StatementSpark, plan: WritePlan, write: TableWrite) -> list[str]:
    """INSERT OVERWRITE of no rows: what gets an empty base, unless the partitions to replace are those with rows."""
    if plan.overwrite is None or write.staged:
        return []
    target = write.target
    if not plan.target.partition_columns:
        return [target.directory]
    directory = target.partitions.get(static_partition(spark, plan, plan.overwrite) or ())
    return [] if directory is None else [directory]


def static_partition(spark: StatementSpark, plan: WritePlan, overwrite: Overwrite) -> tuple[str | None, ...] | None:
    """The partition that the PARTITION clause names, by its values as text; None if some of them are dynamic."""
    columns = plan.target.partition_columns
    if not columns or len(overwrite.static) != len(columns):
        return None
    texts = (f"CAST({stored(overwrite.static[c.name], c, {})} AS STRING)" for c in columns)
    return tuple(v or None for v in spark.sql(f"SELECT {', '.join(texts)}").collect()[0])


def check_disjoint(writes: Sequence[TableWrite]) -> None:
    """Two branches of a multi-insert must not write to one place if one of them replaces what is there.

    Raises OUTPUT_SPECIFIED_MULTIPLE_TIMES.
    """
    replaced: set[str] = set()
    for write in sorted(writes, key=lambda w: not w.target.overwrites):
        for directory in sorted(write.partition_directories):
            if directory in replaced:
                raise AcidSqlError(Condition.OUTPUT_SPECIFIED_MULTIPLE_TIMES, output=directory)
        if write.target.overwrites:
            replaced |= write.partition_directories


def _check_types(rows: DataFrame, plan: WritePlan) -> None:
    types = {f.name: f.dataType for f in rows.schema.fields} if plan.values else {}
    for value in plan.values:
        source = types[value.name]
        if not is_storable(source, parse_type(value.column.type)):
            raise AcidSqlError(
                Condition.INCOMPATIBLE_TYPE,
                span=value.span,
                table=plan.target.qualified,
                column=value.column.name,
                source=source.simpleString(),
                target=value.column.type,
                hint=f"Convert it to {value.column.type} in the statement.",
            )


def _task_count(spark: SparkSession, size: int, files: int) -> int:
    """Writing tasks, by the bytes that the statement reads and the files of the target: one for little, unless it goes
    to many files, all cores or more for much."""
    cores = spark.sparkContext.defaultParallelism
    if size <= SMALL:
        return min(cores, max(1, files // _FILES))
    most = max(cores, int(spark.conf.get("spark.sql.shuffle.partitions") or cores))
    return min(MAX_BUCKET + 1, most, max(cores, -(-size // _TASK)))
