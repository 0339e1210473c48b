"""How long the tests wait for a lock."""

from __future__ import annotations

from math import ceil

from acidsql.metastore.client import Patience

AT_ONCE = Patience(0)


def within(seconds: float) -> Patience:
    """About that long."""
    count = ceil(seconds / 0.1)
    return Patience(count, seconds / count)
