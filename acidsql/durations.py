"""Durations in the notation of Hive's settings: `500ms`, `6s`, `12h`. A number without a unit is in seconds."""

from __future__ import annotations

import re
from typing import Final

UNITS: Final = {
    "ms": 0.001,
    "msec": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "d": 86400.0,
    "day": 86400.0,
}
"""The length of each unit in seconds."""
DURATION: Final = re.compile(rf"(-?[0-9]{{1,15}})\s*({'|'.join(sorted(UNITS, reverse=True))})")


def seconds(duration: str) -> float:
    """The length of a duration in seconds.

    >>> seconds("500ms")
    0.5
    """
    found = DURATION.fullmatch(duration)
    assert found is not None
    return int(found.group(1)) * UNITS[found.group(2)]
