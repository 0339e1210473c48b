"""What one statement does, noted where it happens: its phases, transaction, snapshot and files.

A statement is traced only where somebody wants to know (acidsql/statements/log.py). Elsewhere `current()` is None and a
`phase` does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from typing import Final


class Phase(Enum):
    """The parts of a statement's time, in their order."""

    PARSE = "parse"
    PLAN = "plan"
    LOCK = "lock"
    SCAN = "scan"
    """Reading the snapshot: write IDs and lists of directories; for a statement without Spark, rows too."""
    WRITE = "write"
    """Computing, staging and publishing rows."""
    COMMIT = "commit"
    UNDO = "undo"


@dataclass(slots=True)
class Trace:
    """What is known of a running statement. Times are in seconds, files are counted.

    `snapshot` has the high watermark of the write IDs of each table that was read, by qualified name, and `write_ids`
    the write ID of each table that was written.
    """

    span: Callable[[Phase], AbstractContextManager[object]] | None = None
    """Opens a span for a phase, where spans are wanted."""
    phases: dict[Phase, float] = field(default_factory=dict)
    """The time of each phase without the phases inside it."""
    txn_id: int | None = None
    snapshot: dict[str, int] = field(default_factory=dict)
    write_ids: dict[str, int] = field(default_factory=dict)
    files_read: int = 0
    files_written: int = 0
    _running: list[Phase] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def run(self, name: Phase) -> Iterator[None]:
        """Counts the time of the block to the phase, and not to the one that it is in."""
        with self.span(name) if self.span is not None else nullcontext():
            self._count()
            self._running.append(name)
            try:
                yield
            finally:
                self._count()
                self._running.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        if self._running:
            last = self._running[-1]
            self.phases[last] = self.phases.get(last, 0.0) + now - self._since
        self._since = now


_current: ContextVar[Trace | None] = ContextVar("acidsql_trace", default=None)
_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


def current() -> Trace | None:
    """The trace of the statement that this thread runs; None where it is not traced."""
    return _current.get()


def phase(name: Phase) -> AbstractContextManager[None]:
    """The block is a phase of the statement that this thread runs."""
    trace = _current.get()
    return _NOTHING if trace is None else trace.run(name)


@contextmanager
def traced(trace: Trace) -> Iterator[None]:
    """Traces what the block does. Only the outermost statement of a thread is traced."""
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)
