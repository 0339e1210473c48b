"""The writes whose changes a scan reads."""

from __future__ import annotations

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidWriteIdList, WriteId
from acidsql.planner.change_range import ChangeRange
from acidsql.snapshot.earlier_versions import Version


def versions_of(changes: ChangeRange, table: Table, now: ValidWriteIdList) -> tuple[Version, Version]:
    """The version before the changes, and the last one of them. `now` are all write IDs of the table.

    Raises INVALID_PARAMETER for write IDs that the table does not have yet.
    """
    last = now.high_watermark if changes.last is None else changes.last
    unknown = next((each for each in (changes.first, last) if each > now.high_watermark), None)
    if unknown is not None:
        known = f"the versions 1 to {now.high_watermark}" if now.high_watermark else "no versions yet"
        raise changes.refused(f"{unknown} is not a version of {table.qualified}, which has {known}")
    return Version(WriteId(changes.first - 1)), Version(WriteId(last))
