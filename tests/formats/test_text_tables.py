"""Insert-only tables stored as text: every value comes back, or is refused."""

from __future__ import annotations

import bz2
import datetime
import gzip
import zlib
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import Row

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.selection import core

_TEXT = "STORED AS TEXTFILE TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def lines(session: Session) -> list[str]:
    root = Path(session.catalog.table("default", "t").location)
    return [line for path in sorted(root.rglob("0*_0")) for line in path.read_text().splitlines()]


@pytest.mark.ci
def test_values_of_every_type_are_stored_as_in_hive_and_read_back(session: Session) -> None:
    session.sql(
        "CREATE TABLE t (s STRING, c CHAR(3), b BINARY, f DOUBLE, d DECIMAL(8,2), t TIMESTAMP, day DATE, yes BOOLEAN)"
        f" {_TEXT}"
    )
    session.sql(
        "INSERT INTO t SELECT '  blanks\t', 'x', CAST(repeat('ab', 60) AS BINARY), 1e100, 1.5,"
        " timestamp '2024-02-29 12:34:56.5', date '1969-12-31', true"
        " UNION ALL SELECT '', 'y', CAST('' AS BINARY), -0.5, NULL, timestamp '0012-01-01 00:00:00', NULL, false"
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    )
    base64 = "YWJh" + "YmFi" + "YWJhYmFi" * 19  # longer than a line of MIME
    assert sorted(lines(session)) == sorted(
        [
            f"  blanks\t\x01x  \x01{base64}\x011.0E100\x011.50\x012024-02-29 12:34:56.5\x011969-12-31\x01true",
            "\x01y  \x01\x01-0.5\x01\\N\x010012-01-01 00:00:00\x01\\N\x01false",
            "\x01".join(["\\N"] * 8),
        ]
    )
    rows = [tuple(row) for row in session.sql("SELECT * FROM t ORDER BY f").collect()]
    stamp = datetime.datetime(2024, 2, 29, 12, 34, 56, 500000)
    assert rows == [
        ("", "y  ", b"", -0.5, None, datetime.datetime(12, 1, 1), None, False),
        ("  blanks\t", "x  ", b"ab" * 60, 1e100, Decimal("1.50"), stamp, datetime.date(1969, 12, 31), True),
        (None,) * 8,
    ]
    assert session.sql("SELECT length(c) FROM t WHERE c = 'x'").collect()[0][0] == 1


@pytest.mark.ci
@pytest.mark.parametrize("value", ["a\\nb", "a\\rb", "a\\u0001b", "\\\\N"])
def test_a_text_that_could_not_be_read_back_is_refused(session: Session, value: str) -> None:
    session.sql(f"CREATE TABLE t (id INT, s STRING) {_TEXT}")
    session.sql("INSERT INTO t VALUES (1, 'fine')")
    with pytest.raises(AcidSqlError) as caught:
        session.sql(f"INSERT INTO t VALUES (2, '{value}')")
    assert caught.value.condition == "INVALID_STORE_VALUE"
    assert [tuple(row) for row in session.sql("SELECT * FROM t").collect()] == [(1, "fine")]


def test_types_whose_text_is_not_known_are_refused_before_anything_is_written(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT, a TIMESTAMP WITH LOCAL TIME ZONE) {_TEXT}")
    with pytest.raises(AcidSqlError) as caught:
        session.sql("INSERT INTO t SELECT 1, current_timestamp()")
    assert caught.value.condition == "NOT_YET_SUPPORTED"
    assert "timestamp with local time zone" in str(caught.value)
    assert not list(Path(session.catalog.table("default", "t").location).rglob("*_*"))


_INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
_NESTED = (
    "(k INT, a ARRAY<STRING>, m MAP<STRING,ARRAY<INT>>,"
    " s STRUCT<d:DATE,c:CHAR(3),b:BINARY,deep:ARRAY<STRUCT<t:TIMESTAMP,x:DECIMAL(8,2)>>>)"
)
_DELIMITED = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'"
_ITEMS = "COLLECTION ITEMS TERMINATED BY ',' MAP KEYS TERMINATED BY '='"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "row_format",
    core(
        ["", f"{_DELIMITED} ESCAPED BY '\\\\' {_ITEMS} NULL DEFINED AS 'nil'", f"{_DELIMITED} {_ITEMS}"],
        lambda row_format: not row_format,
    ),
)
def test_nested_values_come_back_in_every_row_format(session: Session, row_format: str) -> None:
    session.sql(f"CREATE TABLE t {_NESTED} {row_format} STORED AS TEXTFILE {_INSERT_ONLY}")
    session.sql(
        "INSERT INTO t SELECT 1, array('x', NULL, ''), map('a', array(1, NULL, 3), 'b', NULL, 'c', array()),"
        " named_struct('d', date '2024-02-29', 'c', 'ab', 'b', CAST('bytes' AS BINARY), 'deep',"
        " array(named_struct('t', timestamp '2024-02-29 12:34:56.5', 'x', CAST(1.5 AS DECIMAL(8,2))), NULL))"
    )
    session.sql("INSERT INTO t (k) VALUES (2)")
    session.sql("INSERT INTO t SELECT 3, array(), map(), named_struct('d', NULL, 'c', NULL, 'b', NULL, 'deep', NULL)")
    rows = session.sql("SELECT k, a, m, s.d, s.c, s.b, s.deep FROM t ORDER BY k").collect()
    stamp = datetime.datetime(2024, 2, 29, 12, 34, 56, 500000)
    assert [tuple(row) for row in rows] == [
        (
            1,
            ["x", None, ""],
            {"a": [1, None, 3], "b": None, "c": []},
            datetime.date(2024, 2, 29),
            "ab ",
            b"bytes",
            [Row(t=stamp, x=Decimal("1.50")), None],
        ),
        (2, None, None, None, None, None, None),
        (3, [], {}, None, None, None, None),
    ]
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert session.sql("SELECT k, a, m, s.d, s.c, s.b, s.deep FROM t ORDER BY k").collect() == rows


def test_separators_are_escaped_if_the_row_format_has_an_escape_character(session: Session) -> None:
    session.sql(f"CREATE TABLE t (k INT, s STRING) {_DELIMITED} ESCAPED BY '\\\\' STORED AS TEXTFILE {_INSERT_ONLY}")
    values = ["a|b", "a\\b", "a\\|b", "a\nb\rc", "\\n", "\\", "|", "", "\\\\", "\\N\\"]
    session.sql("INSERT INTO t SELECT * FROM {new}", new=pa.table({"k": range(len(values)), "s": values}))
    assert [row.s for row in session.sql("SELECT s FROM t ORDER BY k").collect()] == values
    assert len(lines(session)) == len(values)


@pytest.mark.ci
@pytest.mark.parametrize(
    "value", ["array('a\\u0002b')", "array('\\\\N')", "array('')", "array(CAST(NULL AS STRING))", "array('x\\ny')"]
)
def test_items_that_could_not_be_read_back_are_refused(session: Session, value: str) -> None:
    session.sql(f"CREATE TABLE t (a ARRAY<STRING>) {_TEXT}")
    with pytest.raises(AcidSqlError) as caught:
        session.sql(f"INSERT INTO t SELECT {value}")
    assert caught.value.condition == "INVALID_STORE_VALUE"


def test_unknown_parts_of_a_row_format_are_refused(session: Session) -> None:
    for clause in (
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.thrift.ThriftDeserializer'",
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'"
        " WITH SERDEPROPERTIES ('serialization.encoding'='GBK')",
        "ROW FORMAT DELIMITED FIELDS TERMINATED BY 'ż'",
        "ROW FORMAT DELIMITED LINES TERMINATED BY '\\t'",
    ):
        with pytest.raises(AcidSqlError) as caught:
            session.sql(f"CREATE TABLE t (k INT) {clause} STORED AS TEXTFILE {_INSERT_ONLY}")
        assert caught.value.condition == "NOT_YET_SUPPORTED"


def test_a_row_format_is_shown_copied_and_stored(session: Session) -> None:
    session.sql(f"CREATE TABLE t (k INT, v STRING) {_DELIMITED} STORED AS TEXTFILE {_INSERT_ONLY}")
    text = session.sql("SHOW CREATE TABLE t").collect()
    shown = "\n".join(row[0] for row in text)
    assert "'field.delim'='|'" in shown
    session.sql("DROP TABLE t")
    session.sql(shown)
    session.sql("CREATE TABLE u LIKE t")
    for name in ("t", "u"):
        session.sql(f"INSERT INTO {name} VALUES (1, 'a')")
        assert session.sql(f"SELECT * FROM {name}").collect() == [Row(k=1, v="a")]
    assert lines(session) == ["1|a"]


def test_header_lines_are_no_rows_and_an_insert_below_them_is_refused(session: Session, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("k,v\n1,a\n2,b\n")
    (tmp_path / "in" / "b.csv").write_text("k,v\n3,c\n")
    (tmp_path / "in" / "c.csv").write_text("k,v\n")
    rest = _INSERT_ONLY.replace("(", "('skip.header.line.count'='1', ", 1)
    row_format = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
    session.sql(f"CREATE TABLE t (k INT, v STRING) {row_format} STORED AS TEXTFILE {rest}")
    session.sql(f"LOAD DATA LOCAL INPATH '{tmp_path}/in' INTO TABLE t")
    assert [tuple(r) for r in session.sql("SELECT * FROM t ORDER BY k").collect()] == [(1, "a"), (2, "b"), (3, "c")]
    with pytest.raises(AcidSqlError) as caught:
        session.sql("INSERT INTO t VALUES (4, 'd')")
    assert caught.value.condition == "NOT_YET_SUPPORTED"


def test_header_and_footer_lines_of_compressed_files_are_no_rows(session: Session, tmp_path: Path) -> None:
    """The rows are those that Hive 4.0.1 reads from the same files."""
    (place := tmp_path / "in").mkdir()
    for name, content in {"f": "h1\nh2\n1\n2\n3\nf1\n", "g": "h1\nh2\nonly\n", "h": "h1\n", "i": ""}.items():
        (place / name).write_text(content)
    (place / "x.gz").write_bytes(gzip.compress(b"h1\nh2\n4\nf"))
    (place / "y.bz2").write_bytes(bz2.compress(b"h1\nh2\n5\n6\nf\n"))
    (place / "z.deflate").write_bytes(zlib.compress(b"h1\nh2\n7\nf\n"))
    session.sql(
        f"CREATE EXTERNAL TABLE t (s STRING, _metadata STRING) STORED AS TEXTFILE LOCATION '{place}'"
        " TBLPROPERTIES ('skip.header.line.count'='2', 'skip.footer.line.count'='1')"
    )
    expected = [(str(number), None) for number in range(1, 8)]
    assert sorted(tuple(row) for row in session.sql("SELECT * FROM t").collect()) == expected
    assert session.sql("SELECT count(*) FROM t").collect()[0][0] == 7
    names = session.sql("SELECT DISTINCT regexp_extract(INPUT__FILE__NAME, '[^/]+$', 0) FROM t").collect()
    assert sorted(row[0] for row in names) == ["f", "x.gz", "y.bz2", "z.deflate"]
    with pytest.raises(AcidSqlError, match=r"skip\.header\.line\.count hides rows"):
        session.sql("INSERT INTO t VALUES ('8', NULL)")
