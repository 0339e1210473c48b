"""Ends of files, and small files as a whole, that are kept for the next reader."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

_KEPT: Final = 64 * 1024 * 1024
"""Bytes that are kept."""


@dataclass(slots=True)
class KeptEnds:
    """The last bytes of files, or whole small files, by path and entity tag: the last _KEPT bytes that were read."""

    _known: OrderedDict[tuple[str, str], tuple[int, bytes]] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, path: str, tag: str, start: int, content: bytes) -> None:
        if not tag:  # a later file of this path could not be told from this one
            return
        with self._lock:
            old = self._known.pop((path, tag), None)
            self._size += len(content) - (0 if old is None else len(old[1]))
            self._known[path, tag] = start, content
            while self._size > _KEPT:
                _, (_, dropped) = self._known.popitem(last=False)
                self._size -= len(dropped)

    def of(self, path: str, tag: str) -> tuple[int, bytes] | None:
        with self._lock:
            return self._known.get((path, tag))
