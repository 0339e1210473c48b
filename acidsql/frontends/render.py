"""Rows as text: seven formats and HTML, as pure functions over columns and rows; every value has one text.

This is code of our own because output is streamed while rows arrive, and because values must look as Hive's Beeline
shows them; tabulate and rich's Table need all rows at once and format values by rules of their own.
"""

from __future__ import annotations

import base64
import html as html_text
import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from typing import Protocol, TypeAlias, assert_never

from rich.cells import cell_len

from acidsql.errors import visible

Row: TypeAlias = Sequence[object]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

ALIGNED_ROWS = 1000
"""How many rows determine the column widths of `table` and `markdown`. A longer cell further down sticks out."""

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


def render(shape: Format, columns: Sequence[Column], rows: Iterable[Row], *, header: bool = True) -> Iterator[str]:
    """Yields the text of a result in pieces. The whole text ends in a line feed.

    Without `header` there are no column names (vertical: no lines between the rows; json and jsonl keep their keys).
    """
    names = [column.name for column in columns]
    exact = map(_shortest_floats([column.type for column in columns]), rows)
    match shape:
        case Format.TABLE:
            return _table(columns, map(_texts, exact), header=header)
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


def summary(counts: Counted) -> str:
    """The counts of a DML statement in words.

    `3 rows affected (2 updated, 1 inserted)`
    """
    parts = ((counts.updated, "updated"), (counts.deleted, "deleted"), (counts.inserted, "inserted"))
    text = ", ".join(f"{number} {word}" for number, word in parts if number)
    return f"{rows_in_words(counts.affected)} affected{f' ({text})' if text else ''}"


def rows_in_words(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


# ------------------------------------------------------------------------------------------------ one value


def text(value: object) -> str | None:
    """A value as text; None is NULL.

    Timestamps are `2024-02-29 12:34:56.123456` without trailing zeros (Hive 4's Timestamp.toString), day-time
    intervals `1 02:03:04.000000000` (HiveIntervalDayTime.toString), NaN and the infinities as Java writes them,
    binary is base64 and nested values are JSON.
    """
    match value:
        case None | str():
            return value
        case dict() | list() | tuple():
            return _json_text(json_value(value))
        case float():
            return _float_text(value)
        case bool():
            return "true" if value else "false"
        case _:
            return _scalar_text(value)


def json_value(value: object) -> Json:
    """A value for JSON. Numbers stay numbers, except that decimals become strings, so that no digit is lost.

    JSON has no NaN and no infinities: they are the strings "NaN", "Infinity", "-Infinity". The keys of a map become
    text, "null" for NULL.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _float_text(value)
        case dict():
            return {_key(key): json_value(item) for key, item in value.items()}
        case list() | tuple():
            names = getattr(value, "__fields__", None)
            items = [json_value(item) for item in value]
            return items if names is None else dict(zip(_unique(names), items, strict=True))
        case _:
            return _scalar_text(value)


def _key(value: object) -> str:
    shown = text(value)
    return "null" if shown is None else shown


def _scalar_text(value: object) -> str:
    match value:
        case Decimal():
            return format(value, "f")
        case datetime():
            shown = value.isoformat(sep=" ")
            return shown.rstrip("0") if value.microsecond and value.tzinfo is None else shown
        case date():
            return value.isoformat()
        case timedelta():
            return _interval(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode("ascii")
        case _:
            return str(value)


def _interval(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    return f"{sign}{size.days} {minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{size.microseconds * 1000:09}"


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _unique(names: Sequence[str]) -> list[str]:
    """Names as unique keys: a repeated name gets a number.

    >>> _unique(["id", "id", "name"])
    ['id', 'id_2', 'name']
    """
    taken: set[str] = set()
    keys: list[str] = []
    for name in names:
        tries = chain([name], (f"{name}_{number}" for number in range(2, len(names) + 2)))
        key = next(key for key in tries if key not in taken and (key == name or key not in names))
        taken.add(key)
        keys.append(key)
    return keys


# ------------------------------------------------------------------------------------------------ 32-bit floats


def _shortest_floats(types: Sequence[str]) -> Callable[[Row], Row]:
    """A function that shortens the FLOATs of a row: PySpark returns 0.1 as the double 0.10000000149011612."""
    places = [place for place, type_ in enumerate(types) if "float" in type_]
    if not places:
        return lambda row: row

    def shorten(row: Row) -> Row:
        cells = list(row)
        for place in places:
            cells[place] = _shortened(cells[place], types[place])
        return cells

    return shorten


def _shortened(value: object, type_: str) -> object:
    """`value` of the Spark type `type_` (simpleString) with every FLOAT in it as the shortest double for it."""
    match value:
        case float() if type_ == "float":
            return _shortest(value)
        case list() if type_.startswith("array<"):
            return [_shortened(item, type_[6:-1]) for item in value]
        case dict() if type_.startswith("map<"):
            _, of_values = _split_types(type_[4:-1])
            return {key: _shortened(item, of_values) for key, item in value.items()}
        case tuple() if type_.startswith("struct<"):
            fields = [field.partition(":") for field in _split_types(type_[7:-1])]
            if len(fields) != len(value):  # a name contains a comma: Spark does not quote names here
                return value
            names = _unique([name for name, _, _ in fields])
            return {name: _shortened(item, of) for name, item, (_, _, of) in zip(names, value, fields, strict=True)}
        case _:
            return value


def _shortest(value: float) -> float:
    if not math.isfinite(value):
        return value
    packed = struct.pack("f", value)
    tries = (float(f"{value:.{digits}g}") for digits in range(6, 9))
    return next((near for near in tries if _as_single(near) == packed), float(f"{value:.9g}"))


def _as_single(value: float) -> bytes | None:
    try:
        return struct.pack("f", value)
    except OverflowError:  # the largest floats, rounded up
        return None


def _split_types(inner: str) -> list[str]:
    """
    >>> _split_types("a:map<int,float>,b:decimal(3,1)")
    ['a:map<int,float>', 'b:decimal(3,1)']
    """
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(inner):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    return [*parts, inner[start:]]


# ------------------------------------------------------------------------------------------------ for eyes


def _texts(row: Row) -> list[str]:
    return [visible("NULL" if cell is None else cell) for cell in map(text, row)]


def _is_number(column: Column) -> bool:
    return column.type.partition("(")[0] in _NUMBERS


def _left(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def _right(cell: str, width: int) -> str:
    return " " * (width - cell_len(cell)) + cell


def _aligners(columns: Sequence[Column]) -> list[Callable[[str, int], str]]:
    return [_right if _is_number(column) else _left for column in columns]


def _widths(lines: Iterable[Sequence[str]], smallest: Sequence[int]) -> list[int]:
    widths = list(smallest)
    for cells in lines:
        for place, cell in enumerate(cells):
            widths[place] = max(widths[place], *(cell_len(line) for line in cell.split("\n")))
    return widths


def _table(columns: Sequence[Column], rows: Iterator[list[str]], *, header: bool) -> Iterator[str]:
    names = [visible(column.name) for column in columns]
    first = list(islice(rows, ALIGNED_ROWS))
    widths = _widths(chain([names] if header else [], first), [1] * len(names))
    aligners = _aligners(columns)
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    yield border
    if header:
        yield _table_row(names, widths, [_left] * len(names)) + border
    for row in chain(first, rows):
        yield _table_row(row, widths, aligners)
    yield border


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


def html(columns: Sequence[Column], rows: Iterable[Row]) -> str:
    """An HTML table; every text is escaped."""
    numbers = [_is_number(column) for column in columns]
    exact = map(_shortest_floats([column.type for column in columns]), rows)
    head = "".join(f"<th>{html_text.escape(column.name)}</th>" for column in columns)
    body = "".join(
        "<tr>"
        + "".join(_html_cell(text(cell), right=right) for cell, right in zip(row, numbers, strict=True))
        + "</tr>\n"
        for row in exact
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _html_cell(cell: str | None, *, right: bool) -> str:
    align = f"text-align: {'right' if right else 'left'}; white-space: pre-wrap"
    return f'<td style="{align}">{"<i>NULL</i>" if cell is None else html_text.escape(cell)}</td>'


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
    keys = _unique(names)
    for row in rows:
        yield _json_text(dict(zip(keys, map(json_value, row), strict=True)))


def _json_array(lines: Iterator[str]) -> Iterator[str]:
    first = next(lines, None)
    if first is None:
        yield "[]\n"
        return
    yield "[\n" + first
    for line in lines:
        yield ",\n" + line
    yield "\n]\n"
