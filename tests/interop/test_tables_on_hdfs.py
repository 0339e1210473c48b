"""Tables on a real HDFS: what acidsql writes there has Hive's user metadata, and Hive reads, changes and splits it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import connect
from acidsql.spark.catalyst.sessions import hadoop_files
from tests.answers import rows
from tests.interop.hdfs_process import Hdfs
from tests.interop.hive_client import READ_MODES, Hive
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_acidsql
from tests.support.hive_metadata import assert_as_hive_writes_it, user_metadata

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_COUNT: Final = 60_000
_ACID: Final = "STORED AS ORC"
_SMALL_STRIPES: Final = "'orc.stripe.size'='100000', 'orc.row.index.stride'='2000'"


@pytest.mark.nightly
def test_hive_reads_and_changes_what_acidsql_wrote_to_hdfs(hdfs: Hdfs, hive: Hive, spark: SparkSession) -> None:
    hive.run(
        "DROP DATABASE IF EXISTS away CASCADE", f"CREATE DATABASE away MANAGEDLOCATION '{hdfs.uri}/warehouse/away'"
    )
    with connect(metastore=hive.metastore_uri, spark=spark) as session:
        session.execute(
            "CREATE TABLE away.t (id int, v string) PARTITIONED BY (p string) STORED AS ORC"
            f" TBLPROPERTIES ('transactional'='true', {_SMALL_STRIPES})"
        )

        def both_read(what: str) -> None:
            mine = rows_of_acidsql(session, "SELECT row__id, * FROM away.t")
            for mode in READ_MODES:
                assert_same_rows(hive_rows(hive, "away.t", mode_name=mode.name), mine, f"{what}, {mode.name}")

        session.execute(
            f"INSERT INTO away.t SELECT CAST(id AS int), sha2(CAST(id AS string), 512), IF(id % 3 = 0, 'a/b', 'c')"
            f" FROM range(0, {_COUNT}, 1, 2)"
        )
        session.execute("INSERT INTO away.t VALUES (-1, 'little', 'c')")
        session.execute("UPDATE away.t SET v = concat('new ', id) WHERE id % 7 = 0")
        session.execute("DELETE FROM away.t WHERE id % 5 = 0")
        session.execute(
            "MERGE INTO away.t USING (VALUES (-1, 'merged'), (-2, 'more')) s(k, w) ON t.id = s.k"
            " WHEN MATCHED THEN UPDATE SET v = s.w WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w, 'c')"
        )
        location = session.catalog.table("away", "t").location
        assert location.startswith(hdfs.uri)
        found = user_metadata(spark, location)
        for path, metadata in found.items():
            assert_as_hive_writes_it(metadata, is_delete="delete_delta" in path)
        assert max(int(metadata["stripes"]) for metadata in found.values()) > 2
        hive.run("DELETE FROM away.t WHERE id > 1000")
        hive.run("UPDATE away.t SET v = 'of Hive' WHERE id BETWEEN 100 AND 110")
        both_read("changed by both")
        session.execute("ALTER TABLE away.t PARTITION (p = 'c') COMPACT 'minor' AND WAIT")
        both_read("compacted by acidsql, minor")
        session.execute("ALTER TABLE away.t PARTITION (p = 'a/b') COMPACT 'major' AND WAIT")
        both_read("compacted by acidsql, major")
        for path, metadata in user_metadata(spark, location).items():
            assert_as_hive_writes_it(metadata, is_delete="delete_delta" in path)
        hive.compact("away.t", "major", "p = 'c'")
        both_read("compacted by Hive")
    hive.run("DROP DATABASE away CASCADE")


def test_a_warehouse_on_hdfs_with_the_embedded_metastore(hdfs: Hdfs, spark: SparkSession, tmp_path: Path) -> None:
    with connect(f"{hdfs.uri}/embedded", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark) as session:
        session.execute(
            f"CREATE TABLE t (id int, at timestamp with local time zone, s struct<a:int,b:char(3)>) {_ACID}"
            " TBLPROPERTIES ('transactional'='true')"
        )
        session.execute(
            "INSERT INTO t VALUES (1, timestamp '2024-02-29 12:00:00.5 UTC', named_struct('a', 1, 'b', 'x'))"
        )
        session.execute("INSERT INTO t VALUES (2, NULL, NULL), (3, NULL, NULL)")
        session.execute("DELETE FROM t WHERE id = 2")
        expected = [(1, 1709208000.5, 1, "x  "), (3, None, None, None)]
        query = "SELECT id, CAST(at AS double), s.a, s.b FROM t ORDER BY id"
        assert rows(session, query) == expected
        for kind in ("minor", "major"):
            session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
            assert rows(session, query) == expected
        location = session.catalog.table("default", "t").location
        # The others are the cleaner's, when nobody reads them any more.
        (metadata,) = (found for path, found in user_metadata(spark, location).items() if path.startswith("base_"))
        assert_as_hive_writes_it(metadata, is_delete=False)
        session.execute("INSERT OVERWRITE TABLE t SELECT id + 10, at, s FROM t")
        session.execute("ALTER TABLE t RENAME TO moved")
        assert rows(session, "SELECT id FROM moved ORDER BY id") == [(11,), (13,)]
        session.execute("DROP TABLE moved")
        assert not hadoop_files(spark).list_below(f"{hdfs.uri}/embedded").files
