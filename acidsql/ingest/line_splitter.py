"""The whole lines of a text that arrives in pieces, with their places in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from acidsql.errors import AcidSqlError, Condition

LONGEST_LINE: Final = 64 << 20
"""Bytes. A file without line feeds must not fill the memory."""
_SHOWN: Final = 200
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines without their line feeds. `ends` are the places, in bytes, behind each line and its line feed. `first` is
    the number of the first line, from 1."""

    texts: Sequence[str]
    ends: Sequence[int]
    first: int


class LineSplitter:
    """Splits a text into lines. `source` names it in errors. `offset` and `line` tell how much of it came before, and
    `in_line` that this ended without a line feed."""

    def __init__(self, source: str, offset: int = 0, line: int = 0, *, in_line: bool = False) -> None:
        self.source = source
        self._in_line = in_line
        self._offset = offset
        self._line = line
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> Lines:
        """The lines that are whole with these bytes. The beginning of a line waits for its end.

        Raises INVALID_LINE for bytes that are not UTF-8, and LIMIT_EXCEEDED for a line that is too long.
        """
        if self._in_line and data:
            self._end_line(data)
        head, feed, rest = data.rpartition(b"\n")
        whole = b"".join((*self._pieces, head, feed)) if feed else b""
        self._pieces = [rest] if feed else [*self._pieces, rest]
        self._length = len(rest) + (0 if feed else self._length)
        if self._length > LONGEST_LINE:
            what = f"Line {self._line + whole.count(10) + 1} of {self.source}"
            raise AcidSqlError(Condition.LIMIT_EXCEEDED, what=what, value=f"{self._length} bytes", limit=LONGEST_LINE)
        return self._lines(whole)

    def _end_line(self, data: bytes) -> None:
        """Checks that the last line, which was taken for whole, has only got its line feed."""
        if data[:1] not in (b"\n", b"\r"):
            reason = "more of the line was written after the line was read as the last one"
            raise AcidSqlError(Condition.INVALID_LINE, line=self._line, source=self.source, reason=reason)
        self._in_line = False
        self._line -= 1

    def finish(self) -> Lines:
        """The last line of a text that does not end with a line feed, or nothing."""
        last = b"".join(self._pieces)
        self._pieces, self._length = [], 0
        return self._lines(last)

    def _lines(self, whole: bytes) -> Lines:
        if not whole:
            return Lines((), (), self._line + 1)
        try:
            text = whole.decode()
        except UnicodeDecodeError as error:
            raise self._not_utf8(whole, error.start) from None
        texts = text.split("\n")
        lengths = [len(line) + 1 for line in (texts if text.isascii() else whole.split(b"\n"))]
        if whole.endswith(b"\n"):
            texts.pop()
            lengths.pop()
        else:
            lengths[-1] -= 1
        ends = list(accumulate(lengths, initial=self._offset))[1:]
        if not self._offset:
            texts[0] = texts[0].removeprefix(_BYTE_ORDER_MARK)
        lines = Lines(texts, ends, self._line + 1)
        self._offset, self._line = ends[-1], self._line + len(texts)
        return lines

    def _not_utf8(self, whole: bytes, place: int) -> AcidSqlError:
        line = self._line + whole.count(b"\n", 0, place) + 1
        reason = f"the byte 0x{whole[place]:02x} at byte {self._offset + place} of the text is not UTF-8"
        return AcidSqlError(Condition.INVALID_LINE, line=line, source=self.source, reason=reason)


def invalid_line(line: int, source: str, reason: str, text: str) -> AcidSqlError:
    """The error for a line that holds no record of the table."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return AcidSqlError(Condition.INVALID_LINE, line=line, source=source, reason=f"{reason}: {shown}")
