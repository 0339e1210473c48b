"""EXPLAIN names the engine that runs a statement, and why; what it says is what happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acidsql.arrow.executor import ArrowExecutor
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.spark.executor import SparkExecutor

SETUP = """
CREATE TABLE t (id INT, name STRING, d DECIMAL(5,2), at TIMESTAMP WITH LOCAL TIME ZONE)
  STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE simple (id INT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE checked (id INT CHECK (id > 0)) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE plain (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='false');
INSERT INTO simple VALUES (1, 'a'), (2, 'b');
"""
CHOICES = {
    "SELECT id FROM simple WHERE id > 1": "Arrow: the query is the scan of one table",
    "SELECT count(*) FROM simple": "Arrow: the query is the scan of one table",
    "SELECT id, count(*) FROM simple GROUP BY id": "Spark: the query is more than the scan of one table",
    "SELECT 1": "Spark: the query reads no table",
    "SELECT at FROM t": "Spark: it has instants",
    "SELECT id FROM simple WHERE upper(name) = 'A'": "Spark: only Spark evaluates its condition",
    "INSERT INTO simple VALUES (3, 'c')": "Arrow: the rows are values of the statement or the call",
    "INSERT INTO simple SELECT * FROM simple": "Spark: only Spark computes its rows",
    "INSERT INTO checked VALUES (1)": "Spark: default.checked has CHECK constraints",
    "INSERT INTO plain VALUES (1)": "Spark: default.plain is not transactional",
    "UPDATE simple SET name = 'x' WHERE id = 1": "Arrow: its condition and its new values are about one table",
    "UPDATE simple SET id = id + 1": "Spark: only Spark computes what SET stores",
    "UPDATE simple SET name = 'x' WHERE upper(name) = 'A'": "Spark: only Spark evaluates its condition",
    "UPDATE t SET id = 1": "Spark: only Spark makes new rows of default.t",
    "DELETE FROM simple WHERE id = 1": "Arrow: its condition and its new values are about one table",
    "DELETE FROM simple WHERE id IN (SELECT id FROM plain)": "Spark: only Spark computes its rows",
    "FROM simple INSERT INTO t (id) SELECT id INSERT INTO checked SELECT id": "Spark: several INSERTs share the rows",
    "MERGE INTO simple s USING plain p ON s.id = p.id WHEN MATCHED THEN DELETE": "Arrow: its clauses depend on the"
    " source alone, whose rows this process reads",
    "MERGE INTO simple s USING (SELECT max(id) id FROM plain) p ON s.id = p.id WHEN MATCHED THEN DELETE": "Arrow: its"
    " clauses depend on the source alone, whose rows Spark computes",
    "MERGE INTO simple s USING plain p ON s.id < p.id WHEN MATCHED THEN DELETE": "Spark: only Spark computes its rows",
}


class _ByArrowError(Exception):
    pass


class _BySparkError(Exception):
    pass


@pytest.fixture
def tables(session: Session) -> Session:
    for _ in session.script(SETUP):
        pass
    return session


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Statements end where an engine gets their rows."""

    def by_arrow(*_: object, **__: object) -> None:
        raise _ByArrowError

    def by_spark(*_: object, **__: object) -> None:
        raise _BySparkError

    monkeypatch.setattr(ArrowExecutor, "_staged_and_published", by_arrow)
    monkeypatch.setattr(ArrowExecutor, "_merged", by_arrow)
    monkeypatch.setattr("acidsql.arrow.scan_batches.ArrowScans.open", by_arrow)
    monkeypatch.setattr(SparkExecutor, "write", by_spark)
    monkeypatch.setattr(SparkExecutor, "write_in", by_spark)
    monkeypatch.setattr(SparkExecutor, "query", by_spark)
    yield
    monkeypatch.undo()


def test_explain_names_the_engine_that_gets_the_statement(tables: Session, stopped: None) -> None:
    told, ran = {}, {}
    for statement in CHOICES:
        lines = tables.explain(statement).splitlines()
        told[statement] = lines[lines.index("engine") + 1].strip()
        with pytest.raises((_ByArrowError, _BySparkError)) as raised:
            tables.execute(statement, rows_only=True)
        ran[statement] = "Arrow" if raised.type is _ByArrowError else "Spark"
    assert {statement: told[statement][: len(reason)] for statement, reason in CHOICES.items()} == CHOICES
    assert ran == {statement: reason.partition(":")[0] for statement, reason in CHOICES.items()}


def test_values_that_are_not_certain_are_for_spark(tables: Session) -> None:
    assert "Spark: Spark decides what a column stores" in tables.explain("INSERT INTO t (d) VALUES ('12.345')")
    tables.execute("SET acidsql.driver.write.max.bytes=0")
    assert "Spark: acidsql.driver.write.max.bytes is 0" in tables.explain("DELETE FROM simple WHERE id = 1")


def test_a_frame_is_explained_without_its_values(tables: Session) -> None:
    assert "Arrow: the rows are values" in tables.explain("INSERT INTO simple SELECT * FROM {rows}")
    with pytest.raises(AcidSqlError, match="UNBOUND_PARAMETER"):
        tables.execute("INSERT INTO simple SELECT * FROM {rows}")
