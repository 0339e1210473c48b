"""Records in lines of text that arrive in pieces: JSON lines and delimited text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.ingest.line_splitter import LineSplitter
from acidsql.ingest.record_text import (
    Delimited,
    JsonLines,
    RecordFormat,
    TextReader,
    TextRecords,
    with_line,
)
from acidsql.ingest.records import RecordConverter

COLUMNS: Final = (Column("id", "int"), Column("name", "string"), Column("price", "decimal(30,10)"))
CSV_TEXT: Final = '1,a,1.5\r\n\n2,"b ""x"",\r\nand more",\n3,,\\N\n4,\\N,-7'
CSV_ROWS: Final = [
    (1, "a", Decimal("1.5")),
    (2, 'b "x",\r\nand more', None),
    (3, "", None),
    (4, None, Decimal(-7)),
]


def read_records(pieces: Iterable[bytes], reader: TextReader) -> Iterator[TextRecords]:
    """The records of a text that has an end, piece by piece."""
    for piece in pieces:
        if found := reader.feed(piece):
            yield found
    if found := reader.finish():
        yield found


def read(form: RecordFormat, text: str | bytes, size: int = 1 << 20) -> list[TextRecords]:
    data = text if isinstance(text, bytes) else text.encode()
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    return list(read_records(pieces, TextReader(LineSplitter("orders"), form)))


def records(found: Sequence[TextRecords]) -> list[Any]:
    return [record for part in found for record in part.records]


def refusal(form: RecordFormat, text: str | bytes, condition: str = "INVALID_LINE") -> str:
    with pytest.raises(AcidSqlError) as error:
        read(form, text)
    assert error.value.condition == condition
    return str(error.value)


def test_a_line_of_json_is_a_record_with_exact_numbers() -> None:
    digits = "12345678901234567890.1234567891"
    text = f'{{"id": 1, "Price": {digits}}}\r\n\n  \n{{"id": 12345678901234567890, "name": "é"}}\n{{"price": "1.5"}}'
    found = read(JsonLines(COLUMNS), text)
    expected = [
        {"id": 1, "Price": Decimal(digits)},
        {"id": 12345678901234567890, "name": "é"},
        {"price": Decimal("1.5")},
    ]
    assert records(found) == expected
    assert [number for part in found for number in part.numbers] == [1, 4, 5]
    assert (found[-1].offset, found[-1].line) == (len(text.encode()), 5)


def test_types_that_json_lacks_are_text() -> None:
    columns = [
        Column("b", "binary"),
        Column("d", "double"),
        Column("m", "map<int,binary>"),
        Column("s", "struct<x:float>"),
    ]
    text = '{"b": "AP8=", "d": "NaN", "m": {"1": "AA==", "2": null}, "s": {"X": "-Infinity"}}\n{"b": null, "d": 1}'
    rows = RecordConverter(Table("d", "t", tuple(columns), "/none", properties={"transactional": "true"})).convert(
        records(read(JsonLines(columns), text))
    )
    first, second = rows.data.to_pylist()
    assert str(first.pop("d")) == "nan"
    assert first == {"b": b"\0\xff", "m": [(1, b"\0"), (2, None)], "s": {"x": float("-inf")}}
    assert second == {"b": None, "d": 1.0, "m": None, "s": None}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": 1', "it is not JSON"),
        ("[1]", "it is not an object of JSON: [1]"),
        ('{"id": 1, "id": 2}', "'id' is there twice"),
        ('{"price": "1,5"}', "the value of price does not fit: it is not a number"),
        ("[" * 100_000, "it is not JSON"),
        ('{"id": NaN}{', "it is not JSON"),
    ],
)
def test_a_line_that_is_no_object_of_json_is_named(line: str, reason: str) -> None:
    message = refusal(JsonLines(COLUMNS), f'{{"id": 1}}\n\n{line}\n')
    assert "Line 3 of orders holds no record" in message
    assert reason in message


def test_fields_are_values_of_their_columns() -> None:
    found = read(Delimited(COLUMNS), CSV_TEXT)
    assert records(found) == CSV_ROWS
    assert [number for part in found for number in part.numbers] == [1, 3, 5, 6]
    assert (found[-1].offset, found[-1].line) == (len(CSV_TEXT), 6)


@given(size=st.integers(1, 30))
def test_pieces_of_any_size_give_the_same_records_and_places(size: int) -> None:
    text = CSV_TEXT.replace("1,a", "1,é")
    expected = [(1, "é", Decimal("1.5")), *CSV_ROWS[1:]]
    found = read(Delimited(COLUMNS), text, size)
    assert records(found) == expected
    for count, part in enumerate(found, 1):
        splitter = LineSplitter("orders", part.offset, part.line)
        rest = list(read_records([text.encode()[part.offset :]], TextReader(splitter, Delimited(COLUMNS))))
        assert [*records(found[:count]), *records(rest)] == expected
        assert [n for some in (*found[:count], *rest) for n in some.numbers] == [1, 3, 5, 6]


def test_a_header_names_the_fields() -> None:
    form = Delimited(COLUMNS, header=True, delimiter="\t")
    assert records(read(form, "PRICE\tid\n1.5\t7\n")) == [{"price": Decimal("1.5"), "id": 7}]
    assert form.names == ["price", "id"]
    later = Delimited(
        COLUMNS, header=True, delimiter="\t", head=b"\xef\xbb\xbf\r\nPRICE\tid\n1.5\t7\n", source="orders"
    )
    assert records(read(later, "2\t8\n")) == [{"price": Decimal(2), "id": 8}]
    assert "the header names 'x', and the columns are id, name, price" in refusal(
        Delimited(COLUMNS, header=True), "id,x\n"
    )
    assert "the header names 'id' twice" in refusal(Delimited(COLUMNS, header=True), "id,ID\n")


def test_another_text_may_be_null() -> None:
    found = read(Delimited(COLUMNS, null=""), "1,,\n2,\\N,3\n")
    assert records(found) == [(1, None, None), (2, "\\N", Decimal(3))]


def test_fields_of_every_type() -> None:
    kinds = [
        "bigint",
        "double",
        "boolean",
        "date",
        "timestamp",
        "binary",
        "array<int>",
        "map<int,decimal(3,1)>",
        "char(3)",
    ]
    columns = [Column(f"c{n}", kind) for n, kind in enumerate(kinds)]
    text = ' -5,NaN,TRUE, 2024-05-06,2024-05-06 07:08:09.5,AP8=,"[1,null]","{""1"":""2.5""}", x\n'
    values = records(read(Delimited(columns), text))
    table = Table("d", "t", tuple(columns), "/none", properties={"transactional": "true"})
    row = [str(value) for value in RecordConverter(table).convert(values).data.to_pylist()[0].values()]
    expected = ["-5", "nan", "True", "2024-05-06", "2024-05-06 07:08:09.500000", "b'\\x00\\xff'", "[1, None]"]
    assert row == [*expected, "[(1, Decimal('2.5'))]", " x "]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1,a,2\n1,a\n", 2, "it has 2 fields for the columns id, name, price: 1,a"),
        ('1,"a\nb",2\nx,a,2\n', 3, "the field id does not fit its type int: it is not an integer of the type: x"),
        ("1,a,2\n2,a,1e\n", 2, "the field price does not fit its type decimal(30,10)"),
        ('1,a,2\n2,"a"b,2\n', 2, "',' expected after '\"'"),
        ('1,a,2\n2,"a\n\n\n', 2, "its quotes are not closed"),
        (b"1,a,2\n2,\xff,2\n", 2, "the byte 0xff at byte 8 of the text is not UTF-8"),
        (b"1,a,2\n2,\xc3\n", 2, "the byte 0xc3 at byte 8"),
    ],
)
def test_a_wrong_line_is_named(text: str | bytes, line: int, reason: str) -> None:
    message = refusal(Delimited(COLUMNS), text)
    assert f"Line {line} of orders holds no record: " in message
    assert reason in message


def test_a_line_waits_for_its_end() -> None:
    reader = TextReader(LineSplitter("orders", offset=100, line=7), JsonLines(COLUMNS))
    assert reader.feed(b'{"id"') is None
    assert reader.feed(b": 1}") is None
    found = reader.feed(b'\n{"id": "\xc3')
    assert found is not None
    assert (found.records, found.numbers, found.offset, found.line) == ([{"id": 1}], [8], 110, 8)
    found = reader.feed(b'\xa9"}\n')
    assert found is not None
    assert (found.records, found.offset) == ([{"id": "é"}], 123)
    assert reader.finish() is None


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    found = read(JsonLines(COLUMNS), b'\xef\xbb\xbf{"id": 1}\n')
    assert (records(found), found[0].offset) == ([{"id": 1}], 13)
    assert not records(read(JsonLines(COLUMNS), b""))


def test_a_record_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("line_splitter", "record_text"):
        monkeypatch.setattr(f"acidsql.ingest.{module}.LONGEST_LINE", 1000)
    assert "Line 2 of orders" in refusal(JsonLines(COLUMNS), "{}\n" + "x" * 1001, "LIMIT_EXCEEDED")
    assert "begins in line 2 of orders" in refusal(Delimited(COLUMNS), '1,a,2\n1,"' + "x\n" * 1200, "LIMIT_EXCEEDED")


def test_an_error_of_a_record_tells_its_line() -> None:
    text = read(JsonLines(COLUMNS), '{"id": 1}\n\n{"id": 3000000000}\n{"idd": 1}\n')[0]
    table = Table("d", "t", COLUMNS, "/none", properties={"transactional": "true"})
    for part, line in zip(list(text.pieces(1))[1:], (3, 4), strict=True):
        with pytest.raises(AcidSqlError) as error:
            RecordConverter(table).convert(part.records)
        assert f"The record is in line {line} of orders." in str(with_line(error.value, part, "orders"))


def test_records_of_a_text_in_pieces_have_their_places() -> None:
    (text,) = read(Delimited(COLUMNS), CSV_TEXT + "\n\n\n")
    found = [(p.records, p.numbers, p.offset, p.line) for p in text.pieces(1)]
    places = [(9, 1), (34, 4), (40, 5), (50, 8)]
    assert found == [([r], [n], *place) for r, n, place in zip(CSV_ROWS, (1, 3, 5, 6), places, strict=True)]
    assert [len(p.records) for p in text.pieces(3)] == [3, 1]
