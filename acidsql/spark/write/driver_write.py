"""Strategy `ByDriver`: the driver collects the events of a statement, sorts them and writes the files.

Spark's tasks read in parallel. Threads of this process sort and write their result, as ORC in C++, in place of one more
shuffle, sort and write of Spark's. The staging directory then holds what shuffled_write.py leaves there: the same files
under the same names, with the same events in the same order. A result that is larger than it looked ends the job, and
another strategy takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.acid.table import Table
from acidsql.grammar.quoting import sql_string
from acidsql.planner.write_strategy import ByDriver
from acidsql.spark.catalyst.gateway import jvm, where
from acidsql.spark.catalyst.pyspark_api import arrow_table_of
from acidsql.spark.running_spark import for_little
from acidsql.spark.scan.file_partitions import ROW_NUMBER
from acidsql.spark.write.event_rows import filed, placed_events, with_constraints
from acidsql.spark.write.event_write import EventWrite
from acidsql.spark.write.row_widths import row_width
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.writing.condensed_events import unfolded
from acidsql.writing.event_files import can_write_files, write_inserts, write_placed
from acidsql.writing.file_slots import assign_slots
from acidsql.writing.publishing import StagedFile

_MOST_ROWS: Final = 4_000_000
"""Events that one task may give."""
LITTLE: Final = 1024 * 1024
"""Bytes that a query may read for Spark to interpret it instead of compiling it."""
_MOST_REMOTE: Final = 16 << 20
"""Compressed bytes that a statement may read for the driver to write by Hadoop's client: Py4J passes the content of a
file to the JVM as text."""
_REFUSED: Final = "acidsql: this is not for the driver to write"
_TOO_LARGE: Final = "spark.driver.maxResultSize"
"""Spark names this setting in the error of a job whose result is too large for the driver."""
_HEAP_PER_RESULT: Final = 64
"""The compressed bytes may be one part in so many of the JVM's heap: they grow some tenfold in memory."""
_OF_HEAP_AT_ONCE: Final = 16
"""The rows of all running tasks may take one part in so many of the heap."""
_OFFSETS: Final = 1 << 31
"""Bytes of text that an Arrow array can hold: its offsets have 32 bits."""
_OLDEST: Final = {"date": "DATE'1582-10-15'", "timestamp": "TIMESTAMP'1970-01-01 00:00:00'"}
"""The first values that pyarrow writes as Hive reads them, by the beginning of a type's name. pyarrow does not record
the calendar of older dates, and writes a negative fraction of a second for times before 1970
(arrow/adapters/orc/util.cc)."""


def can_write(spark: SparkSession, table: Table, files: FileSystem, size: int) -> bool:
    """Whether the driver can write the files as Spark does, and has room for the rows of `size` compressed bytes."""
    if isinstance(files, HadoopFiles) and size > _MOST_REMOTE:
        return False
    return can_write_files(table) and size <= jvm(spark).heap // _HEAP_PER_RESULT


def stage_by_driver(write: EventWrite, strategy: ByDriver) -> list[StagedFile] | None:
    """Writes the events; None, and nothing is written, where there are more than the driver takes.

    Raises CARDINALITY_VIOLATION.
    """
    plan, target = write.plan, write.target
    if plan.inserts_only:
        return _write_inserts(write)
    slots = assign_slots(plan.branches, write.buckets, strategy.files, plan.target.bucket_count)
    placed = _collected(placed_events(write.queries.condensed, plan, slots), write)
    if placed is None:
        return None
    events, rows = unfolded(placed.combine_chunks(), plan, slots)
    return write_placed(events, plan, target, slots, rows)


def _write_inserts(write: EventWrite) -> list[StagedFile] | None:
    """Writes the rows of an INSERT to one file; None if there are more than the driver takes."""
    plan, target = write.plan, write.target
    rows = _collected(filed(with_constraints(write.events), (), plan.target), write)
    return None if rows is None else write_inserts(rows, target)


def _collected(rows: DataFrame, write: EventWrite) -> Any:
    """The rows as an Arrow table; None if there are too many, or if pyarrow would not write them as they are."""
    table = write.plan.target
    columns = [(f"_c{i}", parse_type(c.type)) for i, c in enumerate(table.columns)]
    too_old = [
        f"coalesce(_c{i} < {first}, false)"
        for i, column in enumerate(table.columns)
        for kind, first in _OLDEST.items()
        if column.type.startswith(kind)
    ]
    return collected(rows, columns, write.size, too_old, write.queries.expect_in)


def collected(
    rows: DataFrame,
    columns: Sequence[tuple[str, HiveType]],
    size: int,
    refused: Sequence[str] = (),
    before_run_in: Callable[[SparkSession], None] = lambda _: None,
) -> Any:
    """The rows of a query that reads `size` bytes as an Arrow table. `columns` are their SQL and their types. They
    may be computed in a copy of the session: `before_run_in` is then called with it.

    None if there are more rows than the driver takes, or if one of the conditions `refused` is true for a row.

    A task with too many rows fails before its rows become an Arrow batch.
    """
    # Every row counts as if all rows before it were as wide. That needs no sum, and a task gives little more than
    # its room.
    room = _room(rows.sparkSession)
    refusals = [f"{ROW_NUMBER} >= {_MOST_ROWS}", f"({ROW_NUMBER} + 1) * ({row_width(columns)}) > {room}", *refused]
    failure = f"CAST(raise_error({sql_string(_REFUSED)}) AS BOOLEAN)"
    guarded = where(rows, f"CASE WHEN {' OR '.join(refusals)} THEN {failure} ELSE true END")
    try:
        if size <= LITTLE:
            guarded = for_little(guarded)
            before_run_in(guarded.sparkSession)
        found = arrow_table_of(guarded)
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
    return min(jvm(spark).heap // _OF_HEAP_AT_ONCE // spark.sparkContext.defaultParallelism, _OFFSETS // 4)
