"""Partitions that were dropped or came with their files since a version of their table, as the metastore tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.partition_changes import ChangeKind, DroppedPartition, PartitionChange
from acidsql.planner.as_of import ASSUME_NO_DROPS, AsOf
from acidsql.snapshot.earlier_versions import not_enough_history
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.snapshot.version import Version

_ASSUME = f"SET {ASSUME_NO_DROPS}=true tells that no partition was dropped since, and none came with its files."


def came_later(version: Version, changes: Sequence[PartitionChange]) -> frozenset[PartitionValues]:
    """The partitions that were made later than the version: it has no rows in them, unless they were dropped before.
    Their directories need no history."""
    added = (change for change in changes if change.kind is ChangeKind.ADDED and change.write_id >= version.write_id)
    return frozenset(change.values for change in added if change.values is not None)


def dropped_later(version: Version, dropped: Sequence[DroppedPartition]) -> Mapping[PartitionValues, Partition]:
    """The partitions that the version has and that were dropped since, with their files of then. `dropped` are in the
    order of the drops: the first one after the version is that of the partition which the version has."""
    later = (each for each in dropped if _is_later(each, version))
    return {each.values: Partition(each.values, each.location) for each in reversed(list(later))}


def drops_between(last: Version, dropped: Sequence[DroppedPartition]) -> Sequence[PartitionChange]:
    """The drops up to a version of partitions whose files are kept. Who reads the changes up to the version does not
    see them: no event tells which rows they have hidden."""
    done = (each for each in dropped if not _is_later(each, last))
    return [PartitionChange(each.values, ChangeKind.DROPPED, WriteId(each.write_id - 1)) for each in done]


def _is_later(dropped: DroppedPartition, version: Version) -> bool:
    return dropped.write_id > version.write_id or dropped.write_id in version.later


def check_no_drops(
    as_of: AsOf,
    version: Version,
    table: Table,
    changes: Sequence[PartitionChange] | None,
    is_wanted: Callable[[PartitionValues], bool],
) -> None:
    """Checks that no partition was dropped since the version of which `is_wanted` is true and whose files have gone.
    `changes` are what the metastore has recorded, asked after the partitions were listed; None if it records nothing.

    Raises NOT_ENOUGH_HISTORY.
    """
    if changes is None:
        if table.partition_columns and not as_of.assumes_no_drops:
            reason = "this metastore does not tell which partitions were dropped, so that rows could be missing"
            raise _refused(as_of, version, "unknown", f"{reason}. {_ASSUME}")
        return
    for change in changes:
        if change.kind is not ChangeKind.DROPPED or _is_older(change, version):
            continue
        if change.values is None:
            if table.partition_columns and not as_of.assumes_no_drops:
                reason = f"the metastore does not tell which partitions were dropped up to version {change.write_id}"
                raise _refused(as_of, version, "unknown", f"{reason}. {_ASSUME}")
        elif not change.values:
            raise _refused(as_of, version, "none", "the table was given another location since")
        elif is_wanted(change.values):
            shown = _shown(table, change.values)
            reason = f"the partition {shown} was dropped, renamed or given another location since"
            raise _refused(
                as_of, version, f"none of {shown}", f"{reason}. A condition that leaves it out reads the others."
            )


def _is_older(change: PartitionChange, version: Version) -> bool:
    """Whether a partition certainly went before the version. A drop may have a write ID of its own, the one behind that
    of its change, and may have committed after later writes that are part of the version."""
    return change.write_id < version.write_id and WriteId(change.write_id + 1) not in version.later


def check_not_found_later(
    as_of: AsOf, version: Version, table: Table, changes: Sequence[PartitionChange], parts: Sequence[BoundPart]
) -> None:
    """Checks that no partition came to the table with its files since the version: these may look like files of earlier
    writes. Raises NOT_ENOUGH_HISTORY."""
    came = {
        change.values for change in changes if change.kind is ChangeKind.FOUND and change.write_id >= version.write_id
    }
    for part in parts:
        if part.values in came and part.count_of_files:
            shown = _shown(table, part.values)
            reason = f"the partition {shown} came to the table with its files later"
            raise _refused(as_of, version, f"none of {shown}", reason)


def _refused(as_of: AsOf, version: Version, base: str, hint: str) -> AcidSqlError:
    return not_enough_history(version.write_id, base, hint[0].upper() + hint[1:], as_of.span)


def _shown(table: Table, values: PartitionValues) -> str:
    return partition_name([c.name for c in table.partition_columns], values)
