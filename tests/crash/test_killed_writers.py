"""A writer that is killed or interrupted in the middle of a statement: the table is as before, and goes on."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from acidsql.metastore.sqlite import SqliteMetastore
from acidsql.session import Session
from tests.crash.writers import SLOW_UPDATE, Place, kill, output, wait_for, wait_for_line
from tests.spark.acid_files import visible_paths

ROWS = 4000

UPDATE = f"""
with connect(conf=CONF) as session:
    session.start()
    print("ready", flush=True)
    session.execute({SLOW_UPDATE!r})
"""

INTERRUPTED = f"""
with connect(conf=CONF) as session:
    session.start()
    print("ready", flush=True)
    try:
        session.execute({SLOW_UPDATE!r})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    session.execute("UPDATE t SET v = v + 100")
    print(*session.sql("SELECT count(*), sum(v) FROM t").collect()[0], flush=True)
"""


@pytest.fixture
def place(session: Session, tmp_path: Path) -> Place:
    """A table of two columns and two writing tasks' files."""
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    rows = session.spark.range(0, ROWS, 1, 2).selectExpr("CAST(id AS INT) AS id", "0 AS v")
    session.sql("INSERT INTO t SELECT * FROM {rows}", rows=rows)
    return Place(tmp_path)


def soon(place: Place, writer: subprocess.Popen[str]) -> None:
    time.sleep(0.3)


def staging(place: Place, writer: subprocess.Popen[str]) -> None:
    wait_for(lambda: bool(place.staging()), writer)


def writing(place: Place, writer: subprocess.Popen[str]) -> None:
    wait_for(lambda: any(p.suffix == ".orc" for s in place.staging() for p in s.rglob("*")), writer)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("reach", [soon, staging, writing])
def test_a_writer_killed_in_its_statement_changes_nothing(
    reach: Callable[[Place, subprocess.Popen[str]], None], place: Place, session: Session
) -> None:
    writer = place.start(UPDATE)
    wait_for_line("ready", writer)
    reach(place, writer)
    kill(writer)
    check_as_before(session)


@pytest.mark.timeout(900)
def test_a_writer_killed_between_publishing_and_committing_changes_nothing(place: Place, session: Session) -> None:
    writer = place.start(UPDATE)
    wait_for_line("ready", writer)
    staging(place, writer)
    lock = sqlite3.connect(place.metastore, isolation_level=None, timeout=60)
    lock.execute("BEGIN IMMEDIATE")  # the commit has to wait for this
    wait_for(lambda: has_published(place), writer)
    kill(writer)
    lock.execute("ROLLBACK")
    lock.close()
    assert has_published(place)
    check_as_before(session)


def has_published(place: Place) -> bool:
    """The update's files are at their places, of both kinds, and the staging directory is gone."""
    names = ("delta_0000002_0000002_0000", "delete_delta_0000002_0000002_0000")
    return all(any((place.table / name).glob("bucket_*")) for name in names) and not place.staging()


def check_as_before(session: Session) -> None:
    """The rows are those of before the kill; the next statement is not held up, and does its work only."""
    query = "SELECT count(*), count(DISTINCT id), sum(v), min(row__id.writeid), max(row__id.writeid) FROM t"
    assert tuple(session.sql(query).collect()[0]) == (ROWS, ROWS, 0, 1, 1)
    updated = session.execute("UPDATE t SET v = 7 WHERE id < 10")
    assert updated.counts is not None
    assert updated.counts.updated == 10
    assert tuple(session.sql(query).collect()[0])[:4] == (ROWS, ROWS, 70, 1)


@pytest.mark.timeout(900)
def test_an_interrupted_statement_leaves_nothing_and_the_session_goes_on(place: Place, session: Session) -> None:
    before = visible_paths(place.table)
    writer = place.start(INTERRUPTED)
    wait_for_line("ready", writer)
    writing(place, writer)
    writer.send_signal(signal.SIGINT)
    assert output(writer).splitlines() == ["interrupted", f"{ROWS} {ROWS * 100}"]
    with SqliteMetastore(place.metastore, str(place.warehouse)) as store:
        assert len(store.valid_txns().aborted) == 1
        assert store.valid_txns().open == frozenset()
    left = {path.split("/")[0] for path in visible_paths(place.table) if path not in before}
    assert left == {"delta_0000003_0000003_0000", "delete_delta_0000003_0000003_0000"}
    assert tuple(session.sql("SELECT count(*), sum(v) FROM t").collect()[0]) == (ROWS, ROWS * 100)
