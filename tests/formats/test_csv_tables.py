"""Tables with OpenCSVSerde. The expected rows are those that Hive 4.0.1 read from the same files."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session
from tests.answers import fails

CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
LINES = r"""1,Ann,x
"2","B ""q"" b","a,b"
3,plain "mid" text,z
4,\"esc\",y
5,"es\"c",y
6,"open,q
last

7,,""
8, "lead" ,w
9,"a"b,c
10,"a\nb","c\\d"
11,'s',é
12,"x","y","z"
"""
BY_DEFAULT = [
    ("1", "Ann", "x"),
    ("2", 'B "q" b', "a,b"),
    ("3", 'plain "mid" text', "z"),
    ("4", None, None),
    ("5", 'es"c', "y"),
    ("6", None, None),
    ("last", None, None),
    (None, None, None),
    ("7", "", ""),
    ("8", 'lead" ', "w"),
    ("9", 'a"b', "c"),
    ("10", "anb", "c\\d"),
    ("11", "'s'", "é"),
    ("12", "x", "y"),
]
BY_PROPERTIES = [
    ("1", "Ann", "x"),
    ('"2"', '"B ""q"" b"', '"a'),
    ("3", 'plain "mid" text', "z"),
    ("4", '"esc"', "y"),
    ("5", '"es"c"', "y"),
    ("6", '"open', "q"),
    ("last", None, None),
    (None, None, None),
    ("7", "", '""'),
    ("8", ' "lead" ', "w"),
    ("9", '"a"b', "c"),
    ("10", '"anb"', '"c\\d"'),
    ("11", "s", "é"),
    ("12", '"x"', '"y"'),
]


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in session.sql(query).collect()]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("", BY_DEFAULT),
        (" WITH SERDEPROPERTIES ('quoteChar'=\"'\", 'escapeChar'='\\\\')", BY_PROPERTIES),
    ],
)
def test_lines_are_read_as_hive_reads_them(
    session: Session, tmp_path: Path, properties: str, expected: list[tuple[object, ...]]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text(LINES, encoding="utf-8")
    session.execute(f"CREATE EXTERNAL TABLE t (a int, b string, c double) {CSV}{properties} LOCATION '{tmp_path}/in'")
    assert rows(session, "SELECT * FROM t") == expected
    assert [c.type for c in session.catalog.table("default", "t").columns] == ["string"] * 3
    assert rows(session, "SELECT a + 1 FROM t WHERE a = 7") == [(8.0,)]


def by_opencsv(spark: SparkSession, line: str, count: int) -> tuple[str | None, ...]:
    """The fields of a line as Hive's OpenCSVSerde takes them from opencsv, which is among Spark's jars."""
    java = spark._jvm
    assert java is not None
    reader = java.au.com.bytecode.opencsv.CSVReader(java.java.io.StringReader(line), ",", '"')
    fields = reader.readNext()
    return tuple(([*fields] if fields is not None else [])[:count] + [None] * count)[:count]


@pytest.mark.ci
def test_random_lines_are_read_as_opencsv_reads_them(session: Session, spark: SparkSession, tmp_path: Path) -> None:
    random = Random(19)
    lines = ["".join(random.choices("\",\\ a'\t", k=random.randrange(1, 14))) for _ in range(400)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text("".join(f"{line}\n" for line in lines))
    columns = ", ".join(f"c{place} string" for place in range(5))
    session.execute(f"CREATE EXTERNAL TABLE t ({columns}) {CSV} LOCATION '{tmp_path}/in'")
    expected = [by_opencsv(spark, line, 5) for line in lines]
    assert rows(session, "SELECT * FROM t") == expected
    assert len(set(expected)) > 200


def test_written_values_are_read_back_and_a_null_becomes_an_empty_text(session: Session) -> None:
    session.execute(f"CREATE TABLE t (a int, b string, c double) {CSV} STORED AS TEXTFILE")
    session.execute("INSERT INTO t VALUES (1, 'q\"q', 1.5), (2, NULL, NULL), (3, 'a,b', 0.1), (4, '', NULL)")
    text = "".join(p.read_text() for p in sorted(Path(session.catalog.table("default", "t").location).iterdir()))
    assert sorted(text.splitlines()) == ['"1","q""q","1.5"', '"2",,', '"3","a,b","0.1"', '"4","",']
    expected = [("1", 'q"q', "1.5"), ("2", "", ""), ("3", "a,b", "0.1"), ("4", "", "")]
    assert sorted(rows(session, "SELECT * FROM t"), key=repr) == expected


@pytest.mark.parametrize("value", ["a\\\\b", "a\\nb"])
def test_a_text_that_could_not_be_read_back_is_refused(session: Session, value: str) -> None:
    session.execute(f"CREATE TABLE t (a int, b string) {CSV}")
    fails("INVALID_STORE_VALUE", lambda: session.execute(f"INSERT INTO t VALUES (1, '{value}')"))
    assert rows(session, "SELECT * FROM t") == []


def test_a_written_escape_is_read_back_where_the_table_has_an_escape_character(session: Session) -> None:
    escape = "WITH SERDEPROPERTIES ('separatorChar'=';', 'escapeChar'='\\\\')"
    session.execute(f"CREATE TABLE t (a int, b string) {CSV} {escape}")
    session.execute("INSERT INTO t VALUES (1, 'a\\\\b\"c;d')")
    assert rows(session, "SELECT * FROM t") == [("1", 'a\\b"c;d')]


@pytest.mark.ci
def test_a_csv_table_is_shown_copied_and_partitioned(session: Session) -> None:
    properties = "WITH SERDEPROPERTIES ('separatorChar'='|')"
    session.execute(f"CREATE TABLE t (a string) PARTITIONED BY (p int) {CSV} {properties}")
    shown = "\n".join(str(row[0]) for row in session.execute("SHOW CREATE TABLE t").rows())
    session.execute("DROP TABLE t")
    session.execute(shown)
    session.execute("CREATE TABLE u LIKE t")
    session.execute("INSERT INTO t VALUES ('x|y', 1), ('z', 2)")
    session.execute("INSERT INTO u SELECT * FROM t WHERE p = 1")
    assert rows(session, "SELECT * FROM u") == [("x|y", 1)]
    session.execute("ALTER TABLE t ADD COLUMNS (b string)")
    assert rows(session, "SELECT * FROM t WHERE p = 2") == [("z", None, 2)]
    fails("ALTER_REFUSED", lambda: session.execute("ALTER TABLE t ADD COLUMNS (c int)"))


@pytest.mark.parametrize(
    "clause",
    [
        "WITH SERDEPROPERTIES ('separatorChar'='é')",
        "WITH SERDEPROPERTIES ('quoteChar'=',')",
        "WITH SERDEPROPERTIES ('serialization.encoding'='GBK')",
        "STORED AS ORC",
    ],
)
def test_properties_that_acidsql_does_not_know_are_refused(session: Session, clause: str) -> None:
    fails("NOT_YET_SUPPORTED", lambda: session.execute(f"CREATE TABLE t (a string) {CSV} {clause}"))
