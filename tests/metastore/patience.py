"""How long the tests wait, for a lock and for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Final

from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.thrift_transport import Connection
from acidsql.metastore.locks import Patience

AT_ONCE = Patience(0)
_PATIENCE: Final = 60.0


def within(seconds: float) -> Patience:
    """About that long."""
    count = ceil(seconds / 0.1)
    return Patience(count, seconds / count)


def give_up_soon(store: HiveMetastore, name: str) -> None:
    """Lets the next call of that name wait for its answer for a second only. Other calls wait for minutes."""
    for connection in store._hive._idle:
        setattr(connection.client, name, partial(_hurried, connection, getattr(connection.client, name)))


def _hurried(connection: Connection, call: Callable[[object], object], request: object) -> object:
    connection.socket.setTimeout(1000)
    return call(request)


def eventually(true: Callable[[], bool]) -> None:
    """Waits until the condition is true, for a minute at most."""
    end = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)
