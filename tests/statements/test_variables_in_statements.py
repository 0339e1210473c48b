"""Variables in statements that Spark runs: they are replaced once, before parsing, and never inside Spark."""

from __future__ import annotations

import os

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.statements.results import CountsResult

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_only_variables_that_are_set_change_the_text_of_rows(session: Session) -> None:
    session.execute(f"CREATE TABLE pay (id int, t string) {_ACID}")
    session.execute("SET hivevar:day=2026-11-23")
    session.execute("INSERT INTO pay VALUES (1, 'pay ${amount} now'), (2, 'on ${day}'), (3, '${spark.master}')")
    session.execute("SET hivevar:amount=5")
    rows = session.sql("SELECT t FROM pay ORDER BY id").collect()
    assert [row.t for row in rows] == ["pay ${amount} now", "on 2026-11-23", "${spark.master}"], "rows keep their text"
    deleted = session.execute("DELETE FROM pay WHERE t LIKE '${prefix}%'")
    assert isinstance(deleted, CountsResult)
    assert deleted.counts.deleted == 0


def test_parameters_are_never_replaced(session: Session) -> None:
    session.set_variables({"x": "replaced"})
    [row] = session.sql("SELECT '${x}' AS text, :p AS parameter", {"p": "${x}"}).collect()
    assert (row.text, row.parameter) == ("replaced", "${x}")


@pytest.mark.ci
def test_a_variable_may_hold_any_part_of_a_statement(session: Session) -> None:
    session.execute(f"CREATE TABLE visit (id int, page string) PARTITIONED BY (day string) {_ACID}")
    session.set_variables({"rows": "(1, 'home'), (2, 'shop')", "where": "id = ${id}", "id": "2"})
    session.execute("INSERT INTO visit PARTITION (day='${env:HOME}') VALUES ${rows}")
    session.execute("UPDATE visit SET page = upper(page) WHERE ${where}")
    rows = session.sql("SELECT id, page, day FROM visit ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [(1, "home", os.environ["HOME"]), (2, "SHOP", os.environ["HOME"])]


def test_a_view_keeps_the_values_of_the_time_when_it_was_created(session: Session) -> None:
    session.set_variables({"limit": "1"})
    session.execute("CREATE VIEW v AS SELECT ${limit} AS x")
    session.set_variables({"limit": "2"})
    assert [row.x for row in session.sql("SELECT x FROM v").collect()] == [1]


def test_an_error_of_the_query_points_at_the_variable(session: Session) -> None:
    session.execute(f"CREATE TABLE u (id int) {_ACID}")
    session.set_variables({"column": "idd"})
    text = "SELECT ${column}, id FROM u"
    with pytest.raises(AcidSqlError) as raised:
        session.sql(text)
    assert raised.value.condition == "COLUMN_NOT_FOUND"
    assert raised.value.span is not None
    assert (raised.value.span.source, raised.value.span.text) == (text, "${column}")


def test_an_error_in_a_variable_rolls_the_transaction_back(session: Session) -> None:
    session.execute(f"CREATE TABLE w (id int) {_ACID}")
    session.set_variables({"loop": "${loop}"})
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO w VALUES (1)")
    with pytest.raises(AcidSqlError, match="was rolled back"):
        session.execute("INSERT INTO w VALUES (${loop})")
    assert session.sql("SELECT * FROM w").collect() == []
