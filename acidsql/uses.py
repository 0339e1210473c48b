"""The threads that run statements in a session. Closing the session waits for them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from acidsql.errors import AcidSqlError, Condition

_AGAIN_SECONDS: Final = 0.1


class Uses:
    """Counts the running statements of a session by thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._running: dict[int, int] = {}
        self._closed = False

    @property
    def is_of_this_process(self) -> bool:
        """False in a forked process. It shares the parent's connections to the JVM and the metastore, and must not
        use them."""
        return os.getpid() == self._process

    @property
    def is_closed(self) -> bool:
        """Whether new statements are refused."""
        return self._closed

    @contextmanager
    def use(self) -> Iterator[None]:
        """Counts a statement as running during the block. Raises SESSION_CLOSED."""
        if not self.is_of_this_process:
            reason = f"process {self._process} opened it, and this one was forked"
            hint = "Open a session in a process of its own, which multiprocessing's method `spawn` starts."
            raise AcidSqlError(Condition.SESSION_CLOSED, hint=hint, reason=reason)
        me = threading.get_ident()
        with self._changed:
            if self._closed:
                raise AcidSqlError(Condition.SESSION_CLOSED, reason="it was closed")
            self._running[me] = self._running.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._running[me] -= 1
                if not self._running[me]:
                    del self._running[me]
                self._changed.notify_all()

    def end(self, cancel: Callable[[], None]) -> None:
        """Refuses new statements, and calls `cancel` until no other thread runs one."""
        with self._changed:
            self._closed = True
            while self._running.keys() - {threading.get_ident()}:
                cancel()
                self._changed.wait(_AGAIN_SECONDS)
