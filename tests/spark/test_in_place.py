"""UPDATE and DELETE of a table with one file per bucket: the files of other strategies, without a shuffle and a
sort."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.spark.test_plan_shape import executions_after, last_execution, plan_nodes
from tests.support.acid_files import check_file, event_files

SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int,v:string>>"
)
TABLES = {
    "flat": "(id INT, v STRING)",
    "bucketed": "(id INT, v STRING) CLUSTERED BY (id) INTO 3 BUCKETS",
    "parted": "(id INT, v STRING) PARTITIONED BY (p INT)",
}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(tmp_path / "warehouse", spark=spark) as opened:
        opened.execute("SET acidsql.driver.write.max.bytes=0")
        yield opened


def made(session: Session, kind: str) -> Path:
    session.execute(f"CREATE TABLE t {TABLES[kind]} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    rows = session.spark.range(0, 600, 1, 3).selectExpr("CAST(id AS INT) id", "CONCAT('v', id) v")
    last = ", id % 2" if kind == "parted" else ""
    session.sql(f"INSERT INTO t SELECT *{last} FROM {{rows}}", rows=rows)
    return Path(session.catalog.table("default", "t").location)


def operators(session: Session, statement: str) -> str:
    before = last_execution(session.spark)
    session.execute(statement)
    return " ".join(name for e in executions_after(session.spark, before) for name, _ in plan_nodes(e))


@pytest.mark.ci
@pytest.mark.parametrize("kind", TABLES)
def test_an_update_and_a_delete_in_place_change_the_right_rows(session: Session, kind: str) -> None:
    root = made(session, kind)
    deleted = operators(session, "DELETE FROM t WHERE id % 5 = 0")
    assert "Exchange" not in deleted
    assert "Sort" not in deleted
    assert "InsertIntoHadoopFsRelationCommand" in deleted
    ids_before = {row[0]: row[1] for row in session.sql("SELECT id, row__id FROM t").collect()}
    updated = operators(session, "UPDATE t SET v = CONCAT(v, '!') WHERE id % 3 = 0")
    assert ("Exchange" in updated) is (kind == "parted"), "row IDs of two partitions' tasks would be the same"
    found = {row[0]: (row[1], row[2]) for row in session.sql("SELECT id, v, row__id FROM t").collect()}
    assert {key: v for key, (v, _) in found.items()} == {
        n: f"v{n}!" if n % 3 == 0 else f"v{n}" for n in range(600) if n % 5
    }
    assert len({row_id for _, row_id in found.values()}) == len(found)
    assert all(found[n][1] == ids_before[n] for n in found if n % 3)
    for directory in {path.parent.parent for path in root.rglob("bucket_*")}:
        for file in event_files(directory):
            check_file(file, SCHEMA)


@pytest.mark.ci
def test_new_rows_are_numbered_from_0_without_gaps(session: Session) -> None:
    made(session, "flat")
    session.execute("UPDATE t SET v = 'new' WHERE id % 2 = 0")
    ids = [row[0] for row in session.sql("SELECT row__id FROM t WHERE v = 'new'").collect()]
    by_bucket: dict[int, list[int]] = {}
    for row_id in ids:
        by_bucket.setdefault(row_id.bucketid, []).append(row_id.rowid)
    assert len(by_bucket) == 3
    assert all(sorted(rows) == list(range(len(rows))) for rows in by_bucket.values())


@pytest.mark.ci
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE t SET v = 'x' WHERE id IN (SELECT max(id) FROM t)",
        "DELETE FROM t WHERE id IN (SELECT 5 AS id)",
        "UPDATE t SET v = (SELECT 'x')",
    ],
)
def test_a_statement_that_reads_more_than_its_own_row_is_shuffled(session: Session, statement: str) -> None:
    made(session, "flat")
    assert "Exchange" in operators(session, statement)


@pytest.mark.ci
def test_a_table_with_two_files_a_bucket_is_shuffled_until_it_is_compacted(session: Session) -> None:
    made(session, "flat")
    session.execute("UPDATE t SET v = 'x' WHERE id < 100")
    assert "Exchange" in operators(session, "DELETE FROM t WHERE id % 7 = 0")
    before = sorted(session.sql("SELECT row__id, * FROM t").collect())
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert sorted(session.sql("SELECT row__id, * FROM t").collect()) == before
    assert "Exchange" not in operators(session, "DELETE FROM t WHERE id % 7 = 1")
    again = operators(session, "ALTER TABLE t COMPACT 'major' AND WAIT")
    assert "Exchange" not in again
    assert "Sort" not in again
    assert len(session.sql("SELECT * FROM t").collect()) == sum(1 for n in range(600) if n % 7 > 1)


def test_files_with_structs_are_written_in_place_too(session: Session) -> None:
    """Their fields' names are looked for in any case, which is another setting of the scan's session."""
    properties = "'transactional'='true', 'orc.stripe.size'='100000', 'orc.row.index.stride'='1000'"
    session.execute(f"CREATE TABLE t (id INT, s STRUCT<a:STRING>) STORED AS ORC TBLPROPERTIES ({properties})")
    struct = "named_struct('a', sha2(CAST(id AS STRING), 512)) s"
    rows = session.spark.range(0, 20_000, 1, 3).selectExpr("CAST(id AS INT) id", struct)
    session.sql("INSERT INTO t SELECT * FROM {rows}", rows=rows)
    session.spark.conf.set("spark.sql.files.maxPartitionBytes", "100000")
    try:
        assert "Exchange" not in operators(session, "UPDATE t SET s = NULL WHERE id % 5 = 0")
    finally:
        session.spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert session.sql("SELECT count(*), count(s), sum(id) FROM t").collect() == [(20_000, 16_000, 199_990_000)]


@pytest.mark.ci
def test_the_word_join_in_a_statement_is_no_join(session: Session) -> None:
    made(session, "flat")
    assert "Exchange" not in operators(session, "UPDATE t SET v = 'Join' WHERE id % 3 = 0")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert "Exchange" not in operators(session, "DELETE FROM t WHERE v = 'Join'")
