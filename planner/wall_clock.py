"""Whether a statement is about wall-clock time alone: dates and TIMESTAMPs, and no instant.

Spark computes much of it with instants of the session's zone, in which hours are skipped and repeated. Such a statement
can be run in UTC, where every time of the clock is an instant, and every instant that comes out of it is such a time.
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
    """Whether a statement over these tables does something with times, and neither with instants nor with the
    session's zone. To be sure, words in strings and names count too.

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
