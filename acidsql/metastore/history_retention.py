"""The table property that keeps earlier versions readable: how long the cleaner leaves what they need."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from acidsql.acid.table import Table
from acidsql.durations import DURATION, seconds

RETENTION: Final = "acidsql.history.retention"
"""Table property: a duration. No property, and a duration of 0, keep nothing."""
_FOR_EVER: Final = 1 << 62


def retention_millis(properties: Mapping[str, str]) -> int:
    """How many milliseconds what a newer version has replaced stays. A value that is no duration, which only a program
    other than acidsql can have set, keeps everything.

    >>> retention_millis({"acidsql.history.retention": "12h"}), retention_millis({})
    (43200000, 0)
    """
    value = properties.get(RETENTION)
    if value is None:
        return 0
    return int(seconds(value) * 1000) if is_retention(value) else _FOR_EVER


def is_retention(value: str) -> bool:
    """Whether a property may have the value: a duration that is not negative."""
    return DURATION.fullmatch(value) is not None and seconds(value) >= 0


def held_until(table: Table, replaced: int) -> int:
    """The moment up to which the cleaner leaves what was replaced at a moment, in milliseconds since 1970."""
    return replaced + retention_millis(table.properties)


def moment_text(held: int) -> str:
    """Until when something is held."""
    try:
        return f"until {datetime.fromtimestamp(held / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"
    except (OverflowError, ValueError, OSError):  # in very many years
        return "for ever"


def keeps_history(table: Table) -> bool:
    """Whether writes of the table leave lists of what they replace, so that earlier versions stay readable."""
    return table.is_transactional and retention_millis(table.properties) > 0
