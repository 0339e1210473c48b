"""ORC skips row groups by the conditions of a WHERE, and never a row that the query needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType
from sqlglot import exp

from acidsql.acid.hive_types import parse_type
from acidsql.session import Session, connect
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.source_filters import translated_filters
from acidsql.spark.scan import data_skipping, small_files
from acidsql.spark.spark_types import query_type
from tests.selection import core, every
from tests.spark.test_plan_shape import executions_after, last_execution, plan_nodes

_ROWS: Final = 20_000
_TABLE: Final = (
    "CREATE TABLE t (id int, big bigint, name string, code varchar(6), day date, price decimal(12,2), ratio double)"
    " STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.row.index.stride'='1000',"
    " 'orc.bloom.filter.columns'='name')"
)
_VALUES: Final = (
    "CAST(id AS INT) AS id, IF(id % 10 = 0, NULL, id * 1000000007) AS big, concat('name ', id DIV 7) AS name,"
    " substr(sha2(CAST(id AS STRING), 256), 1, 6) AS code, date_add(DATE'1995-01-01', CAST(id DIV 3 AS INT)) AS day,"
    " IF(id BETWEEN 4000 AND 9000, NULL, CAST(id / 100 AS DECIMAL(12,2))) AS price,"
    " IF(id % 5000 = 4999, double('NaN'), id / 3D) AS ratio"
)
CONDITIONS: Final = (
    "id = 12345",
    "id = 5L",
    "5 > id",
    "id BETWEEN 7999 AND 8001 AND name = 'name 1142'",
    "id IN (1, 19999, 20001, -7)",
    "(id < 3 OR id > 19997)",
    "id <> 4",
    "id = '77'",
    "id > 19998.5",
    "big = 12345000086415",
    "big <= 5000000035",
    "big IS NULL AND id < 30",
    "NOT (id < 19990)",
    "name = 'name 2000'",
    "name > 'name 99'",
    "name IN ('name 0', 'nobody')",
    "code < '001'",
    "day = DATE'1999-12-31'",
    "day >= '2013-03-01'",
    "day > '0400-02-29' AND id < 5",
    "price = 199.99",
    "price BETWEEN 39.5 AND 95",
    "price = 1E2",
    "ratio > 1e9",
    "ratio = 100.0",
    "coalesce(price, 0) = 0 AND id < 4100",
    "id + 1 = 12",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The same rows in `t`, some of them updated and some deleted, and in the temporary view `plain_rows`."""
    place = tmp_path_factory.mktemp("skipping")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        session.execute(_TABLE)
        session.execute(f"INSERT INTO t SELECT {_VALUES} FROM range(0, {_ROWS}, 1, 2)")
        session.execute("UPDATE t SET name = 'changed' WHERE id % 4000 = 17")
        session.execute("DELETE FROM t WHERE id % 100 = 99")
        name = "IF(id % 4000 = 17, 'changed', concat('name ', id DIV 7)) AS name"
        rows = spark.sql(f"SELECT {_VALUES} FROM range({_ROWS}) WHERE id % 100 <> 99")
        rows.selectExpr(*(name if c == "name" else c for c in rows.columns)).createOrReplaceTempView("plain_rows")
        yield session
        spark.catalog.dropTempView("plain_rows")


@pytest.fixture(autouse=True)
def always_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search arguments also for little; each file is read itself, so that files can be counted."""
    monkeypatch.setattr(data_skipping, "_WORTH", 0)
    monkeypatch.setattr(small_files, "_LEAST", 1000)


def found(session: Session, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in session.sql(query).collect()), key=repr)


def rows_read(session: Session, query: str) -> int:
    """How many rows Spark's scan gives for a query without a shuffle."""
    execution: Any = session.sql(query)._jdf.queryExecution()
    execution.toRdd().count()
    leaves = execution.executedPlan().collectLeaves()
    return sum(int(leaves.apply(i).metrics().apply("numOutputRows").value()) for i in range(leaves.size()))


@pytest.mark.ci
@pytest.mark.parametrize("condition", every(4, CONDITIONS))
def test_a_condition_finds_the_rows_that_it_finds_without_skipping(tables: Session, condition: str) -> None:
    assert found(tables, f"SELECT * FROM t WHERE {condition}") == found(
        tables, f"SELECT * FROM plain_rows WHERE {condition}"
    )


@pytest.mark.ci
@pytest.mark.parametrize(
    ("condition", "most"),
    [
        ("id = 12345", 1200),
        ("id BETWEEN 100 AND 110 AND price > 0", 1200),
        ("id IN (3, 15000)", 2400),
        ("big < 1000000007L * 20", 1200),
        ("name = 'name 2000'", 1200),
        ("day = DATE'1999-12-31'", 1200),
        ("price > 199", 1200),
    ],
)
def test_row_groups_without_such_rows_are_not_read(tables: Session, condition: str, most: int) -> None:
    assert 0 < rows_read(tables, f"SELECT id, name FROM t WHERE {condition}") <= most


def files_read(session: Session, query: str) -> list[str]:
    return session.sql(query).inputFiles()


@pytest.fixture(params=["acid", "original", "insert_only"])
def deltas(request: pytest.FixtureRequest, session: Session) -> Session:
    """A table `t` of eight files: `id` from 10 i on, names from `a` on, days of month i, prices around i."""
    properties = {
        "acid": "'transactional'='true'",
        "original": "'transactional'='false'",
        "insert_only": "'transactional'='true', 'transactional_properties'='insert_only'",
    }[request.param]
    columns = "id int, name string, day date, price decimal(8,2), code char(3), ratio double"
    session.execute(f"CREATE TABLE t ({columns}) STORED AS ORC TBLPROPERTIES ({properties})")
    for i in range(8):
        session.execute(
            f"INSERT INTO t SELECT CAST(id AS INT) + {10 * i}, concat('{chr(97 + i)}', id),"
            f" make_date(2020, {i + 1}, CAST(id AS INT) + 1), {i} + id / 100BD, 'x{i}', {i}.5D FROM range(0, 10, 1, 1)"
        )
    if request.param == "original":
        session.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')")
    return session


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("condition", "files", "rows"),
    [
        ("id = 35", 1, 1),
        ("id BETWEEN 38 AND 41", 2, 4),
        ("id IN (1, 71, 500)", 2, 2),
        ("id < 5 OR name >= 'h5'", 2, 10),
        ("id > 79", 0, 0),
        ("name = 'c7'", 1, 1),
        ("name LIKE 'c%'", 8, 10),
        ("day = '2020-03-04'", 1, 1),
        ("day >= DATE'2020-07-05' AND price <> 3", 2, 16),
        ("price = 2.05", 1, 1),
        ("price > 6.5 AND id % 2 = 0", 1, 5),
        ("code = 'x3'", 8, 10),
        ("ratio = 3.5", 8, 10),
        ("id = '35'", 1, 1),
    ],
)
def test_files_without_such_rows_are_not_read(deltas: Session, condition: str, files: int, rows: int) -> None:
    query = f"SELECT id, name FROM t WHERE {condition}"
    assert len(files_read(deltas, query)) == files
    assert len(found(deltas, query)) == rows


@pytest.mark.ci
def test_statements_read_only_the_files_that_they_need(deltas: Session) -> None:
    if deltas.catalog.table("default", "t").is_insert_only:
        return
    ids = dict(found(deltas, "SELECT id, row__id FROM t"))
    assert deltas.execute("UPDATE t SET name = 'new' WHERE id = 35").counts.updated == 1  # type: ignore[union-attr]
    assert deltas.execute("DELETE FROM t WHERE id IN (3, 77)").counts.deleted == 2  # type: ignore[union-attr]
    merge = "MERGE INTO t USING (SELECT 1 AS k) s ON t.id = 36 WHEN MATCHED THEN UPDATE SET name = 'merged'"
    assert deltas.execute(merge).counts.updated == 1  # type: ignore[union-attr]
    after = dict(found(deltas, "SELECT id, row__id FROM t"))
    assert {k for k in ids if ids[k] != after.get(k)} == {3, 35, 36, 77}
    assert found(deltas, "SELECT id, name FROM t WHERE name IN ('new', 'merged')") == [(35, "new"), (36, "merged")]


LITERALS = "(VALUES (35, 'k'), (36, NULL), (500, 'new'), (NULL, 'none')) AS s(id, name)"
UNKNOWN = LITERALS.replace("35", "30 + 5")
"""The same rows, of which the planner knows no key."""
MERGES = {
    "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)": 1,
    "WHEN MATCHED AND t.id = 36 THEN DELETE WHEN NOT MATCHED AND s.id IS NOT NULL THEN INSERT (id) VALUES (s.id)": 1,
    "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)": 1,
    "WHEN MATCHED THEN DELETE": 1,
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.id > 75 THEN UPDATE SET name = 'old'": 8,
    "WHEN NOT MATCHED BY SOURCE AND t.id < 5 THEN DELETE": 8,
}
"""By their clauses, how many of the target's files they read."""


@pytest.mark.usefixtures("by_spark")
@pytest.mark.parametrize("clauses", core(MERGES, lambda _: False, one_of=2))
def test_a_merge_of_literals_reads_only_the_files_that_may_have_its_keys(deltas: Session, clauses: str) -> None:
    if deltas.catalog.table("default", "t").is_insert_only:
        return
    results = []
    for source in (LITERALS, UNKNOWN):
        deltas.execute("START TRANSACTION")
        before = last_execution(deltas.spark)
        deltas.execute(f"MERGE INTO t USING {source} ON s.id = t.id {clauses}")
        nodes = [node for e in executions_after(deltas.spark, before) for node in plan_nodes(e)]
        scanned = [re.search(r"\((\d+) paths\)", text) for name, text in nodes if name.startswith("Scan orc")]
        rows = found(deltas, "SELECT id, name, day FROM t ORDER BY id, name, day")
        deltas.execute("ROLLBACK")
        results.append((rows, max(int(paths.group(1)) for paths in scanned if paths is not None)))
    assert results == [(results[1][0], MERGES[clauses]), (results[1][0], 8)]


def test_all_rows_are_read_without_a_condition(tables: Session) -> None:
    assert rows_read(tables, "SELECT id FROM t") > 19_000


@pytest.mark.ci
def test_an_outer_join_that_looks_for_missing_rows_finds_no_more_of_them(tables: Session) -> None:
    joined = "SELECT r.id FROM plain_rows r LEFT JOIN {t} t ON r.id = t.id + 1 WHERE r.id < 300 AND {condition}"
    for condition in ("t.id IS NULL", "coalesce(t.price, 0) = 0", "t.price < 2", "(t.id = 5 OR t.price IS NULL)"):
        mine, plain = (found(tables, joined.format(t=t, condition=condition)) for t in ("t", "plain_rows"))
        assert mine == plain, condition


@pytest.mark.ci
def test_statements_change_the_rows_that_they_name(session: Session) -> None:
    session.execute(_TABLE)
    session.execute(f"INSERT INTO t SELECT {_VALUES} FROM range(0, {_ROWS}, 1, 2)")
    before = dict(found(session, "SELECT id, row__id FROM t"))
    assert session.execute("UPDATE t SET price = -1 WHERE id BETWEEN 12000 AND 12002").counts.updated == 3  # type: ignore[union-attr]
    assert session.execute("DELETE FROM t WHERE id = 777 OR id = 19000").counts.deleted == 2  # type: ignore[union-attr]
    after = dict(found(session, "SELECT id, row__id FROM t"))
    assert set(before) - set(after) == {777, 19000}
    assert {k for k in after if after[k] != before[k]} == {12000, 12001, 12002}
    assert found(session, "SELECT id FROM t WHERE price = -1") == [(12000,), (12001,), (12002,)]


@pytest.mark.ci
def test_files_of_other_columns_are_read_as_they_are(session: Session) -> None:
    """Files from before a column was added, renamed, widened; a column with the name of another one's file."""
    session.execute("CREATE TABLE t (a int, b int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 100), (2, 200)")
    session.execute("ALTER TABLE t CHANGE COLUMN a x int")
    session.execute("ALTER TABLE t CHANGE COLUMN b a bigint")
    session.execute("ALTER TABLE t ADD COLUMNS (c int, bucket int)")
    session.execute("INSERT INTO t VALUES (3, 3000000000, 7, -5)")
    for condition, expected in {
        "x = 1": [1],
        "a = 100": [1],
        "a > 150": [2, 3],
        "c = 7": [3],
        "c IS NULL": [1, 2],
        "bucket = -5": [3],
        "bucket < 0 OR x = 2": [2, 3],
    }.items():
        assert found(session, f"SELECT x FROM t WHERE {condition}") == [(x,) for x in expected], condition


def test_a_table_that_hive_compacted_by_query_is_read_without_skipping(session: Session, tmp_path: Path) -> None:
    """Its files name the ACID columns in lower case: ORC takes them for plain ones, and looks for names at the top."""
    import pyorc

    session.execute("CREATE TABLE t (bucket int, id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    location = Path(session.catalog.table("default", "t").location)
    session.execute("INSERT INTO t VALUES (9, 9)")
    (file,) = location.rglob("bucket_00000")
    acid = "operation:int,originaltransaction:bigint,bucket:int,rowid:bigint,currenttransaction:bigint"
    with file.open("wb") as out, pyorc.Writer(out, f"struct<{acid},row:struct<bucket:int,id:int>>") as writer:
        writer.writerows([(0, 1, 536870912, i, 1, (i, i)) for i in range(3)])
    assert found(session, "SELECT id FROM t WHERE bucket = 1") == [(1,)]


SCHEMA: Final = {"id": "int", "big": "bigint", "name": "string", "code": "varchar(6)", "price": "decimal(12,2)"}


@pytest.mark.parametrize(
    "condition",
    [
        "id = 12345",
        "5 > id",
        "id BETWEEN 7999 AND 8001",
        "id <= -7 AND big >= 5000000035",
        "(id < 3 OR id > 19997)",
        "name = 'name 2000' OR code > '001'",
        "price = 199.99",
        "price < -0.25",
    ],
)
def test_a_filter_of_literals_is_that_of_spark(spark: SparkSession, condition: str) -> None:
    java, kinds = jvm(spark), {name: parse_type(kind) for name, kind in SCHEMA.items()}
    schema = java.data_type(StructType([StructField(name, query_type(kind)) for name, kind in kinds.items()]).json())
    mine = data_skipping._source_filter(java, exp.maybe_parse(condition, dialect="hive"), kinds)
    theirs = [f.toString() for f in translated_filters(spark, schema, condition)]
    assert mine is not None
    parts = [mine.left(), mine.right()] if mine.toString().startswith("And(") else [mine]
    assert [p.toString() for p in parts] == [f for f in theirs if not f.startswith("IsNotNull")]


@pytest.mark.parametrize(
    "condition",
    ["id = '77'", "id > 19998.5", "id < 1e3", "name = 5", "price = 0." + "0" * 38 + "1", "id = 9223372036854775808"],
)
def test_a_condition_that_needs_a_cast_skips_nothing(spark: SparkSession, condition: str) -> None:
    kinds = {name: parse_type(kind) for name, kind in SCHEMA.items()}
    assert data_skipping._source_filter(jvm(spark), exp.maybe_parse(condition, dialect="hive"), kinds) is None
