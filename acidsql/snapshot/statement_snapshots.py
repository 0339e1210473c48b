"""The snapshots of a statement: one ValidTxnList, one ValidWriteIdList per table, and the directories they select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from acidsql.acid.data_files import is_visible, original_files
from acidsql.acid.directories import Base, parse_directory
from acidsql.acid.layout import METADATA_FILE
from acidsql.acid.snapshot_selection import Skipped, SkipReason, Snapshot, select_snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.partition_changes import PartitionChange
from acidsql.planner.as_of import AsOf
from acidsql.planner.change_range import ChangeRange
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.plan import Scan
from acidsql.snapshot.base_metadata import COMPACTED, data_format
from acidsql.snapshot.change_ranges import versions_of
from acidsql.snapshot.changed_files import changing_writes, require_told
from acidsql.snapshot.commit_times import commit_times
from acidsql.snapshot.earlier_versions import History, resolved_version, write_ids_at
from acidsql.snapshot.foreign_directories import require_known, top_level
from acidsql.snapshot.lost_files import require_complete
from acidsql.snapshot.partition_history import (
    came_later,
    check_no_drops,
    check_not_found_later,
    dropped_later,
    drops_between,
)
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.replaced_files import Keeping, keeping_directories
from acidsql.snapshot.scan_binding import BoundChanges, BoundPart, BoundScan
from acidsql.snapshot.version import Version
from acidsql.storage.file_systems import FilesOf, FileSystem, Listing
from acidsql.tracing import Phase, current, phase

_LISTING_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class _Read:
    """What is read of a table: `writes` are the write IDs, those of the last of the `versions` if it has any. They are
    None for a plain table. `now` are all write IDs."""

    writes: ValidWriteIdList | None
    now: ValidWriteIdList | None
    versions: tuple[Version, ...] = ()
    """The versions that must be there: the one that is read, or those before and after the changes that are read."""
    as_of: AsOf | None = None
    """The first of the versions, as the statement names it."""
    came_later: frozenset[PartitionValues] = frozenset()
    """The partitions that had no rows in the last version."""
    dropped: Mapping[PartitionValues, Partition] = field(default_factory=dict)
    """The partitions of the last version that were dropped since and whose files are kept."""
    drops: Sequence[PartitionChange] = ()
    """The drops up to the last version of partitions whose files are kept."""

    def histories(self, table: Table, txns: ValidTxnList, *, is_cleaned_by_hive: bool) -> Sequence[History]:
        """What decides about each of the versions."""
        if self.now is None or not self.versions:
            return ()
        span = self.as_of.span if self.as_of is not None else None
        first, *others = (
            History(version, table, self.now, txns, span, is_cleaned_by_hive=is_cleaned_by_hive)
            for version in self.versions
        )
        last = self.versions[-1].write_id if others else None
        return replace(first, changes_up_to=last), *others


class StatementSnapshots:
    """Binds the scans of one statement; all scans of a version of a table see the same snapshot of it."""

    def __init__(self, files_of: FilesOf, view: ReadView) -> None:
        """`files_of` gives the file system of a location."""
        self._files_of = files_of
        self._view = view
        self._parts: dict[tuple[str, tuple[Version, ...], PartitionValues], BoundPart] = {}
        """The partitions that were listed, by qualified table name, versions and values."""
        self._reads: dict[tuple[str, AsOf | ChangeRange | None], _Read] = {}
        self._values: dict[str, Sequence[PartitionValues]] = {}
        """The values of all partitions, by qualified table name."""
        self._unchanged: set[str] = set()
        """The tables that are known to be those of the plan, by qualified name."""

    def bind(self, scan: Scan) -> BoundScan:
        """The scan with the snapshots of the partitions that it may need.

        Raises TABLE_CHANGED, TABLE_NOT_FOUND, for an earlier version what `resolved_version`, `History.passed_over`,
        `check_no_drops` and `check_not_found_later` raise, and for changes also what `versions_of` and `require_told`
        raise.
        """
        table = scan.table
        with phase(Phase.SCAN):
            values = self._wanted(scan)
            read = self._read(scan)
            gone = [each for each in read.dropped if each not in values]
            values = [*values, *filter(keeps(scan.partition_filter, table), gone)]
            parts = self._parts_of(table, read, [each for each in values if each not in read.came_later])
            if read.as_of is not None:
                self._check_partitions(scan, read, read.as_of, parts)
            changes = None if scan.changes is None else self._changes(table, scan.changes, read, parts)
        return BoundScan(scan, self._files_of(table.location), parts, changes)

    def parts_of(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[BoundPart]:
        """The partitions with these values, or the table without partitions (`()`), as the statement reads them now.
        Those that do not exist are left out. Raises what `bind` raises."""
        scan = Scan("", table)
        self._wanted(scan)
        return self._parts_of(table, self._read(scan), values)

    def _parts_of(self, table: Table, read: _Read, values: Sequence[PartitionValues]) -> tuple[BoundPart, ...]:
        wanted = [(table.qualified, read.versions, each) for each in values]
        missing = [key[2] for key in wanted if key not in self._parts]
        partitions = self._located(table, read, missing)
        found = self._select(table, read, self._files_of(table.location), partitions) if partitions else []
        self._parts |= {(table.qualified, read.versions, part.values): part for part in found}
        return tuple(self._parts[key] for key in wanted if key in self._parts)

    def count_of_partitions(self, scan: Scan) -> int:
        """How many partitions the scan may need. Lists no directory."""
        return len(self._wanted(scan))

    def _wanted(self, scan: Scan) -> Sequence[PartitionValues]:
        table = scan.table
        if table.qualified not in self._unchanged:
            self._view.require_unchanged(table)
            self._unchanged.add(table.qualified)
        if not table.partition_columns:
            return [()]
        if table.qualified not in self._values:
            self._values[table.qualified] = self._view.partition_values(table)
        return list(filter(keeps(scan.partition_filter, table), self._values[table.qualified]))

    def _read(self, scan: Scan) -> _Read:
        key = (scan.table.qualified, scan.version)
        if key not in self._reads:
            self._reads[key] = self._write_ids(scan)
        return self._reads[key]

    def _write_ids(self, scan: Scan) -> _Read:
        latest = self._reads.get((scan.table.qualified, None))
        now = latest.now if latest is not None else None
        if now is None and scan.table.is_transactional:
            now = self._view.write_ids(scan.table)
        if scan.version is None or now is None:
            return _Read(now, now)
        metastore = self._view.metastore
        if isinstance(scan.version, AsOf):
            as_of = scan.version
            versions: tuple[Version, ...] = (resolved_version(as_of, metastore, scan.table, now, self._files_of),)
        else:
            versions = versions_of(scan.version, metastore, scan.table, now, self._files_of)
            as_of = scan.version.before(versions[0].write_id)
        writes = write_ids_at(versions[-1], now)
        if not scan.table.partition_columns:
            return _Read(writes, now, versions, as_of)
        known = metastore.dropped_partitions(scan.table)
        dropped = dropped_later(versions[-1], known)
        later = came_later(versions[-1], metastore.partition_changes(scan.table) or ())
        drops = drops_between(versions[-1], known)
        return _Read(writes, now, versions, as_of, later - dropped.keys(), dropped, drops)

    def _changes(
        self, table: Table, changes: ChangeRange, read: _Read, parts: Sequence[BoundPart]
    ) -> BoundChanges | None:
        if read.writes is None:
            return None
        before = read.versions[0]
        require_told(table, parts, before, changes.span)
        writes = changing_writes(parts, before, read.writes)
        return BoundChanges(before, commit_times(self._view.metastore, table, writes))

    def _check_partitions(self, scan: Scan, read: _Read, as_of: AsOf, parts: Sequence[BoundPart]) -> None:
        """Partitions are dropped while others are read, so the metastore is asked after they were listed."""
        changes, version = self._view.metastore.partition_changes(scan.table), read.versions[0]
        told = None if changes is None else [*changes, *read.drops]
        check_no_drops(as_of, version, scan.table, told, keeps(scan.partition_filter, scan.table))
        check_not_found_later(as_of, version, scan.table, changes or (), parts)

    def _located(self, table: Table, read: _Read, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        """The partitions with these values, as far as they still exist, or as the version has them."""
        if not table.partition_columns:
            return [Partition((), table.location) for _ in values]
        there = [each for each in values if each not in read.dropped]
        found = self._view.partitions_among(table, there, self._values[table.qualified]) if there else ()
        return [*found, *(read.dropped[each] for each in values if each in read.dropped)]

    def _select(
        self, table: Table, read: _Read, files: FileSystem, partitions: Sequence[Partition]
    ) -> Sequence[BoundPart]:
        """Lists the partitions in parallel."""
        metastore, txns, writes, now = self._view.metastore, self._view.txns, read.writes, read.now
        histories = read.histories(table, txns, is_cleaned_by_hive=metastore.compaction_keeper is None)

        def select(partition: Partition) -> BoundPart:
            directory = files.resolve(partition.location)
            listing = files.list_below(directory)
            if now is not None:
                names = top_level(listing)
                require_known(metastore, table, directory, names, now.high_watermark, txns.high_watermark)
            if not histories or writes is None:
                snapshot = snapshot_of(table, files, directory, listing, writes, txns)
            else:
                snapshot = _snapshot_of_version(table, files, directory, listing, writes, txns, histories)
            return BoundPart(partition.values, directory, snapshot)

        with ThreadPoolExecutor(min(_LISTING_THREADS, len(partitions))) as pool:
            parts = list(pool.map(select, partitions))
        if writes is not None:
            require_complete(metastore, table, parts, writes, txns)
        if (trace := current()) is not None:
            if writes is not None:
                trace.snapshot[table.qualified] = writes.high_watermark
            trace.files_read += sum(part.count_of_files for part in parts)
        return parts


def snapshot_of(
    table: Table,
    files: FileSystem,
    directory: str,
    listing: Listing,
    writes: ValidWriteIdList | None,
    txns: ValidTxnList,
) -> Snapshot:
    """What a reader with these lists reads of a directory; `writes` is None for a table that is not transactional."""
    if writes is None:
        visible = [file for file in listing.files if is_visible(file.path)]
        return Snapshot(None, (), (), original_files(visible, insert_only=True), ())
    return select_snapshot(
        listing.files,
        writes,
        txns,
        listing.directories,
        compacted_bases=_compacted_bases(files, directory, listing),
        insert_only=table.is_insert_only,
    )


def is_without_rows(
    table: Table, files: FileSystem, directory: str, writes: ValidWriteIdList, txns: ValidTxnList
) -> bool:
    """Whether a directory of a partition that was dropped has nothing that a reader would read if the partition were
    there again: the base of the drop hides it."""
    snapshot = snapshot_of(table, files, directory, files.list_below(directory), writes, txns)
    return BoundPart((), directory, snapshot).count_of_files == 0


def _compacted_bases(files: FileSystem, directory: str, listing: Listing) -> frozenset[str]:
    """The bases of a compactor of Hive before version 4. Their names have no `_v`; `_metadata_acid` marks them
    (AcidUtils.MetaDataFile)."""
    found = set()
    for file in listing.files:
        name, _, rest = file.path.partition("/")
        base = parse_directory(name) if rest == METADATA_FILE else None
        is_unnamed = isinstance(base, Base) and base.visibility_txn is None
        if is_unnamed and data_format(files, f"{directory}/{name}") == COMPACTED:
            found.add(name)
    return frozenset(found)


def _snapshot_of_version(
    table: Table,
    files: FileSystem,
    directory: str,
    listing: Listing,
    writes: ValidWriteIdList,
    txns: ValidTxnList,
    histories: Sequence[History],
) -> Snapshot:
    """What a reader of the last of the versions reads, if the files of all of them are there. Raises what
    `History.passed_over` raises."""
    compacted = _compacted_bases(files, directory, listing)
    keeping = _unread_keeping(keeping_directories(files, directory, listing), compacted, writes)
    passed = frozenset[str]().union(*(history.passed_over(listing, compacted, keeping) for history in histories))
    if not passed:
        return snapshot_of(table, files, directory, listing, writes, txns)
    left = Listing(
        tuple(file for file in listing.files if file.path.partition("/")[0] not in passed),
        tuple(path for path in listing.directories if path.partition("/")[0] not in passed),
        listing.hidden,
    )
    snapshot = snapshot_of(table, files, directory, left, writes, txns)
    skipped = (Skipped(name, SkipReason.TOO_NEW, "the files that it has merged are read") for name in passed)
    return replace(snapshot, skipped=tuple(sorted((*snapshot.skipped, *skipped), key=lambda s: s.name)))


def _unread_keeping(
    keeping: Mapping[str, Keeping], compacted: frozenset[str], writes: ValidWriteIdList
) -> frozenset[str]:
    """Those of the directories beside which all files are that they replace, without the overwrites and rebalances that
    are part of what is read: if one is among the changes that are read, no event tells which rows have gone by it, or
    later events name rows by their new IDs."""

    def is_change(each: Keeping) -> bool:
        base = parse_directory(each.name)
        if not isinstance(base, Base):
            return False
        if base.visibility_txn is None and each.name not in compacted:
            return writes.is_valid(base.write_id)
        return each.renumbers and base.write_id < writes.high_watermark

    return frozenset(name for name, each in keeping.items() if not is_change(each))
