"""A disk that is full, at each file that a statement makes and in the metastore: a clear error, and nothing left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.support.acid_files import visible_paths

PARTED = "(id int, v int) PARTITIONED BY (p int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PAGE = 4096


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system in memory with given options; skips where that is not allowed."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def open_session(spark: SparkSession) -> Iterator[Callable[[Path, Path], Session]]:
    opened: list[Session] = []

    def open_one(warehouse: Path, metastore: Path) -> Session:
        opened.append(connect(warehouse, metastore=f"sqlite:///{metastore}", spark=spark))
        opened[-1].execute(f"CREATE TABLE t {PARTED}")
        opened[-1].execute("INSERT INTO t SELECT id, 0, id % 3 FROM range(30)")
        return opened[-1]

    yield open_one
    for session in opened:
        session.close()


def total(session: Session) -> tuple[object, ...]:
    return tuple(session.sql("SELECT count(*), sum(v) FROM t").collect()[0])


def check_nothing_left(session: Session, table: Path, before: list[str]) -> None:
    assert visible_paths(table) == before
    assert not list(table.glob(f"{STAGING_DIRECTORY}*"))
    assert total(session) == (30, 0)


@pytest.mark.ci
def test_a_job_that_fills_the_disk_says_so_and_leaves_nothing(
    small_disk: Callable[[str], Path], open_session: Callable[[Path, Path], Session], tmp_path: Path
) -> None:
    disk = small_disk("size=2m")
    session = open_session(disk, tmp_path / "metastore.db")
    before = visible_paths(disk / "t")
    with pytest.raises(AcidSqlError, match="No space left on device") as caught:
        session.execute("INSERT INTO t SELECT xxhash64(id), xxhash64(id + 1), id % 3 FROM range(1000000)")
    assert caught.value.condition == "DISK_FULL"
    check_nothing_left(session, disk / "t", before)
    session.execute("UPDATE t SET v = 1")
    assert total(session) == (30, 30)


@pytest.mark.nightly
def test_at_whichever_file_the_disk_is_full_nothing_is_left(
    small_disk: Callable[[str], Path], open_session: Callable[[Path, Path], Session], tmp_path: Path
) -> None:
    """With one more file to be had at a time: in the job, and between those that are published."""
    disk = small_disk("size=16m,nr_inodes=200")
    session = open_session(disk, tmp_path / "metastore.db")
    before = visible_paths(disk / "t")
    ends = []
    for free in range(60):
        while (spare := os.statvfs(disk).f_ffree) > free:
            (disk / f"filler{spare}").touch()
        try:
            session.execute("UPDATE t SET v = v + 1")
        except AcidSqlError as error:
            ends.append(error)
        else:
            break
        check_nothing_left(session, disk / "t", before)
        for filler in disk.glob("filler*"):
            filler.unlink()
    assert total(session) == (30, 30)
    # Java's mkdirs does not tell why it failed.
    assert all("No space left" in e.message or "Mkdirs failed" in e.message for e in ends)
    publishing = [e for e in ends if "delta_0" in e.message and STAGING_DIRECTORY not in e.message]
    assert publishing, [e.message for e in ends]
    assert {e.condition for e in publishing} == {"DISK_FULL"}


@pytest.mark.nightly
def test_a_metastore_without_space_fails_the_statement_and_goes_on_when_there_is_some(
    small_disk: Callable[[str], Path], open_session: Callable[[Path, Path], Session], tmp_path: Path
) -> None:
    disk = small_disk("size=4m")
    session = open_session(tmp_path / "warehouse", disk / "metastore.db")
    table, before = tmp_path / "warehouse" / "t", visible_paths(tmp_path / "warehouse" / "t")
    after_job, ends = 0, []
    for pages in range(0, 60, 2):
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
        (disk / "filler").write_bytes(bytes(free - pages * PAGE))
        try:
            session.execute("UPDATE t SET v = v + 1")
        except AcidSqlError as error:
            ends.append(error)
            after_job += visible_paths(table) != before
        else:
            break
        finally:
            (disk / "filler").unlink()
        assert total(session) == (30, 0)
    assert total(session) == (30, 30)
    assert {error.condition for error in ends} == {"METASTORE_UNAVAILABLE"}
    assert all("disk is full" in error.message for error in ends), ends
    session.execute("UPDATE t SET v = 7")
    assert total(session) == (30, 210)
    assert not list(table.glob(f"{STAGING_DIRECTORY}*"))
    assert after_job, "it was never the commit that failed"
