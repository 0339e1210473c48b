"""DDL of one session while a statement or transaction of another one is under way, and DDL that fails half way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acidsql.ddl.ownership import absolute
from acidsql.errors import AcidSqlError
from acidsql.metastore.transactions import OpenTransaction
from acidsql.session import Session
from acidsql.writing.load_sources import find_sources
from acidsql.writing.publishing import publish
from tests.answers import fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def other(open_session: Callable[[], Session]) -> Session:
    return open_session()


def run(session: Session, *statements: str) -> None:
    for statement in statements:
        session.execute(statement)


# ---------------------------------------------------------------------------------------------------- transactions


@pytest.mark.parametrize(
    ("rename", "written"),
    [
        ("ALTER TABLE t PARTITION (p='a') RENAME TO PARTITION (p='b')", "t WHERE p = 'b' AND"),
        ("ALTER TABLE t RENAME TO u", "u WHERE p = 'a' AND"),
    ],
)
def test_an_update_conflicts_with_one_whose_partition_was_renamed(
    session: Session, other: Session, rename: str, written: str
) -> None:
    run(
        session,
        f"CREATE TABLE t (id int, v string) PARTITIONED BY (p string) {ACID}",
        f"CREATE TABLE o (id int) {ACID}",
    )
    run(session, "INSERT INTO t PARTITION (p='a') VALUES (1, 'old')")
    run(session, "START TRANSACTION", "INSERT INTO o VALUES (1)")
    run(other, "UPDATE t SET v = 'other' WHERE p = 'a' AND id = 1", rename)
    name, _, condition = written.partition(" ")
    fails("WRITE_CONFLICT", lambda: run(session, f"UPDATE {name} SET v = 'own' {condition} id = 1", "COMMIT"))
    assert [row[1] for row in rows(session, f"SELECT * FROM {name}")] == ["other"]


# ------------------------------------------------------------------------------------------------------- LOAD DATA


@pytest.mark.ci
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t SET LOCATION '{}/elsewhere'",
        "ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')",
        "ALTER TABLE t RENAME TO u",
        "DROP TABLE t",
    ],
)
@pytest.mark.parametrize("overwrite", ["", "OVERWRITE "])
def test_load_data_does_not_load_into_a_plain_table_that_was_changed_meanwhile(
    session: Session, other: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: str, overwrite: str
) -> None:
    run(session, "CREATE TABLE s (id int) STORED AS ORC", "CREATE TABLE t (id int) STORED AS ORC")
    run(session, "INSERT INTO s VALUES (1)", "INSERT INTO t VALUES (2)")

    def find_and_change(*args: Any) -> Any:
        found = find_sources(*args)
        run(other, change.format(tmp_path))
        return found

    monkeypatch.setattr("acidsql.writing.load_data.find_sources", find_and_change)
    source = session.catalog.table("default", "s").location
    before = sorted(Path(source).iterdir())
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"LOAD DATA INPATH '{source}' {overwrite}INTO TABLE t")
    assert caught.value.condition == "TABLE_CHANGED"
    assert sorted(Path(source).iterdir()) == before
    if "RENAME" in change or "transactional" in change:
        assert rows(session, f"SELECT * FROM {'u' if 'RENAME' in change else 't'}") == [(2,)]


# -------------------------------------------------------------------------------------------- CREATE TABLE .. AS


@pytest.mark.ci
@pytest.mark.parametrize("late", [False, True], ids=["before the files appear", "before the commit"])
@pytest.mark.parametrize("kind", ["STORED AS ORC", ACID])
@pytest.mark.parametrize("own", ["STORED AS ORC", ACID])
def test_create_table_as_leaves_nothing_in_a_table_that_took_its_name(
    session: Session, other: Session, monkeypatch: pytest.MonkeyPatch, own: str, kind: str, late: bool
) -> None:
    make = f"CREATE TABLE t (id int) {kind}"
    if late:

        def publish_late(*args: Any) -> None:
            publish(*args)
            run(other, make)

        monkeypatch.setattr("acidsql.spark.executor.publish", publish_late)
    else:
        require_open = OpenTransaction.require_open

        def require_open_late(txn: OpenTransaction) -> None:
            monkeypatch.setattr(OpenTransaction, "require_open", require_open)
            run(other, make)
            require_open(txn)

        monkeypatch.setattr(OpenTransaction, "require_open", require_open_late)
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"CREATE TABLE t {own} AS SELECT id FROM range(3)")
    monkeypatch.undo()
    if late and caught.value.condition == "LOCATION_NOT_EMPTY":  # the other statement has seen the files, and failed
        assert session.catalog.find_table("default", "t") is None
        return
    assert caught.value.condition == "TABLE_ALREADY_EXISTS"
    assert rows(session) == []
    run(other, "INSERT INTO t VALUES (7)")
    assert rows(session) == [(7,)]


# ------------------------------------------------------------------------------------------------------- locations


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("/a/b/", "/a/b"),
        ("/a/../b", "/b"),
        ("/a/./b/c/..", "/a/b"),
        ("file:/a/../b", "file:/b"),
        ("file:///a/../b", "file:///b"),
        ("hdfs://ns/a/b/../c/", "hdfs://ns/a/c"),
        ("s3a://bucket/a/..b/.c", "s3a://bucket/a/..b/.c"),
        ("/", "/"),
    ],
)
def test_a_location_has_one_name(location: str, name: str) -> None:
    assert absolute(location) == name


@pytest.mark.parametrize("location", ["../u", "{}/warehouse/t/../u", "file:{}/warehouse/t/../u"])
def test_a_directory_of_a_partition_outside_its_table_is_not_given_to_another_table(
    session: Session, tmp_path: Path, location: str
) -> None:
    run(session, f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    run(session, f"ALTER TABLE t ADD PARTITION (p=1) LOCATION '{location.format(tmp_path)}'")
    fails("LOCATION_TAKEN", lambda: run(session, f"CREATE TABLE u (id int) {ACID}"))
    run(session, "INSERT INTO t PARTITION (p=1) VALUES (7)")
    assert rows(session) == [(7, 1)]


@pytest.mark.parametrize("statement", ["CREATE TABLE d (id int) LOCATION '{}/x'", "CREATE DATABASE d LOCATION '{}/x'"])
def test_what_cannot_have_its_directory_is_not_in_the_catalog(session: Session, tmp_path: Path, statement: str) -> None:
    (tmp_path / "file").write_text("no directory")
    fails("STORAGE_FAILED", lambda: run(session, statement.format(tmp_path / "file")))
    assert session.catalog.find("default", "d") is None
    assert [database.name for database in session.catalog.databases()] == ["default"]


def test_partitions_that_cannot_all_have_their_directories_leave_none(session: Session, tmp_path: Path) -> None:
    run(session, f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    (tmp_path / "file").write_text("no directory")
    statement = f"ALTER TABLE t ADD PARTITION (p=1) PARTITION (p=2) LOCATION '{tmp_path / 'file' / 'x'}'"
    fails("STORAGE_FAILED", lambda: run(session, statement))
    assert rows(session, "SHOW PARTITIONS t") == []
    assert list(Path(session.catalog.table("default", "t").location).iterdir()) == []


# ------------------------------------------------------------------------------------------ constraints, partitions


def test_a_column_with_two_not_null_constraints_needs_both_dropped(session: Session) -> None:
    run(session, f"CREATE TABLE t (id int CONSTRAINT one NOT NULL ENABLE) {ACID}")
    run(session, "ALTER TABLE t CHANGE COLUMN id id int CONSTRAINT two NOT NULL ENABLE")
    run(session, "ALTER TABLE t DROP CONSTRAINT two")
    fails("CONSTRAINT_VIOLATED", lambda: run(session, "INSERT INTO t VALUES (NULL)"))
    run(session, "ALTER TABLE t DROP CONSTRAINT one", "INSERT INTO t VALUES (NULL)")
    assert rows(session) == [(None,)]


@pytest.mark.parametrize("text", ["2024-99-99 00:00:00", "2024-02-30 00:00:00", "2024-01-01 25:00:00", "2024-01-01T00"])
def test_a_time_that_does_not_exist_is_no_partition(session: Session, text: str) -> None:
    run(session, f"CREATE TABLE t (id int) PARTITIONED BY (p timestamp) {ACID}")
    fails("INVALID_PARTITION_SPEC", lambda: run(session, f"ALTER TABLE t ADD PARTITION (p='{text}')"))


def test_a_date_is_the_partition_of_its_midnight(session: Session) -> None:
    run(session, f"CREATE TABLE t (id int) PARTITIONED BY (p timestamp) {ACID}")
    run(session, "ALTER TABLE t ADD PARTITION (p='2024-01-01')", "INSERT INTO t PARTITION (p='2024-01-01') VALUES (1)")
    run(session, "INSERT INTO t PARTITION (p='2024-01-01 00:00:00') VALUES (2)")
    table = session.catalog.table("default", "t")
    assert len(session.catalog.partitions(table)) == 1
    assert [row[0] for row in rows(session, "SELECT id FROM t ORDER BY id")] == [1, 2]
