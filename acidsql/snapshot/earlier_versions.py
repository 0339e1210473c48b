"""Earlier versions of a table: the rows that the committed writes up to a write ID made.

A version can be read as long as no base of a later write hides its directories, because the cleaner removes what a base
hides. Some bases tell what they hide (replaced_files.py): as long as all of it is there, a reader of an earlier version
passes over them. Minor compactions keep the write ID of each event of a full ACID table, and not that of a row of an
insert-only one, whose delta is passed over in the same way. Partitions that were dropped are a matter of their own
(partition_history.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from acidsql.acid.data_files import is_visible
from acidsql.acid.directories import (
    ORIGINALS_BASE,
    Base,
    BucketFile,
    Delta,
    FlushLength,
    parse_bucket_file,
    parse_directory,
)
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.metastore.client import Metastore
from acidsql.metastore.history_retention import RETENTION, keeps_history
from acidsql.planner.as_of import AsOf, WriteSet
from acidsql.snapshot.version import Version
from acidsql.snapshot.version_times import committed_at
from acidsql.storage.file_systems import FilesOf, Listing


def resolved_version(
    as_of: AsOf, metastore: Metastore, table: Table, now: ValidWriteIdList, files_of: FilesOf
) -> Version:
    """The version that a statement names. `now` are all write IDs of the table.

    Raises INVALID_PARAMETER for a plain table and for a write ID that the table does not have yet, and what
    `committed_at` raises.
    """
    if not table.is_transactional:
        raise as_of.refused(f"{table.qualified} is not transactional, so that its writes have no IDs")
    if isinstance(as_of.point, datetime):
        try:
            return Version(*committed_at(metastore, table, as_of.point, files_of))
        except AcidSqlError as error:
            raise (error if error.span or not as_of.span else error.with_span(as_of.span)) from error.__cause__
    highest = as_of.point.highest if isinstance(as_of.point, WriteSet) else as_of.point
    if highest > now.high_watermark:
        known = f"the versions 0 to {now.high_watermark} of {table.qualified}"
        raise as_of.refused(f"{as_of.point} is not one of {known}")
    return Version.of_writes(as_of.point) if isinstance(as_of.point, WriteSet) else Version(WriteId(as_of.point))


def write_ids_at(version: Version, now: ValidWriteIdList) -> ValidWriteIdList:
    """The write IDs that a reader of the version sees as committed."""
    last = min(version.write_id, now.high_watermark)
    opened, aborted = (frozenset(i for i in ids if i <= last) for ids in (now.open | version.later, now.aborted))
    return ValidWriteIdList(now.table, last, opened - aborted, aborted)


@dataclass(frozen=True, slots=True)
class History:
    """What decides whether the files of a version are still there: `now` are all write IDs of the table, and `txns` are
    the transactions that the reader sees. `span` is the place of the version in the statement. `changes_up_to` is the
    last write whose changes are read, if it is the changes since the version that are read."""

    version: Version
    table: Table
    now: ValidWriteIdList
    txns: ValidTxnList
    span: Span | None
    changes_up_to: WriteId | None = None
    is_cleaned_by_hive: bool = False
    """Whether the cleaner of a Hive Metastore removes files."""

    def passed_over(
        self, listing: Listing, compacted: Collection[str], keeping: Collection[str] = ()
    ) -> frozenset[str]:
        """The directories of a listed partition that the reader passes over, because it needs what they replace.
        `compacted` are the names of bases without `_v` that a compactor of Hive 3 made, `keeping` those of directories
        beside which all files are that they replace (replaced_files.py).

        Raises NOT_ENOUGH_HISTORY if files of the version may have been removed, or cannot be told from later ones."""
        files: dict[str, list[str]] = {path.partition("/")[0]: [] for path in listing.directories}
        for file in listing.files:
            top, _, rest = file.path.partition("/")
            files.setdefault(top, []).append(rest)
        passed = set()
        for name in sorted(files):
            found = parse_directory(name)
            if found is None or (found.visibility_txn is not None and not self.txns.is_valid(found.visibility_txn)):
                continue
            is_compacted = found.visibility_txn is not None or name in compacted
            ends = self._hides(found, is_compacted) if isinstance(found, Base) else self._mixes(found, files[name])
            if ends and name not in keeping:
                raise not_enough_history(self.version.write_id, name, self._hint, self.span)
            if ends or (name in keeping and isinstance(found, Delta) and self._joins_changes(found, files[name])):
                passed.add(name)
        return frozenset(passed)

    @property
    def _hint(self) -> str:
        found = "A compaction or an overwrite has replaced the files of earlier versions."
        if not self.is_cleaned_by_hive:
            return found if keeps_history(self.table) else f"{found} The table property {RETENTION} keeps them longer."
        return (
            f"{found} Hive's cleaner keeps them with hive.compactor.delayed.cleanup.enabled=true for"
            f" hive.compactor.cleaner.retention.time.seconds, and for good if the table has 'NO_CLEANUP'='true'."
            f" Where {RETENTION} is set, acidsql can then read them."
        )

    def _hides(self, base: Base, is_compacted: bool) -> bool:
        """Whether a base has rows that are no part of the version, so that the directories that it replaces may be
        gone."""
        is_committed = is_compacted or self.now.is_valid(base.write_id)
        is_later = base.write_id > self.version.write_id or any(i <= base.write_id for i in self.version.later)
        return base.write_id != ORIGINALS_BASE and is_later and is_committed

    def _joins_changes(self, delta: Delta, files: Sequence[str]) -> bool:
        """Whether a delta has rows of several of the writes whose changes are read, and its rows do not tell theirs."""
        low, high = delta.min_write_id, delta.max_write_id
        is_read = self.changes_up_to is not None and self.version.write_id < high and low <= self.changes_up_to
        return low < high and is_read and not tells_write_ids(self.table, files)

    def _mixes(self, delta: Delta, files: Sequence[str]) -> bool:
        """Whether a delta has events of the version and later ones, and its rows do not tell theirs: those of an
        insert-only table, which may have become full ACID since."""
        low, high = delta.min_write_id, delta.max_write_id
        splits = low <= self.version.write_id < high or any(low <= i <= high for i in self.version.later)
        return low < high and splits and not tells_write_ids(self.table, files)


def tells_write_ids(table: Table, files: Iterable[str]) -> bool:
    """Whether each event in the files, given by their names in a delta, has its write ID beside it."""
    return not table.is_insert_only and all(
        isinstance(parse_bucket_file(file), BucketFile | FlushLength) for file in files if is_visible(file)
    )


def not_enough_history(version: WriteId, base: str, hint: str, span: Span | None) -> AcidSqlError:
    """NOT_ENOUGH_HISTORY for a version of which `base` has replaced files."""
    return AcidSqlError(
        Condition.NOT_ENOUGH_HISTORY, span=span, high_watermark=version, min_open="x", base=base, hint=hint
    )
