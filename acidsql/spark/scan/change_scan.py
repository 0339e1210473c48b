"""The scan of a table's changes: the rows that a range of writes inserted, and those that it deleted, each with the
values that it had.

The rows come from the same scan as live rows (table_scan.py), over the files that `ChangedFiles` names. Deleted rows
are joined with the delete events by their row IDs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any, Final, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.hive_types import parse_type
from acidsql.acid.write_ids import WriteId
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.change_range import (
    CHANGE_COLUMNS,
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    ChangeRange,
    ChangeType,
)
from acidsql.planner.dml.event_queries import ROW_ID_TYPE
from acidsql.planner.plan import Scan
from acidsql.snapshot.changed_files import ChangedFiles, deleted_keys
from acidsql.snapshot.scan_binding import BoundChanges, BoundScan, SourceFile
from acidsql.snapshot.version import Version
from acidsql.spark.catalyst.char_columns import with_char_lengths
from acidsql.spark.catalyst.gateway import select, where, with_columns
from acidsql.spark.catalyst.pyspark_api import frame_of_arrow
from acidsql.spark.scan.deletes.delete_events import BUCKET, DELETER, ROW, WRITE_ID
from acidsql.spark.scan.file_partitions import PART
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.table_scan import delete_events, scan_frame
from acidsql.spark.spark_types import ddl, query_type

_OF_OLD_ROWS: Final = ", ".join(map(sql_string, (ChangeType.DELETE, ChangeType.UPDATE_PREIMAGE)))
"""SQL of the changes whose rows are old ones."""
_IS_DELETED: Final = f"{name_sql(CHANGE_TYPE)} IN ({_OF_OLD_ROWS})"
"""SQL of ROW__IS__DELETED."""
_ROW_ID: Final = ":changed_row_id"
_PLACE: Final = ":changed_place"
_TYPE: Final = ":change_type"
_VERSION: Final = ":change_version"
_ALL, _OLD, _NEW = ":changes_of_row", ":old_rows", ":new_rows"
_FIRST_DELETE: Final = ":first_delete"
_BROADCAST_EVENTS: Final = 1_000_000
"""The largest number of delete events that is broadcast."""
_ONE_TASK_EVENTS: Final = 100_000
"""The number of delete events up to which one task collects them, without a shuffle."""


FewChanges: TypeAlias = Callable[[BoundScan], Any | None]
"""What reads the changes of a scan without Spark: an Arrow table with the columns of the scan's view. None if they are
many, or if only Spark can read them."""


def frame_of_changes(spark: SparkSession, scan: Scan, changes: Any) -> DataFrame:
    """The changes of a scan, which a FewChanges has read."""
    kinds = {column.name: parse_type(column.type) for column in scan.table.all_columns} | CHANGE_COLUMNS
    types = {name: query_type(kind) for name, kind in kinds.items()}
    if scan.row_id:
        types[scan.row_id] = query_type(parse_type(ROW_ID_TYPE))
    if scan.file_name:
        types[scan.file_name] = t.StringType()
    schema = t.StructType([t.StructField(name, types[name]) for name in changes.column_names])
    frame = with_char_lengths(frame_of_arrow(spark, changes, schema), scan.table)
    return with_columns(frame, {scan.is_deleted: F.expr(_IS_DELETED)}) if scan.is_deleted else frame


def changes_frame(spark: SparkSession, bound: BoundScan, caches: ScanCaches, time_zone: str) -> DataFrame:
    """The changes of a scan: the table's columns, CHANGE_COLUMNS, and the virtual columns that the scan asks for. Times
    of commits are those of the clocks in `time_zone`.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE, NOT_YET_SUPPORTED.
    """
    scan = bound.scan
    rows = replace(
        bound, scan=replace(scan, changes=None, row_id=_ROW_ID, place=_PLACE, is_deleted=None, with_deleted=False)
    )
    asked, changes = scan.changes, bound.changes or BoundChanges(Version(WriteId(0)), {})
    assert asked is not None
    reading = _Changes(spark, rows, caches, ChangedFiles(rows, changes.before, caches.footers))
    found = reduce(DataFrame.unionAll, (_alike(frame, scan) for frame in reading.frames(net=asked.is_net)))
    if asked.options.row_id:
        found = _with_updates(found, asked)
    return _named(found, scan, commit_time_sql(changes.times, time_zone, name_sql(_VERSION)))


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes as frames of rows with the columns _TYPE and _VERSION. `rows` is the scan of the rows."""

    spark: SparkSession
    rows: BoundScan
    caches: ScanCaches
    files: ChangedFiles

    def frames(self, *, net: bool) -> list[DataFrame]:
        """At least one frame. With `net`, what came and went since the version before is in none of them."""
        insertions = self.files.insertions(net=net).items()
        found = [self._inserted(kind, bound) for kind, bound in insertions if any(p.data_files for p in bound.parts)]
        deletes = self.files.deletions(net=net)
        if any(deletes.values()):
            deleted = self._deleted(deletes)
            came = self.files.before.lacks_sql(f"{name_sql(_ROW_ID)}.writeid")
            found.append(where(deleted, f"NOT ({came})") if net else deleted)
        return found or [self._inserted(ChangeType.INSERT, replace(self.rows, parts=()))]

    def _inserted(self, kind: str, bound: BoundScan) -> DataFrame:
        rows = scan_frame(self.spark, bound, self.caches)
        version = f"{name_sql(_ROW_ID)}.writeid"
        typed = select(rows, ("*", f"{sql_string(kind)} AS {name_sql(_TYPE)}", f"{version} AS {name_sql(_VERSION)}"))
        return where(typed, self.files.before.lacks_sql(name_sql(_VERSION)))

    def _deleted(self, deletes: Mapping[ChangeType, Sequence[SourceFile]]) -> DataFrame:
        """The rows that the events in the files delete. If several events name a row, the first one deletes it."""
        files = [file for of_kind in deletes.values() for file in of_kind]
        self.caches.read.extend((self.rows.files, file.sized) for file in files if file.copy_of is None)
        rows = scan_frame(self.spark, self.files.holding(files), self.caches)
        count = sum(file.tail.rows for file in files if file.tail is not None)
        deleting = self._events(deletes, one_task=count <= _ONE_TASK_EVENTS)
        if count <= _BROADCAST_EVENTS:
            deleting = F.broadcast(deleting)
        row_id = name_sql(_ROW_ID)
        keys = {f"{row_id}.writeid": WRITE_ID, f"{row_id}.bucketid": BUCKET, f"{row_id}.rowid": ROW}
        keys[name_sql(_PLACE)] = PART
        bounds = zip(keys, deleted_keys(files), strict=False)  # partitions have none
        within = [f"{name} BETWEEN {each[0]} AND {each[1]}" for name, each in bounds if each is not None]
        rows = where(rows, " AND ".join(within)) if within else rows
        same_row = [F.col(of_row) == F.col(name_sql(of_event)) for of_row, of_event in keys.items()]
        return rows.join(deleting, same_row).drop(WRITE_ID, BUCKET, ROW, PART)

    def _events(self, deletes: Mapping[ChangeType, Sequence[SourceFile]], *, one_task: bool) -> DataFrame:
        """The rows that the events delete, by WRITE_ID, BUCKET, ROW and PART, with _TYPE and _VERSION."""
        of_kinds = (
            with_columns(delete_events(self.spark, self.rows, files), {_TYPE: F.lit(kind)})
            for kind, files in deletes.items()
            if files
        )
        events = where(reduce(DataFrame.unionAll, of_kinds), self.files.before.lacks_sql(name_sql(DELETER)))
        keys = (WRITE_ID, BUCKET, ROW, PART)
        first = F.min(F.struct(DELETER, _TYPE)).alias(_FIRST_DELETE)
        rows = (events.coalesce(1) if one_task else events).groupBy(*keys).agg(first)
        values = {_TYPE: _TYPE, _VERSION: DELETER}
        event = name_sql(_FIRST_DELETE)
        columns = [f"{event}.{name_sql(value)} AS {name_sql(name)}" for name, value in values.items()]
        return select(rows, (*map(name_sql, keys), *columns))


def _alike(changes: DataFrame, scan: Scan) -> DataFrame:
    """The columns that all frames of changes have."""
    names = [*(column.name for column in scan.table.all_columns), _ROW_ID, _TYPE, _VERSION]
    return select(changes, map(name_sql, (*names, scan.file_name) if scan.file_name else names))


def _with_updates(changes: DataFrame, asked: ChangeRange) -> DataFrame:
    """The changes, of which those that the option rowId makes an update have its types: an old and a new row that have
    equal values in its columns, alone in the range for net changes, else alone in their write."""
    kind, version = name_sql(_TYPE), name_sql(_VERSION)
    keys = [*map(name_sql, asked.options.row_id), *(() if asked.is_net else (version,))]
    same_row = f"OVER (PARTITION BY {', '.join(keys)})"
    is_old = f"{kind} IN ({_OF_OLD_ROWS})"
    was_there = f"{is_old} AND {name_sql(_ROW_ID)}.writeid <> {version}"
    columns = {
        _ALL: f"count(*) {same_row}",
        _OLD: f"count_if({was_there}) {same_row}",
        _NEW: f"count_if(NOT {is_old}) {same_row}",
    }
    counted = select(changes, ("*", *(f"{sql} AS {name_sql(name)}" for name, sql in columns.items())))
    every, old, new = map(name_sql, columns)
    typed = (
        f"CASE WHEN {every} = 2 AND {old} = 1 AND {new} = 1"
        f" THEN if({is_old}, {sql_string(ChangeType.UPDATE_PREIMAGE)}, {sql_string(ChangeType.UPDATE_POSTIMAGE)})"
        f" WHEN {every} = 1 THEN if({is_old}, {sql_string(ChangeType.DELETE)}, {sql_string(ChangeType.INSERT)})"
        f" ELSE {kind} END"
    )
    return with_columns(counted, {_TYPE: F.expr(typed)}).drop(*columns)


def _named(changes: DataFrame, scan: Scan, timestamp: str) -> DataFrame:
    """The columns of the scan: those of the table, CHANGE_COLUMNS, then the virtual ones."""
    values = {
        CHANGE_TYPE: name_sql(_TYPE),
        COMMIT_VERSION: name_sql(_VERSION),
        COMMIT_TIMESTAMP: timestamp,
    }
    columns = [name_sql(column.name) for column in scan.table.all_columns]
    columns += [f"{values[name]} AS {name_sql(name)}" for name in CHANGE_COLUMNS]
    if scan.row_id:
        columns.append(f"{name_sql(_ROW_ID)} AS {name_sql(scan.row_id)}")
    if scan.file_name:
        columns.append(name_sql(scan.file_name))
    named = select(changes, columns)
    return with_columns(named, {scan.is_deleted: F.expr(_IS_DELETED)}) if scan.is_deleted else named


def commit_time_sql(times: Mapping[WriteId, datetime], time_zone: str, write_id: str) -> str:
    """SQL of the time at which the clocks in `time_zone` saw a write commit, from SQL of its write ID; NULL where it is
    not known."""
    kind = ddl(query_type(CHANGE_COLUMNS[COMMIT_TIMESTAMP]))
    if not times:
        return f"CAST(NULL AS {kind})"
    utc = {write_id: time.astimezone(UTC).replace(tzinfo=None) for write_id, time in sorted(times.items())}
    entries = ", ".join(f"{write_id}L, TIMESTAMP_NTZ'{time.isoformat(sep=' ')}'" for write_id, time in utc.items())
    found = f"element_at(map({entries}), {write_id})"
    return f"CAST(convert_timezone('UTC', {sql_string(time_zone)}, {found}) AS {kind})"
