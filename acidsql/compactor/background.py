"""Runs the compaction service beside a session's statements while hive.compactor.initiator.on is true."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from acidsql.compactor.compactor_settings import INITIATOR_ON
from acidsql.compactor.service import Compactor


@dataclass(slots=True)
class Background:
    """The thread of the service, if it runs."""

    compactor: Compactor
    settings: Mapping[str, str]
    _thread: threading.Thread | None = None
    _stop: threading.Event | None = None

    def adjust(self) -> None:
        """Starts or stops the thread, by the setting."""
        if self.settings[INITIATOR_ON] != "true":
            self.stop()
        elif self._thread is None:
            self._stop = threading.Event()
            self._thread = threading.Thread(
                target=self.compactor.serve, args=(self._stop,), name="acidsql-compactor", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stops the thread after the compaction that it is working on."""
        if self._thread is not None and self._stop is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
