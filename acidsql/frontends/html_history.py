"""DESCRIBE HISTORY as a picture for notebooks: a time line of the versions of a table, the oldest one at the left.

It is plain HTML, because a notebook that is not trusted loses SVG, and its colours can be read on white and on black.
Signs stand beside the colours, and the whole picture has a text for those who do not see it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

from acidsql.errors import visible
from acidsql.frontends.render import Column
from acidsql.frontends.value_text import Row, text

MOST_DRAWN: Final = 100
"""How many of the newest entries are drawn."""
_COUNTS: Final = (
    ("num_inserted_rows", "+", "inserted", "46, 160, 67"),
    ("num_updated_rows", "~", "updated", "56, 132, 224"),
    ("num_deleted_rows", "\N{MINUS SIGN}", "deleted", "218, 54, 51"),
)
"""The columns of counts with their signs, words and colours."""
_GRAY: Final = "128, 128, 128"
_BAR: Final = 44
"""Pixels of the highest bar."""
_BASES: Final = frozenset({"OVERWRITE", "TRUNCATE", "RESTORE", "COMPACTION MAJOR"})
"""The operations that replace the files before them."""
_COMPACTION: Final = "COMPACTION "
_FONT: Final = "font-family: var(--jp-ui-font-family, sans-serif); font-size: 11px; line-height: 1.35"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the history. `counts` has those that are known and not 0."""

    version: str
    time: str
    operation: str
    user: str
    is_readable: bool
    counts: Mapping[str, int]

    @property
    def is_compaction(self) -> bool:
        return self.operation.startswith(_COMPACTION)

    @property
    def is_base(self) -> bool:
        """Whether the write or the compaction has replaced the files before it."""
        return any(word in _BASES for word in self.operation.split(", "))

    @property
    def in_words(self) -> str:
        words = [f"{self.counts[name]:,} {word}" for name, _, word, _ in _COUNTS if name in self.counts]
        facts = [self.time, *([f"by {self.user}"] if self.user else []), *words]
        if not self.is_readable:
            facts.append("cannot be read any more")
        return f"version {self.version}: {self.operation}; {', '.join(filter(None, facts))}"


def html_time_line(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """The picture of the rows of DESCRIBE HISTORY; an empty text if there are none."""
    names = [column.name for column in columns]
    entries = [_entry(dict(zip(names, map(text, row), strict=True))) for row in rows[:MOST_DRAWN]]
    if not entries:
        return ""
    entries.reverse()
    most = max((count for entry in entries for count in entry.counts.values()), default=0)
    drawn = "".join(_column(entry, most) for entry in entries)
    label = html.escape(visible(_in_words(entries)))
    # A scrolled line begins at its end where the text runs from right to left, so that the newest version is seen.
    line = (
        f'<div style="display: flex; direction: ltr; width: max-content; min-width: 100%; padding: 4px 0">{drawn}</div>'
    )
    return (
        f'<div role="img" aria-label="{label}" style="{_FONT}; margin-bottom: 8px">'
        f'<div style="overflow-x: auto; direction: rtl; text-align: left">{line}</div>{_legend(entries)}</div>'
    )


def _entry(row: Mapping[str, str | None]) -> _Entry:
    counts = {name: int(row.get(name) or 0) for name, *_ in _COUNTS}
    return _Entry(
        row["version"] or "",
        row["timestamp"] or "",
        row["operation"] or "",
        row["user"] or "",
        row["readable"] == "true",
        {name: count for name, count in counts.items() if count},
    )


def _in_words(entries: Sequence[_Entry]) -> str:
    """What somebody is told who does not see the picture."""
    number = f"{len(entries)} writes and compactions" if len(entries) > 1 else "one write"
    return f"Time line of {number}. {'. '.join(entry.in_words for entry in entries)}."


def _column(entry: _Entry, most: int) -> str:
    title = html.escape(visible(entry.in_words))
    opacity = "" if entry.is_readable else "; opacity: 0.65"
    kind = entry.operation.removeprefix(_COMPACTION).lower()
    operation = f"{kind} compaction" if entry.is_compaction else entry.operation
    shown = html.escape(visible(operation))
    number = f"\N{LESS-THAN OR EQUAL TO} {entry.version}" if entry.is_compaction else entry.version
    name = f'<div style="font-weight: bold">{html.escape(visible(number))}</div>'
    words = f'<div style="overflow-wrap: break-word; hyphens: auto">{shown}</div>'
    when = f'<div style="opacity: {0.7 if entry.is_readable else 1}">{html.escape(visible(_short(entry.time)))}</div>'
    width = 76 if entry.is_compaction else 84
    style = f"flex: 0 0 {width}px; width: {width}px; text-align: center{opacity}"
    return f'<div title="{title}" style="{style}">{_bars(entry, most)}{_dot(entry)}{name}{words}{when}</div>'


def _bars(entry: _Entry, most: int) -> str:
    """A bar for each count with its number above it, as high as the logarithm of the number."""
    bars = []
    for name, sign, _, colour in _COUNTS:
        if name in entry.counts:
            count = entry.counts[name]
            height = 3 + round((_BAR - 3) * log1p(count) / log1p(most))
            number = f'<div style="color: rgb({colour}); font-weight: bold">{sign}{_compact(count)}</div>'
            bar = (
                f'<div style="height: {height}px; background: rgba({colour}, 0.75); border-radius: 2px 2px 0 0"></div>'
            )
            bars.append(f'<div style="min-width: 14px">{number}{bar}</div>')
    style = f"display: flex; align-items: flex-end; justify-content: center; gap: 3px; height: {_BAR + 18}px"
    return f'<div style="{style}">{"".join(bars)}</div>'


def _dot(entry: _Entry) -> str:
    """The place of an entry on the line, which is dotted where versions cannot be read."""
    line = (
        f'<div style="flex: 1; border-top: 2px {"solid" if entry.is_readable else "dotted"} rgba({_GRAY}, 0.8)"></div>'
    )
    return f'<div style="display: flex; align-items: center; height: 14px">{line}{_mark(entry)}{line}</div>'


def _mark(entry: _Entry) -> str:
    fill = "currentColor" if entry.is_readable else "transparent"
    round_ = "2px" if entry.is_base else "50%"
    size = 7 if entry.is_compaction and not entry.is_base else 10
    style = f"width: {size}px; height: {size}px; box-sizing: border-box; border: 2px solid currentColor"
    return f'<div style="{style}; border-radius: {round_}; background: {fill}"></div>'


def _legend(entries: Sequence[_Entry]) -> str:
    """What the marks mean, of those that there are."""
    signs = [
        f'<span style="color: rgb({colour}); font-weight: bold">{sign}</span> {word}'
        for name, sign, word, colour in _COUNTS
        if any(name in entry.counts for entry in entries)
    ]
    marks = [("\N{BLACK CIRCLE}", "can be read", any(e.is_readable and not e.is_base for e in entries))]
    marks += [("\N{BLACK SQUARE}", "base: replaces the files before it", any(e.is_base for e in entries))]
    marks += [("\N{WHITE CIRCLE}", "cannot be read any more", any(not e.is_readable for e in entries))]
    told = [*signs, *(f"{mark} {word}" for mark, word, is_there in marks if is_there)]
    return f'<div style="opacity: 0.75; padding-top: 2px">{" &nbsp; ".join(told)}</div>'


def _short(time: str) -> str:
    """A time of UTC without its milliseconds."""
    return time.partition(".")[0]


def _compact(count: int) -> str:
    """A number of at most four characters or so.

    >>> _compact(999), _compact(12_345), _compact(3_200_000)
    ('999', '12k', '3.2M')
    """
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            number = count / size
            return f"{number:.0f}{unit}" if number >= 10 else f"{number:.1f}{unit}"
    return str(count)
