"""Whether a statement handles only wall-clock times (dates and TIMESTAMPs) and no instants.

Spark computes many functions of wall-clock times with instants of the session's time zone, which skips and repeats
hours. acidsql runs such a statement in UTC, where wall-clock times and instants correspond one to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from acidsql.acid.table import Table

_ABOUT_TIME: Final = re.compile(
    r"(?<!up)date|time|year|quarter|month|week|day|hour|minute|second|interval|extract|trunc|window|to_(?:var)?char",
    re.IGNORECASE,
)
_ABOUT_ZONES: Final = re.compile(
    r"zone|ltz|unix|current_(?:date|time)|current\s+(?:date|time)|\bnow\b|localtime|curdate"
    r"|timestamp_(?:seconds|millis|micros)",
    re.IGNORECASE,
)
_LOCAL: Final = "local time zone"


def tells_wall_clock_time(text: str, tables: Iterable[Table]) -> bool:
    """Whether a statement over these tables handles times, but neither instants nor the session's time zone. Words in
    strings and names count too, to be safe.

    >>> tells_wall_clock_time("SELECT date_format(at, 'HH:mm') FROM t", [])
    True
    >>> tells_wall_clock_time("SELECT from_unixtime(0)", [])
    False
    >>> tells_wall_clock_time("UPDATE t SET id = 1", [])
    False
    """
    if not _ABOUT_TIME.search(text) or _ABOUT_ZONES.search(text):
        return False
    return not any(_LOCAL in column.type for table in tables for column in table.all_columns)
