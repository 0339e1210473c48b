"""Pictures for the notebooks: the directories of a table with their events, and small charts. Standard library only."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from IPython.display import HTML

import acidsql
from acidsql.acid.directories import Base, Delta
from acidsql.snapshot.event_visibility import StoredEvent
from acidsql.snapshot.table_contents import DirectoryContent

_GREEN, _RED, _BLUE, _GRAY = "46, 160, 67", "218, 54, 51", "56, 132, 224", "128, 128, 128"
"""Red, green and blue of colours that can be read on white and on black."""
_COLOURS = {"base": _BLUE, "delta": _GREEN, "delete delta": _RED}
_LEFT, _STEP = 110, 116
"""Width of the name of a lane, and of a step, in pixels."""


# ------------------------------------------------------------------------------------------------ directories


def directories(table: str) -> HTML:
    """A card for each directory of a table, with its events.

    A row that readers see is green, an event that takes a row away is red. What readers do not see, or no longer,
    is struck out and says why.
    """
    session = acidsql.default_session()
    content = session.inspect(table)
    cards = []
    for part in content.parts:
        events: dict[str, list[StoredEvent]] = {}
        for event in session.events(content, part):
            events.setdefault(event.file.rpartition("/")[0], []).append(event)
        cards += [_card(part.name, one, events.get(one.name, [])) for one in sorted(part.directories, key=_age)]
    style = "display: flex; flex-wrap: wrap; gap: 10px; align-items: flex-start"
    return HTML(f'<div style="{style}">{"".join(cards)}</div>')  # type: ignore[no-untyped-call]


def _age(directory: DirectoryContent) -> tuple[int, str]:
    """The oldest come first, as far as the name tells."""
    match directory.parsed:
        case Base(write_id=write_id):
            return (write_id, "")
        case Delta(min_write_id=write_id):
            return (write_id, directory.name.removeprefix("delete_"))
    return (0, directory.name)


def _card(part: str, directory: DirectoryContent, events: Sequence[StoredEvent]) -> str:
    colour = _COLOURS.get(directory.kind.value, _GRAY)
    name = "/".join(filter(None, (part, directory.name))) + "/"
    why = "" if directory.is_read else f'<div style="opacity: 0.7">not read: {html.escape(directory.why)}</div>'
    body = "".join(map(_event, events)) or '<div style="opacity: 0.6">no events</div>'
    return (
        f'<div style="border: 1px solid rgba({colour}, 0.7); border-radius: 6px; overflow: hidden">'
        f'<div style="background: rgba({colour}, 0.2); padding: 3px 10px"><code style="background: none">'
        f'<b>{html.escape(name)}</b></code> <span style="opacity: 0.7">{html.escape(directory.kind.value)}</span></div>'
        f'<div style="padding: 5px 10px">{why}{body}</div></div>'
    )


def _event(event: StoredEvent) -> str:
    row_id = f"{event.original_transaction}, {event.row_id}"
    if event.row is None:
        sign, colour, text = "\N{MINUS SIGN}", _RED, f"the row ({row_id})"
    else:
        sign, colour = "+", _GREEN
        text = f"({row_id}): {', '.join(str(value) for value in event.row.values())}"
    seen = "" if event.is_seen else "text-decoration: line-through; opacity: 0.55"
    why = "" if event.is_seen or not event.why else f' <span style="opacity: 0.7">{html.escape(event.why)}</span>'
    return (
        f'<div style="white-space: nowrap"><b style="color: rgb({colour})">{sign}</b> '
        f'<span style="{seen}">{html.escape(text)}</span>{why}</div>'
    )


# ------------------------------------------------------------------------------------------------ charts


@dataclass(frozen=True, slots=True)
class Span:
    """A bar of a lane from step `start` up to step `end`. `good` decides on its colour, None makes it gray."""

    start: float
    end: float
    text: str
    good: bool | None = True


def lanes(spans: Mapping[str, Sequence[Span]], steps: Sequence[str]) -> HTML:
    """Bars on a lane for each name, above the names of the steps. The bars of a lane follow each other."""
    rows = []
    for name, lane in spans.items():
        parts, reached = (
            [_box(_LEFT, f'<b style="padding-right: 10px">{html.escape(name)}</b>', "text-align: right")],
            0.0,
        )
        for span in lane:
            parts += [_box(_STEP * (span.start - reached)), _bar(span)]
            reached = span.end
        rows.append("".join(parts))
    rule = f"border-left: 1px dashed rgba({_GRAY}, 0.6); padding-left: 4px; opacity: 0.75"
    rows.append(_box(_LEFT) + "".join(_box(_STEP, html.escape(step), rule) for step in steps))
    return HTML(_column(rows))  # type: ignore[no-untyped-call]


def bars(values: Iterable[tuple[str, int]], title: str) -> HTML:
    """A horizontal bar for each name and number."""
    pairs = list(values)
    longest = max((number for _, number in pairs), default=0) or 1
    name_width = 8 * max((len(name) for name, _ in pairs), default=0) + 16
    rows = [f"<b>{html.escape(title)}</b>"]
    for name, number in pairs:
        shown = f'<span style="padding-right: 10px">{html.escape(name)}</span>'
        colour = f"background: rgba({_BLUE}, 0.6); border-radius: 3px; height: 18px"
        bar = _box(420 * number / longest, "", colour) if number else ""
        rows.append(_box(name_width, shown, "text-align: right") + bar + _box(90, f"{number:,}", "padding-left: 6px"))
    return HTML(_column(rows))  # type: ignore[no-untyped-call]


def _bar(span: Span) -> str:
    colour = {True: _GREEN, False: _RED, None: _GRAY}[span.good]
    style = (
        f"background: rgba({colour}, 0.25); border: 1px solid rgba({colour}, 0.9); "
        "border-radius: 5px; padding: 3px 8px; overflow: hidden; white-space: nowrap"
    )
    return _box(_STEP * (span.end - span.start), html.escape(span.text), style)


def _box(width: float, inner: str = "", style: str = "") -> str:
    return f'<div style="flex: none; box-sizing: border-box; width: {width:.0f}px; {style}">{inner}</div>'


def _column(rows: Iterable[str]) -> str:
    lines = (f'<div style="display: flex; align-items: center; margin: 4px 0">{row}</div>' for row in rows)
    return f'<div style="overflow-x: auto; padding: 4px 0">{"".join(lines)}</div>'
