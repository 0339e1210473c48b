"""Tables in a real store of S3's protocol: all kinds of statements, the number of requests, and requests that fail."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.data_files import File
from acidsql.errors import AcidSqlError
from acidsql.planner import write_strategy
from acidsql.planner.plan import DRIVER_BYTES
from acidsql.session import Session, connect
from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.statements.settings import OWN_CLIENTS
from acidsql.storage import s3_multipart
from acidsql.storage.file_identity import change_of, sized
from acidsql.storage.file_systems import Extent, NewEnd, listing_of
from tests.answers import rows
from tests.cluster.standalone_cluster import kill_process_tree
from tests.dml import test_histories
from tests.interop.hdfs_process import hadoop_settings
from tests.interop.s3_proxy import Fault, Request, S3Proxy
from tests.interop.s3_server import S3Server, s3a_jars, s3a_settings, use_s3
from tests.support.hive_metadata import assert_as_hive_writes_it, user_metadata

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_RETRIES: Final = {
    "fs.s3a.attempts.maximum": "2",
    "fs.s3a.retry.limit": "2",
    "fs.s3a.retry.interval": "20ms",
    "fs.s3a.retry.throttle.limit": "2",
    "fs.s3a.retry.throttle.interval": "20ms",
    "fs.s3a.connection.timeout": "60s",
}
"""A store that fails for good is to be noticed soon."""


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Proxy]:
    """The store, behind a proxy."""
    with (
        S3Server(tmp_path_factory.mktemp("s3")) as server,
        S3Proxy(server.port, server.bucket) as proxy,
        hadoop_settings(spark, _RETRIES),
    ):
        use_s3(spark, proxy.port)
        yield proxy


@pytest.fixture(params=["own client", "Hadoop's client"])
def client(request: pytest.FixtureRequest) -> str:
    """What reads and writes the store: obstore in this process, or Hadoop's client in the JVM."""
    return str(request.param)


@pytest.fixture
def session(store: S3Proxy, spark: SparkSession, client: str, tmp_path: Path) -> Iterator[Session]:
    """A session whose warehouse is a directory of its own in the bucket."""
    store.begin()
    warehouse = f"s3a://{store.bucket}/{re.sub('[^a-z0-9_]', '', tmp_path.name)}"
    settings = {OWN_CLIENTS: str(client == "own client").lower()}
    metastore = f"sqlite:///{tmp_path}/metastore.db"
    with connect(warehouse, metastore=metastore, spark=spark, settings=settings) as opened:
        yield opened
        store.begin()


def keys(session: Session, table: str = "t") -> list[str]:
    """The files of a table, hidden ones too."""
    root = session.catalog.table("default", table).location
    return sorted(str(status.getPath().toString()).removeprefix(root) for status in _below(session, root))


def _below(session: Session, root: str) -> Iterator[Any]:
    files = hadoop_files(session.spark)
    found = files._fs(root).listFiles(files._path(root), True)
    while found.hasNext():
        yield found.next()


PATHS: Final = {
    "by the driver": (64 << 20, write_strategy.MUCH),
    "by tasks": (0, write_strategy.MUCH),
    "in each task": (0, 0),
}
"""The settings with which statements are written in different ways."""


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.soak) if path == "by tasks" else path for path in PATHS]
)
def test_every_kind_of_statement_leaves_the_rows_and_the_files_that_it_must(
    session: Session, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver_bytes, much = PATHS[path]
    monkeypatch.setattr(write_strategy, "MUCH", much)
    location = f"{session.warehouse}/t"
    assert hadoop_files(session.spark).new_end(location) is NewEnd.IN_A_COPY
    session.execute(f"SET {DRIVER_BYTES}={driver_bytes}")
    session.execute(
        f"CREATE TABLE t (k int, v string, at timestamp with local time zone) PARTITIONED BY (p string) {_ACID}"
    )
    session.execute(
        "INSERT INTO t SELECT CAST(id AS int), concat('v', id), timestamp '2024-02-29 12:00:00.5 UTC',"
        " IF(id % 3 = 0, 'a/b', 'c') FROM range(0, 3000, 1, 2)"
    )
    session.execute("INSERT INTO t VALUES (-1, 'little', NULL, 'c')")
    session.execute("UPDATE t SET v = concat('new ', k) WHERE k % 7 = 0")
    session.execute("DELETE FROM t WHERE k % 5 = 0")
    session.execute(
        "MERGE INTO t USING (VALUES (-1, 'merged'), (-2, 'more')) s(k, w) ON t.k = s.k"
        " WHEN MATCHED THEN UPDATE SET v = s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w, NULL, 'c')"
    )
    expected: list[tuple[Any, ...]] = [
        (k, f"new {k}" if k % 7 == 0 else f"v{k}", 1709208000.5) for k in range(3000) if k % 5
    ]
    expected = [(-2, "more", None), (-1, "merged", None), *expected]
    assert rows(session, "SELECT k, v, CAST(at AS double) FROM t ORDER BY k") == expected
    for name, metadata in user_metadata(session.spark, location).items():
        assert_as_hive_writes_it(metadata, is_delete="delete_delta" in name)
    row_ids = rows(session, "SELECT row__id, * FROM t ORDER BY k")
    session.execute("ALTER TABLE t PARTITION (p = 'c') COMPACT 'minor' AND WAIT")
    session.execute("ALTER TABLE t PARTITION (p = 'a/b') COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT row__id, * FROM t ORDER BY k") == row_ids
    for name, metadata in user_metadata(session.spark, location).items():
        assert_as_hive_writes_it(metadata, is_delete="delete_delta" in name)
    session.execute("INSERT OVERWRITE TABLE t PARTITION (p = 'c') SELECT k + 10000, v, at FROM t WHERE k < 0")
    session.execute("ALTER TABLE t PARTITION (p = 'c') RENAME TO PARTITION (p = 'd')")
    session.execute("ALTER TABLE t RENAME TO moved")
    assert rows(session, "SELECT k, v FROM moved WHERE p = 'd' ORDER BY k") == [(9998, "more"), (9999, "merged")]
    assert not [key for key in keys(session, "moved") if ".acidsql" in key]
    session.execute("TRUNCATE TABLE moved")
    assert rows(session, "SELECT count(*) FROM moved") == [(0,)]
    session.execute("DROP TABLE moved")
    assert not hadoop_files(session.spark).list_below(str(session.warehouse)).files


@pytest.mark.parametrize(
    "file_format", ["ORC", *(pytest.param(name, marks=pytest.mark.soak) for name in ("PARQUET", "TEXTFILE"))]
)
def test_insert_only_and_plain_tables_are_written_and_compacted(
    session: Session, file_format: str, tmp_path: Path
) -> None:
    insert_only = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    session.execute(f"CREATE TABLE t (k int, d date) STORED AS {file_format} {insert_only}")
    session.execute("INSERT INTO t VALUES (1, date '2024-02-29')")
    session.execute("INSERT INTO t VALUES (2, date '0001-01-01')")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT k, CAST(d AS string) FROM t ORDER BY k") == [(1, "2024-02-29"), (2, "0001-01-01")]
    session.execute(f"CREATE TABLE plain (k int) STORED AS {file_format}")
    session.execute("INSERT INTO plain VALUES (1)")
    session.execute("INSERT INTO plain VALUES (2)")
    assert rows(session, "SELECT k FROM plain ORDER BY k") == [(1,), (2,)]
    session.execute("INSERT OVERWRITE TABLE plain VALUES (3)")
    assert rows(session, "SELECT k FROM plain ORDER BY k") == [(3,)]
    session.execute("TRUNCATE TABLE t")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT k FROM t") == []


@pytest.mark.parametrize(
    ("path", "seed"), [("chosen", 0), *(pytest.param(path, 5, marks=pytest.mark.soak) for path in test_histories.PATHS)]
)
def test_a_random_history_leaves_the_rows_of_the_model(session: Session, path: str, seed: int) -> None:
    test_histories.run_history(session, seed, 6, path)


def test_equal_inserts_into_a_plain_table_are_all_kept(session: Session) -> None:
    """They write equal files: a store that refuses the second one has not done it before."""
    session.execute("CREATE TABLE t (at timestamp with local time zone) STORED AS ORC")
    for _ in range(3):
        session.execute("INSERT INTO t VALUES (timestamp '2024-02-29 12:00:00 UTC')")
    assert rows(session, "SELECT count(*) FROM t") == [(3,)]


def test_rows_are_streamed_into_a_table(session: Session) -> None:
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    with session.stream("t", commit_rows=None) as stream:
        stream.write([{"k": k, "v": f"v{k}"} for k in range(100)])
    session.execute("DELETE FROM t WHERE k >= 2")
    assert rows(session, "SELECT k, v FROM t ORDER BY k") == [(0, "v0"), (1, "v1")]


def test_a_statement_that_fails_leaves_nothing(session: Session) -> None:
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    before = keys(session)
    session.execute(f"SET {DRIVER_BYTES}=0")
    with pytest.raises(AcidSqlError, match="CARDINALITY_VIOLATION"):
        session.execute(
            "MERGE INTO t USING (VALUES (1), (1)) s(x) ON t.k = s.x WHEN MATCHED THEN UPDATE SET v = 'm'"
            " WHEN NOT MATCHED THEN INSERT VALUES (s.x, 'n')"
        )
    with pytest.raises(AcidSqlError):
        session.execute("INSERT INTO t SELECT IF(id = 4999, CAST(raise_error('no') AS int), id), 'x' FROM range(5000)")
    assert keys(session) == before
    assert rows(session, "SELECT * FROM t ORDER BY k") == [(1, "a"), (2, "b")]


# ------------------------------------------------------------------------------------------------ requests


def requests_of(session: Session, store: S3Proxy, statement: str) -> int:
    store.begin()
    session.execute(statement)
    return len(store.requests)


def test_the_requests_of_a_statement_grow_with_the_files_that_it_writes_and_reads_only(
    session: Session, store: S3Proxy, client: str
) -> None:
    """An INSERT of a row takes three whatever the table holds: what lies beside the delta, and its two files. Of
    Hadoop's client, the first one asks two more times whether the empty directory is there. An UPDATE reads what is in
    a file once, because footers are kept."""
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    assert requests_of(session, store, "INSERT INTO t VALUES (0, 'a')") == (3 if client == "own client" else 5)
    first = requests_of(session, store, "INSERT INTO t VALUES (0, 'a')")
    assert first == 3
    for k in range(1, 8):
        assert requests_of(session, store, f"INSERT INTO t VALUES ({k}, 'a')") == first
    requests_of(session, store, "UPDATE t SET v = 'b' WHERE k = 0")
    few = requests_of(session, store, "UPDATE t SET v = 'b' WHERE k = 1")
    for k in range(8, 24):
        session.execute(f"INSERT INTO t VALUES ({k}, 'a')")
    requests_of(session, store, "UPDATE t SET v = 'b' WHERE k = 2")
    many = requests_of(session, store, "UPDATE t SET v = 'b' WHERE k = 3")
    assert many <= few + 4, list(store.requests)  # the footers of the last UPDATE's files, and its delete events


def test_a_listing_takes_a_request_for_all_directories(session: Session, store: S3Proxy) -> None:
    session.execute(f"CREATE TABLE t (k int) PARTITIONED BY (p int) {_ACID}")
    session.execute("INSERT INTO t SELECT id, id FROM range(10)")
    files, root = hadoop_files(session.spark), session.catalog.table("default", "t").location
    store.begin()
    listing = files.list_below(root)
    assert len(store.requests) == 2
    assert {f"p={p}" for p in range(10)} == {d for d in listing.directories if "/" not in d}
    assert len([f for f in listing.files if f.path.endswith("/bucket_00000")]) == 10


def test_a_listing_has_what_one_of_each_directory_has(session: Session) -> None:
    files, root = hadoop_files(session.spark), f"{session.warehouse}/listed"
    for path in ("x", "a/b/c", "a/d", "a b/p=%3A/f", ".h/x", "p=1/.staged_1/y/z", "p=1/_tmp/x", "p=1/delta/bucket_0"):
        files.write(f"{root}/{path}", b"content")
    found: list[File] = []
    directories: list[str] = []
    files._walk(files._path(root), "", found, directories)
    walked, listed = listing_of(found, directories), files.list_below(root)
    assert {f.path for f in listed.files} == {f.path for f in walked.files}
    assert set(listed.directories) == set(walked.directories)
    assert set(listed.hidden) == set(walked.hidden) == {".h", "p=1/.staged_1", "p=1/_tmp"}
    assert files.list_below(f"{root}/missing") == listing_of((), ())
    assert [f.path for f in files.list_below(f"{root}/a").files] == ["b/c", "d"]
    assert [f.path for f in files.list_below(f"{root}/p=1/delta").files] == ["bucket_0"]


def test_a_file_is_known_by_its_entity_tag(session: Session) -> None:
    files, root = hadoop_files(session.spark), f"{session.warehouse}/tagged"
    files.write(f"{root}/f", b"one")
    (found,) = files.list_below(root).files
    assert found.identity
    file = sized(f"{root}/f", found)
    assert change_of(files, file) is None
    files.write(f"{root}/f", b"two")
    assert change_of(files, file) == "replaced"
    files.delete(f"{root}/f")
    assert change_of(files, file) == "removed"


def test_readers_of_files_that_were_replaced_say_so(session: Session, client: str) -> None:
    session.execute(f"CREATE TABLE t (k int) PARTITIONED BY (p int) {_ACID}")
    for p in range(2):
        session.execute(f"INSERT INTO t PARTITION (p={p}) VALUES ({10 + p})")
    reader = session.read_arrow("t")
    with session.transaction():
        frame = session.sql("SELECT * FROM t")  # its locks end with the transaction
    assert reader.read_next_batch().to_pylist() == [{"k": 10, "p": 0}]
    files, root = hadoop_files(session.spark), session.catalog.table("default", "t").location
    (path,) = (key for key in keys(session) if "/p=1/" in key and key.endswith("bucket_00000"))
    files.write(f"{root}{path}", files.read(f"{root}{path}")[:-1] + b"x")
    if client == "own client":  # the file was read whole with its footer
        assert reader.read_next_batch().to_pylist() == [{"k": 11, "p": 1}]
    else:
        with pytest.raises(AcidSqlError, match="FILE_REPLACED"):
            reader.read_next_batch()
    with pytest.raises(AcidSqlError, match="FILE_REPLACED"):
        frame.collect()


# ------------------------------------------------------------------------------------------------ objects of parts


def test_the_store_copies_the_parts_of_a_large_file(
    session: Session, store: S3Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = hadoop_files(session.spark)
    content = bytes(range(256)) * (12 << 12)  # 12 MiB
    source, target = f"{session.warehouse}/source", f"{session.warehouse}/target"
    files.write(source, content)
    monkeypatch.setattr(s3_multipart.parts, "__defaults__", (s3_multipart.LEAST_PART, 11 << 20))
    store.begin()
    assert files.place_pieces((Extent(source, 0, len(content) - 7), b"another end"), target)
    copied = [r for r in store.requests if "partNumber=" in r.path]
    assert len(copied) == 3  # two parts that the store copies, and the end
    assert not [r for r in store.requests if r.method == "GET" and "/source" in r.path]
    assert files.read(target) == content[:-7] + b"another end"
    assert not files.place_pieces((Extent(source, 0, len(content)), b"x"), target), "it exists"
    assert files.read(target) == content[:-7] + b"another end"
    assert files.place_pieces((b"head", Extent(source, 5, len(content) - 5), b"end"), f"{target}2")
    assert files.read(f"{target}2") == b"head" + content[5:] + b"end"
    assert not files.place_pieces((b"small",), target)


# ------------------------------------------------------------------------------------------------ faults


def story(session: Session) -> list[Callable[[], object]]:
    """Statements of each kind, for the table t (k, v) with the rows of `before`."""
    statements = (
        "INSERT INTO t VALUES (10, 'x')",
        "UPDATE t SET v = 'u' WHERE k = 2",
        "DELETE FROM t WHERE k = 3",
        "MERGE INTO t USING (VALUES (1, 'm'), (11, 'n')) s(k, w) ON t.k = s.k"
        " WHEN MATCHED THEN UPDATE SET v = s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w)",
    )
    return [lambda statement=statement: session.execute(statement) for statement in statements]  # type: ignore[misc]


AFTER: Final = ([1, 2, 3, 10], [1, 2, 3, 10], [1, 2, 10], [1, 2, 10, 11])


@pytest.mark.parametrize(
    ("fault", "driver_bytes"),
    [
        (Fault.LOST_ANSWER, 64 << 20),
        (Fault.BUSY, 64 << 20),
        pytest.param(Fault.LOST_ANSWER, 0, marks=pytest.mark.soak),
        (Fault.SLOW, 64 << 20),
        pytest.param(Fault.SLOW, 0, marks=pytest.mark.soak),
        pytest.param(Fault.BUSY, 0, marks=pytest.mark.soak),
        pytest.param(Fault.LOST_REQUEST, 64 << 20, marks=pytest.mark.soak),
        pytest.param(Fault.LOST_REQUEST, 0, marks=pytest.mark.soak),
    ],
)
def test_requests_that_fail_now_and_then_are_sent_again(
    session: Session, store: S3Proxy, fault: Fault, driver_bytes: int
) -> None:
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.execute(f"SET {DRIVER_BYTES}={driver_bytes}")
    for statement, expected in zip(story(session), AFTER, strict=True):
        store.begin(lambda request: fault if request.number % 3 == 0 else None)
        statement()
        store.begin()
        assert [row[0] for row in rows(session, "SELECT k FROM t ORDER BY k")] == expected
    assert rows(session, "SELECT k, v FROM t ORDER BY k") == [(1, "m"), (2, "u"), (10, "x"), (11, "n")]
    assert not [key for key in keys(session) if ".acidsql" in key]


@pytest.mark.parametrize("driver_bytes", [64 << 20, pytest.param(0, marks=pytest.mark.soak)])
def test_a_store_that_fails_in_the_middle_of_a_statement_loses_and_doubles_nothing(
    session: Session, store: S3Proxy, driver_bytes: int
) -> None:
    """The store ends at some request of each statement, and is back when the statement has failed. The files that could
    not be removed are removed later."""
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.execute(f"SET {DRIVER_BYTES}={driver_bytes}")
    for number, (statement, expected) in enumerate(zip(story(session), AFTER, strict=True)):
        before = rows(session, "SELECT row__id, * FROM t ORDER BY k")
        store.begin()
        session.execute("START TRANSACTION")
        statement()
        session.execute("ROLLBACK")
        writes = [r.number for r in store.requests if r.method in ("PUT", "POST")]
        assert writes
        for last in sorted({writes[0], writes[-1]}):
            store.begin(_gone_from(last))
            failed = False
            try:
                statement()
            except AcidSqlError:
                failed = True
            store.begin()
            if failed:
                assert rows(session, "SELECT row__id, * FROM t ORDER BY k") == before, (number, last)
            else:  # what came after the commit may fail
                assert [row[0] for row in rows(session, "SELECT k FROM t ORDER BY k")] == expected
                break
        else:
            statement()
        assert [row[0] for row in rows(session, "SELECT k FROM t ORDER BY k")] == expected
    session.execute("INSERT INTO t VALUES (12, 'y')")  # removes what the failed ones have left
    assert not [key for key in keys(session) if ".acidsql" in key]


@pytest.mark.parametrize(
    "at",
    [
        ".acidsql_staging",
        pytest.param("/delete_delta_0000002", marks=pytest.mark.soak),
        pytest.param("/delta_0000002_0000002_0000/bucket", marks=pytest.mark.soak),
    ],
)
def test_a_driver_that_is_killed_while_it_writes_loses_and_doubles_nothing(
    session: Session, store: S3Proxy, tmp_path: Path, at: str
) -> None:
    """It is killed when it writes the first object whose key has `at` in it."""
    session.execute(f"CREATE TABLE t (k int, v string) {_ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    before = rows(session, "SELECT row__id, * FROM t ORDER BY k")
    settings = {f"spark.hadoop.{key}": value for key, value in s3a_settings(store.port).items()}
    settings |= {"spark.master": "local[2]", "spark.driver.memory": "1g", "spark.jars": ",".join(s3a_jars())}
    by_tasks = "SET acidsql.driver.write.max.bytes=0; " if at == ".acidsql_staging" else ""
    command = [sys.executable, "-m", "acidsql", "shell", "--warehouse", str(session.warehouse)]
    command += ["--metastore", f"sqlite:///{tmp_path}/metastore.db", "-e", f"{by_tasks}UPDATE t SET v = concat(v, 'u')"]
    started = threading.Event()
    victims: list[int] = []

    def faults(request: Request) -> Fault | None:
        if request.method != "PUT" or at not in request.path:
            return None
        started.wait()
        kill_process_tree(victims[0])
        return Fault.LOST_REQUEST

    store.begin(faults)
    options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        victims.append(process.pid)
        started.set()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    store.begin()
    assert rows(session, "SELECT row__id, * FROM t ORDER BY k") == before
    session.execute("DELETE FROM t WHERE k = 1")
    assert rows(session, "SELECT * FROM t ORDER BY k") == [(2, "b"), (3, "c")]
    assert not [key for key in keys(session) if ".acidsql" in key or "0000002" in key]


def _gone_from(first: int) -> Callable[[Request], Fault | None]:
    lock = threading.Lock()

    def faults(request: Request) -> Fault | None:
        with lock:
            return Fault.BUSY if request.number >= first else None

    return faults
