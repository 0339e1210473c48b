"""A streaming query that reads the changes of a table since a name and merges them into another one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from acidsql.session import Session
from tests.answers import rows
from tests.crash.writers import Place, kill, wait_for_line

PATIENCE: Final = 120.0
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
MERGE: Final = """MERGE INTO copied USING (SELECT * FROM {changes} WHERE _change_type <> 'update_preimage') s
    ON copied.id = s.id
    WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
    WHEN MATCHED THEN UPDATE SET v = s.v
    WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"""


def follow(session: Session) -> None:
    with session.transaction():
        changes = session.changes("t", since="copy", deduplication_mode="netChanges", compute_updates=True, row_id="id")
        if not changes.isEmpty():
            session.execute(MERGE, frames={"changes": changes})
            counted = changes.selectExpr("id", "v", "_change_type", "_commit_version")
            session.execute("INSERT INTO log SELECT * FROM {counted}", frames={"counted": counted})


def started(session: Session, spark: SparkSession) -> StreamingQuery:
    def each(_: DataFrame, batch: int) -> None:
        follow(session)

    ticker = spark.readStream.format("rate").load()
    return ticker.writeStream.foreachBatch(each).trigger(processingTime="200 milliseconds").start()


def made(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    session.execute(f"CREATE TABLE copied (id int, v int) {ACID}")
    session.execute(f"CREATE TABLE log (id int, v int, kind string, version bigint) {ACID}")


def is_followed(session: Session) -> bool:
    return rows(session, "SELECT * FROM copied ORDER BY id") == rows(session, "SELECT * FROM t ORDER BY id")


def wait_until_followed(session: Session, query: StreamingQuery) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_followed(session):
        assert query.exception() is None
        assert time.monotonic() < deadline, "the copy does not follow"
        time.sleep(0.1)


def log_of_updates(session: Session) -> list[tuple[object, ...]]:
    """The images that were read, and how often, if that was more than once."""
    return rows(session, "SELECT id, kind, version, count(*) FROM log GROUP BY id, kind, version HAVING count(*) > 1")


@pytest.mark.ci
def test_a_query_follows_a_table_and_goes_on_after_a_restart(
    session: Session, spark: SparkSession, open_session: Callable[[], Session]
) -> None:
    made(session)
    writer = open_session()
    query = started(session, spark)
    writer.execute("INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)")
    wait_until_followed(writer, query)
    query.stop()
    query.awaitTermination(60)
    writer.execute("UPDATE t SET v = 1 WHERE id < 3")
    writer.execute("DELETE FROM t WHERE id = 2")
    assert not is_followed(writer)
    query = started(session, spark)
    wait_until_followed(writer, query)
    query.stop()
    query.awaitTermination(60)
    assert log_of_updates(writer) == []


def commits(session: Session) -> int:
    """How often the place of the reader has moved."""
    return sum(int(str(row[5])) for row in rows(session, "SHOW STREAMS LIKE 'changes:copy'"))


STREAM: Final = """
from tests.streaming.test_followed_changes import follow

with connect(conf=CONF) as session:
    ticker = session.spark.readStream.format("rate").load()
    query = (ticker.writeStream.foreachBatch(lambda _, batch: follow(session))
             .trigger(processingTime="100 milliseconds").start())
    print("ready", flush=True)
    query.awaitTermination()
"""


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_query_that_is_killed_again_and_again_reads_every_change_once(session: Session, tmp_path: Path) -> None:
    made(session)
    place, chance = Place(tmp_path), random.Random(40)
    number = 0
    for _ in range(4):
        process = place.start(STREAM)
        wait_for_line("ready", process)
        wanted = commits(session) + chance.randint(1, 4)
        deadline = time.monotonic() + PATIENCE
        while commits(session) < wanted:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "the query does not read"
            number += 1
            session.execute(f"INSERT INTO t VALUES ({number}, 0)")
            session.execute(f"UPDATE t SET v = v + 1 WHERE id % 5 = {chance.randrange(5)}")
            if number % 7 == 0:
                session.execute(f"DELETE FROM t WHERE id % 11 = {chance.randrange(11)}")
        time.sleep(chance.uniform(0, 2))
        kill(process)
    follow(session)
    assert is_followed(session)
    assert log_of_updates(session) == []
