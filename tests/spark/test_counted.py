"""COUNT(*) of a whole table from footers and delete events: the same number as by reading the rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.selection import core

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with connect(tmp_path_factory.mktemp("counted") / "warehouse", spark=spark) as opened:
        yield opened


@pytest.fixture(autouse=True)
def without_tables(db: Session) -> Iterator[None]:
    yield
    for name in ("t", "u"):
        db.execute(f"DROP TABLE IF EXISTS {name}")


def reads_files(db: Session, query: str) -> bool:
    return "FileScan" in db.sql(query)._jdf.queryExecution().executedPlan().toString()


def counted(db: Session, query: str = "SELECT count(*) FROM t") -> int:
    """COUNT(*) that reads no data file, compared with a COUNT that reads them."""
    assert not reads_files(db, query)
    (row,) = db.sql(query).collect()
    read = "SELECT count(*) FROM t WHERE coalesce(id, 0) = coalesce(id, 0)"
    assert reads_files(db, read) or not row[0]
    assert row[0] == db.sql(read).collect()[0][0]
    return int(row[0])


@pytest.mark.ci
@pytest.mark.parametrize("max_bytes", core([0, 32 << 20], bool))
def test_rows_of_statements_are_counted_without_reading_them(db: Session, max_bytes: int) -> None:
    db.execute(f"SET acidsql.driver.write.max.bytes={max_bytes}")
    db.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) CLUSTERED BY (id) INTO 3 BUCKETS {ACID}")
    assert counted(db) == 0
    db.execute("INSERT INTO t SELECT id, 'a', id % 4 FROM range(1000)")
    assert counted(db) == 1000
    db.execute("DELETE FROM t WHERE id % 10 = 0")
    assert counted(db) == 900
    db.execute("UPDATE t SET v = 'b', p = 7 WHERE id % 10 = 1")
    assert counted(db) == 900
    db.execute("DELETE FROM t WHERE v = 'b' AND id < 500")
    assert counted(db) == 850
    db.execute(
        "MERGE INTO t USING (SELECT 12 AS id UNION ALL SELECT 5000) s ON t.id = s.id WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'c', 1)"
    )
    assert counted(db) == 850
    db.execute("INSERT OVERWRITE TABLE t PARTITION (p = 7) SELECT 1, 'x'")
    assert counted(db) == 801
    db.execute("TRUNCATE TABLE t")
    assert counted(db) == 0


def test_rows_below_a_compaction_are_counted_until_some_are_deleted(db: Session) -> None:
    db.execute(f"CREATE TABLE t (id int) {ACID}")
    db.execute("INSERT INTO t SELECT id FROM range(100)")
    db.execute("INSERT INTO t SELECT id FROM range(100)")
    db.execute("DELETE FROM t WHERE id = 50")
    db.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert counted(db) == 198
    db.execute("DELETE FROM t WHERE id = 51")
    assert reads_files(db, "SELECT count(*) FROM t")
    assert db.sql("SELECT count(*) FROM t").collect() == [(196,)]


def test_rows_of_a_converted_table_are_counted_without_the_deleted_ones(db: Session) -> None:
    db.execute("CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='false')")
    db.execute("INSERT INTO t SELECT id FROM range(50)")
    db.execute("INSERT INTO t SELECT id FROM range(50)")
    db.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')")
    assert counted(db) == 100
    db.execute("DELETE FROM t WHERE id >= 40")
    assert counted(db) == 80


@pytest.mark.parametrize(("file_format", "reads"), [("ORC", False), ("PARQUET", True), ("TEXTFILE", True)])
def test_an_insert_only_table_is_counted_where_its_files_are_orc(db: Session, file_format: str, reads: bool) -> None:
    db.execute(f"CREATE TABLE t (id int) STORED AS {file_format} {INSERT_ONLY}")
    db.execute("INSERT INTO t SELECT id FROM range(30)")
    assert reads_files(db, "SELECT count(*) FROM t") is reads
    assert db.sql("SELECT count(*) FROM t").collect() == [(30,)]


def test_a_count_may_stand_anywhere_in_a_query(db: Session) -> None:
    db.execute(f"CREATE TABLE t (id int) {ACID}")
    db.execute(f"CREATE TABLE u (n bigint) {ACID}")
    db.execute("INSERT INTO t SELECT id FROM range(5)")
    for query, expected in {
        "SELECT COUNT(1) AS n, 'x' FROM t": [(5, "x")],
        "SELECT (SELECT count(*) FROM t) + 1 AS n": [(6,)],
        "WITH c AS (SELECT 1 FROM t) SELECT count(*) FROM c": [(5,)],
        "SELECT 7 AS n FROM t LIMIT 2": [(7,), (7,)],
        "SELECT count(*) FROM t UNION ALL SELECT count(*) FROM u": [(0,), (5,)],
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)": [(1,)],
    }.items():
        assert not reads_files(db, query), query
        assert sorted(tuple(row) for row in db.sql(query).collect()) == expected, query
    db.execute("INSERT INTO u SELECT count(*) FROM t")
    assert db.sql("SELECT n FROM u").collect() == [(5,)]


@pytest.mark.ci
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM t WHERE id > 2",
        "SELECT count(id) FROM t",
        "SELECT count(DISTINCT 1) FROM t",
        "SELECT count(*), max(id) FROM t",
        "SELECT count(*) FROM t GROUP BY id",
        "SELECT count(*) OVER () FROM t",
        "SELECT count(*) FROM t a JOIN t b",
        "SELECT count(*) FROM t TABLESAMPLE (100 ROWS)",
        "SELECT input_file_name() FROM t",
        "SELECT count(*) FROM t HAVING max(id) > 0",
        "SELECT count(*) FROM (SELECT * FROM t)",
    ],
)
def test_a_query_that_looks_at_rows_reads_them(db: Session, query: str) -> None:
    db.execute(f"CREATE TABLE t (id int) {ACID}")
    db.execute("INSERT INTO t SELECT id FROM range(5)")
    assert reads_files(db, query)
