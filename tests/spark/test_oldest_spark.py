"""What Spark 3.5 lacks, and how acidsql does without it. Most of it can be tried on every version of Spark."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.table import Column, Table
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.plan import Facts
from acidsql.planner.queries.query import plan_query
from acidsql.session import Session
from acidsql.spark.catalyst.gateway import Jvm, items, jvm
from acidsql.spark.catalyst.pyspark_api import arrow_table_of, frame_of_arrow, sql_of_spark, try_cast
from acidsql.spark.catalyst.spark35_sql import in_spark35
from acidsql.storage.hadoop_files import has_capability
from tests.answers import fails, rows, spark_alone
from tests.spark_versions import needs_no_spark, needs_spark

_COLUMNS = (Column("id", "int"), Column("v", "string"))
_ACID = {"transactional": "true", "transactional_properties": "default"}
_TABLES = {f"default.{n}": Table("default", n, _COLUMNS, f"/w/{n}", properties=_ACID) for n in ("t", "u")}


@pytest.fixture(params=["true", "false"])
def ansi(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    """The user's session, which is the active one of this thread, with ANSI mode on and off."""
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield request.param
    spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.usefixtures("ansi")
def test_no_answer_depends_on_ansi_mode_of_the_users_session(session: Session) -> None:
    session.execute("CREATE TABLE txt (a string, b string) STORED AS TEXTFILE")
    session.execute("INSERT INTO txt VALUES ('1', '2024-01-01'), ('x', '2024-13-01')")
    columns = "i int, d date, s smallint"
    session.execute(
        f"CREATE TABLE t ({columns}) CLUSTERED BY (i) INTO 2 BUCKETS TBLPROPERTIES ('transactional'='true')"
    )
    with spark_alone(session):
        session.execute("INSERT INTO t SELECT a, b, a FROM txt")
        session.execute("INSERT INTO t SELECT 2147483647 + 1, NULL, 70000")
        session.execute("UPDATE t SET s = s * 1000000 / 0 WHERE i = 1")
        found = rows(session, "SELECT i, d, s FROM t ORDER BY i NULLS FIRST")
        assert found == [(None, None, None), (-2147483648, None, 4464), (1, datetime.date(2024, 1, 1), None)]
        values = "CAST('x' AS INT), 1 / 0, CAST('2024-02-30' AS DATE), element_at(array(1), 2), 2147483647 + 1"
        assert rows(session, f"SELECT {values}") == [(None, None, None, None, -2147483648)]


@pytest.mark.usefixtures("ansi")
def test_texts_in_files_that_do_not_fit_are_null_in_ansi_mode(session: Session, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "000000_0").write_text("1\x012024-01-01\x011.5\nx\x012024-13-01\x01999999\n")
    columns = "a int, b date, c decimal(3,1)"
    session.execute(f"CREATE EXTERNAL TABLE raw ({columns}) STORED AS TEXTFILE LOCATION '{tmp_path}/raw'")
    with spark_alone(session):
        found = rows(session, "SELECT a, CAST(b AS STRING), c FROM raw ORDER BY a NULLS LAST")
    assert found == [(1, "2024-01-01", Decimal("1.5")), (None, None, None)]


def test_a_statement_leaves_the_active_session_as_it_was(session: Session, spark: SparkSession) -> None:
    def active() -> Any:
        return spark._jvm.org.apache.spark.sql.SparkSession.getActiveSession()  # type: ignore[union-attr]

    before = active()
    session.execute("CREATE TABLE t (id int) TBLPROPERTIES ('transactional'='true')")
    with spark_alone(session):
        session.execute("INSERT INTO t VALUES (1)")
        assert rows(session, "SELECT id + 1 FROM t") == [(2,)]
        fails("COLUMN_NOT_FOUND", lambda: session.sql("SELECT no FROM t"))
    assert active().equals(before)


@pytest.mark.parametrize(
    ("query", "spelled"),
    [
        ("SELECT row__id, * FROM t", "`t`.`t@1.row__id` AS `row__id`, `t`.`id`, `t`.`v`"),
        ("SELECT t.*, row__id FROM t", "`t`.`id`, `t`.`v`, `t`.`t@1.row__id` AS `row__id`"),
        ("SELECT row__id, x.* FROM t AS x", "`x`.`t@1.row__id` AS `row__id`, `x`.`id`, `x`.`v`"),
        ("SELECT row__id, * FROM t AS x(a, b)", "`x`.`t@1.row__id` AS `row__id`, `x`.`a`, `x`.`b`"),
        (
            "SELECT t.row__id, * FROM t JOIN (SELECT 1 AS k) s ON s.k = t.id",
            "`t`.`t@1.row__id` AS `row__id`, `t`.`id`, `t`.`v`, `s`.*",
        ),
        (
            "SELECT t.row__id, * FROM t LEFT SEMI JOIN u ON u.id = t.id",
            "`t`.`t@1.row__id` AS `row__id`, `t`.`id`, `t`.`v`",
        ),
        ("SELECT * EXCEPT (V) FROM t", "`t`.`id`"),
        ("SELECT * FROM t", "*"),
        ("SELECT count(*), max(row__id) FROM t", "count(*), max(`t`.`t@1.row__id`)"),
    ],
)
def test_a_star_without_some_columns_is_spelled(query: str, spelled: str) -> None:
    assert _planned(query).removeprefix("SELECT ").partition(" FROM ")[0] == spelled


@pytest.mark.parametrize(
    "query",
    ["SELECT t.row__id, * FROM t JOIN u USING (id)", "SELECT * EXCEPT (k) FROM (SELECT 1 AS k, 2 AS n) s"],
)
def test_a_star_whose_columns_are_not_known_is_refused(query: str) -> None:
    assert "Spark 3.5" in str(fails("NOT_YET_SUPPORTED", lambda: _planned(query)))


def _planned(query: str) -> str:
    statement = parse(query)
    assert isinstance(statement, s.Query)
    return plan_query(statement, Facts("default", _TABLES, has_star_except=False)).sql


def test_a_star_beside_a_row_id_gives_the_columns_of_the_table(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v string) PARTITIONED BY (p int) TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 'a', 7)")
    with spark_alone(session):
        frame = session.sql("SELECT *, row__id.rowid AS n FROM t")
        assert (frame.columns, frame.collect()) == (["id", "v", "p", "n"], [(1, "a", 7, 0)])


# ------------------------------------------------------------------------------------------------ functions


@pytest.mark.parametrize(
    "sql", ["a", "'is_valid_utf8('", "`make_valid_utf8(`", '"is_valid_utf8("', "f(x) + 'it\\'s is_valid_utf8(a)'"]
)
def test_sql_without_a_function_of_spark_4_stays_as_it_is(sql: str) -> None:
    assert in_spark35(sql) == sql


_BYTES = ("", "6162", "C3A9", "EFBFBD", "C3", "61FF62", "EDA080", "C0AF", "F09F9880", "F5808080", "E282")


def test_text_is_valid_or_made_valid_as_by_the_functions_of_spark_4(spark: SparkSession) -> None:
    texts = spark.createDataFrame([(value,) for value in (*_BYTES, None)], "h string")
    named = texts.select(F.unhex("h").cast("string").alias("s"), "h")
    given = named.select(
        "h",
        F.expr(in_spark35("is_valid_utf8(s)")).alias("valid"),
        F.hex(F.expr(in_spark35("make_valid_utf8(s)"))).alias("made"),
    ).collect()
    for row in given:
        if row.h is None:
            assert (row.valid, row.made) == (None, None)
            continue
        data = bytes.fromhex(row.h)
        text = data.decode("utf-8", errors="replace")
        assert row.valid == (text.encode() == data), row.h
        assert bytes.fromhex(row.made).decode() == text or row.h in ("EDA080", "C0AF", "F5808080", "E282")
    sql = sql_of_spark("is_valid_utf8(s)")
    assert [row[0] for row in named.select(F.expr(sql)).collect()] == [row.valid for row in given]


def test_a_text_is_quoted_as_by_the_function_of_spark_4(spark: SparkSession) -> None:
    texts = spark.createDataFrame([("it's",), ("",), (None,), ("a\\b",)], "s string")
    found = texts.select(F.expr(in_spark35("quote(s)"))).collect()
    assert [row[0] for row in found] == ["'it\\'s'", "''", None, "'a\\b'"]
    sql = sql_of_spark("quote(s)")
    assert texts.select(F.expr(sql)).collect() == found


# ------------------------------------------------------------------------------------------------ Arrow and Scala


def test_an_arrow_table_comes_back_from_a_frame(spark: SparkSession) -> None:
    noon = datetime.datetime(2024, 2, 29, 12, 0, 0, 123456)
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int32()),
            "s": pa.array(["a", ""], pa.large_string()),
            "b": pa.array([b"\x00\xff", None], pa.large_binary()),
            "d": pa.array([datetime.date(1500, 1, 1), None], pa.date32()),
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "l": pa.array([[{"x": 1.5}], []], pa.large_list(pa.struct([("x", pa.float64())]))),
            "t": pa.array([noon, None], pa.timestamp("us", "UTC")),
        }
    )
    frame = frame_of_arrow(spark, table)
    assert [field.dataType.typeName() for field in frame.schema.fields[:4]] == ["integer", "string", "binary", "date"]
    back = arrow_table_of(frame)
    assert back.to_pylist() == table.to_pylist()
    assert arrow_table_of(frame.limit(0)).to_pylist() == []
    assert arrow_table_of(frame.limit(0)).schema == back.schema


def test_a_frame_of_an_answer_has_to_arrow(session: Session) -> None:
    assert session.sql("SELECT 1 AS a").where("a = 1").toArrow().to_pylist() == [{"a": 1}]


def test_times_without_a_zone_have_the_type_that_is_asked_for(spark: SparkSession) -> None:
    noon = datetime.datetime(2024, 7, 1, 12)
    table = pa.table({"t": pa.array([noon, None], pa.timestamp("ns"))})
    wanted = t.StructType([t.StructField("t", t.TimestampNTZType())])
    assert frame_of_arrow(spark, table, wanted).collect() == [(noon,), (None,)]
    shown = frame_of_arrow(spark, table).select(F.col("t").cast("string")).collect()
    assert shown == [("2024-07-01 12:00:00",), (None,)]


def test_a_text_that_does_not_fit_becomes_null(spark: SparkSession) -> None:
    found = spark.range(1).select(try_cast(F.lit("1"), "int"), try_cast(F.lit("7"), t.LongType())).collect()
    assert found == [(1, 7)]


def test_collections_of_scala(spark: SparkSession) -> None:
    java: Jvm = jvm(spark)
    scala = java.scala
    three = java.scala_seq(["a", "b", "c"])
    assert list(items(scala.appended(three, "d"))) == ["a", "b", "c", "d"]
    assert list(items(scala.updated(three, 1, "x"))) == ["a", "x", "c"]
    assert list(scala.as_java(three)) == ["a", "b", "c"]
    array = java.array("java.lang.String", ["p", "q"])
    assert list(items(scala.seq_of_array(array))) == ["p", "q"]
    assert java.scala_map({"k": "v"}).apply("k") == "v"


def test_a_file_system_of_hadoop_3_1_is_not_asked_what_it_can(spark: SparkSession) -> None:
    java = jvm(spark)
    old = java.java_class("java.lang.Object")()
    assert has_capability(old, None, "fs.capability.paths.append") is None


# ------------------------------------------------------------------------------------------------ refusals


def test_a_function_of_a_newer_spark_is_named(session: Session) -> None:
    error = fails("INVALID_FUNCTION", lambda: session.sql("SELECT no_such_function(1)"))
    assert "newer" not in str(error)


@needs_no_spark(4, 0, "VARIANT")
def test_a_table_of_json_is_written_and_not_read(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE j (a int, b array<string>) STORED AS JSONFILE")
    session.execute("INSERT INTO j SELECT 1, array('x')")
    (written,) = (path for path in (tmp_path / "warehouse" / "j").iterdir() if not path.name.startswith("."))
    assert written.read_text() == '{"a":1,"b":["x"]}\n'
    error = fails("NOT_YET_SUPPORTED", lambda: session.sql("SELECT * FROM j").collect())
    assert "a table of JSON, with Spark 3.5" in str(error)


@needs_no_spark(4, 0, "WITH RECURSIVE and the functions of Spark 4")
def test_what_spark_35_lacks_is_named(session: Session) -> None:
    recursive = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r"
    assert "4.1" in str(fails("NOT_YET_SUPPORTED", lambda: session.sql(recursive)))
    for call in ("parse_json('1')", "listagg('a')", "monthname(DATE'2024-01-01')"):
        assert "a newer version of Spark" in str(fails("INVALID_FUNCTION", lambda c=call: session.sql(f"SELECT {c}")))  # type: ignore[misc]
    session.execute("CREATE TABLE s (id int, v int)")
    inner = "SELECT (SELECT x.v FROM s x WHERE x.id = s.id) FROM s"
    assert "max" in str(fails("NOT_YET_SUPPORTED", lambda: session.sql(inner)))


@needs_spark(4, 0, "VARIANT")
def test_variants_are_read(session: Session) -> None:
    assert rows(session, "SELECT CAST(parse_json('7') AS INT)") == [(7,)]
