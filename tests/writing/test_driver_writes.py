"""The driver writes little data into the same files, with the same events, as Spark does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.planner import write_strategy
from acidsql.session import Session, connect
from acidsql.spark.write import driver_write
from acidsql.writing import event_files
from acidsql.writing.publishing import FinishedFile
from tests.selection import core
from tests.spark.test_plan_shape import executions_after, last_execution, plan_nodes

pytestmark = pytest.mark.usefixtures("by_spark")

ALL = (
    "a TINYINT, b SMALLINT, c BIGINT, d FLOAT, e DOUBLE, f DECIMAL(38,10), g CHAR(4), h VARCHAR(3), i BOOLEAN,"
    " j BINARY, k DATE, l TIMESTAMP, m TIMESTAMP WITH LOCAL TIME ZONE, n ARRAY<STRING>, o MAP<STRING,DECIMAL(5,2)>,"
    " q STRUCT<x:INT,y:ARRAY<STRUCT<z:CHAR(3)>>>"
)
VALUES = (
    "1Y, 2S, 3L, CAST(0.1 AS FLOAT), -0.0D, 12345678901234567890.5, 'ab', 'abcd', true, X'00FF', date '1582-10-15',"
    " timestamp '9999-12-31 23:59:59.999999', timestamp '1970-01-01 00:00:00 UTC',"
    " array('x', NULL), map('a', 1.25, 'b', NULL),"
    " named_struct('x', NULL, 'y', array(named_struct('z', 'ab')))"
)
TABLES = {
    "flat": "(id INT, v STRING)",
    "parted": "(id INT, v STRING) PARTITIONED BY (p STRING)",
    "bucketed": "(id INT, v STRING) CLUSTERED BY (id) INTO 3 BUCKETS",
}


@pytest.fixture
def sessions(spark: SparkSession, tmp_path: Path) -> Iterator[list[Session]]:
    """One in which the driver writes what it can, one in which Spark writes all."""
    opened = [connect(tmp_path / name, spark=spark) for name in ("driver", "spark")]
    opened[1].execute("SET acidsql.driver.write.max.bytes=0")
    yield opened
    for session in opened:
        session.close()


def events(session: Session, table: str) -> dict[str, Any]:
    """The events of each file, by its path in the table."""
    root = Path(session.catalog.table("default", table).location)
    files = sorted(f for f in root.rglob("*") if (f.is_file() and "bucket_" in f.name) or f.name.startswith("0000"))
    return {str(f.relative_to(root)): orc.read_table(f).to_pylist() for f in files}


def footer(session: Session, table: str) -> dict[str, Any]:
    root = Path(session.catalog.table("default", table).location)
    found = {}
    for file in sorted(root.rglob("bucket_*")):
        opened = orc.ORCFile(file)
        metadata = {k: v for k, v in (opened.metadata or {}).items() if k.startswith(b"hive.")}
        fields = [(f.name, str(f.type).partition("\n")[0]) for f in opened.schema]  # below it stand Spark's names
        found[str(file.relative_to(root))] = (fields, metadata, opened.compression)
    return found


def run(sessions: list[Session], *statements: str) -> None:
    for session in sessions:
        for statement in statements:
            session.execute(statement)


def by_driver(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that the driver writes from now on."""
    written: list[str] = []
    write = event_files.write_events

    def noted(files: Any, staging: str, table: Any, directory: str, *rest: Any, **named: Any) -> FinishedFile:
        written.append(f"{staging}/{directory}")
        return write(files, staging, table, directory, *rest, **named)

    monkeypatch.setattr(event_files, "write_events", noted)
    return written


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(TABLES, lambda kind: kind == "bucketed"))
def test_dml_writes_the_same_events(sessions: list[Session], monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    written = by_driver(monkeypatch)
    last = ", 'x/y=%'" if kind == "parted" else ""
    last_column = ", CAST(NULLIF(id % 3, 1) AS STRING)" if kind == "parted" else ""
    run(
        sessions,
        f"CREATE TABLE t {TABLES[kind]} STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        f"INSERT INTO t SELECT id, CONCAT('v', id){last_column} FROM range(0, 40, 1, 1)",
        f"INSERT INTO t VALUES (100, NULL{last}), (NULL, 'w'{last})",
        "UPDATE t SET v = CONCAT(v, '!') WHERE id % 4 = 0",
        "DELETE FROM t WHERE id % 9 = 1",
        "MERGE INTO t USING (SELECT id, 's' AS v FROM range(30, 50, 1, 1)) s ON t.id = s.id"
        " WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET v = s.v WHEN MATCHED THEN DELETE"
        f" WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v{last})",
    )
    if kind == "parted":
        run(sessions, "UPDATE t SET p = 'moved' WHERE id < 10")
    rows = [sorted(s.sql("SELECT * FROM t").collect(), key=str) for s in sessions]
    assert rows[0] == rows[1]
    first, second = (events(s, "t") for s in sessions)
    assert written
    assert not any("/spark/" in directory for directory in written)
    assert first.keys() == second.keys()
    if kind == "parted":  # a task of Spark's may number the new rows of several partitions
        return
    for path, of_file in second.items():
        assert first[path] == of_file, path
    assert footer(sessions[0], "t") == footer(sessions[1], "t")


def test_the_driver_gets_one_row_for_each_changed_row(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delete event of an UPDATE, and the event of MERGE's cardinality check, need no row of their own."""
    session.execute("CREATE TRANSACTIONAL TABLE t (id INT, v STRING)")
    session.execute("INSERT INTO t SELECT id, 'a' FROM range(0, 40, 1, 1)")
    collected: list[int] = []
    collect = driver_write._collected

    def noted(*given: Any) -> Any:
        found = collect(*given)
        collected.append(found.num_rows)
        return found

    monkeypatch.setattr(driver_write, "_collected", noted)
    before = last_execution(session.spark)
    session.execute("UPDATE t SET v = CONCAT(v, '!') WHERE id % 4 = 0")
    session.execute(
        "MERGE INTO t USING (SELECT id FROM range(30, 50, 1, 1)) s ON t.id = s.id"
        " WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET v = 'm' WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')"
    )
    assert collected == [10, 20]
    assert not [
        name for e in executions_after(session.spark, before) for name, _ in plan_nodes(e) if "Generate" in name
    ]
    assert session.sql("SELECT count(*), count_if(v = 'm'), count_if(v = 'new') FROM t").collect() == [(45, 5, 10)]


@pytest.mark.ci
def test_the_files_of_new_rows_are_as_many_as_spark_would_write(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Much data goes to one file for each core. Each file numbers its own rows."""
    written = by_driver(monkeypatch)
    monkeypatch.setattr(write_strategy, "ONE_TASK", 0)
    run(
        sessions,
        "CREATE TABLE t (id INT, v STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO t SELECT CAST(id AS INT), CONCAT('v', id % 7) FROM range(0, 5000, 1, 2)",
        "UPDATE t SET v = CONCAT(v, '!') WHERE id % 3 = 0",
        "DELETE FROM t WHERE id % 5 = 0",
    )
    updated = [d for d in written if "/t/.acidsql_staging" in d]
    assert len({d for d in updated if "_2_" in d}) == 4  # two files of new rows, of old ones two
    rows = [sorted(s.sql("SELECT * FROM t").collect()) for s in sessions]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 4000
    ids = sessions[0].sql("SELECT row__id FROM t").collect()
    assert len(set(ids)) == 4000


@pytest.mark.ci
def test_values_of_all_types_are_the_same(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    written = by_driver(monkeypatch)
    nulls = ", ".join(["NULL"] * 16)
    run(
        sessions,
        f"CREATE TABLE t ({ALL}) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.compress'='SNAPPY')",
        f"INSERT INTO t SELECT {VALUES}",
        f"INSERT INTO t SELECT {nulls}",
        "UPDATE t SET b = 5S",
        "DELETE FROM t WHERE a IS NULL",
    )
    assert {d.split("/t/")[0].rpartition("/")[2] for d in written} == {"driver"}
    rows = [session.sql("SELECT *, row__id FROM t").collect() for session in sessions]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 1
    assert footer(sessions[0], "t") == footer(sessions[1], "t")


@pytest.mark.ci
def test_every_file_gets_the_structs_of_its_own_rows(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement's rows are collected as one table, of which each file gets a part."""
    written = by_driver(monkeypatch)
    run(
        sessions,
        "CREATE TABLE t (id INT, s STRUCT<x:INT,y:STRING>, n STRUCT<l:ARRAY<STRUCT<k:STRING,v:ARRAY<INT>>>>)"
        " STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO t SELECT 1, named_struct('x', 1, 'y', 'z'),"
        " named_struct('l', array(named_struct('k', 'k1', 'v', array(1, 2)), NULL))",
        "INSERT INTO t SELECT 2, NULL, named_struct('l', NULL)",
        "INSERT INTO t SELECT 3, named_struct('x', NULL, 'y', NULL), NULL",
        "MERGE INTO t USING (VALUES (3), (1), (2), (4)) AS s(k) ON t.id = s.k WHEN MATCHED AND s.k = 9 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET id = t.id + 10"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.k, named_struct('x', s.k, 'y', NULL), NULL)",
    )
    assert written
    rows = [session.sql("SELECT * FROM t ORDER BY id").collect() for session in sessions]
    assert rows[0] == rows[1]
    assert [tuple(row) for row in rows[0]] == [
        (4, (4, None), None),
        (11, (1, "z"), ([("k1", [1, 2]), None],)),
        (12, None, (None,)),
        (13, (None, None), None),
    ]


def test_an_insert_only_table_gets_plain_rows(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    written = by_driver(monkeypatch)
    properties = "('transactional'='true', 'transactional_properties'='insert_only')"
    run(
        sessions,
        f"CREATE TABLE t (id INT, `a b` STRING) PARTITIONED BY (p INT) STORED AS ORC TBLPROPERTIES {properties}",
        "INSERT INTO t VALUES (1, 'x', 1), (2, NULL, NULL)",
    )
    assert len(written) == 2
    assert events(sessions[0], "t") == events(sessions[1], "t")


def test_a_row_that_two_source_rows_match_is_an_error(sessions: list[Session]) -> None:
    run(
        sessions,
        "CREATE TABLE t (id INT, v INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO t VALUES (1, 1), (2, 2)",
    )
    merge = (
        "MERGE INTO t USING (SELECT * FROM VALUES (2, 5), (2, 6) AS s(id, v)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = s.v"
    )
    messages = []
    for session in sessions:
        with pytest.raises(AcidSqlError) as raised:
            session.execute(merge)
        assert raised.value.condition == "CARDINALITY_VIOLATION"
        messages.append(raised.value.message)
    assert messages[0] == messages[1]
    assert sorted(sessions[0].sql("SELECT * FROM t").collect()) == [(1, 1), (2, 2)]


@pytest.mark.ci
@pytest.mark.parametrize("most", [3, 1000])
def test_more_rows_than_the_driver_takes_are_written_by_spark(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    written = by_driver(monkeypatch)
    monkeypatch.setattr(driver_write, "_MOST_ROWS", most)
    run(
        sessions[:1],
        "CREATE TABLE t (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        "INSERT INTO t SELECT CAST(id AS INT) FROM range(0, 20, 1, 1)",
        "UPDATE t SET id = id + 100",
    )
    assert bool(written) is (most > 3)
    assert [row[0] for row in sessions[0].sql("SELECT id FROM t ORDER BY id").collect()] == list(range(100, 120))


def test_a_result_larger_than_the_driver_may_have_is_written_by_spark(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = by_driver(monkeypatch)
    run(sessions[:1], f"CREATE TABLE t {TABLES['flat']} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    conf: Any = sessions[0].spark.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", "64k")
    try:
        run(sessions[:1], "INSERT INTO t SELECT CAST(id AS INT), repeat('v', 100) FROM range(0, 2000, 1, 1)")
    finally:
        conf.remove("spark.driver.maxResultSize")
    assert not written
    assert sessions[0].sql("SELECT count(*) FROM t").collect()[0][0] == 2000


@pytest.mark.ci
def test_a_source_of_unknown_size_is_written_by_spark(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    spark = sessions[0].spark
    rdd = spark.sparkContext.parallelize([(1, "one"), (2, "two")], 1)
    source = spark.createDataFrame(rdd, "id INT, v STRING")
    run(sessions[:1], f"CREATE TABLE t {TABLES['flat']} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    run(sessions[:1], "INSERT INTO t VALUES (1, 'a')")
    written = by_driver(monkeypatch)
    sessions[0].execute(
        "MERGE INTO t USING {source} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)",
        frames={"source": source},
    )
    assert not written
    assert sorted(sessions[0].sql("SELECT * FROM t").collect()) == [(1, "one"), (2, "two")]


@pytest.mark.ci
def test_a_subquery_that_reads_much_leaves_the_statement_to_spark(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(sessions, f"CREATE TABLE t {TABLES['flat']} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    run(sessions, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    written = by_driver(monkeypatch)
    run(sessions, "UPDATE t SET v = 'c' WHERE id IN (SELECT max(id) % 7 FROM range(10000001))")
    assert not written
    run(sessions, "UPDATE t SET v = 'd' WHERE id IN (SELECT max(id) % 7 FROM range(100))")
    assert written
    assert [tuple(row) for row in sessions[0].sql("SELECT * FROM t ORDER BY id").collect()] == [(1, "d"), (2, "b")]


@pytest.mark.ci
@pytest.mark.parametrize(
    "value",
    ["timestamp '1969-07-20 20:17:40.25'", "timestamp '1601-01-01 00:00:00.000001'", "date '1582-10-04'"],
)
def test_times_that_pyarrow_writes_wrong_are_written_by_spark(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    written = by_driver(monkeypatch)
    run(
        sessions[:1],
        f"CREATE TABLE t (at {value.split()[0]}) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        f"CREATE TABLE u (times ARRAY<{value.split()[0]}>) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
        f"INSERT INTO t VALUES ({value})",
        f"INSERT INTO u SELECT array({value})",
    )
    assert not written
    assert sessions[0].sql(f"SELECT at = {value} FROM t").collect()[0][0]
    assert sessions[0].sql(f"SELECT times[0] = {value} FROM u").collect()[0][0]


def test_a_table_with_settings_of_orc_is_written_by_spark(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = by_driver(monkeypatch)
    run(
        sessions[:1],
        "CREATE TABLE t (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.bloom.filter.columns'='id')",
        "INSERT INTO t VALUES (1)",
    )
    assert not written


def test_the_bytes_of_a_nested_list_without_rows_and_offsets_are_counted() -> None:
    """Table.nbytes ends the process with a segmentation fault here."""
    no_offsets = pa.py_buffer(b"\x11\x22\x33\x44" * 1024).slice(64, 0)
    inner = pa.Array.from_buffers(pa.list_(pa.int32()), 0, [None, no_offsets], children=[pa.array([], pa.int32())])
    nulls = [pa.py_buffer(b"\0"), pa.py_buffer(b"\0" * 8)]
    outer = pa.Array.from_buffers(pa.list_(inner.type), 1, nulls, children=[inner])
    assert driver_write.buffer_bytes(pa.table({"a": outer})) == 9


WIDE = {
    "text": ("v STRING", "repeat('wide ', 4000)"),
    "bytes": ("v BINARY", "CAST(repeat('wide ', 4000) AS BINARY)"),
    "numbers": ("v ARRAY<INT>", "array_repeat(1, 2000)"),
    "texts": ("v ARRAY<STRING>", "array_repeat('wide', 1000)"),
    "keys": ("v MAP<INT,STRING>", "map_from_arrays(sequence(1, 500), array_repeat('x', 500))"),
    "nested": ("v ARRAY<STRUCT<a:ARRAY<STRING>>>", "array_repeat(named_struct('a', array_repeat('wide', 10)), 100)"),
}


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(WIDE, lambda kind: kind in ("text", "nested")))
def test_rows_that_are_wide_in_memory_are_written_by_spark_however_small_their_file_is(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    written = by_driver(monkeypatch)
    column, value = WIDE[kind]
    session = sessions[0]
    session.execute(f"CREATE TABLE t (id INT, {column}) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute(f"INSERT INTO t SELECT CAST(id AS INT), {value} FROM range(0, 200, 1, 1)")
    session.execute("UPDATE t SET id = id + 1 WHERE id < 100")
    assert written, "some rows have room"
    del written[:]
    heap = session.spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory()  # type: ignore[union-attr]
    monkeypatch.setattr(driver_write, "_OF_HEAP_AT_ONCE", heap // 2_000_000)  # 1 MB for each of two tasks
    session.execute("UPDATE t SET id = id + 1")
    session.execute(f"INSERT INTO t SELECT CAST(id AS INT), {value} FROM range(200, 400, 1, 1)")
    assert not written
    session.execute("DELETE FROM t WHERE id < 50")
    assert written, "of deleted rows only their row IDs are collected"
    assert session.sql("SELECT count(*), count(v), sum(id) FROM t").collect()[0][0] == 352
