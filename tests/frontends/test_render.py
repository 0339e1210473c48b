"""Rows as text: what each format gives for each kind of value, and that programs read back what was written."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from rich.cells import cell_len

from acidsql.frontends import render as text_of_rows
from acidsql.frontends.column_widths import Screen, fitted
from acidsql.frontends.render import ALIGNED_ROWS, Format, render, rows_in_words, summary
from acidsql.frontends.value_text import json_value, text


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Counts:
    affected: int
    updated: int = 0
    deleted: int = 0
    inserted: int = 0


EMPLOYEE = (Column("id", "int"), Column("name", "string"))
ROWS: tuple[tuple[object, ...], ...] = ((1, "Jerry"), (20, None))


def rendered(
    shape: Format, columns: Sequence[Column], rows: Sequence[tuple[object, ...]], *, header: bool = True
) -> str:
    return "".join(render(shape, columns, rows, header=header))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        ("", ""),
        (True, "true"),
        (False, "false"),
        (-7, "-7"),
        (0.1, "0.1"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (Decimal("1.50"), "1.50"),
        (Decimal("0E-10"), "0.0000000000"),
        (Decimal("1E+3"), "1000"),
        (date(2024, 2, 29), "2024-02-29"),
        (date(1, 1, 1), "0001-01-01"),
        (datetime(2024, 2, 29, 12, 34, 56), "2024-02-29 12:34:56"),
        (datetime(2024, 2, 29, 12, 34, 56, 123456), "2024-02-29 12:34:56.123456"),
        (datetime(2024, 2, 29, 12, 34, 56, 100000), "2024-02-29 12:34:56.1"),
        (datetime(2024, 2, 29, 12, 34, 50), "2024-02-29 12:34:50"),
        (timedelta(days=1, hours=2, minutes=3, seconds=4, microseconds=5), "1 02:03:04.000005000"),
        (-timedelta(hours=1), "-0 01:00:00.000000000"),
        (bytearray(b"\x00\xff"), "AP8="),
        ([1, None, "a"], '[1,null,"a"]'),
        ([], "[]"),
        ({"a": 1, None: 2}, '{"a":1,"null":2}'),
        ({date(2024, 1, 1): True}, '{"2024-01-01":true}'),
        (Row(a=Decimal("1.50"), b=Row(c=datetime(2024, 1, 1))), '{"a":"1.50","b":{"c":"2024-01-01 00:00:00"}}'),
        ([float("nan"), bytearray(b"x")], '["NaN","eA=="]'),
        ([True, 1], "[true,1]"),
        ("日本", "日本"),
    ],
)
def test_every_value_has_one_text(value: object, shown: str | None) -> None:
    assert text(value) == shown


def test_table_aligns_numbers_right_and_words_left() -> None:
    assert rendered(Format.TABLE, EMPLOYEE, ROWS) == (
        "+----+-------+\n| id | name  |\n+----+-------+\n|  1 | Jerry |\n| 20 | NULL  |\n+----+-------+\n"
    )


def test_table_without_header_has_rows_alone() -> None:
    assert rendered(Format.TABLE, EMPLOYEE, ROWS, header=False) == (
        "+----+-------+\n|  1 | Jerry |\n| 20 | NULL  |\n+----+-------+\n"
    )


def test_table_of_no_rows_shows_its_columns() -> None:
    assert rendered(Format.TABLE, EMPLOYEE, ()) == "+----+------+\n| id | name |\n+----+------+\n+----+------+\n"


def test_table_lines_up_wide_characters() -> None:
    lines = rendered(Format.TABLE, EMPLOYEE, ((1, "日本"), (2, "ab"), (3, "👍"))).splitlines()
    assert {cell_len(line) for line in lines} == {cell_len(lines[0])}


def test_table_shows_a_cell_of_several_lines_below_each_other() -> None:
    table = rendered(Format.TABLE, (Column("plan", "string"), Column("n", "int")), (("a\nbb", 1),))
    assert table.splitlines()[3:5] == ["| a    | 1 |", "| bb   |   |"]


def test_data_cannot_steer_the_terminal() -> None:
    for shape in (Format.TABLE, Format.VERTICAL, Format.MARKDOWN):
        shown = rendered(shape, (Column("v\x1b[2J", "string"),), (("\x1b[31m\x07\u009b\t\r",),))
        assert not any(sign in shown for sign in "\x1b\x07\u009b\t\r"), shape


def test_table_prints_its_first_rows_before_it_has_seen_them_all() -> None:
    seen = 0

    def rows() -> Iterator[tuple[object, ...]]:
        nonlocal seen
        for seen in range(1, 10 * ALIGNED_ROWS):
            yield (seen, "x")

    lines = render(Format.TABLE, EMPLOYEE, rows())
    next(lines)
    assert seen == ALIGNED_ROWS


def test_vertical_puts_a_value_on_each_line() -> None:
    assert rendered(Format.VERTICAL, EMPLOYEE, ROWS) == (
        "*************************** 1. row ***************************\n"
        "  id: 1\n"
        "name: Jerry\n"
        "*************************** 2. row ***************************\n"
        "  id: 20\n"
        "name: NULL\n"
    )


def test_csv_tells_null_from_the_empty_string() -> None:
    columns = (Column("a", "string"), Column("b", "string"))
    assert rendered(Format.CSV, columns, ((None, ""), ('say "hi"', "a,b"), (" x", "two\nlines"))) == (
        'a,b\n,""\n"say ""hi""","a,b"\n" x","two\nlines"\n'
    )


def test_tsv_keeps_one_row_on_one_line() -> None:
    columns = (Column("a", "string"), Column("b\tc", "string"))
    assert rendered(Format.TSV, columns, (("x\ty\n\\\r", None),)) == "a\tb\\tc\nx\\ty\\n\\\\\\r\tNULL\n"


@pytest.mark.parametrize("shape", [Format.CSV, Format.TSV, Format.MARKDOWN])
def test_no_header_leaves_only_rows(shape: Format) -> None:
    assert len(rendered(shape, EMPLOYEE, ROWS, header=False).splitlines()) == len(ROWS)


def test_json_is_one_array() -> None:
    expected = [{"id": 1, "name": "Jerry"}, {"id": 20, "name": None}]
    assert json.loads(rendered(Format.JSON, EMPLOYEE, ROWS)) == expected
    assert json.loads(rendered(Format.JSON, EMPLOYEE, ())) == []


def test_jsonl_is_one_object_a_row_in_column_order() -> None:
    columns = (
        Column("z", "decimal(10,2)"),
        Column("t", "timestamp_ntz"),
        Column("d", "date"),
        Column("b", "binary"),
        Column("s", "struct<q:int,p:array<string>>"),
        Column("n", "double"),
    )
    row = (
        Decimal("1.50"),
        datetime(2024, 2, 29, 1, 2, 3),
        date(2024, 2, 29),
        bytearray(b"\x01"),
        Row(q=1, p=["x"]),
        None,
    )
    assert rendered(Format.JSONL, columns, (row,)) == (
        '{"z":"1.50","t":"2024-02-29 01:02:03","d":"2024-02-29","b":"AQ==","s":{"q":1,"p":["x"]},"n":null}\n'
    )


def test_json_keys_of_columns_with_one_name_differ() -> None:
    columns = (Column("id", "int"), Column("id", "int"), Column("id_2", "int"))
    keys = list(json.loads(rendered(Format.JSONL, columns, ((1, 2, 3),))).items())
    assert sorted(value for _, value in keys) == [1, 2, 3]
    assert keys[0] == ("id", 1)
    assert ("id_2", 3) in keys


def test_markdown_is_a_table_whose_cells_stay_cells() -> None:
    assert rendered(Format.MARKDOWN, EMPLOYEE, ((1, "a|b"), (2, "<b>\nx"), (3, "\\|"))) == (
        "| id  | name        |\n"
        "| --: | ----------- |\n"
        "|   1 | a\\|b        |\n"
        "|   2 | &lt;b><br>x |\n"
        "|   3 | \\\\\\|        |\n"
    )


@pytest.mark.parametrize(
    ("type_", "value", "shown"),
    [
        ("float", 0.10000000149011612, "0.1"),
        ("float", 16777216.0, "16777216.0"),
        ("float", 3.4028234663852886e38, "3.4028235e+38"),
        ("float", float("nan"), "NaN"),
        ("float", None, "NULL"),
        ("double", 0.10000000149011612, "0.10000000149011612"),
        ("array<float>", [0.10000000149011612, None], "[0.1,null]"),
        ("map<string,float>", {"a": 0.10000000149011612}, '{"a":0.1}'),
        (
            "struct<a:map<int,decimal(3,1)>,b:struct<c:float>>",
            Row(a={1: Decimal("0.5")}, b=Row(c=0.30000001192092896)),
            '{"a":{"1":"0.5"},"b":{"c":0.3}}',
        ),
        # Spark does not quote field names here, so this type cannot be read: the value stays, nothing breaks.
        ("struct<a,b:float>", Row(**{"a,b": 0.5}), '{"a,b":0.5}'),
    ],
)
def test_floats_have_the_shortest_text_that_gives_them_back(type_: str, value: object, shown: str) -> None:
    assert rendered(Format.TSV, (Column("f", type_),), ((value,),), header=False) == shown + "\n"


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_as_the_same_float(value: float) -> None:
    import struct

    shown = rendered(Format.TSV, (Column("f", "float"),), ((value,),), header=False)
    assert struct.pack("f", float(shown)) == struct.pack("f", value)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (Counts(3, inserted=3), "3 rows affected (3 inserted)"),
        (Counts(1, updated=1), "1 row affected (1 updated)"),
        (Counts(4, updated=1, deleted=2, inserted=1), "4 rows affected (1 updated, 2 deleted, 1 inserted)"),
        (Counts(0), "0 rows affected"),
    ],
)
def test_summary_tells_what_happened(counts: Counts, told: str) -> None:
    assert summary(counts) == told
    assert rows_in_words(1) == "1 row"


# ------------------------------------------------------------------------------------------------ reading back

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary().map(bytearray),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.datetimes(),
    st.dates(),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
PAIRS = (Column("a", "unknown"), Column("b", "unknown"))


@pytest.mark.ci
@given(st.lists(st.tuples(VALUES, VALUES)))
def test_csv_reads_back_as_the_texts_that_were_written(rows: list[tuple[object, object]]) -> None:
    written = rendered(Format.CSV, PAIRS, rows)
    read = list(csv.reader(io.StringIO(written, newline=""), strict=True))
    assert read == [["a", "b"], *([text(cell) or "" for cell in row] for row in rows)]


@given(st.lists(st.tuples(VALUES, VALUES)))
def test_jsonl_reads_back_as_the_values_that_were_written(rows: list[tuple[object, object]]) -> None:
    lines = rendered(Format.JSONL, PAIRS, rows).split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == [{"a": json_value(a), "b": json_value(b)} for a, b in rows]


@pytest.mark.ci
@given(st.lists(st.tuples(VALUES, VALUES)))
def test_tsv_reads_back_by_its_four_escapes(rows: list[tuple[object, object]]) -> None:
    unescaped = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}

    def read(cell: str) -> str:
        import re

        return re.sub(r"\\[\\tnr]", lambda match: unescaped[match[0]], cell)

    lines = rendered(Format.TSV, PAIRS, rows, header=False).split("\n")
    assert lines.pop() == ""
    written = [[read(cell) for cell in line.split("\t")] for line in lines]
    assert written == [["NULL" if (shown := text(cell)) is None else shown for cell in row] for row in rows]


@given(st.binary())
def test_binary_reads_back_from_base64(value: bytes) -> None:
    assert base64.b64decode(text(bytearray(value)) or "") == value


LONG = [(1, "日本語の長い文字列", "x" * 60), (22, None, "a\nlonger line than the column")]
COLUMNS = [Column("id", "int"), Column("名前", "string"), Column("description", "string")]


@pytest.mark.parametrize("width", range(20, 100, 7))
def test_a_table_fits_the_screen_or_its_rows_stand_one_below_the_other(width: int) -> None:
    screen = Screen(width)
    lines = "".join(render(Format.TABLE, COLUMNS, LONG, screen=screen)).splitlines()
    if screen.is_vertical:
        assert lines[1] == "         id: 1"
        assert width < 33
    else:
        assert {cell_len(line) for line in lines} == {cell_len(lines[0])}
        assert cell_len(lines[0]) == min(width, 90)
        assert any("…" in line for line in lines) == screen.has_cut == (width < 90)
        assert "| 22 |" in lines[4]


def test_numbers_are_not_cut_before_texts() -> None:
    assert fitted([18, 100], [True, False], 60) == [18, 35]
    assert fitted([18, 10], [True, False], 40) == [18, 10]
    assert fitted([38, 100], [True, False], 60) == [38, 15]
    assert fitted([38, 100], [True, False], 50) is None
    assert fitted([30] * 10, [False] * 10, 100) is None


def test_a_later_number_is_never_cut_and_a_later_text_only_where_the_line_is_full() -> None:
    columns = [Column("id", "bigint"), Column("s", "string")]
    early, late = [(1, "a")] * ALIGNED_ROWS, [(10**17 + 7, "bb"), (2, "x" * 50)]
    screen = Screen(40)
    lines = "".join(render(Format.TABLE, columns, early + late, screen=screen)).splitlines()
    assert lines[-7:] == [
        "+----+---+",
        "+--------------------+-----------------+",
        "| id                 | s               |",
        "+--------------------+-----------------+",
        "| 100000000000000007 | bb              |",
        "|                  2 | xxxxxxxxxxxxxx… |",
        "+--------------------+-----------------+",
    ]
    assert screen.has_cut
    wide = "".join(render(Format.TABLE, columns, early + late, header=False, screen=Screen(200))).splitlines()
    assert wide[-3] == f"| {10**17 + 7} | bb{' ' * 48} |"
    assert wide.count(wide[-1]) == 2
    narrow = Screen(20)
    rest = "".join(render(Format.TABLE, columns, early + late, screen=narrow)).splitlines()
    assert rest[-2:] == ["id: 2", f" s: {'x' * 50}"]
    assert narrow.is_vertical


@given(
    st.lists(st.tuples(st.integers(-(10**20), 10**20), st.text("ab", max_size=30)), max_size=40), st.integers(20, 60)
)
def test_every_number_is_whole_on_every_screen(rows: list[tuple[int, str]], width: int) -> None:
    columns = [Column("n", "decimal(21,0)"), Column("s", "string")]
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(text_of_rows, "ALIGNED_ROWS", 2)  # few rows have many blocks
        shown = "".join(render(Format.TABLE, columns, rows, screen=Screen(width)))
    assert all(len(line) <= width for line in shown.splitlines() if line.startswith(("|", "+")))
    for number, _ in rows:
        assert re.search(rf"(?<!\d){number}(?!\d)", shown)
