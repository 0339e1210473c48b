"""The writes whose changes a scan reads: those of one version that are no part of another."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidWriteIdList, WriteId
from acidsql.metastore.client import Metastore
from acidsql.planner.as_of import WriteSet
from acidsql.planner.change_range import ChangeBound, ChangeRange
from acidsql.snapshot.earlier_versions import resolved_version
from acidsql.snapshot.version import Version
from acidsql.storage.file_systems import FilesOf

_MOMENT = timedelta(microseconds=1)
"""The shortest time between two that a statement can name."""


def versions_of(
    changes: ChangeRange, metastore: Metastore, table: Table, now: ValidWriteIdList, files_of: FilesOf
) -> tuple[Version, Version]:
    """The version before the changes, and the last one of them. `now` are all write IDs of the table.

    Raises INVALID_PARAMETER for write IDs that the table does not have yet and for a range that ends before it begins,
    and what `committed_at` raises.
    """

    def version(bound: ChangeBound, *, whole: bool) -> Version:
        """The version up to a bound: with the writes that it names itself, or without them."""
        point = bound.point
        if isinstance(point, WriteSet):
            return Version.of_writes(point)
        if isinstance(point, datetime):
            as_of = replace(changes.before(0), point=point if whole else point - _MOMENT)
            return resolved_version(as_of, metastore, table, now, files_of)
        return Version(WriteId(point if whole else point - 1))

    _check_known(changes, table, now)
    before = version(changes.first, whole=not changes.first.inclusive)
    if changes.last is None:
        return before, Version(now.high_watermark)
    last = version(changes.last, whole=changes.last.inclusive)
    if before.write_id > last.write_id or any(i in before for i in last.later):
        raise changes.refused("the range ends before it begins")
    return before, last


def _check_known(changes: ChangeRange, table: Table, now: ValidWriteIdList) -> None:
    for bound in filter(None, (changes.first, changes.last)):
        point = bound.point.highest if isinstance(bound.point, WriteSet) else bound.point
        if not isinstance(point, datetime) and point > now.high_watermark:
            known = f"the versions 1 to {now.high_watermark}" if now.high_watermark else "no versions yet"
            raise changes.refused(f"{point} is not a version of {table.qualified}, which has {known}")
