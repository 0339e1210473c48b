"""How many times a statement writes and reads, counted in the plans of Spark's status store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from acidsql.session import Session
from acidsql.spark.running_spark import for_little
from tests.selection import every


@dataclass(frozen=True, slots=True)
class Shape:
    """What a statement's executions did: write commands, scans of the target's data files and of the other tables'."""

    writes: int
    target_scans: int
    other_scans: int = 0


def run_and_count(session: Session, statement: str) -> Shape:
    """The shape of what Spark runs for a statement on table t. Broadcasts and adaptive stages are parts of it."""
    before = last_execution(session.spark)
    session.execute(statement)
    nodes = [node for execution in executions_after(session.spark, before) for node in plan_nodes(execution)]
    scans = [description for name, description in nodes if name.startswith("Scan orc")]
    data_scans = [text for text in scans if "/delete_delta_" not in location(text)]
    return Shape(
        writes=sum("InsertIntoHadoopFsRelationCommand" in name for name, _ in nodes),
        target_scans=sum("/warehouse/t/" in location(text) for text in data_scans),
        other_scans=sum("/warehouse/t/" not in location(text) for text in data_scans),
    )


def location(description: str) -> str:
    """The first paths that a scan reads."""
    found = re.search(r"Location: \w+\s*\(\d+ paths\)\[([^\]]*)\]", description)
    assert found is not None, description
    return found.group(1)


def status_store(spark: SparkSession) -> Any:
    """Spark's record of SQL executions, once every event has reached it."""
    jvm_session: Any = spark._jsparkSession
    jvm_session.sparkContext().listenerBus().waitUntilEmpty(60_000)
    return jvm_session.sharedState().statusStore()


def last_execution(spark: SparkSession) -> int:
    return max((execution.executionId() for execution in listed(status_store(spark).executionsList())), default=-1)


@dataclass(frozen=True, slots=True)
class Execution:
    graph: Any


def executions_after(spark: SparkSession, number: int) -> list[Execution]:
    store = status_store(spark)
    ids = [execution.executionId() for execution in listed(store.executionsList())]
    return [Execution(store.planGraph(i)) for i in ids if i > number]


def plan_nodes(execution: Execution) -> list[tuple[str, str]]:
    """Name and description of each node that ran: a stage that adaptive execution reused is in it once."""
    return [(node.name(), node.desc()) for node in listed(execution.graph.allNodes())]


def listed(scala: Any) -> list[Any]:
    return [scala.apply(i) for i in range(scala.size())]


@pytest.fixture
def tables(session: Session) -> Iterator[Session]:
    """t, with two deltas and a delete_delta, and a source s; plans name the paths that they read in full."""
    for name in ("t", "s"):
        session.execute(f"CREATE TABLE {name} (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        session.execute(f"INSERT INTO {name} VALUES (1, 10), (2, 20), (3, 30), (4, 40)")
    session.execute("UPDATE t SET v = 0 WHERE id = 4")
    session.spark.conf.set("spark.sql.maxMetadataStringLength", "100000")
    yield session
    session.spark.conf.unset("spark.sql.maxMetadataStringLength")


STATEMENTS = {
    "INSERT INTO t VALUES (9, 9)": Shape(1, 0),
    "INSERT INTO t SELECT id + 10, v FROM s": Shape(1, 0, 1),
    "INSERT INTO t SELECT id + 10, v FROM t": Shape(1, 1),
    "UPDATE t SET v = v + 1": Shape(1, 1),
    "UPDATE t SET v = v + 1 WHERE id = 2": Shape(1, 1),
    "UPDATE t SET v = (SELECT max(v) FROM t) WHERE id = 2": Shape(1, 2),
    "UPDATE t SET v = 1 WHERE id IN (SELECT id FROM s WHERE v > 20)": Shape(1, 1, 1),
    "DELETE FROM t": Shape(1, 1),
    "DELETE FROM t WHERE id > 2": Shape(1, 1),
    "DELETE FROM t WHERE v < (SELECT avg(v) FROM t) AND id IN (SELECT id FROM t WHERE v > 0)": Shape(1, 3),
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v": Shape(1, 1, 1),
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE": Shape(1, 1, 1),
    "MERGE INTO t USING s ON t.id = s.id + 2 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)": Shape(1, 1, 1),
    "MERGE INTO t USING s ON t.id = s.id + 2 WHEN MATCHED AND t.id = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET"
    " v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)": Shape(1, 1, 1),
    "MERGE INTO t USING s ON t.id = s.id + 2 WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES"
    " (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE": Shape(1, 1, 1),
    "MERGE INTO t USING (SELECT id, v + 1 AS v FROM t) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)": Shape(1, 2),
}


@pytest.mark.ci
@pytest.mark.parametrize("statement", every(2, STATEMENTS))
def test_a_statement_writes_once_and_scans_once_for_each_place_that_names_a_table(
    statement: str, tables: Session
) -> None:
    tables.execute("SET acidsql.driver.write.max.bytes=0")
    assert run_and_count(tables, statement) == STATEMENTS[statement]


@pytest.mark.nightly
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_the_driver_writes_scans_once_too(
    statement: str, tables: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables._engines.steering, "may_use_arrow", False)
    assert run_and_count(tables, statement) == replace(STATEMENTS[statement], writes=0)


def test_a_query_that_is_run_twice_is_counted_twice(tables: Session) -> None:
    """What the counting is worth: a second reading of the same files shows."""
    before = last_execution(tables.spark)
    frame = tables.sql("SELECT sum(v) FROM t")
    frame.collect()
    frame.collect()
    found = [name for e in executions_after(tables.spark, before) for name, _ in plan_nodes(e)]
    assert sum(name.startswith("Scan orc") for name in found) == 2


# ------------------------------------------------------------------------------------------------ the six ACID columns

WITHOUT_ROW_IDS = ["OPERATION", "ORIGINALTRANSACTION", "BUCKET", "ROWID", "CURRENTTRANSACTION", "row"]
"""In capitals, what Spark finds in no file and leaves out."""
WITH_ROW_IDS = ["OPERATION", "originalTransaction", "bucket", "rowId", "CURRENTTRANSACTION", "row"]
SAID = [
    f"{column} {what}"
    for column in ("row__id.writeid", "row__id.bucketid", "row__id.rowid", "a", "b")
    for what in ("= 1", "IS NULL", "IS NOT NULL", "<=> 2", "> -1", "IN (1, 2)", "+ a >= 0", "BETWEEN 0 AND 1")
]
"""What a query says of the columns that the reader's own filter names: none of it may make that filter superfluous."""


def columns_read(frame: DataFrame) -> list[str]:
    """The columns of a query's only scan; none where Spark needs none."""
    query: Any = frame._jdf.queryExecution()
    scan = re.search(r"FileScan orc \[(.*?)\]", query.sparkPlan().toString())
    return [] if scan is None else [name.partition("#")[0] for name in scan.group(1).split(",")]


@pytest.mark.nightly
def test_all_six_columns_are_scanned_whatever_a_query_says(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (a int, b bigint)")
    session.execute("INSERT INTO t VALUES (1, 2), (3, NULL)")
    pairs = [f"{left} {word} {right}" for left in SAID[::5] for word in ("AND", "OR") for right in SAID[::6]]
    scanned = 0
    for condition in [*SAID, *(f"NOT ({said})" for said in SAID), *pairs]:
        names = columns_read(session.sql(f"SELECT count(*) FROM t WHERE {condition}"))
        if names:  # or the condition contradicts itself
            scanned += 1
            assert names == (WITH_ROW_IDS if "row__id" in condition else WITHOUT_ROW_IDS), condition
    assert scanned > len(pairs)


@pytest.mark.nightly
def test_large_files_and_many_small_ones_are_spread_over_all_tasks(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (id bigint, text string)")
    texts = session.spark.range(0, 260_000, 1, 4).selectExpr("id", "sha2(CAST(id AS STRING), 256) AS text")
    session.sql("INSERT INTO t SELECT id, text FROM {texts}", texts=texts)
    for number in range(20):
        session.execute(f"INSERT INTO t VALUES ({-number}, 'small')")
    tasks = "SELECT INPUT__FILE__NAME, spark_partition_id() AS task FROM t GROUP BY ALL HAVING count(id) > 1"
    assert Counter(row.task for row in session.sql(tasks).collect()) == {0: 2, 1: 2}
    session.execute("SET spark.sql.files.openCostInBytes=4194304")  # Spark's
    try:
        assert Counter(row.task for row in session.sql(tasks).collect()) == {0: 4}
    finally:
        session.spark.conf.unset("spark.sql.files.openCostInBytes")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("query", "is_interpreted"),
    [
        ("SELECT s.id FROM s JOIN u ON s.id = u.id", True),
        ("SELECT s.id FROM s WHERE s.id > (SELECT max(u.id) FROM u)", True),
        ("SELECT s.id FROM s JOIN u ON s.id < u.id", False),
        ("SELECT s.id FROM s WHERE s.id > (SELECT count(*) FROM s JOIN u)", False),
    ],
)
def test_a_query_of_little_data_is_interpreted_unless_it_joins_all_rows_with_all(
    session: Session, query: str, is_interpreted: bool
) -> None:
    for table in ("s", "u"):
        session.execute(f"CREATE TABLE {table} (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        session.execute(f"INSERT INTO {table} VALUES (1), (2)")
    frame = session.sql(query)
    little = for_little(frame)
    assert (little is not frame) is is_interpreted
    assert little.collect() == frame.collect()


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("UPDATE t SET v = 0 WHERE id < 3", [(2, 2, 0, 0)]),
        ("SHOW TABLES", [("s",), ("t",)]),
        ("SET hive.lock.numretries", [("hive.lock.numretries", "105")]),
        ("SHOW TABLES LIKE 'none'", []),
        ("CREATE DATABASE d", []),
    ],
)
def test_answers_are_rows_of_the_plan_itself(statement: str, rows: list[tuple[object, ...]], tables: Session) -> None:
    """No job makes them, and none of Python's processes is started to look at them."""
    frame = tables.sql(statement)
    query: Any = frame._jdf.queryExecution()
    assert query.optimizedPlan().nodeName() in ("LocalRelation", "EmptyRelation")
    assert frame.collect() == rows
