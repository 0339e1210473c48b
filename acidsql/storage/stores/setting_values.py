"""Values of Hadoop's settings: booleans, durations and sizes as org.apache.hadoop.conf.Configuration reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

_DURATION: Final = re.compile(r"(-?\d+)\s*(ns|us|ms|s|m|h|d)?", re.IGNORECASE)
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE: Final = re.compile(r"(\d+)\s*([kmgtpe]?)", re.IGNORECASE)


def boolean(settings: Mapping[str, str], key: str, *, default: bool) -> bool:
    """A setting that is true or false; any other word is the default, as in `Configuration.getBoolean`.

    >>> boolean({"a": "TRUE"}, "a", default=False), boolean({"a": "yes"}, "a", default=False)
    (True, False)
    """
    return {"true": True, "false": False}.get(settings.get(key, "").lower(), default)


def duration(text: str, unit: str = "ms") -> timedelta | None:
    """A duration as `Configuration.getTimeDuration` reads it; None if it is none. `unit` is that of a plain number.

    >>> duration("30s"), duration("500"), duration("soon")
    (datetime.timedelta(seconds=30), datetime.timedelta(microseconds=500000), None)
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    try:
        return timedelta(seconds=int(found[1]) * _SECONDS[(found[2] or unit).lower()])
    except OverflowError:
        return None


def size(text: str) -> int | None:
    """A number of bytes as `Configuration.getLongBytes` reads it; None if it is none.

    >>> size("128m"), size("1024"), size("large")
    (134217728, 1024, None)
    """
    found = _SIZE.fullmatch(text)
    return None if found is None else int(found[1]) << (10 * " kmgtpe".index((found[2] or " ").lower()))


def milliseconds(value: timedelta) -> str:
    """A duration in the notation of obstore's options.

    >>> milliseconds(timedelta(seconds=1.5))
    '1500ms'
    """
    return f"{round(value / timedelta(milliseconds=1))}ms"


def address(text: str) -> SplitResult:
    """The parts of an address, which are empty if it is none.

    >>> address("hdfs://nn:8020/x").netloc, address("hdfs://[").netloc
    ('nn:8020', '')
    """
    try:
        return urlsplit(text)
    except ValueError:  # a bracket of an IPv6 address is missing
        return urlsplit("")


def proxy_url(scheme: str, host: str, port: str, user: str, password: str) -> str:
    """The address of a proxy, with the name and password of its user if there is one.

    >>> proxy_url("http", "proxy", "3128", "ann", "a/b")
    'http://ann:a%2Fb@proxy:3128'
    """
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user else ""
    return f"{scheme}://{login}{host}:{port}"
