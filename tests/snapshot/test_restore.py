"""RESTORE TABLE: one write whose rows are those of an earlier version."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.spark import executor
from acidsql.statements.results import CountsResult
from acidsql.storage.local_files import LocalFiles
from acidsql.writing import publishing
from tests.answers import counts, fails, files_below, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
FIRST: list[tuple[object, ...]] = [(1, "a"), (2, "b"), (3, "c")]
PARTED: list[tuple[object, ...]] = [(1, 1), (2, 2), (9, None)]


def wronged(session: Session, kind: str = ACID) -> None:
    """Version 1 has the rows of FIRST, and version 2 those of a wrong UPDATE, or of one INSERT more."""
    session.execute(f"CREATE TABLE t (id int, v string) {kind}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.execute("UPDATE t SET v = 'wrong'" if kind == ACID else "INSERT INTO t VALUES (4, 'wrong')")


def parted(session: Session, kind: str = ACID) -> None:
    """Version 1 has the rows of PARTED, version 2 one more in p=1 and one in a partition of its own."""
    session.execute(f"CREATE TABLE parted (id int) PARTITIONED BY (p int) {kind}")
    session.execute("INSERT INTO parted VALUES (1, 1), (2, 2), (9, NULL)")
    session.execute("INSERT INTO parted VALUES (3, 3), (4, 1)")


def by_arrow(session: Session, table: str) -> list[tuple[object, ...]]:
    found = session.read_arrow(table).read_all().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=str)


def bases(directory: Path) -> list[str]:
    """The directories of bases below a table."""
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("base_*"))


# -- what it writes


def test_a_restore_takes_a_wrong_update_back(session: Session, tmp_path: Path) -> None:
    wronged(session)
    done = session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert isinstance(done, CountsResult)
    assert (done.operation, done.counts.inserted, done.write_ids) == ("RESTORE", 3, {"default.t": 3})
    assert rows(session) == by_arrow(session, "t") == FIRST
    assert bases(tmp_path / "warehouse" / "t") == ["base_0000003"]
    history = rows(session, "DESCRIBE HISTORY t")
    assert next(row[3:6] + row[8:9] for row in history) == ("RESTORE", "3", "0", "true")
    session.execute("UPDATE t SET v = 'd' WHERE id = 3")
    assert rows(session) == [*FIRST[:2], (3, "d")]


def test_a_restore_goes_back_to_a_moment(session: Session) -> None:
    wronged(session)
    (moment,) = (row[1] for row in rows(session, "DESCRIBE HISTORY t") if row[0] == "1")
    session.execute(f"RESTORE TABLE t TO TIMESTAMP AS OF '{moment}'")
    assert rows(session) == FIRST
    error = fails("INVALID_PARAMETER", lambda: session.execute("RESTORE TABLE t TO TIMESTAMP AS OF '2999-01-01'"))
    assert error.span is not None
    assert error.span.text == "TIMESTAMP AS OF '2999-01-01'"


def test_another_restore_undoes_it(session: Session) -> None:
    wronged(session)
    wrong = rows(session)
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert [row[8] for row in rows(session, "DESCRIBE HISTORY t")] == ["true", "true", "true"]
    assert counts(session, "RESTORE TABLE t TO VERSION AS OF ?", [2]) == (3, 0, 0, 3)
    assert rows(session) == wrong
    session.execute("RESTORE t TO VERSION AS OF :v", {"v": 3})
    assert rows(session) == FIRST
    session.execute("INSERT INTO t VALUES (7, 'z')")
    session.execute("RESTORE TABLE t TO VERSION AS OF 0")
    assert rows(session) == []
    session.execute("RESTORE TABLE t TO VERSION AS OF 6")
    assert rows(session) == by_arrow(session, "t") == [*FIRST, (7, "z")]


@pytest.mark.parametrize("kind", [ACID, INSERT_ONLY, f"CLUSTERED BY (id) INTO 2 BUCKETS {ACID}"])
def test_partitions_are_replaced_and_emptied(session: Session, tmp_path: Path, kind: str) -> None:
    parted(session, kind)
    now = by_arrow(session, "parted")
    assert counts(session, "RESTORE TABLE parted TO VERSION AS OF 1") == (3, 0, 0, 3)
    assert rows(session, "SELECT * FROM parted ORDER BY id") == by_arrow(session, "parted") == PARTED
    assert [name.partition("/")[0] for name in bases(tmp_path / "warehouse" / "parted")] == [
        "p=1", "p=2", "p=3", "p=__HIVE_DEFAULT_PARTITION__",
    ]  # fmt: skip
    assert len(rows(session, "SHOW PARTITIONS parted")) == 4
    session.execute("RESTORE TABLE parted TO VERSION AS OF 2")
    assert by_arrow(session, "parted") == now
    session.execute("RESTORE TABLE parted TO VERSION AS OF 0")
    assert by_arrow(session, "parted") == []


def test_buckets_hold_the_rows_of_their_hashes(session: Session, tmp_path: Path) -> None:
    wronged(session, f"CLUSTERED BY (id) INTO 3 BUCKETS {INSERT_ONLY}")
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    table = tmp_path / "warehouse" / "t"
    buckets = {
        name: {row["id"] for row in session.spark.read.orc(f"{table}/base_0000003/{name}").collect()}
        for name in files_below(table / "base_0000003")
        if name.startswith("0")
    }
    before = {
        name: {row["id"] for row in session.spark.read.orc(f"{table}/delta_0000001_0000001_0000/{name}").collect()}
        for name in files_below(table / "delta_0000001_0000001_0000")
        if name.startswith("0")
    }
    assert buckets == before
    assert rows(session) == FIRST


@pytest.mark.ci
def test_odd_partitions_come_back_where_they_are(session: Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE odd (id int) PARTITIONED BY (d date, `a b` string) {ACID}")
    session.sql(f"ALTER TABLE odd ADD PARTITION (d='2026-01-01', `a b`='own') LOCATION 'file:{tmp_path}/own'")
    session.sql("INSERT INTO odd VALUES (1, '2026-01-01', 'own'), (2, '2026-01-02', 'x/y=z %é'), (3, NULL, NULL)")
    then = by_arrow(session, "odd")
    session.sql("UPDATE odd SET id = id + 10")
    session.sql("SET hive.exec.dynamic.partition.mode=strict")
    session.sql("RESTORE TABLE odd TO VERSION AS OF 1")
    assert by_arrow(session, "odd") == then
    assert (tmp_path / "own" / "base_0000003").is_dir()
    assert len(rows(session, "SHOW PARTITIONS odd")) == 3


def test_a_column_that_came_later_is_null(session: Session) -> None:
    wronged(session)
    session.sql("ALTER TABLE t ADD COLUMNS (w double)")
    session.sql("INSERT INTO t VALUES (5, 'e', 1.5)")
    session.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == [(*row, None) for row in FIRST]


def test_constraints_that_came_later_are_checked(session: Session) -> None:
    wronged(session)
    session.sql("ALTER TABLE t ADD CONSTRAINT short CHECK (v <> 'b' OR id > 2)")
    error = fails("CONSTRAINT_VIOLATED", lambda: session.sql("RESTORE TABLE t TO VERSION AS OF 1"))
    assert "CHECK short" in str(error)
    assert rows(session, "SELECT DISTINCT v FROM t") == [("wrong",)]


def test_temporary_tables_are_restored(session: Session) -> None:
    session.sql(f"CREATE TEMPORARY TABLE t (id int) {ACID}")
    session.sql("INSERT INTO t VALUES (1)")
    session.sql("DELETE FROM t")
    session.sql("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == [(1,)]


# -- transactions and failures


def test_a_transaction_restores_with_its_other_writes(session: Session) -> None:
    wronged(session)
    wrong = rows(session)
    session.execute("START TRANSACTION")
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == FIRST
    fails("OVERWRITTEN_IN_TRANSACTION", lambda: session.execute("INSERT INTO t VALUES (4, 'd')"))
    assert rows(session) == wrong
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (8, 'own')")
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    session.execute("ROLLBACK")
    assert rows(session) == wrong
    with session.transaction():
        session.execute("DELETE FROM t WHERE id = 1")
        session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == FIRST


@pytest.mark.parametrize("fails_at", ["publish", "empty", "note_replaced"])
def test_a_restore_that_fails_while_it_publishes_leaves_nothing(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    parted(session)
    now, table = by_arrow(session, "parted"), tmp_path / "warehouse" / "parted"
    before = files_below(table)
    step = getattr(executor, fails_at)

    def fail_late(*arguments: Any) -> None:
        step(*arguments)
        raise OSError("boom")

    monkeypatch.setattr(executor, fails_at, fail_late)
    with pytest.raises(AcidSqlError, match="boom"):
        session.execute("RESTORE TABLE parted TO VERSION AS OF 1")
    monkeypatch.undo()
    assert by_arrow(session, "parted") == now
    assert files_below(table) == before
    with SqliteMetastore(tmp_path / "metastore.db", str(tmp_path / "warehouse")) as store:
        assert store.valid_txns().open == frozenset()


def test_of_two_restores_the_second_waits_for_the_first(
    session: Session, open_session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    wronged(session)
    other, publishes, waits = open_session(), threading.Event(), threading.Event()
    publish = publishing.publish

    def slow(*arguments: Any) -> None:
        publishes.set()
        assert waits.wait(60)
        publish(*arguments)

    monkeypatch.setattr(executor, "publish", slow)
    first = threading.Thread(target=lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 1"))
    first.start()
    try:
        assert publishes.wait(60)
        other.execute("SET hive.lock.numretries=0")
        fails("LOCK_TIMEOUT", lambda: other.execute("RESTORE TABLE t TO VERSION AS OF 0"))
    finally:
        waits.set()
        first.join()
    assert rows(other) == FIRST
    other.execute("RESTORE TABLE t TO VERSION AS OF 0")
    assert rows(session) == []


# -- what is refused


def test_a_version_whose_files_are_gone_is_refused_before_anything_is_written(session: Session, tmp_path: Path) -> None:
    wronged(session)
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    table = tmp_path / "warehouse" / "t"
    (wrong,) = (table / "delta_0000002_0000002_0000").glob("bucket*")
    moved = tmp_path / "moved"
    wrong.rename(moved)
    before = files_below(table)
    fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 2"))
    assert rows(session, "SELECT is_readable FROM {h}", h=session.sql("DESCRIBE HISTORY t").toDF(*HISTORY)) == [
        ("true",), ("false",), ("false",),
    ]  # fmt: skip
    assert files_below(table) == before
    moved.rename(wrong)
    session.execute("RESTORE TABLE t TO VERSION AS OF 2")
    assert rows(session, "SELECT DISTINCT v FROM t") == [("wrong",)]


HISTORY = ("version", "time", "txn", "operation", "inserted", "updated", "deleted", "user", "is_readable", "source")


@pytest.mark.ci
def test_a_compaction_ends_the_versions_before_it(session: Session) -> None:
    wronged(session)
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 1"))
    session.execute("DELETE FROM t")
    session.execute("RESTORE TABLE t TO VERSION AS OF 2")
    assert rows(session, "SELECT DISTINCT v FROM t") == [("wrong",)]
    session.execute("INSERT INTO t VALUES (5, 'e')")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 3"))


@pytest.mark.ci
def test_a_restore_beside_other_writers_cannot_be_undone(session: Session) -> None:
    wronged(session)
    session.execute("SET hive.txn.xlock.iow=false")
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session) == FIRST
    fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 2"))


@pytest.mark.ci
def test_the_cleaner_ends_what_could_be_undone(session: Session, tmp_path: Path) -> None:
    wronged(session)
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    session.compactor.run_once()
    session.compactor.run_once()
    assert not list((tmp_path / "warehouse" / "t").glob("delta*"))
    fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE t TO VERSION AS OF 2"))
    assert rows(session) == FIRST


def test_a_dropped_partition_is_refused_by_name(session: Session) -> None:
    parted(session)
    session.execute("ALTER TABLE parted DROP PARTITION (p=2)")
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.execute("RESTORE TABLE parted TO VERSION AS OF 1"))
    assert "partition p=2 was dropped" in str(error)
    assert by_arrow(session, "parted") == [(1, 1), (3, 3), (4, 1), (9, None)]


@pytest.mark.parametrize(
    ("statement", "condition", "place", "says"),
    [
        ("RESTORE TABLE t TO VERSION AS OF 9", "INVALID_PARAMETER", "VERSION AS OF 9", "versions 0 to 2"),
        ("RESTORE TABLE t TO VERSION AS OF -1", "INVALID_PARAMETER", "VERSION AS OF -1", "negative"),
        ("RESTORE TABLE t TO VERSION AS OF 'x'", "INVALID_PARAMETER", "VERSION AS OF 'x'", "an integer"),
        ("RESTORE TABLE t TO TIMESTAMP AS OF 'x'", "INVALID_PARAMETER", "TIMESTAMP AS OF 'x'", "a time"),
        ("RESTORE TABLE seen TO VERSION AS OF 1", "INVALID_PARAMETER", "seen", "a view"),
        ("RESTORE TABLE plain TO VERSION AS OF 1", "INVALID_PARAMETER", "plain", "not transactional"),
        ("RESTORE TABLE nowhere TO VERSION AS OF 1", "TABLE_NOT_FOUND", "nowhere", "nowhere"),
        ("RESTORE TABLE locked.t TO VERSION AS OF 0", "READ_ONLY_DATABASE", "locked.t", "readonly"),
    ],
)
def test_what_has_no_such_version_is_refused(
    session: Session, statement: str, condition: str, place: str, says: str
) -> None:
    wronged(session)
    session.execute("CREATE VIEW seen AS SELECT * FROM t")
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    session.execute("CREATE DATABASE locked")
    session.execute(f"CREATE TABLE locked.t (id int) {ACID}")
    session.execute("ALTER DATABASE locked SET DBPROPERTIES ('readonly'='true')")
    error = fails(condition, lambda: session.execute(statement))
    assert error.span is not None
    assert error.span.text == place
    assert says in str(error)


def test_explain_names_the_version_and_opens_no_transaction(session: Session, tmp_path: Path) -> None:
    parted(session)
    before = len(LocalFiles().list_below(str(tmp_path / "warehouse")).files)
    text = session.explain("RESTORE TABLE parted TO VERSION AS OF 1")
    assert "RESTORE default.parted\nreads\n  default.parted VERSION AS OF 1\n" in text
    assert "  base_W: the rows of the version\n  base_W without rows: in each other partition of the table\n" in text
    locks = rows(session, "EXPLAIN LOCKS RESTORE TABLE parted TO VERSION AS OF 1")
    assert ("default.parted -> EXCLUSIVE",) in locks
    assert len(LocalFiles().list_below(str(tmp_path / "warehouse")).files) == before
