"""Whether the service works, for whoever watches it: systemd, Kubernetes, a load balancer."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

_PATIENCE: Final = 60.0
"""Seconds for which the steps of the service may fail, one after the other, before it counts as failing: a metastore
that is started again is no reason to start the service again."""


class Status(Enum):
    """What the service does."""

    STARTING = "starting"
    OK = "ok"
    DRAINING = "draining"
    FAILING = "failing"


@dataclass(slots=True)
class Health:
    """What the threads of the service have noted: each step that ended well or failed. Any thread may call it."""

    threads: list[threading.Thread] = field(default_factory=list)
    """The workers; one that has ended before the service is drained is a failure."""
    _draining: bool = False
    _failing_since: float | None = None
    _last_error: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, threads: list[threading.Thread]) -> None:
        """The service runs with these workers."""
        with self._lock:
            self.threads, self._draining, self._failing_since = threads, False, None

    def drain(self) -> None:
        """The service takes no more work."""
        self._draining = True

    def succeeded(self) -> None:
        """A step ended well: the metastore answers."""
        with self._lock:
            self._failing_since = None

    def failed(self, error: BaseException) -> None:
        """A step failed."""
        with self._lock:
            self._last_error = getattr(error, "condition", type(error).__name__)
            if self._failing_since is None:
                self._failing_since = time.monotonic()

    def status(self) -> tuple[Status, str]:
        """The status, and the reason where it is FAILING. The reason names a condition and quotes no message."""
        with self._lock:
            if not self.threads:
                return Status.STARTING, ""
            if self._draining:
                return Status.DRAINING, ""
            ended = [thread.name for thread in self.threads if not thread.is_alive()]
            if ended:
                return Status.FAILING, f"{', '.join(ended)} has ended"
            since = self._failing_since
            if since is not None and (seconds := time.monotonic() - since) > _PATIENCE:
                return (
                    Status.FAILING,
                    f"all steps have failed for {seconds:.0f} s, the last with {self._last_error}",
                )
            return Status.OK, ""
