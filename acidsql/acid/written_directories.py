"""The directories that transactions have made, as the metastore remembers them, and those of them that are lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from acidsql.acid.directories import Base, Delta, parse_directory
from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.snapshot_selection import SelectedDirectory, Snapshot
from acidsql.acid.write_ids import RangeResponse, ValidTxnList, ValidWriteIdList, WriteId

MISSING_FILES = "acidsql.missing.files"
"""Table property: `ignore` lets readers leave out the rows of files that are lost."""
IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class WrittenDirectory:
    """A directory that a transaction has made in a partition, or in a table without partitions (`()`).

    `files` is its number of data files at the commit. None says that a compaction has merged the directories of this
    range, and had no events to write.
    """

    partition: PartitionValues
    name: str
    files: int | None

    @property
    def parsed(self) -> Base | Delta:
        found = parse_directory(self.name)
        assert found is not None
        return found

    @property
    def range(self) -> tuple[WriteId, WriteId]:
        """The write IDs of its name. A base has all rows up to its own."""
        return range_of(self.parsed)

    @property
    def replaces_others(self) -> bool:
        """Whether it has what directories between its write IDs had: it is a base or the result of a compaction."""
        return isinstance(self.parsed, Base) or self.parsed.visibility_txn is not None


def range_of(directory: Base | Delta) -> tuple[WriteId, WriteId]:
    match directory:
        case Base(write_id):
            return min(WriteId(0), write_id), write_id
        case Delta(low, high):
            return low, high


def lost(
    known: Iterable[WrittenDirectory], snapshot: Snapshot, writes: ValidWriteIdList, txns: ValidTxnList
) -> Iterator[WrittenDirectory]:
    """The directories whose rows a reader with these lists should read, and that lack a file or are not there. One that
    a base or a compacted directory replaces may be there or not."""
    chosen = (*([snapshot.base] if snapshot.base is not None else []), *snapshot.deltas, *snapshot.delete_deltas)
    selected = {directory.name: directory for directory in chosen}
    skipped = {directory.name for directory in snapshot.skipped}
    for directory in known:
        if directory.files is None or not _is_visible(directory, writes, txns):
            continue
        if directory.name in selected:
            if len(selected[directory.name].files) < directory.files:
                yield directory
        elif directory.name not in skipped and not any(_covers(other, directory) for other in chosen):
            yield directory


def _is_visible(directory: WrittenDirectory, writes: ValidWriteIdList, txns: ValidTxnList) -> bool:
    parsed = directory.parsed
    if parsed.visibility_txn is not None and not txns.is_valid(parsed.visibility_txn):
        return False
    if isinstance(parsed, Delta):
        return writes.range_response(parsed.min_write_id, parsed.max_write_id) is not RangeResponse.NONE
    if parsed.visibility_txn is None:
        return writes.is_valid(parsed.write_id)
    return parsed.write_id < writes.min_open and parsed.write_id <= writes.high_watermark


def _covers(other: SelectedDirectory, directory: WrittenDirectory) -> bool:
    replaces = isinstance(other.parsed, Base) or other.parsed.statement_id is None
    (low, high), (first, last) = range_of(other.parsed), directory.range
    return replaces and low <= first and last <= high
