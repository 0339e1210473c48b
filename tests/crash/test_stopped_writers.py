"""A process that is stopped (SIGSTOP) for longer than hive.txn.timeout, while others go on in its place: when it
continues it commits nothing, and removes nothing but its own."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.write_ids import TxnId
from acidsql.ddl import table_changes
from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.writers import DYING, PATIENCE, Place
from tests.metastore.clock import Clock
from tests.support.acid_files import visible_paths

pytestmark = pytest.mark.ci

WRITER: Final = f"""
import json, sys
from acidsql import connect
from acidsql.errors import AcidSqlError
from acidsql.compactor import cleaner
from acidsql.ddl import partition_changes
from acidsql.metastore import heartbeat
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.spark import compaction
from acidsql.spark import executor
from acidsql.storage import leftovers
from acidsql.storage.local_files import LocalFiles
from tests.crash.slots import attached
{DYING}

def die(*_):
    os.kill(os.getpid(), signal.SIGSTOP)

spark = attached(int(sys.argv[1]), sys.argv[2])
sessions = dict()
for line in sys.stdin:
    warehouse, metastore, sql, (owner, name, *how), interval = json.loads(line)
    session = sessions.setdefault(warehouse, None) or connect(warehouse, metastore, spark=spark)
    sessions[warehouse] = session
    heartbeat._BEATS = session._metastore.txn_timeout / interval
    owner = eval(owner)
    original = getattr(owner, name)
    die_at(owner, name, *how)
    try:
        result = session.execute(sql)
        print("done", flush=True)
    except AcidSqlError as error:
        print(error.condition, error, flush=True)
    finally:
        setattr(owner, name, original)
"""

AFTER: Final = (1, False)
POINTS: Final = {
    "after its locks": ("SqliteMetastore", "lock", *AFTER),
    "after its write ID": ("SqliteMetastore", "allocate_write_id", *AFTER),
    "after its job": ("executor", "publish"),
    "between two moves": ("LocalFiles", "place", 2),
    "before its commit": ("SqliteMetastore", "commit"),
}
NEVER: Final = 86_400.0
"""Seconds between heartbeats: none comes while a test runs."""
SOON: Final = 0.01
"""Seconds between heartbeats: one is the first thing that happens after a stop."""


@dataclass(frozen=True, slots=True)
class Stoppable:
    """A writer in a process of its own, on the JVM of the tests."""

    process: subprocess.Popen[str]
    place: Place

    def stopped(self, sql: str, point: tuple[object, ...], interval: float = NEVER) -> None:
        """Runs a statement up to a point."""
        assert self.process.stdin is not None
        where = (str(self.place.warehouse), f"sqlite:///{self.place.metastore}")
        self.process.stdin.write(json.dumps([*where, sql, point, interval]) + "\n")
        self.process.stdin.flush()
        deadline = time.monotonic() + PATIENCE
        while self._state() != "T":
            assert self.process.poll() is None
            assert time.monotonic() < deadline, "the writer did not come to the point"
            time.sleep(0.01)

    def timed_out(self) -> None:
        """As if it had been stopped for longer than the timeout: another process aborts its transactions."""
        assert abort_all(self.place) != []

    def continued(self) -> str:
        """What it says in the end."""
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def _state(self) -> str:
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def abort_all(place: Place) -> Sequence[TxnId]:
    """All open transactions, as if they had timed out."""
    with SqliteMetastore(place.metastore, str(place.warehouse), txn_timeout=-1.0) as store:
        return store.abort_timed_out()


@pytest.fixture(scope="module")
def process(spark: SparkSession) -> Iterator[subprocess.Popen[str]]:
    gateway: Any = spark.sparkContext._gateway
    java = gateway.java_parameters
    root = Path(__file__).parents[2]
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(java.port), java.auth_token],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    yield started
    started.kill()
    started.communicate()


@pytest.fixture
def writer(session: Session, process: subprocess.Popen[str], tmp_path: Path) -> Stoppable:
    return Stoppable(process, Place(tmp_path))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """It tells when tables are created: they are told apart by the second of that."""
    given = Clock()
    monkeypatch.setattr(table_changes, "time", given)
    return given


def make_table(session: Session, columns: str = "(id int, v int)") -> None:
    session.execute(f"CREATE TABLE t {columns} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    session.execute("INSERT INTO t VALUES (3, 3)")


def rows(session: Session) -> list[tuple[object, ...]]:
    return sorted(map(tuple, session.sql("SELECT * FROM t").collect()))


def test_a_stopped_writer_whose_transaction_timed_out_commits_nothing(session: Session, writer: Stoppable) -> None:
    make_table(session)
    expected = {1: 1, 2: 2, 3: 3}
    for number, (point, where) in enumerate(POINTS.items(), 1):
        for interval in (NEVER, SOON):
            writer.stopped("UPDATE t SET v = v + 10", where, interval)
            writer.timed_out()
            session.execute(f"UPDATE t SET v = {number} WHERE id = 1")  # its locks are gone; what it left is removed
            expected[1] = number
            told = writer.continued()
            assert told.startswith("TRANSACTION_ABORTED"), (point, told)
            assert rows(session) == sorted(expected.items()), point
    assert writer.place.staging() == []
    with SqliteMetastore(writer.place.metastore, str(writer.place.warehouse)) as store:
        aborted = {left.write_id for left in store.leftovers()}
        assert store.locks() == [] or not any(lock.component.operation.value == "u" for lock in store.locks())
    names = {path.split("/")[0] for path in visible_paths(writer.place.table)}
    assert aborted == set()
    # The two INSERTs, and two writes of this session at each point.
    assert len({name.split("_")[-2] for name in names}) == 2 + 2 * len(POINTS)


@pytest.mark.parametrize("point", ["after its job", "between two moves", "before its commit"])
def test_a_stopped_writer_leaves_alone_the_table_that_has_come_in_the_place_of_its_own(
    session: Session, writer: Stoppable, point: str, clock: Clock
) -> None:
    make_table(session)
    writer.stopped("UPDATE t SET v = v + 10", POINTS[point])
    writer.timed_out()
    session.execute("DROP TABLE t")
    clock.pass_by(1)
    make_table(session)
    session.execute("UPDATE t SET v = 7 WHERE id = 1")
    before = visible_paths(writer.place.table)
    assert not writer.continued().startswith("done")
    assert rows(session) == [(1, 7), (2, 2), (3, 3)]
    assert visible_paths(writer.place.table) == before


def test_a_stopped_create_table_as_leaves_alone_the_table_that_another_has_created(
    session: Session, writer: Stoppable
) -> None:
    create = "CREATE TABLE t STORED AS ORC TBLPROPERTIES ('transactional'='true') AS SELECT 0 AS x"
    writer.stopped(create, POINTS["after its job"])
    writer.timed_out()
    make_table(session)
    writer.continued()
    assert rows(session) == [(1, 1), (2, 2), (3, 3)]
    assert writer.place.staging() == []


def test_a_stopped_writer_of_a_plain_table_overwrites_nothing(session: Session, writer: Stoppable) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1)")
    writer.stopped("INSERT OVERWRITE TABLE t SELECT id + 10 FROM t", POINTS["after its locks"])
    writer.timed_out()
    session.execute("INSERT INTO t VALUES (2)")
    assert writer.continued().startswith("TRANSACTION_ABORTED")
    assert rows(session) == [(1,), (2,)]


def test_a_stopped_cleaner_leaves_alone_the_table_that_has_come_in_the_place_of_its_own(
    session: Session, writer: Stoppable
) -> None:
    make_table(session)
    writer.stopped("ALTER TABLE t COMPACT 'major' AND WAIT", ("cleaner", "as_of", 1, False))
    writer.timed_out()
    session.execute("DROP TABLE t")
    make_table(session)
    writer.continued()
    assert rows(session) == [(1, 1), (2, 2), (3, 3)]


def test_who_removes_what_the_dead_left_looks_again_whether_the_table_is_the_same(
    session: Session, writer: Stoppable, clock: Clock
) -> None:
    make_table(session)
    writer.stopped("UPDATE t SET v = v + 10", POINTS["before its commit"])
    writer.timed_out()
    writer.continued()
    with sqlite3.connect(writer.place.metastore) as db:  # as if it had been killed
        db.execute("UPDATE txns SET cleaned = 0")
    session.execute("CREATE TABLE other (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    writer.stopped("INSERT INTO other VALUES (1)", ("leftovers", "_directories"))
    session.execute("DROP TABLE t")
    clock.pass_by(1)
    make_table(session)
    session.execute("UPDATE t SET v = 7 WHERE id = 1")
    assert writer.continued().startswith("done")
    assert rows(session) == [(1, 7), (2, 2), (3, 3)]


def test_a_stopped_drop_table_drops_nothing_that_others_have_made_since(session: Session, writer: Stoppable) -> None:
    make_table(session)
    writer.stopped("DROP TABLE t", POINTS["after its locks"])
    writer.timed_out()
    session.execute("INSERT INTO t VALUES (4, 4)")
    assert writer.continued().startswith("TRANSACTION_ABORTED")
    assert len(rows(session)) == 4

    session.execute("CREATE TABLE e (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    writer.stopped("DROP TABLE e", ("SqliteMetastore", "drop_table", *AFTER))
    writer.timed_out()
    session.execute("CREATE TABLE e (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO e VALUES (1)")
    assert writer.continued().startswith("TRANSACTION_ABORTED")
    assert session.sql("SELECT * FROM e").count() == 1


def test_a_stopped_alter_table_does_not_undo_that_of_another(session: Session, writer: Stoppable) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    writer.stopped("ALTER TABLE t ADD COLUMNS (a int)", ("SqliteMetastore", "alter_table"))
    writer.timed_out()
    session.execute("ALTER TABLE t ADD COLUMNS (b int)")
    session.execute("INSERT INTO t VALUES (1, 2)")
    assert writer.continued().startswith("TABLE_CHANGED")
    assert session.sql("SELECT b FROM t").collect()[0][0] == 2


@pytest.mark.parametrize("kind", ["TBLPROPERTIES ('transactional'='true')", ""], ids=["transactional", "plain"])
def test_a_partition_that_is_written_again_keeps_its_rows_while_a_drop_is_slow(
    session: Session, writer: Stoppable, kind: str
) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) STORED AS ORC {kind}")
    session.execute("INSERT INTO t VALUES (1, 1)")
    writer.stopped("ALTER TABLE t DROP PARTITION (p = 1)", ("partition_changes", "_discard"))
    if not kind:  # it has its lock still
        writer.timed_out()
    session.execute("INSERT INTO t VALUES (2, 1)")
    ended = writer.continued()
    if kind:
        assert rows(session) == [(2, 1)]
    else:
        assert ended.startswith("TRANSACTION_ABORTED")
        assert rows(session) == [(1, 1), (2, 1)]


@pytest.mark.parametrize("query", ["SELECT * FROM t", "SELECT count(*) FROM t", "SELECT sum(v) FROM t WHERE id > 1"])
def test_a_reader_whose_transaction_timed_out_and_whose_files_are_gone_gets_an_error_or_its_rows(
    session: Session, open_session: Callable[[], Session], tmp_path: Path, query: str
) -> None:
    make_table(session)
    session.execute("DELETE FROM t WHERE id = 2")
    expected = sorted(map(tuple, session.sql(query).collect()))
    frame = session.sql(query)
    abort_all(Place(tmp_path))  # but for the count, for which nothing is read any more
    other = open_session()
    other.execute("UPDATE t SET v = v + 100")
    other.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert not list(Place(tmp_path).table.glob("delta_0000001_*")), "nothing was tested"
    try:
        found = sorted(map(tuple, frame.collect()))
    except AcidSqlError:
        return
    assert found == expected
