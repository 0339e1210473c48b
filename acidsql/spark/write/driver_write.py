"""Strategy `ByDriver`: the driver collects the events of a statement, sorts them and writes the files.

Spark's tasks read in parallel. Threads of this process sort and write their result, as ORC in C++, in place of one more
shuffle, sort and write of Spark's. The staging directory then holds what shuffled_write.py leaves there: the same files
under the same names, with the same events in the same order. A result that is larger than it looked ends the job, and
another strategy takes over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from py4j.protocol import Py4JJavaError
from pyarrow import orc
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_type

from acidsql.acid.hive_types import HiveType, has_date, has_instant, has_timestamp, is_complex, parse_type
from acidsql.acid.layout import OPERATION_DELETE
from acidsql.acid.partition_names import DEFAULT_PARTITION, escape
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.merge_cardinality import check_event, check_sorted
from acidsql.planner.plan import BRANCH, EventKind, WritePlan
from acidsql.planner.sql_errors import sql_string
from acidsql.planner.write_strategy import ByDriver
from acidsql.spark.catalyst.gateway import jvm, where
from acidsql.spark.engine import for_little
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.spark_types import wall_clock_type
from acidsql.spark.write.event_rows import (
    NEW_BUCKET,
    OLD_BUCKET,
    OLD_ROW,
    OLD_WRITE_ID,
    filed,
    placed_events,
    staging_columns,
    with_constraints,
)
from acidsql.spark.write.event_write import EventWrite
from acidsql.spark.write.file_slots import assign_slots
from acidsql.spark.write.publishing import StagedFile, WriteTarget, finish_staged
from acidsql.spark.write.row_widths import row_width
from acidsql.storage.file_systems import FileSystem, LocalFiles
from acidsql.storage.orc.event_columns import insert_columns
from acidsql.storage.orc.orc_footers import arrow_codec, writer_options

_MOST: Final = 2_000_000
"""Events that one task may give."""
LITTLE: Final = 1024 * 1024
"""Bytes that a query may read for Spark to interpret it instead of compiling it."""
_REFUSED: Final = "acidsql: this is not for the driver to write"
_TOO_LARGE: Final = "spark.driver.maxResultSize"
"""Spark names this setting in the error of a job whose result is too large for the driver."""
_OF_HEAP: Final = 64
"""The compressed bytes may be one part in so many of the JVM's heap: they grow some tenfold in memory."""
_OF_HEAP_AT_ONCE: Final = 16
"""The rows of all running tasks may take one part in so many of the heap."""
_OFFSETS: Final = 1 << 31
"""Bytes of text that an Arrow array can hold: its offsets have 32 bits."""
_OLDEST: Final = {"date": "DATE'1582-10-15'", "timestamp": "TIMESTAMP'1970-01-01 00:00:00'"}
"""The first values that pyarrow writes as Hive reads them, by the beginning of a type's name. pyarrow does not record
the calendar of older dates, and writes a negative fraction of a second for times before 1970
(arrow/adapters/orc/util.cc)."""
_FILE: Final = "part-00000-driver.orc"
_Numbers: TypeAlias = "NDArray[np.int64]"


def can_write(spark: SparkSession, table: Table, files: FileSystem, size: int) -> bool:
    """Whether the driver can write the files as Spark does, and has room for the rows of `size` compressed bytes.

    The files must be ORC on this machine, without `orc.*` properties other than the codec, and of types that pyarrow
    writes.
    """
    options = writer_options(table)
    types = [parse_type(c.type) for c in table.columns]
    return (
        table.file_format == "orc"
        and isinstance(files, LocalFiles)
        and set(options) == {"orc.compress"}
        and arrow_codec(table) is not None
        and not any(map(_has_times_inside, types))
        and size <= jvm(spark).heap // _OF_HEAP
    )


def _has_times_inside(hive_type: HiveType) -> bool:
    """Whether a value has dates or times inside: `_collected` checks only whole values."""
    return is_complex(hive_type) and (has_date(hive_type) or has_timestamp(hive_type) or has_instant(hive_type))


def stage_by_driver(write: EventWrite, strategy: ByDriver) -> list[StagedFile] | None:
    """Writes the events; None, and nothing is written, where there are more than the driver takes.

    Raises CARDINALITY_VIOLATION.
    """
    plan, target = write.plan, write.target
    if plan.inserts_only:
        return finish_staged(target, None) if _write_inserts(write) else None
    slots = assign_slots(plan.branches, write.buckets, strategy.files, plan.target.bucket_count)
    placed = _collected(placed_events(write.events, plan, slots), plan.target, write.size)
    if placed is None:
        return None
    write_placed(placed.combine_chunks(), plan, target)
    return finish_staged(target, slots.by_code())


def _write_inserts(write: EventWrite) -> bool:
    """Writes the rows of an INSERT to one file; whether the driver takes them."""
    plan, target = write.plan, write.target
    rows = _collected(filed(with_constraints(write.events), (), plan.target), plan.target, write.size)
    if rows is None:
        return False
    if rows.num_rows:
        ids = insert_columns(rows.num_rows, target.write_id, encode_bucket(0, target.statement_ids[0]), 0)
        # A copy: of a slice, pyarrow writes structs that are not its own (arrow/adapters/orc/util.cc: no offsets).
        _write(target, target.staging, ids, rows.combine_chunks().take(pa.array(np.arange(rows.num_rows))))
    return True


def write_placed(placed: Any, plan: WritePlan, target: WriteTarget) -> None:
    """Writes placed events (event_rows.py), an Arrow table; delete events alone may come without their rows.

    Raises CARDINALITY_VIOLATION.
    """
    directories = staging_columns(plan)
    row_columns = (*directories, OLD_WRITE_ID, OLD_BUCKET, OLD_ROW)
    order = _order(placed, row_columns)
    if plan.cardinality_branch is not None:
        branches = _numbers(placed.column(BRANCH))[order]
        checked = order[branches == plan.cardinality_branch]
        check_sorted([_numbers(placed.column(name))[checked] for name in row_columns])
        if (check := check_event(plan.branches)) is not None:
            order = order[branches != check]
    files = list(_files(placed, order, directories, plan))
    if len({f.directory for f in files}) < len(files):
        reason = "two groups of rows would go to one file"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=target.staging, reason=reason)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda f: _write_file(placed, f, plan, target), files):
            pass  # iterating raises the error of a thread


def _collected(rows: DataFrame, table: Table, size: int) -> Any:
    """The rows as an Arrow table; None if there are too many, or if pyarrow would not write them as they are.

    A task with too many rows fails before its rows become an Arrow batch.
    """
    columns = [(f"_c{i}", parse_type(c.type)) for i, c in enumerate(table.columns)]
    # Every row counts as if all rows before it were as wide. That needs no sum, and a task gives little more than
    # its room.
    room = _room(rows.sparkSession)
    refused = [f"{ROW_NUMBER} >= {_MOST}", f"({ROW_NUMBER} + 1) * ({row_width(columns)}) > {room}"]
    for i, column in enumerate(table.columns):
        refused += [
            f"coalesce(_c{i} < {first}, false)" for kind, first in _OLDEST.items() if column.type.startswith(kind)
        ]
    failure = f"CAST(raise_error({sql_string(_REFUSED)}) AS BOOLEAN)"
    guarded = where(rows, f"CASE WHEN {' OR '.join(refused)} THEN {failure} ELSE true END")
    try:
        found = (for_little(guarded) if size <= LITTLE else guarded).toArrow()
        return found if buffer_bytes(found) < _OFFSETS else None
    except (PySparkException, Py4JJavaError) as error:
        if _REFUSED in str(error) or _TOO_LARGE in str(error):
            return None
        raise


def buffer_bytes(table: Any) -> int:
    """The bytes of an Arrow table's buffers.

    Table.nbytes would follow the offsets of nested lists and can crash the process: Java's Arrow gives a list without
    rows no offsets, and pyarrow reads the first of them nevertheless (arrow/util/byte_size.cc).
    """
    size: int = table.get_total_buffer_size()
    return size


def _room(spark: SparkSession) -> int:
    """The bytes of rows that one task may give. The rows of all running tasks lie in the JVM's heap some three times:
    as Arrow batches, as results of tasks, and at the driver."""
    return min(jvm(spark).heap // _OF_HEAP_AT_ONCE // spark.sparkContext.defaultParallelism, _OFFSETS // 16)


def _order(placed: Any, keys: Sequence[str]) -> _Numbers:
    """The positions of the rows in Spark's order by the columns, NULL first."""
    columns = {k: placed.column(k) for k in keys}
    filled = {k: c.fill_null("" if pa.types.is_string(c.type) else -1) for k, c in columns.items()}
    order = pc.sort_indices(pa.table(filled), sort_keys=[(k, "ascending") for k in keys])
    return np.asarray(order.to_numpy(), np.int64)


@dataclass(frozen=True, slots=True)
class _File:
    """A staged file: its directory, its branch, the positions of its events, and the row ID of its first new row, which
    is the number of insert events before it."""

    directory: str
    branch: int
    events: _Numbers
    first_row: int


def _files(placed: Any, order: _Numbers, directories: Sequence[str], plan: WritePlan) -> Iterator[_File]:
    starts = np.flatnonzero(_starts(placed, order, directories)).tolist()
    first_row = 0
    for start, end in pairwise([*starts, len(order)]):
        one = placed.slice(int(order[start]), 1)
        branch = one.column(BRANCH)[0].as_py()
        parts = (f"{escape(name)}={_escaped(one.column(name)[0].as_py())}" for name in directories)
        yield _File("/".join(parts), branch, order[start:end], first_row)
        if plan.branches[branch].kind is EventKind.INSERT:
            first_row += end - start


def _starts(placed: Any, order: _Numbers, keys: Sequence[str]) -> NDArray[np.bool_]:
    """For each row in the order: whether it differs from the row before it in one of the columns."""
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        values = _numbers(placed.column(key))[order]
        differs[1:] |= values[1:] != values[:-1]
    return differs


def _numbers(column: Any) -> _Numbers:
    """A number for each value, equal for equal values. Numbers stay as they are."""
    if pa.types.is_string(column.type):
        column = column.combine_chunks().dictionary_encode().indices
    return np.asarray(column.cast(pa.int64()).fill_null(-1).to_numpy(), np.int64)


def _write_file(placed: Any, file: _File, plan: WritePlan, target: WriteTarget) -> None:
    rows = placed.take(pa.array(file.events))
    if plan.branches[file.branch].kind is EventKind.INSERT:
        bucket = rows.column(NEW_BUCKET)[0].as_py() << 16 | encode_bucket(0, target.statement_ids[file.branch])
        ids = insert_columns(rows.num_rows, target.write_id, bucket, file.first_row)
    else:
        ids = _deletions(rows, target.write_id)
    names = [f"_c{i}" for i in range(len(plan.target.columns))]
    row = rows.select(names) if names[0] in rows.column_names else _no_rows(names, rows.num_rows, plan.target)
    _write(target, f"{target.staging}/{file.directory}", ids, row)


def _no_rows(names: Sequence[str], count: int, table: Table) -> Any:
    types = [to_arrow_type(wall_clock_type(parse_type(c.type))) for c in table.columns]
    return pa.table({name: pa.nulls(count, kind) for name, kind in zip(names, types, strict=True)})


def _escaped(value: object) -> str:
    """The value as Spark escapes it in a directory's name. No text of a partition is empty (partition_text.py)."""
    text = "" if value is None else str(value)
    return escape(text) if text else DEFAULT_PARTITION


def _deletions(rows: Any, write_id: WriteId) -> dict[str, Any]:
    return {
        "operation": np.full(rows.num_rows, OPERATION_DELETE, np.int32),
        "originalTransaction": rows.column(OLD_WRITE_ID),
        "bucket": rows.column(OLD_BUCKET),
        "rowId": rows.column(OLD_ROW),
        "currentTransaction": np.full(rows.num_rows, write_id, np.int64),
        "row": pa.nulls(rows.num_rows, pa.bool_()),
    }


def _write(target: WriteTarget, directory: str, ids: Mapping[str, Any], rows: Any) -> None:
    """Writes a staged file: flat events, or the rows of an insert-only table. `rows` must not be a slice."""
    table, files = target.table, target.files
    columns = {f.name: _column(rows.column(f.name), f.type) for f in rows.schema}
    if table.is_insert_only:
        columns = {c.name: value for c, value in zip(table.columns, columns.values(), strict=True)}
    else:
        columns = {**ids, **columns}
    sink = pa.BufferOutputStream()
    codec = arrow_codec(table)
    orc.write_table(pa.table(columns), sink, compression=codec)
    files.make_directories(directory)
    files.write(f"{directory}/{_FILE}", sink.getvalue().to_pybytes())


def _column(values: Any, kind: Any) -> Any:
    filed = _without_zone(kind)
    return values if filed == kind else values.cast(filed)


def _without_zone(kind: Any) -> Any:
    """The type with wall-clock times, which ORC's TIMESTAMP holds. The storage session is in the JVM's zone, UTC."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _without_zone(f.type), f.nullable) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(_without_zone(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_without_zone(kind.key_type), _without_zone(kind.item_type))
    return kind
