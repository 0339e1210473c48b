"""Little data: the events of a statement collected, arranged and written by the driver.

One job without a shuffle and without Spark's writer, which starts three for a single row. What lies in the staging
directory afterwards is what events.arranged_events and staging.save leave there: the same files under the same names,
in the same order. A result that is larger than it looked ends the job, and goes the long way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from acidsql.acid.layout import OPERATION_DELETE, OPERATION_INSERT
from acidsql.acid.partitions import DEFAULT_PARTITION, escape
from acidsql.acid.rowid import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.types import HiveType, is_complex, parse_type
from acidsql.acid.writeids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import BRANCH, EventKind, WritePlan
from acidsql.planner.raised import sql_string
from acidsql.spark.engine import for_little
from acidsql.spark.events import (
    NEW_BUCKET,
    OLD_BUCKET,
    OLD_ROW,
    OLD_WRITE_ID,
    filed_columns,
    placed_events,
    staging_columns,
    with_constraints,
)
from acidsql.spark.files import FileSystem, LocalFiles
from acidsql.spark.footers import writer_options
from acidsql.spark.jvm import select, where
from acidsql.spark.publish import WriteTarget
from acidsql.spark.read import ROW_NUMBER
from acidsql.spark.slots import Slots
from acidsql.spark.types import has_date, has_instant, has_timestamp

_MOST: Final = 20_000
"""Events that a task may give."""
_FIRST_GREGORIAN_DAY: Final = -141_427
"""1582-10-15, in days since 1970."""
_TOO_MANY: Final = "acidsql: too many rows for the driver"
_CODECS: Final = {"none": "uncompressed", "zlib": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}
_FILE: Final = "part-00000-driver.orc"


def can_write(table: Table, files: FileSystem) -> bool:
    """Whether the driver writes such a file as Spark does: ORC without settings of its own but the codec, on this
    machine, and of types that pyarrow writes."""
    options = writer_options(table)
    types = [parse_type(c.type) for c in table.columns]
    return (
        table.file_format == "orc"
        and isinstance(files, LocalFiles)
        and set(options) == {"orc.compress"}
        and options["orc.compress"].lower() in _CODECS
        and not any(map(_has_times_inside, types))
    )


def _has_times_inside(hive_type: HiveType) -> bool:
    """Whether dates or times are inside a value: `_collected` looks at whole ones only."""
    return is_complex(hive_type) and (has_date(hive_type) or has_timestamp(hive_type) or has_instant(hive_type))


def write_inserts(events: DataFrame, plan: WritePlan, target: WriteTarget) -> bool:
    """Writes what events.numbered_inserts gives one task; False, and nothing written, where there is too much."""
    rows = _collected(select(with_constraints(events), filed_columns(plan.target)))
    if rows is None:
        return False
    if rows.num_rows:
        ids = _insertions(rows.num_rows, target.write_id, encode_bucket(0, target.statement_ids[0]), 0)
        _write(target, target.staging, ids, rows)
    return True


def write_events(events: DataFrame, plan: WritePlan, slots: Slots, target: WriteTarget) -> bool:
    """Writes what events.arranged_events gives one task; False, and nothing written, where there is too much.

    Raises CARDINALITY_VIOLATION.
    """
    placed = _collected(placed_events(events, plan, slots))
    if placed is None:
        return False
    directories = staging_columns(plan)
    keys = (*directories, OLD_WRITE_ID, OLD_BUCKET, OLD_ROW)
    placed = placed.take(_order(placed, keys))
    if plan.checked is not None:
        placed = _checked(placed, plan, keys)
    first_row = 0
    for directory, branch, rows in _files(placed, directories):
        if plan.branches[branch].kind is EventKind.INSERT:
            bucket = rows.column(NEW_BUCKET)[0].as_py() << 16 | encode_bucket(0, target.statement_ids[branch])
            ids = _insertions(rows.num_rows, target.write_id, bucket, first_row)
            first_row += rows.num_rows
        else:
            ids = _deletions(rows, target.write_id)
        filed = rows.select([f"_c{i}" for i in range(len(plan.target.columns))])
        _write(target, f"{target.staging}/{directory}", ids, filed)
    return True


def _collected(rows: DataFrame) -> Any:
    """The rows as an Arrow table; None where there are too many, or pyarrow would not write them as they are."""
    failure = f"CAST(raise_error({sql_string(_TOO_MANY)}) AS BOOLEAN)"
    guarded = where(rows, f"CASE WHEN {ROW_NUMBER} >= {_MOST} THEN {failure} ELSE true END")
    try:
        collected = for_little(guarded).toArrow()
    except PySparkException as error:
        if _TOO_MANY in str(error):
            return None
        raise
    return None if any(map(_is_too_old, collected.columns)) else collected


def _is_too_old(values: Any) -> bool:
    """Whether some are dates before the Gregorian calendar, for pyarrow does not tell in which one it writes them, or
    times before 1970, of which it takes the fraction of a second for a negative one (arrow/adapters/orc/util.cc)."""
    kind = values.type
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return False
    first = pc.min(values.cast(pa.int32() if pa.types.is_date(kind) else pa.int64())).as_py()
    return first is not None and first < (_FIRST_GREGORIAN_DAY if pa.types.is_date(kind) else 0)


def _order(placed: Any, keys: Sequence[str]) -> Any:
    """Spark's order by the columns: NULL comes first."""
    columns = {k: placed.column(k) for k in keys}
    filled = {k: c.fill_null("" if pa.types.is_string(c.type) else -1) for k, c in columns.items()}
    return pc.sort_indices(pa.table(filled), sort_keys=[(k, "ascending") for k in keys])


def _checked(placed: Any, plan: WritePlan, keys: Sequence[str]) -> Any:
    """MERGE's cardinality check (events.count_actions): the events without those that are only checked."""
    branches = placed.column(BRANCH)
    checked = placed.filter(pc.equal(branches, plan.checked)).select(keys).to_pylist()
    for one, next_one in pairwise(checked):
        if one == next_one:
            row_id = {"writeid": one[OLD_WRITE_ID], "bucketid": one[OLD_BUCKET], "rowid": one[OLD_ROW]}
            raise AcidSqlError(Condition.CARDINALITY_VIOLATION, row_id=json.dumps(row_id, separators=(",", ":")))
    checks = [i for i, b in enumerate(plan.branches) if b.kind is EventKind.CHECK]
    return placed.filter(pc.not_equal(branches, checks[0])) if checks else placed


def _files(placed: Any, directories: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
    """The events of each staged file: its directory, its branch, its rows."""
    names = [placed.column(name).to_pylist() for name in directories]
    first = 0
    for values, group in groupby(zip(*names, strict=True)):
        count = sum(1 for _ in group)
        rows = placed.slice(first, count)
        first += count
        parts = (f"{name}={_escaped(value)}" for name, value in zip(directories, values, strict=True))
        yield "/".join(parts), rows.column(BRANCH)[0].as_py(), rows


def _escaped(value: object) -> str:
    """A value as Spark names a directory after it."""
    text = "" if value is None else str(value)
    return escape(text) if text else DEFAULT_PARTITION


def _insertions(count: int, write_id: WriteId, bucket: int, first_row: int) -> dict[str, Any]:
    return {
        "operation": np.full(count, OPERATION_INSERT, np.int32),
        "originalTransaction": np.full(count, write_id, np.int64),
        "bucket": np.full(count, bucket, np.int32),
        "rowId": np.arange(first_row, first_row + count),
        "currentTransaction": np.full(count, write_id, np.int64),
        "row": np.full(count, True, np.bool_),
    }


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
    """One staged file: flat events, or the rows of an insert-only table."""
    table, files = target.table, target.files
    # A copy: of a slice, pyarrow writes structs that are not its own (arrow/adapters/orc/util.cc passes over offsets).
    rows = rows.combine_chunks().take(pa.array(np.arange(rows.num_rows)))
    columns = {f.name: _column(rows.column(f.name), f.type) for f in rows.schema}
    if table.is_insert_only:
        columns = {c.name: value for c, value in zip(table.columns, columns.values(), strict=True)}
    else:
        columns = {**ids, **columns}
    sink = pa.BufferOutputStream()
    codec = _CODECS[writer_options(table)["orc.compress"].lower()]
    orc.write_table(pa.table(columns), sink, compression=codec)
    files.make_directories(directory)
    files.write(f"{directory}/{_FILE}", sink.getvalue().to_pybytes())


def _column(values: Any, kind: Any) -> Any:
    filed = _without_zone(kind)
    return values if filed == kind else values.cast(filed)


def _without_zone(kind: Any) -> Any:
    """The type with wall-clock times, which is what ORC's TIMESTAMP holds: the JVM's zone, UTC, is that of the
    session that files are written in."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _without_zone(f.type), f.nullable) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(_without_zone(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_without_zone(kind.key_type), _without_zone(kind.item_type))
    return kind
