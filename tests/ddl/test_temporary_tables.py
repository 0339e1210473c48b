"""Temporary tables: seen by their session alone, with directories that are gone when it ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.metastore.process_identity import process_name
from acidsql.session import Session, connect
from tests.answers import counts, fails, files_below, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def sessions_directory(tmp_path: Path) -> Path:
    return tmp_path / "warehouse" / ".acidsql" / "sessions"


@pytest.mark.ci
def test_a_temporary_table_hides_the_table_of_its_name_from_its_session_alone(
    session: Session, open_session: Callable[[], Session]
) -> None:
    other = open_session()
    session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'kept')")
    session.execute("CREATE TEMPORARY TABLE t AS SELECT id + 10 AS id, v FROM t")
    session.execute("INSERT INTO t SELECT id + 10, v FROM t")
    session.execute("CREATE TEMPORARY TABLE only (x int)")
    assert rows(session) == [(11, "kept"), (21, "kept")]
    assert rows(session, "SHOW TABLES") == [("only",), ("t",)]
    assert rows(other) == [(1, "kept")]
    assert rows(other, "SHOW TABLES") == [("t",)]
    fails("TABLE_NOT_FOUND", lambda: other.sql("SELECT * FROM only"))
    assert counts(other, "UPDATE t SET v = 'changed'") == (1, 1, 0, 0), "nothing of `t` here is locked there"
    session.execute("DROP TABLE t")
    assert rows(session) == [(1, "changed")]


@pytest.mark.ci
def test_a_transactional_temporary_table_is_changed_as_any_other(session: Session) -> None:
    session.execute(f"CREATE TEMPORARY TABLE t (id int, v string) {ACID}")
    session.execute("CREATE TEMPORARY TABLE s AS SELECT * FROM VALUES (1, 'm'), (4, 'n') x(id, v)")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    assert counts(session, "DELETE FROM t WHERE id = 2") == (1, 0, 1, 0)
    merge = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    assert counts(session, merge) == (2, 1, 0, 1)
    session.execute("START TRANSACTION")
    session.execute("UPDATE t SET v = 'undone'")
    assert {v for _, v in rows(session)} == {"undone"}
    session.execute("ROLLBACK")
    assert rows(session) == [(1, "m"), (3, "c"), (4, "n")]
    session.execute("START TRANSACTION")
    session.execute("UPDATE t SET v = 'twice' WHERE id = 3")
    session.execute("UPDATE t SET v = concat(v, '!') WHERE id = 3")
    session.execute("COMMIT")
    assert rows(session, "SELECT v FROM t WHERE id = 3") == [("twice!",)]
    fails("ALTER_REFUSED", lambda: session.execute("ALTER TABLE t COMPACT 'major'"))
    session.execute("INSERT OVERWRITE TABLE t SELECT * FROM s")
    assert rows(session) == [(1, "m"), (4, "n")]
    session.execute("TRUNCATE TABLE t")
    assert rows(session) == []


def test_a_query_that_was_planned_earlier_reads_its_own_snapshot_of_a_temporary_table(session: Session) -> None:
    session.execute(f"CREATE TEMPORARY TABLE t {ACID} AS SELECT 1 AS id")
    frame = session.sql("SELECT id FROM t")
    session.execute("UPDATE t SET id = 2")
    assert [tuple(row) for row in frame.collect()] == [(1,)]
    assert rows(session) == [(2,)]


def test_a_failed_statement_leaves_a_temporary_table_as_it_was(session: Session) -> None:
    session.execute(f"CREATE TEMPORARY TABLE t (id int, CHECK (id > 0)) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    fails("CONSTRAINT_VIOLATED", lambda: session.execute("UPDATE t SET id = -id"))
    fails("CONSTRAINT_VIOLATED", lambda: session.execute("INSERT INTO t VALUES (5), (0)"))
    failing = "CREATE TEMPORARY TABLE made AS SELECT raise_error('no') AS x"
    with pytest.raises(Exception, match="no"):
        session.execute(failing)
    session.execute("INSERT INTO t VALUES (2)")
    assert rows(session) == [(1,), (2,)]
    assert rows(session, "SHOW TABLES") == [("t",)]


def test_partitions_and_changes_of_the_definition_stay_in_the_session(session: Session) -> None:
    session.execute(f"CREATE TEMPORARY TABLE p (id int) PARTITIONED BY (d string) {ACID}")
    session.execute("INSERT INTO p VALUES (1, 'a'), (2, 'b')")
    session.execute("UPDATE p SET id = 7 WHERE d = 'a'")
    assert rows(session, "SHOW PARTITIONS p") == [("d=a",), ("d=b",)]
    session.execute("ALTER TABLE p DROP PARTITION (d = 'b')")
    session.execute("ALTER TABLE p ADD COLUMNS (w int)")
    session.execute("ALTER TABLE p RENAME TO q")
    assert rows(session, "SELECT id, w, d FROM q") == [(7, None, "a")]
    session.execute("CREATE TEMPORARY TABLE text STORED AS TEXTFILE AS SELECT 1 AS id, 'a,b' AS v")
    assert rows(session, "SELECT * FROM text") == [(1, "a,b")]
    session.execute("CREATE TEMPORARY TABLE plain STORED AS ORC AS SELECT 1 AS id")
    session.execute("ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true')")
    session.execute("UPDATE plain SET id = 2")
    assert rows(session, "SELECT id FROM plain") == [(2,)]


def test_show_create_table_makes_the_same_temporary_table_again(session: Session) -> None:
    session.execute(f"CREATE TEMPORARY TABLE t (id int COMMENT 'key', v string) {ACID}")
    text = "\n".join(str(line) for (line,) in rows(session, "SHOW CREATE TABLE t"))
    assert text.startswith("CREATE TEMPORARY TABLE `default`.`t`(")
    assert "LOCATION" not in text
    before = session.catalog.table("default", "t")
    session.execute("DROP TABLE t")
    session.execute(text)
    after = session.catalog.table("default", "t")
    assert (after.columns, after.properties, after.temporary) == (before.columns, before.properties, True)
    session.execute("CREATE TEMPORARY TABLE like_t LIKE t")
    assert session.catalog.table("default", "like_t").temporary


def test_names_that_are_taken_and_directories_of_others_are_refused(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE shared (id int)")
    session.execute("CREATE TEMPORARY TABLE t (id int)")
    for again in ("CREATE TEMPORARY TABLE t (x int)", "CREATE TABLE t (x int)", "CREATE TABLE t AS SELECT 1 AS x"):
        fails("TABLE_ALREADY_EXISTS", lambda text=again: session.execute(text))  # type: ignore[misc]
    session.execute("CREATE TEMPORARY TABLE IF NOT EXISTS shared (x int)")  # as in Hive, nothing is made
    assert rows(session, "DESCRIBE shared") == [("id", "int", "")]
    there = f"LOCATION '{tmp_path}/warehouse/shared'"
    fails("LOCATION_TAKEN", lambda: session.execute(f"CREATE TEMPORARY TABLE shared (id int) {there}"))
    placed = ACID.replace("ORC", f"ORC LOCATION '{tmp_path}/x'")
    fails("NOT_YET_SUPPORTED", lambda: session.execute(f"CREATE TEMPORARY TABLE x (id int) {placed}"))


def test_an_external_temporary_table_leaves_its_files(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TEMPORARY EXTERNAL TABLE t (id int) STORED AS ORC LOCATION '{tmp_path}/out'")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("DROP TABLE t")
    assert files_below(tmp_path / "out") == ["000000_0"]


def test_the_directories_are_gone_when_the_table_is_dropped_and_when_the_session_ends(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = sessions_directory(tmp_path)
    dead = process_name().replace(f"{os.getpid()}.", "4194304.", 1)  # a PID that no process has
    (place / f"session-{dead}-1" / "t_1").mkdir(parents=True)
    (place / f"session-{process_name()}-2" / "t_1").mkdir(parents=True)
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/m.db", spark=spark) as opened:
        opened.execute("CREATE TEMPORARY TABLE t AS SELECT 1 AS id")
        opened.execute("CREATE TEMPORARY TABLE u AS SELECT 1 AS id")
        opened.execute("DROP TABLE t")
        (own,) = [p for p in place.iterdir() if not p.name.endswith(("-1", "-2"))]
        assert [p.name.partition("_")[0] for p in own.iterdir()] == ["u"]
    assert [p.name[-2:] for p in place.iterdir()] == ["-2"], "a session that lives keeps its tables"


def test_a_temporary_table_goes_with_its_database(session: Session) -> None:
    session.execute("CREATE DATABASE d")
    session.execute("CREATE TEMPORARY TABLE d.t (id int)")
    assert rows(session, "SHOW TABLES IN d") == [("t",)]
    session.execute("DROP DATABASE d")
    session.execute("CREATE DATABASE d")
    assert rows(session, "SHOW TABLES IN d") == []
    fails("DATABASE_NOT_FOUND", lambda: session.execute("CREATE TEMPORARY TABLE nowhere.t (id int)"))


def test_hidden_tables_and_views_go_with_their_database(session: Session, open_session: Callable[[], Session]) -> None:
    other = open_session()
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.a (id int) {ACID}")
    session.execute("INSERT INTO d.a VALUES (1)")
    session.execute("CREATE VIEW d.b AS SELECT id FROM d.a")
    session.execute("CREATE TABLE d.c (id int)")
    session.execute("CREATE TEMPORARY TABLE d.a (id int)")
    session.execute("CREATE TEMPORARY TABLE d.b (id int)")
    session.execute("CREATE TEMPORARY VIEW d.c AS SELECT 1 AS id")
    session.execute("DROP DATABASE d CASCADE")
    fails("DATABASE_NOT_FOUND", lambda: other.execute("SHOW TABLES IN d"))
    session.execute("CREATE DATABASE d")
    assert rows(session, "SHOW TABLES IN d") == []


def test_temporary_views_are_seen_by_their_session_alone(
    session: Session, open_session: Callable[[], Session], spark: SparkSession
) -> None:
    other = open_session()
    session.execute("CREATE TEMPORARY TABLE t AS SELECT 1 AS id, 'a' AS v")
    session.execute("CREATE VIEW shared AS SELECT 1 AS x")
    session.execute("CREATE TEMPORARY VIEW v AS SELECT * FROM t")
    session.execute("CREATE OR REPLACE TEMPORARY VIEW shared AS SELECT id, v FROM v")
    assert rows(session, "SELECT * FROM shared") == [(1, "a")]
    assert rows(session, "SHOW VIEWS") == [("shared",), ("v",)]
    assert rows(session, "SHOW CREATE TABLE v")[0] == ("CREATE TEMPORARY VIEW `default`.`v`",)
    assert rows(other, "SHOW VIEWS") == [("shared",)]
    assert rows(other, "SELECT * FROM shared") == [(1,)]
    fails("TABLE_ALREADY_EXISTS", lambda: session.execute("CREATE TEMP VIEW v AS SELECT 1 AS x"))
    fails("TABLE_ALREADY_EXISTS", lambda: session.execute("CREATE OR REPLACE VIEW v AS SELECT 1 AS x"))
    fails("WRITE_TO_VIEW", lambda: session.execute("UPDATE v SET v = 'b'"))
    for source in ("t", "v"):
        fails("INVALID_VIEW", lambda of=source: session.execute(f"CREATE VIEW n AS SELECT * FROM {of}"))  # type: ignore[misc]
    session.execute("ALTER VIEW v AS SELECT 2 AS id")
    session.execute("ALTER VIEW v RENAME TO w")
    assert rows(session, "SELECT * FROM w") == [(2,)]
    session.execute("DROP VIEW w")
    session.execute("DROP VIEW shared")
    assert rows(session, "SELECT * FROM shared") == [(1,)]


def test_a_temporary_view_may_read_a_temporary_view_of_spark(session: Session, spark: SparkSession) -> None:
    spark.range(2).createOrReplaceTempView("of_spark")
    try:
        session.execute("CREATE TEMPORARY VIEW v AS SELECT o.id + 1 AS k FROM of_spark o")
        assert rows(session, "SELECT * FROM v JOIN of_spark ON k = id") == [(1, 1)]
        fails("INVALID_VIEW", lambda: session.execute("CREATE VIEW n AS SELECT * FROM of_spark"))
    finally:
        spark.catalog.dropTempView("of_spark")
