"""A cache of the footers of ORC and Parquet files, by path, size, time and identity: each file is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar

from acidsql.errors import AcidSqlError
from acidsql.storage.file_identity import same_file
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.local_files import LocalFiles
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
        return _known(self._tails, wanted, lambda f: _read(files, f, lambda: read_file_tail(files, f.path, f.size)))

    def read_ahead(self, files: FileSystem, wanted: Sequence[SizedFile]) -> None:
        """Reads the tails of files that will be asked for, unless they are more than the cache holds. `tails` raises
        the errors."""
        if len(wanted) <= _KEPT:
            with suppress(AcidSqlError, *FILE_ERRORS):
                self.tails(files, wanted)

    def times(self, files: FileSystem, wanted: Sequence[SizedFile]) -> list[WrittenTimes]:
        """The zone and the calendar of the times in Parquet files."""
        return _known(self._times, wanted, lambda f: _read(files, f, lambda: written_times(files, f)))


def _read(files: FileSystem, file: SizedFile, read: Callable[[], _T]) -> _T:
    """What a footer tells. A footer is read right after the listing, with the locks of the statement, so a file system
    that takes a request for it is asked for the identity of the file only if the footer cannot be read."""
    with same_file(files, file, AcidSqlError, *FILE_ERRORS, only_errors=not isinstance(files, LocalFiles)):
        return read()


def _known(known: dict[SizedFile, _T], wanted: Sequence[SizedFile], read: Callable[[SizedFile], _T]) -> list[_T]:
    missing = [f for f in wanted if f not in known]
    if len(known) + len(missing) > _KEPT:
        known.clear()
        missing = list(wanted)
    if missing:
        with ThreadPoolExecutor(min(_THREADS, len(missing))) as pool:
            known.update(zip(missing, pool.map(read, missing), strict=True))
    return [known[f] for f in wanted]
