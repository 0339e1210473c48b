"""Tasks that fail and run again, and tasks that run twice at once: no row comes twice, and no file stays."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyspark
import pytest

from acidsql.session import Session
from tests.crash.writers import Place, output

INSERTING = """
import os, json
attempts = sys.argv[3]
conf = {**CONF, **json.loads(sys.argv[4])}

def attempt():
    # The task that runs, told to the test.
    import pyspark
    context = pyspark.TaskContext.get()
    task = context.partitionId(), context.attemptNumber()
    open(os.path.join(attempts, "{}.{}".format(*task)), "x").close()
    return task

def failing_once(batches):
    task = attempt()
    for batch in batches:
        yield batch.slice(0, 50)
        if task[1] == 0:
            raise RuntimeError("once")
        yield batch.slice(50)

def slow_once(batches):
    task = attempt()
    for batch in batches:
        yield batch.slice(0, 50)
        if task == (1, 0):
            time.sleep(60)
        yield batch.slice(50)

with connect(conf=conf) as session:
    rows = session.spark.range(0, 200, 1, 2).selectExpr("CAST(id AS INT) AS k", "5 AS w")
    frame = rows.mapInArrow(globals()[sys.argv[5]], "k int, w int")
    session.execute(
        "MERGE INTO t USING {frame} s ON t.id = s.k"
        " WHEN MATCHED THEN UPDATE SET v = t.v + s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w)",
        frames={"frame": frame},
    )
"""


@pytest.fixture
def place(session: Session, tmp_path: Path) -> Place:
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(100)")
    (tmp_path / "attempts").mkdir()
    return Place(tmp_path)


def merged(place: Place, session: Session, conf: dict[str, str], rows: str) -> set[str]:
    """Runs the MERGE in a process of its own, and checks the table; the task attempts that there were."""
    output(place.start(INSERTING, str(place.root / "attempts"), json.dumps(conf), rows))
    found = session.sql("SELECT count(*), count(DISTINCT id), sum(v) FROM t").collect()[0]
    assert tuple(found) == (200, 200, 1000)
    assert place.staging() == []
    return set(os.listdir(place.root / "attempts"))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_task_that_fails_and_is_retried_doubles_no_row(place: Place, session: Session) -> None:
    assert merged(place, session, {"spark.master": "local[2,4]"}, "failing_once") == {"0.0", "0.1", "1.0", "1.1"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A standalone cluster of two hosts: Spark starts no speculative copy on the host of the first attempt, so neither
    does it in `local` and `local-cluster`."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    started = [_daemon(tmp_path, "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")]
    for host in ("127.0.0.2", "127.0.0.3"):
        work = ("--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", f"{tmp_path}/work")
        started.append(_daemon(tmp_path, "worker.Worker", *work, f"spark://127.0.0.1:{port}"))
    yield f"spark://127.0.0.1:{port}"
    for daemon in started:
        daemon.kill()
        daemon.wait()


def _daemon(place: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with (place / f"{name}.log").open("ab") as log:
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_task_that_runs_twice_at_once_doubles_no_row(place: Place, session: Session, cluster: str) -> None:
    conf = {
        "spark.master": cluster,
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "700m",
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.multiplier": "1.5",
    }
    assert merged(place, session, conf, "slow_once") >= {"1.0", "1.1"}
