"""Compactions on a Hive Metastore: acidsql's worker on Hive's queue, and Hive reading what it made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.compactor.layout import as_streamed, stripes_in_order
from tests.interop.hive_client import READ_MODES, Hive
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, rows_of_spark
from tests.selection import core

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

DATABASE = "compacted"
KINDS = {
    "flat": "(id int, v int, p string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "parted": "(id int, v int) PARTITIONED BY (p string) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "bucketed": "(id int, v int, p string) CLUSTERED BY (id) INTO 3 BUCKETS STORED AS ORC"
    " TBLPROPERTIES ('transactional'='true')",
    "insert_only": "(id int, v int, p string) STORED AS ORC"
    " TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
}


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        opened.execute(f"USE {DATABASE}")
        yield opened
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


def check(session: Session, hive: Hive, name: str, what: str, before: list[object] | None = None) -> list[object]:
    """Both read the same, row IDs and all, and what was read before."""
    columns = "*" if name == "insert_only" else "row__id, *"
    result = session.execute(f"SELECT {columns} FROM {name}")
    mine = rows_of_spark(list(result.rows()))  # type: ignore[arg-type]
    result.close()
    for mode in READ_MODES:
        assert_same_rows(
            hive_rows(hive, f"{DATABASE}.{name}", columns, mode_name=mode.name), mine, f"{what}, {mode.name}"
        )
    assert before is None or sorted(map(repr, mine)) == sorted(map(repr, before)), what
    return list(mine)


@pytest.mark.nightly
def test_hive_reads_a_bucket_that_threads_streamed_in_parts(hive: Hive, session: Session) -> None:
    """Each part, the rows of some write IDs, becomes stripes of the one file of the bucket."""
    session.execute(f"CREATE TABLE flat {KINDS['flat']}")
    for first in (0, 1000, 2000, 3000):
        session.execute(f"INSERT INTO flat SELECT id, id % 7, concat('p', id) FROM range({first}, {first + 1000})")
    session.execute("DELETE FROM flat WHERE id % 10 = 3")
    before = check(session, hive, "flat", "before")
    with as_streamed(), patch.object(os, "cpu_count", lambda: 4):
        (major,) = session.execute("ALTER TABLE flat COMPACT 'major' AND WAIT").rows()
    assert " -> base_0000005_v" in str(major[2])
    (file,) = Path(session.catalog.table(DATABASE, "flat").location.removeprefix("file:")).glob("base_*/bucket_*")
    assert stripes_in_order(file) > 1
    check(session, hive, "flat", "major", before)
    hive.run(
        f"UPDATE {DATABASE}.flat SET v = 0 WHERE id IN (5, 1500, 3999)", f"DELETE FROM {DATABASE}.flat WHERE id = 0"
    )
    check(session, hive, "flat", "Hive's changes after the compaction")


@pytest.mark.parametrize("name", core(KINDS, lambda name: name == "parted"))
def test_hive_reads_what_acidsql_compacted_on_its_queue_and_goes_on(name: str, hive: Hive, session: Session) -> None:
    session.execute(f"CREATE TABLE {name} {KINDS[name]}")
    clause = "PARTITION (p='a')" if name == "parted" else ""
    session.execute(f"INSERT INTO {name} VALUES (1, 1, 'a'), (2, 2, 'a'), (3, 3, 'b'), (4, 4, 'a')")
    hive.run(f"INSERT INTO {DATABASE}.{name} VALUES (5, 5, 'a'), (6, 6, 'a'), (7, 7, 'b')")
    session.execute(f"INSERT INTO {name} VALUES (8, 8, 'a')")
    if name != "insert_only":
        session.execute(f"UPDATE {name} SET v = v * 10 WHERE id IN (1, 6)")
        hive.run(f"DELETE FROM {DATABASE}.{name} WHERE id = 2")
    before = check(session, hive, name, "before")
    (minor,) = session.execute(f"ALTER TABLE {name} {clause} COMPACT 'minor' AND WAIT").rows()
    assert minor[1] in ("ready for cleaning", "succeeded"), minor
    assert " -> delta_0000001_" in str(minor[2])
    check(session, hive, name, "minor", before)
    hive.run(f"INSERT INTO {DATABASE}.{name} VALUES (9, 9, 'a')")
    if name != "insert_only":
        session.execute(f"DELETE FROM {name} WHERE id = 4")
    before = check(session, hive, name, "after minor")
    (major,) = session.execute(f"ALTER TABLE {name} {clause} COMPACT 'major' AND WAIT").rows()
    assert major[1] in ("ready for cleaning", "succeeded"), major
    assert " -> base_" in str(major[2])
    check(session, hive, name, "major", before)
    if name != "insert_only":
        hive.run(f"UPDATE {DATABASE}.{name} SET v = 0 WHERE id = 5")
    check(session, hive, name, "Hive's update after the major one")
    if name == "flat":
        session.execute(f"ALTER TABLE {name} COMPACT 'rebalance' CLUSTERED INTO 2 BUCKETS AND WAIT")
        check(session, hive, name, "rebalanced")
        hive.run(f"DELETE FROM {DATABASE}.{name} WHERE id = 1")
        check(session, hive, name, "Hive's delete after the rebalance")


@pytest.mark.parametrize("name", ["flat", "insert_only"])
def test_hive_reads_a_table_that_retains_its_history(hive: Hive, session: Session, name: str) -> None:
    """The lists of replaced files in the bases and deltas of compactions do not disturb Hive. Versions are right, or
    refused where Hive's cleaner was faster."""
    kind = KINDS[name].replace("'transactional'='true'", "'transactional'='true', 'acidsql.history.retention'='1d'")
    session.execute(f"CREATE TABLE {name} {kind}")
    then = [list[object]()]
    for statement in ("INTO", "INTO", "OVERWRITE TABLE", "INTO", "INTO"):
        session.execute(f"INSERT {statement} {name} VALUES ({len(then)}, 1, 'a')")
        then.append(check(session, hive, name, f"INSERT {statement}"))
    for how in ("minor", "major"):
        session.execute(f"ALTER TABLE {name} COMPACT '{how}' AND WAIT")
        check(session, hive, name, how, then[-1])
    session.execute(f"TRUNCATE TABLE {name}")
    assert check(session, hive, name, "TRUNCATE") == []
    session.execute(f"INSERT INTO {name} VALUES (9, 9, 'z')")
    last = check(session, hive, name, "INSERT")
    hive.compact(f"{DATABASE}.{name}", "major")
    check(session, hive, name, "Hive's compaction", last)
    for version, rows in enumerate(then):
        try:
            found = session.read_arrow(name, version=version).read_all().to_pylist()
            assert len(found) == len(rows)
        except AcidSqlError as refused:
            if refused.condition != "NOT_ENOUGH_HISTORY" or "hive.compactor.delayed.cleanup" not in str(refused):
                raise
