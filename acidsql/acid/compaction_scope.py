"""Which directories a compaction merges, and the names of the directories that it writes.

Sources: org.apache.hadoop.hive.ql.txn.compactor (CompactorUtil, QueryCompactor.Util.isEnoughToCompact, CompactorMR),
and hive-acid-v2.md, which describes what Hive 4.0.1 does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from acidsql.acid.directories import ORIGINALS_BASE, Base, Delta, format_directory, parse_directory
from acidsql.acid.snapshot_selection import File, SelectedDirectory, Snapshot
from acidsql.acid.write_ids import TxnId, ValidWriteIdList, WriteId


class CompactionType(Enum):
    """The kinds of compactions (org.apache.hadoop.hive.metastore.api.CompactionType)."""

    MINOR = "MINOR"
    """Writes events: a delta and a delete delta."""
    MAJOR = "MAJOR"
    """Writes a base with the rows that are not deleted."""
    REBALANCE = "REBALANCE"
    """Writes a base whose rows have new row IDs."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The input of one compaction of a table or partition, and the range of write IDs that it covers."""

    rewrite: CompactionType
    source: Snapshot
    """Only the directories that are merged."""
    low: WriteId
    high: WriteId

    @property
    def directories(self) -> tuple[SelectedDirectory, ...]:
        base = (self.source.base,) if self.source.base is not None else ()
        return (*base, *self.source.deltas, *self.source.delete_deltas)

    def data_name(self, txn: TxnId) -> str:
        """The name of the directory of rows that the compactor's transaction `txn` writes."""
        if self.rewrite is CompactionType.MINOR:
            return format_directory(Delta(self.low, self.high, visibility_txn=txn))
        return format_directory(Base(self.high, visibility_txn=txn))

    def delete_name(self, txn: TxnId) -> str:
        """The name of the directory of delete events that a minor compaction writes."""
        return format_directory(Delta(self.low, self.high, visibility_txn=txn, is_delete=True))


def compactor_write_ids(reader: ValidWriteIdList) -> ValidWriteIdList:
    """A reader's list, cut off below the lowest open write ID (TxnUtils.createValidCompactWriteIdList)."""
    mark = WriteId(min(reader.high_watermark, reader.min_open - 1))
    return ValidWriteIdList(reader.table, mark, aborted=frozenset(w for w in reader.aborted if w <= mark))


def up_to(writes: ValidWriteIdList, mark: WriteId) -> ValidWriteIdList:
    """The list as it was when `mark` was the highest write ID."""
    return ValidWriteIdList(
        writes.table,
        min(writes.high_watermark, mark),
        frozenset(w for w in writes.open if w <= mark),
        frozenset(w for w in writes.aborted if w <= mark),
    )


def without_unfinished(
    files: Iterable[File], directories: Iterable[str], mark: WriteId
) -> tuple[list[File], list[str]]:
    """The listed files and directories, without deltas that have write IDs above `mark`.

    A streaming client may still write to such a delta. Compacting a part of it would lose the events that follow.
    """

    def is_finished(path: str) -> bool:
        parsed = parse_directory(path.partition("/")[0])
        return not isinstance(parsed, Delta) or parsed.max_write_id <= mark

    return [f for f in files if is_finished(f.path)], [d for d in directories if is_finished(d)]


def scope(
    rewrite: CompactionType, snapshot: Snapshot, writes: ValidWriteIdList, *, insert_only: bool, most: int | None = None
) -> Scope | str:
    """The input of a compaction, or the reason why there is nothing to compact.

    `snapshot` is selected with `writes`, a result of compactor_write_ids, from the files that without_unfinished
    leaves. A minor compaction merges the oldest directories, at most `most` of them (hive.compactor.max.num.delta).
    """
    if rewrite is CompactionType.MINOR:
        return _minor(snapshot, most)
    deltas = (*snapshot.deltas, *snapshot.delete_deltas)
    enough = bool(snapshot.original_files) or len(deltas) + (snapshot.base is not None) > 1
    if rewrite is CompactionType.MAJOR and not enough:
        return "there are not enough deltas to compact"
    if not enough and not deltas and snapshot.base is None:
        return "there is nothing in it"
    highest = [d.parsed.max_write_id for d in deltas if isinstance(d.parsed, Delta)]
    if snapshot.base is not None and isinstance(snapshot.base.parsed, Base):
        highest.append(snapshot.base.parsed.write_id)
    high = max(highest, default=WriteId(ORIGINALS_BASE))
    if insert_only and highest:
        high = max(high, writes.high_watermark)
    return Scope(rewrite, snapshot, WriteId(1), high)


def _minor(snapshot: Snapshot, most: int | None) -> Scope | str:
    """A minor compaction leaves original files and the base alone.

    Hive counts a delta and its delete delta as one directory (isEnoughToCompact).
    """
    deltas, delete_deltas = _oldest(snapshot, most)
    count = len(deltas) + len(delete_deltas)
    if count < 2 or (len(deltas) == 1 and len(delete_deltas) == 1):
        return "there are not enough deltas to compact"
    ranges = [d.parsed for d in (*deltas, *delete_deltas) if isinstance(d.parsed, Delta)]
    low = min(r.min_write_id for r in ranges) if snapshot.base is not None else WriteId(1)
    source = Snapshot(None, deltas, delete_deltas, (), ())
    return Scope(CompactionType.MINOR, source, low, max(r.max_write_id for r in ranges))


def _oldest(
    snapshot: Snapshot, most: int | None
) -> tuple[tuple[SelectedDirectory, ...], tuple[SelectedDirectory, ...]]:
    """The deltas and delete deltas with the lowest write IDs. Those of one write ID stay together."""
    every = sorted((*snapshot.deltas, *snapshot.delete_deltas), key=lambda d: _max_write_id(d))
    if most is None or len(every) <= most:
        return snapshot.deltas, snapshot.delete_deltas
    mark = _max_write_id(every[most - 1])
    if _max_write_id(every[most]) == mark:
        lower = [_max_write_id(d) for d in every[:most] if _max_write_id(d) < mark]
        mark = max(lower, default=mark)
    return (
        tuple(d for d in snapshot.deltas if _max_write_id(d) <= mark),
        tuple(d for d in snapshot.delete_deltas if _max_write_id(d) <= mark),
    )


def _max_write_id(directory: SelectedDirectory) -> WriteId:
    assert isinstance(directory.parsed, Delta)
    return directory.parsed.max_write_id


# ------------------------------------------------------------------------------------------------ when it is due


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits above which the initiator requests a compaction (hive.compactor.*.threshold)."""

    delta_num: int = 10
    delta_pct: float = 0.1
    aborted_txns: int = 1000
    aborted_seconds: float = 12 * 3600.0
    """The age of the oldest aborted transaction; a negative number turns this limit off."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """Aborted transactions that may have left files in a table: their number, and the age of the oldest one."""

    count: int = 0
    oldest_seconds: float = 0.0


def due(
    snapshot: Snapshot, thresholds: Thresholds, aborted: Aborted, *, insert_only: bool
) -> tuple[CompactionType, str] | None:
    """The compaction that a table or partition needs, and the reason (Initiator.determineCompactionType)."""
    if aborted.count > thresholds.aborted_txns:
        return CompactionType.MAJOR, f"{aborted.count} aborted transactions"
    if aborted.count and 0 <= thresholds.aborted_seconds < aborted.oldest_seconds:
        return CompactionType.MAJOR, f"a transaction was aborted {aborted.oldest_seconds:.0f} seconds ago"
    deltas = (*snapshot.deltas, *snapshot.delete_deltas)
    base = sum(f.file.length for f in snapshot.base.files) if snapshot.base is not None else 0
    base += sum(f.length for f in snapshot.originals)
    size = sum(f.file.length for d in deltas for f in d.files)
    if base and size / base > thresholds.delta_pct:
        return CompactionType.MAJOR, f"the deltas have {size / base:.0%} of the base's size"
    if len(deltas) <= thresholds.delta_num:
        return None
    is_major = not base or insert_only
    return CompactionType.MAJOR if is_major else CompactionType.MINOR, f"there are {len(deltas)} deltas"
