"""A table or partition for compaction: its directory, and the part of its snapshot that may be merged."""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.acid.compaction_scope import compactor_write_ids, up_to, without_unfinished
from acidsql.acid.partition_names import parse_partition_name, partition_name
from acidsql.acid.snapshot_selection import Snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.metastore.catalog import Partition
from acidsql.metastore.client import Metastore
from acidsql.snapshot.foreign_directories import require_known, top_level
from acidsql.snapshot.lost_files import require_complete
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.snapshot.statement_snapshots import snapshot_of
from acidsql.storage.file_systems import FilesOf, FileSystem, Listing


@dataclass(frozen=True, slots=True)
class Place:
    """A table, or one partition of a table, with its directory."""

    table: Table
    values: tuple[str | None, ...]
    directory: str
    files: FileSystem

    @property
    def partition(self) -> str | None:
        """The name of the partition, `p=a/q=b`."""
        columns = [c.name for c in self.table.partition_columns]
        return partition_name(columns, self.values) if columns else None

    @property
    def text(self) -> str:
        return ".".join((self.table.qualified, *([self.partition] if self.partition is not None else [])))


@dataclass(frozen=True, slots=True)
class View:
    """What a compactor sees of a place: only write IDs below the lowest open one. `is_whole` tells whether no write ID
    was open: else there may be more to merge when one of them ends, even if it ends without a write."""

    snapshot: Snapshot
    writes: ValidWriteIdList
    is_whole: bool


def find_place(
    metastore: Metastore, files_of: FilesOf, database: str, table: str, partition: str | None
) -> Place | None:
    """Finds a table or partition; None if it is gone, and for a partitioned table without a partition."""
    found = metastore.find_table(database, table)
    if found is None or (found.partition_columns and partition is None):
        return None
    files = files_of(found.location)
    if partition is None:
        return Place(found, (), files.resolve(found.location), files)
    known = _partition_named(metastore, found, partition)
    return None if known is None else partition_place(found, known, files)


def _partition_named(metastore: Metastore, table: Table, name: str) -> Partition | None:
    """The partition with a name. Requests it alone: the initiator looks up each changed partition of a table, which may
    have thousands."""
    values = parse_partition_name(name, [c.name for c in table.partition_columns])
    found = metastore.partitions_named(table, [values]) if values is not None else ()
    return found[0] if found else None


def partition_place(table: Table, partition: Partition, files: FileSystem) -> Place:
    return Place(table, partition.values, files.resolve(partition.location), files)


def compactable(metastore: Metastore, place: Place, txns: ValidTxnList) -> View:
    """What a compactor with the snapshot `txns` may merge now.

    Raises TABLE_NOT_FOUND, MALFORMED_LAYOUT, FILES_MISSING, CATALOG_BEHIND.
    """
    known = metastore.valid_write_ids(place.table, txns)
    writes = compactor_write_ids(known)
    snapshot = _snapshot(metastore, place, txns, writes)
    part = BoundPart(place.values, place.directory, snapshot)
    require_complete(metastore, place.table, [part], writes, txns, highest=writes.high_watermark)
    return View(snapshot, writes, not known.open)


def as_of(metastore: Metastore, place: Place, txns: ValidTxnList, highest: WriteId) -> Snapshot:
    """What a reader reads if `highest` is its highest write ID.

    Raises NOT_ENOUGH_HISTORY if a later compaction has replaced all of it.
    """
    return _snapshot(metastore, place, txns, up_to(metastore.valid_write_ids(place.table, txns), highest))


def _snapshot(metastore: Metastore, place: Place, txns: ValidTxnList, writes: ValidWriteIdList) -> Snapshot:
    """Raises CATALOG_BEHIND."""
    listing = place.files.list_below(place.directory)
    mark = writes.high_watermark
    require_known(metastore, place.table, place.directory, top_level(listing), mark, txns.high_watermark)
    files, directories = without_unfinished(listing.files, listing.directories, writes.high_watermark)
    whole = Listing(tuple(files), tuple(directories), listing.hidden)
    return snapshot_of(place.table, place.files, place.directory, whole, writes, txns)
