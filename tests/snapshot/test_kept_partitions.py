"""Partitions that were dropped from a table with acidsql.history.retention: earlier versions have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.session import Session
from tests.answers import fails, files_below, rows
from tests.metastore.clock import Clock, given_clock
from tests.selection import every
from tests.snapshot.test_retention import A_LITTLE, ACID, HOUR, INSERT_ONLY, clean, versions

DROP = "ALTER TABLE t DROP PARTITION (p = 1)"
FIRST: list[tuple[object, ...]] = [(1, 1), (2, 2)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return given_clock(monkeypatch)


def parted(session: Session, kind: str = ACID) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {kind}")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(2, [ACID, INSERT_ONLY]))
def test_a_dropped_partition_is_part_of_earlier_versions(
    session: Session, clock: Clock, tmp_path: Path, kind: str
) -> None:
    parted(session, kind)
    (moment,) = (row[1] for row in rows(session, "DESCRIBE HISTORY t"))
    session.execute(DROP)
    base = tmp_path / "warehouse" / "t" / "p=1" / "base_0000002"
    assert (base / "_metadata_acid").read_text() == '{"thisFileVersion":"0","dataFormat":"dropped"}'
    assert versions(session) == [[], FIRST, [(2, 2)]]
    assert rows(session, "SHOW PARTITIONS t") == [("p=2",)]
    assert rows(session, f"SELECT * FROM t TIMESTAMP AS OF '{moment}' ORDER BY id") == FIRST
    assert rows(session, "SELECT * FROM t VERSION AS OF 1 WHERE p = 1") == [(1, 1)]
    assert rows(session, "SELECT id, _commit_version FROM t CHANGES FROM VERSION 1 TO VERSION 1 ORDER BY id") == [
        (1, 1),
        (2, 1),
    ]
    fails("NOT_ENOUGH_HISTORY", lambda: rows(session, "SELECT * FROM t CHANGES FROM VERSION 1 TO VERSION 2"))
    assert [row[3] for row in rows(session, "DESCRIBE HISTORY t")] == ["DROP PARTITION", "INSERT"]
    clock.pass_by(HOUR - 1)
    assert clean(session) == []
    assert versions(session) == [[], FIRST, [(2, 2)]]
    clock.pass_by(1 + A_LITTLE)
    assert clean(session) == ["delta_0000001_0000001_0000", "base_0000002"]
    assert not base.parent.exists()
    assert versions(session) == [None, None, [(2, 2)]]


@pytest.mark.ci
def test_a_restore_brings_a_dropped_partition_back(session: Session, clock: Clock) -> None:
    parted(session)
    session.execute(DROP)
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    assert rows(session, "SHOW PARTITIONS t") == [("p=1",), ("p=2",)]
    assert versions(session) == [[], FIRST, [(2, 2)], FIRST]
    session.execute("RESTORE TABLE t TO VERSION AS OF 2")
    assert versions(session) == [[], FIRST, [(2, 2)], FIRST, [(2, 2)]]
    clock.pass_by(HOUR + A_LITTLE)
    assert clean(session)
    assert versions(session) == [None, None, None, None, [(2, 2)]]


@pytest.mark.ci
@pytest.mark.parametrize("add", every(2, ["ALTER TABLE t ADD PARTITION (p = 1)", None]))
def test_a_partition_that_is_made_again_has_none_of_the_old_rows(
    session: Session, clock: Clock, tmp_path: Path, add: str | None
) -> None:
    parted(session)
    session.execute(DROP)
    if add is not None:
        session.execute(add)
        assert versions(session)[-1] == [(2, 2)]
    session.execute("INSERT INTO t VALUES (3, 1)")
    then = [*versions(session)]
    assert then[:3] == [[], FIRST, [(2, 2)]]
    assert then[-1] == [(2, 2), (3, 1)]
    session.execute("ALTER TABLE t PARTITION (p = 1) COMPACT 'major' AND WAIT")
    session.execute(DROP)
    assert versions(session) == [*then, [(2, 2)]]
    clock.pass_by(HOUR + A_LITTLE)
    assert clean(session)
    assert versions(session) == [None] * len(then) + [[(2, 2)]]
    assert not (tmp_path / "warehouse" / "t" / "p=1").exists()


@pytest.mark.nightly
def test_each_drop_has_its_own_time(session: Session, clock: Clock, tmp_path: Path) -> None:
    parted(session)
    session.execute(DROP)
    clock.pass_by(HOUR // 2)
    session.execute("INSERT INTO t VALUES (3, 1)")
    session.execute(DROP)
    then = versions(session)
    assert then == [[], FIRST, [(2, 2)], [(2, 2), (3, 1)], [(2, 2)]]
    clock.pass_by(HOUR // 2 + A_LITTLE)
    assert clean(session) == ["delta_0000001_0000001_0000"]
    assert versions(session) == [None, None, *then[2:]]
    clock.pass_by(HOUR // 2)
    assert set(clean(session)) == {"base_0000002", "base_0000004", "delta_0000003_0000003_0000"}
    assert versions(session) == [None] * 4 + [[(2, 2)]]
    assert not (tmp_path / "warehouse" / "t" / "p=1").exists()


def test_msck_does_not_find_a_dropped_partition(session: Session) -> None:
    parted(session)
    session.execute(DROP)
    session.execute("MSCK REPAIR TABLE t")
    assert rows(session, "SHOW PARTITIONS t") == [("p=2",)]
    assert versions(session) == [[], FIRST, [(2, 2)]]


@pytest.mark.ci
def test_a_drop_without_retention_ends_all_versions_before_it(session: Session) -> None:
    parted(session)
    session.execute(DROP)
    session.execute("INSERT INTO t VALUES (3, 1)")
    session.execute("ALTER TABLE t UNSET TBLPROPERTIES ('acidsql.history.retention')")
    session.execute(DROP)
    assert versions(session)[-1] == [(2, 2)]
    assert versions(session)[1:4] == [None, None, None]


def test_kept_partitions_move_with_their_table(session: Session, clock: Clock, tmp_path: Path) -> None:
    parted(session)
    session.execute(DROP)
    session.execute("ALTER TABLE t RENAME TO u")
    assert versions(session, "u")[:3] == [[], FIRST, [(2, 2)]]
    clock.pass_by(HOUR + A_LITTLE)
    assert len(clean(session)) == 2
    assert not (tmp_path / "warehouse" / "u" / "p=1").exists()


@pytest.mark.nightly
def test_a_partition_does_not_get_the_name_of_one_whose_files_are_kept(session: Session, clock: Clock) -> None:
    parted(session)
    session.execute(DROP)
    rename = "ALTER TABLE t PARTITION (p = 2) RENAME TO PARTITION (p = 1)"
    error = fails("LOCATION_NOT_EMPTY", lambda: session.execute(rename))
    assert "acidsql.history.retention keeps the files of a partition there that was dropped, until 2" in str(error)
    assert versions(session) == [[], FIRST, [(2, 2)]]
    clock.pass_by(HOUR + A_LITTLE)
    clean(session)
    session.execute(rename)
    assert rows(session) == [(2, 1)]


def test_explain_tells_that_the_files_of_a_dropped_partition_stay(session: Session) -> None:
    parted(session)
    shown = "\n".join(str(row[0]) for row in rows(session, f"EXPLAIN {DROP}"))
    assert "leaves their files to the cleaner: acidsql.history.retention is 1h" in shown


def test_a_dropped_table_leaves_nothing(session: Session, tmp_path: Path) -> None:
    parted(session)
    session.execute(DROP)
    session.execute("DROP TABLE t")
    assert files_below(tmp_path / "warehouse" / "t") == []
    parted(session)
    assert versions(session) == [[], FIRST]
