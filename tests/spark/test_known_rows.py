"""Scans with deletes decode what the footers do not tell: whatever the files hold, the same rows are read."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.row_id import encode_bucket
from acidsql.acid.write_ids import StatementId
from acidsql.session import Session, connect
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.catalyst.gateway import jvm, where, with_columns
from acidsql.spark.scan.deletes.bitmap import delete_bitmap
from acidsql.spark.scan.deletes.known_rows import Axis, KnownRows, axis_of, known_rows
from tests.selection import core, every
from tests.spark.test_deleted_rows import a_key, keys_of

TO_ACID = "SET TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(tmp_path / "warehouse", spark=spark) as opened:
        opened.execute("SET acidsql.driver.write.max.bytes=0")
        yield opened


def acid_columns_read(session: Session, query: str) -> list[str]:
    """The ACID columns that a query's only scan decodes: the others stand in capitals."""
    execution: Any = session.sql(query)._jdf.queryExecution()
    found = re.search(r"FileScan orc \[(.*?)\]", execution.sparkPlan().toString())
    assert found is not None
    names = [name.partition("#")[0] for name in found.group(1).split(",")]
    assert len(names) == 6
    return [name for name in names[:-1] if name != name.upper()]


@pytest.mark.ci
def test_only_what_differs_between_the_rows_is_decoded(session: Session) -> None:
    def read() -> list[str]:
        return acid_columns_read(session, "SELECT sum(id) FROM t")

    def rows() -> list[int]:
        return [row[0] for row in session.sql("SELECT id FROM t ORDER BY id").collect()]

    session.execute("CREATE TRANSACTIONAL TABLE t (id int)")
    session.execute("INSERT INTO t SELECT /*+ COALESCE(1) */ id FROM range(0, 100, 1, 1)")
    assert read() == []
    session.execute("DELETE FROM t WHERE id % 3 = 0")
    assert read() == ["rowId"]
    assert rows() == [n for n in range(100) if n % 3]
    assert acid_columns_read(session, "SELECT row__id FROM t") == ["originalTransaction", "bucket", "rowId"]
    session.execute("INSERT INTO t SELECT /*+ COALESCE(1) */ id + 100 AS id FROM range(0, 100, 1, 1)")
    assert read() == ["originalTransaction", "rowId"]
    assert rows() == [n for n in range(200) if n % 3 or n >= 100]
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.execute("DELETE FROM t WHERE id % 5 = 0")
    assert read() == ["originalTransaction", "rowId"]
    assert rows() == [n for n in range(200) if (n % 3 or n >= 100) and n % 5]


def test_buckets_of_one_write_are_told_apart_by_the_bucket_alone(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id int) CLUSTERED BY (id) INTO 3 BUCKETS")
    session.execute("INSERT INTO t SELECT id FROM range(300)")
    session.execute("DELETE FROM t WHERE id % 7 < 3")
    assert acid_columns_read(session, "SELECT sum(id) FROM t") == ["bucket", "rowId"]
    found = [row[0] for row in session.sql("SELECT id FROM t ORDER BY id").collect()]
    assert found == [n for n in range(300) if n % 7 >= 3]


def test_deletes_of_other_files_are_not_looked_up(session: Session) -> None:
    """The condition leaves out the only file with deleted rows."""
    session.execute("CREATE TRANSACTIONAL TABLE t (id int)")
    session.execute("INSERT INTO t SELECT id FROM range(0, 100, 1, 1)")
    session.execute("DELETE FROM t WHERE id = 1")
    session.execute("INSERT INTO t SELECT id + 1000 AS id FROM range(0, 100, 1, 1)")
    query = "SELECT sum(id) FROM t WHERE id >= 1000"
    plan = session.sql(query)._jdf.queryExecution().executedPlan().toString().lower()
    assert "shiftright" not in plan
    assert session.sql(query).collect()[0][0] == sum(range(1000, 1100))
    assert session.sql("SELECT count(id) FROM t WHERE id >= 0").collect()[0][0] == 199


@pytest.mark.ci
@pytest.mark.parametrize("seed", core(range(1, 8), lambda seed: seed == 1, one_of=3))
@pytest.mark.parametrize("layout", every(3, ["", "CLUSTERED BY (id) INTO 2 BUCKETS", "PARTITIONED BY (p int)"]))
def test_random_mixtures_of_files_read_the_same_with_and_without_row_ids(
    session: Session, seed: int, layout: str
) -> None:
    """Original files, deltas of one write and of transactions with several statements, minor and major compactions."""
    r = random.Random(seed)
    columns = "id int, v int" if "PART" in layout else "id int, v int, p int"
    session.execute(f"CREATE TABLE t ({columns}) {layout} STORED AS ORC TBLPROPERTIES ('transactional'='false')")
    rows = {n: (0, n % 2) for n in range(60)}
    session.execute("INSERT INTO t SELECT id, 0, id % 2 FROM range(60)")
    session.execute(f"ALTER TABLE t {TO_ACID}")
    in_transaction = False
    for number in range(8):
        kind = r.choice(("insert", "update", "delete", "delete", "begin", "minor", "major"))
        modulus, rest = r.choice((5, 7, 11)), r.randrange(5)
        chosen = [n for n in rows if n % modulus == rest]
        match kind:
            case "insert":
                first = 1000 * (number + 1)
                session.execute(
                    f"INSERT INTO t SELECT id + {first}, {number}, id % 2 FROM range(0, 40, 1, {r.choice((1, 3))})"
                )
                rows |= {first + n: (number, n % 2) for n in range(40)}
            case "update":
                session.execute(f"UPDATE t SET v = {number} WHERE id % {modulus} = {rest}")
                rows |= {n: (number, rows[n][1]) for n in chosen}
            case "delete":
                session.execute(f"DELETE FROM t WHERE id % {modulus} = {rest}")
                rows = {n: row for n, row in rows.items() if n not in chosen}
            case "begin":
                session.execute("COMMIT" if in_transaction else "START TRANSACTION")
                in_transaction = not in_transaction
            case _ if not in_transaction:
                for partition in ("PARTITION (p=0)", "PARTITION (p=1)") if "PART" in layout else ("",):
                    session.execute(f"ALTER TABLE t {partition} COMPACT '{kind}' AND WAIT")
            case _:
                continue
        expected = sorted((n, *row) for n, row in rows.items())
        assert sorted(map(tuple, session.sql("SELECT id, v, p FROM t").collect())) == expected, (number, kind)
        named = session.sql("SELECT id, v, p, row__id FROM t").collect()
        assert sorted(tuple(row[:3]) for row in named) == expected, (number, kind)
    some = session.sql("SELECT a.id FROM t a JOIN t b ON a.id = b.id WHERE a.id % 2 = 1").collect()
    assert sorted(row[0] for row in some) == sorted(n for n in rows if n % 2)
    if in_transaction:
        session.execute("ROLLBACK")


@pytest.mark.parametrize("seed", range(6))
def test_bits_ask_no_more_of_a_row_than_they_must(spark: SparkSession, seed: int) -> None:
    """Rows in random ranges: what is known of them is asked of none, and the same rows stay."""
    r = random.Random(seed)
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frames = 0
        for _ in range(4):
            deleted = sorted({a_key(r, parts=2, writes=r.choice(([3], [3, 4, 9])), rows=200) for _ in range(300)})
            bitmap = delete_bitmap(keys_of(deleted))
            assert bitmap is not None
            buckets, parts = r.choice(((1,), (0, 1, 5), (7,))), r.choice((1, 3))
            writes = r.choice(([3], [4, 5], [9, 17], [20]))
            rows = sorted({a_key(r, parts=parts, writes=writes, rows=300, buckets=buckets) for _ in range(500)})
            part, write_id, bucket, _row = map(set, zip(*rows, strict=True))
            numbers, statements = {b >> 16 & 0xFFF for b in bucket}, {b & 0xFFF for b in bucket}
            known = KnownRows(axis_of(part), axis_of(write_id), axis_of(numbers), axis_of(statements))
            condition = bitmap.keeps_sql("part", "write_id", "bucket", "row", "masks", known)
            expected = sorted(set(rows) - set(deleted))
            if condition is None:
                assert expected == rows
                continue
            frames += 1
            assert len(write_id) > 1 or "write_id" not in condition
            frame = spark.createDataFrame(rows, "part int, write_id bigint, bucket int, row bigint")
            frame = with_columns(frame, {"masks": jvm(spark).long_arrays(bitmap.masks)})
            found = where(frame, condition).select("part", "write_id", "bucket", "row").collect()
            assert sorted(map(tuple, found)) == expected
        assert frames
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))


def test_files_without_statistics_and_with_odd_buckets_leave_their_rows_unknown() -> None:
    first, second = encode_bucket(2, StatementId(1)), encode_bucket(4, StatementId(1))

    def plain(bucket: int, write_id: int = 0) -> SourceFile:
        return SourceFile("f", 1, 0, is_acid=False, names=(), write_id=write_id, bucket_property=bucket)

    known = known_rows([plain(first), plain(second, 3)])
    assert known == KnownRows(Axis(0, 1), Axis(0, 4), Axis(2, 3), Axis(1, 1))
    assert known_rows([plain(first, 3)]).bucket_property == first
    assert known_rows([plain(first), plain(7)]) == KnownRows(Axis(0, 1), Axis(0, 1))
    unread = SourceFile("g", 1, 1, is_acid=True, names=())
    assert known_rows([plain(first), unread]) == KnownRows(Axis(0, 2))


@pytest.mark.ci
def test_scans_with_the_same_deletes_stand_in_one_query(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id int, v int)")
    session.execute("INSERT INTO t SELECT id, id * 10 FROM range(0, 30, 1, 1)")
    session.execute("DELETE FROM t WHERE id % 7 = 3")
    living = [n for n in range(30) if n % 7 != 3]

    def ids(query: str) -> list[int]:
        return sorted(row[0] for row in session.sql(query).collect())

    assert ids("SELECT a.id FROM t a JOIN t b ON a.id = b.id AND a.v = b.id * 10") == living
    assert (
        ids("WITH c AS (SELECT * FROM t) SELECT a.id FROM c a JOIN c b ON a.v = b.v JOIN t d ON d.id = a.id") == living
    )
    assert ids("SELECT id FROM t UNION ALL SELECT id FROM t") == sorted(living * 2)
    assert ids("SELECT id FROM t INTERSECT SELECT id FROM t") == living
    with_next = [n for n in living if n + 1 in living]
    assert ids("SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = a.id + 1)") == with_next
    assert ids("SELECT id FROM t WHERE id + 1 IN (SELECT id FROM t)") == with_next
    frames = session.sql("SELECT id FROM t").join(session.sql("SELECT id, v FROM t"), "id")
    assert sorted(row[0] for row in frames.collect()) == living
    session.execute(
        "MERGE INTO t USING (SELECT id, v + 1 AS v FROM t WHERE id < 9) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
    )
    session.execute("UPDATE t SET v = 0 WHERE id IN (SELECT id FROM t WHERE v % 10 = 1)")
    session.execute("DELETE FROM t WHERE v = (SELECT max(v) FROM t)")
    rows = sorted(map(tuple, session.sql("SELECT * FROM t").collect()))
    assert rows == [(n, 0 if n < 9 else n * 10) for n in living if n != max(living)]
