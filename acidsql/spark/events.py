"""Events to staged files: one shuffle, one sort within each task, one write.

A delete event must go to the file numbered as its row's bucket, whatever task found it; new rows may go anywhere. So
every event gets a slot, the file it will lie in: (branch, bucket). All events of a slot meet in one task, and tasks
are balanced by choosing the slot's code, the only partition column of the write, such that Spark's hash of it falls on
the task we want (Murmur3 of the code modulo the number of tasks). Sorted by (code, old row ID), each file is sorted as
Hive needs it; new rows are numbered behind the sort, so row IDs ascend in every file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from acidsql.acid.layout import OPERATION_DELETE, OPERATION_INSERT
from acidsql.acid.rowid import MAX_BUCKET, encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.types import Char, HiveType, parse_type
from acidsql.acid.writeids import StatementId, WriteId
from acidsql.errors import Condition
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, Branch, EventKind, WritePlan
from acidsql.planner.raised import raise_sql
from acidsql.spark import textfile
from acidsql.spark.bucketing import bucket_column
from acidsql.spark.orc_times import representable
from acidsql.spark.types import file_type

SLOT: Final = "acidsql_slot"
"""The partition column of the staged files: a slot's code."""
_BUCKET: Final = "@bucket"
_WRITE_ID: Final = "@writeid"
_PROPERTY: Final = "@bucketid"
_ROW: Final = "@rowid"
_ACTIONS: Final = "@actions"
ROW_ID_MASK: Final = (1 << 33) - 1
"""The part of monotonically_increasing_id() that counts rows within a task."""


PLACE_DIRECTORY: Final = "acidsql_place"
"""Partition column of the staged files of a partitioned table: the number of the old row's partition."""
VALUE_DIRECTORY: Final = "acidsql_value"
"""The same for the values of the partition columns, as text, numbered from 0."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A file to be: which branch's directory it goes to, and its bucket number."""

    branch: int
    bucket: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a write by their codes, and the number of tasks they are spread over."""

    codes: dict[Slot, int]
    tasks: int

    def by_code(self) -> dict[int, Slot]:
        return {code: slot for slot, code in self.codes.items()}


def assign_slots(
    branches: Sequence[Branch], buckets: Iterable[int], tasks: int, bucket_count: int | None = None
) -> Slots:
    """A code for every file that the branches can need. Insert events sort before the others: they are numbered first.

    `buckets` are the numbers of the target's files, `tasks` the number of writing tasks, at most 4096. New rows of a
    table with `bucket_count` buckets have that many files, else one for each task.
    """
    wanted: list[tuple[Slot, int]] = []
    of_deletes: list[tuple[Slot, int]] = []
    for number, branch in enumerate(branches):
        if branch.kind is EventKind.INSERT:
            wanted += [(Slot(number, bucket), bucket % tasks) for bucket in range(bucket_count or tasks)]
        else:
            of_deletes += [(Slot(number, bucket), i % tasks) for i, bucket in enumerate(sorted(buckets))]
    codes: dict[Slot, int] = {}
    first = 0
    for group in (wanted, of_deletes):
        first = _assign(group, tasks, first, codes)
    return Slots(codes, tasks)


def slot_a_task(slots: Sequence[Slot], tasks: int) -> Slots:
    """Codes that put the slots on the tasks in turn."""
    codes: dict[Slot, int] = {}
    _assign([(slot, i % tasks) for i, slot in enumerate(slots)], tasks, 0, codes)
    return Slots(codes, tasks)


def _assign(group: Sequence[tuple[Slot, int]], tasks: int, first: int, codes: dict[Slot, int]) -> int:
    waiting: dict[int, list[Slot]] = {}
    for slot, task in reversed(group):
        waiting.setdefault(task, []).append(slot)
    code = first
    while waiting:
        task = spark_hash(code) % tasks
        if task in waiting:
            codes[waiting[task].pop()] = code
            if not waiting[task]:
                del waiting[task]
        code += 1
    return code


def spark_hash(value: int) -> int:
    """Spark's hash of an INT (Murmur3_x86_32.hashInt, seed 42), signed; Python's % gives Spark's pmod.

    >>> spark_hash(0)
    933211791
    """
    k = value * 0xCC9E2D51 & 0xFFFFFFFF
    k = _rotate(k, 15) * 0x1B873593 & 0xFFFFFFFF
    h = (_rotate(42 ^ k, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >= 1 << 31 else h


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF


# ------------------------------------------------------------------------------------------------ the write's query


def staging_columns(plan: WritePlan) -> tuple[str, ...]:
    """The partition columns of the staged files."""
    values = [f"{VALUE_DIRECTORY}{i}" for i in range(len(plan.target.partition_columns))] if plan.moves_rows else []
    return (SLOT, *([PLACE_DIRECTORY] if plan.keeps_places else []), *values)


def numbered_inserts(events: DataFrame, plan: WritePlan, statement_id: StatementId, write_id: WriteId) -> DataFrame:
    """INSERT: no shuffle and no sort. The task is the bucket; row IDs count its rows from 0."""
    bucket = F.shiftleft(F.spark_partition_id(), 16).bitwiseOR(encode_bucket(0, statement_id))
    return _with_constraints(events).select(
        F.lit(OPERATION_INSERT).alias("operation"),
        F.lit(write_id).cast("long").alias("originalTransaction"),
        bucket.alias("bucket"),
        F.monotonically_increasing_id().bitwiseAND(ROW_ID_MASK).alias("rowId"),
        F.lit(write_id).cast("long").alias("currentTransaction"),
        F.lit(True).alias("row"),
        *filed_columns(plan.target),
    )


def arranged_events(
    events: DataFrame, plan: WritePlan, slots: Slots, statement_ids: Sequence[StatementId], write_id: WriteId
) -> DataFrame:
    """The events in the order in which they are written, with row IDs; SLOT is the partition column.

    `statement_ids` are the branches' own. Raises CARDINALITY_VIOLATION when it runs.
    """
    arranged = _placed(events, plan, slots).repartition(slots.tasks, SLOT)
    arranged = arranged.sortWithinPartitions(*staging_columns(plan), _WRITE_ID, _PROPERTY, _ROW)
    if plan.checked is not None:
        arranged = count_actions(arranged, plan)
    deletes = F.col(BRANCH).isin([i for i, b in enumerate(plan.branches) if b.kind is not EventKind.INSERT])
    new_bucket = F.shiftleft(F.col(_BUCKET), 16).bitwiseOR(_by_branch([encode_bucket(0, s) for s in statement_ids]))
    new_row_id = F.monotonically_increasing_id().bitwiseAND(ROW_ID_MASK)
    return arranged.select(
        *staging_columns(plan),
        F.when(deletes, OPERATION_DELETE).otherwise(OPERATION_INSERT).alias("operation"),
        F.when(deletes, F.col(_WRITE_ID)).otherwise(F.lit(write_id)).cast("long").alias("originalTransaction"),
        F.when(deletes, F.col(_PROPERTY)).otherwise(new_bucket).alias("bucket"),
        F.when(deletes, F.col(_ROW)).otherwise(new_row_id).alias("rowId"),
        F.lit(write_id).cast("long").alias("currentTransaction"),
        F.when(~deletes, True).alias("row"),
        *filed_columns(plan.target),
    )


def count_actions(arranged: DataFrame, plan: WritePlan) -> DataFrame:
    """MERGE's cardinality check: no two events of the checked branch may name one row.

    The window is over what the shuffle and the sort have already brought together. CHECK events end here.
    """
    same_row = ", ".join(f"`{c}`" for c in (*staging_columns(plan), _WRITE_ID, _PROPERTY, _ROW))
    counted = arranged.selectExpr("*", f"count(1) OVER (PARTITION BY {same_row}) AS `{_ACTIONS}`")
    row_id = f"concat('{{\"writeid\":', `{_WRITE_ID}`, ',\"bucketid\":', `{_PROPERTY}`, ',\"rowid\":', `{_ROW}`, '}}')"
    failure = raise_sql(Condition.CARDINALITY_VIOLATION, row_id=row_id)
    checks = [i for i, b in enumerate(plan.branches) if b.kind is EventKind.CHECK]
    is_written = f"`{BRANCH}` <> {checks[0]}" if checks else "true"
    return counted.where(
        f"CASE WHEN `{BRANCH}` = {plan.checked} AND `{_ACTIONS}` > 1 THEN CAST({failure} AS BOOLEAN)"
        f" ELSE {is_written} END"
    )


def _placed(events: DataFrame, plan: WritePlan, slots: Slots) -> DataFrame:
    """Each event with the row ID it names, its bucket and its slot's code."""
    row_id = F.col(f"`{ROW_ID}`")
    flat = _with_constraints(events).select(
        F.col(f"`{BRANCH}`"),
        row_id["writeid"].alias(_WRITE_ID),
        row_id["bucketid"].alias(_PROPERTY),
        row_id["rowid"].alias(_ROW),
        *_places(plan),
        *(F.col(f"`{c.name}`") for c in plan.target.all_columns),
    )
    bucket = _by_kind(plan.branches, _new_bucket(plan, slots.tasks), _old_bucket()).cast("int")
    placed = flat.withColumn(_BUCKET, bucket)
    return placed.withColumn(SLOT, _code(plan.branches, slots))


def _with_constraints(events: DataFrame) -> DataFrame:
    """The branch of an event raises where a constraint is violated (planner/events.py): it must be looked at."""
    return events.where(F.col(BRANCH) >= 0)


def _places(plan: WritePlan) -> list[Column]:
    """The partition of an event: its old row's number, or the texts of its partition columns. Only one is set."""
    places = [F.col(f"`{PLACE}`").alias(PLACE_DIRECTORY)] if plan.keeps_places else []
    if plan.moves_rows:
        moved = F.col(f"`{PLACE}`").isNull()
        places += [
            F.when(moved, F.col(f"`{c.name}`").cast("string")).alias(f"{VALUE_DIRECTORY}{i}")
            for i, c in enumerate(plan.target.partition_columns)
        ]
    return places


def _by_kind(branches: Sequence[Branch], of_inserts: Column, of_deletes: Column) -> Column:
    inserts = [i for i, b in enumerate(branches) if b.kind is EventKind.INSERT]
    if len(inserts) == len(branches):
        return of_inserts
    if not inserts:
        return of_deletes
    return F.when(F.col(BRANCH).isin(inserts), of_inserts).otherwise(of_deletes)


def _old_bucket() -> Column:
    return F.shiftright(F.col(_PROPERTY), 16).bitwiseAND(MAX_BUCKET)


def _new_bucket(plan: WritePlan, tasks: int) -> Column:
    """The file of a new row: its hash bucket, or any that spreads the rows over the tasks.

    New rows for many partitions are spread by partition: each is written by a few tasks, the square root of all, so
    that neither one big partition waits for one task nor every partition gets a file of every task.
    """
    if plan.target.bucket_count:
        return bucket_column(plan.target)
    if not plan.moves_rows or plan.one_partition:
        return F.pmod(_row_hash(plan), F.lit(tasks))
    partition = F.hash(*(F.col(f"`{c.name}`") for c in plan.target.partition_columns))
    writers = F.pmod(_row_hash(plan), F.lit(isqrt(tasks)))
    # Reduced before the sum: the hash may be as high as an INT goes.
    return F.pmod(F.pmod(partition, F.lit(tasks)) + writers, F.lit(tasks))


def _row_hash(plan: WritePlan) -> Column:
    """The same when a task runs again: a hash of the old row ID and of columns that can be hashed."""
    hashable = [c for c in plan.target.columns if not c.type.startswith(("array", "map", "struct", "binary"))]
    return F.hash(F.col(_WRITE_ID), F.col(_ROW), *(F.col(f"`{c.name}`") for c in hashable[:4]))


def _code(branches: Sequence[Branch], slots: Slots) -> Column:
    """The code of (branch, bucket)."""
    return _by_branch_columns([code_of_bucket(slots, number, _BUCKET) for number in range(len(branches))])


def code_of_bucket(slots: Slots, branch: int, bucket: str) -> Column:
    """The code of a branch's slot for the bucket number in the column `bucket`, looked up in a literal array; NULL or
    -1 where there is none."""
    codes = {slot.bucket: code for slot, code in slots.codes.items() if slot.branch == branch}
    array = ",".join(str(codes.get(b, -1)) for b in range(max(codes, default=-1) + 1))
    return F.expr(f"array({array or '-1'})[`{bucket}`]")


def _by_branch(values: Sequence[int]) -> Column:
    return _by_branch_columns([F.lit(v) for v in values])


def _by_branch_columns(values: Sequence[Column]) -> Column:
    if len(values) == 1:
        return values[0]
    chosen = F.when(F.col(BRANCH) == 0, values[0])
    for number, value in enumerate(values[1:-1], start=1):
        chosen = chosen.when(F.col(BRANCH) == number, value)
    return chosen.otherwise(values[-1])


def filed_columns(table: Table) -> list[Column]:
    """The table's columns as they lie in a file, under names that cannot clash with the ACID columns; orc.nest_row
    gives their own back."""
    columns = ((F.col(f"`{c.name}`"), parse_type(c.type)) for c in table.columns)
    filed = [_filed(value, hive_type) for value, hive_type in columns]
    if table.file_format == "orc":
        filed = [representable(value, c) for value, c in zip(filed, table.columns, strict=True)]
    return [value.alias(f"_c{i}") for i, value in enumerate(filed)]


def _filed(value: Column, hive_type: HiveType) -> Column:
    """A value as it lies in a file; CHAR is padded there (golden/all_types), and read without the padding."""
    cast = value.cast(file_type(hive_type))
    return F.rpad(cast, hive_type.length, " ") if isinstance(hive_type, Char) else cast


def plain_rows(arranged: DataFrame, table: Table, placed: Sequence[str]) -> DataFrame:
    """Rows without the ACID columns, for insert-only tables: the table's own columns under their own names, behind
    those of `placed`."""
    kept = [c for c in placed if c in arranged.columns]
    names = [f"_c{i}" for i in range(len(table.columns))]
    if table.file_format == "textfile":
        return arranged.select(*kept, textfile.line(table, names).alias("value"))
    columns = (F.col(n).alias(c.name) for n, c in zip(names, table.columns, strict=True))
    return arranged.select(*kept, *columns)


def nested_rows(flat: DataFrame, table: Table) -> DataFrame:
    """The same events with `row` as a struct, for file systems on which a footer cannot be rewritten (slower)."""
    names = [f"_c{i}" for i in range(len(table.columns))]
    fields = [F.col(n).alias(c.name) for n, c in zip(names, table.columns, strict=True)]
    row = F.when(F.col("row"), F.struct(*fields)).alias("row")
    return flat.select(*(row if c == "row" else F.col(c) for c in flat.columns if c not in names))
