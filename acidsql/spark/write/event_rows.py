"""The columns of events on their way to staged files, as SQL that the write strategies share.

acidsql/writing/placed_columns.py says what a placed and a finished event is. A strategy brings the events from the one
form to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isqrt
from typing import Final

import numpy as np
from pyspark.sql import DataFrame

from acidsql.acid.hive_types import Char, HiveType, Primitive, parse_type
from acidsql.acid.layout import OPERATION_DELETE, OPERATION_INSERT
from acidsql.acid.row_id import MAX_BUCKET, encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.grammar.quoting import name_sql
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, EventKind, WritePlan
from acidsql.planner.stored_values.partition_text import partition_text
from acidsql.planner.stored_values.sized_text import padded
from acidsql.spark.catalyst.gateway import jvm, select, where, with_columns
from acidsql.spark.catalyst.logical_plans import same_micros, with_literals
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.spark_types import ddl, file_type
from acidsql.spark.text_formats import text_lines
from acidsql.spark.write.bucket_expression import bucket_column
from acidsql.spark.write.timestamp_limits import representable
from acidsql.writing.file_slots import BY_TASK, SLOT, Slots
from acidsql.writing.placed_columns import (
    NEW_BUCKET,
    OLD_BUCKET,
    OLD_ROW,
    OLD_WRITE_ID,
    PLACE_DIRECTORY,
    staging_columns,
    value_directories,
)

_WRITE_IDS: Final = ":write_ids"
NEW_WRITE_ID: Final = f"`{_WRITE_IDS}`[spark_partition_id() & 0]"
"""SQL of the write ID. It is not a literal number, because Spark reuses compiled code only if no number in it changes.
Spark would fold a plain `[0]`."""
OLD_FILE: Final = f"shiftright({name_sql(ROW_ID)}.bucketid, 16) & {MAX_BUCKET}"
_HASHED: Final = ":hashed_bucket"


def with_write_id(events: DataFrame, write_id: WriteId) -> DataFrame:
    """The events with the column that NEW_WRITE_ID reads."""
    return with_literals(events, {_WRITE_IDS: jvm(events.sparkSession).long_array(np.array([write_id], np.int64))})


def insert_event(original: str, bucket: str, row_id: str, current: str) -> tuple[str, ...]:
    """SQL of the six flat ACID columns of an insert event, from SQL of four of them."""
    return acid_columns(
        {
            "operation": str(OPERATION_INSERT),
            "originalTransaction": original,
            "bucket": bucket,
            "rowId": row_id,
            "currentTransaction": current,
            "row": "true",
        }
    )


def acid_columns(values: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{value} AS {name}" for name, value in values.items())


def finished_events(
    arranged: DataFrame,
    plan: WritePlan,
    statement_ids: Sequence[StatementId],
    write_id: WriteId,
    row_number: str = ROW_NUMBER,
) -> DataFrame:
    """Placed events as they are written: the staging columns, the six ACID columns, and the row.

    `statement_ids` are those of the branches. `row_number` is SQL that numbers the new rows of a file.
    """
    deletes = [i for i, b in enumerate(plan.branches) if b.kind is not EventKind.INSERT]
    is_delete = f"`{BRANCH}` IN ({', '.join(map(str, deletes))})" if deletes else "false"
    new_bucket = f"shiftleft(`{NEW_BUCKET}`, 16) | {_by_branch([str(encode_bucket(0, s)) for s in statement_ids])}"
    columns = {
        "operation": f"CASE WHEN {is_delete} THEN {OPERATION_DELETE} ELSE {OPERATION_INSERT} END",
        "originalTransaction": f"CASE WHEN {is_delete} THEN `{OLD_WRITE_ID}` ELSE {NEW_WRITE_ID} END",
        "bucket": f"CASE WHEN {is_delete} THEN `{OLD_BUCKET}` ELSE {new_bucket} END",
        "rowId": f"CASE WHEN {is_delete} THEN `{OLD_ROW}` ELSE {row_number} END",
        "currentTransaction": NEW_WRITE_ID,
        "row": f"CASE WHEN NOT {is_delete} THEN true END",
    }
    names = (f"_c{i}" for i in range(len(plan.target.columns)))
    staged = map(name_sql, staging_columns(plan))
    return select(with_write_id(arranged, write_id), (*staged, *acid_columns(columns), *names))


def placed_events(events: DataFrame, plan: WritePlan, slots: Slots, *, new_bucket: str | None = None) -> DataFrame:
    """Each event with its branch, the row ID it names, its bucket, the staging columns and its row as it is filed.

    `new_bucket` is SQL of the bucket, if neither a bucket hash nor the tasks of a shuffle decide it.
    """
    events = with_constraints(events)
    if plan.target.bucket_count and new_bucket is None:
        events = with_columns(events, {_HASHED: bucket_column(plan.target)})
    row_id = name_sql(ROW_ID)
    flat = (
        name_sql(BRANCH),
        f"{row_id}.writeid AS `{OLD_WRITE_ID}`",
        f"{row_id}.bucketid AS `{OLD_BUCKET}`",
        f"{row_id}.rowid AS `{OLD_ROW}`",
        *_places(plan),
        f"CAST({new_bucket or _bucket(plan, slots.tasks)} AS INT) AS `{NEW_BUCKET}`",
    )
    code = _by_branch([code_of_bucket(slots, number, NEW_BUCKET) for number in range(len(plan.branches))])
    return select(filed(events, flat, plan.target), ("*", f"{code} AS {name_sql(SLOT)}"))


def with_constraints(events: DataFrame) -> DataFrame:
    """Evaluates the branch of every event, which raises if a constraint is violated (planner/dml/event_queries.py)."""
    return where(events, f"`{BRANCH}` >= 0")


def _places(plan: WritePlan) -> list[str]:
    """The partition of an event: the number of its old row's partition, or the texts of its partition columns. Only one
    of the two is set."""
    places = [f"{name_sql(PLACE)} AS {name_sql(PLACE_DIRECTORY)}"] if plan.keeps_places else []
    if plan.moves_rows:
        places += [
            f"CASE WHEN {name_sql(PLACE)} IS NULL THEN {partition_text(name_sql(c.name), c)} END AS {name_sql(name)}"
            for name, c in value_directories(plan.target).items()
        ]
    return places


def _bucket(plan: WritePlan, tasks: int) -> str:
    """SQL of the bucket number of an event's file. A delete event goes to the bucket of its row."""
    inserts = [i for i, b in enumerate(plan.branches) if b.kind is EventKind.INSERT]
    if not inserts:
        return OLD_FILE
    of_inserts = _new_bucket(plan, tasks)
    if len(inserts) == len(plan.branches):
        return of_inserts
    is_insert = f"`{BRANCH}` IN ({', '.join(map(str, inserts))})"
    return f"CASE WHEN {is_insert} THEN {of_inserts} ELSE {OLD_FILE} END"


def _new_bucket(plan: WritePlan, tasks: int) -> str:
    """SQL of the bucket number of a new row's file: its hash bucket, or one that spreads the rows over the tasks.

    New rows of many partitions are spread by partition. A few tasks, the square root of all, write each partition, so
    that a large partition does not wait for one task, and no partition gets a file of every task.
    """
    if plan.target.bucket_count:
        return f"`{_HASHED}`"
    if tasks == 1:
        return "0"
    if not plan.moves_rows or plan.one_partition:
        return f"pmod({_row_hash(plan)}, {tasks})"
    partition = f"hash({', '.join(name_sql(c.name) for c in plan.target.partition_columns)})"
    # pmod before the sum: the hash may be the highest INT.
    return f"pmod(pmod({partition}, {tasks}) + pmod({_row_hash(plan)}, {isqrt(tasks)}), {tasks})"


def _row_hash(plan: WritePlan) -> str:
    """SQL of a hash that is the same when a task runs again: of the old row ID, and of columns that can be hashed."""
    hashable = [c for c in plan.target.columns if not c.type.startswith(("array", "map", "struct", "binary"))]
    row_id = name_sql(ROW_ID)
    return f"hash({', '.join((f'{row_id}.writeid', f'{row_id}.rowid', *(name_sql(c.name) for c in hashable[:4])))})"


def code_of_bucket(slots: Slots, branch: int, bucket: str) -> str:
    """SQL that looks up the code of a branch's slot, for the bucket number in the column `bucket`; NULL or -1 if there
    is no such slot."""
    codes = {slot.bucket: code for slot, code in slots.codes.items() if slot.branch == branch}
    if BY_TASK in codes:
        return str(codes[BY_TASK])
    array = ",".join(str(codes.get(b, -1)) for b in range(max(codes, default=-1) + 1))
    return f"array({array or '-1'})[`{bucket}`]"


def _by_branch(values: Sequence[str]) -> str:
    """SQL that gives each branch its value."""
    if len(set(values)) == 1:
        return values[0]
    cases = " ".join(f"WHEN {number} THEN {value}" for number, value in enumerate(values[:-1]))
    return f"CASE `{BRANCH}` {cases} ELSE {values[-1]} END"


# ------------------------------------------------------------------------------------------------ filed rows


def filed(rows: DataFrame, before: Iterable[str], table: Table) -> DataFrame:
    """The rows with the columns `before`, and the table's columns as they lie in a file. They are named `_c0` and so
    on, so that they cannot clash with the ACID columns; orc.nest_row restores their names."""
    columns = [*before]
    times = {}
    for i, column in enumerate(table.columns):
        value, hive_type = name_sql(column.name), parse_type(column.type)
        if hive_type == Primitive("timestamp"):
            times[len(columns)] = f"_c{i}"
        else:
            value = _filed(value, hive_type)
        value = representable(value, column) if table.file_format == "orc" else value
        columns.append(f"{value} AS _c{i}")
    return same_micros(select(rows, columns), times, wall_clock=False)


def _filed(value: str, hive_type: HiveType) -> str:
    """SQL of a value as it lies in a file. CHAR is padded there (golden/all_types), and read without the padding."""
    cast = f"CAST({value} AS {ddl(file_type(hive_type))})"
    return padded(cast, hive_type.length) if isinstance(hive_type, Char) else cast


def plain_rows(arranged: DataFrame, table: Table, placed: Sequence[str]) -> DataFrame:
    """Rows for tables that are not full ACID: the columns `placed`, then the table's columns under their names."""
    kept = [c for c in placed if c in arranged.columns]
    names = [f"_c{i}" for i in range(len(table.columns))]
    if table.file_format == "textfile":
        return arranged.select(*map(name_sql, kept), text_lines.line(table, names).alias("value"))
    columns = (f"{n} AS {name_sql(c.name)}" for n, c in zip(names, table.columns, strict=True))
    return select(arranged, (*map(name_sql, kept), *columns))
