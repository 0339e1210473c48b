"""What every test shares: one Spark session a process, and sessions of acidsql on warehouses of their own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession
from xdist.scheduler import LoadScopeScheduling

from acidsql.arrow.executor import ArrowExecutor, LeftToSpark
from acidsql.session import Session, connect
from acidsql.spark.engine import Engine
from tests.class_archive import start_making, use_class_archive
from tests.failure_report import pytest_terminal_summary
from tests.interop.hdfs_process import Hdfs
from tests.interop.hive3_metastore import Hive3Metastore
from tests.interop.hive_client import Hive
from tests.interop.s3_proxy import S3Proxy
from tests.interop.s3_server import S3Server
from tests.interop.shared_table import DATABASE

__all__ = ["pytest_terminal_summary"]

# A job that a shell starts in the background ignores SIGINT, and so would every process that a test starts and
# interrupts. A handler of one's own is not inherited: children start with the default again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark's Python workers are to be this Python, also where its environment is not the first in PATH.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

use_class_archive()

# gRPC, which the tests of Spark Connect load, must not act in child processes: PySpark forks this one to start its JVM,
# and gRPC can end the child before it becomes a JVM.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")

# How many seconds PySpark waits for the JVM when it reads the rows of a job, 15 without this: on a machine with much
# else to do, the JVM can be silent for longer.
os.environ.setdefault("SPARK_AUTH_SOCKET_TIMEOUT", "300")

MASTER_VARIABLE = "ACIDSQL_TEST_MASTER"
"""The master of Spark that the tests run on, where it is not this process (tests/cluster/__main__.py)."""

# No test measures time: on a machine with much else to do, an example may take any time. The examples are always the
# same, so that a change is not refused for a fault that was there before; `make test-all` looks for such faults with
# examples of its own (--hypothesis-profile=nightly).
settings.register_profile("acidsql", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("acidsql")

SPARK_CONF = {
    "spark.master": os.environ.get(MASTER_VARIABLE, "local[2]"),
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.authenticate.socketTimeout": "300s",
    # Over TCP, the JVM gives PySpark ten seconds to send its secret, which no setting changes
    # (org.apache.spark.security.SocketAuthHelper). Over Unix domain sockets, Spark 4.1 and later ask for none.
    "spark.python.unix.domain.socket.enabled": "true",
    # Thousands of small queries, each of which is new code: what C2 compiles comes too late, and with G1 it takes 45 %
    # of the processor time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=512m",
}

SLOWEST_FIRST = (
    *("interop", "crash", "frontends", "storage", "concurrency", "streaming", "dml", "spark", "ddl", "expressions"),
    *("queries", "formats", "values", "snapshot", "writing", "frame_api", "errors", "show", "statements", "docs"),
)
"""Folders whose files start JVMs of their own or run for long: the workers begin with them."""
_NEEDS_HIVE = re.compile(r"[\[-]hive[\]-]|metastore/test_hive_(connection|compactions|streams)")
"""In the ID of a test: one of those that run on each metastore, on Hive's; and those of Hive's metastore alone."""
SPREAD = ("test_fuzz.py", "test_golden_tables.py", "test_histories.py")
"""Files of many long tests that share nothing: each test goes to whoever is free."""


class _Units(LoadScopeScheduling):  # type: ignore[misc]  # xdist says nothing of its types
    """What a worker takes at once: a file; all that may need Hive, for there is one; the same of the metastore of Hive
    3; of SPREAD files a test."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        folder, _, name = path.rpartition("/")
        if "hive3" in nodeid:
            return "hive3"
        if folder.endswith("interop") or _NEEDS_HIVE.search(nodeid):
            return "hive"
        return nodeid if name in SPREAD else path


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Units:
    return _Units(config, log)


def pytest_sessionstart(session: pytest.Session) -> None:
    """What takes long enough for several workers is worth an archive of classes."""
    config = session.config
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        making = start_making()
        if making is not None:
            config.add_cleanup(making.kill)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _rank(item.path))


def _rank(path: Path) -> int:
    folder = path.parent.name
    return SLOWEST_FIRST.index(folder) if folder in SLOWEST_FIRST else len(SLOWEST_FIRST)


@pytest.fixture
def by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statement is one for Spark, also where it needs none."""
    monkeypatch.setattr(ArrowExecutor, "prepared", lambda self, plan, request: LeftToSpark("a test asks for Spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The process's one Spark session, started as acidsql starts its own."""
    engine = Engine(None, SPARK_CONF)
    yield engine.spark
    engine.close()


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    """A session on an empty warehouse."""
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as opened:
        yield opened


@pytest.fixture
def open_session(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[], Session]]:
    """Opens further sessions on the warehouse of `session`."""
    opened: list[Session] = []

    def open_one() -> Session:
        opened.append(connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def hive() -> Iterator[Hive]:
    """A running Hive 4.0.1, empty but for the database that the tests share. Skips where it cannot be had."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-hive-"))
    try:
        with Hive(root) as running:
            running.run(f"CREATE DATABASE {DATABASE}")
            yield running
    finally:
        shutil.rmtree(root)


@pytest.fixture(scope="session")
def hive3() -> Iterator[Hive3Metastore]:
    """A running metastore of Hive 3.1.3. Skips where it cannot be had."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-hive3-"))
    try:
        with Hive3Metastore(root) as running:
            yield running
    finally:
        shutil.rmtree(root)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Proxy]:
    """A store of S3's protocol behind a proxy. A test takes a directory of its own. Skips where it cannot be had."""
    with S3Server(tmp_path_factory.mktemp("s3")) as server, S3Proxy(server.port, server.bucket) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """A running HDFS. A test takes a directory of its own. Skips where it cannot be had."""
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running
