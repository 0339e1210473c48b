"""The content of files in HDFS."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from acidsql.storage.stores.hdfs_requests import os_errors

if TYPE_CHECKING:
    from hdfs_native import FileReader

_PAUSES: Final = (0.5, 1.0, 2.0)
"""Seconds before a file is opened again whose blocks no data node gives. Hadoop's client tries as often."""


class Content:
    """The content of the file that is at a path when this is made.

    If no data node gives a block, for example just behind a restart of the name node, it asks the name node again for
    the places of the blocks. What it cannot read raises OSError: a part behind the end, and the end of a file that lies
    in a block which its writer has not closed.
    """

    def __init__(self, path: str, opens: Callable[[], FileReader]) -> None:
        self._path, self._opens = path, opens
        self._reader = opens()
        self.size: Final = len(self._reader)

    def read(self, start: int, length: int) -> bytes:
        self.require(start, length)
        return b"".join(self._repeated(start, length, lambda at, rest: iter((self._reader.read_range(at, rest),))))

    def pieces(self, start: int, length: int) -> Iterator[bytes]:
        """The part in pieces of the packets' size. Raises OSError at once if it is not there."""
        self.require(start, length)
        return self._repeated(start, length, lambda at, rest: self._reader.read_range_stream(at, rest))

    def require(self, start: int, length: int) -> None:
        """Raises OSError if the part is not there. The library would panic, which is no Exception."""
        if length and start + length > self.size:
            reason = (
                f"of {start + length} bytes of the file, {self.size} can be read: it has become shorter, or a client"
            )
            raise OSError(errno.EIO, f"{reason} that writes to it has not closed it", self._path)

    def _repeated(self, start: int, length: int, read: Callable[[int, int], Iterator[bytes]]) -> Iterator[bytes]:
        end = start + length
        pauses = iter(_PAUSES)
        while start < end:
            try:
                with os_errors(self._path):
                    for piece in read(start, end - start):
                        start += len(piece)
                        yield piece
                if start < end:
                    raise OSError(errno.EIO, f"the file ends {end - start} bytes too early", self._path)
            except OSError:
                pause = next(pauses, None)
                if pause is None:
                    raise
                time.sleep(pause)
                self._open_again()

    def _open_again(self) -> None:
        self._reader = self._opens()
        if len(self._reader) != self.size:
            raise OSError(errno.ESTALE, "another file has taken the place of the one that is read", self._path)
