"""A driver on a standalone cluster that is killed in mid-statement: nothing of it is seen, and others go on.

A cluster of its own, because each application takes all of its cores. `make test-cluster` runs it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session, connect
from acidsql.spark.engine import Engine
from tests.cluster.standalone_cluster import StandaloneCluster, kill_process_tree, wait_until
from tests.crash.writers import PATIENCE, SLOW_UPDATE, Place, wait_for, wait_for_line

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

ROWS = 6000
BY_TASKS = "SET acidsql.driver.write.max.bytes=0"
UPDATING = f"""
import json
with connect(conf={{**CONF, **json.loads(sys.argv[3])}}) as session:
    session.execute({BY_TASKS!r})
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(0, {ROWS}, 1, 4)")
    print("ready", flush=True)
    session.execute({SLOW_UPDATE!r})
"""
TOTALS = "SELECT count(*), count(DISTINCT id), sum(v) FROM t"


def totals(session: Session) -> list[tuple[object, ...]]:
    return [tuple(row) for row in session.execute(TOTALS).rows()]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandaloneCluster]:
    hidden = tmp_path / "driver"
    hidden.mkdir()
    monkeypatch.setenv("TMPDIR", str(hidden))
    monkeypatch.setattr(tempfile, "tempdir", str(hidden))
    with StandaloneCluster(tmp_path / "cluster", hidden) as running:
        yield running


def test_a_driver_killed_in_mid_statement(cluster: StandaloneCluster, tmp_path: Path) -> None:
    """The Python and the JVM of the driver die at once, so that no one tells the executors to stop."""
    place = Place(tmp_path)
    driver = place.start(UPDATING, json.dumps(dict(cluster.conf)))
    wait_for_line("ready", driver)
    wait_for(lambda: any(path.suffix == ".orc" for s in place.staging() for path in s.rglob("*")), driver)
    kill_process_tree(driver.pid)
    driver.communicate(timeout=PATIENCE)
    wait_until(lambda: not cluster.executors(), "the executors notice that their driver is gone")

    engine = Engine(None, cluster.conf)
    try:
        with connect(place.warehouse, metastore=f"sqlite:///{place.metastore}", spark=engine.spark) as session:
            session.execute(BY_TASKS)
            assert place.staging(), "the killed driver left files"
            assert totals(session) == [(ROWS, ROWS, 0)]
            again = session.execute(SLOW_UPDATE)
            assert again.counts is not None
            assert again.counts.updated == 4000
            assert totals(session) == [(ROWS, ROWS, 4000)]
            own = again.write_ids["default.t"]
        with SqliteMetastore(place.metastore, str(place.warehouse)) as store:
            assert (len(store.valid_txns().aborted), store.valid_txns().open) == (1, frozenset())
        assert place.staging() == []
        assert {int(path.name.split("_")[-2]) for path in place.table.glob("*delta_*")} == {1, own}
    finally:
        engine.close()
