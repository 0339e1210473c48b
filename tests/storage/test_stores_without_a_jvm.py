"""Statements on a real store of S3's protocol without Spark and Java: rows, requests, and requests that fail."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

from acidsql.dbapi import Connection, connect
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.storage.stores.hdfs_files import HdfsFiles
from tests.interop.s3_proxy import Fault, Request, S3Proxy
from tests.interop.s3_server import s3a_settings

pytestmark = pytest.mark.timeout(300)

ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY: Final = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
_OF_HDFS: Final = [pytest.mark.hive, pytest.mark.nightly]
_LATENCY: Final = 0.05
_ONCE: Final = {"fs.s3a.attempts.maximum": "1", "fs.s3a.retry.limit": "0"}
"""A request that fails is not sent again."""


def connection_to(store: S3Proxy, directory: str, metastore: Path, **more: str) -> Connection:
    settings = {**s3a_settings(store.port), **more}
    conf = {f"spark.hadoop.{key}": value for key, value in settings.items()}
    return connect(f"s3a://{store.bucket}/{directory}", f"sqlite:///{metastore}", conf=conf)


@pytest.fixture
def directory(s3: S3Proxy) -> Iterator[str]:
    """A directory of the bucket that no other test uses."""
    s3.begin()
    yield uuid.uuid4().hex
    s3.begin()
    s3.latency = 0


@pytest.fixture
def connection(s3: S3Proxy, directory: str, tmp_path: Path) -> Iterator[Connection]:
    with connection_to(s3, directory, tmp_path / "metastore.db") as opened:
        yield opened
        assert not opened.session._engine.is_running, "a statement has started Spark"


@pytest.fixture(params=["s3", *(pytest.param(name, marks=_OF_HDFS) for name in ("hdfs", "viewfs"))])
def on_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A connection to a warehouse in each kind of store."""
    if request.param == "s3":
        yield request.getfixturevalue("connection")
        return
    warehouse = f"{request.getfixturevalue('hdfs').uri}/{uuid.uuid4().hex}"
    conf = {"spark.hadoop.dfs.replication": "1"}
    if request.param == "viewfs":
        conf["spark.hadoop.fs.viewfs.mounttable.clusters.linkFallback"] = warehouse
        warehouse = "viewfs://clusters/warehouse"
    with connect(warehouse, f"sqlite:///{tmp_path}/metastore.db", conf=conf) as opened:
        yield opened
        assert not opened.session._engine.is_running, "a statement has started Spark"


def rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    cursor = connection.cursor()
    cursor.execute(query)
    return sorted(cursor.fetchall(), key=repr)


def run(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.cursor().execute(statement)


def keys(session: Session) -> list[str]:
    """The files of the warehouse, relative to it; hidden ones too."""
    warehouse = str(session.warehouse)
    store = session._files.of(warehouse)
    if isinstance(store, HdfsFiles):
        found = store._client.list_status(store._name(warehouse), recursive=True)
        return sorted(f"{store._root}{entry.path}".removeprefix(warehouse) for entry in found if not entry.isdir)
    return sorted(store._path(meta["path"]).removeprefix(warehouse) for meta in store._objects(store._key(warehouse)))  # type: ignore[attr-defined]


@pytest.mark.ci
def test_a_table_is_made_changed_compacted_and_dropped(on_store: Connection) -> None:
    run(
        on_store,
        f"CREATE TABLE t (k int, v string) PARTITIONED BY (p string) {ACID}",
        "INSERT INTO t VALUES (1, 'a', 'x:y%'), (2, 'b', 'x:y%'), (3, 'c', 'ü =#?'), (4, 'd', NULL)",
        "UPDATE t SET v = 'new' WHERE k IN (2, 3)",
        "DELETE FROM t WHERE k = 1",
    )
    expected = [(2, "new", "x:y%"), (3, "new", "ü =#?"), (4, "d", "__HIVE_DEFAULT_PARTITION__")]
    assert rows(on_store, "SELECT k, v, p FROM t") == expected
    ids = rows(on_store, "SELECT row__id, k FROM t")
    run(on_store, "ALTER TABLE t PARTITION (p = 'x:y%') COMPACT 'major' AND WAIT")
    assert rows(on_store, "SELECT row__id, k FROM t") == ids
    assert not [key for key in keys(on_store.session) if ".acidsql" in key or "x%3Ay%25/delta" in key]
    run(on_store, "ALTER TABLE t PARTITION (p = 'x:y%') RENAME TO PARTITION (p = 'z')", "ALTER TABLE t RENAME TO u")
    assert rows(on_store, "SELECT k, v, p FROM u") == [(2, "new", "z"), *expected[1:]]
    run(on_store, "TRUNCATE TABLE u")
    assert rows(on_store, "SELECT k FROM u") == []
    run(on_store, "DROP TABLE u")
    assert keys(on_store.session) == []


def test_rows_are_streamed_into_tables(on_store: Connection) -> None:
    run(
        on_store,
        f"CREATE TABLE t (k int, v string) {ACID}",
        f"CREATE TABLE i (k int) STORED AS PARQUET {INSERT_ONLY}",
    )
    with on_store.session.stream("t", commit_rows=40) as stream:
        stream.write([{"k": k, "v": f"v{k}"} for k in range(100)])
    with on_store.session.stream("i", commit_rows=None) as stream:
        stream.write([{"k": k} for k in range(10)])
        stream.write([{"k": k} for k in range(10, 20)])
    run(on_store, "DELETE FROM t WHERE k >= 2")
    assert rows(on_store, "SELECT k, v FROM t") == [(0, "v0"), (1, "v1")]
    assert len(rows(on_store, "SELECT k FROM i")) == 20


@pytest.mark.ci
def test_statements_send_few_requests_and_few_of_them_one_behind_the_other(connection: Connection, s3: S3Proxy) -> None:
    """Of each statement: all requests, and the longest chain of requests that wait for each other."""
    run(connection, f"CREATE TABLE t (k int, v string) {ACID}")
    s3.latency = _LATENCY
    counts: dict[str, tuple[int, int]] = {}

    def counted(name: str, statement: str) -> None:
        s3.begin()
        (rows if statement.startswith("SELECT") else run)(connection, statement)
        counts[name] = len(s3.requests), s3.longest_chain()

    for name in ("first INSERT", "INSERT"):
        counted(name, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    counted("INSERT of a third file", "INSERT INTO t VALUES (4, 'd')")
    counted("first scan", "SELECT k FROM t")
    counted("scan", "SELECT k, v FROM t")
    counted("UPDATE", "UPDATE t SET v = 'x' WHERE k = 4")
    counted("DELETE", "DELETE FROM t WHERE k = 4")
    counted("scan after them", "SELECT k, v FROM t")
    assert counts == {
        "first INSERT": (3, 2),  # what lies beside the delta, then its files
        "INSERT": (3, 2),
        "INSERT of a third file": (3, 2),
        "first scan": (4, 2),  # a listing, then each file
        "scan": (1, 1),  # the content of small files is kept
        "UPDATE": (6, 3),  # a listing, what lies beside the deltas, then the files of both
        "DELETE": (6, 4),  # the files of the UPDATE are read
        "scan after them": (2, 2),  # a listing, then the file of the DELETE
    }


@pytest.mark.ci
def test_the_wanted_columns_of_large_files_are_fetched_together(connection: Connection, s3: S3Proxy) -> None:
    """A listing, then the columns of all files at once: the ends of the files are known."""
    run(connection, f"CREATE TABLE t (k bigint, v string, w string, x string, y string) {ACID}")
    count = 60_000
    rng = random.Random(1)
    for first in (0, count):
        texts = [f"{rng.random()}" for _ in range(count)]
        frame = pa.table({"k": range(first, first + count), "v": texts, "w": texts[::-1], "x": texts, "y": texts})
        connection.session.insert("t", frame)
    assert connection.session.read_arrow("t", ["k"]).read_all().num_rows == 2 * count
    s3.latency = _LATENCY
    s3.begin()
    found = connection.session.read_arrow("t", ["k"]).read_all()
    assert sorted(found.column("k").to_pylist()) == list(range(2 * count))
    sent = [request for request in s3.requests if request.path.endswith("bucket_00000")]
    assert (len(sent), s3.longest_chain()) == (2, 2)
    s3.begin()
    point = connection.session.read_arrow("t", ["v"], f"k = {count + 7}").read_all()
    assert point.num_rows == 1
    assert len(s3.requests) == 3, "a listing, and of one file a column, and another one"


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.LOST_REQUEST, Fault.LOST_ANSWER, Fault.SLOW])
def test_requests_that_fail_once_are_sent_again(connection: Connection, s3: S3Proxy, fault: Fault) -> None:
    run(connection, f"CREATE TABLE t (k int, v string) {ACID}")

    def every_third(request: Request) -> Fault | None:
        return fault if request.number % 3 == 0 else None

    s3.begin(every_third)
    run(connection, "INSERT INTO t VALUES (1, 'a'), (2, 'b')", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    run(connection, "UPDATE t SET v = 'x' WHERE k = 1", "DELETE FROM t WHERE k = 2")
    assert rows(connection, "SELECT k, v FROM t") == [(1, "x"), (1, "x")]
    run(connection, "ALTER TABLE t COMPACT 'major' AND WAIT")
    s3.begin()
    assert rows(connection, "SELECT k, v FROM t") == [(1, "x"), (1, "x")]


_CHANGES: Final = {
    "INSERT INTO t VALUES (3, 'c')": [(1, "a"), (2, "b"), (3, "c")],
    "UPDATE t SET v = 'x' WHERE k = 1": [(1, "x"), (2, "b")],
    "DELETE FROM t WHERE k = 1": [(2, "b")],
    "INSERT OVERWRITE TABLE t VALUES (9, 'z')": [(9, "z")],
    "TRUNCATE TABLE t": [],
}


@pytest.mark.parametrize("statement", _CHANGES)
@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_ANSWER])
def test_a_store_that_fails_at_any_request_leaves_the_rows_before_or_behind_the_statement(
    s3: S3Proxy, directory: str, tmp_path: Path, statement: str, fault: Fault
) -> None:
    before = [(1, "a"), (2, "b")]
    point = failed = 0
    while True:
        point += 1
        metastore = tmp_path / f"metastore{point}.db"
        with connection_to(s3, f"{directory}/{point}", metastore, **_ONCE) as broken:
            run(broken, f"CREATE TABLE t (k int, v string) {ACID}", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
            s3.begin(lambda request, at=point: fault if request.number >= at else None)  # type: ignore[misc]
            try:
                run(broken, statement)
                is_done = True
            except AcidSqlError:
                is_done, failed = False, failed + 1
            sent = len(s3.requests)
            s3.begin()
        with connection_to(s3, f"{directory}/{point}", metastore) as mended:
            assert rows(mended, "SELECT k, v FROM t") == (_CHANGES[statement] if is_done else before)
            run(mended, "INSERT INTO t VALUES (7, 'g')", "ALTER TABLE t COMPACT 'major' AND WAIT")
            assert len(rows(mended, "SELECT k, v FROM t")) == len(_CHANGES[statement] if is_done else before) + 1
        if sent < point:
            break
    assert failed


_CHILD: Final = """
import ast, sys
from acidsql.dbapi import connect
with connect(sys.argv[1], sys.argv[2], conf=ast.literal_eval(sys.argv[3])) as connection:
    connection.cursor().execute(sys.argv[4])
"""


@pytest.mark.nightly
@pytest.mark.parametrize("statement", ["UPDATE t SET v = 'x' WHERE k = 1", "INSERT OVERWRITE TABLE t VALUES (9, 'z')"])
def test_a_process_that_is_killed_at_any_request_changes_nothing(
    s3: S3Proxy, directory: str, tmp_path: Path, statement: str
) -> None:
    conf = {f"spark.hadoop.{key}": value for key, value in s3a_settings(s3.port).items()}
    killed = 0
    while True:
        warehouse = f"{directory}/{killed}"
        metastore = tmp_path / f"metastore{killed}.db"
        with connection_to(s3, warehouse, metastore) as connection:
            run(connection, f"CREATE TABLE t (k int, v string) {ACID}", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
            child: list[subprocess.Popen[bytes]] = []

            def kill(request: Request, at: int = killed + 1, child: list[subprocess.Popen[bytes]] = child) -> None:
                if request.number == at:
                    child[0].kill()

            s3.begin(kill)
            arguments = [f"s3a://{s3.bucket}/{warehouse}", f"sqlite:///{metastore}", repr(conf), statement]
            child.append(subprocess.Popen([sys.executable, "-c", _CHILD, *arguments]))
            if child[0].wait(timeout=120) == 0:
                break
            s3.begin()
            killed += 1
            assert rows(connection, "SELECT k, v FROM t") == [(1, "a"), (2, "b")]
            own = connection.session.execute("UPDATE t SET v = 'later' WHERE k = 2").write_ids
            assert rows(connection, "SELECT k, v FROM t") == [(1, "a"), (2, "later")]
            found = {int(key.split("/")[2].split("_")[-2]) for key in keys(connection.session) if "delta_" in key}
            assert found == {1, own["default.t"]}, "the files of the killed process are removed"
            assert not [key for key in keys(connection.session) if "base_" in key or ".acidsql" in key]
    assert killed > 2


def test_the_commands_need_no_java(s3: S3Proxy, directory: str, tmp_path: Path) -> None:
    place = ["--warehouse", f"s3a://{s3.bucket}/{directory}", "--metastore", f"sqlite:///{tmp_path}/metastore.db"]
    for key, value in s3a_settings(s3.port).items():
        place += ["--conf", f"spark.hadoop.{key}={value}"]

    def command(name: str, *arguments: str, text: str = "") -> str:
        environment = {**os.environ, "JAVA_HOME": "/nonexistent"}
        every = [sys.executable, "-m", "acidsql", name, *place, *arguments]
        done = subprocess.run(every, input=text, capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    command("shell", "-e", f"CREATE TABLE t (k int, v string) {ACID}")
    command("ingest", "t", "--id", "lines", text='{"k": 1, "v": "a"}\n{"k": 2, "v": "b"}\n')
    command("shell", "-e", "UPDATE t SET v = 'x' WHERE k = 1; ALTER TABLE t COMPACT 'major'")
    command("compactor", "--once")
    assert "base_0000011_v" in command("inspect", "t", "--files")
    assert command("shell", "--no-header", "-e", "SELECT k, v FROM t WHERE k = 1") == "1\tx\n"
