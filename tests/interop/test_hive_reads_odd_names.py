"""Columns of odd names in tables that Hive and acidsql both write, and where Hive's own metastore keeps directories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.grammar.quoting import name_sql
from acidsql.session import Session, connect
from tests.interop.hive_client import Hive, HiveError
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_spark

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]

DATABASE: Final = "odd_names"
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
NAMES: Final = ("a`b", "a`c", "a b", "@branch", "select", "é", "a'b", "a/b=c", "<>", "_metadata", "operation")
"""None with a comma: Hive 4.0.1 takes it for two names when it writes, and loses all columns but one. None that begins
with a backtick: it cannot read the files of such that it wrote."""


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.execute(f"USE {DATABASE}")
        yield opened
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


def test_hive_and_acidsql_read_each_others_columns(session: Session, hive: Hive) -> None:
    quoted = [name_sql(name) for name in NAMES]
    table = f"{DATABASE}.t"
    values = ", ".join(f"'{i}'" for i in range(len(NAMES)))
    session.execute(f"CREATE TABLE t (k INT, {', '.join(f'{n} STRING' for n in quoted)}) {ACID}")
    session.execute(f"INSERT INTO t VALUES (1, {values}), (2, {values})")
    hive.run(f"INSERT INTO {table} VALUES (3, {values}), (4, {values})")
    session.execute(f"UPDATE t SET {quoted[0]} = concat('u', {quoted[1]}), {quoted[2]} = 'x' WHERE k IN (1, 3)")
    hive.run(f"DELETE FROM {table} WHERE k = 2")
    columns = f"row__id, k, {', '.join(quoted)}"
    mine = rows_of_spark(session.sql(f"SELECT {columns} FROM t").collect())
    for mode in ("vectorized", "fetch task"):
        assert_same_rows(hive_rows(hive, table, columns, mode_name=mode), mine, mode)
    found = {row[1]: (row[2], row[3], row[4]) for row in session.sql(f"SELECT {columns} FROM t").collect()}
    assert found == {1: ("u1", "1", "x"), 3: ("u1", "1", "x"), 4: ("0", "1", "2")}


@pytest.mark.parametrize("name", ["a.b", "a:b", "row__id"])
def test_hive_refuses_the_columns_that_acidsql_refuses(session: Session, hive: Hive, name: str) -> None:
    sql = f"CREATE TABLE {DATABASE}.x (k INT, {name_sql(name)} INT) {ACID}"
    with pytest.raises(HiveError):
        hive.run(sql)
    with pytest.raises(AcidSqlError, match="INVALID_COLUMN_NAME"):
        session.execute(sql)


def test_drop_on_hives_metastore_leaves_the_rows_of_another_table(session: Session, hive: Hive, tmp_path: Path) -> None:
    session.execute(f"CREATE EXTERNAL TABLE inner_one (k INT) STORED AS ORC LOCATION '{tmp_path}/outer/inner'")
    session.execute("INSERT INTO inner_one VALUES (1)")
    with pytest.raises(AcidSqlError, match="LOCATION_TAKEN"):
        session.execute(f"CREATE TABLE y (k INT) STORED AS ORC LOCATION '{tmp_path}/outer'")
    hive.run(
        f"CREATE EXTERNAL TABLE {DATABASE}.outer_one (k INT) STORED AS ORC LOCATION 'file:{tmp_path}/outer'"
        " TBLPROPERTIES ('external.table.purge'='true')"
    )
    session.execute("DROP TABLE outer_one")
    assert [row[0] for row in session.sql("SELECT k FROM inner_one").collect()] == [1]
