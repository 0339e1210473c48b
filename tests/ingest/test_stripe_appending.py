"""ORC files made of the stripes of several files, read by ORC's own implementations."""

from __future__ import annotations

import datetime
import io
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyorc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.storage.orc.merged_statistics import merged
from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, decode, encode
from acidsql.storage.orc.rewrite import encode_second_end
from acidsql.storage.orc.stripe_appending import (
    HEADER,
    first_stripes,
    movable,
    stripe_bytes,
    together,
    with_stripes,
)
from acidsql.storage.orc.tail import Tail, read_tail
from acidsql.values.file_values import storable

CODECS = ("uncompressed", "zlib", "snappy", "lz4", "zstd")
SIMPLE: Mapping[Any, st.SearchStrategy[object]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=4) | st.sampled_from(["", "a", "b"]) | st.just("\u20ac" * 600),
    pa.binary(): st.binary(max_size=4),
    pa.date32(): st.dates(datetime.date(1583, 1, 1)),
    pa.timestamp("us"): st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2262, 1, 1)),
    pa.decimal128(10, 2): st.decimals(-(10**8) + 1, 10**8 - 1, places=2),
    pa.decimal128(38, 3): st.decimals(-(10**35) + 1, 10**35 - 1, places=3),
}


def _nested(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        of.map(pa.list_),
        st.tuples(st.sampled_from([pa.string(), pa.int8()]), of).map(lambda t: pa.map_(*t)),
        st.lists(of, min_size=1, max_size=3).map(
            lambda fs: pa.struct([pa.field(f"f{i}", f) for i, f in enumerate(fs)])
        ),
    )


TYPES = st.recursive(st.sampled_from(list(SIMPLE)), _nested, max_leaves=4)


def values_of(kind: Any, *, is_key: bool = False) -> st.SearchStrategy[Any]:
    if pa.types.is_list(kind):
        found: st.SearchStrategy[Any] = st.lists(values_of(kind.value_type), max_size=3)
    elif pa.types.is_map(kind):
        pairs = st.tuples(values_of(kind.key_type, is_key=True), values_of(kind.item_type))
        found = st.lists(pairs, max_size=3, unique_by=lambda pair: pair[0])
    elif pa.types.is_struct(kind):
        found = st.fixed_dictionaries({f.name: values_of(f.type) for f in kind})
    else:
        found = SIMPLE[kind]
    return found if is_key else st.none() | found


@st.composite
def parts_of_a_table(draw: st.DrawFn) -> list[pa.Table]:
    """Some tables of the same columns. None is empty."""
    kinds = draw(st.lists(TYPES, min_size=1, max_size=3))
    row = st.tuples(*map(values_of, kinds))
    parts = draw(st.lists(st.lists(row, min_size=1, max_size=6), min_size=1, max_size=4))
    return [pa.table({f"c{i}": pa.array([r[i] for r in part], kind) for i, kind in enumerate(kinds)}) for part in parts]


def written(table: pa.Table, **options: object) -> bytes:
    columns = tuple(Column(name, "any") for name in table.column_names)
    sink = pa.BufferOutputStream()
    orc.write_table(storable(Table("default", "t", columns, "/t"), table), sink, **options)
    return bytes(sink.getvalue().to_pybytes())


def tail_of(content: bytes) -> Tail:
    tail = read_tail("x", len(content), content)
    assert isinstance(tail, Tail)
    return tail


def appended(files: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """A file of the stripes of all files, and the lengths after which it is a file of the first ones."""
    content, tail, lengths = HEADER, first_stripes(tail_of(files[0])), []
    for file in files:
        part = tail_of(file)
        stripes = stripe_bytes(file, part)
        tail = with_stripes(tail, part, len(content), len(stripes))
        content += stripes
        content += encode_second_end(tail)
        lengths.append(len(content))
    return content, lengths


def read(content: bytes) -> list[dict[str, object]]:
    return comparable(orc.ORCFile(pa.BufferReader(content)).read())


def read_by_pyorc(content: bytes) -> list[object]:
    return [_comparable(row) for row in pyorc.Reader(io.BytesIO(content))]


def comparable(table: pa.Table) -> list[dict[str, object]]:
    """Rows that are equal if their values are: NaN is not equal to itself, and times are read with nanoseconds."""
    fields = [pa.field(f.name, _in_microseconds(f.type)) for f in table.schema]
    return [_comparable(r) for r in table.cast(pa.schema(fields)).to_pylist()]


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {k: _comparable(v) for k, v in value.items()}
    return [_comparable(v) for v in value] if isinstance(value, list | tuple) else value


def _in_microseconds(kind: Any) -> Any:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _in_microseconds(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(_in_microseconds(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_in_microseconds(kind.key_type), _in_microseconds(kind.item_type))
    return kind


@given(parts_of_a_table(), st.sampled_from(CODECS), st.sampled_from([0.0, 1.0]))
def test_a_file_has_the_rows_of_its_parts_and_so_has_each_prefix(
    parts: list[pa.Table], codec: str, dictionaries: float
) -> None:
    options = {"compression": codec, "dictionary_key_size_threshold": dictionaries}
    files = [written(p, **options) for p in parts]
    content, lengths = appended(files)
    for count, length in enumerate(lengths, 1):
        whole = pa.concat_tables(parts[:count])
        assert read(content[:length]) == comparable(whole)
        assert read_by_pyorc(content[:length]) == [row for file in files[:count] for row in read_by_pyorc(file)]
        tail = tail_of(content[:length])
        assert tail.rows == whole.num_rows
        assert tail.stripe_rows == tuple(p.num_rows for p in parts[:count])
        check_statistics(tail, tail_of(written(whole, **options)))
    gathered = together_in_one(files)
    assert read(gathered) == read(content)
    assert read_by_pyorc(gathered) == read_by_pyorc(content)


def together_in_one(files: Sequence[bytes]) -> bytes:
    """A copy of all files, without what stands between their stripes and without statistics."""
    tails = [tail_of(file) for file in files]
    assert len({movable(tail) for tail in tails} - {None}) == 1
    stripes = [stripe_bytes(file, tail) for file, tail in zip(files, tails, strict=True)]
    tail = together(list(zip(tails, map(len, stripes), strict=True)))
    return b"".join((HEADER, *stripes, encode_second_end(tail)))


def check_statistics(found: Tail, of_one_file: Tail) -> None:
    """The statistics are those that ORC's writer gives all values, or are missing, with all of their kind."""
    for merged_column, known in zip(statistics(found), statistics(of_one_file), strict=True):
        assert merged_column[1] == known[1]
        assert merged_column[10] == known[10]
        for kind in merged_column.keys() - {1, 10, 12}:
            got, right = (_decoded(kind, m[kind]) for m in (merged_column, known))
            assert got == {n: v for n, v in right.items() if n in got}
            assert {1, 2} & right.keys() == {1, 2} & got.keys()


def statistics(tail: Tail) -> list[dict[int, Any]]:
    return [{f.number: f.value for f in decode(message.bytes)} for message in tail.footer if message.number == 7]


def _decoded(kind: int, message: bytes) -> dict[int, object]:
    """The fields of a message. Bounds of doubles are equal if they are as numbers; their sum depends on the order."""
    fields = {f.number: f.value for f in decode(message)}
    texts = {n: v for n, v in fields.items() if isinstance(v, bytes)}
    match kind:
        case 3:
            return {n: repr(struct.unpack("<d", v)[0] + 0.0) for n, v in texts.items() if n != 3}
        case 6:
            return {n: Decimal(v.decode()) for n, v in texts.items()}
        case _:
            return dict(fields)


def test_parts_may_have_several_stripes() -> None:
    parts = [pa.table({"a": list(range(n, n + 40_000)), "s": [f"{n} {i}" for i in range(40_000)]}) for n in (0, 7)]
    files = [written(p, stripe_size=65536, batch_size=1000) for p in parts]
    content, _ = appended(files)
    stripes = [tail_of(f).stripe_rows for f in files]
    assert min(map(len, stripes)) > 1
    assert tail_of(content).stripe_rows == stripes[0] + stripes[1]
    assert read(content) == comparable(pa.concat_tables(parts))
    ranges = tail_of(content).stripe_integer_ranges(1)
    assert ranges[0] == (0, stripes[0][0] - 1)
    assert ranges[-1] is not None
    assert ranges[-1][1] == 40_006


def test_each_stripe_can_be_read_alone() -> None:
    parts = [pa.table({"a": [n], "s": [[str(n)]]}) for n in range(5)]
    content, _ = appended([written(p) for p in parts])
    file = orc.ORCFile(pa.BufferReader(content))
    assert [file.read_stripe(i).to_pylist()[0]["a"] for i in range(file.nstripes)] == list(range(5))
    with_pyorc = pyorc.Reader(io.BytesIO(content))
    assert [list(with_pyorc.read_stripe(i)) for i in range(5)] == [[(n, [str(n)])] for n in range(5)]


@pytest.mark.parametrize("other", [{"b": [1]}, {"a": ["x"]}, {"a": [1], "b": [1]}])
def test_stripes_of_other_columns_are_refused(other: dict[str, list[object]]) -> None:
    with pytest.raises(AcidSqlError) as caught:
        appended([written(pa.table({"a": [1]})), written(pa.table(other))])
    assert caught.value.condition == "MALFORMED_LAYOUT"


def test_stripes_of_another_codec_are_refused() -> None:
    with pytest.raises(AcidSqlError):
        appended([written(pa.table({"a": [1]}), compression=c) for c in ("zlib", "zstd")])


def test_files_of_other_columns_or_another_codec_are_not_put_together() -> None:
    table = pa.table({"a": [1]})
    others = [pa.table({"b": [1]}), pa.table({"a": ["x"]}), pa.table({"a": [1], "b": [1]})]
    files = [written(table), written(table, compression="zstd"), *map(written, others)]
    assert len({movable(tail_of(file)) for file in files}) == len(files)
    assert movable(tail_of(written(pa.table({"a": [2, 3]})))) == movable(tail_of(files[0]))


def test_stripes_of_an_encrypted_file_stay_where_they_are() -> None:
    tail = tail_of(written(pa.table({"a": [1]})))
    assert movable(replace(tail, footer=(*tail.footer, Field(10, BYTES, b"")))) is None


# ------------------------------------------------------------------------------------------------ statistics


def column(count: int, kind: int | None = None, inner: Mapping[int, int | bytes | float] | None = None) -> bytes:
    """A message of statistics, whose message of a kind has the fields `inner`."""
    of_kind = () if kind is None else (Field(kind, BYTES, encode([field(*f) for f in (inner or {}).items()])),)
    return encode((Field(1, VARINT, count), *of_kind, Field(10, VARINT, 0)))


def field(number: int, value: int | bytes | float) -> Field:
    match value:
        case float():
            return Field(number, 1, struct.pack("<d", value))
        case bytes():
            return Field(number, BYTES, value)
        case _:
            return Field(number, VARINT, value)


INTEGERS = column(1, 2, {1: 2, 2: 2})
DOUBLES = column(1, 3, {1: 1.0, 2: 1.0, 3: 1.0})
TEXTS = column(1, 4, {1: b"a", 2: b"a"})
TIMES = column(1, 9, {3: 2, 4: 2})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(INTEGERS, column(1, 2, {3: 2}), id="no bounds"),
        pytest.param(INTEGERS, column(1), id="nothing"),
        pytest.param(INTEGERS, column(1, 7, {1: 2, 2: 2}), id="another kind"),
        pytest.param(column(1, 13, {1: 2}), column(1, 13, {1: 2}), id="an unknown kind"),
        pytest.param(DOUBLES, column(1, 3, {1: math.nan, 2: math.nan, 3: math.nan}), id="NaN as a bound"),
        pytest.param(DOUBLES, column(1, 3, {1: 1.0, 2: 1.0}), id="no sum, which tells of NaN"),
        pytest.param(TEXTS, column(1, 4, {4: b"a", 5: b"b"}), id="parts of texts"),
        pytest.param(TEXTS, column(1, 4, {1: b"b", 2: b"b" * 1025}), id="a long text"),
        pytest.param(TIMES, column(1, 9, {1: 2, 2: 2, 3: 2, 4: 2}), id="times of the writer's zone"),
    ],
)
def test_what_cannot_be_merged_exactly_is_left_out_with_all_of_its_kind(one: bytes, other: bytes) -> None:
    for found in (merged(one, other), merged(other, one)):
        assert decode(found) == (Field(1, VARINT, 2), Field(10, VARINT, 0))


def test_a_column_without_values_does_not_count() -> None:
    empty = column(0, 2, {3: 0})
    assert merged(INTEGERS, empty) == merged(empty, INTEGERS) == INTEGERS


def test_sums_that_grow_too_large_are_left_out() -> None:
    largest = 2 * (2**63 - 1)
    assert inner_of(merged(*[column(1, 2, {1: largest, 2: largest, 3: largest})] * 2), 2) == {1: largest, 2: largest}
    digits = str(10**38 - 1).encode()
    assert inner_of(merged(*[column(1, 6, {1: digits, 2: digits, 3: digits})] * 2), 6) == {1: digits, 2: digits}


def test_the_lower_bound_of_zeros_is_the_negative_one() -> None:
    zeros = [column(1, 3, {1: z, 2: z, 3: z}) for z in (0.0, -0.0)]
    for found in (merged(*zeros), merged(*reversed(zeros))):
        bounds = inner_of(found, 3)
        assert (bounds[1], bounds[2]) == (struct.pack("<d", -0.0), struct.pack("<d", 0.0))


def inner_of(message: bytes, kind: int) -> dict[int, int | bytes]:
    return {f.number: f.value for m in decode(message) if m.number == kind for f in decode(m.bytes)}
