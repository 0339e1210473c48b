"""A writer that is killed or interrupted in the middle of a statement: the table is as before, and goes on."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.writers import (
    PATIENCE,
    QUICK_UPDATE,
    SLOW_UPDATE,
    Place,
    dying,
    kill,
    output,
    wait_for,
    wait_for_line,
)
from tests.selection import core
from tests.support.acid_files import visible_paths

ROWS = 4000

_IMPORTS = """
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.storage.local_files import LocalFiles
"""
UPDATE = f"{_IMPORTS}{dying(f'session.execute({QUICK_UPDATE!r})')}"
LONG_UPDATE = f"{_IMPORTS}{dying(f'session.execute({SLOW_UPDATE!r})')}"

POINTS = {
    "after open": "die_at(SqliteMetastore, 'open_txn', before=False)",
    "after its locks": "die_at(SqliteMetastore, 'lock', before=False)",
    "after its write ID": "die_at(SqliteMetastore, 'allocate_write_id', before=False)",
    "between two moves": "die_at(LocalFiles, 'place', call=2)",
    "before its commit": "die_at(SqliteMetastore, 'commit')",
    "after its commit": "die_at(SqliteMetastore, 'commit', before=False)",
}
"""The points of a statement's life, and what makes the writer die there; in its job it is killed from outside."""
IN_CI = ("between two moves", "before its commit", "after its commit")

BY_TASKS = "session.execute('SET acidsql.driver.write.max.bytes=0')"
"""Spark's tasks write the files during the job; the driver would write them after it, and quickly."""

INTERRUPTED = f"""
with connect(conf=CONF) as session:
    session.start()
    {BY_TASKS}
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


def writing(place: Place, writer: subprocess.Popen[str]) -> None:
    """Waits until a task has opened a file (BY_TASKS)."""
    wait_for(lambda: any(p.suffix == ".orc" for s in place.staging() for p in s.rglob("*")), writer)


@pytest.mark.ci
@pytest.mark.timeout(900)
@pytest.mark.parametrize("point", core(POINTS, IN_CI.__contains__))
def test_a_writer_that_dies_at_a_point_of_its_statement_changes_all_or_nothing(
    point: str, place: Place, session: Session
) -> None:
    writer = place.start(UPDATE, POINTS[point], jvm=session.spark)
    wait_for_line("ready", writer)
    writer.communicate(timeout=PATIENCE)
    assert writer.returncode == -signal.SIGKILL
    check_after(session, place, v=1 if point == "after its commit" else 0)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_writer_killed_in_its_job_changes_nothing(place: Place, session: Session) -> None:
    writer = place.start(LONG_UPDATE, BY_TASKS)
    wait_for_line("ready", writer)
    writing(place, writer)
    kill(writer)
    check_after(session, place, v=0)


def check_after(session: Session, place: Place, v: int) -> None:
    """The rows have the value that they must have now; the next statement is not held up, does its work only, and
    removes what the dead one left."""
    query = "SELECT count(*), count(DISTINCT id), sum(v) FROM t"
    assert tuple(session.sql(query).collect()[0]) == (ROWS, ROWS, ROWS * v)
    updated = session.execute("UPDATE t SET v = 7 WHERE id < 10")
    assert updated.counts is not None
    assert updated.counts.updated == 10
    assert tuple(session.sql(query).collect()[0]) == (ROWS, ROWS, ROWS * v + 10 * (7 - v))
    own = updated.write_ids["default.t"]
    committed = {1, own} if v == 0 else {1, own - 1, own}
    assert {int(p.name.split("_")[-2]) for p in place.table.glob("*delta_*")} == committed
    assert place.staging() == []


@pytest.mark.nightly
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
