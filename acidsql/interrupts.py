"""Handling of Ctrl-C while a statement runs, without harm to the connection to the JVM.

A KeyboardInterrupt inside py4j leaves an answer on the connection, and the next call takes it for its own. The remedy
of py4j 0.10.9.9, to let the JVM shut the socket, hits connections that were made later. PySpark, while it reads an
Arrow table from its own socket, delays the interrupt until the job ends. Therefore the signal handler raises nothing
inside py4j and PySpark. Instead a thread with its own connection cancels the running jobs and repeats the signal until
the call has returned. An interrupt also waits while a transaction commits (`hold`), opens or is undone (`holding`).
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
"""One entry for each running statement of the main thread, the innermost last."""


def hold() -> bool:
    """Delays interrupts until the end of the `interruptible` block. Returns whether one waits already."""
    if not _statements or threading.current_thread() is not threading.main_thread():
        return False
    return _statements[-1].hold()


@contextmanager
def holding() -> Iterator[None]:
    """Delays interrupts until the end of the block, which raises them. For short steps that must be either done or
    not done."""
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
    """Runs a statement so that SIGINT raises KeyboardInterrupt in the main thread only outside PySpark and py4j.

    `cancel` ends the jobs that a call to the JVM waits for. Changes nothing in other threads, and where SIGINT is
    ignored.
    """
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
    """The state of SIGINT for one statement: whether a signal waits for PySpark or for the statement's end."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._held = False
        self._blocks = 0
        """How many `holding` blocks are open."""
        self._kept = False
        """Whether a signal came inside a `holding` block."""
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
        """Ends a `holding` block. Raises the KeyboardInterrupt that waited for it, unless another reason delays it."""
        self._blocks -= 1
        if self._kept and not self._blocks and not self._held:
            self._kept = False
            self._raised.set()
            raise KeyboardInterrupt

    def end(self) -> bool:
        """Stops waiting. Returns whether an interrupt was not raised yet."""
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
                return  # the JVM has ended, and with it the call
            if not self._raised.is_set() and not self._held:
                signal.pthread_kill(main, signal.SIGINT)


def _is_in_pyspark(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(("py4j.", "pyspark.")):
            return True
        frame = frame.f_back
    return False
