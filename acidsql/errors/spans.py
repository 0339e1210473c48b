"""Places in the texts of statements, and the carets under them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Final
from unicodedata import combining, east_asian_width

from acidsql.errors.visible_text import HIDDEN


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the text of a statement: the characters from `start` up to, but not including, `end` of `source`."""

    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text at this place."""
        return self.source[self.start : self.end]

    @property
    def line(self) -> int:
        """The number of the line in which the place begins, from 1."""
        return self.source.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The column at which the place begins in its line, from 1."""
        return self.start - (self.source.rfind("\n", 0, self.start) + 1) + 1

    def caret_block(self, width: int | None = None) -> str:
        """The line of the place with carets under it. A line that is longer than `width` columns, or than
        `_LONGEST_LINE` if no width is given, is cut around the place.

        >>> print(Span("SELECT idd FROM t", 7, 10).caret_block())
        1 | SELECT idd FROM t
          |        ^^^
        >>> print(Span("SELECT a, b, c, d, e, idd, f, g, h, i FROM t", 22, 25).caret_block(30))
        1 | ...c, d, e, idd, f, g, ...
          |             ^^^
        """
        begin = self.source.rfind("\n", 0, self.start) + 1
        stop = self.source.find("\n", self.start)
        stop = len(self.source) if stop < 0 else stop
        number = str(self.line)
        room = _LONGEST_LINE if width is None else max(_SHORTEST_LINE, width - len(number) - 3)
        left, right = self._shown_part(begin, stop, room)
        shown = self.source[left:right]
        if width is not None:
            shown = shown.replace("\t", " ")  # nobody knows how wide a tab is
        carets = max(1, sum(map(_columns, self.source[self.start : min(self.end, right)])))
        more, tail = _MORE if left > begin else "", _MORE if right < stop else ""
        # The caret line keeps tabs, so that both lines are aligned.
        before = shown[: self.start - left]
        indent = " " * len(more) + "".join("\t" if c == "\t" else " " * _columns(c) for c in before)
        plain = "".join("\ufffd" if c != "\t" and HIDDEN.match(c) else c for c in shown)
        return f"{number} | {more}{plain}{tail}\n{' ' * len(number)} | {indent}{'^' * carets}"

    def _shown_part(self, begin: int, stop: int, room: int) -> tuple[int, int]:
        """The part of the line from `begin` to `stop` that fits into so many columns, signs for what is left out
        included: the place stands in its middle."""
        taken = accumulate(_columns(self.source[place]) for place in range(begin, stop))
        if all(columns <= room for columns in taken):
            return begin, stop
        room -= 2 * len(_MORE)
        left = right = self.start
        used = 0
        end = min(stop, max(self.end, self.start))
        while right < end and used + _columns(self.source[right]) <= room:
            used += _columns(self.source[right])
            right += 1
        grows = True
        while grows:
            grows = False
            if left > begin and used + _columns(self.source[left - 1]) <= room:
                left, grows = left - 1, True
                used += _columns(self.source[left])
            if right < stop and used + _columns(self.source[right]) <= room:
                right, grows = right + 1, True
                used += _columns(self.source[right - 1])
        return left, right


_LONGEST_LINE: Final = 400
"""How many columns of a line a caret block shows where nobody tells the width of the screen."""
_SHORTEST_LINE: Final = 20
_MORE: Final = "..."
_WIDE: Final = ("W", "F")


def _columns(character: str) -> int:
    """The columns of a terminal that a character takes: none for an accent, two for most of East Asia's."""
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1
