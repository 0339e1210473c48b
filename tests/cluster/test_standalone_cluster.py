"""Statements on a standalone cluster while executors and workers die: nothing is doubled, nothing is lost.

One driver in this process, with its temporary directory out of the executors' sight. `make test-cluster` runs it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from acidsql import streaming
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.spark.engine import Engine
from tests.cluster.standalone_cluster import HOSTS, StandaloneCluster, wait_until
from tests.crash.writers import SLOW_UPDATE
from tests.support import employee

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
BY_TASKS = "SET acidsql.driver.write.max.bytes=0"
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "2",
}
"""All statements run with it: Spark starts a task that is slow a second time, on the other host."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    root = tmp_path_factory.mktemp("cluster")
    (root / "driver").mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(root / "driver")
    with StandaloneCluster(root / "daemons", root / "driver") as running:
        yield running
    tempfile.tempdir = before


@pytest.fixture(scope="module")
def engine(cluster: StandaloneCluster) -> Iterator[Engine]:
    engine = Engine(None, {**cluster.conf, **SPECULATION})
    yield engine
    engine.close()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def on_cluster(cluster: StandaloneCluster, engine: Engine, warehouse: Path) -> Iterator[Session]:
    with connect(warehouse, spark=engine.spark) as session:
        session.execute(BY_TASKS)
        wait_until(lambda: len(cluster.executors()) == len(HOSTS), "an executor runs on each host")
        registered = engine.spark.sparkContext._jsc.sc().getExecutorMemoryStatus
        wait_until(lambda: registered().size() == 1 + len(HOSTS), "the driver knows the executors")
        yield session


def one(session: Session, query: str) -> tuple[object, ...]:
    (row,) = session.execute(query).rows()
    return row


def staged(warehouse: Path) -> list[Path]:
    return [path for path in warehouse.rglob(".acidsql_staging*") if path.is_dir()]


# ------------------------------------------------------------------------------------------------ kinds of statements


def test_the_employee_story(on_cluster: Session) -> None:
    for statement in employee.STATEMENTS:
        on_cluster.execute(statement)
    rows = [tuple(row) for row in on_cluster.execute(employee.QUERY).rows()]
    assert [row[1:] for row in rows] == list(employee.ROWS)


def test_every_kind_of_write(on_cluster: Session, warehouse: Path, tmp_path: Path) -> None:
    sql = on_cluster.execute
    sql(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p string) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    sql("INSERT INTO t SELECT CAST(id AS INT), 'a', CAST(id % 3 AS STRING) FROM range(0, 3000, 1, 4)")
    sql("UPDATE t SET v = 'u' WHERE id % 10 = 0")
    sql("DELETE FROM t WHERE id % 10 = 1")
    sql(
        "MERGE INTO t USING (SELECT CAST(id AS INT) AS k FROM range(2990, 3010)) s ON t.id = s.k"
        " WHEN MATCHED AND t.v = 'u' THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'm'"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'n', 'new')"
    )
    counts = "SELECT count(*), count(DISTINCT id), count_if(v = 'u'), count_if(v = 'm'), count_if(v = 'n') FROM t"
    expected = (2710, 2710, 299, 8, 11)
    assert one(on_cluster, counts) == expected
    for kind in ("minor", "major"):
        for partition in ("0", "1", "2", "new"):
            sql(f"ALTER TABLE t PARTITION (p = '{partition}') COMPACT '{kind}' AND WAIT")
        assert one(on_cluster, counts) == expected

    sql(f"CREATE TABLE copied {ACID} AS SELECT id, v FROM t WHERE p = '0'")
    sql("CREATE TABLE lines (id int, v string) STORED AS TEXTFILE TBLPROPERTIES ('transactional'='false')")
    sql("CREATE TABLE columns (id int, v string) STORED AS PARQUET TBLPROPERTIES ('transactional'='false')")
    sql(
        "CREATE TABLE added (id int, v string) STORED AS ORC"
        " TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    )
    sql(
        "FROM copied INSERT INTO lines SELECT id, v INSERT INTO columns SELECT id, v WHERE v = 'a'"
        " INSERT INTO added SELECT id, v"
    )
    found = one(on_cluster, "SELECT (SELECT count(*) FROM copied), (SELECT count(*) FROM lines), count(*) FROM added")
    assert found[0] == found[1] == found[2]
    assert one(on_cluster, "SELECT count(*) FROM columns WHERE v <> 'a'") == (0,)
    sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/out' STORED AS PARQUET SELECT id, v FROM copied")
    sql("CREATE TABLE loaded (`_col0` int, `_col1` string) STORED AS PARQUET TBLPROPERTIES ('transactional'='false')")
    sql(f"LOAD DATA INPATH '{tmp_path}/out' INTO TABLE loaded")
    assert one(on_cluster, "SELECT count(*) FROM loaded") == (found[0],)
    sql("INSERT OVERWRITE TABLE copied SELECT id, v FROM lines WHERE id < 100")
    sql("ALTER TABLE copied COMPACT 'rebalance' AND WAIT")
    assert one(on_cluster, "SELECT max(id) < 100, count(*) > 0 FROM copied") == (True, True)
    with on_cluster.transaction():
        sql("UPDATE copied SET v = 'x'")
        sql("DELETE FROM copied WHERE id < 50")
        assert one(on_cluster, "SELECT min(id) >= 50, count_if(v <> 'x') FROM copied") == (True, 0)
    sql("ANALYZE TABLE copied COMPUTE STATISTICS")
    sql("TRUNCATE TABLE added")
    assert one(on_cluster, "SELECT count(*) FROM added") == (0,)
    assert staged(warehouse) == []


def test_many_small_files_are_read_where_executors_do_not_see_the_drivers_disk(on_cluster: Session) -> None:
    on_cluster.execute(f"CREATE TABLE t (id int) {ACID}")
    for number in range(8):
        on_cluster.execute(f"INSERT INTO t VALUES ({number})")
    assert one(on_cluster, "SELECT count(*), sum(id) FROM t") == (8, 28)


def test_streams_and_batches_of_structured_streaming(on_cluster: Session, tmp_path: Path) -> None:
    on_cluster.execute(f"CREATE TABLE t (id bigint, v string) {ACID}")
    with on_cluster.stream("t", id="rows") as stream:
        stream.write([{"id": -1, "v": "s"}], offset=1)
    source = tmp_path / "source"
    spark = on_cluster.spark
    spark.range(0, 100, 1, 4).selectExpr("id", "'b' AS v").write.parquet(str(source))
    frame = spark.readStream.schema("id bigint, v string").option("maxFilesPerTrigger", 2).parquet(str(source))
    write = streaming.append("t", id="batches", session=on_cluster)
    for _ in range(2):  # the second query finds nothing new
        query = (
            frame.writeStream.foreachBatch(write)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(600)
    assert one(on_cluster, "SELECT count(*), count(DISTINCT id), sum(id) FROM t") == (101, 101, 4949)


def test_a_directory_that_executors_do_not_see_is_an_error_and_loses_no_row(
    on_cluster: Session, cluster: StandaloneCluster
) -> None:
    if not cluster.hides:
        pytest.skip("this system does not allow a mount for one process")
    assert cluster.hidden is not None
    place = cluster.hidden / "unshared"
    on_cluster.execute(f"CREATE TABLE t (id int) {ACID}")
    on_cluster.execute(f"CREATE EXTERNAL TABLE u (id int) STORED AS PARQUET LOCATION '{place}'")
    for statement in ("INSERT INTO u SELECT CAST(id AS INT) FROM range(100)", "INSERT OVERWRITE TABLE u SELECT 1"):
        with pytest.raises(AcidSqlError) as refused:
            on_cluster.execute(statement)
        assert refused.value.condition == "STORAGE_FAILED"
        assert "does not see this directory" in str(refused.value)
    assert not [path for path in place.rglob("*") if path.is_file()]
    on_cluster.execute("INSERT INTO t SELECT CAST(id AS INT) FROM range(100)")
    assert one(on_cluster, "SELECT count(*) FROM t") == (100,)


# ------------------------------------------------------------------------------------------------ deaths


def run_while(session: Session, statement: str, cluster: StandaloneCluster, kill: Callable[[], object]) -> None:
    """Runs a statement and kills what it runs on as soon as its tasks run."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            session.execute(statement)
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread of the test
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    tracker = session.spark.sparkContext.statusTracker()

    def tasks_run() -> bool:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return not thread.is_alive() or any(stage is not None and stage.numActiveTasks > 0 for stage in stages)

    wait_until(tasks_run, "a task of the statement runs")
    assert thread.is_alive(), failures or "the statement was over before anything was killed"
    kill()
    thread.join()
    if failures:
        raise failures[0]


@pytest.fixture
def slow(on_cluster: Session) -> Session:
    """A table whose UPDATE takes some seconds on the executors."""
    on_cluster.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    on_cluster.execute("INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(0, 6000, 1, 4)")
    return on_cluster


TOTALS = "SELECT count(*), count(DISTINCT id), sum(v) FROM t"
SLOW_INSERT = (
    "INSERT INTO t SELECT CAST(id AS INT), length(sha2(repeat(CAST(id AS STRING), 100000), 512)) - 127"
    " FROM range(0, 6000, 1, 8)"
)
"""v = 1, in some seconds and eight tasks that write."""


def test_an_executor_killed_in_mid_statement(slow: Session, cluster: StandaloneCluster, warehouse: Path) -> None:
    run_while(slow, SLOW_UPDATE, cluster, lambda: cluster.kill_executors(HOSTS[0]))
    assert one(slow, TOTALS) == (6000, 6000, 4000)
    assert staged(warehouse) == []


def test_a_worker_lost_in_mid_statement(slow: Session, cluster: StandaloneCluster, warehouse: Path) -> None:
    run_while(slow, SLOW_UPDATE, cluster, lambda: cluster.kill_worker(HOSTS[1]))
    try:
        assert one(slow, TOTALS) == (6000, 6000, 4000)
        assert staged(warehouse) == []
    finally:
        cluster.start_worker(HOSTS[1])


def test_a_task_that_runs_twice_at_once(on_cluster: Session, cluster: StandaloneCluster, warehouse: Path) -> None:
    """An executor is stopped in its task. A speculative attempt of the task ends on the other host, and then the first
    one goes on."""
    on_cluster.execute(f"CREATE TABLE t (id int, v int) {ACID}")

    def stop_until_another_attempt_has_ended() -> None:
        tracker, stages = on_cluster.spark.sparkContext.statusTracker(), set[int]()

        def writes() -> bool:
            stages.update(tracker.getActiveStageIds())
            return is_written(warehouse) and any(is_running(task, HOSTS[1]) for task in tasks(on_cluster, stages))

        wait_until(writes, "the executor writes in a task")
        (executor,) = cluster.executors(HOSTS[1])
        os.kill(executor, signal.SIGSTOP)
        try:
            wait_until(lambda: any(map(is_second, tasks(on_cluster, stages))), "a speculative attempt has ended")
        finally:
            os.kill(executor, signal.SIGCONT)

    run_while(on_cluster, SLOW_INSERT, cluster, stop_until_another_attempt_has_ended)
    assert one(on_cluster, TOTALS) == (6000, 6000, 6000)
    assert staged(warehouse) == []
    files = [path for path in warehouse.rglob("bucket_*") if path.is_file()]
    assert len(files) == len({path.name for path in files})
    on_cluster.execute("UPDATE t SET v = 2 WHERE id < 10")
    assert one(on_cluster, TOTALS) == (6000, 6000, 6010)


def is_written(warehouse: Path) -> bool:
    """Whether tasks are writing files."""
    return any(path for place in staged(warehouse) for path in place.rglob("*.orc"))


def tasks(session: Session, stages: Iterable[int]) -> list[Any]:
    """The attempts of the tasks of some stages (TaskData of Spark)."""
    store = session.spark.sparkContext._jsc.sc().statusStore()
    found = [store.taskList(stage, 0, 100) for stage in stages]
    return [some.apply(place) for some in found for place in range(some.size())]


def is_running(task: Any, host: str) -> bool:
    return bool(task.status() == "RUNNING" and task.host() == host)


def is_second(task: Any) -> bool:
    """Whether it is a speculative attempt that has ended well."""
    return bool(task.speculative() and task.status() == "SUCCESS")


def test_an_executor_killed_in_mid_compaction(slow: Session, cluster: StandaloneCluster, warehouse: Path) -> None:
    slow.execute("UPDATE t SET v = id")
    slow.execute("DELETE FROM t WHERE id >= 5000")
    before = sorted(map(tuple, slow.execute("SELECT row__id, * FROM t").rows()))
    run_while(slow, "ALTER TABLE t COMPACT 'major' AND WAIT", cluster, lambda: cluster.kill_executors(HOSTS[0]))
    assert sorted(map(tuple, slow.execute("SELECT row__id, * FROM t").rows())) == before
    assert staged(warehouse) == []
