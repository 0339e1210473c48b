"""A Hive Metastore that is killed while a statement's job runs, and one whose writer is killed: all or nothing."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.errors import AcidSqlError
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.registry import open_hive
from acidsql.session import Session, connect
from acidsql.statements.results import Result
from tests.crash.test_killed_writers import UPDATE
from tests.crash.writers import PATIENCE, start, wait_for_line
from tests.interop.hive_client import Hive
from tests.support.acid_files import visible_paths

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]


@dataclass(frozen=True, slots=True)
class Gate:
    """Where a job waits, and who has come there."""

    root: Path

    def held(self, spark: SparkSession) -> object:
        """A frame whose rows come when the gate is open: 1 to 100, each with 5."""
        root = str(self.root)

        def rows(batches: Any) -> Iterator[Any]:  # Iterable before PySpark 4.3, Iterator since
            Path(root, "reached").touch()
            while not Path(root, "open").exists():
                time.sleep(0.05)
            yield from batches

        return spark.range(1, 101, 1, 2).selectExpr("CAST(id AS INT) AS k", "5 AS w").mapInArrow(rows, "k int, w int")

    def wait(self, running: Future[Result]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (self.root / "reached").exists():
            assert not running.done(), running.result()
            assert time.monotonic() < deadline, "the job did not come to the gate"
            time.sleep(0.02)

    def open(self) -> None:
        (self.root / "open").touch()


@pytest.fixture
def session(mortal: Hive, spark: SparkSession) -> Iterator[Session]:
    mortal.run("DROP DATABASE IF EXISTS mortal CASCADE", "CREATE DATABASE mortal")
    with connect(metastore=mortal.metastore_uri, spark=spark) as opened:
        opened.execute("USE mortal")
        opened.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        opened.execute("INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(200)")
        yield opened


def table(mortal: Hive) -> Path:
    return mortal.home.warehouse / "mortal.db" / "t"


MERGE = (
    "MERGE INTO t USING {held} s ON t.id = s.k"
    " WHEN MATCHED THEN UPDATE SET v = t.v + s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w)"
)


def total(session: Session) -> object:
    result = session.execute("SELECT count(*), sum(v) FROM t")
    try:
        return next(iter(result.rows()))
    finally:
        result.close()


@pytest.mark.parametrize("back", ["before the commit", "after the statement"])
def test_a_statement_whose_metastore_is_killed_changes_all_or_nothing(
    back: str, session: Session, mortal: Hive, tmp_path: Path
) -> None:
    gate, before = Gate(tmp_path), visible_paths(table(mortal))
    with ThreadPoolExecutor() as pool:
        running = pool.submit(session.execute, MERGE, frames={"held": gate.held(session.spark)})
        try:
            gate.wait(running)
            mortal.kill()
            if back == "before the commit":
                mortal.start_again()
        finally:
            gate.open()
        error = running.exception()
    committed = {1}
    if back == "after the statement":
        assert isinstance(error, AcidSqlError)
        assert error.condition == "METASTORE_UNAVAILABLE"
        mortal.start_again()
        assert total(session) == (200, 0)
    elif error is None:
        assert total(session) == (200, 500)
        committed = {1, 2}
    else:  # it was away for longer than a transaction may go without a heartbeat
        assert isinstance(error, AcidSqlError)
        assert error.condition in ("TRANSACTION_ABORTED", "NO_SUCH_TRANSACTION")
        assert total(session) == (200, 0)
        assert visible_paths(table(mortal)) == before
    check_goes_on(session, mortal, committed)


def check_goes_on(session: Session, mortal: Hive, committed: set[int]) -> None:
    """The next statement does its work, and removes what a failed one could not; Hive reads what acidsql reads."""
    updated = session.execute("UPDATE t SET v = 7")
    assert total(session) == (200, 1400)
    assert mortal.rows("SELECT count(*), sum(v) FROM mortal.t") == [[200, 1400]]
    there = {int(path.name.split("_")[-2]) for path in table(mortal).glob("*delta_*")}
    assert there == {*committed, updated.write_ids["mortal.t"]}
    assert not list(table(mortal).glob(f"{STAGING_DIRECTORY}*"))


def staging(mortal: Hive) -> list[Path]:
    return sorted(table(mortal).glob(f"{STAGING_DIRECTORY}*"))


@contextmanager
def live_staging(mortal: Hive) -> Iterator[Path]:
    """The staging directory of another writer, whose transaction is open until the end."""
    with closing(open_hive(mortal.metastore_uri)) as store:
        txn = store.open_txn()
        directory = table(mortal) / f"{STAGING_DIRECTORY}_{txn}_9_0"
        directory.mkdir()
        (directory / "part-00000-x.orc").touch()
        with Heartbeat(store, txn, interval=store.txn_timeout / 5):
            yield directory
        store.abort(txn)


POINTS = {
    "after its locks": "die_at(HiveMetastore, 'lock', before=False)",
    "after its write ID": "die_at(HiveMetastore, 'allocate_write_id', before=False)",
    "between two moves": "die_at(LocalFiles, 'place', call=2)",
    "before its commit": "die_at(HiveMetastore, 'commit')",
    "after its commit": "die_at(HiveMetastore, 'commit', before=False)",
}


@pytest.mark.parametrize("point", POINTS)
def test_a_writer_that_dies_on_a_hive_metastore_changes_all_or_nothing(
    point: str, session: Session, mortal: Hive
) -> None:
    """Its transaction times out there: the next statement waits for that, as it cannot know that the writer is dead."""
    importing = "from acidsql.metastore.hive.hive_metastore import HiveMetastore"
    point = f"{importing}\nsession.execute('USE mortal')\n{POINTS[point]}"
    writer = start(UPDATE, "unused", mortal.metastore_uri, point, jvm=session.spark)
    wait_for_line("ready", writer)
    writer.communicate(timeout=PATIENCE)
    assert writer.returncode == -signal.SIGKILL
    done = point.endswith("before=False)") and "commit" in point
    assert total(session) == (200, 200 if done else 0)
    assert bool(staging(mortal)) == ("place" in point)
    with live_staging(mortal) as live:
        session.execute("UPDATE t SET v = 7")
        assert staging(mortal) == [live]
    session.execute("INSERT INTO t VALUES (1000, 0)")
    assert staging(mortal) == []
    assert total(session) == (201, 1400)
    assert mortal.rows("SELECT count(*), sum(v) FROM mortal.t") == [[201, 1400]]
