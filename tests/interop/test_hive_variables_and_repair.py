"""Variables and MSCK: a real Hive and acidsql give the same texts, and find the same partitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.interop.hive_client import Hive, HiveError

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

DATABASE: Final = "repaired"
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
SETTINGS: Final = (
    "SET hivevar:acidsql_a=1",
    "SET hiveconf:a.test.conf=c",
    "SET acidsql_bare=not a variable",
    "SET hivevar:acidsql_key=a.test.conf",
    "SET hivevar:acidsql_late=${acidsql_later}x",
    "SET hivevar:acidsql_later=y",
    "SET hivevar:acidsql_early=${acidsql_a}${hivevar:acidsql_a}",
    "SET system:a.test=s p a c e",
    "SET hivevar:acidsql_loop=${acidsql_loop}",
    "SET hivevar:acidsql_part={acidsql_a}",
    "SET hivevar:acidsql_empty=",
)
TEXTS: Final = (
    "${acidsql_a} ${hivevar:acidsql_a} ${ acidsql_a} ${acidsql_a } $acidsql_a {acidsql_a}",
    "${acidsql_bare} ${hiveconf:acidsql_bare} ${hivevar:acidsql_bare}",
    "${hiveconf:a.test.conf} ${a.test.conf} ${hiveconf:${acidsql_key}}",
    "${acidsql_late} ${acidsql_early} <${acidsql_empty}>",
    "${system:a.test} ${system:a.other} ${env:HOME} ${env:ACIDSQL_NOT_SET}",
    "${system:user.name} ${system:file.separator}",
    "$${acidsql_part} ${unknown ${acidsql_a}} ${} ${ACIDSQL_A}",
)
PLACES: Final = ("day=1", "day=2", "_hidden", ".hidden")


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}", f"USE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.sql(f"USE {DATABASE}")
        yield opened
    hive.run("SET hive.variable.substitute=true", "USE default", f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


def test_variables_become_the_same_text(hive: Hive, session: Session) -> None:
    hive.run(*SETTINGS)
    for setting in SETTINGS:
        session.execute(setting)
    for text in TEXTS:
        [[expected]] = hive.rows(f"SELECT '{text}'")
        assert [list(row) for row in session.sql(f"SELECT '{text}'").collect()] == [[expected]]
    with pytest.raises(HiveError, match="deeper than 40"):
        hive.rows("SELECT '${acidsql_loop}'")
    with pytest.raises(AcidSqlError, match="deeper than 40"):
        session.sql("SELECT '${acidsql_loop}'")
    for run in (hive.run, session.execute):
        run("SET hive.variable.substitute=false")
    assert hive.rows("SELECT '${acidsql_a}'") == [["${acidsql_a}"]]
    assert [list(row) for row in session.sql("SELECT '${acidsql_a}'").collect()] == [["${acidsql_a}"]]


@pytest.mark.parametrize("kind", ["STORED AS ORC", ACID])
def test_msck_finds_the_same_partitions(hive: Hive, session: Session, kind: str) -> None:
    for name in ("mine", "theirs"):
        external = "EXTERNAL " if kind == "STORED AS ORC" else ""
        hive.run(f"CREATE {external}TABLE {name} (id int) PARTITIONED BY (day int) {kind}")
        root = Path(session.catalog.table(DATABASE, name).location)
        for place in PLACES:
            (root / place).mkdir(parents=True)
    hive.run("MSCK REPAIR TABLE theirs")
    session.execute("MSCK REPAIR TABLE mine")
    assert _partitions(hive, "mine") == _partitions(hive, "theirs") != []
    for name in ("mine", "theirs"):
        root = Path(session.catalog.table(DATABASE, name).location)
        (root / "day=1").rmdir()
        (root / "day=3").mkdir()
    hive.run("MSCK REPAIR TABLE theirs SYNC PARTITIONS")
    report = [str(row[0]) for row in session.execute("MSCK REPAIR TABLE mine SYNC PARTITIONS").rows()]
    assert report[-2:] == [
        "Repair: Added partition to metastore mine:day=3",
        "Repair: Dropped partition from metastore mine:day=1",
    ]
    assert _partitions(hive, "mine") == _partitions(hive, "theirs")


def _partitions(hive: Hive, table: str) -> list[str]:
    return sorted(str(row[0]) for row in hive.rows(f"SHOW PARTITIONS {table}"))


def test_hive_reads_the_rows_of_a_partition_that_msck_added(hive: Hive, session: Session) -> None:
    session.execute(f"CREATE TABLE visit (id int) PARTITIONED BY (day int) {ACID}")
    session.execute("INSERT INTO visit VALUES (1, 1), (2, 2)")
    root = Path(session.catalog.table(DATABASE, "visit").location)
    (root / "day=2").rename(root.parent / "kept")
    session.execute("ALTER TABLE visit DROP PARTITION (day = 2)")
    (root.parent / "kept").rename(root / "day=2")
    session.execute("MSCK REPAIR TABLE visit")
    assert sorted(hive.rows("SELECT id, day FROM visit"), key=repr) == [[1, 1], [2, 2]]
    assert sorted(map(list, session.sql("SELECT id, day FROM visit").collect())) == [[1, 1], [2, 2]]
