"""Ctrl-C while a statement runs, without harm to the connection to the JVM.

A KeyboardInterrupt in the middle of py4j leaves an answer on the connection that the next call takes for its own, and
py4j's remedy (0.10.9.9: it has the JVM shut the socket) hits connections made after it. PySpark, reading an Arrow table
from a socket of its own, waits for the end of the job before it lets one pass. So no interrupt is raised inside either:
there, a thread with a connection of its own cancels the running jobs and signals again, until the call has come back.
Nor is one raised while a transaction commits (`hold`), is opened or undone (`holding`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_AGAIN_SECONDS: Final = 0.05
_TOO_LATE: Final = "The statement was finished when the interrupt came."

_statements: list[_Interrupt] = []
"""Those of the main thread that run, the innermost last."""


def hold() -> bool:
    """From here on an interrupt waits for the end of the `interruptible` block. Gives whether one waits already."""
    if not _statements or threading.current_thread() is not threading.main_thread():
        return False
    return _statements[-1].hold()


@contextmanager
def holding() -> Iterator[None]:
    """Inside, an interrupt waits; the end of the block raises it. For what must be known to be done or not, and does
    not take long."""
    if not _statements or threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupt = _statements[-1]
    interrupt.enter()
    try:
        yield
    finally:
        interrupt.leave()


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[None]:
    """Inside, SIGINT raises KeyboardInterrupt in the main thread, but outside of PySpark and py4j only; `cancel` ends
    what a call to the JVM waits for. In other threads, and where SIGINT is ignored, nothing changes."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    interrupt = _Interrupt(cancel)
    _statements.append(interrupt)
    signal.signal(signal.SIGINT, interrupt.arrive)
    try:
        yield
    except BaseException as error:
        if interrupt.end() and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error  # the error says that the jobs were cancelled
        raise
    else:
        if interrupt.end():
            late = KeyboardInterrupt()
            late.add_note(_TOO_LATE)
            raise late
    finally:
        interrupt.end()
        _statements.remove(interrupt)
        signal.signal(signal.SIGINT, before)


class _Interrupt:
    """A SIGINT that waits for the main thread to leave PySpark, or for the end of the statement."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._held = False
        self._blocks = 0
        """How many `holding` blocks are under way."""
        self._kept = False
        """Whether one came in such a block."""
        self._raised = threading.Event()
        self._insisting: threading.Thread | None = None

    def arrive(self, _number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        if self._blocks:
            self._kept = True
            return
        if not self._held and not _is_in_pyspark(frame):
            self._kept = False
            self._raised.set()
            raise KeyboardInterrupt
        if self._insisting is None or not self._insisting.is_alive():
            self._raised.clear()
            self._insisting = threading.Thread(target=self._insist, name="acidsql-interrupt", daemon=True)
            self._insisting.start()

    def hold(self) -> bool:
        self._held = True
        return self._is_waiting

    def enter(self) -> None:
        self._blocks += 1

    def leave(self) -> None:
        """Raises KeyboardInterrupt where one has come, unless it has to wait longer."""
        self._blocks -= 1
        if self._kept and not self._blocks and not self._held:
            self._kept = False
            self._raised.set()
            raise KeyboardInterrupt

    def end(self) -> bool:
        """Ends the waiting; whether there was an interrupt that was not raised yet."""
        waiting = self._is_waiting
        self._kept = False
        self._raised.set()
        if self._insisting is not None:
            self._insisting.join()
            self._insisting = None
        return waiting

    @property
    def _is_waiting(self) -> bool:
        return self._kept or (self._insisting is not None and not self._raised.is_set())

    def _insist(self) -> None:
        from py4j.protocol import Py4JError

        main = threading.main_thread().ident
        assert main is not None
        while not self._raised.wait(_AGAIN_SECONDS):
            if self._held or self._blocks:
                continue
            try:
                self._cancel()
            except Py4JError:
                return  # the JVM is gone, and with it the call that it did not answer
            if not self._raised.is_set() and not self._held:
                signal.pthread_kill(main, signal.SIGINT)


def _is_in_pyspark(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(("py4j.", "pyspark.")):
            return True
        frame = frame.f_back
    return False
