"""The heartbeat that keeps a transaction alive while its statement runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.transaction_client import TXN_TIMEOUT, TransactionClient

_BEATS = 5
"""Heartbeats during a timeout: several may fail or come late before the transaction times out."""
DEFAULT_INTERVAL = TXN_TIMEOUT / _BEATS
"""Seconds between two heartbeats."""

_LOST = frozenset((Condition.TRANSACTION_ABORTED.name, Condition.NO_SUCH_TRANSACTION.name))
_JOIN_SECONDS = 2.0
_AGAIN_SECONDS = 0.5
"""Seconds between two calls of `on_lost`."""


def interval_of(client: TransactionClient) -> float:
    """Seconds between two heartbeats of what a metastore ends after its `txn_timeout`."""
    return client.txn_timeout / _BEATS


def is_lost(error: AcidSqlError) -> bool:
    """Whether the error says that a transaction is gone."""
    return error.condition in _LOST


class Heartbeat:
    """A context manager whose daemon thread sends a heartbeat for `txn` every `interval` seconds.

    The first heartbeat is sent after one interval. When the metastore answers that the transaction is gone, `on_lost`
    is called on that thread, and again every half second until `stop`: a statement that is planning starts jobs later.
    After any other error, such as a lost connection, the next heartbeat tries again.
    """

    def __init__(
        self,
        client: TransactionClient,
        txn: TxnId,
        *,
        interval: float = DEFAULT_INTERVAL,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self._client = client
        self._txn = txn
        self._interval = interval
        self._on_lost = on_lost
        self._stopped = threading.Event()
        self._lost: AcidSqlError | None = None
        self._thread = threading.Thread(target=self._run, name=f"heartbeat of txnid:{txn}", daemon=True)

    def __enter__(self) -> Heartbeat:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the heartbeats."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the heartbeats; stopping twice is no error."""
        self._stopped.set()
        # Do not wait longer for a heartbeat that waits for a locked metastore: it finds the transaction ended.
        if threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_SECONDS)

    @property
    def lost(self) -> AcidSqlError | None:
        """The error of the heartbeat that found the transaction gone; None while it is open."""
        return self._lost

    def check(self) -> None:
        """Raises the TRANSACTION_ABORTED or NO_SUCH_TRANSACTION that a heartbeat received."""
        if self._lost is not None:
            raise self._lost

    def _run(self) -> None:
        while self._lost is None and not self._stopped.wait(self._interval):
            try:
                self._client.heartbeat(self._txn)
            except AcidSqlError as error:
                if is_lost(error):
                    self._lost = error
        if self._lost is not None and self._on_lost is not None:
            self._insist(self._on_lost)

    def _insist(self, on_lost: Callable[[], None]) -> None:
        while not self._stopped.is_set():
            on_lost()
            self._stopped.wait(_AGAIN_SECONDS)
