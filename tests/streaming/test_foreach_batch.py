"""Structured Streaming into tables: each batch is written exactly once, whatever is stopped, repeated or changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import acidsql
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.streams import StreamState
from acidsql.session import Session
from acidsql.spark import executor
from acidsql.writing import publishing
from tests.answers import fails
from tests.selection import core
from tests.support.streamed_files import COLUMNS, StreamedFiles

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> StreamedFiles:
    return StreamedFiles(spark, tmp_path)


def state(session: Session, stream: str, table: str = "t") -> StreamState:
    metastore = session.catalog
    assert isinstance(metastore, SessionMetastore)
    found = metastore.stream(metastore.table("default", table), stream)
    assert found is not None
    return found


def committed(session: Session, stream: str = "s", table: str = "t") -> object:
    offset: Any = state(session, stream, table).offset
    return offset["batch"]


def ids(session: Session, table: str = "t") -> list[int]:
    return [row[0] for row in session.sql(f"SELECT id FROM {table} ORDER BY id").collect()]


def frame(spark: SparkSession, *rows: tuple[object, ...], columns: str = COLUMNS) -> DataFrame:
    return spark.createDataFrame(list(rows), columns)


# ------------------------------------------------------------------------------------------------ append


@pytest.mark.ci
@pytest.mark.parametrize(
    "kind",
    [
        f"({COLUMNS}) {ACID}",
        pytest.param(f"({COLUMNS}) CLUSTERED BY (id) INTO 3 BUCKETS {ACID}", marks=pytest.mark.nightly),
        f"(name STRING, id INT) PARTITIONED BY (d STRING) {ACID}",
        pytest.param(
            f"(name STRING, id INT) PARTITIONED BY (d STRING) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}",
            marks=pytest.mark.nightly,
        ),
        f"({COLUMNS}) {INSERT_ONLY}",
    ],
)
def test_a_query_appends_its_batches_and_goes_on_after_a_restart(
    session: Session, files: StreamedFiles, kind: str
) -> None:
    session.sql(f"CREATE TABLE t {kind}")
    files.add_range(0, 3)
    files.add_range(3, 6)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    assert committed(session) == 1
    files.add()
    files.add_range(6, 9)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    rows = session.sql("SELECT id, name, d FROM t ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [(i, f"n{i}", f"p{i % 2}") for i in range(9)]
    found = state(session, "s")
    assert (committed(session), found.commits, found.rows) == (3, 4, 9)


def test_a_batch_that_was_written_before_a_crash_is_not_written_again(session: Session, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    for i in range(3):
        files.add_range(i * 2, i * 2 + 2)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    files.forget_commits("a")
    files.add_range(6, 8)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    assert ids(session) == list(range(8))
    assert (committed(session), state(session, "s").commits) == (3, 4)


def test_a_batch_is_told_by_its_number_outside_of_a_query(session: Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    write = acidsql.streaming.append("default.t", "s", session=session)
    for batch in (0, 0, 4, 0, 4):
        write(frame(spark, (batch, "a", "b")), batch)
    acidsql.streaming.append("t", "other", session=session)(frame(spark, (9, "a", "b")), 0)
    assert ids(session) == [0, 4, 9]
    assert (committed(session), committed(session, "other")) == (4, 0)


# ------------------------------------------------------------------------------------------------ new checkpoints


@pytest.mark.nightly
def test_a_new_checkpoint_passes_over_what_is_committed_and_goes_on(session: Session, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    for i in range(4):
        files.add_range(i * 2, i * 2 + 2)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    files.add_range(8, 10)
    # The process dies while it passes over batches, and Spark repeats the last two of them.
    stopping = StoppingAt(2, acidsql.streaming.append("t", id="s", session=session))
    with pytest.raises(StreamingQueryException, match="stopped"):
        files.run(stopping, "b")
    assert committed(session) == 3
    files.forget_commits("b")
    files.run(acidsql.streaming.append("t", id="s", session=session), "b")
    assert ids(session) == list(range(10))
    assert (committed(session), state(session, "s").rows) == (4, 10)
    files.add_range(10, 12)
    files.run(acidsql.streaming.append("t", id="s", session=session), "b")
    files.run(acidsql.streaming.append("t", id="s", session=session), "c")
    assert ids(session) == list(range(12))


class StoppingAt:
    """A sink that fails at one batch."""

    def __init__(self, batch: int, sink: Callable[[DataFrame, int], None]) -> None:
        self.batch, self.sink = batch, sink

    def __call__(self, frame: DataFrame, batch: int) -> None:
        if batch == self.batch:
            raise RuntimeError("stopped")
        self.sink(frame, batch)


@pytest.mark.ci
def test_a_new_checkpoint_with_other_batches_is_refused_before_it_changes_anything(
    session: Session, files: StreamedFiles
) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    files.add_range(0, 2)
    files.add_range(2, 4)
    files.run(acidsql.streaming.append("t", id="s", session=session))
    files.add_range(4, 6)
    before = state(session, "s")
    for per_batch in (2, 3):
        with pytest.raises(StreamingQueryException, match="STREAM_REPLAY_DIFFERS"):
            files.run(acidsql.streaming.append("t", id="s", session=session), f"by {per_batch}", per_batch)
    assert state(session, "s").offset == before.offset
    files.run(acidsql.streaming.append("t", id="s", session=session))
    assert ids(session) == list(range(6))


@pytest.mark.ci
def test_a_new_checkpoint_can_be_told_to_skip_or_to_write(session: Session, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    files.add_range(0, 2)
    files.add_range(2, 4)

    def stamped(batch_frame: DataFrame) -> DataFrame:
        return batch_frame.withColumn("name", F.current_timestamp().cast("string"))

    files.run(acidsql.streaming.append("t", id="s", session=session), change=stamped)
    files.add_range(4, 6)
    with pytest.raises(StreamingQueryException, match="STREAM_REPLAY_DIFFERS"):
        files.run(acidsql.streaming.append("t", id="s", session=session), "b", change=stamped)
    files.run(acidsql.streaming.append("t", id="s", session=session, on_new_checkpoint="skip"), "b", change=stamped)
    assert ids(session) == list(range(6))
    for path in files.place.iterdir():
        path.unlink()
    files.add_range(6, 8)
    writing = acidsql.streaming.append("t", id="s", session=session, on_new_checkpoint="write")
    files.run(writing, "c")
    files.forget_commits("c")
    files.run(writing, "c")
    assert ids(session) == list(range(8))
    assert committed(session) == 0


# ------------------------------------------------------------------------------------------------ merge


@pytest.mark.ci
def test_merge_without_clauses_is_an_upsert(session: Session, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t (name STRING, id INT) PARTITIONED BY (d STRING) {ACID}")
    files.add_range(0, 4)
    files.add({"id": 1, "name": "new", "d": "p1"}, {"id": 7, "name": "seven", "d": "q"})
    upsert = acidsql.streaming.merge("t", on="target.id = source.id", id="s", session=session)
    files.run(upsert)
    files.forget_commits("a")
    files.run(upsert)
    found = [tuple(row) for row in session.sql("SELECT id, name, d FROM t ORDER BY id").collect()]
    assert found == [(0, "n0", "p0"), (1, "new", "p1"), (2, "n2", "p0"), (3, "n3", "p1"), (7, "seven", "q")]
    assert (committed(session), state(session, "s").rows) == (1, 6)


CHANGES = "op STRING, id INT, name STRING, seq BIGINT"
OF_LOG = """
    WHEN MATCHED AND source.op = 'd' THEN DELETE
    WHEN MATCHED THEN UPDATE SET name = source.name, seq = source.seq
    WHEN NOT MATCHED AND source.op <> 'd' THEN INSERT (id, name, seq) VALUES (source.id, source.name, source.seq)
"""


def test_change_data_in_the_order_of_its_log_gives_the_rows_of_the_database(
    session: Session, files: StreamedFiles
) -> None:
    """Batches are in order; inside a batch, the records of a key are not."""
    session.sql(f"CREATE TABLE t (id INT, name STRING, seq BIGINT) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    chance = random.Random(20)
    model: dict[int, tuple[str, int]] = {}
    files.columns = CHANGES
    for batch in range(3):
        changes: list[dict[str, object]] = []
        for seq in range(batch * 12, batch * 12 + 12):
            key, op = chance.randrange(6), chance.choice("uuud")
            changes.append({"op": op, "id": key, "name": f"v{seq}", "seq": seq})
            if op == "d":
                model.pop(key, None)
            else:
                model[key] = (f"v{seq}", seq)
        chance.shuffle(changes)
        files.add(*changes)
    sink = acidsql.streaming.merge(
        "t", on="target.id = source.id", id="cdc", clauses=OF_LOG, newest_by="seq", session=session
    )
    files.run(sink)
    files.forget_commits("a")
    files.run(sink)
    found = {row.id: (row.name, row.seq) for row in session.sql("SELECT id, name, seq FROM t").collect()}
    assert found == model


@pytest.mark.ci
@pytest.mark.parametrize("seed", core(range(1, 6), lambda seed: seed == 1, one_of=2))
def test_change_data_in_any_order_gives_the_newest_records_with_tombstones(
    session: Session, spark: SparkSession, seed: int
) -> None:
    """Records of a key come in any order, over batches too, and some twice. A deleted row stays, with a mark."""
    session.sql(f"CREATE TABLE t (id INT, name STRING, seq BIGINT, deleted BOOLEAN) PARTITIONED BY (d STRING) {ACID}")
    chance = random.Random(seed)
    keys = [chance.randrange(8) for _ in range(40)]
    log = [(key, f"v{seq}", seq, chance.random() < 0.3, f"p{key % 2}") for seq, key in enumerate(keys)]
    model = {record[0]: record for record in log}
    arriving = [*log, *chance.sample(log, 6)]
    chance.shuffle(arriving)
    sink = acidsql.streaming.merge("t", on="target.id = source.id", id="cdc", newest_by="seq", session=session)
    columns = "id INT, name STRING, seq BIGINT, deleted BOOLEAN, d STRING"
    for batch in range(3):
        sink(frame(spark, *arriving[batch::3], columns=columns), batch)
        sink(frame(spark, *log[-9:], columns=columns), batch)  # a batch of this number is written already
    found = {row.id: tuple(row) for row in session.sql("SELECT id, name, seq, deleted, d FROM t").collect()}
    assert found == model


@pytest.mark.nightly
def test_newest_by_takes_the_keys_of_the_condition_and_keeps_records_without_a_key(
    session: Session, spark: SparkSession
) -> None:
    session.sql(f"CREATE TABLE t (a INT, b INT, x INT, y INT) {ACID}")
    on = "target.a = source.a AND source.b <=> target.b AND (target.x >= 0 OR target.x IS NULL)"
    sink = acidsql.streaming.merge("t", on, "s", newest_by=["x", "y"], session=session)
    columns = "a INT, b INT, x INT, y INT"
    sink(frame(spark, (1, None, 1, 1), (1, None, 1, 2), (None, 1, 5, 5), (None, 1, 6, 6), columns=columns), 0)
    sink(frame(spark, (1, None, 1, 1), (1, 2, None, None), columns=columns), 1)
    sink(frame(spark, (1, None, 1, 3), (1, 2, 0, None), (1, None, None, 9), columns=columns), 2)
    found = session.sql("SELECT a, b, x, y FROM t ORDER BY a NULLS FIRST, b NULLS FIRST, x").collect()
    assert [tuple(row) for row in found] == [(None, 1, 5, 5), (None, 1, 6, 6), (1, None, 1, 3), (1, 2, 0, None)]
    given = acidsql.streaming.merge("t", "target.a = abs(source.a)", "n", newest_by="x", keys=["a"], session=session)
    given(frame(spark, (9, 0, 1, 1), (9, 0, 2, 2), columns=columns), 0)
    assert session.sql("SELECT x FROM t WHERE a = 9").collect() == [(2,)]


@pytest.mark.nightly
def test_the_counts_of_a_query_with_state_are_merged(session: Session, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t (d STRING, n BIGINT) {ACID}")
    files.add_range(0, 5)
    files.add_range(5, 9)
    query = {"change": lambda frame: frame.groupBy("d").agg(F.count("*").alias("n"))}
    streaming = files.spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(files.place))
    running = (
        query["change"](streaming)
        .writeStream.foreachBatch(acidsql.streaming.merge("t", "target.d = source.d", "s", session=session))
        .outputMode("update")
        .option("checkpointLocation", str(files.checkpoints / "a"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    assert sorted(map(tuple, session.sql("SELECT d, n FROM t").collect())) == [("p0", 5), ("p1", 4)]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["append", "merge"])
def test_a_batch_is_read_once_and_once_more_for_its_digest(session: Session, spark: SparkSession, kind: str) -> None:
    """A source may give other rows when it is read again, such as those of uuid()."""
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    seen = spark.sparkContext.accumulator(0)

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            seen.add(len(batch))
            yield batch

    def batch(number: int, rule: Literal["verify", "skip"]) -> int:
        if kind == "append":
            sink = acidsql.streaming.append("t", "s", session=session, on_new_checkpoint=rule)
        else:
            on = "target.name = source.name"
            sink = acidsql.streaming.merge("t", on, "s", session=session, on_new_checkpoint=rule, newest_by="id")
        before = seen.value
        rows = spark.range(100).selectExpr("CAST(id AS INT) AS id", "uuid() AS name", "'x' AS d")
        sink(rows.mapInPandas(counted, COLUMNS), number)
        return seen.value - before

    assert [batch(0, "verify"), batch(1, "skip"), batch(1, "verify")] == [200, 100, 0]
    found = session.sql("SELECT count(*), count(DISTINCT name) FROM t").collect()
    assert [tuple(row) for row in found] == [(200, 200)]


# ------------------------------------------------------------------------------------------------ other writers


def test_a_second_writer_is_refused_until_the_first_session_ends(
    session: Session, open_session: Callable[[], Session], spark: SparkSession
) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    second = open_session()
    acidsql.streaming.append("t", id="s", session=session)(frame(spark, (1, "a", "b")), 0)
    write = acidsql.streaming.append("t", id="s", session=second)
    assert "live writer" in str(fails("STREAM_IN_USE", lambda: write(frame(spark, (2, "a", "b")), 1)))
    session.close()
    write(frame(spark, (1, "a", "b")), 0)
    write(frame(spark, (2, "a", "b")), 1)
    assert ids(second) == [1, 2]


@pytest.mark.nightly
def test_two_queries_of_one_session_cannot_write_under_one_id_at_once(
    session: Session, spark: SparkSession, tmp_path: Path, files: StreamedFiles
) -> None:
    session.sql(f"CREATE TABLE t (id BIGINT) {ACID}")
    rate = spark.readStream.format("rate").option("rowsPerSecond", 50).load().select(F.col("value").alias("id"))
    sink = acidsql.streaming.append("t", id="s", session=session, on_new_checkpoint="write")
    query = rate.writeStream.foreachBatch(sink).option("checkpointLocation", str(tmp_path / "rate")).start()
    try:
        while not query.recentProgress or session.sql("SELECT count(*) FROM t").collect()[0][0] == 0:
            query.awaitTermination(1)
        files.add_range(0, 2)
        other = acidsql.streaming.append("t", id="s", session=session, on_new_checkpoint="write")
        with pytest.raises(StreamingQueryException, match="STREAM_IN_USE"):
            files.run(other, change=lambda frame: frame.select(F.col("id").cast("bigint")))
    finally:
        query.stop()
    found = ids(session)
    assert found == list(range(len(found)))
    files.run(other, change=lambda frame: frame.select(F.col("id").cast("bigint")))
    assert len(ids(session)) == len(found) + 2


@pytest.mark.ci
@pytest.mark.parametrize("detection", ["table", pytest.param("row", marks=pytest.mark.nightly)])
def test_a_batch_is_merged_again_after_a_conflict(
    session: Session,
    open_session: Callable[[], Session],
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    detection: str,
) -> None:
    """Another session commits an UPDATE while the batch is written."""
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    session.sql("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x')")
    for one in (session, other := open_session()):
        one.sql("SET hive.txn.xlock.write=false")
        one.sql(f"SET acidsql.conflict.detection={detection}")
    published = publishing.publish
    interfering = ["UPDATE t SET name = 'theirs' WHERE id = 2", "UPDATE t SET d = 'theirs' WHERE id = 1"]

    def publish(*args: Any) -> None:
        published(*args)
        if interfering:
            monkeypatch.setattr(executor, "publish", published)
            other.sql(interfering.pop())
            monkeypatch.setattr(executor, "publish", publish)

    monkeypatch.setattr(executor, "publish", publish)
    clauses = "WHEN MATCHED THEN UPDATE SET name = concat(target.name, source.name)"
    sink = acidsql.streaming.merge("t", "target.id = source.id", "s", clauses=clauses, session=session)
    sink(frame(spark, (1, "+", "x")), 0)
    found = session.sql("SELECT * FROM t ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, "a+", "theirs"), (2, "theirs", "x")]
    assert (committed(session), state(session, "s").commits) == (0, 1)


# ------------------------------------------------------------------------------------------------ failures


def test_a_batch_that_fails_leaves_nothing_and_is_written_by_the_next_run(
    session: Session, files: StreamedFiles
) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    session.sql("SET acidsql.store.assignment=ansi")
    files.add_range(0, 2)
    files.add_range(2, 4)
    sink = acidsql.streaming.append("t", id="s", session=session)

    def wrong(batch_frame: DataFrame, batch: int) -> None:
        bad = F.when(F.col("id") == 3, "three").otherwise(F.col("id").cast("string"))
        sink(batch_frame.withColumn("id", bad), batch)

    with pytest.raises(StreamingQueryException, match="INVALID_STORE_VALUE"):
        files.run(wrong)
    assert (ids(session), committed(session)) == ([0, 1], 0)
    files.run(sink)
    assert (ids(session), committed(session)) == ([0, 1, 2, 3], 1)


def test_a_transaction_that_is_aborted_under_way_is_repeated(
    session: Session, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    published, aborted = publishing.publish, list[int]()

    def publish(*args: Any) -> None:
        published(*args)
        if not aborted:
            (txn,) = (row.txnid for row in session.sql("SHOW TRANSACTIONS").collect() if row.state == "OPEN")
            aborted.append(txn)
            session.sql(f"ABORT TRANSACTIONS {txn}")

    monkeypatch.setattr(executor, "publish", publish)
    acidsql.streaming.append("t", id="s", session=session)(frame(spark, (1, "a", "b")), 0)
    assert (ids(session), len(aborted)) == ([1], 1)


def test_batches_are_refused_where_they_cannot_be_written_exactly_once(session: Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE plain ({COLUMNS}) STORED AS ORC")
    session.sql(f"CREATE TEMPORARY TABLE own ({COLUMNS}) {ACID}")
    session.sql(f"CREATE TABLE only_inserts ({COLUMNS}) {INSERT_ONLY}")
    session.sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    rows = frame(spark, (1, "a", "b"))
    for table in ("plain", "own"):
        fails("INVALID_STREAM_TABLE", lambda: acidsql.streaming.append(table, "s", session=session)(rows, 0))  # noqa: B023
    fails("TABLE_NOT_FOUND", lambda: acidsql.streaming.append("nosuch", "s", session=session)(rows, 0))
    merge = acidsql.streaming.merge("only_inserts", "target.id = source.id", "s", session=session)
    fails("INSERT_ONLY", lambda: merge(rows, 0))
    sink = acidsql.streaming.append("t", "s", session=session)
    with session.transaction():
        fails("IN_TRANSACTION", lambda: sink(rows, 0))
        session.sql("INSERT INTO t VALUES (2, 'a', 'b')")
    extra = rows.withColumn("more", F.lit(1))
    fails("INSERT_COLUMN_NOT_FOUND", lambda: sink(extra, 0))
    assert ids(session) == [2]
    sink(rows, 0)
    assert ids(session) == [1, 2]


def test_wrong_arguments_are_refused_at_once(session: Session) -> None:
    on = "target.id = source.id"
    for wrong in (
        lambda: acidsql.streaming.append("t", "", session=session),
        lambda: acidsql.streaming.append("a.b.c", "s", session=session),
        lambda: acidsql.streaming.append("t", "s", session=session, partition={"d": None}),
        lambda: acidsql.streaming.append("t", "s", session=session, on_new_checkpoint="maybe"),  # type: ignore[arg-type]
        lambda: acidsql.streaming.merge("t", "target.id > source.id", "s", newest_by="x", session=session),
    ):
        fails("INVALID_PARAMETER", wrong)
    fails("PARSE_SYNTAX_ERROR", lambda: acidsql.streaming.merge("t", on, "s", clauses="WHEN", session=session))


# ------------------------------------------------------------------------------------------------ the target


def test_a_static_partition_and_missing_columns_are_filled(session: Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT, name STRING DEFAULT 'none', n INT) PARTITIONED BY (d STRING, h INT) {ACID}")
    write = acidsql.streaming.append("t", "s", session=session, partition={"d": "it's", "h": 3})
    write(frame(spark, (5, 1), columns="n INT, ID INT"), 0)
    acidsql.streaming.append("t", "s", session=session, partition={"d": "x"})(
        frame(spark, (4, 2), columns="h INT, id INT"), 1
    )
    found = session.sql("SELECT * FROM t ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, "none", 5, "it's", 3), (2, "none", None, "x", 4)]


@pytest.mark.ci
def test_columns_of_every_kind_have_a_digest(session: Session, spark: SparkSession, files: StreamedFiles) -> None:
    session.sql(f"CREATE TABLE t (id INT, m MAP<STRING, INT>, l ARRAY<STRUCT<a: DOUBLE>>, z DECIMAL(20, 4)) {ACID}")
    files.columns = "id INT, m MAP<STRING, INT>, l ARRAY<STRUCT<a: DOUBLE>>, z DECIMAL(20, 4)"
    files.add({"id": 1, "m": {"a": 1, "b": 2}, "l": [{"a": 0.5}, {}], "z": 1.5}, {"id": 2})
    files.add({"id": 3})
    for checkpoint in "ab":
        files.run(acidsql.streaming.append("t", "s", session=session), checkpoint)
    assert ids(session) == [1, 2, 3]


def test_the_default_session_writes_on_the_spark_of_the_query(
    spark: SparkSession, tmp_path: Path, files: StreamedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACIDSQL_WAREHOUSE", str(tmp_path / "own"))
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    monkeypatch.setattr("acidsql.connection._default", None)
    acidsql.run_sql(f"CREATE TABLE t ({COLUMNS}) {ACID}")
    files.add_range(0, 2)
    files.run(acidsql.streaming.append("t", id="s"))
    session = acidsql.default_session()
    try:
        assert ids(session) == [0, 1]
        assert session.spark is spark
    finally:
        session.close()


def test_an_altered_table_is_written_by_the_same_query(session: Session, spark: SparkSession) -> None:
    session.sql(f"CREATE TABLE t (id INT) {ACID}")
    write = acidsql.streaming.append("t", "s", session=session)
    write(frame(spark, (1,), columns="id INT"), 0)
    session.sql("ALTER TABLE t ADD COLUMNS (name STRING)")
    write(frame(spark, (1,), columns="id INT"), 0)
    write(frame(spark, (2, "b"), columns="id INT, name STRING"), 1)
    assert [tuple(row) for row in session.sql("SELECT * FROM t ORDER BY id").collect()] == [(1, None), (2, "b")]
    session.sql("DROP TABLE t")
    session.sql(f"CREATE TABLE t (id INT) {ACID}")
    write(frame(spark, (7,), columns="id INT"), 0)
    assert ids(session) == [7]
