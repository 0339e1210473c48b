"""A name node that restarts, or goes away, in the middle of statements: each changes all or nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.statements.settings import OWN_CLIENTS
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.stores.hdfs_files import HdfsFiles
from tests.answers import rows
from tests.interop.hdfs_process import Hdfs, hadoop_settings

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]

ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
CALLS: Final = ("append", "delete", "make_directories", "make_new_directory", "place", "rename", "write")
"""What changes the file system."""
STORY: Final = (
    ("INSERT INTO t SELECT CAST(id AS int), 'x' FROM range(10, 12)", [1, 2, 3, 10, 11]),
    ("UPDATE t SET v = 'u' WHERE k = 2", [1, 2, 3, 10, 11]),
    ("DELETE FROM t WHERE k = 3", [1, 2, 10, 11]),
    (
        "MERGE INTO t USING (VALUES (1, 'm'), (12, 'n')) s(k, w) ON t.k = s.k"
        " WHEN MATCHED THEN UPDATE SET v = s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w)",
        [1, 2, 10, 11, 12],
    ),
)
"""Statements, and the keys behind each."""
BY_DRIVER: Final = 64 << 20
BY_TASKS: Final = 0
GIVE_UP: Final = [(False, "false"), (False, "true")]
"""Whether the client waits for a name node, and whether it is acidsql's own."""


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """One of its own, because the tests stop its name node."""
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture
def session(hdfs: Hdfs, spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    """On tables in HDFS, with a client that gives up in seconds, or waits for a name node.

    The two are different names of the name node, because Hadoop keeps one client for a name.
    """
    waits, client = request.param
    host = "localhost" if waits else "127.0.0.1"
    settings = {
        "ipc.client.connect.max.retries": "2",
        "ipc.client.connect.retry.interval": "200",
        "dfs.client.retry.policy.enabled": str(waits).lower(),
        "dfs.client.retry.policy.spec": "500,120",
        "dfs.client.failover.max.attempts": "1",
    }
    home = f"{hdfs.uri.replace('127.0.0.1', host)}/{tmp_path.name}"
    with (
        hadoop_settings(spark, settings),
        connect(home, f"sqlite:///{tmp_path}/metastore.db", spark, settings={OWN_CLIENTS: client}) as opened,
    ):
        opened.execute(f"CREATE TABLE t (k int, v string) {ACID}")
        opened.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        yield opened


class Calls:
    """Counts the calls of the driver that change the file system, and does something before one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._at: int | None = None
        self._do: Callable[[], None] = lambda: None
        for name in CALLS:
            for files in (HadoopFiles, HdfsFiles):
                monkeypatch.setattr(files, name, self._counted(getattr(files, name)))

    def begin(self, at: int | None = None, do: Callable[[], None] = lambda: None) -> None:
        self.count, self._at, self._do = 0, at, do

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.count += 1
            if self.count == self._at:
                self._do()
            return method(*arguments)

        return call


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


def calls_of(session: Session, calls: Calls, statement: str) -> int:
    """How many calls a statement makes before its commit."""
    session.execute("START TRANSACTION")
    calls.begin()
    session.execute(statement)
    count = calls.count
    session.execute("ROLLBACK")
    return count


def keys(session: Session) -> list[object]:
    return [row[0] for row in rows(session, "SELECT k FROM t ORDER BY k")]


def staged(session: Session) -> list[str]:
    files = hadoop_files(session.spark).list_below(str(session.warehouse)).files
    return [file.path for file in files if ".acidsql" in file.path]


@pytest.mark.parametrize("session", [(True, "false")], indirect=True, ids=["waits"])
@pytest.mark.parametrize("driver_bytes", [BY_DRIVER, BY_TASKS])
def test_statements_wait_for_a_name_node_that_restarts(
    session: Session, hdfs: Hdfs, calls: Calls, driver_bytes: int
) -> None:
    session.execute(f"SET acidsql.driver.write.max.bytes={driver_bytes}")
    for number, (statement, expected) in enumerate(STORY):
        restart = threading.Thread(target=hdfs.start_name_node)

        def stop(restart: threading.Thread = restart) -> None:
            hdfs.stop_name_node()
            restart.start()

        count = calls_of(session, calls, statement)
        calls.begin(1 + number % count, stop)
        session.execute(statement)
        restart.join()
        assert keys(session) == expected
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT k, v FROM t ORDER BY k") == [(1, "m"), (2, "u"), (10, "x"), (11, "x"), (12, "n")]
    assert not staged(session)


@pytest.mark.parametrize("session", GIVE_UP, indirect=True, ids=["Hadoop's client", "own client"])
@pytest.mark.parametrize("driver_bytes", [BY_DRIVER, BY_TASKS])
def test_a_name_node_that_goes_away_in_the_middle_of_a_statement_loses_and_doubles_nothing(
    session: Session, hdfs: Hdfs, calls: Calls, driver_bytes: int
) -> None:
    """The name node ends at some call of each statement, and is back when the statement has failed. Files that could
    not be removed are removed later."""
    session.execute(f"SET acidsql.driver.write.max.bytes={driver_bytes}")
    for number, (statement, expected) in enumerate(STORY):
        count = calls_of(session, calls, statement)
        before = rows(session, "SELECT row__id, * FROM t ORDER BY k")
        for at in (1, count):
            calls.begin(at, hdfs.stop_name_node)
            with pytest.raises(AcidSqlError):
                session.execute(statement)
            calls.begin()
            hdfs.start_name_node()
            assert rows(session, "SELECT row__id, * FROM t ORDER BY k") == before, (number, at)
        session.execute(statement)
        assert keys(session) == expected
    session.execute("INSERT INTO t VALUES (13, 'y')")  # removes what the failed ones have left
    assert not staged(session)


@pytest.mark.parametrize("session", GIVE_UP, indirect=True, ids=["Hadoop's client", "own client"])
def test_a_query_whose_name_node_goes_away_is_one_error(session: Session, hdfs: Hdfs) -> None:
    hdfs.stop_name_node()
    try:
        with pytest.raises(AcidSqlError) as failed:
            keys(session)
        assert failed.value.condition == "STORAGE_FAILED"
    finally:
        hdfs.start_name_node()
    assert keys(session) == [1, 2, 3]
