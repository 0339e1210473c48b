"""MSCK: directories become partitions, and partitions without directories go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def shown(session: Session, sql: str) -> list[str]:
    return [str(row[0]) for row in session.execute(sql).rows()]


def directory(session: Session, table: str) -> Path:
    return Path(session.catalog.table("default", table).location)


@pytest.fixture
def plain(session: Session) -> Session:
    """A plain table whose partitions p=1 and p=2 have rows, and which has forgotten p=2."""
    session.execute("CREATE TABLE visit (id int) PARTITIONED BY (p int) STORED AS ORC")
    session.execute("INSERT INTO visit VALUES (1, 1), (2, 2)")
    kept = directory(session, "visit") / "kept"
    shutil.copytree(directory(session, "visit") / "p=2", kept)
    session.execute("ALTER TABLE visit DROP PARTITION (p = 2)")
    kept.rename(directory(session, "visit") / "p=2")
    return session


def test_directories_become_partitions_with_their_rows(plain: Session) -> None:
    assert shown(plain, "MSCK REPAIR TABLE visit") == [
        "Partitions not in metastore:\tvisit:p=2",
        "Repair: Added partition to metastore visit:p=2",
    ]
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=1", "p=2"]
    assert sorted(map(tuple, plain.sql("SELECT * FROM visit").collect())) == [(1, 1), (2, 2)]
    assert shown(plain, "MSCK REPAIR TABLE visit") == []


def test_without_repair_nothing_changes(plain: Session) -> None:
    assert shown(plain, "MSCK TABLE visit") == ["Partitions not in metastore:\tvisit:p=2"]
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=1"]


def test_sync_and_drop_remove_partitions_without_a_directory(plain: Session) -> None:
    shutil.rmtree(directory(plain, "visit") / "p=1")
    assert (
        shown(plain, "MSCK REPAIR TABLE visit ADD PARTITIONS")[-1] == "Repair: Added partition to metastore visit:p=2"
    )
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=1", "p=2"]
    assert shown(plain, "MSCK REPAIR TABLE visit DROP PARTITIONS") == [
        "Partitions missing from filesystem:\tvisit:p=1",
        "Repair: Dropped partition from metastore visit:p=1",
    ]
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=2"]
    (directory(plain, "visit") / "p=3").mkdir()
    shutil.rmtree(directory(plain, "visit") / "p=2")
    plain.execute("MSCK REPAIR TABLE visit SYNC PARTITIONS")
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=3"]


def test_two_partition_columns_escaped_values_and_hidden_directories(session: Session) -> None:
    session.execute("CREATE EXTERNAL TABLE log (id int) PARTITIONED BY (day string, host string) STORED AS PARQUET")
    root = directory(session, "log")
    (root / "day=1" / "host=a%2Fb" / "deeper").mkdir(parents=True)
    (root / "day=1" / "host=__HIVE_DEFAULT_PARTITION__").mkdir()
    (root / "day=2").mkdir()
    (root / "_temporary" / "x").mkdir(parents=True)
    (root / ".staging").mkdir()
    (root / "_SUCCESS").touch()
    session.execute("MSCK REPAIR TABLE log")
    assert shown(session, "SHOW PARTITIONS log") == ["day=1/host=__HIVE_DEFAULT_PARTITION__", "day=1/host=a%2Fb"]


@pytest.mark.parametrize("path", ["other/", "q=1/", "p=/", "file.orc", "P=2/"])
def test_what_is_no_directory_of_a_partition_is_an_error(plain: Session, path: str) -> None:
    place = directory(plain, "visit") / path
    if path.endswith("/"):
        place.mkdir()
    else:
        place.touch()
    with pytest.raises(AcidSqlError) as raised:
        plain.execute("MSCK REPAIR TABLE visit")
    assert raised.value.condition in ("INVALID_PARTITION_SPEC", "LOCATION_TAKEN")
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=1"]


def test_two_directories_of_one_value_are_an_error(plain: Session) -> None:
    (directory(plain, "visit") / "p=02").mkdir()
    with pytest.raises(AcidSqlError, match="are directories of one partition"):
        plain.execute("MSCK REPAIR TABLE visit")
    (directory(plain, "visit") / "p=02").rmdir()
    (directory(plain, "visit") / "p=01").mkdir()
    plain.execute("MSCK REPAIR TABLE visit")
    assert shown(plain, "SHOW PARTITIONS visit") == ["p=1", "p=2"], "p=01 is the partition p=1, which is there"


def test_a_transactional_table_takes_only_write_ids_that_it_has_given_out(session: Session) -> None:
    for name in ("source", "target"):
        session.execute(f"CREATE TABLE {name} (id int) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO source VALUES (1, 1)")
    session.execute("INSERT INTO source VALUES (2, 2)")
    session.execute("INSERT INTO target VALUES (7, 7)")
    for partition in ("p=1", "p=2"):
        shutil.copytree(directory(session, "source") / partition, directory(session, "target") / partition)
    with pytest.raises(AcidSqlError, match="write ID 2 lies there") as raised:
        session.execute("MSCK REPAIR TABLE target")
    assert raised.value.condition == "LOCATION_NOT_EMPTY"
    assert shown(session, "SHOW PARTITIONS target") == ["p=7"]
    session.execute("INSERT INTO target VALUES (8, 8)")
    session.execute("MSCK REPAIR TABLE target")
    assert sorted(map(tuple, session.sql("SELECT * FROM target").collect())) == [(1, 1), (2, 2), (7, 7), (8, 8)]


def test_rows_of_an_aborted_transaction_stay_invisible(session: Session) -> None:
    session.execute(f"CREATE TABLE target (id int) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO target VALUES (1, 1)")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO target VALUES (2, 2)")
    lost = directory(session, "target") / "p=2"
    kept = directory(session, "target").parent / "kept"
    shutil.copytree(lost, kept)
    session.execute("ROLLBACK")
    shutil.rmtree(lost, ignore_errors=True)
    kept.rename(lost)
    session.execute("MSCK REPAIR TABLE target")
    assert [tuple(row) for row in session.sql("SELECT * FROM target").collect()] == [(1, 1)]


def test_a_table_without_partitions_and_a_view_are_refused(session: Session) -> None:
    session.execute("CREATE TABLE heap (id int)")
    session.execute("CREATE VIEW v AS SELECT * FROM heap")
    for name, condition in (("heap", "NOT_PARTITIONED"), ("v", "ALTER_COMMAND_FOR_VIEWS"), ("no", "TABLE_NOT_FOUND")):
        with pytest.raises(AcidSqlError) as raised:
            session.execute(f"MSCK REPAIR TABLE {name}")
        assert raised.value.condition == condition
