"""Hive 4.0.1 gives what tests/expressions/test_hive_expressions.py and tests/ddl/test_create_as.py expect of
acidsql."""

from __future__ import annotations

import pytest

from tests.ddl.test_create_as import ACID, CASTS, SIZED
from tests.dml.test_stored_values import CHANGES, SHOWN, STORED, TABLES
from tests.expressions.test_hive_expressions import COLUMNS, FOUND, OF_ALL, ROWS, UNIONS, VALUES
from tests.interop.hive_client import Hive, HiveError
from tests.values.test_faces import CASES, REFUSED, TYPES

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]


def test_hive_finds_the_same_rows_and_gives_the_same_values(hive: Hive) -> None:
    table = "expressions"
    hive.run(
        f"CREATE TABLE {table} {COLUMNS} STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        f"INSERT INTO {table} VALUES {ROWS}",
    )
    for condition, ids in FOUND.items():
        assert sorted(hive.rows(f"SELECT id FROM {table} WHERE {condition}")) == [[i] for i in ids], condition
    (values,) = hive.rows(f"SELECT {', '.join(VALUES)} FROM {table} WHERE id = 1")
    assert dict(zip(VALUES, values, strict=True)) == VALUES
    (values,) = hive.rows(f"SELECT {', '.join(OF_ALL)} FROM {table}")
    assert dict(zip(OF_ALL, values, strict=True)) == pytest.approx(OF_ALL)
    for (one, other), expected in UNIONS.items():
        union = f"SELECT {one} AS c FROM {table} WHERE id = 1 UNION ALL SELECT {other} FROM {table} WHERE id = 1"
        assert sorted(hive.rows(union)) == [[value] for value in expected], (one, other)


@pytest.mark.nightly
def test_hive_makes_columns_of_the_same_types_of_casts(hive: Hive) -> None:
    hive.run("CREATE DATABASE casts", "USE casts", f"CREATE TABLE s {SIZED} {ACID}")
    found = {}
    for query in CASTS:
        hive.run(f"CREATE TABLE t {ACID} AS {query}")
        found[query] = " ".join(str(row[1]).strip() for row in hive.rows("DESCRIBE t"))
        hive.run("DROP TABLE t")
    hive.run("USE default", "DROP DATABASE casts CASCADE")
    assert found == CASTS


@pytest.mark.nightly
def test_hive_stores_the_same_values_of_a_query(hive: Hive) -> None:
    for change, statement in CHANGES.items():
        hive.run("CREATE DATABASE stored", "USE stored", *TABLES, statement)
        (found,) = hive.rows(f"SELECT {SHOWN} FROM target WHERE id = 1")
        hive.run("USE default", "DROP DATABASE stored CASCADE")
        assert dict(zip(STORED, found, strict=True)) == STORED, change


@pytest.mark.nightly
def test_hive_stores_the_same_of_literals(hive: Hive) -> None:
    hive.run("CREATE DATABASE faces", "USE faces", "CREATE TABLE one (i int)", "INSERT INTO one VALUES (1)")
    for number, kind in enumerate(TYPES):
        hive.run(f"CREATE TABLE single{number} (c {kind}) {ACID}")
        for text in (text for (text, of), stored in CASES.items() if of == kind and stored is REFUSED):
            with pytest.raises(HiveError):
                hive.rows(f"EXPLAIN INSERT INTO single{number} SELECT {text} FROM one")
        expected = {text: stored for (text, of), stored in CASES.items() if of == kind and stored is not REFUSED}
        columns = ", ".join(f"c{place} {kind}" for place in range(len(expected)))
        hive.run(f"CREATE TABLE t{number} (id int, {columns}) {ACID}")
        hive.run(f"INSERT INTO t{number} SELECT i, {', '.join(expected)} FROM one")
        shown = ", ".join(f"CAST(c{place} AS STRING)" for place in range(len(expected)))
        (found,) = hive.rows(f"SELECT {shown} FROM t{number}")
        assert dict(zip(expected, found, strict=True)) == expected, kind
    hive.run("USE default", "DROP DATABASE faces CASCADE")
