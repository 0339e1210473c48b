"""New rows written by the tasks that make them: of much data, their shuffle and their sort would cost most.

Only delete events have to meet, those of a file in one task. The same job sets them aside, bare row IDs, and they are
arranged behind it, like the events of a statement that makes no rows:

    staging/rows/%3Aslot=<branch>/part-<task>         of an INSERT branch: new rows, the task is the bucket; of another
                                                      one: its events, set aside
    staging/deletes/..                                what comes of these (events.arranged_events)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import orc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import DEFAULT_PARTITION
from acidsql.acid.row_id import MAX_BUCKET
from acidsql.planner.event_queries import ROW_ID_TYPE, name_sql
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, EventKind, WritePlan
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.engine import CONCURRENT_WRITERS
from acidsql.spark.scan.exact_paths import load_orc_exactly
from acidsql.spark.spark_types import ddl, query_type
from acidsql.spark.write.event_rows import (
    OLD_BUCKET,
    OLD_ROW,
    OLD_WRITE_ID,
    PLACE_DIRECTORY,
    events_by_task,
    staging_columns,
)
from acidsql.spark.write.file_slots import SLOT, Slots, slots_by_task
from acidsql.spark.write.publishing import StagedFile, WriteTarget, finish_staged, staged_files, staged_values
from acidsql.spark.write.staging import save
from acidsql.storage.footer_cache import read_file_tail

MUCH: Final = 1 << 25
"""Bytes that a statement reads; below, the second step takes longer than the shuffle would have."""
_OPEN: Final = 16
"""Files that a task may write together, or Spark would sort its rows by file."""
_ROW_ID: Final = ("originalTransaction", "bucket", "rowId")
_SCHEMA: Final = StructType(
    [StructField(n, t) for n, t in zip(_ROW_ID, (LongType(), IntegerType(), LongType()), strict=True)]
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A file of events that were set aside: of one branch and one partition, numbered as in PLACE."""

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
    """The events that were set aside."""

    parts: tuple[_Part, ...]

    @property
    def count(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def size(self) -> int:
        """Compressed bytes."""
        return sum(part.size for part in self.parts)

    def events(self, spark: SparkSession, plan: WritePlan) -> DataFrame:
        """As a frame like that of an event query."""
        return reduce(DataFrame.unionAll, self._frames(spark, plan))

    def _frames(self, spark: SparkSession, plan: WritePlan) -> Iterator[DataFrame]:
        for (branch, place), parts in groupby(sorted(self.parts, key=lambda p: p.of), lambda p: p.of):
            columns = {
                BRANCH: str(branch),
                ROW_ID: f"CAST(struct({', '.join(_ROW_ID)}) AS {ROW_ID_TYPE})",
            }
            if plan.target.partition_columns:
                columns[PLACE] = "CAST(NULL AS INT)" if place < 0 else str(place)
            for column in plan.target.all_columns:
                columns[column.name] = f"CAST(NULL AS {ddl(query_type(parse_type(column.type)))})"
            rows = load_orc_exactly(spark, [p.path for p in parts], _SCHEMA.json())
            yield select(rows, (f"{value} AS {name_sql(name)}" for name, value in columns.items()))

    def placed(self, plan: WritePlan, slots: Slots) -> Any:
        """As an Arrow table of what events.placed_events gives, but for the rows, which are NULL. For local files."""
        codes = np.full((len(plan.branches), MAX_BUCKET + 1), -1, np.int64)
        for slot, code in slots.codes.items():
            codes[slot.branch, slot.bucket] = code
        return pa.concat_tables(_placed(part, codes, plan) for part in self.parts)


def _placed(part: _Part, codes: Any, plan: WritePlan) -> Any:
    read = orc.ORCFile(part.path).read(columns=list(_ROW_ID))
    buckets = np.asarray(read.column("bucket"))
    columns = {
        BRANCH: np.full(part.rows, part.branch, np.int64),
        **{name: read.column(of) for name, of in zip((OLD_WRITE_ID, OLD_BUCKET, OLD_ROW), _ROW_ID, strict=True)},
        SLOT: codes[part.branch, buckets >> 16 & MAX_BUCKET],
    }
    if plan.keeps_places:
        columns[PLACE_DIRECTORY] = pa.array([part.place], pa.int64()).take(pa.array(np.zeros(part.rows, np.int64)))
    return pa.table(columns)


def can_spread(plan: WritePlan, places: int) -> bool:
    """Whether new rows may go to any file, and a task writes few files; `places` is the number of partitions that the
    statement reads."""
    kinds = {b.kind for b in plan.branches}
    if EventKind.INSERT not in kinds or len(kinds) == 1:
        return False
    if plan.target.bucket_count or plan.moves_rows or plan.few_rows:
        return False
    return len(plan.branches) * (places if plan.keeps_places else 1) <= _OPEN


def write_rows(
    spark: SparkSession, events: DataFrame, plan: WritePlan, target: WriteTarget
) -> tuple[list[StagedFile], Aside]:
    """Writes the new rows, and sets the other events aside."""
    target = replace(target, part="rows")
    slots = slots_by_task(plan.branches)
    rows = events_by_task(events.coalesce(MAX_BUCKET + 1), plan, slots, target.statement_ids, target.write_id)
    before = spark.conf.get(CONCURRENT_WRITERS, "0")
    spark.conf.set(CONCURRENT_WRITERS, _OPEN)
    save(rows, plan.target, target.files, target.staging, staging_columns(plan))
    # Where more are needed, Spark sorts by file, and by row ID no more: not for the second step.
    spark.conf.set(CONCURRENT_WRITERS, before or 0)
    return finish_staged(target, slots.by_code(), EventKind.INSERT), Aside(tuple(_set_aside(plan, target)))


def _set_aside(plan: WritePlan, target: WriteTarget) -> Iterator[_Part]:
    for file in staged_files(target):
        said = staged_values(file.path.rpartition("/")[0])
        branch, place = int(said[SLOT]), said.get(PLACE_DIRECTORY, DEFAULT_PARTITION)
        if plan.branches[branch].kind is not EventKind.INSERT:
            tail = read_file_tail(target.files, f"{target.staging}/{file.path}", file.length)
            yield _Part(branch, None if place == DEFAULT_PARTITION else int(place), tail.path, tail.rows, file.length)
