"""A cache of the footers of ORC and Parquet files. Files of an ACID table never change, so each is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.orc.copies import Copies, ReadableFiles
from acidsql.storage.orc.tail import Tail, read_whole_tail
from acidsql.storage.parquet_footer import WrittenTimes, written_times

_THREADS: Final = 16
_KEPT: Final = 20_000
_T = TypeVar("_T")


def read_file_tail(files: FileSystem, path: str, size: int) -> Tail:
    """The tail of one file. Raises MALFORMED_LAYOUT if it is not an ORC file."""
    return read_whole_tail(path, size, lambda count: files.read_end(path, size, count))


@dataclass(slots=True)
class FooterCache:
    """Tails by file, and a statement's lease for copies of files that Spark cannot read. It is as thread-safe as the
    operations of a dict."""

    copies: ReadableFiles = field(default_factory=lambda: Copies().lease())
    _tails: dict[SizedFile, Tail] = field(default_factory=dict)
    _times: dict[SizedFile, WrittenTimes] = field(default_factory=dict)

    def tails(self, files: FileSystem, wanted: Sequence[SizedFile]) -> list[Tail]:
        """The tails of the files, in their order. Unknown ones are read in parallel."""
        return _known(self._tails, wanted, lambda f: read_file_tail(files, f.path, f.size))

    def times(self, files: FileSystem, wanted: Sequence[SizedFile]) -> list[WrittenTimes]:
        """The zone and the calendar of the times in Parquet files."""
        return _known(self._times, wanted, lambda f: written_times(files, f))


def _known(known: dict[SizedFile, _T], wanted: Sequence[SizedFile], read: Callable[[SizedFile], _T]) -> list[_T]:
    missing = [f for f in wanted if f not in known]
    if len(known) + len(missing) > _KEPT:
        known.clear()
        missing = list(wanted)
    if missing:
        with ThreadPoolExecutor(min(_THREADS, len(missing))) as pool:
            known.update(zip(missing, pool.map(read, missing), strict=True))
    return [known[f] for f in wanted]
