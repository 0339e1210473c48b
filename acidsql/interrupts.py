"""Handling of Ctrl-C while a statement runs, without harm to the connection to the JVM.

A KeyboardInterrupt inside py4j leaves an answer on the connection, and the next call takes it for its own. The remedy
of py4j 0.10.9.9, to let the JVM shut the socket, hits connections that were made later. PySpark, while it reads an
Arrow table from its own socket, delays the interrupt until the job ends. Therefore the signal handler raises nothing
inside py4j and PySpark. Instead a thread repeats the signal until the call has returned, while another one, with its
own connection, cancels the running jobs. An interrupt also waits while a transaction commits (`hold`), opens or is
undone (`holding`), and while the statement handles an exception: raised between an error and the step that undoes its
work, the interrupt would leave the transaction open. So a second Ctrl-C does not break what the first one has started.

Python drops a KeyboardInterrupt that is raised in a finalizer or in the callback of a weak reference, and every import
ends with such a callback. `sys.unraisablehook` sees what is dropped, and the interrupt is raised again. Linux may
deliver a signal to any thread, and Python calls the handler when the main thread next runs Python code: `_Waker` sees
to it that a main thread that waits for the JVM does so.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    waker = _Waker.of_this_process()
    wakes_before = waker.replace()
    signal.signal(signal.SIGINT, interrupt.arrive)
    report_unraisable = sys.unraisablehook

    def unraisable(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            interrupt.repeat()
        else:
            report_unraisable(dropped)

    sys.unraisablehook = unraisable
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
        sys.unraisablehook = report_unraisable
        waker.restore(wakes_before)


class _Interrupt:
    """The state of SIGINT for one statement: whether a signal waits for PySpark or for the statement's end."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        outermost = _statements[0]._handled_before if _statements else sys.exc_info()[1]
        self._handled_before: BaseException | None = outermost
        """The exception that the program handled when the outermost statement began."""
        self._held = False
        self._blocks = 0
        """How many `holding` blocks are open."""
        self._kept = False
        """Whether a signal came inside a `holding` block."""
        self._raised = threading.Event()
        self._insisting: threading.Thread | None = None
        self._cancelling: threading.Thread | None = None

    def arrive(self, _number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        _Waker.of_this_process().arrive()
        if self._blocks:
            self._kept = True
            return
        if not self._held and not self._is_handling() and not _is_in_pyspark(frame):
            self._kept = False
            self._raised.set()
            raise KeyboardInterrupt
        if self._insisting is None or self._raised.is_set():
            self.repeat()

    def repeat(self) -> None:
        """Sends the signal again, from another thread, until it has raised a KeyboardInterrupt."""
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
        if not self._kept or self._blocks or self._held:
            return
        self._kept = False
        if self._is_handling():
            self.repeat()
            return
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
        if self._cancelling is not None:
            self._cancelling.join()  # so that it cannot hit the jobs of the next statement
            self._cancelling = None
        return waiting

    def _is_handling(self) -> bool:
        """Whether an exception of the statement is being handled. Called in the signal handler, which sees what the
        interrupted code sees."""
        return sys.exc_info()[1] is not self._handled_before

    @property
    def _is_waiting(self) -> bool:
        return self._kept or (self._insisting is not None and not self._raised.is_set())

    def _insist(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        while not self._raised.wait(_AGAIN_SECONDS):
            if self._held or self._blocks:
                continue
            # In a thread of its own: a JVM that does not answer must not delay the next signal.
            if self._cancelling is None or not self._cancelling.is_alive():
                self._cancelling = threading.Thread(target=self._cancel_jobs, name="acidsql-cancel", daemon=True)
                self._cancelling.start()
            if not self._raised.is_set() and not self._held:
                signal.pthread_kill(main, signal.SIGINT)

    def _cancel_jobs(self) -> None:
        with suppress(Exception):  # where the JVM has ended, the call that waits for it ends too
            self._cancel()


class _Waker:
    """Repeats a signal for the main thread if the kernel has delivered it to another thread.

    The C handler of Python writes each signal to the wakeup descriptor, whatever the thread. A thread reads it, and
    sends SIGINT to the main thread where that has not called its handler.
    """

    _current: _Waker | None = None

    def __init__(self) -> None:
        self._arrivals = 0
        """How often the main thread has called its handler of SIGINT."""
        self._process = os.getpid()
        self._received, self._written = socket.socketpair()
        self._received.setblocking(False)
        self._written.setblocking(False)
        self._replaced = -1
        """The wakeup descriptor of the program, for example of its event loop, which needs its signals too."""
        threading.Thread(target=self._watch, name="acidsql-signals", daemon=True).start()

    @classmethod
    def of_this_process(cls) -> _Waker:
        """The waker. A forked process makes its own: threads do not survive a fork."""
        if cls._current is None or cls._current._process != os.getpid():
            cls._current = cls()
        return cls._current

    def replace(self) -> int:
        """Becomes the wakeup descriptor. Returns the one before."""
        before = signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        if before != self._written.fileno():
            self._replaced = before
        return before

    def restore(self, before: int) -> None:
        try:
            signal.set_wakeup_fd(before)
        except (OSError, ValueError):  # closed meanwhile
            signal.set_wakeup_fd(-1)

    def arrive(self) -> None:
        """The main thread calls its handler of SIGINT, and needs no second signal."""
        self._arrivals += 1
        self._take()

    def _take(self) -> bytes:
        """The signals since the last call. They are passed on to the wakeup descriptor of the program."""
        try:
            numbers = self._received.recv(64)
        except BlockingIOError:
            return b""
        if self._replaced != -1:
            with suppress(OSError):
                os.write(self._replaced, numbers)
        return numbers

    def _watch(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        readable = select.poll()
        readable.register(self._received, select.POLLIN)
        while readable.poll():
            arrivals, statement = self._arrivals, _statements[-1:]
            if signal.SIGINT not in self._take() or not statement:
                continue
            time.sleep(_AGAIN_SECONDS)
            if arrivals == self._arrivals and statement == _statements[-1:]:
                signal.pthread_kill(main, signal.SIGINT)


def _is_in_pyspark(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(("py4j.", "pyspark.")):
            return True
        frame = frame.f_back
    return False
