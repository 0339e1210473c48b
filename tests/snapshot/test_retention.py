"""The table property acidsql.history.retention: earlier versions stay readable until it has passed, and no longer."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.answers import fails, files_below, rows
from tests.metastore.clock import Clock, given_clock

HOUR = 3600
A_LITTLE = 1
"""Seconds. Each commit has a time of its own, which may be some milliseconds later than a clock that stands still."""
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'acidsql.history.retention'='1h')"
INSERT_ONLY = ACID.replace(")", ", 'transactional_properties'='insert_only')")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return given_clock(monkeypatch)


def versions(session: Session, table: str = "t") -> list[list[tuple[object, ...]] | None]:
    """The rows of each version, without Spark; None where it is refused."""
    history = rows(session, f"DESCRIBE HISTORY {table}")
    last = max(int(str(row[0])) for row in history)
    found: list[list[tuple[object, ...]] | None] = []
    for version in range(last + 1):
        readable = {row[8] for row in history if row[0] == str(version)}
        try:
            read = session.read_arrow(table, version=version).read_all().to_pylist()
            found.append(sorted((tuple(row.values()) for row in read), key=str))
        except AcidSqlError as error:
            if error.condition != "NOT_ENOUGH_HISTORY":
                raise
            found.append(None)
        assert not readable or readable == {"false" if found[-1] is None else "true"}, f"DESCRIBE HISTORY of {version}"
    return found


def clean(session: Session) -> list[str]:
    """What the initiator and the cleaner remove, when the frames and readers of before have ended."""
    gc.collect()
    session.compactor.initiate()
    return [name for cleaned in session.compactor.clean() for name in cleaned.removed]


@pytest.mark.parametrize("kind", [ACID, INSERT_ONLY])
def test_a_major_compaction_leaves_what_versions_need_until_the_retention_has_passed(
    session: Session, clock: Clock, kind: str
) -> None:
    session.execute(f"CREATE TABLE t (id int) {kind}")
    for value in (1, 2, 3):
        session.execute(f"INSERT INTO t VALUES ({value})")
    before = versions(session)
    assert before == [[], [(1,)], [(1,), (2,)], [(1,), (2,), (3,)]]
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.execute("INSERT INTO t VALUES (4)")
    clock.pass_by(HOUR - 1)
    assert clean(session) == []
    assert versions(session)[:4] == before
    clock.pass_by(1 + A_LITTLE)
    assert len(clean(session)) == 3
    assert versions(session) == [None, None, None, [(1,), (2,), (3,)], [(1,), (2,), (3,), (4,)]]


def test_a_minor_compaction_of_an_insert_only_table_leaves_its_parts(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {INSERT_ONLY}")
    for value in (1, 2, 3):
        session.execute(f"INSERT INTO t VALUES ({value})")
    before = versions(session)
    session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    changes = "SELECT id, _commit_version FROM t CHANGES FROM VERSION 1 TO VERSION 3 ORDER BY id"
    assert rows(session, changes) == [(1, 1), (2, 2), (3, 3)]
    assert versions(session) == before
    session.execute("INSERT INTO t VALUES (4)")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert versions(session)[:4] == before
    assert rows(session, changes) == [(1, 1), (2, 2), (3, 3)]
    clock.pass_by(HOUR + A_LITTLE)
    assert clean(session)
    assert versions(session)[:2] == [[], None]
    fails("NOT_ENOUGH_HISTORY", lambda: rows(session, changes))


@pytest.mark.parametrize("kind", [ACID, INSERT_ONLY])
def test_overwrites_and_truncates_can_be_read_past_and_restored(session: Session, clock: Clock, kind: str) -> None:
    session.execute(f"CREATE TABLE t (id int) {kind}")
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute("INSERT OVERWRITE TABLE t VALUES (3)")
    session.execute("TRUNCATE TABLE t")
    session.execute("INSERT INTO t VALUES (4)")
    then = [[], [(1,), (2,)], [(3,)], [], [(4,)]]
    assert versions(session) == then
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert clean(session) == []
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert versions(session) == [*then, [(1,), (2,)]]
    clock.pass_by(HOUR + A_LITTLE)
    assert clean(session)
    assert versions(session) == [None] * 5 + [[(1,), (2,)]]


def test_a_base_without_rows_ends_the_versions_before_it_once_it_is_gone(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("TRUNCATE TABLE t")
    session.execute("INSERT INTO t VALUES (2)")
    session.execute("INSERT OVERWRITE TABLE t VALUES (3)")
    assert versions(session) == [[], [(1,)], [], [(2,)], [(3,)]]
    directory = tmp_path / "warehouse" / "t"
    for name in files_below(directory / "base_0000002"):
        (directory / "base_0000002" / name).unlink()
    (directory / "base_0000002").rmdir()
    assert versions(session) == [None, None, None, None, [(3,)]]


def test_a_partition_is_overwritten_truncated_and_compacted_alone(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    session.execute("INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES (3)")
    session.execute("TRUNCATE TABLE t PARTITION (p = 2)")
    session.execute("INSERT OVERWRITE TABLE t SELECT 4, 3")
    then = [[], [(1, 1), (2, 2)], [(2, 2), (3, 1)], [(3, 1)], [(3, 1), (4, 3)]]
    assert versions(session) == then
    session.execute("INSERT INTO t VALUES (5, 1)")
    session.execute("ALTER TABLE t PARTITION (p = 1) COMPACT 'major' AND WAIT")
    assert clean(session) == []
    assert versions(session)[:5] == then
    clock.pass_by(HOUR + A_LITTLE)
    assert clean(session)
    assert versions(session) == [[], None, None, None, None, [(3, 1), (4, 3), (5, 1)]]
    assert rows(session, "SELECT * FROM t VERSION AS OF 3 WHERE p = 3") == []


def test_each_cleaning_waits_for_its_own_time(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT INTO t VALUES (2)")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    clock.pass_by(HOUR // 2)
    session.execute("INSERT OVERWRITE TABLE t VALUES (3)")
    assert clean(session) == []
    clock.pass_by(HOUR // 2 + A_LITTLE)
    assert clean(session) == ["delta_0000001_0000001_0000", "delta_0000002_0000002_0000"]
    assert versions(session) == [None, None, [(1,), (2,)], [(3,)]]
    clock.pass_by(HOUR // 2 + A_LITTLE)
    assert [name.partition("_v")[0] for name in clean(session)] == ["base_0000002"]
    assert versions(session) == [None, None, None, [(3,)]]


def test_a_clock_that_was_set_back_keeps_files_longer(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT INTO t VALUES (2)")
    clock.jump(-2 * HOUR)
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    clock.pass_by(2 * HOUR)
    assert clean(session) == []
    assert versions(session) == [[], [(1,)], [(1,), (2,)]]
    clock.pass_by(HOUR + A_LITTLE)
    assert len(clean(session)) == 2


def test_a_shorter_retention_counts_at_the_next_cleaning(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT OVERWRITE TABLE t VALUES (2)")
    clock.pass_by(10 + A_LITTLE)
    assert clean(session) == []
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('acidsql.history.retention'='10s')")
    assert clean(session) == ["delta_0000001_0000001_0000"]
    session.execute("ALTER TABLE t UNSET TBLPROPERTIES ('acidsql.history.retention')")
    session.execute("INSERT OVERWRITE TABLE t VALUES (3)")
    assert clean(session) == ["base_0000002"]
    assert versions(session) == [None, None, None, [(3,)]]


@pytest.mark.parametrize("value", ["a day", "7", "-1h", "1w", ""])
def test_a_retention_is_a_duration(session: Session, value: str) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    change = f"ALTER TABLE t SET TBLPROPERTIES ('Acidsql.History.Retention'='{value}')"
    create = ACID.replace("'1h'", f"'{value}'")
    if value == "7":  # seconds, as everywhere
        session.execute(change)
        assert session._metastore.table("default", "t").properties["acidsql.history.retention"] == "7"
        return
    for text in (change, f"CREATE TABLE new (id int) {create}", f"CREATE TABLE new {create} AS SELECT 1 AS id"):
        error = fails("INVALID_TABLE_PROPERTIES", lambda text=text: session.execute(text))  # type: ignore[misc]
        assert f"'{value}' is not a duration" in str(error)
        assert "'12h' or '30d'" in str(error)
    assert rows(session, "SHOW TABLES") == [("t",)]
