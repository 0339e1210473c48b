"""Batches of transactions of a streaming client, beside everything else that happens to their table. One delta has the
rows of write IDs that are committed, open and aborted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.storage.orc import copies
from tests.compactor.layout import compact, directories
from tests.streaming.streaming_file import StreamedBatch


@pytest.fixture
def store(session: Session, tmp_path: Path) -> Iterator[SqliteMetastore]:
    """The metastore of the session, which has a table `t`."""
    session.execute("CREATE TABLE t (id INT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    with SqliteMetastore(tmp_path / "metastore.db", str(tmp_path / "warehouse")) as opened:
        yield opened


def rows(session: Session) -> list[tuple[object, ...]]:
    """By ID; nothing reads the files then. COUNT(*), which needs no rows, gives the same number."""
    result = session.execute("SELECT id, name FROM t")
    found = sorted(map(tuple, result.rows()))
    result.close()
    counted = session.execute("SELECT count(*) FROM t")
    assert list(map(tuple, counted.rows())) == [(len(found),)]
    counted.close()
    return found


@pytest.mark.ci
def test_rows_of_an_open_batch_are_updated_deleted_and_merged_while_it_goes_on(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    batch = StreamedBatch(spark, store, 4)
    batch.commit((1, "a"), (2, "b"), (3, "c"))
    batch.abort((1, "aborted"), (9, "aborted"))
    session.execute("UPDATE t SET name = 'updated' WHERE id = 1")
    session.execute("DELETE FROM t WHERE id = 2")
    batch.commit((4, "d"), (5, "e"))
    assert rows(session) == [(1, "updated"), (3, "c"), (4, "d"), (5, "e")]
    batch.begin((6, "open"))
    session.execute(
        "MERGE INTO t USING (VALUES (3, 'm'), (4, 'm'), (6, 'm')) s(id, name) ON t.id = s.id"
        " WHEN MATCHED AND t.id = 4 THEN DELETE WHEN MATCHED THEN UPDATE SET name = s.name"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)"
    )
    assert rows(session) == [(1, "updated"), (3, "m"), (5, "e"), (6, "m")]
    (unique,) = session.sql("SELECT count(DISTINCT row__id) = count(*) FROM t").collect()
    assert unique[0]


def test_the_batches_of_several_clients_are_one_scan_unless_a_file_has_rows_to_skip(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    batches = [StreamedBatch(spark, store, 3) for _ in range(3)]
    for number, batch in enumerate(batches):
        batch.commit((number, "a"))

    def scans() -> int:
        return str(session.sql("SELECT name FROM t")._jdf.queryExecution().optimizedPlan()).count("orc")

    assert scans() == 1
    batches[0].abort((9, "aborted"))
    batches[1].abort((9, "aborted"))
    assert scans() == 3
    assert rows(session) == [(0, "a"), (1, "a"), (2, "a")]


def test_a_query_that_was_planned_before_a_client_went_on_reads_what_was_committed_then(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    batch = StreamedBatch(spark, store, 5)
    batch.commit((1, "a"))
    frame = session.sql("SELECT id FROM t")
    batch.commit((2, "b"))
    later = session.sql("SELECT id FROM t ORDER BY id")
    batch.begin((3, "c"))
    assert [tuple(row) for row in frame.collect()] == [(1,)]
    assert [tuple(row) for row in later.collect()] == [(1,), (2,)]


@pytest.mark.ci
def test_a_session_that_reads_a_streamed_table_again_and_again_keeps_few_copies(
    session: Session, spark: SparkSession, store: SqliteMetastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_KEPT_BYTES", 1000)
    batch = StreamedBatch(spark, store, 8)
    batch.commit((0, "a"))
    kept = session.sql("SELECT id FROM t")
    for number in range(1, 6):
        batch.commit((number, "a"))
        assert len(rows(session)) == number + 1
    made = session._engines.spark._caches.copies._made.values()
    on_disk = [copy for copy in made if Path(copy.file.path).exists()]
    assert len(on_disk) == len(made)
    assert 1 <= len(on_disk) <= 2
    assert [tuple(row) for row in kept.collect()] == [(0,)]


@pytest.mark.ci
def test_an_open_batch_is_left_alone_by_compactions_and_cleaner_and_compacted_when_it_is_done(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    session.execute("INSERT INTO t VALUES (1, 'a')")
    session.execute("INSERT INTO t VALUES (2, 'b')")
    batch = StreamedBatch(spark, store, 4)  # write IDs 3 to 6
    batch.commit((3, "c"))
    session.execute("UPDATE t SET name = 'updated' WHERE id = 1")  # 7
    root = Path(batch.table.location)
    assert compact(session, "t", "minor")[0] == "ready for cleaning"  # the transactions of the batch may read
    assert "delta_0000001_0000002_v" in directories(root)
    assert compact(session, "t", "major")[0] in ("refused", "ready for cleaning")
    assert {"delta_0000003_0000006", "delete_delta_0000007_0000007_0000"} < set(directories(root))
    batch.abort((9, "aborted"))
    batch.commit((4, "d"))
    expected = [(1, "updated"), (2, "b"), (3, "c"), (4, "d")]
    assert rows(session) == expected
    batch.close()
    assert compact(session, "t", "minor")[0] == "succeeded"
    assert directories(root) == ["delete_delta_0000001_0000007_v", "delta_0000001_0000007_v"]
    assert rows(session) == expected
    assert compact(session, "t", "rebalance")[0] == "succeeded"
    assert directories(root) == ["base_0000007_v"]
    assert rows(session) == expected


def test_an_overwrite_beside_an_open_batch_hides_it_and_no_cleaner_removes_it(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    batch = StreamedBatch(spark, store, 3)
    batch.commit((1, "a"))
    session.execute("INSERT OVERWRITE TABLE t SELECT id, 'overwritten' FROM t")
    session.compactor.run_once()
    assert batch.directory.exists()
    assert rows(session) == [(1, "overwritten")]
    batch.close()
    session.compactor.run_once()
    assert not batch.directory.exists()
    assert rows(session) == [(1, "overwritten")]


def test_the_initiator_looks_again_at_a_place_whose_batch_ends_without_a_write(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    session.execute("SET hive.compactor.delta.num.threshold=1")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    batch = StreamedBatch(spark, store, 3)
    batch.commit((2, "b"))
    session.compactor.run_once()
    assert batch.directory.exists()
    batch.close()
    session.compactor.run_once()
    assert directories(batch.directory.parent) == ["base_0000004_v"]
    assert rows(session) == [(1, "a"), (2, "b")]


def test_a_client_that_died_leaves_what_it_committed_and_nothing_else(
    session: Session, spark: SparkSession, store: SqliteMetastore
) -> None:
    started, dead = StreamedBatch(spark, store, 3), StreamedBatch(spark, store, 2)
    started.commit((1, "a"))
    started.begin((2, "lost"))
    started.die()
    dead.begin((3, "lost"))
    dead.die()
    session.compactor.run_once()
    assert started.directory.exists()
    assert not dead.directory.exists()
    assert rows(session) == [(1, "a")]
    session.compactor.run_once()  # what is left of them is forgotten
    assert rows(session) == [(1, "a")]
    session.execute("INSERT INTO t VALUES (4, 'd')")
    assert compact(session, "t", "major")[0] == "succeeded"
    assert directories(started.directory.parent) == ["base_0000006_v"]
    assert rows(session) == [(1, "a"), (4, "d")]
