"""The scan of a table's changes: the rows that a range of writes inserted, and those that it deleted, each with the
values that it had.

The rows come from the same scan as live rows (table_scan.py), over the files that `ChangedFiles` names. Deleted rows
are joined with the delete events by their row IDs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.write_ids import WriteId
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.change_range import (
    CHANGE_COLUMNS,
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    DELETE,
    INSERT,
    POSTIMAGE,
    PREIMAGE,
)
from acidsql.planner.plan import Scan
from acidsql.snapshot.changed_files import ChangedFiles, deleted_keys
from acidsql.snapshot.scan_binding import BoundChanges, BoundScan, SourceFile
from acidsql.spark.catalyst.gateway import select, where, with_columns
from acidsql.spark.scan.deletes.delete_events import BUCKET, DELETER, ROW, WRITE_ID
from acidsql.spark.scan.file_partitions import PART
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.table_scan import delete_events, scan_frame
from acidsql.spark.spark_types import ddl, query_type

_ROW_ID: Final = ":changed_row_id"
_PLACE: Final = ":changed_place"
_TYPE: Final = ":change_type"
_VERSION: Final = ":change_version"
_FIRST_DELETE: Final = ":first_delete"
_BROADCAST_EVENTS: Final = 1_000_000
"""The largest number of delete events that is broadcast."""
_ONE_TASK_EVENTS: Final = 100_000
"""The number of delete events up to which one task collects them, without a shuffle."""


def changes_frame(spark: SparkSession, bound: BoundScan, caches: ScanCaches, time_zone: str) -> DataFrame:
    """The changes of a scan: the table's columns, CHANGE_COLUMNS, and the virtual columns that the scan asks for. Times
    of commits are those of the clocks in `time_zone`.

    Raises MALFORMED_LAYOUT, ACID_V1_FILE, NOT_YET_SUPPORTED.
    """
    scan = bound.scan
    rows = replace(
        bound, scan=replace(scan, changes=None, row_id=_ROW_ID, place=_PLACE, is_deleted=None, with_deleted=False)
    )
    changes = bound.changes or BoundChanges(WriteId(0), {})
    found = _Changes(spark, rows, caches, ChangedFiles(rows, changes.first, caches.footers)).frames()
    timestamp = commit_time_sql(changes.times, time_zone, name_sql(_VERSION))
    return reduce(DataFrame.unionAll, (_named(frame, scan, timestamp) for frame in found))


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes as frames of rows with the columns _TYPE and _VERSION. `rows` is the scan of the rows."""

    spark: SparkSession
    rows: BoundScan
    caches: ScanCaches
    files: ChangedFiles

    def frames(self) -> list[DataFrame]:
        """At least one frame."""
        kinds = ((INSERT, self.files.inserted(by_updates=False)), (POSTIMAGE, self.files.inserted(by_updates=True)))
        found = [self._inserted(kind, bound) for kind, bound in kinds if any(part.data_files for part in bound.parts)]
        if self.rows.table.is_full_acid:
            deletes = {
                DELETE: self.files.delete_files(by_updates=False),
                PREIMAGE: self.files.delete_files(by_updates=True),
            }
            if any(deletes.values()):
                found.append(self._deleted(deletes))
        return found or [self._inserted(INSERT, replace(self.rows, parts=()))]

    def _inserted(self, kind: str, bound: BoundScan) -> DataFrame:
        rows = scan_frame(self.spark, bound, self.caches)
        version = f"{name_sql(_ROW_ID)}.writeid"
        typed = select(rows, ("*", f"{sql_string(kind)} AS {name_sql(_TYPE)}", f"{version} AS {name_sql(_VERSION)}"))
        return where(typed, f"{name_sql(_VERSION)} >= {self.files.first}")

    def _deleted(self, deletes: Mapping[str, Sequence[SourceFile]]) -> DataFrame:
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

    def _events(self, deletes: Mapping[str, Sequence[SourceFile]], *, one_task: bool) -> DataFrame:
        """The rows that the events delete, by WRITE_ID, BUCKET, ROW and PART, with _TYPE and _VERSION."""
        of_kinds = (
            with_columns(delete_events(self.spark, self.rows, files), {_TYPE: F.lit(kind)})
            for kind, files in deletes.items()
            if files
        )
        events = where(reduce(DataFrame.unionAll, of_kinds), f"{name_sql(DELETER)} >= {self.files.first}")
        keys = (WRITE_ID, BUCKET, ROW, PART)
        first = F.min(F.struct(DELETER, _TYPE)).alias(_FIRST_DELETE)
        rows = (events.coalesce(1) if one_task else events).groupBy(*keys).agg(first)
        values = {_TYPE: _TYPE, _VERSION: DELETER}
        event = name_sql(_FIRST_DELETE)
        columns = [f"{event}.{name_sql(value)} AS {name_sql(name)}" for name, value in values.items()]
        return select(rows, (*map(name_sql, keys), *columns))


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
    if scan.is_deleted:
        deleting = ", ".join(map(sql_string, (DELETE, PREIMAGE)))
        columns.append(f"{name_sql(_TYPE)} IN ({deleting}) AS {name_sql(scan.is_deleted)}")
    return select(changes, columns)


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
