"""Columns that are added to an ORC file as ready-made streams are read back by ORC's C++ reader and by Spark."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import orc as arrow_orc
from pyorc.predicates import PredicateColumn
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.added_columns import AddedColumn, with_columns
from acidsql.storage.orc.footer_messages import FOOTER_ENCRYPTION, KIND_INT, KIND_LONG, KIND_STRUCT
from acidsql.storage.orc.integer_runs import Sequence
from acidsql.storage.orc.protobuf import BYTES, Field
from acidsql.storage.orc.rewrite import encode_second_end
from acidsql.storage.orc.tail import read_tail
from tests.selection import every
from tests.support.acid_files import check_file, event_files

FILES = LocalFiles()
CODECS = {
    "none": pyorc.CompressionKind.NONE,
    "zlib": pyorc.CompressionKind.ZLIB,
    "snappy": pyorc.CompressionKind.SNAPPY,
    "lz4": pyorc.CompressionKind.LZ4,
    "zstd": pyorc.CompressionKind.ZSTD,
}
ACID = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
ROW = "row:struct<id:bigint,c:char(3),tags:array<int>>"
SCHEMA = "struct<k:bigint,tags:array<string>>"


def written(rows: int, codec: str, stride: int, block_size: int = 65536, stripe_size: int = 1 << 26) -> bytes:
    """A file with the columns `k`, which counts from 0, and `tags`."""
    out = io.BytesIO()
    with pyorc.Writer(
        out,
        SCHEMA,
        batch_size=100,
        stripe_size=stripe_size,
        row_index_stride=stride,
        compression=CODECS[codec],
        compression_block_size=block_size,
        memory_block_size=min(block_size, 65536),
        bloom_filter_columns=("k",) if stride else None,
    ) as writer:
        writer.writerows((k, None if k % 7 == 0 else [str(k), None]) for k in range(rows))
    return out.getvalue()


def with_added(path: Path, content: bytes, added: Mapping[int, AddedColumn]) -> bytes:
    path.write_bytes(content)
    tail = read_tail(str(path), len(content), content)
    assert not isinstance(tail, int)
    pieces, whole = with_columns(io.BytesIO(content), tail, added)
    target = path.with_suffix(".whole")
    FILES.assemble(str(target), (*pieces, encode_second_end(whole)))
    assert target.stat().st_size == whole.size + len(encode_second_end(whole))
    return target.read_bytes()


def columns(first: int, step: int, constant: int) -> dict[int, AddedColumn]:
    return {
        1: AddedColumn("constant", KIND_INT, Sequence(constant)),
        2: AddedColumn("counted", KIND_LONG, Sequence(first, step)),
        3: AddedColumn("inner", KIND_STRUCT, None),
    }


counts = st.sampled_from([1, 2, 3, 510, 511, 512, 513, 514, 1024, 1025, 2999, 3000, 3001]) | st.integers(1, 3000)
ints = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.ci
@settings(max_examples=25, deadline=None)
@given(
    counts, st.integers(-(2**50), 2**50), st.integers(-(2**40), 2**40), ints,
    st.sampled_from(sorted(CODECS)), st.sampled_from([0, 100, 512, 1000]), st.sampled_from([128, 65536]), st.data(),
)  # fmt: skip
@example(9_999, 0, 1, 0, "snappy", 10_000, 65536, None)
@example(10_000, 0, 1, 0, "snappy", 10_000, 65536, None)
@example(10_001, 0, 1, 0, "zlib", 10_000, 65536, None)
@example(40_000, 2**33, 1, 7, "none", 10_000, 65536, None)
def test_added_columns_are_read_back_from_any_row_on(
    tmp_path_factory: pytest.TempPathFactory,
    rows: int,
    first: int,
    step: int,
    constant: int,
    codec: str,
    stride: int,
    block_size: int,
    data: st.DataObject | None,
) -> None:
    source = written(rows, codec, stride, block_size, stripe_size=4096)
    content = with_added(tmp_path_factory.mktemp("orc") / "rows", source, columns(first, step, constant))
    read = pyorc.Reader(io.BytesIO(content))
    expected = [(constant, first + step * k, (), k, None if k % 7 == 0 else [str(k), None]) for k in range(rows)]
    assert str(read.schema) == f"struct<constant:int,counted:bigint,inner:struct<>,{SCHEMA.removeprefix('struct<')}"
    assert list(read) == expected
    table = arrow_orc.ORCFile(pa.BufferReader(content)).read(columns=["constant", "counted", "k"])
    assert table["counted"].to_pylist() == [row[1] for row in expected]
    assert set(table["constant"].to_pylist()) == {constant}
    if stride:
        row = rows - 1 if data is None else data.draw(st.integers(0, rows - 1))
        # pyorc fails to skip texts that it has not read, in the file that it wrote as well.
        read = pyorc.Reader(io.BytesIO(content), column_names=["constant", "counted", "k"])
        read.seek(row)
        assert next(read) == (constant, first + step * row, row)


@pytest.mark.parametrize("codec", CODECS)
def test_the_statistics_of_added_columns_find_every_row(tmp_path: Path, codec: str) -> None:
    content = with_added(tmp_path / "rows", written(20_000, codec, 1000, stripe_size=8192), columns(5, 3, -4))
    for row in (0, 999, 1000, 10_500, 19_999):
        wanted = PredicateColumn(pyorc.TypeKind.LONG, "counted") == 5 + 3 * row
        found = [r[3] for r in pyorc.Reader(io.BytesIO(content), predicate=wanted)]
        assert row in found
        assert len(found) <= 1000
    nowhere = PredicateColumn(pyorc.TypeKind.INT, "constant") == -5
    assert list(pyorc.Reader(io.BytesIO(content), predicate=nowhere)) == []
    by_own_column = PredicateColumn(pyorc.TypeKind.LONG, "k") == 12_345
    assert 12_345 in [r[3] for r in pyorc.Reader(io.BytesIO(content), predicate=by_own_column)]


def test_statistics_of_file_and_stripes_are_those_of_the_values(tmp_path: Path) -> None:
    content = with_added(tmp_path / "rows", written(20_000, "zlib", 1000, stripe_size=8192), columns(5, -3, -4))
    reader = pyorc.Reader(io.BytesIO(content))
    assert reader.num_of_stripes > 1
    assert reader[2].statistics == {
        "kind": pyorc.TypeKind.LONG, "has_null": False, "number_of_values": 20_000,
        "minimum": 5 - 3 * 19_999, "maximum": 5, "sum": sum(5 - 3 * k for k in range(20_000)),
    }  # fmt: skip
    for stripe in reader.iter_stripes():
        values = [row[1] for row in stripe]
        found = stripe[2].statistics
        assert (found["minimum"], found["maximum"]) == (min(values), max(values))
        assert (found["sum"], found["number_of_values"]) == (sum(values), len(values))
    tail = read_tail("rows", len(content), content)
    assert not isinstance(tail, int)
    assert tail.integer_range(1) == (-4, -4)


def test_a_sum_beyond_64_bits_is_left_out(tmp_path: Path) -> None:
    content = with_added(tmp_path / "rows", written(5, "zlib", 1000), columns(2**62, 1, 0))
    assert [row[1] for row in pyorc.Reader(io.BytesIO(content))] == [2**62 + k for k in range(5)]
    assert "sum" not in pyorc.Reader(io.BytesIO(content))[2].statistics


def test_columns_may_be_added_on_both_sides_of_the_first(tmp_path: Path) -> None:
    added = {1: AddedColumn("before", KIND_LONG, Sequence(1)), 3: AddedColumn("behind", KIND_INT, Sequence(0, 2))}
    content = with_added(tmp_path / "rows", written(2000, "snappy", 500), added)
    reader = pyorc.Reader(io.BytesIO(content))
    assert str(reader.schema) == "struct<before:bigint,k:bigint,behind:int,tags:array<string>>"
    assert list(reader)[1001] == (1, 1001, 2002, None)


def test_a_file_without_rows_gets_the_columns(tmp_path: Path) -> None:
    content = with_added(tmp_path / "rows", written(0, "zlib", 1000), columns(0, 1, 0))
    reader = pyorc.Reader(io.BytesIO(content))
    assert str(reader.schema).startswith("struct<constant:int,counted:bigint,inner:struct<>,k:bigint,")
    assert list(reader) == []


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    content = written(5, "zlib", 1000)
    tail = read_tail(str(tmp_path / "rows"), len(content), content)
    assert not isinstance(tail, int)
    encrypted = replace(tail, footer=(*tail.footer, Field(FOOTER_ENCRYPTION, BYTES, b"")))
    with pytest.raises(AcidSqlError, match="encrypted"):
        with_columns(io.BytesIO(content), encrypted, columns(0, 1, 0))


# ------------------------------------------------------------------------------------------------ through Spark


@pytest.mark.ci
@pytest.mark.parametrize("properties", every(3, [
    "", ", 'orc.compress'='NONE', 'orc.stripe.size'='100000', 'orc.row.index.stride'='1000'",
    ", 'orc.compress'='ZLIB', 'orc.create.index'='false', 'orc.compress.size'='1024'",
]))  # fmt: skip
def test_an_insert_and_a_compaction_leave_files_as_hive_has_them(
    session: Session, spark: SparkSession, properties: str
) -> None:
    session.execute(
        "CREATE TABLE t (id bigint, c char(3), tags array<int>) STORED AS ORC"
        f" TBLPROPERTIES ('transactional'='true', 'orc.bloom.filter.columns'='id'{properties})"
    )
    rows = spark.range(0, 30_011, 1, 2).selectExpr("id", "'x' AS c", "array(CAST(id AS INT)) AS tags")
    session.sql("INSERT INTO t SELECT * FROM {rows} WHERE id > 10", rows=rows)
    found = session.sql("SELECT row__id.writeid w, row__id.bucketid b, row__id.rowid r, id, c, tags FROM t").collect()
    assert sorted((row.b >> 16 & 0xFFF, row.r) for row in found) == [
        *((0, n) for n in range(14_994)),
        *((1, n) for n in range(15_006)),
    ]
    assert {(row.w, row.c.rstrip()) for row in found} == {(1, "x")}
    assert all(row.tags == [row.id] for row in found)
    assert {row.id: row.r for row in found} == {i: i - (11 if i < 15_005 else 15_005) for i in range(11, 30_011)}
    for wanted in (11, 15_004, 15_005, 30_010):
        assert [tuple(r) for r in session.sql(f"SELECT id FROM t WHERE id = {wanted}").collect()] == [(wanted,)]
    directory = Path(session.catalog.table("default", "t").location.removeprefix("file://"))
    files = event_files(directory)
    assert [file.bucket for file in files] == [0, 1]
    for file in files:
        check_file(file, f"struct<{ACID},{ROW}>")
    assert ("stripe.size" in properties) == (len(files[0].stripes) > 1)
    session.execute("DELETE FROM t WHERE id % 10 < 9")
    assert session.sql("SELECT count(*), min(id), max(id) FROM t").collect()[0] == (3000, 19, 30_009)
    kept = [event for file in files for event in file.events if event[5] is not None and event[5][0] % 10 == 9]
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    compacted = [file for file in event_files(directory) if file.directory.startswith("base_")]
    assert [file.bucket for file in compacted] == [0, 1]
    for file, before in zip(compacted, files, strict=True):
        check_file(replace(file, directory=before.directory), f"struct<{ACID},{ROW}>")
    assert [event for file in compacted for event in file.events] == kept
    assert session.sql("SELECT count(*), min(id), max(id) FROM t").collect()[0] == (3000, 19, 30_009)
