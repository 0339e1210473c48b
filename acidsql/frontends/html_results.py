"""Results as HTML for notebooks: tables, plans as trees, and lines of text. Every text of a value is escaped.

Styles stand in the elements, because a notebook that is not trusted loses its style sheets, and name no colours of
their own, so that they fit light and dark themes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from acidsql.errors import visible
from acidsql.frontends.render import Column, is_number
from acidsql.frontends.value_text import Row, shortest_floats, text

LONGEST_VALUE = 2000
"""Characters of a value that a table shows."""

_LONG = 60
"""Characters from which on a value is wrapped into several lines."""
_UNTOUCHED = "tex2jax_ignore mathjax_ignore"
"""The classes of text in which MathJax leaves `$` alone."""
_FAINT = "opacity: 0.65"
_PAGE = "var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"
"""The colour of the page, behind headers that stay while rows scroll."""
_MONOSPACE = "font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px)"


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """An HTML table, and whether it has values that were cut at LONGEST_VALUE."""

    html: str
    has_cut: bool


def html_table(columns: Sequence[Column], rows: Iterable[Row]) -> HtmlTable:
    """A table whose header has the names and types of the columns. It scrolls where it is wider than the page."""
    numbers = [is_number(column) for column in columns]
    has_cut = False

    def line(row: Row) -> str:
        nonlocal has_cut
        texts = list(map(text, row))
        has_cut = has_cut or any(value is not None and len(value) > LONGEST_VALUE for value in texts)
        return "".join(_cell(value, right=right) for value, right in zip(texts, numbers, strict=True))

    exact = map(shortest_floats([column.type for column in columns]), rows)
    body = "".join(f"<tr>{line(row)}</tr>\n" for row in exact)
    head = "".join(_head(column, right=right) for column, right in zip(columns, numbers, strict=True))
    shown = (
        f'<div class="{_UNTOUCHED}" style="overflow: auto; max-height: 40em">\n'
        f'<table style="margin: 0">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>'
    )
    return HtmlTable(shown, has_cut)


def html_note(note: str) -> str:
    """A line about a result, below it."""
    return _faint(html.escape(visible(note)))


def html_progress(note: str, done: int, total: int) -> str:
    """A line about a statement that runs, behind a bar of its tasks where there are several."""
    bar = f'<progress value="{done}" max="{total}" style="vertical-align: middle"></progress> ' if total > 1 else ""
    return _faint(f"{bar}{html.escape(visible(note))}")


def _faint(content: str) -> str:
    return f'<div style="{_FAINT}; padding: 2px 0">{content}</div>'


def html_message(message: str, seconds: float) -> str:
    """What became of a statement without rows, and its time."""
    shown = html.escape(visible(message))
    return f'<div style="padding: 2px 0">{shown} <span style="{_FAINT}; padding-left: 6px">{seconds:.2f} s</span></div>'


def html_lines(lines: Iterable[str]) -> str:
    """Lines of text as they are."""
    shown = html.escape(visible("\n".join(lines), tabs=True))
    return f'<pre class="{_UNTOUCHED}" style="{_MONOSPACE}; margin: 0; overflow-x: auto">{shown}</pre>'


def _head(column: Column, *, right: bool) -> str:
    name, kind = html.escape(visible(column.name)), html.escape(visible(_short(column.type)))
    style = f"text-align: {'right' if right else 'left'}; position: sticky; top: 0; background: {_PAGE}"
    return (
        f'<th style="{style}; white-space: nowrap" title="{html.escape(visible(column.type))}">{name}<br>'
        f'<span style="font-weight: normal; {_FAINT}">{kind}</span></th>'
    )


def _short(type_: str) -> str:
    """A type that fits a header; the whole of it stands in the header's title."""
    return type_ if len(type_) <= _LONG else f"{type_[: _LONG - 1]}\N{HORIZONTAL ELLIPSIS}"


def _cell(value: str | None, *, right: bool) -> str:
    style = f"text-align: {'right' if right else 'left'}; vertical-align: top"
    if value is None:
        return f'<td style="{style}"><i style="{_FAINT}">NULL</i></td>'
    if len(value) > LONGEST_VALUE:
        value = value[:LONGEST_VALUE] + "\N{HORIZONTAL ELLIPSIS}"
    shown = html.escape(visible(value))
    if len(value) <= _LONG:
        return f'<td style="{style}; white-space: pre">{shown}</td>'
    inner = "width: 36em; white-space: pre-wrap; overflow-wrap: break-word; word-break: break-word"
    return f'<td style="{style}"><div style="{inner}">{shown}</div></td>'


# ------------------------------------------------------------------------------------------------ plans


_TEXT = re.compile(r"SELECT\b|FROM\b|WITH\b|==|[*(+:|]")
"""How SQL and a plan of Spark begin."""
_STEP = "  "
"""The indentation of a level in EXPLAIN."""


def html_tree(lines: Sequence[str]) -> str:
    """A plan as a tree whose branches can be folded. Its first line names the statement, all others stand below it."""
    title, *others = lines or [""]
    tree = _folded(title, "".join(_branches(others))) if others else _leaf(title)
    return f'<div class="{_UNTOUCHED}" style="{_MONOSPACE}; line-height: 1.5">{tree}</div>'


def _branches(lines: Sequence[str]) -> Iterator[str]:
    """The branches whose titles are the lines that are not indented, each with the indented lines below it."""
    starts = [place for place, line in enumerate(lines) if line and not line.startswith(_STEP)]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        title, below = lines[start], [line.removeprefix(_STEP) for line in lines[start + 1 : stop]]
        if not any(below):
            yield _leaf(title)
        else:
            yield _folded(title, html_lines(below) if _TEXT.match(below[0]) else "".join(_branches(below)))


def _leaf(title: str) -> str:
    return f'<div style="white-space: pre-wrap">{html.escape(visible(title))}</div>'


def _folded(title: str, inner: str) -> str:
    line = "border-left: 1px solid rgba(128, 128, 128, 0.5)"
    return (
        f'<details open><summary style="cursor: pointer"><b>{html.escape(visible(title))}</b></summary>'
        f'<div style="margin-left: 5px; padding-left: 14px; {line}">{inner}</div></details>'
    )
