"""Tables that plain Spark reads as temporary views (Session.register)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from acidsql import AcidSqlError, connect
from acidsql.session import Session
from tests.answers import fails

_ACID = "TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def plain(spark: SparkSession) -> SparkSession:
    """A user's session, with settings of Spark's defaults."""
    return spark.newSession()


@pytest.fixture
def opened(plain: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(tmp_path / "warehouse", spark=plain) as session:
        session.execute(f"CREATE TABLE t (id int, name string) {_ACID}")
        session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        yield session


def _rows(plain: SparkSession, text: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, plain.sql(text).collect()))


def test_each_query_reads_what_is_committed_when_it_is_analyzed(opened: Session, plain: SparkSession) -> None:
    assert opened.register() == ["t"]
    assert _rows(plain, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    before = plain.table("t")
    opened.execute("UPDATE t SET name = 'z' WHERE id = 2")
    opened.execute("DELETE FROM t WHERE id = 1")
    opened.execute("INSERT INTO t VALUES (3, 'c')")
    assert _rows(plain, "SELECT * FROM t") == [(2, "z"), (3, "c")]
    assert plain.table("t").where(col("id") > 2).count() == 1
    assert sorted(map(tuple, before.collect())) == [(1, "a"), (2, "b")]
    opened.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert _rows(plain, "SELECT * FROM t") == [(2, "z"), (3, "c")]
    assert sorted(map(tuple, before.collect())) == [(1, "a"), (2, "b")]


def test_the_tables_of_one_query_are_read_at_one_snapshot(
    opened: Session, plain: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.execute(f"CREATE TABLE log (n int) {_ACID}")
    opened.register()
    rows_of = opened._registered_rows
    reads = []

    def writing_after_the_first(name: str, snapshot: object) -> object:
        frame = rows_of(name, snapshot)  # type: ignore[arg-type]
        reads.append(name)
        if len(reads) == 1:
            with connect(opened.warehouse, spark=plain) as other:
                other.execute("INSERT INTO t VALUES (9, 'late')")
                other.execute("INSERT INTO log VALUES (9)")
        return frame

    registered = opened._registered
    assert registered is not None
    monkeypatch.setattr(registered, "_rows", writing_after_the_first)
    joined = "SELECT count(*), (SELECT count(*) FROM t), (SELECT count(*) FROM log) FROM t a JOIN t b ON a.id = b.id"
    assert _rows(plain, joined) == [(2, 2, 0)]
    assert len(reads) == 4
    assert _rows(plain, joined) == [(3, 3, 1)]


def test_views_have_other_names_and_tables_other_databases(opened: Session, plain: SparkSession) -> None:
    opened.execute("CREATE DATABASE hr")
    opened.execute(f"CREATE TABLE hr.staff (id int) PARTITIONED BY (p string) {_ACID}")
    opened.execute("INSERT INTO hr.staff VALUES (7, 'x')")
    opened.execute("CREATE VIEW named AS SELECT id, upper(name) AS name FROM t")
    assert opened.register("hr.staff", "named", renamed="default.t") == ["staff", "named", "renamed"]
    assert _rows(plain, "SELECT * FROM staff") == [(7, "x")]
    assert _rows(plain, "SELECT * FROM named") == [(1, "A"), (2, "B")]
    assert _rows(plain, "SELECT id FROM renamed") == [(1,), (2,)]
    with pytest.raises(AnalysisException):
        plain.sql("SELECT * FROM t")


def test_what_cannot_be_registered_is_refused_before_a_view_is_made(opened: Session, plain: SparkSession) -> None:
    fails("TABLE_NOT_FOUND", lambda: opened.register("t", "missing"))
    fails("INVALID_PARAMETER", lambda: opened.register("t", T="t"))
    plain.range(1).createOrReplaceTempView("mine")
    error = fails("INVALID_PARAMETER", lambda: opened.register("t", mine="t"))
    assert "another temporary view of the name mine" in str(error)
    assert [table.name for table in plain.catalog.listTables()] == ["mine"]
    plain.conf.set("spark.sql.legacy.storeAnalyzedPlanForView", "true")
    fails("INVALID_PARAMETER", lambda: opened.register("t"))
    plain.conf.unset("spark.sql.legacy.storeAnalyzedPlanForView")
    assert opened.register("t") == ["t"]
    assert opened.register("t") == ["t"], "again"


def test_the_views_end_with_the_session(opened: Session, plain: SparkSession) -> None:
    opened.register(a="t", b="t")
    plain.range(1).createOrReplaceTempView("mine")
    opened.close()
    assert [table.name for table in plain.catalog.listTables()] == ["mine"]


def test_an_error_of_the_table_is_told_by_spark(opened: Session, plain: SparkSession) -> None:
    opened.register("t")
    opened.execute("DROP TABLE t")
    with pytest.raises(Exception, match="TABLE_NOT_FOUND"):
        plain.sql("SELECT * FROM t")


def test_a_view_of_the_user_on_a_registered_one_can_be_named_in_statements(
    opened: Session, plain: SparkSession
) -> None:
    opened.register(r="t")
    plain.sql("CREATE TEMPORARY VIEW of_user AS SELECT id FROM r WHERE id > 1")
    opened.execute(f"CREATE TABLE copy (id int) {_ACID}")
    counts = opened.execute("INSERT INTO copy SELECT id FROM of_user").counts
    assert counts is not None
    assert counts.inserted == 1
    opened.execute("INSERT INTO t VALUES (5, 'e')")
    assert sorted(map(tuple, opened.sql("SELECT id FROM of_user").collect())) == [(2,), (5,)]
    with opened.transaction():
        opened.execute("INSERT INTO t VALUES (6, 'f')")
        assert plain.table("of_user").count() == 3, "what the open transaction has written"


def test_many_threads_read_at_once(opened: Session, plain: SparkSession) -> None:
    opened.register("t")
    counts: list[int] = []

    def read() -> None:
        counts.extend(plain.sql("SELECT * FROM t a JOIN t b ON a.id = b.id").count() for _ in range(3))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [2] * 12


def test_a_registered_table_has_the_types_and_values_of_its_columns(opened: Session, plain: SparkSession) -> None:
    opened.execute(
        f"CREATE TABLE typed (c char(4), v varchar(5), d decimal(10,2), dt date, a array<int>, s struct<x:int>) {_ACID}"
    )
    opened.execute("INSERT INTO typed SELECT 'ab', 'cd', 1.50, DATE '2024-02-29', array(1, NULL), named_struct('x', 1)")
    opened.register("typed")
    wanted = opened.table("typed")
    assert plain.table("typed").collect() == wanted.collect()
    assert [f.dataType for f in plain.table("typed").schema] == [f.dataType for f in wanted.schema]


def test_an_added_column_shows_after_the_next_register(opened: Session, plain: SparkSession) -> None:
    opened.register("t")
    opened.execute("ALTER TABLE t ADD COLUMNS (more int)")
    assert plain.table("t").columns == ["id", "name"]
    opened.register("t")
    assert plain.table("t").columns == ["id", "name", "more"]
    assert isinstance(opened, Session)
    with pytest.raises(AcidSqlError):
        opened.register("")
