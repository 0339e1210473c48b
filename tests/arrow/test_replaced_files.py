"""Readers without Spark whose files are replaced while they read: they give the rows of their snapshot, or an error."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.storage.file_identity import change_of, sized
from acidsql.storage.file_systems import SizedFile
from acidsql.storage.local_files import LocalFiles
from tests.open_readers import KINDS, WITHOUT_SPARK, History
from tests.selection import every

SEED = int(os.environ.get("ACIDSQL_SEED", "0"))
STEPS = int(os.environ.get("ACIDSQL_STEPS", "50"))


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Session]:
    """A session that has not started Spark."""
    with connect(tmp_path / "warehouse") as session:
        yield session


@pytest.mark.parametrize("kind", every(3, [kind for kind in KINDS if kind != "plain text"]))
def test_readers_beside_random_changes_of_their_table_give_their_snapshot_or_one_error(
    alone: Session, tmp_path: Path, kind: str
) -> None:
    history = History(alone, kind, tmp_path, random.Random(f"{SEED} {kind}"), WITHOUT_SPARK)
    history.run(STEPS)
    assert sum(history.outcomes.values()) > 0


@pytest.mark.parametrize("way", WITHOUT_SPARK)
@pytest.mark.parametrize("gone", ["DROP TABLE t", "ALTER TABLE t RENAME TO old"])
def test_a_reader_whose_table_was_replaced_says_so(alone: Session, way: str, gone: str) -> None:
    create(alone, 10)
    reading = WITHOUT_SPARK[way](alone)
    assert next(reading) == [(10, 0)]
    alone.execute(gone)
    create(alone, 20)
    with pytest.raises(AcidSqlError, match=r"/t/p=1/\S+ was replaced after the statement had taken") as raised:
        list(reading)
    assert raised.value.condition == "FILE_REPLACED"
    assert raised.value.getSqlState() == "40001"
    assert raised.value.hint is not None
    assert "or run the query again" in raised.value.hint


@pytest.mark.parametrize("way", WITHOUT_SPARK)
def test_a_reader_whose_table_was_dropped_says_so(alone: Session, way: str) -> None:
    create(alone, 10)
    reading = WITHOUT_SPARK[way](alone)
    next(reading)
    alone.execute("DROP TABLE t")
    with pytest.raises(AcidSqlError, match="was removed after the statement had taken its snapshot"):
        list(reading)


def create(session: Session, number: int) -> None:
    session.execute(f"CREATE TABLE t (a INT) PARTITIONED BY (p INT) {KINDS['full ACID']}")
    for p in range(3):
        session.execute(f"INSERT INTO t PARTITION (p={p}) VALUES ({number + p})")


# ------------------------------------------------------------------------------------------------ identities


def listed(directory: Path, *, may_grow: bool = False) -> SizedFile:
    (file,) = LocalFiles().list_below(str(directory)).files
    return replace(sized(f"{directory}/{file.path}", file), may_grow=may_grow)


def test_a_file_of_the_same_size_and_time_is_another_file(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    (directory / "f").write_bytes(b"one")
    file = listed(directory)
    (tmp_path / "other").write_bytes(b"two")
    status = os.stat(directory / "f")
    os.utime(tmp_path / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert change_of(LocalFiles(), file) is None
    os.replace(tmp_path / "other", directory / "f")
    assert change_of(LocalFiles(), file) == "replaced"
    (directory / "f").unlink()
    assert change_of(LocalFiles(), file) == "removed"


def test_a_file_that_a_stream_appends_to_stays_the_same_file(tmp_path: Path) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    (directory / "f").write_bytes(b"one")
    growing, whole = listed(directory, may_grow=True), listed(directory)
    with (directory / "f").open("ab") as file:
        file.write(b" and more")
    assert change_of(LocalFiles(), growing) is None
    assert change_of(LocalFiles(), whole) == "replaced"
    (directory / "f").write_bytes(b"o")
    assert change_of(LocalFiles(), growing) == "replaced"
