"""MERGE with a small source: target rows without a matching key are skipped early. The result does not change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.spark.catalyst.size_estimates import estimated_bytes
from acidsql.spark.scan import source_keys
from tests.selection import every
from tests.spark.test_plan_shape import executions_after, last_execution, plan_nodes

pytestmark = pytest.mark.usefixtures("by_spark")

_UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.name, s.v)"
_INSERT = "WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.name, s.v)"
_TEXT = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (0, s.name, s.v)"


@pytest.fixture(autouse=True)
def always_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_keys, "_LEAST", 0)
    monkeypatch.setattr(source_keys, "_MUCH", 0)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """t of a hundred rows in three files, one of them NULL by its key, some deleted; sources of keys within and
    without, NULL too. No test leaves anything behind."""
    place = tmp_path_factory.mktemp("narrowing")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        session.execute("SET acidsql.driver.write.max.bytes=0")
        session.execute("CREATE TRANSACTIONAL TABLE t (k int, name string, v double)")
        session.execute("INSERT INTO t SELECT id, concat('n', id), id / 4D FROM range(0, 100, 1, 2)")
        session.execute("INSERT INTO t VALUES (NULL, NULL, NULL), (7000, 'N3', -0.0D)")
        session.execute("DELETE FROM t WHERE k % 10 = 7")
        session.execute("CREATE TRANSACTIONAL TABLE s (k bigint, name string, v double)")
        values = "(3, 'n3', 0.75), (17, 'n17', 2), (200, 'x', 3), (NULL, NULL, 4), (4, 'N4', 5)"
        session.execute(f"INSERT INTO s VALUES {values}")
        yield session


def rows_after(session: Session, statement: str, **frames: object) -> tuple[list[tuple[Any, ...]], bool]:
    """The table after a statement that is undone again, and whether it left rows out early."""
    before = last_execution(session.spark)
    session.execute("START TRANSACTION")
    session.execute(statement, frames=frames)
    found = sorted((tuple(row) for row in session.sql("SELECT * FROM t").collect()), key=repr)
    session.execute("ROLLBACK")
    nodes = [text for e in executions_after(session.spark, before) for name, text in plan_nodes(e) if "Join" in name]
    return found, any("LeftSemi" in text for text in nodes)


@pytest.mark.ci
@pytest.mark.parametrize(
    "merge",
    every(
        7,
        [
            f"USING s ON t.k = s.k {_UPSERT}",
            f"USING s ON t.k <=> s.k {_UPSERT}",
            f"USING s ON s.k = t.k AND t.name < s.name AND t.v >= 0 {_UPSERT}",
            f"USING s ON t.k + 1 = s.k - 1 AND lower(t.name) <> s.name {_INSERT}",
            f"USING s ON t.name = lower(s.name) {_TEXT}",
            f"USING s ON t.k = s.k {_INSERT}",
            f"USING s ON t.v = s.v AND upper(s.name) = upper(t.name) {_TEXT}",
            f"USING (SELECT k, max(name) AS name, min(v) AS v FROM s GROUP BY k) s ON t.k = s.k {_UPSERT}",
            # What a string literal says is no function, however much it looks like one.
            f"USING (SELECT k, max(name) AS name, min(v) AS v, 'max_by(k, v) Join' t FROM s GROUP BY k) s ON t.k = s.k"
            f" {_UPSERT}",
            f"USING (SELECT a.k, b.name, a.v FROM s a JOIN s b ON a.k = b.k) s ON t.k = s.k {_UPSERT}",
            "USING (VALUES (2 + 1, 'a', 1D), (300, 'b', 2D)) s(k, name, v) ON t.k = s.k " + _UPSERT,
            f"USING (SELECT k, name, v FROM t WHERE k < 9) s ON t.k = s.k + 2 {_UPSERT}",
            f"USING (SELECT * FROM s WHERE v < (SELECT max(v) FROM s)) s ON t.k = s.k {_UPSERT}",
            f"USING (WITH c AS (SELECT * FROM s) SELECT a.* FROM c a JOIN c b ON a.k = b.k) s ON t.k = s.k {_UPSERT}",
        ],
    ),
)
def test_skipped_rows_would_have_matched_nothing(merge: str, tables: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    found, narrowed = rows_after(tables, f"MERGE INTO t {merge}")
    assert narrowed
    monkeypatch.setattr(source_keys, "_LEAST", 1 << 60)
    assert rows_after(tables, f"MERGE INTO t {merge}") == (found, False)


@pytest.mark.ci
@pytest.mark.parametrize(
    "merge",
    every(
        3,
        [
            # A row of the target that matches nothing counts.
            f"USING s ON t.k = s.k {_UPSERT} WHEN NOT MATCHED BY SOURCE THEN DELETE",
            # Nothing of the one side is compared with anything of the other.
            f"USING s ON t.k < s.k AND t.k = 3 AND s.k = 4 {_INSERT}",
            f"USING s ON (t.k = s.k OR t.v = s.v) {_INSERT}",
            # The source may be another one when it is read again.
            f"USING (SELECT * FROM s LIMIT 2) s ON t.k = s.k {_INSERT}",
            f"USING (SELECT k, name, v FROM s WHERE rand() < 2) s ON t.k = s.k {_INSERT}",
            f"USING (SELECT k, name, v FROM s WHERE v < (SELECT 9 + rand())) s ON t.k = s.k {_INSERT}",
            f"USING (SELECT k, name, v, row_number() OVER (ORDER BY v) n FROM s) s ON t.k = s.k {_INSERT}",
            f"USING (WITH c AS (SELECT * FROM s LIMIT 2) SELECT * FROM c) s ON t.k = s.k {_INSERT}",
            f"USING (SELECT max_by(k, v) k, name, 1D v FROM s GROUP BY name) s ON t.k = s.k {_INSERT}",
            # Literals are said of the target as they are (planner/merge/literal_source.py).
            "USING (VALUES (3, 'a', 1D), (300, 'b', 2D)) s(k, name, v) ON t.k = s.k " + _UPSERT,
            # Spark broadcasts the source itself.
            "USING s ON t.k = s.k WHEN MATCHED THEN DELETE",
        ],
    ),
)
def test_all_rows_are_joined_if_skipping_could_be_wrong_or_useless(merge: str, tables: Session) -> None:
    assert not rows_after(tables, f"MERGE INTO t {merge}")[1]


@pytest.mark.nightly
def test_of_sources_outside_only_files_are_read_twice(tables: Session, spark: SparkSession, tmp_path: Path) -> None:
    of_two = "SELECT * FROM VALUES (3, 'n3', 1D), (200, 'x', 0D) AS s(k, name, v)"
    spark.sql(of_two).write.parquet(f"{tmp_path}/files")
    files = spark.read.parquet(f"{tmp_path}/files")
    given = spark.createDataFrame(spark.sparkContext.parallelize([(3, "n3", 1.0)]), "k int, name string, v double")
    statement = f"MERGE INTO t USING {{new}} s ON t.k = s.k {_UPSERT}"
    assert rows_after(tables, statement, new=files)[1]
    assert not rows_after(tables, statement, new=given)[1]


@pytest.mark.ci
def test_a_row_that_two_source_rows_match_is_still_an_error(tables: Session) -> None:
    with pytest.raises(AcidSqlError, match="Cardinality Violation"):
        tables.execute(f"MERGE INTO t USING (SELECT * FROM s UNION ALL SELECT 3, 'a', 9D) s ON t.k = s.k {_UPSERT}")


def test_an_error_of_the_source_is_an_error_of_the_statement(tables: Session) -> None:
    with pytest.raises(AcidSqlError) as raised:
        tables.execute(f"MERGE INTO t USING s ON t.k = s.kk {_UPSERT}")
    assert raised.value.condition == "COLUMN_NOT_FOUND"
    assert "s.kk" in str(raised.value)


@pytest.mark.nightly
def test_of_a_large_source_only_the_keys_must_be_small(tables: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_keys, "SMALL", 0)
    by_number, by_text = (f"MERGE INTO t USING s ON {on} {_UPSERT}" for on in ("t.k = s.k", "t.name = s.name"))
    reads_all = f"MERGE INTO t USING s ON t.k = s.k AND t.name = s.name AND t.v = s.v {_UPSERT}"
    for statement, narrows in ((by_number, True), (by_text, True), (reads_all, False)):
        monkeypatch.setattr(source_keys, "_MOST_BYTES", _estimate(tables) // 8 * 7)
        assert rows_after(tables, statement)[1] == narrows, statement
    monkeypatch.setattr(source_keys, "_HEAP_PER_KEYS", 1 << 60)
    assert not rows_after(tables, by_number)[1]


def _estimate(session: Session) -> int:
    """The bytes that Spark expects all rows of s to have."""
    return estimated_bytes(session.sql("SELECT k, name, v FROM s"))
