"""A file that is read in ranges, each with a request of its own: random access with as few requests as possible.

    file = RangeFile(size, read_ranges)
    file.use(file.load([(0, 4_000_000), (9_000_000, 9_100_000)]))     # at once, in parallel
    file.seek(9_000_100); file.read(50)                               # of what was loaded: no request

What was not loaded is read when it is asked for, with some bytes behind it, which stay until the next such read.
"""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

Range: TypeAlias = "tuple[int, int]"
"""The offset of the first byte, and the one behind the last byte."""
Block: TypeAlias = "tuple[int, bytes]"
"""The offset of some bytes, and these."""
_GAP: Final = 256 * 1024
"""Bytes between two ranges that take less time than a second request."""
_PIECE: Final = 8 * 1024 * 1024
"""Bytes that one request reads. Several of them at once take less time than a larger one."""
_AHEAD: Final = 1024 * 1024
"""Bytes that a read which was not foreseen gets."""


def joined(ranges: Iterable[Range], gap: int = _GAP) -> Iterator[Range]:
    """The ranges in ascending order, those with at most `gap` bytes between them as one."""
    last: Range | None = None
    for start, end in sorted(ranges):
        if last is not None and start <= last[1] + gap:
            last = last[0], max(last[1], end)
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last


def pieces_of(ranges: Iterable[Range], most: int = _PIECE) -> Iterator[Range]:
    """The ranges in pieces of at most `most` bytes, those of one range of about the same length."""
    for start, end in ranges:
        count = max(1, -(-(end - start) // most))
        for number in range(count):
            yield start + (end - start) * number // count, start + (end - start) * (number + 1) // count


class RangeFile(io.RawIOBase):
    """A file of `size` bytes. `read_ranges` reads several ranges at once, and gives the bytes of each."""

    def __init__(
        self,
        size: int,
        read_ranges: Callable[[Sequence[Range]], Sequence[bytes]],
        known: Sequence[Block] = (),
    ) -> None:
        """`known` are bytes of the file, with their offsets, that are kept."""
        self._size = size
        self._read_ranges = read_ranges
        self._kept = sorted(known, key=lambda block: block[0])
        self._loaded: list[Block] = []
        self._unforeseen: list[Block] = []
        self._at = 0

    def load(self, ranges: Iterable[Range]) -> list[Block]:
        """Reads ranges at once, and gives blocks that have them, by their offsets. Any thread may call this."""
        found, missing = [], []
        for start, end in ranges:
            known = _found(self._kept, start, end)
            if known is None and start < end:
                missing.append((start, end))
            elif known:
                found.append((start, known))
        return sorted([*found, *self._read(pieces_of(joined(missing)))], key=lambda block: block[0])

    def use(self, blocks: Sequence[Block]) -> None:
        """Takes blocks of `load` in the place of those before."""
        self._loaded = list(blocks)

    def _read(self, ranges: Iterable[Range]) -> list[Block]:
        wanted = list(ranges)
        if not wanted:
            return []
        starts = [start for start, _ in wanted]
        return _one_block_each(list(zip(starts, self._read_ranges(wanted), strict=True)))

    def read_at(self, start: int, end: int) -> bytes:
        """The bytes of a range, which ends at the end of the file at the latest."""
        end = min(end, self._size)
        if start >= end:
            return b""
        for blocks in (self._kept, self._loaded, self._unforeseen):
            found = _found(blocks, start, end)
            if found is not None:
                return found
        self._unforeseen = self._read(pieces_of([(start, min(self._size, max(end, start + _AHEAD)))]))
        return self._unforeseen[0][1][: end - start]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else self._at + size
        data = self.read_at(self._at, end)
        self._at += len(data)
        return data

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _one_block_each(blocks: Sequence[Block]) -> list[Block]:
    """Blocks that follow each other as one, so that a read may begin in one and end in the next."""
    found: list[tuple[int, list[bytes], int]] = []
    for start, data in blocks:
        if found and found[-1][2] == start:
            first, parts, end = found[-1]
            found[-1] = first, [*parts, data], end + len(data)
        else:
            found.append((start, [data], start + len(data)))
    return [(start, parts[0] if len(parts) == 1 else b"".join(parts)) for start, parts, _ in found]


def _found(blocks: Sequence[Block], start: int, end: int) -> bytes | None:
    """The bytes of a range that lies in one block."""
    place = bisect_right(blocks, start, key=lambda block: block[0]) - 1
    if place < 0:
        return None
    first, data = blocks[place]
    return data[start - first : end - first] if end <= first + len(data) else None
