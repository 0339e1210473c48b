"""The table property acidsql.history.retention: earlier versions stay readable until it has passed, and no longer."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.local_files import LocalFiles
from tests.answers import fails, files_below, rows
from tests.metastore.clock import Clock, given_clock
from tests.metastore.patience import eventually
from tests.selection import every

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


def end_frames(session: Session) -> None:
    """Waits until the frames and readers of before have ended: the cleaner waits for their transactions."""

    def have_ended() -> bool:
        gc.collect()
        return not any(txn.is_open for txn in session._metastore.transactions())

    eventually(have_ended)


def clean(session: Session) -> list[str]:
    """What the initiator and the cleaner remove, when the frames and readers of before have ended."""
    end_frames(session)
    session.compactor.initiate()
    return [name for cleaned in session.compactor.clean() for name in cleaned.removed]


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(2, [ACID, INSERT_ONLY]))
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


@pytest.mark.ci
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
    assert versions(session) == [None] * 4 + [[(1,), (2,), (3,), (4,)]]
    fails("NOT_ENOUGH_HISTORY", lambda: rows(session, changes))


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(2, [ACID, INSERT_ONLY]))
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


@pytest.mark.nightly
def test_a_rebalance_ends_the_changes_across_it_and_no_version(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1), (2), (3)")
    session.execute("INSERT INTO t VALUES (4)")
    session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT")
    session.execute("DELETE FROM t WHERE id IN (2, 4)")
    then = [[], [(1,), (2,), (3,)], [(1,), (2,), (3,), (4,)], [(1,), (3,)]]
    assert versions(session) == then
    changes = "SELECT id, _change_type FROM t CHANGES FROM VERSION {} TO VERSION {} ORDER BY id"
    assert rows(session, changes.format(3, 3)) == [(2, "delete"), (4, "delete")]
    assert rows(session, changes.format(2, 2)) == [(4, "insert")]
    fails("NOT_ENOUGH_HISTORY", lambda: rows(session, changes.format(2, 3)))


@pytest.mark.ci
def test_a_cleaner_that_fails_leaves_no_version_that_lacks_rows(
    session: Session, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    for value in (1, 2, 3):
        session.execute(f"INSERT INTO t VALUES ({value}, 1)")
    session.execute("INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES (4)")
    session.execute("INSERT INTO t VALUES (5, 1)")
    session.execute("ALTER TABLE t PARTITION (p = 1) COMPACT 'major' AND WAIT")
    session.execute("ALTER TABLE t DROP PARTITION (p = 1)")
    then = versions(session)
    assert None not in then
    clock.pass_by(HOUR + A_LITTLE)
    end_frames(session)
    delete, left = LocalFiles.delete, 0

    def failing(files: LocalFiles, path: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError("the disk is gone")
        delete(files, path)

    monkeypatch.setattr(LocalFiles, "delete", failing)
    for number in range(12):
        left = number % 3
        session.compactor.initiate()
        session.compactor.clean()
        clock.pass_by(HOUR)
        assert all(found in (None, rows) for found, rows in zip(versions(session), then, strict=True))
    assert versions(session) == [None] * 6 + [[]]


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


@pytest.mark.ci
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


@pytest.mark.ci
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


def test_readers_of_now_read_the_same_files_with_and_without_a_retention(session: Session, tmp_path: Path) -> None:
    selected = {}
    for name, kind in (("kept", ACID), ("plain", ACID.replace(", 'acidsql.history.retention'='1h'", ""))):
        session.execute(f"CREATE TABLE {name} (id int) {kind}")
        for value in (1, 2):
            session.execute(f"INSERT INTO {name} VALUES ({value})")
        session.execute(f"INSERT OVERWRITE TABLE {name} VALUES (3), (4)")
        session.execute(f"DELETE FROM {name} WHERE id = 3")
        session.execute(f"ALTER TABLE {name} COMPACT 'major' AND WAIT")
        session.execute(f"INSERT INTO {name} VALUES (5)")
        (part,) = session_parts(session, name)
        found = (part.snapshot.base, *part.snapshot.deltas, *part.snapshot.delete_deltas)
        selected[name] = [d.name.partition("_v")[0] for d in found if d is not None]
    assert selected["kept"] == selected["plain"] == ["base_0000004", "delta_0000005_0000005_0000"]
    directories = {name: os.listdir(tmp_path / "warehouse" / name) for name in selected}
    assert len(directories["kept"]) > len(directories["plain"])


def session_parts(session: Session, table: str) -> Sequence[BoundPart]:
    metastore = session._metastore
    snapshots = StatementSnapshots(session._files.of, ReadView(metastore, metastore.valid_txns()))
    return snapshots.parts_of(metastore.table("default", table), [()])


def test_show_compactions_tells_until_when_files_are_kept(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT INTO t VALUES (2)")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    (shown,) = rows(session, "SHOW COMPACTIONS")
    until = datetime.fromtimestamp(int(str(shown[18])) / 1000 + HOUR, UTC)
    told = f"acidsql.history.retention keeps what it replaces until {until:%Y-%m-%d %H:%M:%S}Z"
    assert (shown[5], shown[12]) == ("ready for cleaning", told)
    assert rows(session, "SELECT c_error_message FROM sys.compactions") == [(told,)]
    clock.pass_by(HOUR + A_LITTLE)
    assert [row[12] for row in rows(session, "SHOW COMPACTIONS")] == [None]


@pytest.mark.parametrize("condition", every(2, ["FILE_REPLACED", "QUERY_FAILED"]))
def test_a_reader_that_outlives_the_retention_fails(session: Session, clock: Clock, condition: str) -> None:
    """Without Spark, and with it."""
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    for value in (1, 2):
        session.execute(f"INSERT INTO t VALUES ({value})")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    late: Callable[[], object] = session.sql("SELECT * FROM t VERSION AS OF 1").collect
    if condition == "FILE_REPLACED":
        late = session.read_arrow("t", version=1).read_all
    clock.pass_by(HOUR + A_LITTLE)
    assert [name for cleaned in session.compactor.clean() for name in cleaned.removed] == [
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
    ]
    assert "delta_0000001_0000001_0000/bucket_00000" in str(fails(condition, late))
    fails("NOT_ENOUGH_HISTORY", lambda: session.read_arrow("t", version=1))


def test_the_times_of_retained_commits_are_not_forgotten(session: Session, clock: Clock) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("INSERT INTO t VALUES (1)")
    clock.pass_by(HOUR // 2)
    session.execute("INSERT OVERWRITE TABLE t VALUES (2)")
    store = session._metastore.shared
    assert isinstance(store, SqliteMetastore)
    store.forget_commits(kept=1)
    table = store.table("default", "t")
    assert [commit.write_id for commit in store.commits(table)] == [2, 1]
    clock.pass_by(HOUR // 2 + A_LITTLE)
    store.forget_commits(kept=1)
    assert [commit.write_id for commit in store.commits(table)] == [2]
