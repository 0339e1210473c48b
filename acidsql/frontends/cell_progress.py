"""The progress of a statement in a notebook: its time and its tasks, in an output that its result replaces."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Final

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import DisplayHandle

from acidsql.errors import visible
from acidsql.frontends.cell_results import EMPTY
from acidsql.frontends.html_results import html_progress
from acidsql.frontends.terminal import waiting_shown
from acidsql.session import Session

_SHOWN_AFTER: Final = 0.5
_SHOWN_EVERY: Final = 0.5
"""Seconds until the progress is shown, and between two of its texts."""


@dataclass(slots=True)
class Progress:
    """The output of a statement that runs. `place` is None as long as nothing was shown."""

    session: Session
    place: DisplayHandle | None = None
    seconds: float = 0.0
    _started: float = field(default_factory=time.monotonic)
    _done: threading.Event = field(default_factory=threading.Event)

    def text(self) -> str:
        """`12 s, 40 of 200 tasks`"""
        return ", ".join(filter(None, (f"{time.monotonic() - self._started:.0f} s", self.session.progress())))

    def show_until_done(self) -> None:
        """Runs on a thread of its own."""
        wait = _SHOWN_AFTER
        while not self._done.wait(wait):
            wait = _SHOWN_EVERY
            text = f"Running for {self.text()} ..."
            shown = {"text/plain": visible(text), "text/html": html_progress(text, *self.session.running_tasks())}
            if self.place is None:
                self.place = DisplayHandle()  # type: ignore[no-untyped-call]
                self.place.display(shown, raw=True)  # type: ignore[no-untyped-call]
            else:
                self.place.update(shown, raw=True)  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Takes the time; the thread shows nothing more."""
        self.seconds = time.monotonic() - self._started
        self._done.set()


@contextmanager
def progress_shown(session: Session, shell: InteractiveShell) -> Iterator[Progress]:
    """Shows for how long a statement of the session has been running, and its tasks, until the end of the block.

    In a notebook the output stays, empty, for the result. In a terminal a line on standard error disappears.
    """
    shown = Progress(session)
    if getattr(shell, "kernel", None) is None:
        with waiting_shown(silent=False, progress=session.progress, lock_wait=session.lock_wait):
            try:
                yield shown
            finally:
                shown.end()
        return
    # The context tells ipykernel to which cell the output belongs.
    showing = threading.Thread(
        target=copy_context().run, args=(shown.show_until_done,), name="acidsql-progress", daemon=True
    )
    showing.start()
    try:
        yield shown
    finally:
        shown.end()
        showing.join()
        if shown.place is not None:
            shown.place.update(EMPTY, raw=True)  # type: ignore[no-untyped-call]
