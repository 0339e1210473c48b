"""Partitioned tables: rows are written, moved, overwritten and truncated as in Hive."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

ACID = "TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def sales(session: Session) -> Session:
    """A table `t(id, v)` partitioned by a string and an int, with six rows in four partitions."""
    session.sql(f"CREATE TABLE t (id INT, v INT) PARTITIONED BY (p STRING, q INT) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, 10, 'a', 1), (2, 20, 'a', 1), (3, 30, 'a', 2), (4, 40, 'x/y=z', 1)")
    session.sql("INSERT INTO t PARTITION (p = 'b', q) VALUES (5, 50, 7), (6, 60, 7)")
    return session


def rows(session: Session, where: str = "true") -> list[tuple[object, ...]]:
    return [tuple(r) for r in session.sql(f"SELECT * FROM t WHERE {where} ORDER BY id").collect()]


def directories(session: Session) -> set[str]:
    root = Path(session.catalog.table("default", "t").location)
    return {str(p.parent.relative_to(root)) for p in root.rglob("bucket_*")}


def partitions(session: Session) -> list[str]:
    return [str(r[0]) for r in session.sql("SHOW PARTITIONS t").collect()]


def test_rows_go_to_the_directory_of_their_partition_escaped_as_hive_escapes(sales: Session) -> None:
    assert rows(sales) == [
        (1, 10, "a", 1),
        (2, 20, "a", 1),
        (3, 30, "a", 2),
        (4, 40, "x/y=z", 1),
        (5, 50, "b", 7),
        (6, 60, "b", 7),
    ]
    assert directories(sales) == {
        "p=a/q=1/delta_0000001_0000001_0000",
        "p=a/q=2/delta_0000001_0000001_0000",
        "p=x%2Fy%3Dz/q=1/delta_0000001_0000001_0000",
        "p=b/q=7/delta_0000002_0000002_0000",
    }
    assert partitions(sales) == ["p=a/q=1", "p=a/q=2", "p=b/q=7", "p=x%2Fy%3Dz/q=1"]


def test_a_null_partition_is_hives_default_partition(sales: Session) -> None:
    sales.sql("INSERT INTO t VALUES (7, 70, NULL, NULL), (8, 80, '', 3)")
    assert partitions(sales)[:2] == [
        "p=__HIVE_DEFAULT_PARTITION__/q=3",
        "p=__HIVE_DEFAULT_PARTITION__/q=__HIVE_DEFAULT_PARTITION__",
    ]
    # Hive 4.0.1 shows the default partition of a string column under its name, of an int column as NULL.
    assert rows(sales, "id > 6") == [
        (7, 70, "__HIVE_DEFAULT_PARTITION__", None),
        (8, 80, "__HIVE_DEFAULT_PARTITION__", 3),
    ]
    assert rows(sales, "q IS NULL") == [(7, 70, "__HIVE_DEFAULT_PARTITION__", None)]


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["VARCHAR(3)", "CHAR(3)", "VARCHAR(26)", "STRING", "INT"])
def test_rows_of_the_null_partition_stay_there_when_they_are_written_back(kind: str, session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) PARTITIONED BY (p {kind}) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, NULL), (2, '7')")
    session.sql("INSERT OVERWRITE TABLE t PARTITION (p) SELECT id + 10, p FROM t")
    assert [r[0] for r in rows(session)] == [11, 12]
    assert "p=__HIVE_DEFAULT_PARTITION__" in partitions(session)
    assert len(partitions(session)) == 2


def test_an_update_keeps_each_row_in_its_partition(sales: Session) -> None:
    counts = sales.execute("UPDATE t SET v = v + 1 WHERE q = 1").counts
    assert counts is not None
    assert counts.updated == 3
    assert rows(sales, "q = 1") == [(1, 11, "a", 1), (2, 21, "a", 1), (4, 41, "x/y=z", 1)]
    assert "p=a/q=1/delete_delta_0000003_0000003_0000" in directories(sales)
    assert "p=b/q=7/delete_delta_0000003_0000003_0000" not in directories(sales)


def test_setting_a_partition_column_moves_the_row(sales: Session) -> None:
    sales.sql("UPDATE t SET p = 'new', q = q + 100 WHERE id IN (1, 4)")
    assert rows(sales, "p = 'new'") == [(1, 10, "new", 101), (4, 40, "new", 101)]
    assert [r[0] for r in rows(sales)] == [1, 2, 3, 4, 5, 6]
    assert "p=new/q=101" in partitions(sales)
    found = directories(sales)
    assert "p=x%2Fy%3Dz/q=1/delete_delta_0000003_0000003_0000" in found
    assert "p=new/q=101/delta_0000003_0000003_0000" in found


def test_row_ids_of_different_partitions_do_not_clash_in_deletes(sales: Session) -> None:
    """Row IDs are unique only within a partition: a delete in one must not touch its like in another."""
    sales.sql("DELETE FROM t WHERE id = 3")
    assert [r[0] for r in rows(sales)] == [1, 2, 4, 5, 6]
    sales.sql("DELETE FROM t WHERE p = 'b'")
    assert [r[0] for r in rows(sales)] == [1, 2, 4]


def test_a_merge_updates_moves_deletes_and_inserts_across_partitions(sales: Session) -> None:
    sales.sql(
        "MERGE INTO t USING (VALUES (1, 'a', 1, 0), (3, 'moved', 9, 300), (5, 'b', 7, 500), (9, 'fresh', 3, 900))"
        " AS s(id, p, q, v) ON t.id = s.id"
        " WHEN MATCHED AND s.v = 0 THEN DELETE"
        " WHEN MATCHED AND s.p <> t.p THEN UPDATE SET p = s.p, q = s.q, v = s.v"
        " WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.p, s.q)"
    )
    assert rows(sales) == [
        (2, 20, "a", 1),
        (3, 300, "moved", 9),
        (4, 40, "x/y=z", 1),
        (5, 500, "b", 7),
        (6, 60, "b", 7),
        (9, 900, "fresh", 3),
    ]


def test_a_partition_whose_value_is_spelled_differently_is_updated_in_its_directory(
    session: Session, tmp_path: Path
) -> None:
    """`q=01` is the partition of the int 1: its delete events must go into that directory, not into `q=1`."""
    session.sql(f"CREATE TABLE t (id INT) PARTITIONED BY (q INT) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    root = tmp_path / "adopted"
    shutil.copytree(session.catalog.table("default", "t").location, root)
    (root / "q=1").rename(root / "q=01")
    session.sql(
        f"CREATE TABLE u (id INT) PARTITIONED BY (q INT) STORED AS ORC LOCATION '{root}'"
        " TBLPROPERTIES ('transactional'='true')"
    )
    session.sql("DELETE FROM u WHERE q = 1")
    assert [tuple(r) for r in session.sql("SELECT * FROM u").collect()] == [(2, 2)]
    assert not (root / "q=1").exists()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("where", "read"),
    [
        ("p = 'a'", {1, 2, 3}),
        ("q = 1 AND v > 10", {2, 4}),
        ("q IN (2, 7)", {3, 5, 6}),
        ("q BETWEEN 2 AND 7", {3, 5, 6}),
        ("q > 1 OR p = 'x/y=z'", {3, 4, 5, 6}),
        ("p IN (SELECT s.p FROM t s WHERE s.q = 7)", {5, 6}),
        ("q = '7'", {5, 6}),
        ("concat(p, q) = 'a2'", {3}),
        ("NOT q = 1", {3, 5, 6}),
    ],
)
def test_conditions_on_partition_columns_find_the_same_rows_with_and_without_pruning(
    sales: Session, where: str, read: set[int]
) -> None:
    assert {r[0] for r in rows(sales, where)} == read


_JOINS = (
    "t a JOIN t b ON a.id = b.v / 10 AND b.q = 1 AND a.p = 'a'",
    "t a LEFT JOIN t b ON a.q = b.q AND b.p = 'a'",
    "t a LEFT JOIN t b ON a.q = b.q AND a.p = 'a'",
    "t a RIGHT JOIN t b ON a.q = b.q AND a.p = 'a' AND b.id > 2",
    "t a FULL JOIN t b ON a.id = b.id AND a.p = 'a' AND b.q = 1",
    "t a LEFT SEMI JOIN t b ON a.q = b.q AND a.p = 'a' AND b.q = 1",
    "t a LEFT ANTI JOIN t b ON a.q = b.q AND a.p = 'a' AND b.q = 1",
    "t a LEFT JOIN t b ON a.id = b.id AND b.v > 20 JOIN t c ON c.id = a.id AND b.q = 7 AND c.v < 60",
    "t a LEFT JOIN t b ON a.id = b.id AND b.q = 7 RIGHT JOIN t c ON c.id = b.id AND a.p = 'b' AND b.v = 50",
    "t a JOIN t b ON a.id = b.id LEFT JOIN t c ON c.id = b.id AND a.p = 'a' AND c.q = 2",
    "t a CROSS JOIN t b LEFT ANTI JOIN t c ON a.p = 'a' AND c.v = 10 AND b.id = a.id WHERE b.q = 7",
)


@pytest.mark.nightly
@pytest.mark.parametrize("source", _JOINS)
def test_conditions_of_joins_find_the_same_rows_with_and_without_pruning(sales: Session, source: str) -> None:
    sales.spark.createDataFrame(rows(sales), "id int, v int, p string, q int").createOrReplaceTempView("plain_t")
    plain = re.sub(r"\bt (?=[abc]\b)", "plain_t ", source)
    found, expected = (session.sql(f"SELECT * FROM {of}") for session, of in ((sales, source), (sales.spark, plain)))
    assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))
    sales.spark.catalog.dropTempView("plain_t")


def test_a_merge_lists_only_the_partitions_that_its_on_names(sales: Session) -> None:
    root = Path(sales.catalog.table("default", "t").location)
    (root / "p=b" / "q=7" / "delta_0000009_0000003").mkdir()  # breaks the rules: loud when it is listed
    merge = "MERGE INTO t USING (SELECT 1 AS k UNION ALL SELECT 9) s ON t.id = s.k AND t.q = 1 AND t.v < 15"
    merge += " WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.k, 9, 'c', 1)"
    counts = sales.execute(merge).counts
    assert counts is not None
    assert (counts.updated, counts.inserted) == (1, 1)
    assert rows(sales, "q = 1") == [(1, 0, "a", 1), (2, 20, "a", 1), (4, 40, "x/y=z", 1), (9, 9, "c", 1)]
    with pytest.raises(AcidSqlError):
        sales.execute(f"{merge} WHEN NOT MATCHED BY SOURCE THEN DELETE")


def test_partitions_that_the_where_excludes_are_not_even_listed(sales: Session) -> None:
    root = Path(sales.catalog.table("default", "t").location)
    (root / "p=b" / "q=7" / "delta_0000009_0000003").mkdir()  # breaks the rules: loud when it is listed
    assert [r[0] for r in rows(sales, "p = 'a' AND q = 1")] == [1, 2]
    with pytest.raises(AcidSqlError):
        rows(sales)


@pytest.mark.ci
def test_insert_overwrite_replaces_only_what_it_names_or_produces(sales: Session) -> None:
    sales.sql("INSERT OVERWRITE TABLE t PARTITION (p = 'a', q = 1) SELECT 100, 1")
    assert rows(sales, "p = 'a'") == [(3, 30, "a", 2), (100, 1, "a", 1)]
    sales.sql("INSERT OVERWRITE TABLE t PARTITION (p, q) SELECT 200, 2, 'b', 7")
    assert [r[0] for r in rows(sales)] == [3, 4, 100, 200]
    sales.sql("INSERT OVERWRITE TABLE t PARTITION (p = 'b', q = 7) SELECT 1, 1 WHERE false")
    assert [r[0] for r in rows(sales)] == [3, 4, 100]
    sales.sql("INSERT INTO t PARTITION (p = 'b', q = 7) VALUES (300, 3)")
    assert rows(sales, "p = 'b'") == [(300, 3, "b", 7)]


def test_insert_overwrite_of_a_whole_table_and_of_nothing(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1), (2)")
    session.sql("INSERT OVERWRITE TABLE t SELECT id + 10 FROM t")
    assert rows(session) == [(11,), (12,)]
    session.sql("INSERT OVERWRITE TABLE t SELECT 1 WHERE false")
    assert rows(session) == []
    session.sql("INSERT INTO t VALUES (5)")
    assert rows(session) == [(5,)]


def test_truncate_empties_a_table_a_partition_or_all_partitions(sales: Session) -> None:
    sales.sql("TRUNCATE TABLE t PARTITION (p = 'a', q = 1)")
    assert [r[0] for r in rows(sales)] == [3, 4, 5, 6]
    sales.sql("TRUNCATE TABLE t PARTITION (p = 'b')")
    assert [r[0] for r in rows(sales)] == [3, 4]
    sales.sql("INSERT INTO t PARTITION (p = 'b', q = 7) VALUES (7, 70)")
    assert [r[0] for r in rows(sales)] == [3, 4, 7]
    sales.sql("TRUNCATE TABLE t")
    assert rows(sales) == []
    root = Path(sales.catalog.table("default", "t").location)
    written = {p.read_text() for p in root.rglob("_metadata_acid")}
    assert written == {'{"thisFileVersion":"0","dataFormat":"truncated"}'}


def test_a_number_that_a_cast_changes_names_no_partition(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) PARTITIONED BY (p INT) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, 300), (2, 44)")
    for number in ("CAST(300 AS TINYINT)", "CAST(44.5 AS INT)"):
        with pytest.raises(AcidSqlError, match="PARTITION_NOT_FOUND"):
            session.sql(f"TRUNCATE TABLE t PARTITION (p = {number})")
        assert rows(session, f"p = {number}") == [(2, 44)]


@pytest.mark.parametrize("value", ["false", "FALSE", "'false'"])
def test_a_truth_value_names_a_partition(value: str, session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) PARTITIONED BY (p BOOLEAN) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, false), (2, true)")
    session.sql(f"TRUNCATE TABLE t PARTITION (p = {value})")
    assert rows(session) == [(2, True)]


@pytest.mark.ci
@pytest.mark.parametrize(
    "number", ["-32768", "-32768S", "-32768L", "-32768.0BD", "'-32768'", "CAST(-32768 AS SMALLINT)"]
)
def test_a_number_of_any_type_names_a_partition(number: str, session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT) PARTITIONED BY (p SMALLINT) STORED AS ORC {ACID}")
    session.sql("INSERT INTO t VALUES (1, -32768), (2, 3)")
    session.sql(f"TRUNCATE TABLE t PARTITION (p = {number})")
    assert rows(session) == [(2, 3)]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("INSERT INTO t PARTITION (p, q = 1) VALUES (1, 2, 'a')", "DYNAMIC_PARTITION_ORDER"),
        ("INSERT INTO t PARTITION (zz = 1) VALUES (1, 2, 'a')", "PARTITION_COLUMN_UNKNOWN"),
        ("INSERT INTO t PARTITION (p = 'a') VALUES (1, 2)", "INSERT_COLUMN_COUNT"),
        ("INSERT INTO t PARTITION (p = 'a', q = 1) VALUES (1, 2, 3)", "INSERT_COLUMN_COUNT"),
        ("TRUNCATE TABLE t PARTITION (p = 'nowhere')", "PARTITION_NOT_FOUND"),
        ("TRUNCATE TABLE t PARTITION (zz = 1)", "PARTITION_COLUMN_UNKNOWN"),
    ],
)
def test_a_wrong_partition_clause_is_refused_and_nothing_is_written(
    sales: Session, statement: str, condition: str
) -> None:
    before = directories(sales)
    with pytest.raises(AcidSqlError) as caught:
        sales.sql(statement)
    assert caught.value.condition == condition
    assert directories(sales) == before
    assert len(rows(sales)) == 6


def test_strict_mode_wants_a_static_partition(sales: Session) -> None:
    sales.sql("SET hive.exec.dynamic.partition.mode=strict")
    with pytest.raises(AcidSqlError) as caught:
        sales.sql("INSERT INTO t VALUES (1, 2, 'a', 1)")
    assert (caught.value.condition, caught.value.hive_code) == ("DYNAMIC_PARTITION_STRICT", 10096)
    sales.sql("INSERT INTO t PARTITION (p = 'a', q) VALUES (7, 2, 1)")
    assert len(rows(sales)) == 7


@pytest.mark.ci
@pytest.mark.parametrize("file_format", ["ORC", "PARQUET", "TEXTFILE"])
def test_insert_only_tables_are_written_and_read_in_their_own_format(session: Session, file_format: str) -> None:
    session.sql(
        f"CREATE TABLE t (id INT, name STRING) PARTITIONED BY (p INT) STORED AS {file_format}"
        " TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    )
    counts = session.execute("INSERT INTO t VALUES (1, 'a', 1), (2, NULL, 1), (3, 'c', 2)").counts
    assert counts is not None
    assert counts.inserted == 3
    session.sql("INSERT INTO t PARTITION (p = 1) VALUES (4, 'd')")
    assert rows(session) == [(1, "a", 1), (2, None, 1), (3, "c", 2), (4, "d", 1)]
    session.sql("INSERT OVERWRITE TABLE t PARTITION (p = 1) VALUES (9, 'z')")
    assert rows(session) == [(3, "c", 2), (9, "z", 1)]
    root = Path(session.catalog.table("default", "t").location)
    assert (root / "p=1" / "base_0000003" / "000000_0").is_file()
    assert not list(root.rglob("_orc_acid_version"))


@pytest.mark.ci
def test_a_bucketed_table_keeps_every_row_in_the_bucket_of_its_hash(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id INT, name STRING) CLUSTERED BY (id) INTO 4 BUCKETS STORED AS ORC {ACID}")
    session.sql("INSERT INTO t SELECT id, concat('n', id) FROM (SELECT explode(sequence(1, 40)) AS id) s")
    bucket = "SELECT id, shiftright(row__id.bucketid, 16) & 4095 FROM t ORDER BY id"
    before = [tuple(r) for r in session.sql(bucket).collect()]
    assert {b for _, b in before} == {0, 1, 2, 3}
    session.sql("UPDATE t SET name = 'x' WHERE id % 3 = 0")
    session.sql(
        "MERGE INTO t USING (VALUES (3), (41)) AS s(id) ON t.id = s.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')"
    )
    after = {tuple(r) for r in session.sql(bucket).collect()}
    assert after >= {pair for pair in before if pair[0] != 3}
    session.sql("UPDATE t SET id = id + 100 WHERE id = 5")
    session.sql("INSERT INTO t VALUES (105, 'twin')")
    twins = session.sql("SELECT count(DISTINCT shiftright(row__id.bucketid, 16)) FROM t WHERE id = 105").collect()
    assert twins[0][0] == 1
