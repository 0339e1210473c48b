"""The ends of ORC files, read once: files of an ACID table never change."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from acidsql.spark.copies import Copies
from acidsql.spark.delete_cache import DeleteCache
from acidsql.spark.files import FileSystem, SizedFile
from acidsql.spark.orc import TAIL_GUESS, Tail, read_tail

_THREADS: Final = 16
_KEPT: Final = 20_000


def read_file_tail(files: FileSystem, path: str, size: int) -> Tail:
    """The tail of one file. Raises MALFORMED_LAYOUT where it is no ORC file."""
    tail = read_tail(path, size, files.read_end(path, size, TAIL_GUESS))
    if isinstance(tail, int):
        tail = read_tail(path, size, files.read_end(path, size, tail))
    assert isinstance(tail, Tail)
    return tail


@dataclass(slots=True)
class TailCache:
    """Tails by file, and copies of the files that Spark cannot read. Thread-safe as far as dict operations are."""

    copies: Copies = field(default_factory=Copies)
    deletes: DeleteCache = field(default_factory=DeleteCache)
    _tails: dict[SizedFile, Tail] = field(default_factory=dict)

    def tails(self, files: FileSystem, wanted: Sequence[SizedFile]) -> list[Tail]:
        """The tails of the files, in their order; those not known yet are read in parallel."""
        missing = [f for f in wanted if f not in self._tails]
        if len(self._tails) + len(missing) > _KEPT:
            self._tails.clear()
            missing = list(wanted)
        if missing:
            with ThreadPoolExecutor(min(_THREADS, len(missing))) as pool:
                found = pool.map(lambda f: read_file_tail(files, f.path, f.size), missing)
                self._tails.update(zip(missing, found, strict=True))
        return [self._tails[f] for f in wanted]
