"""How long the tests wait, for a lock and for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from typing import Final

from acidsql.metastore.client import Patience

AT_ONCE = Patience(0)
_PATIENCE: Final = 60.0


def within(seconds: float) -> Patience:
    """About that long."""
    count = ceil(seconds / 0.1)
    return Patience(count, seconds / count)


def eventually(true: Callable[[], bool]) -> None:
    """Waits until the condition is true, for a minute at most."""
    end = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)
