"""Streams into tables of a real Hive Metastore: Hive reads what is committed while the files grow, changes streamed
rows, and compacts them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.answers import rows
from tests.interop.hive_client import READ_MODES, Hive, HiveRow
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_acidsql

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

DATABASE: Final = "streamed"
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.sql(f"USE {DATABASE}")
        yield opened
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


def both_read(session: Session, hive: Hive, table: str, columns: str = "row__id, *") -> list[HiveRow]:
    """What acidsql reads, which each of Hive's readers must read too, row ID for row ID."""
    mine = rows_of_acidsql(session, f"SELECT {columns} FROM {table}")
    for mode in READ_MODES:
        assert_same_rows(hive_rows(hive, f"{DATABASE}.{table}", columns, mode_name=mode.name), mine, mode.name)
    return mine


def test_hive_reads_changes_and_compacts_what_is_streamed(session: Session, hive: Hive) -> None:
    session.sql(f"CREATE TABLE flat (id bigint, name string) {ACID}")
    session.sql(
        "CREATE TABLE parted (id bigint, v decimal(9,2), t timestamp) PARTITIONED BY (day string)"
        f" CLUSTERED BY (id) INTO 3 BUCKETS {ACID}"
    )
    with (
        session.stream("flat", "f", commit_rows=None, commit_seconds=None) as flat,
        session.stream("parted", "p", commit_rows=None, commit_seconds=None) as parted,
    ):
        for number in range(4):
            flat.write([(10 * number + i, f"n{i}") for i in range(10)], offset=number)
            parted.write(
                [(10 * number + i, Decimal(i), "2026-01-01 00:00:01.25", f"d{i % 2}") for i in range(10)], number
            )
            if number < 3:
                flat.commit()
                parted.commit()
        assert len(both_read(session, hive, "flat")) == 30
        assert len(both_read(session, hive, "parted")) == 30
        hive.run(
            f"UPDATE {DATABASE}.flat SET name = 'hive' WHERE id % 5 = 0",
            f"DELETE FROM {DATABASE}.parted WHERE id % 7 = 0",
        )
        flat.commit()
        parted.commit()
        assert len(both_read(session, hive, "flat")) == 40
        assert len(both_read(session, hive, "parted")) == 35
    with session.stream("flat", "f", commit_rows=None, commit_seconds=None) as flat:
        flat.write((1000, "second batch"), offset=4)
        flat.commit()
        hive.compact(f"{DATABASE}.flat", "minor")  # beside the open batch
        session.sql("UPDATE parted SET v = 0 WHERE id % 4 = 1")
        assert len(both_read(session, hive, "flat")) == 41
    hive.compact(f"{DATABASE}.flat", "major")
    for day in ("d0", "d1"):
        hive.compact(f"{DATABASE}.parted", "major", f"day='{day}'")
    assert len(both_read(session, hive, "flat")) == 41
    assert len(both_read(session, hive, "parted")) == 35
    assert rows(session, "SELECT count(*), count(DISTINCT id) FROM flat") == [(41, 41)]
    with session.stream("flat", "f") as stream:
        assert stream.committed_offset == 4


def test_hive_reads_an_insert_only_table_that_is_streamed_into(session: Session, hive: Hive) -> None:
    session.sql(f"CREATE TABLE io (id bigint, name string) {INSERT_ONLY}")
    with session.stream("io", "s", commit_rows=2, commit_seconds=None) as stream:
        for number in range(5):
            stream.write((number, "a"), offset=number)
        assert len(both_read(session, hive, "io", "*")) == 4
    assert len(both_read(session, hive, "io", "*")) == 5
    hive.run(f"INSERT INTO {DATABASE}.io VALUES (9, 'hive')")
    assert len(both_read(session, hive, "io", "*")) == 6
