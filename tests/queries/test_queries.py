"""Queries over ACID tables: snapshots, parameters, frames, the user's own views, row__id, Hive's expressions."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.answers import fails, rows
from tests.spark_versions import needs_spark


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("queries")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        for _ in session.script(
            """CREATE TRANSACTIONAL TABLE emp (id int, name string, boss int, info struct<city:string,zip:int>);
            CREATE TRANSACTIONAL TABLE dept (id int, title string, head int);
            CREATE DATABASE hr;
            CREATE TRANSACTIONAL TABLE hr.wages (id int, wage decimal(10,2));
            CREATE TABLE plain (id int, note string);
            INSERT INTO emp SELECT 1, 'Ann', NULL, named_struct('city', 'Rome', 'zip', 1);
            INSERT INTO emp VALUES (2, 'Bob', 1, NULL), (3, 'Eve', 1, NULL), (4, NULL, 2, NULL);
            INSERT INTO dept VALUES (1, 'it', 1), (2, 'law', 2), (3, 'art', NULL);
            INSERT INTO hr.wages VALUES (1, 10.5), (2, 20.25), (2, 1);
            INSERT INTO plain VALUES (1, 'one'), (5, 'five');
            DELETE FROM emp WHERE id = 3;
            """
        ):
            pass
        yield session


@pytest.mark.ci
def test_joins_subqueries_and_set_operations_over_several_tables(db: Session) -> None:
    total = (
        "SELECT e.name, d.title, sum(w.wage) FROM emp e JOIN dept d ON d.head = e.id"
        " JOIN hr.wages w ON w.id = e.id GROUP BY e.name, d.title ORDER BY 1"
    )
    assert rows(db, total) == [("Ann", "it", Decimal("10.50")), ("Bob", "law", Decimal("21.25"))]
    assert rows(db, "SELECT a.id, b.id FROM emp a JOIN emp b ON a.boss = b.id ORDER BY 1") == [(2, 1), (4, 2)]
    assert rows(db, "SELECT id FROM emp e WHERE EXISTS (SELECT 1 FROM dept d WHERE d.head = e.id) ORDER BY id") == [
        (1,),
        (2,),
    ]
    assert rows(db, "SELECT id FROM dept WHERE id NOT IN (SELECT boss FROM emp WHERE boss IS NOT NULL)") == [(3,)]
    assert rows(db, "SELECT id, (SELECT count(*) FROM emp x WHERE x.boss = emp.id) FROM emp ORDER BY id") == [
        (1, 1),
        (2, 1),
        (4, 0),
    ]
    union = "SELECT id FROM emp UNION SELECT id FROM dept EXCEPT SELECT id FROM plain ORDER BY id"
    assert rows(db, union) == [(2,), (3,), (4,)]
    assert rows(db, "SELECT p.note, e.name FROM plain p FULL JOIN emp e ON p.id = e.id ORDER BY p.id, e.id") == [
        ("one", "Ann"),
        ("five", None),
        (None, "Bob"),
        (None, None),
    ]


@pytest.mark.ci
def test_ctes_shadow_tables_ignoring_case_and_read_the_table_they_shadow(db: Session) -> None:
    assert rows(db, "WITH EMP AS (SELECT id + 100 AS id FROM emp) SELECT id FROM Emp ORDER BY id") == [
        (101,),
        (102,),
        (104,),
    ]
    assert rows(
        db, "WITH emp AS (SELECT 7 AS id) SELECT e.id, count(d.id) FROM emp e, default.emp d GROUP BY e.id"
    ) == [(7, 3)]
    chain = "WITH a AS (SELECT id FROM emp), b AS (SELECT max(id) AS m FROM a) SELECT a.id FROM a JOIN b ON a.id = b.m"
    assert rows(db, chain) == [(4,)]


@pytest.mark.ci
@needs_spark(4, 1, "WITH RECURSIVE")
def test_recursive_ctes(db: Session) -> None:
    tree = (
        "WITH RECURSIVE r AS (SELECT id, 0 AS depth FROM emp WHERE boss IS NULL"
        " UNION ALL SELECT e.id, depth + 1 FROM emp e JOIN r ON e.boss = r.id) SELECT * FROM r ORDER BY id"
    )
    assert rows(db, tree) == [(1, 0), (2, 1), (4, 2)]


def test_columns_are_named_after_the_text_of_the_statement(db: Session) -> None:
    said = "max(row__id.rowid), count(DISTINCT e.row__id), upper(INPUT__FILE__NAME), (SELECT max(row__id) FROM emp)"
    named = ["max(row__id.rowid)", "count(DISTINCT row__id)", "upper(input__file__name)", "scalarsubquery()"]
    assert db.sql(f"SELECT {said} FROM emp e GROUP BY INPUT__FILE__NAME").columns == named
    assert db.sql("SELECT * FROM (SELECT -row__id.rowid, id FROM emp) x ORDER BY id").columns == ["_c0", "id"]


@pytest.mark.ci
def test_row_ids_are_columns_if_the_query_names_them_and_never_of_a_star(db: Session) -> None:
    assert db.sql("SELECT * FROM emp").columns == ["id", "name", "boss", "info"]
    assert db.sql("SELECT row__id, * FROM emp").columns == ["row__id", "id", "name", "boss", "info"]
    assert db.sql("SELECT ROW__ID, e.*, INPUT__FILE__NAME FROM emp e").columns[-2:] == ["info", "input__file__name"]
    text = "SELECT row__id.writeid, row__id.bucketid, e.row__id.rowid FROM emp e ORDER BY row__id"
    assert rows(db, text) == [(1, 536870912, 0), (2, 536870912, 0), (2, 536870912, 2)]
    every = db.sql("SELECT row__id.*, e.* FROM emp e ORDER BY row__id")
    assert every.columns == ["writeid", "bucketid", "rowid", "id", "name", "boss", "info"]
    assert [tuple(row)[:3] for row in every.collect()] == rows(db, text)
    assert db.sql("SELECT row__id FROM emp").schema.simpleString() == (
        "struct<row__id:struct<writeid:bigint,bucketid:int,rowid:bigint>>"
    )
    by_write = "SELECT row__id.writeid, count(*) FROM emp GROUP BY row__id.writeid HAVING max(row__id.rowid) > 0"
    assert rows(db, by_write) == [(2, 2)]
    assert rows(db, "SELECT count(*), count(DISTINCT row__id) FROM emp") == [(3, 3)]
    assert rows(db, "SELECT x, row__id.rowid FROM emp AS e(x, y, z, w) WHERE row__id.writeid = 1") == [(1, 0)]
    for field, value in (("writeid", 1), ("bucketid", 536870912), ("rowid", 0)):
        found = rows(db, f"SELECT count(*), max(row__id.{field}) FROM emp WHERE row__id.{field} = {value}")
        assert found[0][1] == value, "the file's other columns are read all the same"
    assert rows(db, "SELECT count(*) FROM emp WHERE row__id.rowid = 0 AND row__id.writeid = 1") == [(1,)]
    assert rows(db, "SELECT e.id FROM emp e LEFT SEMI JOIN dept d ON e.row__id = d.row__id") == [(1,)]
    files = rows(db, "SELECT DISTINCT INPUT__FILE__NAME FROM emp WHERE id = 1")
    assert [Path(str(file)).parts[-2:] for (file,) in files] == [("delta_0000001_0000001_0000", "bucket_00000")]


def test_names_qualified_by_database_alias_and_field(db: Session) -> None:
    text = "SELECT default.emp.name, emp.info.city, default.emp.info.zip FROM default.emp WHERE default.emp.id = 1"
    assert rows(db, text) == [("Ann", "Rome", 1)]
    assert rows(db, "SELECT `EMP`.`Name` FROM `emp` WHERE EMP.`ID` = 2") == [("Bob",)]
    db.sql("USE hr")
    try:
        assert rows(db, "SELECT max(wage), max(hr.wages.id) FROM wages JOIN default.emp USING (id)") == [
            (Decimal("20.25"), 2)
        ]
    finally:
        db.sql("USE default")


def test_parameters_are_values_wherever_the_planner_moves_them(db: Session) -> None:
    assert rows(db, "SELECT id FROM emp WHERE name = :n OR id = :i ORDER BY id", {"n": "Bob", "i": 4}) == [(2,), (4,)]
    assert rows(db, "SELECT ?, id FROM emp WHERE name = ? OR boss > ?", ["it's; --", "Bob", 1]) == [
        ("it's; --", 2),
        ("it's; --", 4),
    ]
    assert rows(db, "SELECT :d, :x", {"d": datetime.date(2020, 1, 2), "x": None}) == [(datetime.date(2020, 1, 2), None)]
    with pytest.raises(AcidSqlError, match="parameter :y"):
        db.sql("SELECT :x + :y", {"x": 1})


@pytest.mark.ci
def test_frames_of_every_kind_are_tables(db: Session, spark: SparkSession) -> None:
    values = {"id": [1, 9], "x": ["one", None]}
    frames = [
        pd.DataFrame(values),
        pa.table(values),
        spark.createDataFrame([(1, "one"), (9, None)], "id int, x string"),
    ]
    for frame in frames:
        found = rows(db, "SELECT f.x, name FROM {F} f LEFT JOIN emp e ON e.id = f.id ORDER BY f.id", F=frame)
        assert found == [("one", "Ann"), (None, None)]
    with pytest.raises(AcidSqlError, match="give a Spark, pandas or Arrow frame"):
        db.sql("SELECT * FROM {f}", f=7)


def test_a_frame_is_never_taken_for_a_cte_of_its_name(db: Session) -> None:
    frame = pa.table({"id": [5]})
    assert rows(db, "WITH f AS (SELECT 1 AS id) SELECT a.id, b.id FROM {f} a, f b", f=frame) == [(5, 1)]


def test_temporary_views_of_the_users_session_are_sources(db: Session, spark: SparkSession) -> None:
    spark.createDataFrame([(1, "seen"), (8, "also")], "id int, what string").createOrReplaceTempView("seen_view")
    spark.range(3).createOrReplaceTempView("dept")
    try:
        assert rows(db, "SELECT name, what FROM emp JOIN seen_view USING (id)") == [("Ann", "seen")]
        # A table of the catalog comes before a view of its name, whatever else the statement names.
        assert rows(db, "SELECT count(title) FROM dept") == [(3,)]
        assert rows(db, "SELECT count(title) FROM dept WHERE id IN (SELECT id FROM seen_view)") == [(1,)]
    finally:
        spark.catalog.dropTempView("seen_view")
        spark.catalog.dropTempView("dept")


def temporary_views(spark: SparkSession) -> set[str]:
    return {view.name for view in spark.catalog.listTables() if view.isTemporary}


def test_the_session_of_the_user_does_not_change(db: Session, spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("mine")
    views = temporary_views(spark)
    spark.conf.set("spark.sql.ansi.enabled", "true")  # Spark 4's default
    settings = {k: spark.conf.get(k) for k in ("spark.sql.ansi.enabled", "spark.sql.timestampType")}
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        db.sql("SELECT * FROM emp JOIN dept USING (id)").collect()
        db.sql("CREATE TRANSACTIONAL TABLE mine_too (id int)")
        db.sql("INSERT INTO mine_too VALUES ('x')")
        assert {k: spark.conf.get(k) for k in settings} == settings
        assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York"
        assert temporary_views(spark) == views
        # The user's own queries go on with ANSI mode.
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            spark.sql("SELECT CAST('x' AS int)").collect()
        assert rows(db, "SELECT CAST('x' AS int)") == [(None,)]
    finally:
        assert zone is not None
        spark.conf.set("spark.sql.session.timeZone", zone)
        spark.conf.unset("spark.sql.ansi.enabled")
        spark.catalog.dropTempView("mine")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CAST('x' AS int)", None),
        ("1 / 0", None),
        ("1 % 0", None),
        ("2147483647 + 1", -2147483648),
        ("9223372036854775807 + 1", -9223372036854775808),
        ("CAST(300 AS tinyint)", 44),
        ("CAST('2020-13-01' AS date)", None),
        ("array(1)[5]", None),
        ("map('a', 1)['b']", None),
        ("CAST('1.5' AS int)", 1),
        ("CAST(12345.678 AS decimal(5,2))", None),
    ],
)
def test_expressions_follow_hive_and_not_ansi(db: Session, expression: str, value: object) -> None:
    assert rows(db, f"SELECT {expression}") == [(value,)]


def test_a_lazy_query_keeps_the_snapshot_it_was_planned_on(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE lazy (id int)")
    db.sql("INSERT INTO lazy VALUES (1), (2), (3)")
    planned = db.sql("SELECT id FROM lazy ORDER BY id")
    twice = db.sql("SELECT count(*) FROM lazy a JOIN lazy b ON a.id = b.id")
    db.sql("DELETE FROM lazy WHERE id = 2")
    db.sql("UPDATE lazy SET id = id * 10")
    assert [row.id for row in planned.collect()] == [1, 2, 3]
    assert [row.id for row in planned.filter("id > 1").collect()] == [2, 3]
    assert twice.collect()[0][0] == 3
    assert rows(db, "SELECT id FROM lazy ORDER BY id") == [(10,), (30,)]


def test_an_empty_table_and_an_emptied_one_have_no_rows_but_columns(db: Session) -> None:
    db.sql("CREATE TRANSACTIONAL TABLE none (id int, t timestamp, s struct<a:int>)")
    text = "SELECT *, row__id, INPUT__FILE__NAME FROM none"
    for _ in range(2):
        frame = db.sql(text)
        assert frame.collect() == []
        assert frame.columns == ["id", "t", "s", "row__id", "input__file__name"]
        assert rows(db, "SELECT count(*), max(id) FROM none") == [(0, None)]
        db.sql("INSERT INTO none (id) VALUES (1)")
        db.sql("DELETE FROM none")


def test_a_date_that_python_does_not_have_is_an_error_of_acidsql(db: Session) -> None:
    late = "SELECT date_add(date '9999-12-31', 1) AS d"
    with pytest.raises(AcidSqlError, match="a value has no Python form"):
        list(db.execute(late).rows())
    assert list(db.execute(f"SELECT year(d) FROM ({late}) x").rows()) == [(10000,)]
    frame = db.sql(late)
    for read in (frame.collect, frame.first, frame.head, lambda: frame.take(1), lambda: list(frame.toLocalIterator())):
        error = fails("QUERY_FAILED", read)
        assert "a value has no Python form" in str(error)


def test_lateral_views_windows_and_values(db: Session) -> None:
    assert rows(db, "SELECT id, x FROM emp LATERAL VIEW explode(array(id, boss)) p AS x WHERE id = 2") == [
        (2, 2),
        (2, 1),
    ]
    ranked = "SELECT id, rank() OVER (PARTITION BY row__id.writeid ORDER BY row__id.rowid) FROM emp ORDER BY id"
    assert rows(db, ranked) == [(1, 1), (2, 1), (4, 2)]
    assert rows(db, "VALUES (1, 'a'), (2, NULL)") == [(1, "a"), (2, None)]
    assert rows(db, "SELECT 'row__id', \"a;b\" -- emp") == [("row__id", "a;b")]


def test_missing_values_and_times_of_pandas_frames_are_what_they_are_there(db: Session, spark: SparkSession) -> None:
    frame = pd.DataFrame(
        {
            "text": ["x", None],
            "kind": pd.Categorical(["a", None]),
            "whole": pd.array([2**60 + 1, None], dtype="Int64"),
            "moment": [pd.Timestamp("2020-01-01 10:00:00.5"), None],
        }
    )
    db.sql("CREATE TRANSACTIONAL TABLE panda (text string, kind string, whole bigint, moment timestamp)")
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        db.sql("INSERT INTO panda SELECT * FROM {frame}", frame=frame)
    finally:
        assert zone is not None
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert rows(db, "SELECT * FROM panda ORDER BY whole") == [
        ("x", "a", 2**60 + 1, datetime.datetime(2020, 1, 1, 10, 0, 0, 500000)),
        (None, None, None, None),
    ]
