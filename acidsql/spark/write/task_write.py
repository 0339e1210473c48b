"""Strategy `InEachTask`: new rows are written by the tasks that make them, without a shuffle and a sort.

The rows of a plain INSERT are all there is. Other statements also have delete events, and those of a file must meet in
one task. The same job sets them aside, as bare row IDs, and a second step writes them like the events of a statement
that makes no rows:

    staging/rows/%3Aslot=<branch>/part-<task>    new rows of an INSERT branch, whose bucket is the task; events of
                                                 another branch, set aside
    staging/deletes/..                           the delete events that the second step writes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any, Final, assert_never

import numpy as np
import pyarrow as pa
from pyarrow import orc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from acidsql.acid.data_files import File
from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import DEFAULT_PARTITION
from acidsql.acid.row_id import encode_bucket
from acidsql.grammar.quoting import name_sql
from acidsql.planner.dml.event_queries import ROW_ID_TYPE
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, EventKind, WritePlan
from acidsql.planner.write_strategy import (
    OPEN_FILES,
    ByDriver,
    InEachTask,
    Shuffled,
    WriteFacts,
    choose_for_deletes,
)
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.running_spark import CONCURRENT_WRITERS
from acidsql.spark.scan.exact_paths import load_orc_exactly
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.spark_types import ddl, query_type
from acidsql.spark.write import driver_write
from acidsql.spark.write.event_rows import (
    NEW_WRITE_ID,
    filed,
    finished_events,
    insert_event,
    placed_events,
    with_constraints,
    with_write_id,
)
from acidsql.spark.write.event_write import EventWrite, GivenEvents
from acidsql.spark.write.shuffled_write import stage_shuffled
from acidsql.spark.write.staging import save
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.orc.orc_footers import adds_acid_columns
from acidsql.writing.event_files import write_placed
from acidsql.writing.file_slots import SLOT, Slots, assign_slots, slots_by_task
from acidsql.writing.placed_columns import OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, PLACE_DIRECTORY, staging_columns
from acidsql.writing.publishing import StagedFile, WriteTarget, finish_staged, staged_values

_TASK: Final = "spark_partition_id()"
_OPEN_TOGETHER: Final = {CONCURRENT_WRITERS: str(OPEN_FILES)}
"""Spark's setting for tasks that write to several files and do not sort their rows by file."""
_ROW_ID: Final = ("originalTransaction", "bucket", "rowId")
_SCHEMA: Final = StructType(
    [StructField(n, t) for n, t in zip(_ROW_ID, (LongType(), IntegerType(), LongType()), strict=True)]
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A file of events that were set aside, of one branch and one partition. The partition has its number in PLACE."""

    branch: int
    place: int | None
    path: str
    rows: int
    size: int

    @property
    def of(self) -> tuple[int, int]:
        return self.branch, -1 if self.place is None else self.place


@dataclass(frozen=True, slots=True)
class Aside:
    """All events that were set aside."""

    parts: tuple[_Part, ...]

    @property
    def count(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def size(self) -> int:
        """Compressed bytes."""
        return sum(part.size for part in self.parts)

    def events(self, spark: SparkSession, plan: WritePlan) -> DataFrame:
        """The events as a frame with the columns of an event query."""
        return reduce(DataFrame.unionAll, self._frames(spark, plan))

    def _frames(self, spark: SparkSession, plan: WritePlan) -> Iterator[DataFrame]:
        for (branch, place), of_place in groupby(sorted(self.parts, key=lambda p: p.of), lambda p: p.of):
            parts = list(of_place)
            columns = {
                BRANCH: str(branch),
                ROW_ID: f"CAST(struct({', '.join(_ROW_ID)}) AS {ROW_ID_TYPE})",
            }
            if plan.target.partition_columns:
                columns[PLACE] = "CAST(NULL AS INT)" if place < 0 else str(place)
            for column in plan.target.all_columns:
                columns[column.name] = f"CAST(NULL AS {ddl(query_type(parse_type(column.type)))})"
            rows = load_orc_exactly(spark, [p.path for p in parts], _SCHEMA.json(), sizes=[p.size for p in parts])
            yield select(rows, (f"{value} AS {name_sql(name)}" for name, value in columns.items()))

    def placed(self, files: FileSystem, plan: WritePlan, slots: Slots) -> Any:
        """The events as an Arrow table of placed events (event_rows.py) without rows."""
        return pa.concat_tables(_placed(files, part, slots, plan) for part in self.parts)


def _placed(files: FileSystem, part: _Part, slots: Slots, plan: WritePlan) -> Any:
    with files.open(part.path) as file:
        read = orc.ORCFile(file).read(columns=list(_ROW_ID))
    buckets = np.asarray(read.column("bucket"))
    columns = {
        BRANCH: np.full(part.rows, part.branch, np.int64),
        **{name: read.column(of) for name, of in zip((OLD_WRITE_ID, OLD_BUCKET, OLD_ROW), _ROW_ID, strict=True)},
        SLOT: slots.of_rows(part.branch, buckets),
    }
    if plan.keeps_places:
        columns[PLACE_DIRECTORY] = pa.array([part.place], pa.int64()).take(pa.array(np.zeros(part.rows, np.int64)))
    return pa.table(columns)


def stage_in_each_task(write: EventWrite, strategy: InEachTask, facts: WriteFacts) -> list[StagedFile]:
    """Writes the new rows in one step, and the delete events, if there are any, in another.

    Raises CARDINALITY_VIOLATION.
    """
    if not strategy.deletes_follow:
        return _stage_inserts(write, strategy)
    staged, aside = _stage_new_rows(write, strategy)
    return [*staged, *_stage_deletes(write, aside, facts)] if aside.count else staged


def _stage_inserts(write: EventWrite, strategy: InEachTask) -> list[StagedFile]:
    """The rows of an INSERT. The task is the bucket; row IDs count its rows from 0.

    Where the ACID columns can be added to the finished file, the tasks do not write them.
    """
    plan, target = write.plan, write.target
    if adds_acid_columns(target.files, plan.target):
        # Behind the projection: between two, Spark would copy each row once more.
        rows = filed(with_constraints(write.events), (), plan.target).coalesce(strategy.most_tasks)
        written = save(rows, plan.target, target.files, target.staging, ())
        return finish_staged(target, written, None, lack_acid_columns=True)
    bucket = f"shiftleft({_TASK}, 16) | {encode_bucket(0, target.statement_ids[0])}"
    events = with_constraints(write.events.coalesce(strategy.most_tasks))
    columns = insert_event(NEW_WRITE_ID, bucket, ROW_NUMBER, NEW_WRITE_ID)
    rows = filed(with_write_id(events, target.write_id), columns, plan.target)
    written = save(rows, plan.target, target.files, target.staging, ())
    return finish_staged(target, written, None)


def _stage_new_rows(write: EventWrite, strategy: InEachTask) -> tuple[list[StagedFile], Aside]:
    """Writes the new rows of a task to the files of its number, and sets its other events aside."""
    plan, target = write.plan, replace(write.target, part="rows")
    slots = slots_by_task(plan.branches)
    placed = placed_events(write.events.coalesce(strategy.most_tasks), plan, slots, new_bucket=_TASK)
    # Each branch numbers its new rows for itself: none has a gap.
    numbers = " ".join(f"WHEN {number} THEN {ROW_NUMBER}" for number in range(len(plan.branches)))
    rows = finished_events(placed, plan, target.statement_ids, target.write_id, f"CASE `{BRANCH}` {numbers} END")
    written = save(rows, plan.target, target.files, target.staging, staging_columns(plan), _OPEN_TOGETHER)
    finished = finish_staged(target, written, slots.by_code(), EventKind.INSERT)
    return finished, Aside(tuple(_set_aside(plan, target, written)))


def _stage_deletes(write: EventWrite, aside: Aside, facts: WriteFacts) -> list[StagedFile]:
    """Writes the events that were set aside. The write does without _OPEN_TOGETHER: a task with more files than that
    would sort its rows by file, and undo their order by row ID."""
    spark, plan, target = write.spark, write.plan, replace(write.target, part="deletes")
    can_write = driver_write.can_write(spark, plan.target, target.files, aside.size)
    step = choose_for_deletes(aside.count, replace(facts, size=aside.size, driver_can_write=can_write))
    match step:
        case ByDriver():
            slots = assign_slots(plan.branches, write.buckets, step.files)
            return write_placed(aside.placed(target.files, plan, slots), plan, target, slots)
        case Shuffled():
            second = replace(write, queries=GivenEvents(aside.events(spark, plan)), target=target, size=aside.size)
            return stage_shuffled(second, step)
        case _:
            assert_never(step)


def _set_aside(plan: WritePlan, target: WriteTarget, written: Sequence[File]) -> Iterator[_Part]:
    """The staged files of branches other than INSERT."""
    for file in written:
        columns = staged_values(file.path.rpartition("/")[0])
        branch, place = int(columns[SLOT]), columns.get(PLACE_DIRECTORY, DEFAULT_PARTITION)
        if plan.branches[branch].kind is not EventKind.INSERT:
            tail = read_file_tail(target.files, f"{target.staging}/{file.path}", file.length)
            yield _Part(branch, None if place == DEFAULT_PARTITION else int(place), tail.path, tail.rows, file.length)
