"""Read transactions: they stay open with their locks as long as something reads in them.

A reader that knows when it ends says so (`ReadTransactions.hold`). Frames of Spark do not: the Spark engine keeps their
transactions open and finds out when nothing can read them any more (`SilentReaders`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Final, Protocol

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.interrupts import holding
from acidsql.metastore.heartbeat import interval_of, is_lost
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.transactions import Transactions
from acidsql.tracing import current

FIRST_PAUSE: Final = 1.0
"""Seconds until the first check whether something still reads in a transaction. The pauses between the checks
double."""
_LONGEST_PAUSE: Final = 60.0


@dataclass(slots=True, eq=False)
class Reader:
    """A read transaction."""

    txn: TxnId
    is_guard: bool = False
    """Whether it stays open without readers, because it guards a write transaction that is under way."""
    on_end: list[Callable[[], None]] = field(default_factory=list)
    """What to do when nothing reads in it any more."""
    holders: int = 0
    """How many readers in this process read in it, which say when they end."""


class SilentReaders(Protocol):
    """Readers in transactions that do not say when they end: the frames of Spark
    (`acidsql.spark.frames.readers.FrameReaders`)."""

    def read_in(self, reader: Reader) -> bool:
        """Whether one of them may read in the transaction."""

    def unread(self, readers: Sequence[Reader], pause: float) -> Sequence[Reader]:
        """Those of the transactions in which none of them reads any more. `pause` are the seconds since the last
        check."""

    def forget(self, reader: Reader) -> None:
        """Called when the transaction has ended."""


class ReadTransactions:
    """The read transactions of a session, and the thread that keeps them alive."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self.silent: SilentReaders | None = None
        """The readers that do not say when they end; None until there may be some."""
        self._open: dict[TxnId, Reader] = {}
        """The transactions that outlive the statement which opened them."""
        self._lock = threading.Lock()
        # Not an Event: a finalizer may run while its own thread holds the Event's lock.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._closed = False
        self._thread: threading.Thread | None = None

    def open(self, locks: Sequence[LockComponent], *, is_guard: bool = False) -> Reader:
        """Opens a transaction that holds `locks`. The caller must `end` it, `hold` it, or keep it for a frame.

        Raises LOCK_TIMEOUT.
        """
        reader: Reader | None = None
        try:
            with holding():  # an interrupt here would leave a transaction open that nobody ends
                reader = Reader(self.transactions.metastore.open_txn(read_only=True), is_guard)
                self.transactions.readers[reader.txn] = tuple(locks)
            if (trace := current()) is not None:
                trace.txn_id = reader.txn
            if locks:
                self.transactions.lock(reader.txn, locks)
        except BaseException:
            if reader is not None:
                self.end(reader)
            raise
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_after, name="acidsql-readers", daemon=True)
                self._thread.start()
        return reader

    def hold(self, reader: Reader) -> Callable[[], None]:
        """Keeps the transaction open until the function that it returns is called, which may happen several times and
        on any thread."""
        with self._lock:
            reader.holders += 1
            self._open[reader.txn] = reader
        waiting = [reader]

        def release() -> None:
            with self._lock:
                if not waiting:
                    return
                waiting.clear()
                reader.holders -= 1
            self._end_idle(reader)

        return release

    def end_guard(self, reader: Reader) -> None:
        """Called at the end of the guarded transaction: the reader ends when nothing reads in it any more."""
        reader.is_guard = False
        self._end_idle(reader)

    def _end_idle(self, reader: Reader) -> None:
        """Ends a reader that nobody reads in; if silent readers may do so, the thread looks."""
        if reader.is_guard or reader.holders:
            return
        if self.silent is not None and self.silent.read_in(reader):
            self.wake()
        else:
            self.end(reader)

    def keep(self, reader: Reader) -> None:
        """Keeps the transaction open for silent readers."""
        with self._lock:
            self._open[reader.txn] = reader

    def kept(self) -> list[Reader]:
        """The transactions that outlive the statement which opened them."""
        return list(self._open.values())

    def wake(self) -> None:
        """Lets the thread look soon whether something still reads. May be called in a finalizer."""
        self._wake.put(None)

    def end(self, reader: Reader) -> None:
        """Ends the transaction. A second call does nothing."""
        with holding():
            with self._lock:
                self._open.pop(reader.txn, None)
            self.transactions.given_up.pop(reader.txn, None)
            if self.transactions.readers.pop(reader.txn, None) is not None:
                with suppress(AcidSqlError):  # it timed out, or the metastore is away: nothing depends on its commit
                    self.transactions.metastore.commit(reader.txn)
            while reader.on_end:
                reader.on_end.pop()()
        if self.silent is not None:
            self.silent.forget(reader)

    def close(self) -> None:
        """Ends all read transactions."""
        self._closed = True
        self._wake.put(None)
        for reader in list(self._open.values()):
            self.end(reader)

    # -- the thread

    def _look_after(self) -> None:
        beat = interval_of(self.transactions.metastore)
        pause, next_beat = FIRST_PAUSE, time.monotonic() + beat
        while not self._closed:
            woken = self._is_woken(max(0.0, min(pause, next_beat - time.monotonic())))
            if time.monotonic() >= next_beat:
                self._heartbeat()
                next_beat = time.monotonic() + beat
            if woken:  # a frame was released in Python
                pause = FIRST_PAUSE
            elif self._open:
                self._end_unread(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _end_unread(self, pause: float) -> None:
        """Ends the transactions in which nothing reads any more, although nobody has said so. `pause` are the seconds
        since the last check."""
        if self.silent is not None:
            idle = [reader for reader in self.kept() if not reader.is_guard and not reader.holders]
            for reader in self.silent.unread(idle, pause) if idle else ():
                self.end(reader)

    def _is_woken(self, seconds: float) -> bool:
        """Waits up to `seconds` for a wake-up, takes all that have come by then, and tells whether there was one."""
        try:
            self._wake.get(timeout=seconds)
        except Empty:
            return False
        with suppress(Empty):
            while True:
                self._wake.get_nowait()
        return True

    def _heartbeat(self) -> None:
        for txn in list(self.transactions.readers):
            try:
                self.transactions.metastore.heartbeat(txn)
            except AcidSqlError as error:
                if is_lost(error) and txn in self.transactions.readers:
                    self.transactions.readers[txn] = ()  # its locks have ended with it
