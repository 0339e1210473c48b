"""The end of an ORC file is read and rewritten, and compared with the results of ORC's own implementations."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc as arrow_orc
from pyspark.sql import SparkSession

from acidsql.acid.hive_types import parse_type
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError
from acidsql.spark.catalyst.pyspark_api import frame_of_arrow
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.orc_footers import Key, sorted_keys
from acidsql.storage.orc.protobuf import Field, decode, encode, varint
from acidsql.storage.orc.rewrite import encode_end, encode_second_end, nest_row, with_user_metadata
from acidsql.storage.orc.tail import TAIL_GUESS, Tail, read_tail
from tests.selection import every
from tests.support.golden_cases import GOLDEN

CODECS = {
    "none": pyorc.CompressionKind.NONE,
    "zlib": pyorc.CompressionKind.ZLIB,
    "snappy": pyorc.CompressionKind.SNAPPY,
    "lz4": pyorc.CompressionKind.LZ4,
    "zstd": pyorc.CompressionKind.ZSTD,
}
FILES = LocalFiles()
EVENT_COLUMNS = ("originalTransaction", "bucket", "rowId", "currentTransaction")


def tail_of(path: Path) -> Tail:
    return read_file_tail(FILES, str(path), path.stat().st_size)


# ------------------------------------------------------------------------------------------------ protobuf

numbers = st.integers(1, 2**29 - 1)
fields = st.one_of(
    st.builds(Field, numbers, st.just(0), st.integers(0, 2**64 - 1)),
    st.builds(Field, numbers, st.just(1), st.binary(min_size=8, max_size=8)),
    st.builds(Field, numbers, st.just(2), st.binary(max_size=300)),
    st.builds(Field, numbers, st.just(5), st.binary(min_size=4, max_size=4)),
)


@given(st.lists(fields, max_size=20))
def test_a_message_is_decoded_to_its_fields(message: list[Field]) -> None:
    assert decode(encode(message)) == tuple(message)


@given(st.integers(0, 2**64 - 1))
def test_a_varint_has_seven_bits_in_a_byte_and_marks_all_but_the_last(value: int) -> None:
    coded = varint(value)
    assert sum((byte & 0x7F) << 7 * i for i, byte in enumerate(coded)) == value
    assert [byte >> 7 for byte in coded] == [1] * (len(coded) - 1) + [0]
    assert len(coded) == max(1, -(-value.bit_length() // 7))


# ------------------------------------------------------------------------------------------------ reading


def write_pyorc(
    path: Path,
    schema: str,
    rows: Sequence[tuple[object, ...]],
    codec: str,
    *,
    stripe_size: int = 1 << 26,
    block_size: int = 65536,
) -> None:
    with (
        path.open("wb") as file,
        pyorc.Writer(
            file,
            schema,
            batch_size=100,
            compression=CODECS[codec],
            stripe_size=stripe_size,
            compression_block_size=block_size,
            memory_block_size=block_size,
        ) as writer,
    ):
        writer.writerows(rows)


def names_of(reader: pyorc.Reader) -> tuple[str, ...]:
    """Names of the root's fields."""
    assert isinstance(reader.schema, pyorc.Struct)
    return tuple(reader.schema.fields)


def check_against_pyorc(path: Path, columns: Sequence[str]) -> Tail:
    """Rows, stripes, names and the ranges of integer columns (top level, by name) are those that pyorc tells."""
    tail = tail_of(path)
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        stripes = [reader.read_stripe(i) for i in range(reader.num_of_stripes)]
        assert tail.rows == len(reader)
        assert tail.stripe_rows == tuple(len(stripe) for stripe in stripes)
        assert tail.top_level_names == names_of(reader)
        assert tail.codec == next(name for name, kind in CODECS.items() if kind == reader.compression)
        for name in columns:
            number = reader.schema.find_column_id(name)
            assert tail.integer_range(number) == told_range(reader[number].statistics)
            assert tail.stripe_integer_ranges(number) == tuple(told_range(s[number].statistics) for s in stripes)
    return tail


def told_range(statistics: dict[str, object]) -> tuple[object, object] | None:
    if "minimum" not in statistics:
        return None
    return statistics["minimum"], statistics["maximum"]


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_of_each_codec_has_the_facts_that_pyorc_reads(codec: str, tmp_path: Path) -> None:
    rows = [(i * 7 - 30_000, -i, f"text {i}") for i in range(20_000)]
    path = tmp_path / "x.orc"
    write_pyorc(path, "struct<a:bigint,b:int,c:string>", rows, codec, stripe_size=4096)
    tail = check_against_pyorc(path, ("a", "b"))
    assert tail.rows == 20_000
    assert len(tail.stripe_rows) > 1
    assert tail.integer_range(1) == (-30_000, 19_999 * 7 - 30_000)


@pytest.mark.parametrize("codec", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_a_file_of_arrow_has_the_facts_that_pyorc_reads(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "x.orc"
    table = pa.table({"a": list(range(5000)), "b": [None] * 5000, "c": ["x"] * 5000})
    table = table.set_column(1, "b", pa.array([None] * 5000, pa.int32()))
    arrow_orc.write_table(table, str(path), compression=codec)
    assert check_against_pyorc(path, ("a", "b")).integer_range(1) == (0, 4999)


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_of_spark_has_the_facts_that_pyorc_reads(codec: str, spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 9000, 1, 1).selectExpr("id - 5 AS a", "CAST(id % 10 AS INT) AS b", "'x' AS c")
    frame.write.option("compression", codec).option("orc.stripe.size", "4096").orc(f"{tmp_path}/out")
    (path,) = (tmp_path / "out").glob("*.orc")
    assert check_against_pyorc(path, ("a", "b")).integer_range(2) == (0, 9)


@pytest.mark.parametrize("writer", ["pyorc", "arrow", "spark"])
def test_bounds_of_values_are_those_of_the_values(writer: str, spark: SparkSession, tmp_path: Path) -> None:
    """Of columns all of whose values are known; a text over 1024 bytes is cut in the statistics of some writers."""
    texts = ["ab\u00e9", "\u20ac", "", "z" * 1500, "A"]
    days = [date(1600, 1, 1), date(1969, 12, 31), date(2020, 2, 29), date(9999, 12, 31), date(1970, 1, 1)]
    prices = [Decimal(x) for x in ("-12.50", "0.01", "99999.99", "3.00", "-12.49")]
    rows = list(zip(range(-2, 3), texts, days, prices, [None] * 5, strict=True))
    names, kinds = ("i", "s", "d", "p", "n"), ("int", "string", "date", "decimal(10,2)", "int")
    path = tmp_path / "x.orc"
    if writer == "pyorc":
        write_pyorc(path, f"struct<{','.join(f'{n}:{k}' for n, k in zip(names, kinds, strict=True))}>", rows, "zlib")
    else:
        types = (pa.int32(), pa.string(), pa.date32(), pa.decimal128(10, 2), pa.int32())
        columns = [pa.array([r[i] for r in rows], kind) for i, kind in enumerate(types)]
        table = pa.table(dict(zip(names, columns, strict=True)))
        if writer == "arrow":
            arrow_orc.write_table(table, str(path))
        else:
            frame_of_arrow(spark, table).coalesce(1).write.orc(f"{tmp_path}/out")
            (path,) = (tmp_path / "out").glob("*.orc")
    tail = tail_of(path)
    bounds = [tail.value_range(place, parse_type(kind)) for place, kind in enumerate(kinds)]
    assert bounds[0] == (Decimal(-2), Decimal(2))
    assert bounds[1] is not None
    assert bounds[1][0] == b""
    assert bounds[1][1] >= "\u20ac".encode()  # type: ignore[operator]
    assert bounds[2] == (min(days), max(days))
    assert bounds[3] == (min(prices), max(prices))
    assert bounds[4] is None
    assert tail_of(path).value_range(0, parse_type("double")) is None


def golden_files() -> list[Path]:
    """Files with ACID columns that Hive wrote: of all kinds, those of a few cases."""
    cases = ("aborted_open", "all_types", "bucketed", "insert_overwrite_empty", "major_compacted_query", "multi_writer")
    return sorted(p for case in cases for p in (GOLDEN / case).rglob("bucket_*"))


def test_files_of_hive_have_the_facts_that_pyorc_reads() -> None:
    paths = golden_files()
    assert len(paths) > 20
    for path in paths:
        with path.open("rb") as file:
            names = names_of(pyorc.Reader(file))
        assert tuple(name.lower() for name in names[1:5]) == tuple(name.lower() for name in EVENT_COLUMNS)
        check_against_pyorc(path, names[1:5])


def test_footers_of_hive_are_written_back_byte_for_byte() -> None:
    for path in golden_files():
        tail = tail_of(path)
        for message in (tail.footer, tail.postscript, decode(tail.stripe_statistics)):
            assert decode(encode(message)) == message
        assert encode(tail.postscript) == path.read_bytes()[-1 - len(encode(tail.postscript)) : -1]


def test_instants_of_hive_are_told_from_its_timestamps() -> None:
    def has_instants(case: str) -> set[bool]:
        return {tail_of(path).has_unnamed_instants for path in (GOLDEN / case).rglob("bucket_*")}

    assert has_instants("timestamp_ltz") == {True}
    assert has_instants("all_types") == {False}


@pytest.mark.parametrize("codec", CODECS)
def test_an_end_that_is_longer_than_the_first_guess_is_read_whole(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "wide.orc"
    names = [f"a_rather_long_column_name_so_that_the_footer_grows_{i:04}" for i in range(600)]
    schema = f"struct<{','.join(f'{name}:int' for name in names)}>"
    write_pyorc(path, schema, [tuple(range(i, i + 600)) for i in range(10)], codec)
    assert read_tail(str(path), path.stat().st_size, FILES.read_end(str(path), path.stat().st_size, 200)) != 0
    tail = check_against_pyorc(path, (names[0], names[599]))
    assert len(encode(tail.footer)) > TAIL_GUESS
    assert tail.top_level_names == tuple(names)


def test_the_statistics_of_very_many_stripes_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "stripes.orc"
    write_pyorc(path, "struct<a:bigint,b:bigint>", [(i, i * i) for i in range(200_000)], "none", stripe_size=1)
    tail = check_against_pyorc(path, ("a", "b"))
    assert len(tail.stripe_statistics) > TAIL_GUESS


def test_a_column_without_integers_has_no_range(tmp_path: Path) -> None:
    path = tmp_path / "x.orc"
    write_pyorc(path, "struct<s:string,n:int>", [("x", None)], "zlib")
    tail = tail_of(path)
    assert (tail.integer_range(1), tail.integer_range(2), tail.integer_range(99)) == (None, None, None)
    assert tail.stripe_integer_ranges(99) == (None,)


@pytest.mark.parametrize(
    ("writes", "statements", "last"), [((1,), (0,), (1, 0, 8)), ((1,), (0, 1), (1, 1, 1)), ((1, 2), (0,), (2, 0, 1))]
)
def test_the_key_of_a_stripe_is_the_row_id_of_its_last_event(
    writes: Sequence[int], statements: Sequence[int], last: Key, tmp_path: Path
) -> None:
    """A later write or statement may have fewer rows, so that its last row has not the highest number."""
    groups = [(write, encode_bucket(0, StatementId(number))) for write in writes for number in statements]
    events = [(0, *group, row) for group, count in zip(groups, (9, 2), strict=False) for row in range(count)]
    path = tmp_path / "x.orc"
    write_pyorc(path, "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint>", events, "none")
    write_id, statement, row_id = last
    assert sorted_keys(FILES, tail_of(path)) == [(write_id, encode_bucket(0, StatementId(statement)), row_id)]


# ------------------------------------------------------------------------------------------------ broken files


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    path = tmp_path / "whole.orc"
    write_pyorc(path, "struct<a:bigint,b:string>", [(i, f"{i}") for i in range(1000)], "zlib")
    return path.read_bytes()


def failure(content: bytes, tmp_path: Path) -> AcidSqlError:
    path = tmp_path / "broken.orc"
    path.write_bytes(content)
    with pytest.raises(AcidSqlError) as caught:
        tail_of(path)
    assert caught.value.condition == "MALFORMED_LAYOUT"
    assert str(path) in caught.value.message
    return caught.value


def test_an_empty_file_is_no_orc_file(tmp_path: Path) -> None:
    assert "too short" in failure(b"", tmp_path).message


def test_a_text_file_is_no_orc_file(tmp_path: Path) -> None:
    failure(b"1,Jerry,5000\n" * 100, tmp_path)
    failure(b"ORC", tmp_path)


def test_a_file_cut_off_anywhere_is_refused(whole: bytes, tmp_path: Path) -> None:
    for length in {*range(0, len(whole), 97), len(whole) - 1, len(whole) - 2, len(whole) - 30}:
        failure(whole[:length], tmp_path)


def test_a_file_whose_head_is_cut_off_is_refused(whole: bytes, tmp_path: Path) -> None:
    assert "longer than the file" in failure(whole[-40:], tmp_path).message


@given(st.binary(min_size=4, max_size=400))
def test_bytes_of_any_kind_are_refused_as_an_orc_file(content: bytes) -> None:
    with pytest.raises(AcidSqlError) as caught:
        read_tail("x", len(content), content)
    assert caught.value.condition == "MALFORMED_LAYOUT"


@given(st.data())
def test_a_damaged_end_is_read_or_refused(data: st.DataObject) -> None:
    buffer = io.BytesIO()
    with pyorc.Writer(buffer, "struct<a:bigint>", compression=data.draw(st.sampled_from(list(CODECS.values())))) as w:
        w.writerows([(i,) for i in range(50)])
    content = bytearray(buffer.getvalue())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with suppress(AcidSqlError):
        read_tail("x", len(content), bytes(content))


# ------------------------------------------------------------------------------------------------ rewriting

COLUMNS = (
    ("id", "int"),
    ("name", "string"),
    ("code", "char(5)"),
    ("label", "varchar(7)"),
    ("price", "decimal(10,2)"),
    ("day", "date"),
    ("tags", "array<string>"),
    ("sizes", "map<string,array<int>>"),
    ("place", "struct<x:int,y:struct<z:string,w:array<double>>>"),
    ("last", "bigint"),
)
NEW_ROW = (
    7,
    "Jerry",
    "ab   ",
    "label",
    Decimal("12.50"),
    date(2024, 2, 29),
    ["x", "y"],
    {"k": [1, 2]},
    (1, ("z", [0.5])),
    -9,
)
ACID = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"


def flat_type(kind: str) -> str:
    return "string" if "char" in kind else kind


def flat_schema() -> str:
    columns = ",".join(f"_c{i}:{flat_type(kind)}" for i, (_, kind) in enumerate(COLUMNS))
    return f"struct<{ACID},row:boolean,{columns}>"


def nested_schema() -> str:
    return f"struct<{ACID},row:struct<{','.join(f'{name}:{kind}' for name, kind in COLUMNS)}>>"


def write_nested(path: Path, codec: str, *, deletes: bool, behind: bool = False) -> list[tuple[object, ...]]:
    """Events of one kind written flat, and nested afterwards, by an end in place of the first or behind it; gives them
    as they are to be read."""
    events: list[tuple[object, ...]] = []
    flat: list[tuple[object, ...]] = []
    for i in range(4000):
        row = None if deletes else (i, hashlib.sha256(b"%d" % i).hexdigest(), *NEW_ROW[2:])
        acid = (2, 1, 536870912, i, 3) if deletes else (0, 3, 536870912, i, 3)
        events.append((*acid, row))
        flat.append((*acid, *((True, *row) if row else (None,) * 11)))
    write_pyorc(path, flat_schema(), flat, codec, stripe_size=1)
    tail = nest_row(tail_of(path), [(name, parse_type(kind)) for name, kind in COLUMNS])
    tail = with_user_metadata(tail, {"hive.acid.version": "2"})
    if behind:
        FILES.append(str(path), encode_second_end(tail))
    else:
        FILES.replace_end(str(path), tail.footer_start, encode_end(tail))
    return events


@pytest.mark.ci
@pytest.mark.parametrize("behind", [False, True], ids=["in place", "behind"])
@pytest.mark.parametrize("deletes", [False, True], ids=["inserts", "deletes"])
@pytest.mark.parametrize("codec", CODECS)
def test_flat_columns_become_the_fields_of_row(codec: str, deletes: bool, behind: bool, tmp_path: Path) -> None:
    path = tmp_path / "nested.orc"
    events = write_nested(path, codec, deletes=deletes, behind=behind)
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        assert str(reader.schema) == nested_schema()
        assert reader.user_metadata == {"hive.acid.version": b"2"}
        assert deletes or reader.num_of_stripes > 1
        assert list(reader) == events
    check_against_pyorc(path, EVENT_COLUMNS)


@pytest.mark.ci
@pytest.mark.parametrize("behind", every(3, [False, True]), ids=["in place", "behind"])
@pytest.mark.parametrize("codec", ["none", "zlib", "zstd"])
def test_spark_reads_a_nested_file_and_filters_in_it(
    codec: str, behind: bool, spark: SparkSession, tmp_path: Path
) -> None:
    inserts, deletes = tmp_path / "inserts.orc", tmp_path / "deletes.orc"
    write_nested(inserts, codec, deletes=False, behind=behind)
    write_nested(deletes, codec, deletes=True, behind=behind)
    columns = ",".join(f"{name}:{flat_type(kind)}" for name, kind in COLUMNS)
    acid = "operation int, originalTransaction bigint, bucket int, rowId bigint, currentTransaction bigint"
    frame = spark.read.schema(f"{acid}, row struct<{columns}>").orc([str(inserts), str(deletes)])
    rows = frame.collect()  # whole: ORC wraps a reader's schema that has not all six columns (spark-findings.md 2)
    assert [row.rowId for row in rows if row.row is None] == list(range(4000))
    assert [row.rowId for row in rows if row.row is not None] == list(range(4000))
    assert {row.operation for row in rows if row.row is None} == {2}
    (row,) = (found.row for found in frame.where("rowId = 3999 AND row.id = 3999").collect())
    assert row.asDict(recursive=True) == {
        "id": 3999,
        "name": hashlib.sha256(b"3999").hexdigest(),
        "code": "ab",
        "label": "label",
        "price": Decimal("12.50"),
        "day": date(2024, 2, 29),
        "tags": ["x", "y"],
        "sizes": {"k": [1, 2]},
        "place": {"x": 1, "y": {"z": "z", "w": [0.5]}},
        "last": -9,
    }


def test_a_footer_longer_than_a_compression_block_is_cut_into_chunks(spark: SparkSession, tmp_path: Path) -> None:
    """ORC's Java reader has a buffer of the block's size and fails on a longer chunk."""
    path = tmp_path / "wide.orc"
    names = [f"a_rather_long_column_name_so_that_the_footer_grows_{i:04}" for i in range(300)]
    flat = f"struct<{ACID},row:boolean,{','.join(f'_c{i}:int' for i in range(300))}>"
    row = (0, 1, 536870912, 0, 1, True, *range(300))
    write_pyorc(path, flat, [row], "zlib", block_size=4096)
    tail = nest_row(tail_of(path), [(name, parse_type("int")) for name in names])
    FILES.replace_end(str(path), tail.footer_start, encode_end(tail))
    assert len(encode(tail.footer)) > 2 * 4096
    with path.open("rb") as file:
        assert list(pyorc.Reader(file)) == [(0, 1, 536870912, 0, 1, tuple(range(300)))]
    (read,) = spark.read.orc(str(path)).collect()
    assert tuple(read.row) == tuple(range(300))
