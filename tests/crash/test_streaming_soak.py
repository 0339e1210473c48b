"""Minutes of streaming from several writers that are killed every few seconds, with readers, UPDATEs and the compaction
service beside them, on both metastores. Prints what was measured."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.ingest.stream_options import DEFAULT_BATCH_SIZE
from acidsql.session import Session, connect
from tests.crash.conftest import TIMEOUT
from tests.crash.killed_streams import (
    ROOT,
    Expected,
    Streamed,
    Writer,
    Writers,
    answer,
    check_end,
    check_snapshot,
    fastest,
    latencies,
    percentiles,
)
from tests.crash.stream_writers import COLUMNS, PASSING
from tests.crash.test_random_kills import SEED
from tests.interop.hive_client import Hive

MINUTES: Final = float(os.environ.get("ACIDSQL_STREAM_MINUTES", "15"))
WRITERS: Final = 4
ROWS: Final = 1000
"""Rows of a transaction, and rows of a writer in a second."""
LIFE: Final = 20.0
"""The longest life of a writer, in seconds: with four of them, one is killed every few seconds."""
SLOWER: Final = 1.5
"""How much longer than after a major compaction a query may take at the end of the streams."""
STREAMED_INTO: Final = {
    "metastore.compactor.initiator.on": "true",
    "hive.compactor.check.interval": "10s",
    "hive.compactor.cleaner.run.interval": "5s",
}
"""Settings of a metastore whose tables are streamed into. By default it looks for compactions every 300 seconds. The
interval of the cleaner is Hive's default; other tests have a shorter one."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(4 * 3600)]


@dataclass(slots=True)
class Beside:
    """Threads beside the streams. The first failure of one of them ends all."""

    failures: list[BaseException] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    """The conditions of statements that failed because the metastore was too busy."""
    stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def again_and_again(self, action: Callable[[], object], pause: float) -> None:
        def run() -> None:
            while not self.stop.wait(pause):
                try:
                    action()
                except AcidSqlError as error:
                    if error.condition not in PASSING:
                        raise
                    self.passed.append(error.condition)

        self.start(run)

    def start(self, action: Callable[[], object]) -> None:
        def run() -> None:
            try:
                action()
            except (AssertionError, AcidSqlError, OSError) as error:
                self.failures.append(error)
                self.stop.set()

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def end(self) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


@pytest.fixture(scope="module")
def initiating() -> Iterator[Hive]:
    """A Hive whose metastore requests compactions itself, as often as the page on streaming advises; the workers are
    acidsql's. Its Derby gives up soon where calls wait for each other: the metastore then tries again, or answers with
    an internal error."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-streamed-"))
    (root / "derby.properties").write_text("derby.locks.waitTimeout=5\nderby.locks.deadlockTimeout=2\n")
    try:
        with Hive(root, {**TIMEOUT, **STREAMED_INTO}) as running:
            yield running
    finally:
        shutil.rmtree(root)


@pytest.fixture(params=["embedded", pytest.param("hive", marks=pytest.mark.hive)])
def place(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Streamed:
    if request.param == "embedded":
        found = Streamed(str(tmp_path / "warehouse"), f"sqlite:///{tmp_path}/metastore.db", "soak.s", tmp_path)
    else:
        hive: Hive = request.getfixturevalue("initiating")
        found = Streamed(str(hive.home.warehouse), hive.metastore_uri, "soak.s", tmp_path)
    with connect(found.warehouse, found.metastore, spark=spark) as session:
        session.execute("CREATE DATABASE soak")
        session.execute(f"CREATE TABLE soak.s {COLUMNS} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    return found


def test_streams_are_exact_and_fast_for_minutes(
    place: Streamed, spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    def say(text: str) -> None:
        with capfd.disabled():
            sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    def open_one() -> Session:
        return connect(place.warehouse, place.metastore, spark=spark)

    choose, expected, beside = random.Random(SEED), Expected(), Beside()
    writers = [Writer(number, place, ROWS, ROWS, 200_000, (DEFAULT_BATCH_SIZE,)) for number in range(WRITERS)]
    watched = place.logs / "watched.log"
    ids = [writer.id for writer in writers]
    watch = [sys.executable, "-m", "tests.crash.stream_watcher", place.warehouse, place.metastore, place.table]
    watcher = subprocess.Popen([*watch, str(watched), *ids], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    reads: list[float] = []
    started = time.monotonic()
    with closing(open_one()) as reader, closing(open_one()) as updater, closing(open_one()) as serving:
        serving.compactor.tell = say

        def read() -> None:
            begun = time.perf_counter()
            highest = check_snapshot(reader, place.table, writers)
            reads.append(time.perf_counter() - begun)
            say(f"{sum(highest.values()) + WRITERS:,} rows read in {reads[-1]:.1f} s; {running.kills} kills")

        try:
            with Writers(writers, choose, LIFE) as running:
                beside.start(lambda: serving.compactor.serve(beside.stop))
                beside.again_and_again(read, 10.0)
                pick = random.Random(SEED + 1)
                beside.again_and_again(lambda: expected.update(updater, place.table, pick.choice(writers), pick), 5.0)
                while time.monotonic() - started < 60 * MINUTES and running.failure is None:
                    if beside.stop.wait(1.0):
                        break
            seconds = time.monotonic() - started
        finally:
            beside.end()
            watcher.kill()
            watcher.wait()
        highest = check_end(reader, place.table, writers, expected)
        rows = sum(highest.values()) + WRITERS
        found = latencies(writers, watched)
        at_end, compacted = compare_reads(reader, place.table)
        check_end(reader, place.table, writers, expected)
    say(
        f"{place.metastore.partition(':')[0]}: {seconds:.0f} s, {WRITERS} writers, {running.kills} kills,"
        f" {len(expected.updates)} UPDATEs, {len(reads)} snapshots checked\n"
        f"statements beside that failed because the metastore was too busy: {beside.passed}\n"
        f"rows: {rows:,}, {rows / seconds:,.0f} a second\n"
        f"from the beginning of a commit until another process sees it: {percentiles(found)} ({len(found)} commits)\n"
        f"a query at the end: {at_end:.2f} s, after a major compaction: {compacted:.2f} s,"
        f" {at_end / compacted:.2f} times"
    )
    assert at_end <= SLOWER * compacted


def compare_reads(session: Session, table: str) -> tuple[float, float]:
    """Seconds of a query of all rows, as the streams and the service have left the table, and after a major
    compaction."""
    query = f"SELECT count(n), sum(v), max(n), sum(length(data)) FROM {table}"
    at_end = fastest(lambda: answer(session, query))
    for (partition,) in session.execute(f"SHOW PARTITIONS {table}").rows():
        session.execute(f"ALTER TABLE {table} PARTITION ({partition}) COMPACT 'major' AND WAIT")
    return at_end, fastest(lambda: answer(session, query))
