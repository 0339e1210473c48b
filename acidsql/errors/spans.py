"""Places in the texts of statements, and the carets under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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

    def caret_block(self) -> str:
        """The line of the place with carets under it. A long line is cut around the place.

        >>> print(Span("SELECT idd FROM t", 7, 10).caret_block())
        1 | SELECT idd FROM t
          |        ^^^
        """
        begin = self.source.rfind("\n", 0, self.start) + 1
        stop = self.source.find("\n", self.start)
        stop = len(self.source) if stop < 0 else stop
        left = max(begin, self.start - _BEFORE) if stop - begin > _LONGEST_LINE else begin
        right = min(stop, left + _LONGEST_LINE)
        shown = self.source[left:right]
        width = max(1, min(self.end, right) - self.start)
        number, more = str(self.line), "..." if left > begin else ""
        # The caret line keeps tabs, so that both lines are aligned.
        indent = " " * len(more) + "".join("\t" if c == "\t" else " " for c in shown[: self.start - left])
        plain = "".join("\ufffd" if c != "\t" and HIDDEN.match(c) else c for c in shown)
        tail = "..." if right < stop else ""
        return f"{number} | {more}{plain}{tail}\n{' ' * len(number)} | {indent}{'^' * width}"


_LONGEST_LINE: Final = 400
"""How many characters of a line a caret block shows."""
_BEFORE: Final = 150
"""How many of them precede the place in a longer line."""
