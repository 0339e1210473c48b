"""The times in the settings of a Hive Metastore."""

from __future__ import annotations

import re
from typing import Final


def seconds_of(text: str, default: float) -> float:
    """A time of Hive's settings (HiveConf.toTime); bare numbers are seconds.

    >>> seconds_of("5min", 1), seconds_of("1500ms", 1), seconds_of("", 7)
    (300.0, 1.5, 7)
    """
    found = _TIME.fullmatch(text.strip().lower())
    if found is None:
        return default
    unit = next((seconds for prefix, seconds in _UNITS.items() if found[2].startswith(prefix)), 1.0)
    return float(found[1]) * unit


_TIME: Final = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS: Final = {"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "ns": 1e-9, "m": 60.0, "h": 3600.0, "d": 86400.0}
