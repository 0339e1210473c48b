"""Readers of changes in processes that die: what they write of the changes and their place are committed together."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session
from tests.answers import rows
from tests.crash.writers import DYING, Place, kill, output, wait_for_line

ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
READ_ONCE: Final = """
def read_once(session):
    with session.transaction():
        changes = session.changes("t", since="log", deduplication_mode="none")
        session.execute("INSERT INTO log SELECT id, v, _change_type, _commit_version FROM {changes}",
                        frames={"changes": changes})
"""
AT_A_POINT: Final = f"""{DYING}{READ_ONCE}
with connect() as session:
    die_at(session._metastore, "commit", before=sys.argv[3] == "before")
    read_once(session)
"""
AGAIN_AND_AGAIN: Final = f"""{READ_ONCE}
with connect() as session:
    print("ready", flush=True)
    ends = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < ends:
        try:
            read_once(session)
        except AcidSqlError as error:
            if error.condition not in ("STREAM_IN_USE", "STREAM_LOST", "WRITE_CONFLICT", "TRANSACTION_ABORTED"):
                raise
"""


@pytest.fixture
def place(session: Session, tmp_path: Path) -> Place:
    session.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    session.execute(f"CREATE TABLE log (id int, v int, kind string, version bigint) {ACID}")
    with session.transaction():
        assert session.changes("t", since="log").count() == 0
    return Place(tmp_path)


def logged(session: Session) -> list[tuple[object, ...]]:
    return sorted(rows(session, "SELECT * FROM log"))


def changed(session: Session) -> list[tuple[object, ...]]:
    return sorted(rows(session, "SELECT id, v, _change_type, _commit_version FROM t CHANGES FROM VERSION 1"))


@pytest.mark.ci
@pytest.mark.parametrize("point", ["after", pytest.param("before", marks=pytest.mark.nightly)])
def test_a_reader_that_dies_at_its_commit_has_written_and_read_all_or_nothing(
    session: Session, spark: SparkSession, place: Place, point: str
) -> None:
    session.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
    session.execute("UPDATE t SET v = 1 WHERE id = 1")
    process = place.start(AT_A_POINT, point, jvm=spark)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL, errors
    assert logged(session) == ([] if point == "before" else changed(session))
    assert session.changes("t", since="log").count() == (4 if point == "before" else 0)
    session.execute("DELETE FROM t WHERE id = 2")
    with session.transaction():
        changes = session.changes("t", since="log")
        session.execute(
            "INSERT INTO log SELECT id, v, _change_type, _commit_version FROM {changes}", frames={"changes": changes}
        )
    assert logged(session) == changed(session)
    assert session.changes("t", since="log").count() == 0


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2))
def test_readers_of_one_name_that_are_killed_read_every_change_once(
    session: Session, spark: SparkSession, place: Place, seed: int
) -> None:
    """Two processes compete for the name all the time, while this one writes."""
    chance = random.Random(seed)
    readers: list[subprocess.Popen[str]] = []
    number = 0
    for _ in range(8):
        while len(readers) < 2:
            readers.append(place.start(AGAIN_AND_AGAIN, "600", jvm=spark))
            wait_for_line("ready", readers[-1])
        ends = time.monotonic() + chance.uniform(0.5, 4)
        while time.monotonic() < ends:
            number += 1
            session.execute(f"INSERT INTO t VALUES ({number}, 0)")
            if number % 5 == 0:
                session.execute(f"UPDATE t SET v = v + 1 WHERE id % 7 = {chance.randrange(7)}")
            if number % 11 == 0:
                session.execute(f"DELETE FROM t WHERE id % 13 = {chance.randrange(13)}")
        kill(readers.pop(chance.randrange(2)))
    for reader in readers:
        kill(reader)
    last = place.start(AGAIN_AND_AGAIN, "20", jvm=spark)
    wait_for_line("ready", last)
    output(last)
    assert session.changes("t", since="log").count() == 0
    assert logged(session) == changed(session)
    assert number > 10
