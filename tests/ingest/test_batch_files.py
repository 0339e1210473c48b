"""The files of a transaction batch: what readers see of them at each step."""

from __future__ import annotations

import datetime
import io
import json
import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest
from pyspark.sql import SparkSession

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError
from acidsql.ingest.delta_files import BatchFiles
from acidsql.session import Session, connect
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.local_files import LocalFiles
from acidsql.values.file_schema import file_schema

ACID = {"transactional": "true"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
BATCH = [WriteId(w) for w in (3, 4, 5, 6)]
BUCKET = 1 << 29


def table_at(directory: Path, properties: dict[str, str] = ACID, **columns: str) -> Table:
    directory.mkdir(exist_ok=True)
    described = tuple(Column(name, kind) for name, kind in (columns or {"id": "int", "name": "string"}).items())
    return Table("default", "t", described, str(directory), properties=properties)


def rows(table: Table, *values: Sequence[object]) -> pa.Table:
    schema = file_schema(table)
    return pa.table([pa.array([v[i] for v in values], f.type) for i, f in enumerate(schema)], names=schema.names)


def numbered(table: Table, *numbers: int) -> pa.Table:
    return rows(table, *((n, f"n{n}") for n in numbers))


def events(path: Path, length: int | None = None) -> list[tuple[object, ...]]:
    """Write ID, row ID and ID of the rows in the first bytes of a file."""
    content = path.read_bytes()[:length]
    return [(event[1], event[3], event[5][0]) for event in pyorc.Reader(io.BytesIO(content))]


def flushed(path: Path) -> list[int]:
    content = path.with_name(f"{path.name}_flush_length").read_bytes()
    return [int.from_bytes(content[i : i + 8], "big") for i in range(0, len(content), 8)]


def adopt(session: Session, table: Table, aborted: str = "") -> None:
    """Makes the files those of the table `t`, whose write IDs up to 6 have committed, but for aborted ones."""
    columns = ", ".join(f"{c.name} {c.type}" for c in table.columns)
    known = {**table.properties, "acidsql.adopt.writeids": f"6:9223372036854775807::{aborted}"}
    properties = ", ".join(f"'{name}'='{value}'" for name, value in known.items())
    session.sql(
        f"CREATE TABLE t ({columns}) STORED AS {table.file_format} LOCATION '{table.location}'"
        f" TBLPROPERTIES ({properties})"
    )


def names(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file())


def test_each_flush_makes_a_whole_file_of_all_rows_so_far(tmp_path: Path) -> None:
    table = table_at(tmp_path / "t")
    batch = BatchFiles(table, LocalFiles(), BATCH)
    batch.append(BATCH[0], table.location, 0, numbered(table, 1, 2))
    batch.append(BATCH[0], table.location, 0, numbered(table, 3))
    path = tmp_path / "t/delta_0000003_0000006/bucket_00000"
    assert flushed(path) == [0]
    batch.flush(BATCH[0])
    batch.append(BATCH[1], table.location, 0, numbered(table, 4))
    batch.append(BATCH[1], table.location, 2, numbered(table, 5))
    batch.flush(BATCH[1])
    lengths = flushed(path)
    assert lengths[-1] == path.stat().st_size
    first = [(3, 0, 1), (3, 1, 2), (3, 2, 3)]
    assert events(path, lengths[1]) == first
    assert events(path, lengths[2]) == [*first, (4, 0, 4)]
    assert events(path.with_name("bucket_00002")) == [(4, 0, 5)]
    batch.close()
    batch.close()
    assert names(tmp_path / "t") == [
        f"delta_0000003_0000006/{name}" for name in ("_orc_acid_version", "bucket_00000", "bucket_00002")
    ]
    with path.open("rb") as file:
        metadata = pyorc.Reader(file).user_metadata
        assert json.loads(metadata.pop("acidsql.commit"))["operation"] == "STREAM"
        assert metadata == {
            "hive.acid.key.index": f"3,{BUCKET},1;3,{BUCKET},2;4,{BUCKET},0;".encode(),
            "hive.acid.stats": b"4,0,0",
            "hive.acid.version": b"2",
        }


def test_what_is_dropped_leaves_nothing_behind(tmp_path: Path) -> None:
    table = table_at(tmp_path / "t")
    batch = BatchFiles(table, LocalFiles(), BATCH)
    batch.append(BATCH[0], table.location, 0, numbered(table, 1))
    batch.flush(BATCH[0])
    path = tmp_path / "t/delta_0000003_0000006/bucket_00000"
    before = path.read_bytes()
    batch.append(BATCH[1], table.location, 0, numbered(table, 2, 3))
    batch.append(BATCH[1], table.location, 1, numbered(table, 4))
    batch.append(BATCH[1], f"{table.location}/elsewhere", 1, numbered(table, 4))
    batch.drop(BATCH[1])
    assert path.read_bytes() == before
    assert names(path.parent) == ["_orc_acid_version", "bucket_00000", "bucket_00000_flush_length"]
    batch.append(BATCH[1], table.location, 0, numbered(table, 5))
    batch.flush(BATCH[1])
    batch.append(BATCH[1], table.location, 0, numbered(table, 6))
    batch.close()
    assert events(path) == [(3, 0, 1), (4, 0, 5)]
    assert not (tmp_path / "t/elsewhere/delta_0000003_0000006").exists()


def test_an_unfinished_transaction_is_never_read(session: Session, tmp_path: Path) -> None:
    """At every step, a reader finds the rows of valid write IDs that were flushed."""
    table = table_at(tmp_path / "t")
    adopt(session, table, aborted="5,6")
    batch = BatchFiles(table, LocalFiles(), BATCH)

    def seen() -> list[tuple[object, ...]]:
        return [tuple(r) for r in session.sql("SELECT row__id.writeid, row__id.rowid, id FROM t ORDER BY id").collect()]

    batch.append(BATCH[0], table.location, 0, numbered(table, 1, 2))
    assert seen() == []
    batch.flush(BATCH[0])
    first = [(3, 0, 1), (3, 1, 2)]
    assert seen() == first
    batch.append(BATCH[1], table.location, 0, numbered(table, 3))
    assert seen() == first
    batch.flush(BATCH[1])
    assert seen() == [*first, (4, 0, 3)]
    batch.append(BATCH[2], table.location, 0, numbered(table, 4))
    batch.flush(BATCH[2])
    batch.append(BATCH[3], table.location, 0, numbered(table, 5))
    batch.flush(BATCH[3])
    assert seen() == [*first, (4, 0, 3)]
    batch.close()
    assert seen() == [*first, (4, 0, 3)]
    session.execute("UPDATE t SET name = 'new' WHERE id = 2")
    session.execute("DELETE FROM t WHERE id = 3")
    assert [r[2] for r in seen()] == [1, 2]
    assert session.sql("SELECT name FROM t WHERE id = 2").collect()[0][0] == "new"


def test_a_single_transaction_has_a_plain_delta_whose_files_appear_when_they_are_complete(tmp_path: Path) -> None:
    table = table_at(tmp_path / "t")
    batch = BatchFiles(table, LocalFiles(), BATCH[:1])
    batch.append(BATCH[0], table.location, 1, numbered(table, 1))
    delta = tmp_path / "t/delta_0000003_0000003_0000"
    assert [n for n in names(delta) if n[0] not in "._"] == []
    batch.flush(BATCH[0])
    assert names(delta) == ["_orc_acid_version", "bucket_00001"]
    batch.append(BATCH[0], table.location, 1, numbered(table, 2))
    batch.flush(BATCH[0])
    assert batch.is_intact()
    batch.append(BATCH[0], table.location, 1, numbered(table, 3))
    batch.drop(BATCH[0])
    batch.close()
    assert events(delta / "bucket_00001") == [(3, 0, 1), (3, 1, 2)]
    assert names(delta) == ["_orc_acid_version", "bucket_00001"]


def test_an_insert_only_table_gets_a_delta_for_each_transaction(session: Session, tmp_path: Path) -> None:
    table = table_at(tmp_path / "t", INSERT_ONLY)
    batch = BatchFiles(table, LocalFiles(), BATCH)
    for write_id in BATCH[:2]:
        batch.append(write_id, table.location, 0, numbered(table, write_id))
        batch.flush(write_id)
    batch.append(BATCH[2], table.location, 0, numbered(table, 9))
    batch.close()
    assert names(tmp_path / "t") == ["delta_0000003_0000003_0000/000000_0", "delta_0000004_0000004_0000/000000_0"]
    adopt(session, table)
    assert [tuple(r) for r in session.sql("SELECT * FROM t ORDER BY id").collect()] == [(3, "n3"), (4, "n4")]


def test_a_parquet_table_keeps_times_of_all_ages(session: Session, tmp_path: Path) -> None:
    columns = {"k": "int", "d": "date", "t": "timestamp", "n": "struct<t:timestamp,a:array<date>>", "p": "decimal(9,2)"}
    table = replace(table_at(tmp_path / "t", INSERT_ONLY, **columns), file_format="parquet")
    days = [datetime.date(y, 2, 28) for y in (1, 1582, 1969, 2024)]
    times = [datetime.datetime(d.year, d.month, d.day, 23, 59, 58, 999999) for d in days]
    values = [(k, d, t, {"t": t, "a": [d]}, None) for k, (d, t) in enumerate(zip(days, times, strict=True))]
    batch = BatchFiles(table, LocalFiles(), BATCH)
    batch.append(BATCH[0], table.location, 0, rows(table, *values[:1]))
    batch.append(BATCH[0], table.location, 0, rows(table, *values[1:2]))
    batch.flush(BATCH[0])
    batch.append(BATCH[0], table.location, 0, rows(table, *values[2:3]))
    batch.flush(BATCH[0])
    batch.append(BATCH[1], table.location, 2, rows(table, *values[3:]))
    batch.flush(BATCH[1])
    batch.append(BATCH[1], table.location, 2, rows(table, *values))
    assert batch.is_intact()
    batch.drop(BATCH[1])
    with pytest.raises(AcidSqlError):
        batch.append(BATCH[1], table.location, 2, rows(table, (9, datetime.date(1582, 10, 10), None, None, None)))
    batch.close()
    assert names(tmp_path / "t") == [
        "delta_0000003_0000003_0000/000000_0",
        "delta_0000003_0000003_0000/000000_0_copy_1",
        "delta_0000004_0000004_0000/000002_0",
    ]
    adopt(session, table)
    found = session.sql(
        "SELECT CAST(d AS STRING), CAST(t AS STRING), CAST(n.t AS STRING), CAST(n.a[0] AS STRING) FROM t ORDER BY k"
    ).collect()
    assert [tuple(r) for r in found] == [(str(d), str(t), str(t), str(d)) for d, t in zip(days, times, strict=True)]


def test_files_that_were_removed_and_bases_that_hide_later_rows_are_noticed(tmp_path: Path) -> None:
    table = table_at(tmp_path / "t")
    batch = BatchFiles(table, LocalFiles(), BATCH)
    assert batch.is_intact()
    batch.append(BATCH[0], table.location, 0, numbered(table, 1))
    batch.flush(BATCH[0])
    (tmp_path / "t/base_0000002").mkdir()
    (tmp_path / "t/base_0000005_v0000009").mkdir()
    assert batch.is_intact()
    (tmp_path / "t/base_0000004").mkdir()
    assert not batch.is_intact()
    (tmp_path / "t/base_0000004").rmdir()
    path = tmp_path / "t/delta_0000003_0000006/bucket_00000"
    content = path.read_bytes()
    os.rename(path, tmp_path / "kept")  # its inode stays in use
    assert not batch.is_intact()
    path.write_bytes(content)
    assert not batch.is_intact()
    with pytest.raises(AcidSqlError):
        batch.append(BATCH[1], table.location, 0, numbered(table, 2))
    batch.close()
    assert path.read_bytes() == content


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_files_that_a_compaction_removes_after_their_commit_are_not_missed(tmp_path: Path, file_format: str) -> None:
    table = replace(table_at(tmp_path / "t", INSERT_ONLY), file_format=file_format)
    batch = BatchFiles(table, LocalFiles(), BATCH)
    batch.append(BATCH[0], table.location, 0, numbered(table, 1))
    batch.flush(BATCH[0])
    shutil.rmtree(tmp_path / "t/delta_0000003_0000003_0000")
    assert batch.is_intact()
    batch.append(BATCH[1], table.location, 0, numbered(table, 2))
    shutil.rmtree(tmp_path / "t/delta_0000004_0000004_0000")
    assert not batch.is_intact()


def test_a_delta_of_a_table_that_was_created_again_is_not_written_to(tmp_path: Path) -> None:
    table = table_at(tmp_path / "t")
    (tmp_path / "t/delta_0000003_0000006").mkdir()
    batch = BatchFiles(table, LocalFiles(), BATCH)
    with pytest.raises(FileExistsError):
        batch.append(BATCH[0], table.location, 0, numbered(table, 1))
    batch.close()
    assert (tmp_path / "t/delta_0000003_0000006").exists()


def test_old_dates_and_times_are_read_back(session: Session, tmp_path: Path) -> None:
    columns = {
        "d": "date",
        "t": "timestamp",
        "i": "timestamp with local time zone",
        "n": "struct<m:map<date,timestamp>,a:array<struct<d:date>>>",
        "c": "char(4)",
        "p": "decimal(20,3)",
    }
    table = table_at(tmp_path / "t", ACID, **columns)
    days = [datetime.date(y, 2, 28) for y in (1, 4, 1000, 1582, 1600, 1969, 2024)]
    days += [datetime.date(1582, 10, 4), datetime.date(1582, 10, 15), datetime.date(1500, 3, 1)]
    times = [datetime.datetime(d.year, d.month, d.day, 23, 59, 58) for d in days]
    days.append(datetime.date(1969, 12, 31))
    times.append(datetime.datetime(1969, 12, 31, 23, 59, 59))
    values = [
        (d, t, t, {"m": [(d, t)], "a": [None, {"d": d}, {"d": None}]}, "ab", None)
        for d, t in zip(days, times, strict=True)
    ]
    batch = BatchFiles(table, LocalFiles(), BATCH)
    batch.append(BATCH[0], table.location, 0, rows(table, *values, (None,) * 6))
    batch.flush(BATCH[0])
    adopt(session, table)
    session.execute("SET hive.local.time.zone = UTC")
    found = session.sql(
        "SELECT CAST(d AS STRING), CAST(t AS STRING), CAST(map_keys(n.m)[0] AS STRING),"
        " CAST(map_values(n.m)[0] AS STRING), CAST(n.a[1].d AS STRING), CAST(i AS STRING) FROM t ORDER BY row__id.rowid"
    ).collect()
    for d, t, row in zip(days, times, found, strict=False):
        assert tuple(row) == (str(d), str(t), str(d), str(t), str(d), f"{t}.0 UTC"), (d, row)
    assert tuple(found[-1]) == (None,) * 6
    batch.close()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("timestamp", datetime.datetime(1969, 12, 31, 1, 2, 3, 500000)),
        ("timestamp with local time zone", datetime.datetime(1500, 12, 31, 1, 2, 3, 1)),
        ("map<string,array<timestamp>>", [("a", [None, datetime.datetime(1900, 1, 1, 0, 0, 0, 7)])]),
        ("date", datetime.date(1582, 10, 10)),
        ("struct<a:struct<d:timestamp>>", {"a": {"d": datetime.datetime(1582, 10, 5)}}),
    ],
)
def test_a_value_that_the_file_cannot_hold_is_refused_before_anything_is_written(
    kind: str, value: object, tmp_path: Path
) -> None:
    table = table_at(tmp_path / "t", k="int", v=kind)
    batch = BatchFiles(table, LocalFiles(), BATCH)
    with pytest.raises(AcidSqlError) as caught:
        batch.append(BATCH[0], table.location, 0, rows(table, (1, None), (2, value)))
    assert caught.value.condition == "INVALID_STORE_VALUE"
    assert "column v of type" in str(caught.value)
    assert names(tmp_path / "t") == []


@pytest.mark.parametrize("properties", [ACID, INSERT_ONLY])
def test_another_file_system_gets_whole_files(spark: SparkSession, tmp_path: Path, properties: dict[str, str]) -> None:
    """viewfs is a file system of Hadoop's that is not the local one."""
    host = f"m{uuid.uuid4().hex}"
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.set(f"fs.viewfs.mounttable.{host}.link./warehouse", f"file://{tmp_path}")
    table = replace(table_at(tmp_path / "t", properties), location=f"viewfs://{host}/warehouse/t")
    with connect(f"viewfs://{host}/warehouse/w", metastore=f"sqlite:///{tmp_path}/m.db", spark=spark) as session:
        batch = BatchFiles(table, HadoopFiles(spark._jvm, conf), BATCH)
        for write_id in BATCH[:2]:
            batch.append(write_id, table.location, 0, numbered(table, write_id))
            batch.flush(write_id)
            batch.append(write_id, table.location, 0, numbered(table, write_id + 10))
            batch.flush(write_id)
            assert batch.is_intact()
        batch.append(BATCH[2], table.location, 1, numbered(table, 0))
        batch.drop(BATCH[2])
        batch.close()
        adopt(session, table)
        assert [r[0] for r in session.sql("SELECT id FROM t ORDER BY id").collect()] == [3, 4, 13, 14]
    deltas = {name.split("/")[0] for name in names(tmp_path / "t")}
    assert deltas == {"delta_0000003_0000003_0000", "delta_0000004_0000004_0000"}
    assert not [name for name in names(tmp_path / "t") if "/." in name and not name.endswith(".crc")]


OTHER_CODECS = [pytest.param(codec, marks=pytest.mark.nightly) for codec in ("NONE", "ZLIB", "LZ4", "ZSTD")]


@pytest.mark.parametrize("codec", ["SNAPPY", *OTHER_CODECS])
def test_values_of_all_types_are_read_back_from_stripes_of_several_commits(
    session: Session, tmp_path: Path, codec: str
) -> None:
    columns = {
        "k": "int", "b": "boolean", "t": "tinyint", "s": "smallint", "l": "bigint", "f": "float", "d": "double",
        "x": "string", "y": "binary", "p": "decimal(38,3)", "v": "varchar(9)",
        "n": "struct<a:int,s:struct<x:int,y:string,l:array<int>>>", "m": "map<string,array<struct<q:decimal(5,2)>>>",
    }  # fmt: skip
    table = table_at(tmp_path / "t", {**ACID, "orc.compress": codec}, **columns)
    few = (0, *[None] * 12)
    smallest = Decimal("-99999999999999999999999999999999999.999")
    empty = {"a": None, "s": None}
    full: Sequence[object] = (1, True, -128, -32768, 2**63 - 1, 1.5, -0.25, "", b"", smallest, "\u20ac", empty, [])
    struct = {"a": 5, "s": {"x": 7, "y": "z", "l": [1, None]}}
    pairs = [("a", [None, {"q": Decimal("1.10")}, {"q": None}]), ("b", None)]
    texts = ("x" * 3000, b"\0\xff", Decimal("0.001"), "v")
    deep = (2, False, 127, 7, -(2**63), None, 1e300, *texts, struct, pairs)
    values = [few, full, deep, (3, *deep[1:]), (4, *full[1:]), (5, *few[1:])]
    values += [(k, *(few, full, deep)[k % 3][1:]) for k in range(6, 3006)]
    batch = BatchFiles(table, LocalFiles(), BATCH)
    for write_id, start, end in zip(BATCH, (0, 1, 2, 6), (1, 2, 6, len(values)), strict=True):
        batch.append(write_id, table.location, 0, rows(table, *values[start:end]))
        batch.flush(write_id)
    adopt(session, table)
    found = session.sql("SELECT * FROM t ORDER BY k").toArrow().to_pylist()
    assert found == rows(table, *values).to_pylist()
    assert session.sql("SELECT count(*) FROM t WHERE x = '' AND l > 0").collect()[0][0] == 1002
    assert session.sql("SELECT count(*) FROM t WHERE p = 0.001 AND k > 2900").collect()[0][0] == 35
    batch.close()
    assert session.sql("SELECT * FROM t ORDER BY k").toArrow().to_pylist() == found
