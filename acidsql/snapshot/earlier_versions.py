"""Earlier versions of a table: the rows that the committed writes up to a write ID made.

A version can be read as long as no base of a later write hides its directories, because the cleaner removes what a base
hides. Minor compactions keep the write ID of each event of a full ACID table, and not that of a row of an insert-only
one. Partitions may have been dropped, of which no directory tells, so partitioned tables have no earlier versions.
"""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.acid.directories import ORIGINALS_BASE, Base, Delta, parse_directory
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.file_systems import Listing


@dataclass(frozen=True, slots=True)
class Version:
    """A version of one table: the write ID up to which its writes are read."""

    table: Table
    write_id: WriteId


def check_version(version: Version, now: ValidWriteIdList) -> None:
    """Raises INVALID_PARAMETER for a write ID that the table does not have yet, NOT_YET_SUPPORTED for a partitioned
    table. `now` are all write IDs of the table."""
    table = version.table
    if table.partition_columns:
        hint = "Partitions that were dropped since then leave no trace, so the rows could be incomplete."
        feature = f"Reading an earlier version of the partitioned table {table.qualified}"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint)
    if not 0 <= version.write_id <= now.high_watermark:
        reason = f"{version.write_id} is not one of the versions 0 to {now.high_watermark} of {table.qualified}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="version", reason=reason)


def check_transactional(table: Table) -> None:
    """Raises INVALID_PARAMETER for a plain table."""
    if not table.is_transactional:
        reason = f"{table.qualified} is not transactional, so that its writes have no IDs"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="version", reason=reason)


def write_ids_at(version: WriteId, now: ValidWriteIdList) -> ValidWriteIdList:
    """The write IDs that a reader of the version sees as committed."""
    opened, aborted = (frozenset(i for i in ids if i <= version) for ids in (now.open, now.aborted))
    return ValidWriteIdList(now.table, min(version, now.high_watermark), opened, aborted)


def check_history(version: Version, listing: Listing, now: ValidWriteIdList, txns: ValidTxnList) -> None:
    """Raises NOT_ENOUGH_HISTORY if files of the version may have been removed, or cannot be told from later ones."""
    names = {path.partition("/")[0] for path in (*listing.directories, *(file.path for file in listing.files))}
    for name in sorted(names):
        found = parse_directory(name)
        if found is None or (found.visibility_txn is not None and not txns.is_valid(found.visibility_txn)):
            continue
        if _hides(found, version, now):
            raise AcidSqlError(
                Condition.NOT_ENOUGH_HISTORY,
                high_watermark=version.write_id,
                min_open="x",
                base=name,
                hint="A compaction or an overwrite has replaced the files of earlier versions.",
            )


def _hides(found: Base | Delta, version: Version, now: ValidWriteIdList) -> bool:
    match found:
        case Base(write_id, visibility):
            is_committed = visibility is not None or now.is_valid(write_id)
            return write_id != ORIGINALS_BASE and write_id > version.write_id and is_committed
        case Delta():
            spans = found.min_write_id <= version.write_id < found.max_write_id
            return version.table.is_insert_only and spans
