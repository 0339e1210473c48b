"""What a cell shows: rows, messages and plans, as HTML in a notebook and as text in a terminal; errors without a stack
trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from IPython.display import DisplayHandle, display

from acidsql.errors import AcidSqlError, Condition, visible
from acidsql.frontends.html_history import html_time_line
from acidsql.frontends.html_results import LONGEST_VALUE, html_lines, html_message, html_note, html_table, html_tree
from acidsql.frontends.render import Column, Format, render, render_lines, rows_in_words
from acidsql.frontends.value_text import Row

SHOWN_ROWS = 100
"""How many rows a cell without `--limit` shows."""
MOST_SHOWN_ROWS = 5000
"""How many rows a cell shows with any `--limit`: browsers are slow with larger tables."""
EMPTY = {"text/plain": "", "text/html": ""}
"""What stands in an output that has nothing to show."""


class CellResult:
    """A result that shows itself, in the place of the progress of its statement if there is one."""

    place: DisplayHandle | None
    seconds: float

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        """Called by IPython, for the value of a cell and by display()."""
        place, self.place = self.place, None
        shown = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if place is None:
            display(shown, raw=True)  # type: ignore[no-untyped-call]
        else:
            place.update(shown, raw=True)  # type: ignore[no-untyped-call]


@dataclass(slots=True, repr=False)
class Rows(CellResult):
    """The rows that a cell shows, and whether these are all. `note` is a line below them, or empty. Those of a history
    have a time line above them."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    complete: bool
    note: str = ""
    is_history: bool = False
    seconds: float = 0.0
    place: DisplayHandle | None = field(default=None, compare=False)

    @property
    def _footer(self) -> str:
        count = rows_in_words(len(self.rows))
        if self.complete:
            return f"{count} in {self.seconds:.2f} s"
        more = "" if len(self.rows) >= MOST_SHOWN_ROWS else "--limit N shows more, "
        return f"the first {count} in {self.seconds:.2f} s; {more}name << binds all"

    def __repr__(self) -> str:
        return "".join(render(Format.TABLE, self.columns, self.rows)) + f"({self._footer})\n{self.note}".rstrip()

    def _repr_html_(self) -> str:
        table = html_table(self.columns, self.rows)
        cut = f"; longer values are cut at {LONGEST_VALUE} characters" if table.has_cut else ""
        notes = map(html_note, filter(None, [self._footer + cut, self.note]))
        picture = html_time_line(self.columns, self.rows) if self.is_history else ""
        return "\n".join([*filter(None, [picture]), table.html, *notes])


@dataclass(slots=True, repr=False)
class Message(CellResult):
    """The message of a cell about a statement that returns no rows. `note` is a line below it, or empty."""

    text: str
    note: str = ""
    seconds: float = 0.0
    place: DisplayHandle | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return visible(f"{self.text} in {self.seconds:.2f} s\n{self.note}".rstrip())

    def _repr_html_(self) -> str:
        return "\n".join([html_message(self.text, self.seconds), *map(html_note, filter(None, [self.note]))])


@dataclass(slots=True, repr=False)
class Lines(CellResult):
    """A result that is one text, such as a plan, which is shown as a tree, or a CREATE TABLE statement."""

    rows: Sequence[Row]
    is_plan: bool
    seconds: float = 0.0
    place: DisplayHandle | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return "".join(render_lines(self.rows)).rstrip("\n")

    def _repr_html_(self) -> str:
        lines = repr(self).split("\n")
        return html_tree(lines) if self.is_plan else html_lines(lines)


class CellError(AcidSqlError):
    """An error of a statement in a cell: IPython shows its message and caret without a stack trace."""

    @classmethod
    def showing(cls, error: AcidSqlError) -> AcidSqlError:
        """The same error as an error of a cell."""
        return cls.of(Condition[error.condition], error.getMessageParameters(), span=error.span, hint=error.hint)

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class CellCancelled(KeyboardInterrupt):
    """The interrupt of a cell, with a message and without a stack trace. The cells that wait behind it do not run."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()
