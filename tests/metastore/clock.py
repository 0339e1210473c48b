"""A clock that a test moves, so that a timeout passes without a wait, and never too early on a slow machine."""

from __future__ import annotations

import time

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.metastore import process_identity
from acidsql.metastore.transaction_client import TransactionClient
from tests.metastore.patience import eventually


class Clock:
    """The two clocks of `process_identity.Moment`, which stand still between two calls. They count whole seconds."""

    def __init__(self) -> None:
        self._wall, self._ticks = int(time.time()), int(time.monotonic())

    def time(self) -> float:
        return self._wall

    def monotonic(self) -> float:
        return self._ticks

    @property
    def millis(self) -> int:
        """The time of day, as metastores tell it."""
        return self._wall * 1000

    def pass_by(self, seconds: int) -> None:
        # A heartbeat reads the time of day first: one that has the new one has the new ticks, too.
        self._ticks += seconds
        self._wall += seconds

    def jump(self, seconds: int) -> None:
        """Changes the time of day, as a user does who sets the clock."""
        self._wall += seconds


def given_clock(patch: pytest.MonkeyPatch) -> Clock:
    """The clock of all embedded metastores of this process from now on."""
    clock = Clock()
    patch.setattr(process_identity, "time", clock)
    return clock


def wait_for_heartbeat(store: TransactionClient, txn: TxnId, clock: Clock) -> None:
    """Waits until the transaction has had a heartbeat since the clock was moved."""
    eventually(lambda: any(t.id == txn and t.last_heartbeat == clock.millis for t in store.transactions()))
