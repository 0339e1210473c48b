"""The service beside a session's statements, as long as the session has it on (hive.compactor.initiator.on)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from acidsql.compactor.compactor_settings import INITIATOR_ON
from acidsql.compactor.service import Compactor


@dataclass(slots=True)
class Background:
    """A thread that runs the service, or none."""

    compactor: Compactor
    settings: Mapping[str, str]
    _thread: threading.Thread | None = None
    _stop: threading.Event | None = None

    def adjust(self) -> None:
        """Starts or stops it, as the setting says."""
        if self.settings[INITIATOR_ON] != "true":
            self.stop()
        elif self._thread is None:
            self._stop = threading.Event()
            self._thread = threading.Thread(
                target=self.compactor.serve, args=(self._stop,), name="acidsql-compactor", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Waits for what it is at."""
        if self._thread is not None and self._stop is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
