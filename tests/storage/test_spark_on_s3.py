"""What Spark's tasks write to a store of S3's protocol and read there: rows, files, and the number of requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.planner.plan import DRIVER_BYTES
from acidsql.session import Session, connect
from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.spark.scan import small_files
from tests.answers import rows
from tests.interop.s3_proxy import S3Proxy
from tests.interop.s3_server import S3Server, use_s3

pytestmark = [pytest.mark.ci, pytest.mark.timeout(600)]

_FILES: Final = 3
_ROWS: Final = 60_000


@pytest.fixture(scope="module")
def store(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Proxy]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server, S3Proxy(server.port, server.bucket) as proxy:
        use_s3(spark, proxy.port)
        yield proxy


@pytest.fixture
def session(store: S3Proxy, spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(f"s3a://{store.bucket}/w", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as opened:
        opened.execute(f"SET {DRIVER_BYTES}=0")
        yield opened


def methods(store: S3Proxy) -> Counter[str]:
    """The requests since the last `begin`, by method."""
    return Counter(request.method for request in store.requests)


def test_tasks_write_each_file_once_and_scans_read_it_once(
    session: Session, store: S3Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each file a task asks twice whether it is there, writes it and asks for its size. The driver reads its end,
    then its content, and writes it to its final place. There remain two listings, the removal of the staging
    directory, and the file of the version. A scan reads each file whole."""
    session.execute("CREATE TABLE t (k bigint, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    source = f"SELECT /*+ COALESCE({_FILES}) */ id, concat('v', id) FROM range(0, {_ROWS}, 1, {_FILES})"
    store.begin()
    session.execute(f"INSERT INTO t {source}")
    assert len(store.requests) <= 7 * _FILES + 4, methods(store)
    assert methods(store)["PUT"] == 2 * _FILES + 1
    query = "SELECT count(v), min(k), max(k), sum(k) FROM t"
    expected_sums = [(_ROWS, 0, _ROWS - 1, _ROWS * (_ROWS - 1) // 2)]
    for most in (1 + _FILES, 1):  # the listing, and each file, of which copies stay
        store.begin()
        assert rows(session, query) == expected_sums
        assert len(store.requests) <= most, methods(store)
    monkeypatch.setattr(small_files, "_SMALL_IN_STORE", 0)  # Hadoop's client opens the files, which nobody lists again
    store.begin()
    assert rows(session, query) == expected_sums
    assert len(store.requests) <= 1 + 5 * _FILES, methods(store)
    monkeypatch.undo()
    session.execute("UPDATE t SET v = 'u' WHERE k % 3 = 0")
    session.execute("DELETE FROM t WHERE k % 5 = 0")
    expected = [(k % 3, sum(1 for n in range(_ROWS) if n % 3 == k and n % 5)) for k in range(3)]
    query = "SELECT k % 3 AS r, count(*), max(v = 'u') FROM t GROUP BY 1 ORDER BY 1"
    assert [row[:2] for row in rows(session, query)] == expected
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, query) == [(r, n, r == 0) for r, n in expected]
    assert not [path for path in keys(session) if "staging" in path]


def keys(session: Session) -> list[str]:
    """The files of the table, hidden ones too."""
    table = session.catalog.table("default", "t")
    return [file.path for file in hadoop_files(session.spark).list_below(table.location).files]
