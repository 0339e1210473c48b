"""What HDFS has and a disk has not: a trash, snapshots, owners of files, logical names of name nodes; and streams."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql import streaming
from acidsql.session import Session, connect
from acidsql.spark.catalyst.sessions import hadoop_files
from tests.answers import fails, rows
from tests.interop.hdfs_process import Hdfs, hadoop_settings

pytestmark = [pytest.mark.hive, pytest.mark.timeout(900)]

_HA: Final = "org.apache.hadoop.hdfs.server.namenode.ha"
TRANSACTIONAL: Final = "TBLPROPERTIES ('transactional'='true')"
ACID: Final = f"STORED AS ORC {TRANSACTIONAL}"


@pytest.fixture
def home(hdfs: Hdfs, tmp_path: Path) -> str:
    """The URI of an empty warehouse."""
    return f"{hdfs.uri}/{tmp_path.name}"


@pytest.fixture
def session(home: str, spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(home, metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as opened:
        yield opened


def file_system(session: Session, path: str) -> tuple[Any, Any]:
    """Hadoop's file system of a path, and the path as Hadoop's."""
    java: Any = session.spark._jvm
    where = java.org.apache.hadoop.fs.Path(path)
    conf: Any = session.spark._jsc
    return where.getFileSystem(conf.hadoopConfiguration()), where


# ------------------------------------------------------------------------------------------------ trash


def trashed(session: Session, home: str) -> list[str]:
    """The paths of the files in the trash that lay in the warehouse, relative to it. Empties the trash."""
    fs, where = file_system(session, home)
    trash = str(fs.getTrashRoot(where).toString())
    name = home.rpartition("/")[2]
    found = sorted(file.path.partition(f"/{name}/")[2] for file in hadoop_files(session.spark).list_below(trash).files)
    hadoop_files(session.spark).delete(trash)
    return found


@pytest.mark.nightly
def test_what_a_user_may_want_back_goes_to_the_trash(spark: SparkSession, home: str, tmp_path: Path) -> None:
    """That is the trash of HDFS, which Hive uses for the same files (org.apache.hadoop.hive.common.FileUtils)."""
    with (
        hadoop_settings(spark, {"fs.trash.interval": "60"}),
        connect(home, metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as session,
    ):
        session.execute(f"CREATE TABLE t (k int) PARTITIONED BY (p int) {ACID}")
        session.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
        session.execute("DELETE FROM t WHERE k = 1")
        session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
        assert trashed(session, home) == []  # what a compaction makes obsolete is nobody's loss

        session.execute("ALTER TABLE t DROP PARTITION (p = 2)")
        assert [path for path in trashed(session, home) if "bucket_" in path] == [
            "t/p=2/delta_0000001_0000001_0000/bucket_00000"
        ]
        session.execute("ALTER TABLE t DROP PARTITION (p = 3) PURGE")
        assert trashed(session, home) == []

        session.execute("CREATE TABLE plain (k int) STORED AS ORC")
        session.execute("INSERT INTO plain VALUES (1)")
        session.execute("INSERT OVERWRITE TABLE plain SELECT 2")
        assert len(trashed(session, home)) == 1
        session.execute("TRUNCATE TABLE plain")
        assert len(trashed(session, home)) == 1
        session.execute("INSERT INTO plain VALUES (1)")
        session.execute("ALTER TABLE plain SET TBLPROPERTIES ('auto.purge'='true')")
        session.execute("INSERT OVERWRITE TABLE plain SELECT 2")
        session.execute("DROP TABLE plain")
        assert trashed(session, home) == []

        session.execute("INSERT INTO t VALUES (4, 4)")
        session.execute("DROP TABLE t")
        assert any(path.startswith("t/p=4/") for path in trashed(session, home))
        session.execute(f"CREATE TABLE t (k int) {ACID}")
        session.execute("INSERT INTO t VALUES (5)")
        session.execute("DROP TABLE t PURGE")
        assert trashed(session, home) == []
        assert not hadoop_files(spark).list_below(home).files


# ------------------------------------------------------------------------------------------------ snapshots


def test_a_snapshot_of_a_directory_keeps_its_rows(session: Session, home: str) -> None:
    session.execute(f"CREATE TABLE t (k int, v string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    session.execute("UPDATE t SET v = 'c' WHERE k = 2")
    before = rows(session, "SELECT row__id, * FROM t ORDER BY k")
    fs, where = file_system(session, f"{home}/t")
    fs.allowSnapshot(where)
    fs.createSnapshot(where, "monday")
    session.execute("DELETE FROM t WHERE k = 1")
    session.execute(
        "MERGE INTO t USING (VALUES (2), (3)) s(x) ON t.k = s.x WHEN MATCHED THEN UPDATE SET v = 'd'"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.x, 'e')"
    )
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT * FROM t ORDER BY k") == [(2, "d"), (3, "e")]

    java: Any = session.spark._jvm
    conf: Any = session.spark._jsc
    copied, of_snapshot = (
        java.org.apache.hadoop.fs.Path(f"{home}/{path}") for path in ("monday", "t/.snapshot/monday")
    )
    java.org.apache.hadoop.fs.FileUtil.copy(fs, of_snapshot, fs, copied, False, conf.hadoopConfiguration())
    session.execute(f"CREATE TABLE monday (k int, v string) STORED AS ORC LOCATION '{home}/monday' {TRANSACTIONAL}")
    assert rows(session, "SELECT row__id, * FROM monday ORDER BY k") == before

    refused = fails("STORAGE_FAILED", lambda: session.execute("DROP TABLE t"))
    assert "snapshot" in str(refused)
    fs.deleteSnapshot(where, "monday")
    fs.disallowSnapshot(where)


# ------------------------------------------------------------------------------------------------ owners of files


def as_user(
    name: str, session: Session, tmp_path: Path, statement: str, *options: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acidsql", "shell", "--warehouse", str(session.warehouse)]
    command += ["--metastore", f"sqlite:///{tmp_path}/metastore.db", "--conf", "spark.master=local[1]"]
    command += ["--conf", "spark.driver.memory=1g", *options, "-e", statement]
    environment = {**os.environ, "HADOOP_USER_NAME": name}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_files_belong_to_who_wrote_them_and_the_group_of_their_table(
    session: Session, home: str, tmp_path: Path
) -> None:
    session.execute(f"CREATE TABLE t (k int, v string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    files = [file.path for file in hadoop_files(session.spark).list_below(f"{home}/t").files]

    refused = as_user("alice", session, tmp_path, "UPDATE t SET v = 'no'")
    assert refused.returncode == 1
    assert "STORAGE_FAILED" in refused.stderr
    assert "Permission denied: user=alice" in refused.stderr
    assert [file.path for file in hadoop_files(session.spark).list_below(f"{home}/t").files] == files
    assert [row for row in rows(session, "SHOW TRANSACTIONS") if row[1] == "OPEN"] == []

    fs, where = file_system(session, f"{home}/t")
    permission = session.spark._jvm.org.apache.hadoop.fs.permission.FsPermission("775")  # type: ignore[union-attr]
    fs.setOwner(where, None, "staff")
    fs.setPermission(where, permission)
    written = as_user("alice", session, tmp_path, "INSERT INTO t VALUES (2, 'b')")
    assert written.returncode == 1
    fs.setOwner(where, "alice", "staff")
    written = as_user("alice", session, tmp_path, "INSERT INTO t VALUES (2, 'b'); UPDATE t SET v = 'c' WHERE k = 1")
    assert written.returncode == 0, written.stderr
    assert rows(session, "SELECT * FROM t ORDER BY k") == [(1, "c"), (2, "b")]
    owners = {status.getPath().getName(): (status.getOwner(), status.getGroup()) for status in fs.listStatus(where)}
    mine = owners.pop("delta_0000001_0000001_0000")
    assert mine[0] != "alice"
    assert set(owners.values()) == {("alice", "staff")}

    for path in (where.getParent(), *(status.getPath() for status in fs.listStatus(where))):
        fs.setOwner(path, "alice", "staff")
    trash = ("--conf", "spark.hadoop.fs.trash.interval=60")  # alice has no home directory, and cannot make one
    dropped = as_user("alice", session, tmp_path, "DROP TABLE t", *trash)
    assert dropped.returncode == 0, dropped.stderr
    assert not fs.exists(where)


# ------------------------------------------------------------------------------------------------ logical names


@pytest.mark.nightly
def test_a_warehouse_behind_a_logical_name_of_name_nodes(spark: SparkSession, hdfs: Hdfs, tmp_path: Path) -> None:
    """The first name node of the name service does not answer, so that each client asks the other one."""
    settings = {
        "dfs.nameservices": "ns",
        "dfs.ha.namenodes.ns": "gone,there",
        "dfs.namenode.rpc-address.ns.gone": "127.0.0.1:1",
        "dfs.namenode.rpc-address.ns.there": hdfs.uri.removeprefix("hdfs://"),
        "dfs.client.failover.proxy.provider.ns": f"{_HA}.ConfiguredFailoverProxyProvider",
        "dfs.client.failover.sleep.base.millis": "10",
    }
    with (
        hadoop_settings(spark, settings),
        connect("hdfs://ns/logical", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as session,
    ):
        session.execute(f"CREATE TABLE t (k int, v string) PARTITIONED BY (p int) {ACID}")
        session.execute("SET acidsql.driver.write.max.bytes=0")
        session.execute("INSERT INTO t SELECT CAST(id AS int), 'a', CAST(id % 2 AS int) FROM range(10)")
        session.execute("UPDATE t SET v = 'u' WHERE k = 2")
        session.execute("DELETE FROM t WHERE k > 3")
        session.execute("ALTER TABLE t PARTITION (p = 0) COMPACT 'major' AND WAIT")
        assert rows(session, "SELECT * FROM t ORDER BY k") == [(0, "a", 0), (1, "a", 1), (2, "u", 0), (3, "a", 1)]
        assert session.catalog.table("default", "t").location == "hdfs://ns/logical/t"
        named = rows(session, "SELECT DISTINCT substr(INPUT__FILE__NAME, 1, 20) FROM t")
        assert named == [("hdfs://ns/logical/t/",)]
        session.execute("DROP TABLE t")


# ------------------------------------------------------------------------------------------------ streams


@pytest.mark.nightly
def test_streams_and_batches_of_structured_streaming(session: Session, home: str) -> None:
    session.execute(f"CREATE TABLE t (id bigint, v string) {ACID}")
    with session.stream("t", id="rows") as stream:
        stream.write([{"id": -1, "v": "s"}], offset=1)
    with session.stream("t", id="rows") as stream:
        assert stream.committed_offset == 1
    spark = session.spark
    spark.range(0, 100, 1, 4).selectExpr("id", "'b' AS v").write.parquet(f"{home}/source")
    frame = spark.readStream.schema("id bigint, v string").option("maxFilesPerTrigger", 2).parquet(f"{home}/source")
    write = streaming.append("t", id="batches", session=session)
    for _ in range(2):  # the second query finds nothing new
        query = (
            frame.writeStream.foreachBatch(write)
            .option("checkpointLocation", f"{home}/checkpoint")
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(300)
    assert rows(session, "SELECT count(*), count(DISTINCT id), sum(id) FROM t") == [(101, 101, 4949)]
