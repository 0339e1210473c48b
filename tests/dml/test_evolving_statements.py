"""WITH SCHEMA EVOLUTION of INSERT and MERGE, and `evolve=True` of the methods, each held against its SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.session import Session
from tests.answers import counts, fails, files_below, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
MERGE = """MERGE WITH SCHEMA EVOLUTION INTO t USING {new} s ON t.id = s.id
           WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
NEW = pa.table({"id": pa.array([2, 3], pa.int32()), "x": ["b", "c"], "v": pa.array([20, 3 << 40], pa.int64())})


def columns(session: Session, table: str = "t") -> list[tuple[str, str]]:
    found = session.catalog.find_table("default", table)
    assert found is not None
    return [(c.name, c.type) for c in found.all_columns]


def make(session: Session, columns: str = "id int, v int", clauses: str = ACID, name: str = "t") -> None:
    session.sql(f"CREATE TABLE {name} ({columns}) {clauses}")


def waiting(session: Session) -> list[tuple[object, ...]]:
    return [lock for lock in rows(session, "SHOW LOCKS") if "WAITING" in map(str.upper, map(str, lock))]


# ------------------------------------------------------------------------------------------------ MERGE


@pytest.mark.ci
def test_merge_adds_columns_and_widens_types_and_old_rows_read_null(session: Session) -> None:
    make(session)
    session.sql("INSERT INTO t VALUES (1, 10), (2, 11)")
    assert counts(session, MERGE, new=NEW) == (2, 1, 0, 1)
    assert columns(session) == [("id", "int"), ("v", "bigint"), ("x", "string")]
    assert rows(session) == [(1, 10, None), (2, 20, "b"), (3, 3 << 40, "c")]
    session.sql("UPDATE t SET x = 'a' WHERE id = 1")
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session) == [(1, 10, "a"), (2, 20, "b"), (3, 3 << 40, "c")]


def test_without_the_clause_nothing_changes(session: Session) -> None:
    make(session)
    session.sql(MERGE.replace("WITH SCHEMA EVOLUTION ", ""), new=NEW)
    assert columns(session) == [("id", "int"), ("v", "int")]


@pytest.mark.ci
def test_a_star_takes_the_columns_of_the_source_and_leaves_others(session: Session) -> None:
    make(session, "id int, v int DEFAULT 7")
    session.sql("INSERT INTO t VALUES (2, 11)")
    session.sql(MERGE, new=pa.table({"ID": pa.array([2, 3], pa.int32()), "x": ["b", "c"]}))
    assert rows(session) == [(2, 11, "b"), (3, 7, "c")]


def test_a_column_that_a_clause_assigns_by_its_own_name_is_added(session: Session) -> None:
    make(session)
    session.sql("INSERT INTO t VALUES (2, 11)")
    statement = """MERGE WITH SCHEMA EVOLUTION INTO t USING {new} s ON t.id = s.id
                   WHEN MATCHED THEN UPDATE SET x = s.x WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"""
    session.sql(statement, new=NEW)
    assert columns(session) == [("id", "int"), ("v", "int"), ("x", "string")]
    assert rows(session) == [(2, 11, "b"), (3, None, None)]
    fails("SET_COLUMN_NOT_FOUND", lambda: session.sql(statement.replace("x = s.x", "y = s.x"), new=NEW))
    assert len(columns(session)) == 3


def test_the_source_may_read_the_target_itself(session: Session) -> None:
    make(session)
    session.sql("INSERT INTO t VALUES (1, 10), (2, 11)")
    session.sql(
        """MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT *, v * 2 AS twice FROM t) s ON t.id = s.id
           WHEN MATCHED THEN UPDATE SET *"""
    )
    assert rows(session) == [(1, 10, 20), (2, 11, 22)]
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t SELECT *, 'n' AS note FROM t WHERE id = 1")
    assert rows(session, "SELECT * FROM t ORDER BY id, nvl(note, '')") == [
        (1, 10, 20, None),
        (1, 10, 20, "n"),
        (2, 11, 22, None),
    ]


@pytest.mark.ci
def test_a_cte_and_values_are_sources(session: Session) -> None:
    make(session)
    session.sql(
        """WITH c AS (SELECT 5 AS id, 1.5 AS w) MERGE WITH SCHEMA EVOLUTION INTO t USING c ON t.id = c.id
           WHEN NOT MATCHED THEN INSERT *"""
    )
    session.sql(
        """MERGE WITH SCHEMA EVOLUTION INTO t USING (VALUES (5, true)) s (id, f) ON t.id = s.id
           WHEN MATCHED THEN UPDATE SET *"""
    )
    assert columns(session)[2:] == [("w", "decimal(2,1)"), ("f", "boolean")]
    assert [str(value) for value in rows(session)[0]] == ["5", "None", "1.5", "True"]


# ------------------------------------------------------------------------------------------------ INSERT


def test_insert_adds_columns_of_its_list_and_those_behind_the_target_s(session: Session) -> None:
    make(session)
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t (id, x) VALUES (1, 'a')")
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t SELECT 2, 11, 'b', DATE '2026-01-01' AS day")
    assert columns(session) == [("id", "int"), ("v", "int"), ("x", "string"), ("day", "date")]
    assert [r[:3] for r in rows(session)] == [(1, None, "a"), (2, 11, "b")]
    error = fails(
        "INSERT_COLUMN_COUNT", lambda: session.sql("INSERT WITH SCHEMA EVOLUTION INTO t VALUES (1,1,'',NULL,5)")
    )
    assert "column list" in str(error)
    fails("DUPLICATE_COLUMN", lambda: session.sql("INSERT WITH SCHEMA EVOLUTION INTO t SELECT 1, 2, '', NULL, 5 AS Id"))
    fails("DUPLICATE_COLUMN", lambda: session.sql("INSERT WITH SCHEMA EVOLUTION INTO t (id, z, z) SELECT 1, 2, 3"))
    fails("ALTER_REFUSED", lambda: session.sql("INSERT WITH SCHEMA EVOLUTION INTO t (id, z) VALUES (1, NULL)"))
    fails("INVALID_COLUMN_NAME", lambda: session.sql("INSERT WITH SCHEMA EVOLUTION INTO t (id, `a:b`) VALUES (1, 2)"))
    assert len(columns(session)) == 4


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("int", "CAST(1 AS bigint)", "bigint"),
        ("int", "CAST(1 AS double)", "double"),
        ("bigint", "CAST(1 AS int)", "bigint"),
        ("bigint", "CAST(1 AS double)", "bigint"),
        ("decimal(10,2)", "CAST(1 AS decimal(12,2))", "decimal(12,2)"),
        ("decimal(10,2)", "CAST(1 AS decimal(10,4))", "decimal(10,2)"),
        ("varchar(3)", "CAST('abcd' AS varchar(4))", "varchar(4)"),
        ("varchar(3)", "'abcd'", "string"),
        ("int", "'abc'", "int"),
        ("date", "'abc'", "date"),
        ("array<int>", "array(CAST(1 AS bigint))", "array<int>"),
        ("int", "NULL", "int"),
    ],
)
def test_types_are_widened_where_old_values_keep_their_digits(session: Session, old: str, value: str, new: str) -> None:
    make(session, f"v {old}")
    plan = session.explain(f"INSERT WITH SCHEMA EVOLUTION INTO t SELECT {value}")
    assert (f"widens v from {old} to {new}" in plan) == (old != new)
    assert columns(session) == [("v", old)]


def test_partition_and_bucket_columns_keep_their_types(session: Session) -> None:
    make(session, "id int, v int", f"PARTITIONED BY (p int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.sql("INSERT INTO t VALUES (1, 10, 1)")
    new = "SELECT CAST(2 AS bigint), CAST(20 AS bigint), 'b' AS x, CAST(2 AS bigint)"
    session.sql(f"INSERT WITH SCHEMA EVOLUTION INTO t {new}")
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t PARTITION (p = 1) (id, y) SELECT 3, true")
    assert columns(session) == [("id", "int"), ("v", "bigint"), ("x", "string"), ("y", "boolean"), ("p", "int")]
    assert rows(session) == [(1, 10, None, None, 1), (2, 20, "b", None, 2), (3, None, None, True, 1)]
    assert rows(session, "SELECT id FROM t WHERE p = 1 ORDER BY id") == [(1,), (3,)]


@pytest.mark.ci
@pytest.mark.parametrize("clauses", [INSERT_ONLY, "STORED AS ORC", "STORED AS PARQUET", "STORED AS TEXTFILE"])
def test_tables_that_are_not_full_acid_evolve_by_insert(session: Session, clauses: str) -> None:
    make(session, "id int, v int", clauses)
    session.sql("INSERT INTO t VALUES (1, 10)")
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t SELECT 2, CAST(20 AS bigint), 'b' AS x")
    assert columns(session) == [("id", "int"), ("v", "bigint"), ("x", "string")]
    assert rows(session) == [(1, 10, None), (2, 20, "b")]
    session.sql("INSERT WITH SCHEMA EVOLUTION OVERWRITE TABLE t SELECT 3, 30, 'c', 1.5D AS y")
    assert rows(session) == [(3, 30, "c", 1.5)]


def test_a_temporary_table_evolves(session: Session) -> None:
    session.sql(f"CREATE TEMPORARY TABLE t (id int) {ACID}")
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO t (id, x) VALUES (1, 'a')")
    assert rows(session) == [(1, "a")]


# ------------------------------------------------------------------------------------------------ refusals


def test_what_cannot_evolve_is_refused_and_changes_nothing(session: Session) -> None:
    make(session, "id int, s struct<a:int>")
    session.sql("CREATE VIEW w AS SELECT id FROM t")
    insert = "INSERT WITH SCHEMA EVOLUTION INTO"
    fails("INSERT_INTO_VIEW", lambda: session.sql(f"{insert} w SELECT 1, 2 AS x"))
    fails("WRITE_TO_VIEW", lambda: session.sql(MERGE.replace("INTO t", "INTO w t"), new=NEW))
    error = fails("ALTER_REFUSED", lambda: session.sql(f"{insert} t SELECT 1, named_struct('a', 1, 'b', 2)"))
    assert "Field b of the source's s cannot be added" in str(error)
    error = fails(
        "NOT_YET_SUPPORTED",
        lambda: session.sql(f"FROM t {insert} t SELECT id, s, 1 AS x INSERT INTO t SELECT id, s"),
    )
    assert "WITH SCHEMA EVOLUTION in a statement with FROM before INSERT" in str(error)
    session.sql("START TRANSACTION")
    error = fails("IN_TRANSACTION", lambda: session.execute(f"{insert} t (id, x) VALUES (1, 2)"))
    assert "INSERT WITH SCHEMA EVOLUTION is not allowed" in str(error)
    session.sql("ROLLBACK")
    session.sql("ALTER DATABASE default SET DBPROPERTIES ('readonly'='true')")
    fails("READ_ONLY_DATABASE", lambda: session.sql(f"{insert} t (id, x) VALUES (1, 2)"))
    assert columns(session) == [("id", "int"), ("s", "struct<a:int>")]


def test_a_statement_that_fails_changes_neither_columns_nor_files(session: Session, tmp_path: Path) -> None:
    make(session, "id int, v int")
    session.sql("INSERT INTO t VALUES (2, 11)")
    before = files_below(tmp_path / "warehouse" / "t")
    twice = pa.table({"id": pa.array([2, 2], pa.int32()), "x": ["b", "c"]})
    fails("CARDINALITY_VIOLATION", lambda: session.sql(MERGE, new=twice))
    assert columns(session) == [("id", "int"), ("v", "int")]
    assert files_below(tmp_path / "warehouse" / "t") == before


def test_a_commit_that_fails_leaves_the_columns_and_no_row(session: Session, tmp_path: Path) -> None:
    make(session)
    session.sql("INSERT INTO t VALUES (2, 11)")
    with sqlite3.connect(tmp_path / "metastore.db") as db:
        db.execute("CREATE TRIGGER refuse BEFORE DELETE ON txns BEGIN SELECT RAISE(ABORT, 'refused'); END")
    with pytest.raises(sqlite3.IntegrityError, match="refused"):
        session.sql(MERGE, new=NEW)
    with sqlite3.connect(tmp_path / "metastore.db") as db:
        db.execute("DROP TRIGGER refuse")
    assert columns(session) == [("id", "int"), ("v", "bigint"), ("x", "string")]
    assert rows(session) == [(2, 11, None)]


def test_two_sessions_that_evolve_one_table_both_succeed(session: Session, open_session: Callable[[], Session]) -> None:
    make(session, "id int")
    other = open_session()
    blocker = open_session()
    blocker.sql("START TRANSACTION")
    blocker.sql("INSERT INTO t VALUES (0)")
    statements = {
        session: "INSERT WITH SCHEMA EVOLUTION INTO t (id, x) VALUES (1, 'a')",
        other: "INSERT WITH SCHEMA EVOLUTION INTO t (id, x, y) VALUES (2, 'b', 5)",
    }
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(one.execute, statement) for one, statement in statements.items()]
        while len(waiting(blocker)) < 2 and not any(one.done() for one in running):
            sleep(0.05)
        blocker.sql("COMMIT")
        for one in running:
            one.result()
    assert sorted(columns(session)) == [("id", "int"), ("x", "string"), ("y", "int")]
    assert rows(session, "SELECT id, x, y FROM t ORDER BY id") == [(0, None, None), (1, "a", None), (2, "b", 5)]


# ------------------------------------------------------------------------------------------------ EXPLAIN and locks


def test_explain_shows_the_changes_and_the_exclusive_lock(session: Session) -> None:
    make(session, "id int, v int", f"PARTITIONED BY (p string) {ACID}")
    session.sql("INSERT INTO t PARTITION (p = 'a') VALUES (1, 10)")
    statement = "INSERT WITH SCHEMA EVOLUTION INTO t PARTITION (p = 'a') (id, v, x) SELECT 1, CAST(2 AS bigint), 'b'"
    plan = session.explain(statement)
    assert "changes columns\n  adds x string\n  widens v from int to bigint\nwrites" in plan
    assert rows(session, f"EXPLAIN LOCKS {statement}") == [("LOCK INFORMATION:",), ("default.t -> EXCLUSIVE",)]
    same = "INSERT WITH SCHEMA EVOLUTION INTO t PARTITION (p = 'a') SELECT 1, 2"
    assert "changes columns" not in session.explain(same)
    assert rows(session, f"EXPLAIN LOCKS {same}")[1:] == [("default.t.p=a -> SHARED_READ",)]
    assert columns(session) == [("id", "int"), ("v", "int"), ("p", "string")]


# ------------------------------------------------------------------------------------------------ methods


@pytest.fixture
def tables(session: Session) -> tuple[str, str]:
    """Two equal tables, one for a method and one for its SQL."""
    for name in ("t", "other"):
        make(session, name=name)
        session.sql(f"INSERT INTO {name} VALUES (1, 10), (2, 11)")
    return "t", "other"


def same(session: Session, tables: tuple[str, str]) -> None:
    one, other = tables
    assert columns(session, one) == columns(session, other) == [("id", "int"), ("v", "bigint"), ("x", "string")]
    query = "SELECT row__id, * FROM {} ORDER BY id, v"
    assert rows(session, query.format(one)) == rows(session, query.format(other))


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_insert_with_evolve_is_its_sql(session: Session, tables: tuple[str, str], kind: str) -> None:
    frame = (
        NEW
        if kind == "arrow"
        else pd.DataFrame({"id": [2, 3], "x": ["b", "c"], "v": [20, 3 << 40]}).astype({"id": "int32"})
    )
    assert session.insert("t", frame, evolve=True).inserted == 2
    session.sql("INSERT WITH SCHEMA EVOLUTION INTO other (id, x, v) SELECT id, x, v FROM {new}", new=frame)
    same(session, tables)


@pytest.mark.ci
def test_upsert_and_merge_with_evolve_are_their_sql(session: Session, tables: tuple[str, str]) -> None:
    assert session.upsert("t", NEW, on="id", evolve=True).affected == 2
    session.sql(MERGE.replace("INTO t", "INTO other t"), new=NEW)
    same(session, tables)
    builder = session.merge("t", [{"id": 1, "x": "z"}], on="target.id = source.id", evolve=True)
    merge = builder.when_matched().update_all()
    assert merge.sql().startswith("MERGE WITH SCHEMA EVOLUTION INTO `default`.`t` AS target")
    assert merge.execute().updated == 1
    assert rows(session, "SELECT v, x FROM t WHERE id = 1") == [(10, "z")]


def test_without_evolve_a_new_column_of_the_frame_is_an_error(session: Session, tables: tuple[str, str]) -> None:
    fails("INSERT_COLUMN_NOT_FOUND", lambda: session.insert("t", NEW))
    fails("INSERT_COLUMN_NOT_FOUND", lambda: session.insert("t", NEW, partition={"x": 1}, evolve=True))
    assert session.insert("t", [{"id": 5, "x": "q"}], evolve=True, overwrite=True).inserted == 1
    assert rows(session) == [(5, None, "q")]
