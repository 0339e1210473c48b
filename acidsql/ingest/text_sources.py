"""How far texts were read, and the open files and pipes from which they are read on.

A place in a text is kept with a check of the bytes before it. So a text is never read on from a place that belongs to
another text.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, Protocol, TypeAlias

from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.file_identity import file_identity
from acidsql.ingest.line_splitter import LineSplitter
from acidsql.ingest.record_text import RecordFormat, TextReader, TextRecords

BLOCK: Final = 256 << 10
"""Bytes that are read at once."""
CHECKED: Final = 1024
"""Bytes before a place that its check covers."""
INPUT: Final = "standard input"
_WAIT: Final = 0.2
"""Seconds that a read of standard input waits for bytes."""

NewFormat: TypeAlias = Callable[[bytes, str], RecordFormat]
"""Makes a format for a text: from the beginning of the text where it is read on from its middle, and from its name."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: `bytes` and `line` count what is before it. `check` is a hash of the last bytes before it, and
    `inode` tells which file it was, as file_identity.py writes it."""

    bytes: int = 0
    line: int = 0
    check: str = ""
    inode: str = ""

    @property
    def json(self) -> dict[str, int | str]:
        """The place as JSON can hold it."""
        named: dict[str, int | str] = {"bytes": self.bytes, "line": self.line, "check": self.check}
        return named | ({"inode": self.inode} if self.inode else {})

    @classmethod
    def of_json(cls, value: Mapping[str, object]) -> Place:
        """The place that `json` gave. Raises KeyError, TypeError and ValueError for others."""
        count, line = (int(str(value[name])) for name in ("bytes", "line"))
        return cls(count, line, str(value["check"]), str(value.get("inode", "")))


@dataclass(frozen=True, slots=True)
class Part:
    """Records that a source gave. `source` is its name in messages, and `place_of` tells the place behind records."""

    text: TextRecords
    source: str
    place_of: Callable[[TextRecords], Place]


class Source(Protocol):
    """A source of records."""

    @property
    def key(self) -> str:
        """The source's name in the offset."""
        ...

    @property
    def place(self) -> Place:
        """The place that it is read from."""
        ...

    def poll(self) -> Sequence[Part] | None:
        """The records that have come, which may be none; None at the end of the source.

        Raises INVALID_LINE, LIMIT_EXCEEDED, INVALID_SOURCE and CANNOT_START.
        """
        ...

    def close(self) -> None:
        """Closes the source."""
        ...


def check_of(data: bytes) -> str:
    """The check of a place behind these bytes."""
    return blake2b(data[-CHECKED:], digest_size=8).hexdigest()


# ------------------------------------------------------------------------------------------------ files


class OpenFile:
    """A file that is read from a place on."""

    def __init__(self, path: str, place: Place, new_format: NewFormat) -> None:
        """Raises CANNOT_START where the file cannot be read."""
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            status = os.fstat(self._descriptor)
            self.inode = file_identity(self._descriptor)
        except OSError as error:
            raise AcidSqlError(Condition.CANNOT_START, message=f"Cannot read {path}: {error.strerror}") from None
        if not stat.S_ISREG(status.st_mode):
            os.close(self._descriptor)
            hint = "Lines of a pipe or a device come from standard input." if not stat.S_ISDIR(status.st_mode) else ""
            raise AcidSqlError(Condition.CANNOT_START, message=f"{path} is not a regular file", hint=hint)
        self.path = path
        self.place = replace(place, inode=self.inode)
        self._read = place.bytes
        self._new_format = new_format
        self._reader: TextReader | None = None
        # A place is noted by bytes that were read: the file may be cut meanwhile.
        self._recent = _RecentBytes(place.bytes, self._before(place.bytes))

    def next_part(self) -> Part | None:
        """The records of the next block; None at the end, which may be for now."""
        self._recent.forget()
        while data := os.pread(self._descriptor, BLOCK, self._read):
            self._read += len(data)
            self._recent.add(data)
            if found := self._text().feed(data):
                return self._part(found)
        return None

    def last_part(self) -> Part | None:
        """The record of a last line without a line feed."""
        found = self._text().finish()
        return None if found is None else self._part(found)

    @property
    def has_shrunk(self) -> bool:
        """Whether the file is shorter than what was read of it."""
        return os.fstat(self._descriptor).st_size < self._read

    def is_still(self, place: Place) -> bool:
        """Whether the bytes before a place are those that were there when it was noted."""
        before = self._before(place.bytes)
        return len(before) == min(CHECKED, place.bytes) and (not place.bytes or check_of(before) == place.check)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)

    def _text(self) -> TextReader:
        if self._reader is None:
            start = self.place.bytes
            head = os.pread(self._descriptor, BLOCK, 0) if start else b""
            in_line = bool(start) and self._recent.before(start)[-1:] != b"\n"
            splitter = LineSplitter(self.path, start, self.place.line, in_line=in_line)
            self._reader = TextReader(splitter, self._new_format(head, self.path))
        return self._reader

    def _part(self, text: TextRecords) -> Part:
        return Part(text, self.path, self._place_of)

    def _place_of(self, text: TextRecords) -> Place:
        self._recent.done = text.offset
        return Place(text.offset, text.line, check_of(self._recent.before(text.offset)), self.inode)

    def _before(self, offset: int) -> bytes:
        start = max(0, offset - CHECKED)
        return os.pread(self._descriptor, offset - start, start)


class _RecentBytes:
    """The bytes that the checks of places may cover still. All before `done` is covered already."""

    def __init__(self, end: int, data: bytes) -> None:
        self.done = end
        self._start = end - len(data)
        self._data = bytearray(data)

    def add(self, data: bytes) -> None:
        self._data += data

    def forget(self) -> None:
        """Forgets what no check will cover any more."""
        start = max(self._start, self.done - CHECKED)
        del self._data[: start - self._start]
        self._start = start

    def before(self, offset: int) -> bytes:
        """The last bytes before a place that is not before `done`."""
        end = offset - self._start
        return bytes(self._data[max(0, end - CHECKED) : end])


# ------------------------------------------------------------------------------------------------ standard input


class InputSource:
    """Standard input. With a place, what came before it is passed over: the text is sent again from its beginning."""

    key = INPUT

    def __init__(self, descriptor: int, place: Place, new_format: NewFormat) -> None:
        self.place = place
        self._descriptor = descriptor
        self._skipped = place
        self._left = place.bytes
        self._new_format = new_format
        self._head = b""
        self._recent = b""
        self._received = 0
        self._done = 0
        self._reader: TextReader | None = None
        self._is_done = False

    def poll(self) -> Sequence[Part] | None:
        """As Source says."""
        if self._is_done:
            return None
        ready, _, _ = select.select([self._descriptor], [], [], _WAIT)
        if not ready:
            return []
        data = os.read(self._descriptor, BLOCK)
        if not data:
            return self._end()
        self._forget()
        self._recent += data
        self._received += len(data)
        data = self._after_skipped(data)
        found = self._text().feed(data) if data else None
        return [] if found is None else [self._part(found)]

    def close(self) -> None:
        """As Source says. Standard input is the process's."""

    def _end(self) -> Sequence[Part]:
        self._is_done = True
        if self._left:
            reason = (
                f"it ended after {self._skipped.bytes - self._left} bytes, and {self._skipped.bytes} were read before"
            )
            raise _another_input(reason)
        found = self._text().finish()
        return [] if found is None else [self._part(found)]

    def _after_skipped(self, data: bytes) -> bytes:
        """What is to be read of the data."""
        if not self._left:
            return data
        self._head += data[: max(0, BLOCK - len(self._head))]
        passed = min(self._left, len(data))
        self._left -= passed
        if not self._left and check_of(self._before(self._skipped.bytes)) != self._skipped.check:
            raise _another_input(f"its first {self._skipped.bytes} bytes are not those that were read before")
        return data[passed:]

    def _forget(self) -> None:
        """Forgets what no check will cover any more."""
        done = self._received if self._left else self._done
        self._recent = self._recent[max(0, len(self._recent) - (self._received - done) - CHECKED) :]

    def _before(self, offset: int) -> bytes:
        """The last bytes before a place that is behind those that are done."""
        end = len(self._recent) - (self._received - offset)
        return self._recent[max(0, end - CHECKED) : end]

    def _part(self, text: TextRecords) -> Part:
        self._done = text.offset
        return Part(text, INPUT, self._place_of)

    def _place_of(self, text: TextRecords) -> Place:
        return Place(text.offset, text.line, check_of(self._before(text.offset)))

    def _text(self) -> TextReader:
        if self._reader is None:
            start = self._skipped.bytes
            in_line = bool(start) and self._before(start)[-1:] != b"\n"
            splitter = LineSplitter(INPUT, start, self._skipped.line, in_line=in_line)
            self._reader = TextReader(splitter, self._new_format(self._head, INPUT))
        return self._reader


def _another_input(reason: str) -> AcidSqlError:
    hint = "Send the same text again from its beginning, or say --no-skip where only new lines come."
    return AcidSqlError(Condition.INVALID_SOURCE, source="Standard input", reason=reason, hint=hint)
