"""Which writes of a table had committed at an instant.

The embedded metastore has recorded the time of each commit. A Hive Metastore tells nobody: the time of a write is then
the one that acidsql has left in its files, or that of the newest file in its directories. Both are a little before its
commit.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.snapshot.table_history import directories, is_compacted, last_write_id, notes_in, traces_of
from acidsql.storage.file_systems import FilesOf


def committed_at(
    metastore: Metastore, table: Table, instant: datetime, files_of: FilesOf
) -> tuple[WriteId, frozenset[WriteId]]:
    """The highest write ID that had committed at the instant, and those below it that had not. An instant without an
    offset is one in the time zone of the process. Before its first write a table has the version 0.

    Raises INVALID_PARAMETER for an instant in the future, and NOT_ENOUGH_HISTORY where nobody has recorded which writes
    had committed then.
    """
    millis = int(instant.timestamp() * 1000)
    found = metastore.write_ids_at(table, millis)
    if found is None:
        return _by_directories(metastore, table, instant, files_of)
    if millis > found.latest:
        raise _in_the_future(instant)
    if millis < found.recorded_since:
        since = datetime.fromtimestamp(found.recorded_since / 1000, UTC)
        raise _unrecorded(table, instant, f"No commits are recorded before {since:%Y-%m-%d %H:%M:%S}Z.")
    return _version(found.now, found.later)


def _version(now: ValidWriteIdList, later: frozenset[WriteId]) -> tuple[WriteId, frozenset[WriteId]]:
    """What is open now counts as later, too: it may commit before the reader takes its snapshot."""
    highest = now.high_watermark
    while highest > 0 and (highest in later or not now.is_valid(highest)):
        highest = WriteId(highest - 1)
    return highest, frozenset(i for i in later | now.open if i < highest)


def _by_directories(
    metastore: Metastore, table: Table, instant: datetime, files_of: FilesOf
) -> tuple[WriteId, frozenset[WriteId]]:
    """By the times of directories. Of what a compaction has merged, only the time of the compaction is known."""
    millis = int(instant.timestamp() * 1000)
    if millis > int(time.time() * 1000):
        raise _in_the_future(instant)
    now = metastore.valid_write_ids(table, metastore.valid_txns())
    found = directories(metastore, files_of, table)
    traces = traces_of(found, now)
    times = {write_id: left.time for write_id, left in traces.items() if left.time is not None}
    times |= {i: max(note.time for note in notes) for i, notes in notes_in(files_of, table, traces).items()}
    for directory in found:
        last = last_write_id(directory.name)
        if is_compacted(directory) and directory.time is not None and last > 0:
            if directory.time <= millis:
                times.setdefault(last, directory.time)
            elif times.get(last, directory.time) > millis:
                reason = "A compaction has merged later writes, and nobody has recorded when they were committed."
                raise _unrecorded(table, instant, reason)
    committed = [write_id for write_id, time_of_write in times.items() if time_of_write <= millis]
    later = frozenset(write_id for write_id, time_of_write in times.items() if time_of_write > millis)
    first = min(later, default=WriteId(now.high_watermark + 1))
    if not committed and any(now.is_valid(WriteId(i)) for i in range(1, first)):
        raise _unrecorded(table, instant, "No directory tells when the first writes were committed.")
    highest = max(committed, default=WriteId(0))
    return highest, frozenset(i for i in later | now.open if i < highest)


def _in_the_future(instant: datetime) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_PARAMETER, name="timestamp", reason=f"{instant} is in the future")


def _unrecorded(table: Table, instant: datetime, reason: str) -> AcidSqlError:
    return AcidSqlError(
        Condition.NOT_ENOUGH_HISTORY,
        high_watermark=instant,
        min_open="x",
        base=f"of {table.qualified}, unknown",
        hint=f"{reason} DESCRIBE HISTORY shows what is known, and VERSION AS OF reads up to a write ID.",
    )
