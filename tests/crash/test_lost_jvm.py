"""The JVM of a session ends, killed or out of memory: one clear error, nothing left behind, and the next statement
starts another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.writers import PRELUDE, SLOW_UPDATE

COMMON = f"""
{PRELUDE}
import os, signal
from pathlib import Path
from pyspark import SparkContext

def kill_jvm():
    process = SparkContext._gateway.proc
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

def staging():
    return list(Path(WAREHOUSE).rglob(".acidsql_staging*"))

def kill_when_it_writes():
    while not staging():
        time.sleep(0.01)
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)

def fails(session, sql):
    try:
        session.execute(sql)
    except AcidSqlError as error:
        print(error.condition, "|", error.message, flush=True)

def told(session):
    locks = session.catalog.locks()
    transactions = [t for t in session.catalog.transactions() if t.is_open]
    beating = [t.name for t in threading.enumerate() if t.name.startswith("heartbeat")]
    print("left:", len(locks), len(transactions), len(beating), len(staging()), flush=True)
    print("rows:", *session.sql("SELECT count(*), sum(v) FROM t").collect()[0], flush=True)

def fill(session):
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(0, 4000, 1, 2)")
"""

OWN = f"""{COMMON}
with connect(conf=CONF) as session:
    fill(session)
    threading.Thread(target=kill_when_it_writes).start()
    session.execute("SET acidsql.driver.write.max.bytes=0")
    fails(session, {SLOW_UPDATE!r})
    told(session)
    kill_jvm()  # while nothing runs
    session.execute("UPDATE t SET v = 1 WHERE id < 10")
    result = session.execute("SELECT id, sha2(repeat(CAST(id AS STRING), 100000), 512) FROM t")
    rows = result.rows()
    next(rows)
    frame = session.table("t")
    frame_rows = frame.toLocalIterator()
    kill_jvm()
    for action in (lambda: list(rows), frame.collect, frame.toArrow, frame.count, lambda: list(frame_rows)):
        try:
            action()
        except AcidSqlError as error:
            print(error.condition, end=" ", flush=True)
    print(flush=True)
    fails(session, "SELECT * FROM no_such_table")
print("closed", flush=True)
"""

OUT_OF_MEMORY = f"""{COMMON}
with connect(conf=CONF) as session:
    fill(session)
    fails(session, "UPDATE t SET v = length(repeat(CAST(id AS STRING), 2000000000)) WHERE id = 1")
    told(session)
    kill_jvm()
print("closed", flush=True)
"""

GIVEN = f"""{COMMON}
from acidsql.spark.engine import Engine
from acidsql.spark.session.jvm_loss import forget


spark = Engine(None, CONF).spark
with connect(spark=spark) as session:
    fill(session)
    threading.Thread(target=kill_when_it_writes).start()
    session.execute("SET acidsql.driver.write.max.bytes=0")
    fails(session, {SLOW_UPDATE!r})
    fails(session, "SELECT * FROM t")
    forget(spark.sparkContext)
    fails(session, "SELECT * FROM t")
    session.use_spark(Engine(None, CONF).spark)
    told(session)
print("closed", flush=True)
"""


def run(code: str, tmp_path: Path) -> list[str]:
    place = [str(tmp_path / "warehouse"), f"sqlite:///{tmp_path}/metastore.db"]
    done = subprocess.run(
        [sys.executable, "-c", code, *place], capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL
    )
    # PySpark's iterator of rows prints that it cannot tell a JVM that is gone to stop.
    assert "Traceback" not in done.stderr.partition("Exception ignored in: <function _local_iterator")[0], done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


KILLED = "SPARK_GONE | The JVM in which Spark ran is gone: it was ended by signal 9"


@pytest.mark.nightly
def test_a_jvm_that_is_killed_is_one_error_and_the_next_statement_starts_another(tmp_path: Path) -> None:
    lines = run(OWN, tmp_path)
    assert lines[:3] == [KILLED, "left: 0 0 0 0", "rows: 4000 0"]
    assert lines[3].split() == ["SPARK_GONE"] * 5
    assert lines[4].startswith("TABLE_NOT_FOUND")
    assert lines[5:] == ["closed"]


@pytest.mark.nightly
def test_a_task_that_runs_out_of_memory_is_one_error_and_the_next_statement_runs(tmp_path: Path) -> None:
    assert run(OUT_OF_MEMORY, tmp_path) == [
        "SPARK_GONE | The JVM in which Spark ran is gone: it ran out of memory",
        "left: 0 0 0 0",
        "rows: 4000 0",
        "closed",
    ]


@pytest.mark.nightly
def test_a_given_session_that_is_gone_is_an_error_until_there_is_another(tmp_path: Path) -> None:
    lines = run(GIVEN, tmp_path)
    assert lines[:2] == [KILLED] * 2
    assert lines[2].startswith("SPARK_GONE")
    assert lines[3:] == ["left: 0 0 0 0", "rows: 4000 0", "closed"]
