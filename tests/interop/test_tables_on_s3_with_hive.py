"""Tables in a store of S3's protocol that Hive 4.0.1 and acidsql read and change in turns, each by its own S3A."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.planner.plan import DRIVER_BYTES
from acidsql.session import connect
from tests.interop.hive_client import READ_MODES, Hive
from tests.interop.maven import class_path
from tests.interop.s3_server import S3Server, s3a_settings, use_s3
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_acidsql
from tests.support.hive_metadata import assert_as_hive_writes_it, user_metadata

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(900)]

_POM: Final = Path(__file__).parent / "s3a_of_hive" / "pom.xml"
_SHOWS_KEYS: Final = {"hive.conf.hidden.list": "javax.jdo.option.ConnectionPassword"}
"""Hive's tasks do not get the keys of S3A by default; a credential provider would be the way in production."""
_SMALL_STRIPES: Final = "'orc.stripe.size'='100000', 'orc.row.index.stride'='2000'"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def hive_on_s3(store: S3Server) -> Iterator[Hive]:
    root = Path(tempfile.mkdtemp(prefix="acidsql-hive-"))
    try:
        with Hive(root, {**s3a_settings(store.port), **_SHOWS_KEYS}, class_path(_POM)) as running:
            yield running
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("driver_bytes", [64 << 20, 0])
def test_hive_reads_and_changes_what_acidsql_wrote_to_s3(
    store: S3Server, hive_on_s3: Hive, spark: SparkSession, driver_bytes: int
) -> None:
    hive, database = hive_on_s3, f"away{driver_bytes}"
    use_s3(spark, store.port)
    table = f"{database}.t"
    with connect(metastore=hive.metastore_uri, spark=spark) as session:
        session.execute(f"CREATE DATABASE {database} MANAGEDLOCATION 's3a://{store.bucket}/{database}'")
        session.execute(f"SET {DRIVER_BYTES}={driver_bytes}")
        session.execute(
            f"CREATE TABLE {table} (id int, v string) PARTITIONED BY (p string)"
            f" STORED AS ORC TBLPROPERTIES ('transactional'='true', {_SMALL_STRIPES})"
        )

        def both_read(what: str) -> None:
            mine = rows_of_acidsql(session, f"SELECT row__id, * FROM {table}")
            for mode in READ_MODES:
                assert_same_rows(hive_rows(hive, table, mode_name=mode.name), mine, f"{what}, {mode.name}")

        session.execute(
            f"INSERT INTO {table} SELECT CAST(id AS int), sha2(CAST(id AS string), 512),"
            " IF(id % 3 = 0, 'a/b', 'c') FROM range(0, 20000, 1, 2)"
        )
        session.execute(f"INSERT INTO {table} VALUES (-1, 'little', 'c')")
        session.execute(f"UPDATE {table} SET v = concat('new ', id) WHERE id % 7 = 0")
        session.execute(f"DELETE FROM {table} WHERE id % 5 = 0")
        for path, metadata in user_metadata(spark, session.catalog.table(database, "t").location).items():
            assert_as_hive_writes_it(metadata, is_delete="delete_delta" in path)
        hive.run(f"DELETE FROM {table} WHERE id > 1000")
        hive.run(f"UPDATE {table} SET v = 'of Hive' WHERE id BETWEEN 100 AND 110")
        both_read("changed by both")
        session.execute(f"ALTER TABLE {table} PARTITION (p = 'c') COMPACT 'minor' AND WAIT")
        session.execute(f"ALTER TABLE {table} PARTITION (p = 'a/b') COMPACT 'major' AND WAIT")
        both_read("compacted by acidsql")
        hive.compact(table, "major", "p = 'c'")
        both_read("compacted by Hive")
        session.execute(f"DROP DATABASE {database} CASCADE")
