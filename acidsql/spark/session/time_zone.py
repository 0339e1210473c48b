"""The machine's time zone, by its name, and Spark's setting for it. Imports no PySpark."""

from __future__ import annotations

import datetime
import os
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from typing import Final

UTC: Final = "UTC"
ZONE: Final = "spark.sql.session.timeZone"
"""The setting for the time zone of a session of Spark."""
_DIRECTORY: Final = "zoneinfo/"


def local_zone(clock: Path = Path("/etc/localtime"), name_file: Path = Path("/etc/timezone")) -> str:
    """The name of the time zone of this process ($TZ, else the machine's), as the JVM would find it; UTC if it has
    none.

    Python and the JVM must agree on it: PySpark converts instants to Python's zone, and Spark shows them in the JVM's.
    """
    return next(filter(None, map(_known, _names(os.environ.get("TZ"), clock, name_file))), UTC)


def _names(variable: str | None, clock: Path, name_file: Path) -> Iterator[str]:
    if variable is not None:
        yield _after_directory(variable.removeprefix(":"))
        return
    if clock.is_symlink():
        yield _after_directory(os.path.realpath(clock))
    if name_file.is_file():
        yield name_file.read_text().strip()
    if clock.is_file():
        yield from _same(clock.read_bytes())


def _after_directory(path: str) -> str:
    """`America/New_York` of a path such as /usr/share/zoneinfo/America/New_York; a name as it is."""
    return path.rpartition(_DIRECTORY)[2]


def _same(rules: bytes) -> Iterator[str]:
    """The zones with these rules, for a machine whose /etc/localtime is a copy of a zone's file."""
    for root in map(Path, zoneinfo.TZPATH):
        for name in sorted(zoneinfo.available_timezones()):
            if (root / name).is_file() and (root / name).read_bytes() == rules:
                yield name


def _known(name: str) -> str | None:
    """The name, if there is such a zone; `UTC` for every name of UTC."""
    try:
        zone = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return UTC if zone.tzname(datetime.datetime(2024, 7, 1)) == UTC else name
