"""Standard error: messages, errors in colour, the time of a running statement, and the output of Java."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acidsql.errors import AcidSqlError, visible

if TYPE_CHECKING:  # rich takes a tenth of a second to import
    from rich.text import Text

_WAIT_SHOWN_AFTER = 0.5
"""Seconds until a terminal shows that a statement is running."""


def tell_interrupted(word: str, interrupt: KeyboardInterrupt) -> None:
    """Prints `word` and the notes of the interrupt, which tell of a statement that had already finished."""
    tell(". ".join((word, *getattr(interrupt, "__notes__", ()))))


def tell(message: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(visible(message, tabs=True) + "\n")
    sys.stderr.flush()


def tell_part(text: str) -> None:
    """Writes a text to standard error that does not end a line."""
    sys.stderr.write(visible(text, tabs=True))
    sys.stderr.flush()


def replace_line(text: str) -> None:
    """Replaces the line of the cursor on standard error, which is a terminal."""
    sys.stderr.write("\r\x1b[K" + visible(text, tabs=True))
    sys.stderr.flush()


def write_out(text: str) -> None:
    """Writes to standard output. On a terminal, control characters are visible; a program gets the text as it is."""
    sys.stdout.write(visible(text, tabs=True) if sys.stdout.isatty() else text)


def report(error: Exception, *, place: str = "", with_traceback: bool = False) -> None:
    """Prints an error to standard error: `place`, the message and the caret block, in red on a terminal."""
    message = (
        error.text(_screen_width())
        if isinstance(error, AcidSqlError)
        else f"[{type(error).__name__}] {str(error).strip()}"
    )
    place, message = visible(place), message if isinstance(error, AcidSqlError) else visible(message)
    if shows_control_sequences():
        sys.stderr.write("\x1b[31m" + visible(f"{place}{message}", tabs=True) + "\x1b[0m\n")
    else:
        tell(f"{place}{message}")
    if with_traceback:
        tell_part("".join(traceback.format_exception(error)))


def _screen_width() -> int | None:
    """The width of the terminal that standard error is, else None."""
    return shutil.get_terminal_size().columns if sys.stderr.isatty() else None


def shows_control_sequences() -> bool:
    """Whether standard error is a terminal that understands control sequences, and the user has not set $NO_COLOR."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The line that stands on the terminal while a statement runs: rich renders it again a few times a second."""

    progress: Callable[[], str]
    started: float

    def __rich__(self) -> Text:
        from rich.text import Text

        elapsed = f"{time.monotonic() - self.started:.0f} s"
        so_far = ", ".join(filter(None, (elapsed, self.progress())))
        return Text(visible(f"... {so_far} (Ctrl-C cancels)"), style="dim")


@contextmanager
def waiting_shown(*, silent: bool, progress: Callable[[], str], lock_wait: Callable[[], str]) -> Iterator[None]:
    """Shows on a terminal how long a statement has been running, and its `progress`. The line disappears at the end.

    Elsewhere, as in the log of a job, a line tells each lock for which the statement waits.
    """
    if silent:
        yield
        return
    done = threading.Event()
    if shows_control_sequences():
        show: tuple[Callable[..., None], object] = (_show_until, _Waiting(progress, time.monotonic()))
    else:
        show = (_tell_locks_until, lock_wait)
    shown = threading.Thread(target=show[0], args=(done, show[1]), name="acidsql-waiting", daemon=True)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _show_until(done: threading.Event, waiting: _Waiting) -> None:
    if done.wait(_WAIT_SHOWN_AFTER):
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stderr)
    # Rows go to standard output as they are: rich must not replace the streams.
    with Live(
        waiting,
        console=console,
        refresh_per_second=2,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        done.wait()


def _tell_locks_until(done: threading.Event, lock_wait: Callable[[], str]) -> None:
    told = ""
    while not done.wait(_WAIT_SHOWN_AFTER):
        text = lock_wait()
        if text and text != told:
            tell(f"The statement {text}.")
            told = text


@contextmanager
def logs_hidden() -> Iterator[None]:
    """Hides Python's logs and warnings. PySpark and py4j log each error with its stack trace besides raising it, and
    warn of versions of pandas that they do not fully support."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def java_output(*, hidden: bool) -> Iterator[Callable[[], str]]:
    """Hides Java's output to standard error, which it inherits as descriptor 2: the start of Java is noisy, and in the
    REPL its output would overwrite the prompt. Python's own standard error does not change.

    Hides Python's logs too. Yields a function that returns the hidden output, which explains a failed start.
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
            # A caller's own stream, such as a test's, does not write to descriptor 2.
            with redirect_stderr(python_only if descriptor_of_stderr() == 2 else sys.stderr):
                yield lambda: os.pread(log.fileno(), 20_000, 0).decode(errors="replace")
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def descriptor_of_stderr() -> int | None:
    """The descriptor of standard error, for a program that is started; None if the stream is in memory."""
    try:
        return sys.stderr.fileno()
    except OSError:  # io.UnsupportedOperation
        return None
