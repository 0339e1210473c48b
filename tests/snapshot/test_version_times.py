"""Which writes had committed at an instant."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acidsql.acid.table import Table
from acidsql.session import Session
from acidsql.snapshot.version_times import committed_at
from tests.answers import fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


class _Untold:
    """A metastore that keeps no times, as a Hive Metastore."""

    def __init__(self, session: Session) -> None:
        self._shared = session._metastore

    def __getattr__(self, name: str) -> object:
        return getattr(self._shared, name)

    def write_ids_at(self, table: Table, instant: int) -> None:
        return None


def _table(session: Session) -> Table:
    return session._metastore.table("default", "t")


def _at(session: Session, instant: datetime) -> tuple[int, set[int]]:
    high, later = committed_at(session._metastore, _table(session), instant, session._files.of)
    return high, set(later)


def _times(session: Session) -> dict[int, datetime]:
    return {int(str(r[0])): datetime.fromisoformat(str(r[1])) for r in rows(session, "DESCRIBE HISTORY t")}


def test_each_commit_counts_from_its_time_on(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    for number in range(3):
        session.execute(f"INSERT INTO t VALUES ({number})")
    times = _times(session)
    assert _at(session, times[1] - timedelta(days=9)) == (0, set())
    for version, then in times.items():
        assert _at(session, then) == (version, set())
        assert _at(session, then - timedelta(milliseconds=1)) == (version - 1, set())
    assert _at(session, times[3].astimezone().replace(tzinfo=None)) == (3, set())
    fails("INVALID_PARAMETER", lambda: _at(session, datetime.now(UTC) + timedelta(hours=1)))


def test_what_was_open_at_the_instant_counts_as_later(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    store, table = session._metastore, _table(session)
    first, second, third = (store.open_txn() for _ in range(3))
    store.allocate_write_ids([first, second, third], table)
    store.commit(third)
    store.commit(first)
    times = _times(session)
    assert _at(session, times[3]) == (3, {1, 2})
    assert _at(session, times[1]) == (3, {2})  # which is open still, and may commit before the reader's snapshot
    store.commit(second)
    assert _at(session, times[1]) == (3, {2})
    assert _at(session, times[3]) == (3, {1, 2})


@pytest.fixture
def adopted(session: Session, tmp_path: Path) -> Path:
    """A table without records of its commits: its directories are an hour, two and three hours old."""
    session.execute(f"CREATE TABLE s (id int) {ACID[:-1]}, 'transactional_properties'='insert_only')")
    for number in range(3):
        session.execute(f"INSERT INTO s VALUES ({number})")
    directory = tmp_path / "warehouse" / "s"
    moved = directory.rename(tmp_path / "elsewhere")
    now = int(datetime.now(UTC).timestamp())
    for hours, name in enumerate(("delta_0000003_0000003_0000", "delta_0000002_0000002_0000"), 1):
        for file in (moved / name).iterdir():
            os.utime(file, (now - hours * 3600,) * 2)
    for file in (moved / "delta_0000001_0000001_0000").iterdir():
        os.utime(file, (now - 3 * 3600,) * 2)
    properties = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.execute(f"CREATE TABLE t (id int) STORED AS ORC LOCATION '{moved}' TBLPROPERTIES ({properties})")
    return moved


def test_nobody_has_recorded_the_writes_that_a_table_came_with(session: Session, adopted: Path) -> None:
    now = datetime.now(UTC)
    error = fails("NOT_ENOUGH_HISTORY", lambda: _at(session, now - timedelta(hours=1)))
    assert "No commits are recorded before" in str(error)
    session.execute("INSERT INTO t VALUES (4)")
    assert _at(session, _times(session)[4])[0] == 4
    assert _at(session, _times(session)[4] - timedelta(milliseconds=1))[0] == 3


def test_without_records_the_times_of_directories_count(session: Session, adopted: Path) -> None:
    store, table, files = _Untold(session), _table(session), session._files.of

    def at(hours: float) -> tuple[int, set[int]]:
        instant = datetime.now(UTC) - timedelta(hours=hours)
        high, later = committed_at(store, table, instant, files)  # type: ignore[arg-type]
        return high, set(later)

    assert [at(hours) for hours in (0, 1.5, 2.5, 3.5)] == [(3, set()), (2, set()), (1, set()), (0, set())]
    fails("INVALID_PARAMETER", lambda: at(-1))
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    for file in adopted.glob("delta_*/*"):
        file.unlink()
        if not list(file.parent.iterdir()):
            file.parent.rmdir()
    fails("NOT_ENOUGH_HISTORY", lambda: at(2.5))
    assert at(0)[0] == 3
