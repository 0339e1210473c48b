"""The snapshots of a statement: one ValidTxnList, one ValidWriteIdList per table, and the directories they select."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from acidsql.acid.data_files import is_visible, original_files
from acidsql.acid.directories import Base, parse_directory
from acidsql.acid.layout import METADATA_FILE
from acidsql.acid.snapshot_selection import Snapshot, select_snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.plan import Scan
from acidsql.snapshot.earlier_versions import check_history
from acidsql.snapshot.foreign_directories import require_known, top_level
from acidsql.snapshot.lost_files import require_complete
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.storage.file_systems import FilesOf, FileSystem, Listing
from acidsql.tracing import Phase, current, phase

_LISTING_THREADS: Final = 16


class StatementSnapshots:
    """Binds the scans of one statement; all scans of a table see the same snapshot of it."""

    def __init__(self, files_of: FilesOf, view: ReadView) -> None:
        """`files_of` gives the file system of a location."""
        self._files_of = files_of
        self._view = view
        self._parts: dict[tuple[str, tuple[str | None, ...]], BoundPart] = {}
        self._values: dict[str, Sequence[PartitionValues]] = {}
        """The values of all partitions, by qualified table name."""
        self._unchanged: set[str] = set()
        """The tables that are known to be those of the plan, by qualified name."""

    def bind(self, scan: Scan) -> BoundScan:
        """The scan with the snapshots of the partitions that it may need.

        Raises TABLE_CHANGED, TABLE_NOT_FOUND, and what `check_history` raises.
        """
        table = scan.table
        files = self._files_of(table.location)
        with phase(Phase.SCAN):
            wanted = [(table.qualified, values) for values in self._wanted(scan)]
            missing = [key[1] for key in wanted if key not in self._parts]
            if missing:
                self._select(table, files, self._located(table, missing))
        return BoundScan(scan, files, tuple(self._parts[key] for key in wanted if key in self._parts))

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

    def _located(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        """The partitions with these values, as far as they still exist."""
        if not table.partition_columns:
            return [Partition((), table.location)]
        return self._view.partitions_among(table, values, self._values[table.qualified])

    def _select(self, table: Table, files: FileSystem, partitions: Sequence[Partition]) -> None:
        """Lists the partitions in parallel, after one request for the write IDs."""
        if not partitions:
            return
        writes = self._view.write_ids(table) if table.is_transactional else None
        version = self._view.version_of(table)

        def select(partition: Partition) -> BoundPart:
            directory = files.resolve(partition.location)
            listing = files.list_below(directory)
            if writes is not None:
                last = self._view.all_write_ids(table) if version is not None else writes
                highest, txns = last.high_watermark, self._view.txns
                require_known(self._view.metastore, table, directory, top_level(listing), highest, txns.high_watermark)
            if version is not None:
                check_history(version, listing, self._view.all_write_ids(table), self._view.txns)
            return BoundPart(
                partition.values, directory, snapshot_of(table, files, directory, listing, writes, self._view.txns)
            )

        with ThreadPoolExecutor(min(_LISTING_THREADS, len(partitions))) as pool:
            parts = list(pool.map(select, partitions))
        if writes is not None:
            require_complete(self._view.metastore, table, parts, writes, self._view.txns)
        self._parts |= {(table.qualified, part.values): part for part in parts}
        if (trace := current()) is not None:
            if writes is not None:
                trace.snapshot[table.qualified] = writes.high_watermark
            trace.files_read += sum(self._parts[table.qualified, p.values].count_of_files for p in partitions)


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


def _compacted_bases(files: FileSystem, directory: str, listing: Listing) -> frozenset[str]:
    """The bases of a compactor of Hive before version 4. Their names have no `_v`; `_metadata_acid` marks them
    (AcidUtils.MetaDataFile)."""
    found = set()
    for file in listing.files:
        name, _, rest = file.path.partition("/")
        base = parse_directory(name) if rest == METADATA_FILE else None
        if isinstance(base, Base) and base.visibility_txn is None:
            content = json.loads(files.read(f"{directory}/{file.path}"))
            if content.get("dataFormat") == "compacted":
                found.add(name)
    return frozenset(found)
