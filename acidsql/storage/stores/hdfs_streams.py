"""Streams to the content of files in HDFS."""

from __future__ import annotations

import errno
import io
from typing import TYPE_CHECKING, Any

from acidsql.storage.stores.hdfs_requests import os_errors

if TYPE_CHECKING:
    from hdfs_native import FileReader


def read_range(reader: FileReader, path: str, start: int, length: int) -> bytes:
    """`length` bytes of a file from the offset `start`. Raises OSError if the file ends before, or if its end lies in a
    block that its writer has not closed: the library cannot read such a block."""
    if not length:
        return b""
    require_range(reader, path, start, length)
    with os_errors(path):
        return reader.read_range(start, length)


def require_range(reader: FileReader, path: str, start: int, length: int) -> None:
    """Raises OSError if the library cannot read so much of a file. It would panic, which is no Exception."""
    size = len(reader)
    if start + length > size:
        reason = f"of {start + length} bytes of the file, {size} can be read: it has become shorter, or a client"
        raise OSError(errno.EIO, f"{reason} that writes to it has not closed it", path)


class HdfsStream(io.RawIOBase):
    """Random access to a file, which is the one that was at the path when the stream was opened. Threads may share it
    no more than another stream: it has one position."""

    def __init__(self, reader: FileReader, path: str) -> None:
        super().__init__()
        self._reader, self._path = reader, path
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._reader)}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), len(self._reader) - self._at))
        buffer[:count] = read_range(self._reader, self._path, self._at, count)
        self._at += count
        return count
