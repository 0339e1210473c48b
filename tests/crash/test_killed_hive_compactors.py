"""A worker on a Hive Metastore's queue that is killed: rows are as they were, and another one does its work."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.compactor.layout import directories
from tests.crash.compacted import DIES, make_table, rows_of_table
from tests.crash.writers import PATIENCE, start, wait_for_line
from tests.interop.hive_client import Hive

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]

_DIE: Final = f"""
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.storage.local_files import LocalFiles
{DIES}"""

BETWEEN: Final = "between its commit and the change of its entry"
POINTS: Final = {
    "after it took the request": "die_at(HiveMetastore, 'take_compaction', before=False)",
    "after its transaction": "die_at(HiveMetastore, 'open_compaction_txn', before=False)",
    "after it began": "die_at(HiveMetastore, 'begin_compaction', before=False)",
    "between two moves": "die_at(LocalFiles, 'place', call=2)",
    "before its commit": "die_at(HiveMetastore, 'commit_with')",
    BETWEEN: "die_at(HiveMetastore, '_mark_compacted')",
    "after its commit": "die_at(HiveMetastore, 'commit_compaction', before=False)",
}


@pytest.fixture
def session(mortal: Hive, spark: SparkSession) -> Iterator[Session]:
    """With a table of three deltas and a delete delta of two buckets."""
    mortal.run("DROP DATABASE IF EXISTS mortal CASCADE", "CREATE DATABASE mortal")
    with connect(metastore=mortal.metastore_uri, spark=spark) as opened:
        opened.execute("USE mortal")
        make_table(opened)
        yield opened


def states(session: Session) -> list[object]:
    """Of the table's compactions, the first one first."""
    listed = session.execute("SHOW COMPACTIONS").rows()
    return [row[5] for row in sorted(listed, key=lambda row: int(str(row[0]))) if row[1:3] == ("mortal", "t")]


def eventually(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < until:
        time.sleep(0.2)


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_dies_changes_nothing_and_another_one_does_its_work(
    point: str, session: Session, mortal: Hive
) -> None:
    before, table = rows_of_table(session), mortal.home.warehouse / "mortal.db" / "t"
    session.execute("ALTER TABLE t COMPACT 'major'")
    worker = start(_DIE, "unused", mortal.metastore_uri, POINTS[point], jvm=session.spark)
    wait_for_line("ready", worker)
    worker.communicate(timeout=PATIENCE)
    assert worker.returncode == -signal.SIGKILL
    assert rows_of_table(session) == before

    if point in (BETWEEN, "after its commit"):
        session.compactor.run_once()  # its worker finds nothing to do
        ends: list[object] = ["succeeded"]
    else:
        session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
        ends = ["failed", "succeeded"]
    assert rows_of_table(session) == before
    eventually(lambda: states(session) == ends)
    assert states(session) == ends
    assert directories(table) == ["base_0000004_v"]
    assert mortal.rows("SELECT count(*), sum(id) FROM mortal.t") == [[270, sum(i for i in range(300) if i % 10)]]

    session.execute("INSERT INTO t VALUES (1000, 1)")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    eventually(lambda: states(session) == [*ends, "succeeded"])
    assert directories(table) == ["base_0000005_v"]
    assert len(rows_of_table(session)) == 271
