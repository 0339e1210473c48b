"""Calls of DB-API that are wrong get an exception of PEP 249 before anything runs, and cost no open transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql import dbapi
from acidsql.errors import AcidSqlError

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def connection(spark: SparkSession, tmp_path: Path) -> Iterator[dbapi.Connection]:
    with dbapi.connect(tmp_path / "warehouse", spark=spark) as opened:
        opened.cursor().execute(f"CREATE TABLE t (id INT, v STRING) {ACID}")
        yield opened


@pytest.fixture
def cursor(connection: dbapi.Connection) -> dbapi.Cursor:
    return connection.cursor()


@pytest.mark.parametrize("operation", [None, b"SELECT 1", 7])
def test_a_statement_that_is_no_text_is_refused(cursor: dbapi.Cursor, operation: Any) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="a statement is a text"):
        cursor.execute(operation)
    with pytest.raises(dbapi.ProgrammingError, match="a statement is a text"):
        cursor.executemany(operation, [{}, {}])


@pytest.mark.parametrize("size", [-1, 1.5, "2"])
def test_a_size_that_is_no_number_of_rows_is_refused_and_loses_no_row(cursor: dbapi.Cursor, size: Any) -> None:
    cursor.execute("SHOW TABLES")
    with pytest.raises(dbapi.ProgrammingError, match=r"size.*is not a number of rows"):
        cursor.fetchmany(size)
    cursor.arraysize = size
    with pytest.raises(dbapi.ProgrammingError, match=r"arraysize.*is not a number of rows"):
        cursor.fetchmany()
    assert cursor.fetchmany(0) == []
    assert cursor.fetchall() == [("t",)]


@pytest.mark.parametrize("value", [(1, 2), {1}, frozenset(), range(3)])
def test_a_tuple_or_set_stands_for_the_list_of_in_only(cursor: dbapi.Cursor, value: object) -> None:
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cursor.execute("SELECT id FROM t WHERE id = :ids", {"ids": value})
    assert caught.value.condition == "INVALID_PARAMETER"
    assert caught.value.span is not None
    assert caught.value.span.text == ":ids"
    assert cursor.execute("SELECT id FROM t WHERE id IN (:ids)", {"ids": value}).fetchall() == []


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("INSERT INTO t VALUES (:id, :v)", [{"id": 1, "v": "a"}, {"id": 2}]),
        ("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2,)]),
        ("INSERT INTO t VALUES (?, ?)", [(1, "a"), {"id": 2}]),
        ("INSERT INTO t VALUES (?, ?)", [(1, "a"), None]),
    ],
)
def test_executemany_runs_nothing_if_a_later_set_lacks_a_parameter(
    cursor: dbapi.Cursor, statement: str, rows: list[Any]
) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="UNBOUND_PARAMETER") as caught:
        cursor.executemany(statement, rows)
    assert "set 2 of 2" in caught.value.hint
    assert cursor.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_executemany_runs_nothing_if_a_later_set_is_none(cursor: dbapi.Cursor) -> None:
    rows: list[Any] = [{"id": 1, "v": "a"}, "text"]
    with pytest.raises(dbapi.ProgrammingError, match="INVALID_PARAMETER"):
        cursor.executemany("INSERT INTO t VALUES (:id, :v)", rows)
    assert cursor.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_statement_that_is_refused_leaves_the_transaction_open(
    spark: SparkSession, connection: dbapi.Connection
) -> None:
    with dbapi.connect(connection.session.warehouse, spark=spark, autocommit=False) as books:
        cursor = books.cursor()
        with pytest.raises(dbapi.ProgrammingError, match="rolled back"):
            cursor.execute("SELECT absent FROM t")  # the first statement: there is nothing to keep
        assert not books.in_transaction
        cursor.execute("INSERT INTO t VALUES (1, 'a')")
        for wrong in ("SELCT 1", "SELECT absent FROM t", "INSERT INTO absent VALUES (1)"):
            with pytest.raises(dbapi.ProgrammingError, match="still open"):
                cursor.execute(wrong)
        cursor.execute("INSERT INTO t VALUES (2, 'b')")
        books.commit()
    assert connection.cursor().execute("SELECT id FROM t ORDER BY id").fetchall() == [(1,), (2,)]


def test_a_refused_statement_leaves_a_transaction_of_start_transaction_open(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("START TRANSACTION")
    cursor.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(dbapi.ProgrammingError, match="still open"):
        cursor.execute("SELECT absent FROM t")
    connection.commit()
    assert cursor.execute("SELECT id FROM t").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("text", "values"), [("INSERT INTO t (id) VALUES (?)", [7, "lost"]), ("SELECT id FROM t WHERE id = ?", (1, 2))]
)
def test_more_values_than_parameters_are_refused(cursor: dbapi.Cursor, text: str, values: Any) -> None:
    with pytest.raises(dbapi.ProgrammingError, match=r"2 values are given for 1 parameters \(\?\)"):
        cursor.execute(text, values)
    with pytest.raises(dbapi.ProgrammingError, match="This is set 2 of 2; no set was run"):
        cursor.executemany(text, [values[:1], values])
    assert cursor.execute("SELECT * FROM t").fetchall() == []


def test_named_parameters_may_leave_values_of_a_list_out(cursor: dbapi.Cursor) -> None:
    cursor.execute("INSERT INTO t VALUES (:p2, 'x')", [1, 2])
    assert cursor.execute("SELECT * FROM t").fetchall() == [(2, "x")]


@pytest.mark.parametrize("sets", [None, 5, "ab", {"id": 1}])
def test_what_is_no_list_of_sets_of_parameters_is_refused(cursor: dbapi.Cursor, sets: Any) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="not a list of sets of parameters"):
        cursor.executemany("INSERT INTO t (id) VALUES (:id)", sets)


def test_sets_of_parameters_may_be_iterators(cursor: dbapi.Cursor) -> None:
    sets: Any = iter([iter((1, "a")), iter((2, "b"))])
    assert cursor.executemany("INSERT INTO t VALUES (?, ?)", sets).rowcount == 2
    assert sorted(cursor.execute("SELECT * FROM t").fetchall()) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    "call",
    [
        lambda session: session.read_arrow("t", columns=[1]),
        lambda session: session.read_arrow("t", version="x"),
        lambda session: session.read_arrow(5),
        lambda session: session.upsert("t", [{"id": 1, "v": "a"}], on=None),
        lambda session: session.upsert("t", [{"id": 1, "v": "a"}], on=[1]),
        lambda session: session.update("t", {5: "1"}),
        lambda session: session.update(5, {"v": "'a'"}),
        lambda session: session.insert(None, [{"id": 1}]),
        lambda session: session.set_variables({"a": 5}),
        lambda session: session.set_settings({"a": 5}),
    ],
)
def test_arguments_of_methods_that_are_of_another_type_are_refused(connection: dbapi.Connection, call: Any) -> None:
    with pytest.raises(AcidSqlError) as caught:
        call(connection.session)
    assert caught.value.condition == "INVALID_PARAMETER"
