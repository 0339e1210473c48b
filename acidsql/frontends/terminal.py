"""Standard error: messages, errors in colour, how long a statement has been running, and what Java writes there."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr

from acidsql.errors import AcidSqlError, visible

_WAIT_SHOWN_AFTER = 0.5
"""Seconds until a terminal shows that a statement is running."""


def tell_interrupted(word: str, interrupt: KeyboardInterrupt) -> None:
    """`word`, and what the interrupt says of a statement that it came too late for."""
    tell(". ".join((word, *getattr(interrupt, "__notes__", ()))))


def tell(message: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def report(error: Exception, *, place: str = "", with_traceback: bool = False) -> None:
    """Prints an error to standard error: `place`, the message and the caret block, in red on a terminal."""
    message = str(error) if isinstance(error, AcidSqlError) else f"[{type(error).__name__}] {str(error).strip()}"
    place, message = visible(place), message if isinstance(error, AcidSqlError) else visible(message)
    red, plain = ("\x1b[31m", "\x1b[0m") if in_colour() else ("", "")
    tell(f"{red}{place}{message}{plain}")
    if with_traceback:
        traceback.print_exception(error)


def in_colour() -> bool:
    """Whether standard error is a terminal that takes control sequences, and the user does not mind."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")


@contextmanager
def waiting_shown(*, silent: bool, progress: Callable[[], str]) -> Iterator[None]:
    """Shows on a terminal for how long a statement has been running, and its `progress`; takes it away again."""
    if silent or not in_colour():
        yield
        return
    done = threading.Event()
    shown = threading.Thread(target=_tick, args=(done, progress), name="acidsql-waiting", daemon=True)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _tick(done: threading.Event, progress: Callable[[], str]) -> None:
    started = time.monotonic()
    if done.wait(_WAIT_SHOWN_AFTER):
        return
    while True:
        so_far = ", ".join(filter(None, (f"{time.monotonic() - started:.0f} s", progress())))
        sys.stderr.write(f"\r\x1b[K\x1b[2m... {so_far} (Ctrl-C cancels)\x1b[0m")
        sys.stderr.flush()
        if done.wait(1.0):
            break
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


@contextmanager
def logs_hidden() -> Iterator[None]:
    """Hides Python's logs: PySpark and py4j log what goes wrong, with its whole stack, besides raising it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def java_output(*, hidden: bool) -> Iterator[Callable[[], str]]:
    """Hides what Java writes to standard error, which it inherits as descriptor 2: its start is noisy, and in the REPL
    it would write over the prompt. Python's standard error stays what it was.

    Hides Python's logs too. Gives a function that tells what Java wrote, to explain a failed start.
    """
    if not hidden:
        yield str
        return
    sys.stderr.flush()
    kept = os.dup(2)
    with (
        logs_hidden(),
        tempfile.TemporaryFile() as log,
        open(os.dup(kept), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace") as python_only,
    ):
        os.dup2(log.fileno(), 2)
        try:
            # A caller's own stream (a test's) has nothing to do with descriptor 2.
            with redirect_stderr(python_only if _is_descriptor_2() else sys.stderr):
                yield lambda: os.pread(log.fileno(), 20_000, 0).decode(errors="replace")
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _is_descriptor_2() -> bool:
    try:
        return sys.stderr.fileno() == 2
    except OSError:  # io.UnsupportedOperation: a stream in memory
        return False
