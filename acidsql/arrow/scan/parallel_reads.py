"""Files of a scan, read by several threads of this process: most of the time is spent in pyarrow and NumPy, which let
other threads run meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from acidsql.arrow.scan.live_rows import FileReader, LiveRows, PreparedRows
from acidsql.storage.local_files import LocalFiles

_T = TypeVar("_T")
_WAITING: Final = 16
"""Threads that read files of a store: most of the time they wait for requests."""
_LEAST_AT_ONCE: Final = 64 * 1024
"""Rows that one step works on together, at least."""


def read_in_threads(prepared: PreparedRows, of_files: Callable[[Iterator[LiveRows]], _T]) -> Iterator[_T]:
    """What `of_files` makes of the rows of some files each, in the order of the files."""
    is_here = isinstance(prepared.bound.files, LocalFiles)
    with ThreadPoolExecutor(os.cpu_count() if is_here else _WAITING) as pool:
        yield from pool.map(lambda readers: of_files(_rows(readers)), in_groups(prepared.readers(), _rows_in_file))


class TooMuchMemoryError(Exception):
    """The rows take more memory than they may."""


class MemoryLimit:
    """Bytes of memory that threads may take together."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Raises TooMuchMemoryError in every thread from the one on that takes more than is left."""
        with self._lock:
            self._left -= size
            if self._left < 0:
                raise TooMuchMemoryError

    def taken(self, rows: Iterable[LiveRows], bytes_a_row: int = 0) -> list[LiveRows]:
        """The rows, for which memory is taken as they are read, and `bytes_a_row` more for each."""
        found = []
        for some in rows:
            self.take(bytes_of([some]) + bytes_a_row * some.count)
            found.append(some)
        return found


def bytes_of(rows: Iterable[LiveRows]) -> int:
    """The bytes of memory that the columns of some rows take."""
    return sum(column.get_total_buffer_size() for some in rows for column in some.columns.values())


def _rows(readers: Iterable[FileReader]) -> Iterator[LiveRows]:
    for reader in readers:
        yield from reader.rows()


def in_groups(items: Iterable[_T], rows_of: Callable[[_T], int]) -> Iterator[list[_T]]:
    """The items in lists with `_LEAST_AT_ONCE` rows or more together."""
    some: list[_T] = []
    count = 0
    for item in items:
        some.append(item)
        count += rows_of(item)
        if count >= _LEAST_AT_ONCE:
            yield some
            some, count = [], 0
    if some:
        yield some


def _rows_in_file(reader: FileReader) -> int:
    tail = reader.file.tail
    return tail.rows if tail is not None else _LEAST_AT_ONCE
