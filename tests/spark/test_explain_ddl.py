"""EXPLAIN of statements without a query: their locks and what they do; nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session


@pytest.fixture
def db(session: Session) -> Session:
    session.execute("CREATE TRANSACTIONAL TABLE t (k INT) PARTITIONED BY (p INT)")
    session.execute("CREATE TABLE plain (k INT)")
    return session


def explained(session: Session, statement: str) -> list[str]:
    rows = session.execute(f"EXPLAIN {statement}").rows()
    text = [str(row[0]).replace(session.warehouse, "W") for row in rows]
    assert "\n".join(text) + "\n" == session.explain(statement).replace(session.warehouse, "W")
    return text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "TRUNCATE TABLE t",
            "TRUNCATE TABLE default.t|locks|  default.t -> EXCLUSIVE|does|  writes an empty base_W in its partitions",
        ),
        (
            "LOAD DATA LOCAL INPATH '/in' INTO TABLE t PARTITION (p = 1)",
            "LOAD DATA INTO default.t|locks|  default.t.p=1 -> SHARED_READ|does"
            "|  copies the files of /in to W/t/p=1/delta_W_W_0000",
        ),
        (
            "DROP TABLE t",
            "DROP TABLE default.t|locks|  default.t -> EXCLUSIVE|does|  removes it from the catalog|  removes W/t",
        ),
        ("DROP TABLE plain", "DROP TABLE default.plain|does|  removes it from the catalog|  removes W/plain"),
        ("DROP TABLE IF EXISTS none", "DROP TABLE default.none|does|  nothing"),
        (
            "ALTER TABLE t ADD COLUMNS (v INT)",
            "ALTER TABLE default.t|locks|  default.t -> EXCLUSIVE|does|  changes the catalog",
        ),
        ("ALTER TABLE t COMPACT 'major'", "ALTER TABLE default.t COMPACT|does|  queues a major compaction"),
        (
            "CREATE TABLE u (k INT)",
            "CREATE TABLE default.u|locks|  default -> SHARED_READ|does|  adds it to the catalog"
            "|  makes a directory in the database's",
        ),
        ("CREATE TABLE IF NOT EXISTS t (k INT)", "CREATE TABLE default.t|does|  nothing"),
        ("CREATE DATABASE d", "CREATE DATABASE d|does|  adds it to the catalog, at W/d.db"),
        ("DROP DATABASE IF EXISTS d", "DROP DATABASE d|does|  nothing"),
    ],
)
def test_a_statement_without_a_query_says_what_it_will_do(db: Session, statement: str, expected: str) -> None:
    assert explained(db, statement) == expected.split("|")
    assert db.catalog.tables("default") == ["plain", "t"]
    assert [row[0] for row in db.execute("SHOW DATABASES").rows()] == ["default"]
    assert sorted(p.name for p in Path(db.warehouse).iterdir() if not p.name.startswith(".")) == ["plain", "t"]


def test_locks_alone_and_errors(db: Session) -> None:
    assert [row[0] for row in db.execute("EXPLAIN LOCKS DROP TABLE t").rows()] == [
        "LOCK INFORMATION:",
        "default.t -> EXCLUSIVE",
    ]
    with pytest.raises(AcidSqlError) as caught:
        db.execute("EXPLAIN DROP TABLE none")
    assert caught.value.condition == "TABLE_NOT_FOUND"
