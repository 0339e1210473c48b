"""LOAD DATA that copies the rows of files in another format, or with the values of partition columns."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import fails, rows

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_TEXT = (
    "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'"
)
_CSV = "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
_JSON = "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe'"
_PARQUET = (
    "INPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat'"
    " SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe'"
)


@pytest.mark.ci
def test_rows_of_other_formats_are_copied(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (i int, s string) {_ACID}")
    (tmp_path / "a.txt").write_text("1\x01a\n2\x01\\N\n")
    error = fails("LOAD_FORMAT", lambda: session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/a.txt' INTO TABLE t"))
    assert "LazySimpleSerDe" in error.hint
    done = session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/a.txt' INTO TABLE t {_TEXT}")
    assert done.counts is not None
    assert (done.counts.inserted, done.write_ids) == (2, {"default.t": 1})
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b'3,"b,c"\n'))
    session.execute(f"LOAD DATA INPATH '{tmp_path}/b.*' INTO TABLE t {_CSV}")
    (tmp_path / "c.json").write_text('{"S":"d","i":4}\n')
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/c.json' INTO TABLE t {_JSON}")
    assert rows(session, "SELECT * FROM t ORDER BY i") == [(1, "a"), (2, None), (3, "b,c"), (4, "d")]
    session.execute(f"CREATE EXTERNAL TABLE p (i int, s string) STORED AS PARQUET LOCATION '{tmp_path}/p'")
    session.execute("INSERT INTO p VALUES (5, 'e')")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/p' OVERWRITE INTO TABLE t {_PARQUET}")
    assert rows(session, "SELECT * FROM t") == [(5, "e")]
    # Without LOCAL the files are moved.
    assert sorted(path.name for path in tmp_path.glob("[abc].*")) == ["a.txt", "c.json"]
    assert not list((tmp_path / "warehouse" / "t").glob(".*"))


@pytest.mark.ci
def test_the_last_columns_of_the_files_are_the_open_partition_columns(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (i int, s string) PARTITIONED BY (p int, q string) {_ACID}")
    (tmp_path / "a.txt").write_text("1\x01a\x017\x01x\n2\x01b\x018\x01y\n")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/a.txt' INTO TABLE t {_TEXT}")
    (tmp_path / "b.txt").write_text("3\x01c\x01z\n")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/b.txt' INTO TABLE t PARTITION (p = 9, q) {_TEXT}")
    (tmp_path / "c.txt").write_text("4\x01d\n")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/c.txt' INTO TABLE t PARTITION (p = 9, q = 'z') {_TEXT}")
    expected = [(1, "a", 7, "x"), (2, "b", 8, "y"), (3, "c", 9, "z"), (4, "d", 9, "z")]
    assert rows(session, "SELECT * FROM t ORDER BY i") == expected
    session.execute(
        "CREATE TABLE u (i int, s string) PARTITIONED BY (p int)"
        " ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"
    )
    (tmp_path / "d.txt").write_text("1,a,5\n2,b,6\n")
    session.execute(f"LOAD DATA INPATH '{tmp_path}/d.txt' INTO TABLE u")
    assert rows(session, "SELECT * FROM u ORDER BY i") == [(1, "a", 5), (2, "b", 6)]
    assert not (tmp_path / "d.txt").exists()


@pytest.mark.ci
def test_a_failed_load_leaves_files_and_table_as_they_were(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (i int, s string, CHECK (i > 0)) {_ACID}")
    (tmp_path / "a.json").write_text('{"i":1}\n{"i":-1}\n')
    load = f"LOAD DATA INPATH '{tmp_path}/a.json' INTO TABLE t {_JSON}"
    explained = session.explain(load)
    assert explained.startswith("LOAD DATA default.t\n")
    fails("CONSTRAINT_VIOLATED", lambda: session.execute(load))
    (tmp_path / "a.json").write_text("{\n")
    fails("INVALID_JSON_LINE", lambda: session.execute(load))
    assert (tmp_path / "a.json").exists()
    assert rows(session, "SELECT * FROM t") == []
    assert not list((tmp_path / "warehouse" / "t").glob(".*"))


@pytest.mark.parametrize(
    "classes",
    ["INPUTFORMAT 'x.SequenceFileInputFormat' SERDE 'y'", f"{_TEXT[:55]} SERDE 'org.example.Other'"],
)
def test_classes_that_acidsql_does_not_read_are_refused(session: Session, tmp_path: Path, classes: str) -> None:
    session.execute(f"CREATE TABLE t (i int) {_ACID}")
    (tmp_path / "a").write_text("1\n")
    fails("NOT_YET_SUPPORTED", lambda: session.execute(f"LOAD DATA INPATH '{tmp_path}/a' INTO TABLE t {classes}"))
