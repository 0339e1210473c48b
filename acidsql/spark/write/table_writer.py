"""The write of one table: its events as a frame, the choice of a strategy, and the call of the chosen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from pyspark.sql import DataFrame

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_values import PartitionValues
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.dml.insert import wrong_count
from acidsql.planner.plan import ROWS, RowSource, WritePlan
from acidsql.planner.stored_values.partition_text import partition_text
from acidsql.planner.stored_values.store_assignment import conversion
from acidsql.planner.stored_values.stored_sql import stored
from acidsql.planner.write_strategy import (
    NO_FACTS,
    ByDriver,
    InEachTask,
    InPlace,
    Plain,
    Shuffled,
    SparkStrategy,
    WriteFacts,
    choose_strategy,
)
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.logical_plans import has_join, plan_of
from acidsql.spark.catalyst.pyspark_api import sql_column
from acidsql.spark.catalyst.size_estimates import leaf_bytes, leaf_sizes
from acidsql.spark.running_spark import StatementSpark
from acidsql.spark.spark_types import hive_type_name, hive_types, is_storable
from acidsql.spark.write import driver_write
from acidsql.spark.write.event_write import Events, EventWrite
from acidsql.spark.write.in_place_write import stage_in_place
from acidsql.spark.write.misfit_counts import MisfitCounts
from acidsql.spark.write.plain_write import stage_plain
from acidsql.spark.write.shuffled_write import stage_shuffled
from acidsql.spark.write.task_write import stage_in_each_task
from acidsql.writing.publishing import StagedFile, WriteTarget
from acidsql.writing.steering import Steering
from acidsql.writing.table_write import TableWrite


def found_events(
    spark: StatementSpark, plan: WritePlan, args: Mapping[str, object], settings: Mapping[str, str]
) -> Events:
    """The plan's events. Defines the view of the rows. Raises INSERT_COLUMN_COUNT, INCOMPATIBLE_TYPE."""
    rows = spark.sql(plan.rows, args)
    if plan.positional is not None:
        if len(rows.columns) != len(plan.positional):
            raise wrong_count(plan.target, len(plan.positional), len(rows.columns), plan.source_span)
        rows = rows.toDF(*plan.positional)
    _check_types(rows, plan)

    def define_rows() -> MisfitCounts:
        counts = MisfitCounts(spark, rows, plan, settings)
        spark.define_view(ROWS, _as_hive_stores_them(counts.rows, plan, settings))
        return counts

    return Events(spark, plan, define_rows)


def stage(
    events: Events,
    plan: WritePlan,
    target: WriteTarget,
    bound: Sequence[BoundScan],
    driver_bytes: int,
    steering: Steering,
) -> list[StagedFile]:
    """Writes the events into the staging directory of the target. `bound` are the target's scans, `driver_bytes` is the
    setting DRIVER_BYTES.

    Raises what the events raise when they are computed, and CARDINALITY_VIOLATION.
    """
    write, facts = EventWrite(events, plan, target, bound, 0), NO_FACTS
    if plan.target.is_transactional:
        sizes = leaf_sizes(events.condensed)
        write = replace(write, size=leaf_bytes(sizes))
        facts = _facts(write, None not in sizes, driver_bytes)
    strategy = choose_strategy(plan, facts, steering.preferred)
    staged = _stage_by(strategy, write, facts)
    if staged is None:
        events.restart()
        facts = replace(facts, driver_can_write=False)
        strategy = choose_strategy(plan, facts, steering.preferred)
        staged = _stage_by(strategy, write, facts)
    if staged is None:
        raise AssertionError("no strategy wrote the events")
    if steering.taken is not None:
        steering.taken.append(strategy)
    return staged


def _facts(write: EventWrite, knows_size: bool, driver_bytes: int) -> WriteFacts:
    spark, target = write.spark, write.target
    parts = [part for b in write.bound for part in b.parts if part.data_files]
    cores = spark.sparkContext.defaultParallelism
    return WriteFacts(
        size=write.size,
        knows_size=knows_size,
        driver_bytes=driver_bytes,
        driver_can_write=driver_write.can_write(spark, target.table, target.files, write.size),
        file_sizes=tuple(f.file.length for part in parts for f in part.data_files),
        delete_files=write.delete_files,
        places=len(parts),
        keeps_order=_keeps_order(write),
        cores=cores,
        shuffle_tasks=int(spark.conf.get("spark.sql.shuffle.partitions") or cores),
    )


def _keeps_order(write: EventWrite) -> bool:
    """Whether a task that reads one file of the target gives its events in the order of the row IDs. Where the deleted
    rows are not in a bitmap, the scan joins with the delete events, and a join may change the order."""
    if write.plan.row_source is not RowSource.TARGET or not all(b.has_one_file_a_bucket for b in write.bound):
        return False
    return not has_join(write.spark, plan_of(write.queries.condensed))


def _stage_by(strategy: SparkStrategy, write: EventWrite, facts: WriteFacts) -> list[StagedFile] | None:
    """Writes the events in one way; None, and nothing is written, where the driver refuses."""
    match strategy:
        case ByDriver():
            return driver_write.stage_by_driver(write, strategy)
        case InPlace():
            return stage_in_place(write)
        case InEachTask():
            return stage_in_each_task(write, strategy, facts)
        case Shuffled():
            return stage_shuffled(write, strategy)
        case Plain():
            return stage_plain(write, strategy)
        case _:
            assert_never(strategy)


def replaced_directories(spark: StatementSpark, plan: WritePlan, write: TableWrite) -> list[str]:
    """The directories that get an empty base: in an INSERT OVERWRITE those to replace if there are no rows, in a
    RESTORE those that get no rows. There are none if the partitions to replace are those that get rows."""
    target = write.target
    if plan.overwrite is not None and plan.overwrite.whole and plan.target.partition_columns:
        return sorted({*target.partitions.all_directories().values()} - {f.partition_directory for f in write.staged})
    if plan.overwrite is None or write.staged:
        return []
    if not plan.target.partition_columns:
        return [target.directory]
    values = static_partition(spark, plan)
    directory = None if values is None else target.partition_directory(values)
    return [] if directory is None else [directory]


def static_partition(spark: StatementSpark, plan: WritePlan) -> PartitionValues | None:
    """The values, as text, of the partition that the PARTITION clause names; None if a value is dynamic."""
    if not plan.one_partition:
        return None
    texts = (partition_text(stored(plan.static[c.name], c, {}), c) for c in plan.target.partition_columns)
    return tuple(spark.sql(f"SELECT {', '.join(texts)}").collect()[0])


def check_disjoint(writes: Sequence[TableWrite]) -> None:
    """Checks that no branch of a multi-insert replaces a place that another branch writes to.

    Raises OUTPUT_SPECIFIED_MULTIPLE_TIMES.
    """
    replaced: set[str] = set()
    for write in sorted(writes, key=lambda w: not w.target.overwrites):
        for directory in sorted(write.partition_directories):
            if directory in replaced:
                hint = "The rows of two branches go there. Overwrite a partition in one branch only."
                raise AcidSqlError(Condition.OUTPUT_SPECIFIED_MULTIPLE_TIMES, output=directory, hint=hint)
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
                source=hive_type_name(source) or source.simpleString(),
                target=value.column.type,
                hint=f"Convert it to {value.column.type}.",
            )


def _as_hive_stores_them(rows: DataFrame, plan: WritePlan, settings: Mapping[str, str]) -> DataFrame:
    """The rows with the values that a column stores converted as Hive does it
    (planner/stored_values/store_assignment.py)."""
    types = hive_types(rows) if plan.values else {}
    converted = {}
    for value in plan.values:
        kind = types[value.name]
        sql = None if kind is None else conversion(value.name, parse_type(kind), value.column, settings)
        if sql is not None:
            converted[value.name] = sql_column(sql)
    return rows.withColumns(converted) if converted else rows
