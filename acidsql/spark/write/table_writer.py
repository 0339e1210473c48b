"""One table's writing: the plan's event query, run as the one Spark write of the table into its staging directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.row_id import MAX_BUCKET
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.event_queries import is_strict, name_sql, stored
from acidsql.planner.insert import wrong_count
from acidsql.planner.integer_casts import exact_sql, is_integer
from acidsql.planner.partition_text import partition_text
from acidsql.planner.plan import ROWS, Overwrite, WritePlan
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.logical_plans import has_join, plan_of
from acidsql.spark.catalyst.size_estimates import SMALL, leaf_bytes, leaf_sizes
from acidsql.spark.engine import A_FILE_A_TASK, StatementSpark
from acidsql.spark.spark_types import is_storable
from acidsql.spark.write import driver_write
from acidsql.spark.write.event_rows import arranged_events, events_in_place, numbered_inserts, staging_columns
from acidsql.spark.write.file_slots import Slot, assign_slots, slot_a_task
from acidsql.spark.write.publishing import StagedFile, WriteTarget, finish_staged
from acidsql.spark.write.staging import save
from acidsql.spark.write.strategies import Steering, Strategy, WriteFacts, strategies
from acidsql.spark.write.task_write import write_rows
from acidsql.spark.write.write_transaction import TableWrite

_TASK: Final = 64 * 1024 * 1024
"""Compressed bytes that a task should get, where there are many."""
_FILES: Final = 8
"""Small files that a task may write."""
_FOR_DRIVER: Final = 4_000_000
"""Row IDs that the driver arranges."""


def event_rows(
    spark: StatementSpark, plan: WritePlan, args: Mapping[str, object], settings: Mapping[str, str]
) -> DataFrame:
    """The plan's event query, over the view of its rows. Raises INSERT_COLUMN_COUNT, INCOMPATIBLE_TYPE."""
    rows = spark.sql(plan.rows, args)
    if plan.positional is not None:
        if len(rows.columns) != len(plan.positional):
            raise wrong_count(plan.target, len(plan.positional), len(rows.columns), plan.source_span)
        rows = rows.toDF(*plan.positional)
    _check_types(rows, plan)
    spark.define_view(ROWS, rows if is_strict(settings) else _with_exact_integers(rows, plan))
    return spark.sql(plan.events)


@dataclass(frozen=True, slots=True)
class _Write:
    """The events of a statement, in the storage session `spark`, and where they go; `bound` are the target's scans,
    `size` the bytes that the statement reads."""

    spark: SparkSession
    events: DataFrame
    plan: WritePlan
    target: WriteTarget
    bound: Sequence[BoundScan]
    size: int

    @property
    def buckets(self) -> frozenset[int]:
        """The numbers of the target's files."""
        return frozenset[int]().union(*(b.buckets for b in self.bound))

    @property
    def files(self) -> int:
        """How many files delete events may go to."""
        return sum(len(part.buckets) for b in self.bound for part in b.parts)


def stage(
    spark: SparkSession,
    events: DataFrame,
    plan: WritePlan,
    target: WriteTarget,
    bound: Sequence[BoundScan],
    driver_bytes: int,
    steering: Steering,
) -> list[StagedFile]:
    """Writes the events, in the storage session `spark`; `bound` are the target's scans, `driver_bytes` how much the
    statement may read for the driver to write."""
    sizes = leaf_sizes(events)
    write = _Write(spark, events, plan, target, bound, leaf_bytes(sizes))
    facts = _facts(write, None not in sizes, driver_bytes)
    for strategy in steering.ordered(strategies(plan, facts)):
        staged = _stage_by(strategy, write)
        if staged is not None:
            steering.note(strategy)
            return staged
    raise AssertionError("no strategy wrote the events")


def _facts(write: _Write, knows_size: bool, driver_bytes: int) -> WriteFacts:
    parts = [part for b in write.bound for part in b.parts if part.data_files]
    return WriteFacts(
        write.size,
        knows_size,
        driver_bytes,
        driver_can_write=driver_write.can_write(write.spark, write.plan.target, write.target.files, write.size),
        file_sizes=tuple(f.file.length for part in parts for f in part.data_files),
        places=len(parts),
        keeps_order=_keeps_order(write),
        can_change_ends=write.target.files.can_change_ends(write.target.staging),
        cores=write.spark.sparkContext.defaultParallelism,
    )


def _keeps_order(write: _Write) -> bool:
    """Whether a task that reads one file of the target gives its events in the order of the row IDs. Deleted rows that
    are no bits are joined away, and a join may put rows into another order."""
    if not write.plan.row_by_row or not all(b.has_one_file_a_bucket for b in write.bound):
        return False
    return not has_join(write.spark, plan_of(write.events))


def _stage_by(strategy: Strategy, write: _Write) -> list[StagedFile] | None:
    """Writes the events in one way; None, and nothing written, where the driver refuses."""
    match strategy:
        case Strategy.BY_DRIVER:
            return _stage_by_driver(write)
        case Strategy.IN_PLACE:
            return _stage_in_place(write)
        case Strategy.SPREAD:
            return _stage_spread(write)
        case Strategy.ARRANGED:
            return _stage_arranged(write, write.events, write.target, _task_count(write.spark, write.size, write.files))
        case Strategy.NUMBERED:
            return _stage_numbered(write)
        case _:
            assert_never(strategy)


def _stage_by_driver(write: _Write) -> list[StagedFile] | None:
    plan, target = write.plan, write.target
    if plan.inserts_only:
        is_written = driver_write.write_inserts(write.events, plan, target, write.size)
        return finish_staged(target, None) if is_written else None
    tasks = 1 if plan.few_rows else _task_count(write.spark, write.size, 0)
    slots = assign_slots(plan.branches, write.buckets, tasks, plan.target.bucket_count)
    if not driver_write.write_events(write.events, plan, slots, target, write.size):
        return None
    return finish_staged(target, slots.by_code())


def _stage_in_place(write: _Write) -> list[StagedFile]:
    plan, target = write.plan, write.target
    slots = slot_a_task([Slot(n, b) for n in range(len(plan.branches)) for b in sorted(write.buckets)], 1)
    for key, value in A_FILE_A_TASK.items():
        write.spark.conf.set(key, value)
    rows = events_in_place(write.events, plan, slots, target.statement_ids, target.write_id)
    save(rows, plan.target, target.files, target.staging, staging_columns(plan))
    return finish_staged(target, slots.by_code())


def _stage_spread(write: _Write) -> list[StagedFile]:
    """The new rows where they are made, and the delete events in a second step (task_write.py)."""
    spark, plan = write.spark, write.plan
    staged, aside = write_rows(spark, write.events, plan, write.target)
    if not aside.count:
        return staged
    target = replace(write.target, part="deletes")
    if aside.count <= _FOR_DRIVER and driver_write.can_write(spark, plan.target, target.files, aside.size):
        slots = assign_slots(plan.branches, write.buckets, 1)
        driver_write.write_placed(aside.placed(plan, slots), plan, target)
        return [*staged, *finish_staged(target, slots.by_code())]
    tasks = _task_count(spark, aside.size, write.files)
    return [*staged, *_stage_arranged(write, aside.events(spark, plan), target, tasks)]


def _stage_arranged(write: _Write, events: DataFrame, target: WriteTarget, tasks: int) -> list[StagedFile]:
    plan = write.plan
    slots = assign_slots(plan.branches, write.buckets, 1 if plan.few_rows else tasks, plan.target.bucket_count)
    rows = arranged_events(events, plan, slots, target.statement_ids, target.write_id)
    save(rows, plan.target, target.files, target.staging, staging_columns(plan))
    return finish_staged(target, slots.by_code())


def _stage_numbered(write: _Write) -> list[StagedFile]:
    plan, target = write.plan, write.target
    rows = numbered_inserts(few_tasks(write.events, plan), plan, target.statement_ids[0], target.write_id)
    save(rows, plan.target, target.files, target.staging, ())
    return finish_staged(target, None)


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
    values = static_partition(spark, plan, plan.overwrite)
    directory = None if values is None else target.partition_directory(values)
    return [] if directory is None else [directory]


def static_partition(spark: StatementSpark, plan: WritePlan, overwrite: Overwrite) -> PartitionValues | None:
    """The partition that the PARTITION clause names, by its values as text; None if some of them are dynamic."""
    columns = plan.target.partition_columns
    if not columns or len(overwrite.static) != len(columns):
        return None
    texts = (partition_text(stored(overwrite.static[c.name], c, {}), c) for c in columns)
    return tuple(spark.sql(f"SELECT {', '.join(texts)}").collect()[0])


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


def _with_exact_integers(rows: DataFrame, plan: WritePlan) -> DataFrame:
    """The rows with DECIMALs that go to columns of integers as Hive makes them such (planner/integer_casts.py)."""
    decimals = {f.name for f in rows.schema.fields if isinstance(f.dataType, DecimalType)}
    stored = {v.name: v.column for v in plan.values if v.name in decimals and is_integer(v.column)}
    return rows.withColumns({n: F.expr(exact_sql(name_sql(n), c)) for n, c in stored.items()}) if stored else rows


def _task_count(spark: SparkSession, size: int, files: int) -> int:
    """Writing tasks, by the bytes that the statement reads and the files of the target: one for little, unless it goes
    to many files, all cores or more for much."""
    cores = spark.sparkContext.defaultParallelism
    if size <= SMALL:
        return min(cores, max(1, files // _FILES))
    most = max(cores, int(spark.conf.get("spark.sql.shuffle.partitions") or cores))
    return min(MAX_BUCKET + 1, most, max(cores, -(-size // _TASK)))
