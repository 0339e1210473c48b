"""`acidsql doctor` on tables that were broken on purpose: what it says, and that what it prints mends them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acidsql.acid.compaction_scope import CompactionType
from acidsql.frontends.cli import main
from acidsql.metastore.compactions import CompactionRequest
from acidsql.session import Session, connect

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Session]:
    """A session without Spark, with a table of three rows and one with partitions."""
    with connect(tmp_path / "warehouse") as session:
        session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
        session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (d string) {ACID}")
        session.execute("INSERT INTO p PARTITION (d = 'x') VALUES (1)")
        session.execute("INSERT INTO p PARTITION (d = 'y') VALUES (2)")
        yield session


def table(session: Session, name: str = "t") -> Path:
    return Path(session.warehouse, name)


def changed(session: Session, statement: str) -> None:
    """Changes the embedded metastore behind the session's back."""
    with sqlite3.connect(Path(session.warehouse, ".acidsql", "metastore.db")) as db:
        assert db.execute(statement).rowcount > 0
    db.close()


def fill(session: Session) -> None:
    for i in range(11):
        session.execute(f"INSERT INTO t VALUES ({i}, 'x')")


def drop_bucket_file(session: Session) -> None:
    shutil.rmtree(table(session) / "delta_0000001_0000001_0000")


def damage_file(session: Session) -> None:
    file = next((table(session) / "delta_0000001_0000001_0000").glob("bucket_*"))
    file.write_bytes(b"no ORC at all" * 40)


def abort_with_files(session: Session) -> None:
    metastore = session._metastore
    txn = metastore.open_txn()
    write_id = metastore.allocate_write_id(txn, metastore.table("default", "t"))
    shutil.copytree(
        table(session) / "delta_0000001_0000001_0000", table(session) / f"delta_{write_id:07}_{write_id:07}_0000"
    )
    metastore.abort(txn)


def leave_staging_directory(session: Session) -> None:
    metastore = session._metastore
    txn = metastore.open_txn()
    write_id = metastore.allocate_write_id(txn, metastore.table("default", "t"))
    (table(session) / f".acidsql_staging_{txn}_{write_id}_0").mkdir()
    metastore.abort(txn)


def leave_silent_writer(session: Session) -> None:
    metastore = session._metastore
    metastore.allocate_write_id(metastore.open_txn(), metastore.table("default", "t"))
    changed(session, "UPDATE txns SET last_heartbeat = last_heartbeat - 900000 WHERE state = 'open'")


def fail_compaction(session: Session) -> None:
    metastore = session._metastore
    metastore.enqueue_compaction(CompactionRequest("default", "t", None, CompactionType.MAJOR))
    taken = metastore.take_compaction("host-1.1.1")
    assert taken is not None
    metastore.fail_compaction(taken, "the disk is full")


def queue_compaction(session: Session) -> None:
    session.execute("ALTER TABLE t COMPACT 'major'")
    changed(session, "UPDATE compaction_queue SET enqueued = enqueued - 7200000")


def hold_cleaner(session: Session) -> None:
    session._metastore.open_txn()
    changed(session, "UPDATE txns SET started = started - 7200000 WHERE state = 'open'")
    fill(session)
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")


def strange_name(session: Session) -> None:
    delta = table(session) / "delta_0000001_0000001_0000"
    shutil.copy(next(delta.glob("bucket_*")), delta / "part-00000.orc")


def strange_directory(session: Session) -> None:
    (table(session) / "delta_one").mkdir()
    (table(session) / "delta_one" / "bucket_00000").write_bytes(b"")


def unknown_write(session: Session) -> None:
    shutil.copytree(table(session) / "delta_0000001_0000001_0000", table(session) / "delta_0000099_0000099_0000")


def unknown_partition(session: Session) -> None:
    shutil.copytree(table(session, "p") / "d=x", table(session, "p") / "d=z")


def lose_partition(session: Session) -> None:
    session.execute("ALTER TABLE p ADD PARTITION (d = 'z')")
    shutil.rmtree(table(session, "p") / "d=z")


def lose_directory(session: Session) -> None:
    shutil.rmtree(table(session))


def stale_statistics(session: Session) -> None:
    metastore = session._metastore
    found = metastore.table("default", "t")
    metastore.set_statistics(None, found, {(): {"numRows": "3"}}, accurate=False)


def small_files(session: Session) -> None:
    delta = table(session) / "delta_0000001_0000001_0000"
    file = next(delta.glob("bucket_*"))
    for bucket in range(1, 25):
        shutil.copy(file, delta / f"bucket_{bucket:05}_0")


def wrong_bucket(session: Session) -> None:
    session.execute(f"CREATE TABLE b (id int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.execute("INSERT INTO b VALUES (1), (2), (3)")
    delta = table(session, "b") / "delta_0000001_0000001_0000"
    shutil.copy(next(delta.glob("bucket_*")), delta / "bucket_00007_0")


def replaced(session: Session) -> None:
    shutil.copytree(table(session) / "delta_0000001_0000001_0000", table(session) / "base_0000001")


BROKEN: list[tuple[Callable[[Session], None], str, str, str, str]] = [
    (fill, "t", "compaction-due", "there are 12 deltas", "ALTER TABLE `default`.`t` COMPACT 'major' AND WAIT;"),
    (drop_bucket_file, "t", "unreadable", "delta_0000001_0000001_0000", ""),
    (damage_file, "t", "damaged-file", "bucket_00000", ""),
    (abort_with_files, "t", "aborted", "delta_0000002_0000002_0000", "acidsql compactor --once"),
    (leave_staging_directory, "t", "staging", "which has ended", "acidsql compactor --once"),
    (leave_silent_writer, "t", "open-transaction", "has had no heartbeat for 9", "ABORT TRANSACTIONS "),
    (fail_compaction, "t", "compaction-failed", "failed: the disk is full", "SHOW COMPACTIONS 1;"),
    (queue_compaction, "t", "compaction-waits", "has waited for a worker for 72", "acidsql compactor --once"),
    (hold_cleaner, "t", "cleaning-waits", "before compaction 1 committed", "ABORT TRANSACTIONS "),
    (strange_name, "t", "unreadable", "part-00000.orc", ""),
    (strange_directory, "t", "unreadable", "delta_one", ""),
    (unknown_write, "t", "unreadable", "delta_0000099_0000099_0000", ""),
    (unknown_partition, "p", "unknown-partition", "d=z", "MSCK REPAIR TABLE `default`.`p`;"),
    (lose_partition, "p", "no-directory", "d=z", "ALTER TABLE `default`.`p` DROP PARTITION (`d` = 'z');"),
    (lose_directory, "t", "no-directory", "does not exist", "DROP TABLE `default`.`t`;"),
    (stale_statistics, "t", "statistics", "out of date", "ANALYZE TABLE `default`.`t` COMPUTE STATISTICS;"),
    (small_files, "t", "small-files", "25 files", "ALTER TABLE `default`.`t` COMPACT 'major' AND WAIT;"),
    (wrong_bucket, "b", "wrong-bucket", "the buckets 7, and the table has 2", ""),
    (replaced, "t", "obsolete", "delta_0000001_0000001_0000", "acidsql compactor --once"),
]


@pytest.mark.parametrize(
    ("broken", "name", "rule", "said", "remedy"), BROKEN, ids=lambda v: getattr(v, "__name__", None)
)
def test_the_doctor_says_what_is_wrong_and_what_mends_it(
    place: Session, broken: Callable[[Session], None], name: str, rule: str, said: str, remedy: str
) -> None:
    broken(place)
    found = {finding.rule: finding for finding in place.doctor(name)}
    assert rule in found, found
    assert said in found[rule].text or said in found[rule].place
    assert found[rule].remedies[:1] == () if not remedy else found[rule].remedies[0].startswith(remedy)


def test_sound_tables_have_no_findings_and_examining_changes_nothing(
    place: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    def state() -> list[str]:
        return sorted(str(path) for name in ("t", "p") for path in table(place, name).rglob("*"))

    before = state()
    assert main(["doctor", "--warehouse", place.warehouse]) == 0
    assert capsys.readouterr().out == "default.p: nothing is wrong\ndefault.t: nothing is wrong\n"
    fill(place)
    abort_with_files(place)
    before = state()
    assert main(["doctor", "t", "--warehouse", place.warehouse]) == 1
    assert "    ALTER TABLE `default`.`t` COMPACT 'major' AND WAIT;\n" in capsys.readouterr().out
    assert main(["doctor", "t", "--json", "--quick", "--warehouse", place.warehouse]) == 1
    rules = [json.loads(line)["rule"] for line in capsys.readouterr().out.splitlines()]
    assert rules == ["compaction-due", "aborted"]
    assert state() == before


def test_the_service_removes_the_staging_directory_that_a_full_disk_has_left(place: Session) -> None:
    leave_staging_directory(place)
    place.compactor.run_once()
    assert place.doctor("t") == []
    assert not list(table(place).glob(".acidsql_staging_*"))


def test_a_metastore_that_was_copied_away_from_its_tables_is_told(place: Session, tmp_path: Path) -> None:
    properties = "TBLPROPERTIES ('transactional'='true')"
    place.execute(f"CREATE TABLE far (id int) STORED AS ORC LOCATION '{tmp_path}/far' {properties}")
    place.execute("INSERT INTO far VALUES (1)")
    place.close()
    copy = shutil.copytree(place.warehouse, tmp_path / "copy")
    with connect(copy) as other:
        (finding,) = other.doctor("t")
        assert finding.rule == "catalog"
        assert "acidsql claim --own" in finding.text
