"""Deleted rows are removed by a bitmap or by a join: both leave the same rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from acidsql.acid.row_id import encode_bucket
from acidsql.acid.write_ids import StatementId
from acidsql.session import Session, connect
from acidsql.spark.catalyst.gateway import jvm, where, with_columns
from acidsql.spark.scan.deletes import cache
from acidsql.spark.scan.deletes.bitmap import DeleteKeys, delete_bitmap

Key = tuple[int, int, int, int]


@pytest.fixture(autouse=True)
def as_in_a_statement(spark: SparkSession) -> Iterator[None]:
    """Integers wrap around in acidsql's sessions."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.set("spark.sql.ansi.enabled", str(before))


def keys_of(rows: list[Key]) -> DeleteKeys:
    """Sorted as the files of a partition are."""
    part, write_id, bucket, row = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return DeleteKeys(part, write_id, bucket, row)


def a_key(
    r: random.Random, *, parts: int, writes: list[int], rows: int, buckets: tuple[int, ...] = (0, 1, 2, 5)
) -> Key:
    bucket = encode_bucket(r.choice(buckets), StatementId(r.choice((0, 1, 2)[: len(buckets)])))
    return (r.randrange(parts), r.choice(writes), bucket, r.randrange(rows))


@pytest.mark.ci
@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("writes", [[3], [1, 2, 3, 4], [1, 40, 70]])
@pytest.mark.parametrize("buckets", [(0,), (0, 1, 2, 5)])
def test_bits_leave_the_rows_that_no_event_names(
    spark: SparkSession, parts: int, writes: list[int], buckets: tuple[int, ...]
) -> None:
    r = random.Random(parts * len(writes))
    rows = sorted({a_key(r, parts=parts + 1, writes=[*writes, 17], rows=300) for _ in range(3000)})
    deleted = sorted({a_key(r, parts=parts, writes=writes, rows=300, buckets=buckets) for _ in range(400)})
    bitmap = delete_bitmap(keys_of(deleted))
    assert bitmap is not None
    frame = spark.createDataFrame(rows, "part int, write_id bigint, bucket int, row bigint")
    literal = {"masks": jvm(spark).long_arrays(bitmap.masks)}
    condition = bitmap.keeps_sql("part", "write_id", "bucket", "row", "masks")
    assert condition is not None
    kept = where(with_columns(frame, literal), condition)
    found = kept.select("part", "write_id", "bucket", "row")
    assert sorted(map(tuple, found.collect())) == sorted(set(rows) - set(deleted))
    plan = found._jdf.queryExecution().executedPlan().toString().lower()
    assert "join" not in plan
    assert "exchange" not in plan


@pytest.mark.parametrize("seed", range(8))
def test_deleted_rows_of_a_file_are_counted(seed: int) -> None:
    r = random.Random(seed)
    deleted = {a_key(r, parts=3, writes=[3, 5, 40], rows=300) for _ in range(r.choice((1, 20, 2000)))}
    bitmap = delete_bitmap(keys_of(sorted(deleted)))
    assert bitmap is not None
    for part, write_id, bucket, first in [a_key(r, parts=4, writes=[2, 3, 5, 40, 50], rows=300) for _ in range(200)]:
        rows = range(first, first + r.choice((0, 1, 63, 64, 65, 1000)))
        assert bitmap.count(part, write_id, bucket, rows) == sum(
            key[:3] == (part, write_id, bucket) and key[3] in rows for key in deleted
        )


def test_delete_events_that_no_bitmap_can_represent_have_none() -> None:
    first = encode_bucket(0, StatementId(0))
    assert delete_bitmap(keys_of([(0, 1, first, 0)])) is not None
    assert delete_bitmap(keys_of([(0, 1, 3, 0)])) is None, "a bucket property of version 0"
    assert delete_bitmap(keys_of([(0, 1, first | 1 << 13, 0)])) is None, "a bit that is neither bucket nor statement"
    assert delete_bitmap(keys_of([(0, 1, first, -1)])) is None
    assert delete_bitmap(keys_of([(0, 1, first, 0), (0, 1, first, 1 << 39)])) is None, "bits for 500 billion rows"
    assert delete_bitmap(keys_of([(0, 1, first, 0), (0, 1 << 30, first, 0)])) is None, "a grid of a billion groups"


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(tmp_path / "warehouse", spark=spark) as opened:
        yield opened


@pytest.mark.ci
@pytest.mark.parametrize("most_events", [0, 4_000_000])
def test_a_table_reads_the_same_by_bits_and_by_join(
    session: Session, monkeypatch: pytest.MonkeyPatch, most_events: int
) -> None:
    monkeypatch.setattr(cache, "_READ_HERE", most_events)
    session.execute(
        "CREATE TABLE t (id INT, v STRING) PARTITIONED BY (p STRING) CLUSTERED BY (id) INTO 3 BUCKETS"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.execute("INSERT INTO t SELECT id, CAST(id AS STRING), CAST(id % 4 AS STRING) FROM range(200)")
    session.execute("UPDATE t SET v = concat(v, '!') WHERE id % 5 = 0")
    session.execute("DELETE FROM t WHERE id % 7 = 0 AND p <> '3'")
    session.execute("MERGE INTO t USING (SELECT 10 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    found = session.sql("SELECT id, v, p FROM t ORDER BY id").collect()
    expected = [
        (n, f"{n}!" if n % 5 == 0 else f"{n}", str(n % 4))
        for n in range(200)
        if not (n % 7 == 0 and n % 4 != 3) and n != 10
    ]
    assert [tuple(row) for row in found] == expected
    plan = session.sql("SELECT * FROM t")._jdf.queryExecution().executedPlan().toString()
    assert ("LeftAnti" in plan) is (most_events == 0)


def test_deletes_are_read_again_when_a_table_is_dropped_and_created_again(session: Session) -> None:
    for keep in (1, 2):
        session.execute("CREATE TABLE again (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        session.execute("INSERT INTO again VALUES (1), (2)")
        session.execute(f"DELETE FROM again WHERE id <> {keep}")
        assert [row[0] for row in session.sql("SELECT id FROM again").collect()] == [keep]
        session.execute("DROP TABLE again")
