"""Tables on a file system of Hadoop's that is not the local one: a view of a directory (viewfs)."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.planner import write_strategy
from acidsql.planner.plan import DRIVER_BYTES
from acidsql.session import Session, connect
from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.storage.file_systems import NewEnd
from tests.selection import every
from tests.support.hive_metadata import assert_as_hive_writes_it, user_metadata

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@dataclass(frozen=True, slots=True)
class Away:
    """A session whose warehouse is a URI, and the local directory that lies behind its root."""

    session: Session
    behind: Path

    def rows(self, query: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.session.sql(query).collect()]

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.session.sql(statement)


@pytest.fixture
def away(spark: SparkSession, tmp_path: Path) -> Iterator[Away]:
    behind = tmp_path / "behind"
    (behind / "warehouse").mkdir(parents=True)
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    host = f"m{uuid.uuid4().hex}"  # a URI's host has no underscore
    conf.set(f"fs.viewfs.mounttable.{host}.link./warehouse", f"file://{behind}/warehouse")
    metastore = f"sqlite:///{tmp_path}/metastore.db"
    with connect(f"viewfs://{host}/warehouse", metastore=metastore, spark=spark) as session:
        yield Away(session, behind)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("most_of_driver", "much"), every(3, [(64 << 20, write_strategy.MUCH), (0, write_strategy.MUCH), (0, 0)])
)
def test_a_full_acid_table_is_written_changed_compacted_and_dropped(
    away: Away, most_of_driver: int, much: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_strategy, "MUCH", much)
    files = hadoop_files(away.session.spark)
    assert files.new_end(str(away.session.warehouse)) is NewEnd.IN_A_COPY, "as in object stores"
    away.run(
        f"SET {DRIVER_BYTES}={most_of_driver}",
        f"CREATE TABLE t (k INT, v STRING) {_ACID}",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "UPDATE t SET v = 'u' WHERE k = 2",
        "DELETE FROM t WHERE k = 1",
        "MERGE INTO t USING (VALUES (3), (4)) s(x) ON t.k = s.x"
        " WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.x, 'n')",
    )
    for name, metadata in user_metadata(away.session.spark, f"{away.session.warehouse}/t").items():
        assert_as_hive_writes_it(metadata, is_delete="delete_delta" in name)
    before = away.rows("SELECT row__id, k, v FROM t ORDER BY k")
    assert [row[1:] for row in before] == [(2, "u"), (3, "m"), (4, "n")]
    for kind in ("minor", "major"):
        away.run(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
        assert away.rows("SELECT row__id, k, v FROM t ORDER BY k") == before
    assert str(away.rows("SELECT DISTINCT INPUT__FILE__NAME FROM t")[0][0]).startswith("viewfs://")
    away.run("INSERT OVERWRITE TABLE t SELECT k + 10, v FROM t")
    assert away.rows("SELECT k FROM t ORDER BY k") == [(12,), (13,), (14,)]
    away.run("ALTER TABLE t RENAME TO moved", "INSERT INTO moved VALUES (1, 'x')", "TRUNCATE TABLE moved")
    assert away.rows("SELECT * FROM moved") == []
    assert [p.name for p in (away.behind / "warehouse").iterdir() if not p.name.startswith(".")] == ["moved"]
    away.run("DROP TABLE moved")
    assert not [p.name for p in (away.behind / "warehouse").iterdir() if not p.name.startswith(".")]


@pytest.mark.ci
def test_partitions_are_created_renamed_and_dropped(away: Away) -> None:
    away.run(
        f"CREATE TABLE t (k INT, v STRING) PARTITIONED BY (p STRING) {_ACID}",
        "INSERT INTO t VALUES (1, 'a', 'x y'), (2, 'b', '100%'), (3, 'c', 'ż/}')",
        "UPDATE t SET p = 'z' WHERE k = 1",
        "ALTER TABLE t ADD PARTITION (p = 'new')",
        "INSERT INTO t PARTITION (p = 'new') VALUES (4, 'd')",
        "ALTER TABLE t PARTITION (p = '100%') RENAME TO PARTITION (p = '99%')",
    )
    assert away.rows("SELECT * FROM t ORDER BY k") == [
        (1, "a", "z"),
        (2, "b", "99%"),
        (3, "c", "ż/}"),
        (4, "d", "new"),
    ]
    away.run("ALTER TABLE t DROP PARTITION (p = 'new')", "ALTER TABLE t PARTITION (p = '99%') COMPACT 'major' AND WAIT")
    assert away.rows("SELECT k FROM t ORDER BY k") == [(1,), (2,), (3,)]
    assert not (away.behind / "warehouse" / "t" / "p=new").exists()


@pytest.mark.ci
@pytest.mark.parametrize("file_format", every(3, ["ORC", "PARQUET", "TEXTFILE"]))
def test_insert_only_and_plain_tables_are_written_and_converted(away: Away, file_format: str) -> None:
    away.run(
        f"CREATE TABLE t (k INT, d DATE) STORED AS {file_format} {_INSERT_ONLY}",
        "INSERT INTO t VALUES (1, date '2024-02-29')",
        "INSERT INTO t VALUES (2, date '0001-01-01')",
        "ALTER TABLE t COMPACT 'major' AND WAIT",
    )
    assert away.rows("SELECT k, CAST(d AS STRING) FROM t ORDER BY k") == [(1, "2024-02-29"), (2, "0001-01-01")]
    if file_format == "ORC":
        away.run(
            "CREATE TABLE plain (k INT) STORED AS ORC",
            "INSERT INTO plain VALUES (1), (2)",
            "INSERT INTO plain VALUES (3)",
            "ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true')",
            "DELETE FROM plain WHERE k = 2",
        )
        assert away.rows("SELECT k FROM plain ORDER BY k") == [(1,), (3,)]


@pytest.mark.parametrize("is_local", [True, False])
def test_load_data_takes_files_of_this_machine_and_of_the_same_file_system(away: Away, is_local: bool) -> None:
    away.run("CREATE TABLE plain (k INT) STORED AS ORC", "INSERT INTO plain VALUES (1), (2)")
    source = away.behind / "warehouse" / "plain"
    path = source if is_local else f"{away.session.warehouse}/plain"
    away.run(
        f"CREATE TABLE t (k INT) PARTITIONED BY (p INT) {_ACID}",
        f"LOAD DATA {'LOCAL' if is_local else ''} INPATH '{path}' INTO TABLE t PARTITION (p = 1)",
        "DELETE FROM t WHERE k = 1",
    )
    assert away.rows("SELECT k, p FROM t") == [(2, 1)]
    assert bool([p for p in source.rglob("0*") if not p.name.endswith(".crc")]) == is_local


def test_databases_and_locations_of_tables_lie_on_it(away: Away) -> None:
    away.run("CREATE DATABASE d", f"CREATE TABLE d.t (k INT) {_ACID}", "INSERT INTO d.t VALUES (1)")
    shutil.copytree(away.behind / "warehouse" / "d.db" / "t", away.behind / "warehouse" / "there")
    taken, location = away.session.catalog.table("d", "t").location, f"{away.session.warehouse}/there"
    with pytest.raises(AcidSqlError, match="LOCATION_TAKEN"):
        away.run(f"CREATE TABLE adopted (k INT) STORED AS ORC LOCATION '{taken}/../t'")
    away.run(f"CREATE TABLE adopted (k INT) STORED AS ORC LOCATION '{location}' TBLPROPERTIES ('transactional'='true')")
    assert away.rows("SELECT * FROM adopted") == [(1,)]
    away.run("CREATE TABLE made STORED AS ORC TBLPROPERTIES ('transactional'='true') AS SELECT k + 1 AS k FROM d.t")
    assert away.rows("SELECT * FROM made") == [(2,)]
    away.run("DROP DATABASE d CASCADE")
    assert not (away.behind / "warehouse" / "d.db").exists()
