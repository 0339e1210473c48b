"""Rows as text: seven formats, as pure functions over columns and rows. value_text.py has the text of a value.

This is code of our own because output is streamed while rows arrive, and because values must look as Hive's Beeline
shows them; tabulate and rich's Table need all rows at once and format values by rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, islice
from typing import Protocol, assert_never

from rich.cells import cell_len

from acidsql.errors import visible
from acidsql.frontends.column_widths import Screen, cut, fitted
from acidsql.frontends.value_text import Row, json_text, json_value, shortest_floats, text, unique_names

ALIGNED_ROWS = 1000
"""How many rows determine the column widths of `table` and `markdown`. A longer cell further down sticks out, but on a
screen: there each further block of so many rows may begin with a new head, and wider columns."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


class Column(Protocol):
    """A column of a result: its name, and its type as Spark's simpleString."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


class Counted(Protocol):
    """The counts of a DML statement in rows."""

    @property
    def affected(self) -> int: ...
    @property
    def updated(self) -> int: ...
    @property
    def deleted(self) -> int: ...
    @property
    def inserted(self) -> int: ...


class Format(Enum):
    """The formats of `--output`.

    NULL is `NULL` in table, vertical, markdown and tsv (as in Hive's beeline), nothing in csv (where an empty string
    is `""`), and null in json and jsonl. Nested values are JSON text everywhere but in json and jsonl, where they are
    objects and arrays. Only table and markdown look ahead, by ALIGNED_ROWS rows; the others stream.
    """

    TABLE = "table"
    VERTICAL = "vertical"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"


def render(
    shape: Format, columns: Sequence[Column], rows: Iterable[Row], *, header: bool = True, screen: Screen | None = None
) -> Iterator[str]:
    """Yields the text of a result in pieces. The whole text ends in a line feed.

    Without `header` there are no column names (vertical: no lines between the rows; json and jsonl keep their keys).
    A table fits the `screen`: its values are cut, or its rows stand one below the other.
    """
    names = [column.name for column in columns]
    exact = map(shortest_floats([column.type for column in columns]), rows)
    match shape:
        case Format.TABLE:
            return _table(columns, map(_texts, exact), header=header, screen=screen)
        case Format.VERTICAL:
            return _vertical(names, map(_texts, exact), header=header)
        case Format.CSV:
            return _delimited(names if header else None, exact, _csv_cell, ",")
        case Format.TSV:
            return _delimited(names if header else None, exact, _tsv_cell, "\t")
        case Format.JSON:
            return _json_array(_json_rows(names, exact))
        case Format.JSONL:
            return (line + "\n" for line in _json_rows(names, exact))
        case Format.MARKDOWN:
            return _markdown(columns, map(_texts, exact), header=header)
        case _:
            assert_never(shape)


def render_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a text whose lines are the rows of a result, such as a plan: without a frame around them."""
    for row in rows:
        yield "".join(visible(cell) for cell in map(text, row) if cell is not None) + "\n"


def summary(counts: Counted) -> str:
    """The counts of a DML statement in words.

    `3 rows affected (2 updated, 1 inserted)`
    """
    parts = ((counts.updated, "updated"), (counts.deleted, "deleted"), (counts.inserted, "inserted"))
    text = ", ".join(f"{number} {word}" for number, word in parts if number)
    return f"{rows_in_words(counts.affected)} affected{f' ({text})' if text else ''}"


def rows_in_words(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


# ------------------------------------------------------------------------------------------------ for eyes


def _texts(row: Row) -> list[str]:
    return [visible("NULL" if cell is None else cell) for cell in map(text, row)]


def is_number(column: Column) -> bool:
    """Whether the values of a column stand at its right side."""
    return column.type.partition("(")[0] in _NUMBERS


def _left(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _right(cell: str, width: int) -> str:
    return " " * (width - cell_len(cell)) + cell


def _aligners(columns: Sequence[Column]) -> list[Callable[[str, int], str]]:
    return [_right if is_number(column) else _left for column in columns]


def _widths(lines: Iterable[Sequence[str]], smallest: Sequence[int]) -> list[int]:
    widths = list(smallest)
    for cells in lines:
        for place, cell in enumerate(cells):
            widths[place] = max(widths[place], *(cell_len(line) for line in cell.split("\n")))
    return widths


def _table(
    columns: Sequence[Column], rows: Iterator[list[str]], *, header: bool, screen: Screen | None
) -> Iterator[str]:
    names = [visible(column.name) for column in columns]
    natural = [1] * len(names)
    aligners = _aligners(columns)
    if screen is None:
        first = list(islice(rows, ALIGNED_ROWS))
        natural = _widths(chain([names] if header else [], first), natural)
        yield _head(names, natural, header=header)
        for row in chain(first, rows):
            yield _table_row(row, natural, aligners)
        yield _border(natural)
        return
    natural = _widths([names] if header else [], natural)
    widths: list[int] | None = None
    while (block := list(islice(rows, ALIGNED_ROWS))) or widths is None:
        natural = _widths(block, natural)
        fitting = fitted(natural, list(map(is_number, columns)), screen.width)
        if fitting is None:
            yield _border(widths) if widths is not None else ""
            screen.is_vertical = True
            yield from _vertical(names, chain(block, rows), header=header)
            return
        if fitting != widths:  # a later, longer value widens its column: the table goes on below a new head
            yield _border(widths) if widths is not None else ""
            yield _head(_cut_row(names, fitting), fitting, header=header)
        widths = fitting
        screen.has_cut = screen.has_cut or widths != natural
        for row in block:
            yield _table_row(_cut_row(row, widths), widths, aligners)
    yield _border(widths)


def _border(widths: Sequence[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"


def _head(names: Sequence[str], widths: Sequence[int], *, header: bool) -> str:
    border = _border(widths)
    return border + (_table_row(names, widths, [_left] * len(names)) + border if header else "")


def _cut_row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cut(cell, width) for cell, width in zip(cells, widths, strict=True)]


def _table_row(cells: Sequence[str], widths: Sequence[int], aligners: Sequence[Callable[[str, int], str]]) -> str:
    """One row. A cell with line feeds makes the row several lines high (EXPLAIN, SHOW CREATE TABLE)."""
    stacks = [cell.split("\n") for cell in cells]
    height = max(map(len, stacks), default=1)
    levels = ([stack[level] if level < len(stack) else "" for stack in stacks] for level in range(height))
    lines = (zip(aligners, level, widths, strict=True) for level in levels)
    return "".join(f"| {' | '.join(align(cell, width) for align, cell, width in line)} |\n" for line in lines)


def _vertical(names: Sequence[str], rows: Iterator[list[str]], *, header: bool) -> Iterator[str]:
    shown = [visible(name) for name in names]
    width = max(map(cell_len, shown), default=0)
    indent = "\n" + " " * (width + 2)
    for number, row in enumerate(rows, start=1):
        lines = (f"{_right(n, width)}: {c.replace(chr(10), indent)}\n" for n, c in zip(shown, row, strict=True))
        title = f"{'*' * 27} {number}. row {'*' * 27}\n" if header else ""
        yield title + "".join(lines)


def _markdown(columns: Sequence[Column], rows: Iterator[list[str]], *, header: bool) -> Iterator[str]:
    names = [_markdown_cell(visible(column.name)) for column in columns]
    cells = ([_markdown_cell(cell) for cell in row] for row in rows)
    first = list(islice(cells, ALIGNED_ROWS))
    widths = _widths(chain([names] if header else [], first), [3] * len(names))
    aligners = _aligners(columns)
    if header:
        rule = [
            "-" * (width - 1) + (":" if align is _right else "-") for width, align in zip(widths, aligners, strict=True)
        ]
        yield _table_row(names, widths, [_left] * len(names)) + _table_row(rule, widths, aligners)
    for row in chain(first, cells):
        yield _table_row(row, widths, aligners)


def _markdown_cell(cell: str) -> str:
    signs = {"\\": "\\\\", "|": "\\|", "<": "&lt;", "\n": "<br>"}
    return "".join(signs.get(sign, sign) for sign in cell)


# ------------------------------------------------------------------------------------------------ for programs


def _delimited(
    names: Sequence[str] | None, rows: Iterable[Row], cell: Callable[[str | None], str], separator: str
) -> Iterator[str]:
    if names is not None:
        yield separator.join(map(cell, names)) + "\n"
    for row in rows:
        yield separator.join(cell(text(value)) for value in row) + "\n"


def _csv_cell(cell: str | None) -> str:
    """CSV as in RFC 4180, except that lines end in a line feed alone."""
    if cell is None:
        return ""
    plain = cell and not any(sign in cell for sign in ',"\r\n') and cell == cell.strip()
    return cell if plain else '"' + cell.replace('"', '""') + '"'


_TSV_ESCAPES: Mapping[int, str] = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _tsv_cell(cell: str | None) -> str:
    return "NULL" if cell is None else cell.translate(_TSV_ESCAPES)


def _json_rows(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    keys = unique_names(names)
    for row in rows:
        yield json_text(dict(zip(keys, map(json_value, row), strict=True)))


def _json_array(lines: Iterator[str]) -> Iterator[str]:
    first = next(lines, None)
    if first is None:
        yield "[]\n"
        return
    yield "[\n" + first
    for line in lines:
        yield ",\n" + line
    yield "\n]\n"
