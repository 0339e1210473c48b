"""ALTER TABLE .. COMPACT: every kind of table, beside readers and writers, and what it says."""

from __future__ import annotations

import gc
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from acidsql.acid.data_files import File
from acidsql.acid.write_ids import WriteId
from acidsql.compactor import service, worker
from acidsql.engines.compaction_engines import CompactionEngines
from acidsql.errors import AcidSqlError
from acidsql.metastore.compactions import CompactionRequest, CompactionState
from acidsql.session import Session
from acidsql.spark import compaction
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.local_files import LocalFiles
from acidsql.writing.compaction_files import Job
from tests.compactor.layout import (
    as_with_large_files,
    compact,
    directories,
    events,
    events_of,
    files,
    location,
    stripes_in_order,
)

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def create(session: Session, columns: str = "id int, v int", rest: str = "", properties: str = "") -> Path:
    session.execute(
        f"CREATE TABLE t ({columns}) {rest} STORED AS ORC TBLPROPERTIES ('transactional'='true'{properties})"
    )
    return location(session, "t")


def insert(session: Session, *values: str) -> None:
    for value in values:
        session.execute(f"INSERT INTO t VALUES {value}")


def rows(session: Session, columns: str = "row__id, *") -> list[tuple[object, ...]]:
    """In order; nothing keeps the files then."""
    result = session.execute(f"SELECT {columns} FROM t")
    found = sorted(map(tuple, result.rows()), key=lambda row: [(value is not None, value) for value in row])
    result.close()
    return found


def refusal(session: Session, statement: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as raised:
        session.execute(statement)
    return raised.value


# ------------------------------------------------------------------------------------------------ kinds of tables


def test_partitions_are_compacted_one_by_one(session: Session) -> None:
    root = create(session, rest="PARTITIONED BY (p string)")
    insert(session, "(1, 1, 'a'), (2, 2, 'b')", "(3, 3, 'a'), (4, 4, 'b')")
    session.execute("DELETE FROM t WHERE id = 1")
    before = rows(session)
    assert compact(session, "t", "major", "PARTITION (p='a')")[0] == "succeeded"
    assert directories(root / "p=a") == ["base_0000003_v"]
    assert directories(root / "p=b") == ["delta_0000001_0000001_0000", "delta_0000002_0000002_0000"]
    assert rows(session) == before


def test_a_bucketed_table_stays_bucketed(session: Session) -> None:
    root = create(session, rest="CLUSTERED BY (id) INTO 3 BUCKETS")
    insert(session, "(1, 1), (2, 2), (3, 3), (4, 4)", "(5, 5), (6, 6), (7, 7)")
    session.execute("UPDATE t SET v = v * 10 WHERE id % 2 = 0")
    before = rows(session)
    buckets = {p.name for p in root.rglob("bucket_*")}
    for kind in ("minor", "major"):
        assert compact(session, "t", kind)[0] == "succeeded"
        assert rows(session) == before
        for directory in root.iterdir():
            for path in directory.glob("bucket_*"):
                number = int(path.name.removeprefix("bucket_"))
                assert {e[2] >> 16 & 0xFFF for e in events(directory)} <= {int(b[-5:]) for b in buckets}
                assert number in range(3)
    assert {p.name for p in root.rglob("bucket_*")} == buckets
    session.execute("DELETE FROM t WHERE id IN (1, 2, 3)")
    assert [r[1] for r in rows(session)] == [r[1] for r in before if r[1] not in (1, 2, 3)]


def test_only_small_files_of_a_bucket_of_several_are_sorted(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[tuple[str, int]] = []
    save = compaction._save

    def noted(rows: DataFrame, job: Job, within: str = "rows") -> list[File]:
        jobs.append((within, rows.count()))
        return save(rows, job, within)

    monkeypatch.setattr(compaction, "_save", noted)
    root = create(session, rest="CLUSTERED BY (id) INTO 4 BUCKETS")
    session.execute("INSERT INTO t SELECT id, 0 FROM range(0, 4000)")
    by_bucket: dict[object, list[object]] = {}
    for bucket, number in rows(session, "row__id.bucketid, id"):
        by_bucket.setdefault(bucket, []).append(number)
    first, second, third, *_ = by_bucket.values()
    session.execute(f"UPDATE t SET v = 1 WHERE id = {third[0]}")
    session.execute(f"DELETE FROM t WHERE id IN ({first[0]}, {second[0]})")
    before, buckets = rows(session), {p.name for p in root.rglob("bucket_*")}
    session.execute("SET acidsql.driver.write.max.bytes=0")  # by Spark
    assert compact(session, "t", "major")[0] == "succeeded"
    assert jobs == [("by_origin", 4000 - len(third) - 2), ("sorted", len(third))]
    assert rows(session) == before
    (base,) = root.iterdir()
    assert {p.name for p in base.glob("bucket_*")} == buckets
    for path in base.glob("bucket_*"):
        stripes_in_order(path)
        assert {event[2] >> 16 & 0xFFF for event in events_of(path)} == {int(path.name[-5:])}


@pytest.mark.nightly
def test_the_stripes_of_large_files_follow_each_other(session: Session) -> None:
    """A base of rows of several write IDs, rows that an UPDATE moved, and rows of statements of one transaction."""
    root = create(session, "id bigint, v int, s string, d decimal(20,5), ts timestamp, l array<string>")
    values = "concat('s', id % 10), id / 7, timestamp_ntz '2020-01-01 00:00:00', array(NULL, CAST(id AS STRING))"
    for low in (0, 500):
        session.execute(f"INSERT INTO t SELECT id, 0, {values} FROM range({low}, {low + 500}, 1, 1)")
    assert compact(session, "t", "major")[0] == "succeeded"
    session.execute("UPDATE t SET v = 1 WHERE id % 3 = 0")
    session.execute("DELETE FROM t WHERE id % 5 = 0")
    with session.transaction():
        for low in (1000, 1500):
            session.execute(f"INSERT INTO t SELECT id, 0, {values} FROM range({low}, {low + 500}, 1, 1)")
    before = rows(session)
    with as_with_large_files():
        assert compact(session, "t", "major")[0] == "succeeded"
    (base,) = root.iterdir()
    assert [stripes_in_order(path) for path in base.glob("bucket_*")] == [4]
    assert rows(session) == before
    assert rows(session, "count(*), max(id)") == [(1800, 1999)]
    assert rows(session, "id") == sorted((row[1],) for row in before)
    assert session.read_arrow("t", where="id BETWEEN 490 AND 510").read_all().num_rows == 16
    assert [r[0] for r in rows(session, "s, id") if r[1] == 501] == ["s1"]


@pytest.mark.ci
@pytest.mark.parametrize("stored", ["ORC", "PARQUET", "TEXTFILE"])
def test_an_insert_only_table_has_compactions_of_its_own(stored: str, session: Session) -> None:
    properties = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.execute(f"CREATE TABLE t (id int, s string) STORED AS {stored} TBLPROPERTIES ({properties})")
    root = location(session, "t")
    insert(session, "(1, 'a'), (2, NULL)", "(3, 'c')", "(4, 'd')")
    before = rows(session, "*")
    assert compact(session, "t", "minor")[0] == "succeeded"
    assert files(root) == ["delta_0000001_0000003_v/000000_0"]
    assert rows(session, "*") == before
    insert(session, "(5, 'e')")
    assert compact(session, "t", "major")[0] == "succeeded"
    assert files(root) == ["base_0000004_v/000000_0"]
    assert rows(session, "*") == [*before, (5, "e")]


def test_a_bucketed_insert_only_table_keeps_its_buckets(session: Session) -> None:
    insert_only = ", 'transactional_properties'='insert_only'"
    root = create(session, rest="CLUSTERED BY (id) INTO 2 BUCKETS", properties=insert_only)
    insert(session, "(1, 1), (2, 2), (3, 3), (4, 4)", "(5, 5), (6, 6)")
    names = {p.name for p in root.rglob("0*_0")}
    before = rows(session, "*")
    assert compact(session, "t", "major")[0] == "succeeded"
    assert {p.name for p in root.rglob("0*_0")} == names == {"000000_0", "000001_0"}
    assert rows(session, "*") == before


def test_columns_added_and_widened_since_are_in_the_new_files(session: Session) -> None:
    root = create(session)
    insert(session, "(1, 1)")
    session.execute("ALTER TABLE t CHANGE COLUMN v v bigint")
    session.execute("ALTER TABLE t ADD COLUMNS (s string)")
    insert(session, "(2, 5000000000, 'x')")
    before = rows(session)
    assert compact(session, "t", "major")[0] == "succeeded"
    assert rows(session) == before
    assert [e[5] for e in events(next(root.iterdir()))] == [(1, 1, None), (2, 5000000000, "x")]


@pytest.mark.nightly
def test_files_without_statistics_are_not_joined(session: Session) -> None:
    root = create(session, properties=", 'orc.create.index'='false'")
    for low in (0, 1000):
        session.execute(f"INSERT INTO t SELECT id, 0 FROM range({low}, {low + 1000}, 1, 1)")
    insert(session, "(5000, 1)")
    session.execute("DELETE FROM t WHERE id % 3 = 0")
    before = rows(session)
    for _ in range(2):
        with as_with_large_files():
            assert compact(session, "t", "major")[0] == "succeeded"
        assert rows(session) == before
        insert(session, "(6000, 1)")
        session.execute("DELETE FROM t WHERE id = 6000")
    assert [path.parent.name[:5] for path in root.rglob("bucket_*") if path.parent.name.startswith("base")] == ["base_"]


def test_a_table_without_rows_becomes_an_empty_base(session: Session) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    session.execute("DELETE FROM t")
    assert compact(session, "t", "major")[0] == "succeeded"
    assert files(root) == ["base_0000003_v/_orc_acid_version"]
    assert rows(session) == []
    insert(session, "(3, 3)")
    assert rows(session, "id") == [(3,)]


def test_properties_of_the_request_stand_in_for_the_tables(session: Session) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    statement = "ALTER TABLE t COMPACT 'major' AND WAIT WITH OVERWRITE TBLPROPERTIES ('tblprops.orc.compress'='NONE')"
    session.execute(statement)
    (file,) = root.rglob("bucket_*")
    assert read_file_tail(LocalFiles(), str(file), file.stat().st_size).codec == "none"


def test_spark_settings_of_a_table_hold_for_its_compactions(session: Session) -> None:
    create(
        session,
        properties=", 'compactor.spark.sql.orc.compression.codec'='none', 'compactor.mapreduce.map.memory.mb'='1'",
    )
    insert(session, "(1, 1)", "(2, 2)")
    before = session.spark.conf.get("spark.sql.orc.compression.codec")
    assert compact(session, "t", "minor")[0] == "succeeded"
    assert session.spark.conf.get("spark.sql.orc.compression.codec") == before
    wrong = "WITH OVERWRITE TBLPROPERTIES ('compactor.spark.sql.shuffle.partitions'='many')"
    insert(session, "(3, 3)")
    error = refusal(session, f"ALTER TABLE t COMPACT 'major' AND WAIT {wrong}")
    assert error.condition == "COMPACTION_FAILED"
    assert "spark.sql.shuffle.partitions" in error.message
    assert rows(session, "id") == [(1,), (2,), (3,)]


def test_a_rebalance_spreads_the_rows_in_the_order_asked_for(session: Session) -> None:
    root = create(session)
    thousand = session.spark.range(1000).selectExpr("CAST(id AS INT) id", "CAST(id % 7 AS INT) v")
    session.sql("INSERT INTO t SELECT * FROM {r}", r=thousand)
    session.execute("DELETE FROM t WHERE id < 100")
    before = rows(session, "*")
    statement = "ALTER TABLE t COMPACT 'rebalance' CLUSTERED INTO 4 BUCKETS ORDER BY v DESC, id AND WAIT"
    session.execute(statement)
    assert rows(session, "*") == before
    (base,) = (p for p in root.iterdir() if p.name.startswith("base_"))
    found = events(base)
    assert [e[5] for e in found] == sorted((r for r in before), key=lambda r: (-int(str(r[1])), r[0]))
    assert [e[1:4] for e in found] == sorted(e[1:4] for e in found)
    sizes = [sum(e[2] >> 16 & 0xFFF == b for e in found) for b in range(4)]
    assert sum(sizes) == 900
    assert min(sizes) > 100
    session.execute("UPDATE t SET v = 100 WHERE id = 500")
    assert (500, 100) in rows(session, "*")


# ------------------------------------------------------------------------------------------------ beside others


def test_a_reader_that_began_before_reads_on_while_the_cleaner_runs(
    session: Session, open_session: Callable[[], Session]
) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)", "(3, 3)")
    reader = open_session()
    frame = reader.sql("SELECT * FROM t").filter("id > 1")
    state, _ = compact(session, "t", "major")
    assert state == "ready for cleaning"
    session.compactor.clean()
    assert len(directories(root)) == 4
    assert sorted(map(tuple, frame.collect())) == [(2, 2), (3, 3)]
    del frame
    reader.close()
    assert [len(c.removed) for c in session.compactor.clean()] == [3]
    assert directories(root) == ["base_0000003_v"]
    assert rows(session, "id") == [(1,), (2,), (3,)]


@pytest.mark.parametrize("kind", ["minor", "major"])
def test_a_transaction_with_an_older_snapshot_writes_on(
    kind: str, session: Session, open_session: Callable[[], Session]
) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("UPDATE t SET v = 10 WHERE id = 1")
    assert compact(session, "t", kind)[0] == "ready for cleaning"
    other.execute("UPDATE t SET v = 20 WHERE id = 2")
    other.execute("COMMIT")
    assert rows(session, "*") == [(1, 10), (2, 20)]
    session.compactor.clean()
    assert any("_v" in name for name in directories(root))
    assert rows(session, "*") == [(1, 10), (2, 20)]


def test_a_transaction_that_knows_older_row_ids_than_a_rebalance_cannot_write(
    session: Session, open_session: Callable[[], Session]
) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    other = open_session()
    other.execute("START TRANSACTION")
    assert len(list(other.execute("SELECT * FROM t").rows())) == 2
    (done,) = session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT").rows()
    assert done[1] == "ready for cleaning"
    assert refusal(other, "UPDATE t SET v = 0").condition == "WRITE_CONFLICT"
    assert rows(session, "*") == [(1, 1), (2, 2)]


def test_a_rebalance_is_refused_while_it_cannot_apply_all_delete_events(
    session: Session, open_session: Callable[[], Session]
) -> None:
    """A compaction leaves out what lies above the lowest open write ID. Delete events above it that are committed would
    name rows by the IDs that the rebalance replaces."""
    root = create(session)
    insert(session, "(1, 1), (2, 2)", "(3, 3), (4, 4)")
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("INSERT INTO t VALUES (5, 5)")
    session.execute("DELETE FROM t WHERE id IN (1, 3)")
    (done,) = session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT").rows()
    assert done[1] == "refused"
    assert "delete_delta_0000004_0000004_0000 has changes" in str(done[2])
    assert not [name for name in directories(root) if name.startswith("base_")]
    assert rows(session, "*") == [(2, 2), (4, 4)]
    other.execute("COMMIT")
    session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT")
    assert directories(root)[-1].startswith("base_0000004_v") or directories(root) == ["base_0000004_v"]
    assert rows(session, "*") == [(2, 2), (4, 4), (5, 5)]


def test_a_rebalance_waits_for_writers(session: Session, open_session: Callable[[], Session]) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("DELETE FROM t WHERE id = 1")
    session.execute("SET hive.lock.numretries=0")
    assert refusal(session, "ALTER TABLE t COMPACT 'rebalance' AND WAIT").condition == "COMPACTION_FAILED"
    other.execute("COMMIT")
    session.execute("SET hive.lock.numretries=100")
    session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT")
    assert rows(session, "*") == [(2, 2)]


def test_open_write_ids_stay_and_are_compacted_later(session: Session, open_session: Callable[[], Session]) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("INSERT INTO t VALUES (3, 3)")
    insert(session, "(4, 4)")
    compact(session, "t", "major")
    assert "base_0000002_v" in directories(root)
    assert rows(session, "id") == [(1,), (2,), (4,)]
    other.execute("COMMIT")
    assert compact(session, "t", "major")[0] == "succeeded"
    assert directories(root) == ["base_0000004_v"]
    assert rows(session, "id") == [(1,), (2,), (3,), (4,)]


def test_two_workers_share_the_queue(session: Session, open_session: Callable[[], Session]) -> None:
    for name in "abcd":
        session.execute(f"CREATE TABLE {name} (id int) {ACID}")
        for i in range(3):
            session.execute(f"INSERT INTO {name} VALUES ({i})")
        session.execute(f"ALTER TABLE {name} COMPACT 'major'")
    done: list[int] = []
    compactors = (session.compactor, open_session().compactor)
    threads = [threading.Thread(target=lambda c=c: done.append(c.work())) for c in compactors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 4
    for name in "abcd":
        assert len([d for d in directories(location(session, name)) if d.startswith("base_")]) == 1
        assert len(list(session.execute(f"SELECT * FROM {name}").rows())) == 3


def test_a_worker_that_was_given_up_publishes_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """HIVE-29210: its request was given to another worker; both went on, and rows were there twice."""
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)", "(3, 3)")
    session.execute("ALTER TABLE t COMPACT 'minor'")
    store = session.compactor.initiator.keeper if session.compactor.initiator else None
    assert store is not None
    second: list[object] = []
    original = store.commit_compaction

    def overtaken(compaction: object) -> None:
        """The first worker comes to its commit when another one has done the work."""
        monkeypatch.undo()
        assert store.revoke_dead_workers(timeout=-1) == [1]
        second.append(session.compactor.work_next(session.compactor.worker(1)))
        original(compaction)  # type: ignore[arg-type]

    monkeypatch.setattr(type(store), "commit_compaction", lambda _, c: overtaken(c))
    first = session.compactor.work_next(session.compactor.worker(0))
    assert first is not None
    assert first.state is CompactionState.FAILED
    assert [getattr(o, "state", None) for o in second] == [CompactionState.READY_FOR_CLEANING]
    assert len([d for d in directories(root) if d.endswith("_v")]) == 1
    assert rows(session, "id") == [(1,), (2,), (3,)]
    assert compact(session, "t", "major")[0] in ("succeeded", "refused")
    assert rows(session, "id") == [(1,), (2,), (3,)]


def test_the_directory_of_an_aborted_compaction_never_counts(session: Session) -> None:
    """HIVE-29567: an empty base of the compactor's own transaction was taken for the table's."""
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    keeper = session.compactor.initiator.keeper if session.compactor.initiator else None
    assert keeper is not None
    session.execute("ALTER TABLE t COMPACT 'major'")
    compaction = keeper.take_compaction("dying")
    assert compaction is not None
    txn = keeper.open_compaction_txn(compaction.request.type)
    keeper.begin_compaction(compaction, txn, WriteId(2))
    (root / f"base_0000002_v{txn:07d}").mkdir()
    assert rows(session, "id") == [(1,), (2,)]
    keeper.revoke_dead_workers(timeout=-1)
    assert rows(session, "id") == [(1,), (2,)]
    session.compactor.work()
    session.compactor.keep_house()
    session.compactor.clean()
    assert directories(root) == ["base_0000002_v"]
    assert not (root / f"base_0000002_v{txn:07d}").exists()
    assert rows(session, "id") == [(1,), (2,)]


def test_what_cannot_be_removed_is_not_forgotten(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does an aborted write ID ever count as committed, even when its transaction is forgotten."""
    root = create(session)
    keeper = session.compactor.initiator.keeper if session.compactor.initiator else None
    assert keeper is not None
    insert(session, "(1, 1)", "(2, 2)")
    txn = keeper.open_txn()  # type: ignore[attr-defined]
    write_id = keeper.allocate_write_id(txn, session.catalog.table("default", "t"))  # type: ignore[attr-defined]
    aborted = root / f"delta_{write_id:07d}_{write_id:07d}_0000"
    shutil.copytree(next(root.glob("delta_0000001*")), aborted)
    session.execute(f"ABORT TRANSACTIONS {txn}")
    with monkeypatch.context() as stuck:
        stuck.setattr(LocalFiles, "delete", lambda *_: None)
        session.compactor.keep_house()
    assert aborted.exists()
    monkeypatch.setattr("acidsql.metastore.sqlite.compaction_queue.is_gone", lambda _: True)
    assert txn not in keeper.forget_aborted()
    session.compactor.keep_house()
    assert not aborted.exists()
    assert txn in keeper.forget_aborted() or txn not in {t.id for t in keeper.transactions()}  # type: ignore[attr-defined]
    shutil.copytree(next(root.glob("delta_0000001*")), aborted)  # a back-up, say
    assert rows(session, "id") == [(1,), (2,)]


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_compaction_removes_what_tasks_staged_after_their_driver_had_died(
    partitioned: bool, session: Session
) -> None:
    """A Spark job ends some time after the process that began it: behind the removal of what that process had left."""
    root = create(session, rest="PARTITIONED BY (p string)" if partitioned else "")
    suffix = ", 'a'" if partitioned else ""
    insert(session, f"(1, 1{suffix})", f"(2, 2{suffix})")
    place = root / "p=a" if partitioned else root
    dying, living = (session.catalog.open_txn() for _ in range(2))  # type: ignore[attr-defined]
    session.execute(f"ABORT TRANSACTIONS {dying}")
    session.compactor.keep_house()
    late = [directory / f".acidsql_staging_{dying}_x" for directory in {root, place}]
    kept = [place / f".acidsql_staging_{txn}_x" for txn in (living, living + 1000)]
    for staged in (*late, *kept):
        staged.mkdir()
    compact(session, "t", "major", "PARTITION (p='a')" if partitioned else "")
    assert [path for path in late if path.exists()] == []
    assert all(path.exists() for path in kept)


# ------------------------------------------------------------------------------------------------ failures


def with_a_broken_file(session: Session) -> tuple[Path, Path, bytes]:
    """A table that needs a compaction, one of its files, which is cut short, and what was in that file."""
    root = create(session, properties=", 'compactorthreshold.hive.compactor.delta.num.threshold'='1'")
    insert(session, "(1, 1)", "(2, 2)", "(3, 3)")
    broken = next(root.glob("delta_0000002*")) / "bucket_00000"
    content = broken.read_bytes()
    broken.write_bytes(content[:-10])
    return root, broken, content


def test_a_compaction_that_fails_leaves_nothing_and_is_not_asked_for_a_third_time(session: Session) -> None:
    root, broken, content = with_a_broken_file(session)
    before = directories(root)
    for _ in range(3):
        insert(session, "(9, 9)")
        session.compactor.run_once()
    states = [row[5] for row in session.execute("SHOW COMPACTIONS t").rows()]
    assert states == ["did not initiate", "failed", "failed"]
    assert [d for d in directories(root) if d in before or "_v" in d or d.startswith(".")] == before
    broken.write_bytes(content)
    assert compact(session, "t", "major")[0] == "succeeded"
    assert rows(session, "id") == [(1,), (2,), (3,), (9,), (9,), (9,)]


def test_a_compaction_that_failed_is_asked_for_again_without_another_write(session: Session) -> None:
    """The same process looks again, and the place has had no write since."""
    root, broken, content = with_a_broken_file(session)
    session.compactor.run_once()
    assert not [name for name in directories(root) if name.endswith("_v")]
    broken.write_bytes(content)
    session.compactor.run_once()
    assert directories(root) == ["base_0000003_v"]


def test_and_wait_does_not_wait_for_a_worker_that_is_dead(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    monkeypatch.setattr(service, "_POLL", 0.01)
    session.execute("SET hive.compactor.worker.timeout=0s")
    queue = session.compactor.initiator.keeper if session.compactor.initiator else None
    assert queue is not None
    enqueue = type(queue).enqueue_compaction

    def taken(of: object, request: CompactionRequest) -> object:
        answer = enqueue(of, request)  # type: ignore[arg-type]
        assert queue.take_compaction("another-1") is not None
        return answer

    monkeypatch.setattr(type(queue), "enqueue_compaction", taken)
    (done,) = session.execute("ALTER TABLE t COMPACT 'major' AND WAIT").rows()
    assert done[1] in ("ready for cleaning", "succeeded")
    assert rows(session, "id") == [(1,), (2,)]


def test_without_a_partition_clause_every_partition_is_compacted(session: Session) -> None:
    root = create(session, rest="PARTITIONED BY (p string)")
    assert list(session.execute("ALTER TABLE t COMPACT 'minor'").rows()) == []
    values = ("'x'", "'a/b'", "'Ü=1 %'", "NULL")
    for number in (0, 10):
        insert(session, ", ".join(f"({number + at}, 1, {value})" for at, value in enumerate(values)))
    before = rows(session)
    queued = list(session.execute("ALTER TABLE t COMPACT 'minor'").rows())
    assert [(row[0], row[1]) for row in queued] == [(str(number), "initiated") for number in (1, 2, 3, 4)]
    done = list(session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT").rows())
    assert [(row[0], row[1]) for row in done] == [(str(number), "succeeded") for number in (1, 2, 3, 4)]
    for name in ("p=x", "p=a%2Fb", "p=Ü%3D1 %25", "p=__HIVE_DEFAULT_PARTITION__"):
        assert directories(root / name) == ["delta_0000001_0000002_v"]
    assert rows(session) == before


def test_concatenate_is_a_major_compaction_that_the_statement_waits_for(session: Session) -> None:
    root = create(session, rest="PARTITIONED BY (p string)")
    insert(session, "(1, 1, 'x'), (2, 2, 'y')", "(3, 3, 'x'), (4, 4, 'y')")
    before = rows(session)
    done = list(session.execute("ALTER TABLE t PARTITION (p='x') CONCATENATE").rows())
    assert [row[1] for row in done] == ["succeeded"]
    assert directories(root / "p=x") == ["base_0000002_v"]
    assert len(directories(root / "p=y")) == 2
    assert rows(session) == before


@pytest.mark.parametrize(
    ("statement", "condition", "code"),
    [
        ("ALTER TABLE plain CONCATENATE", "NONACID_COMPACTION", 10286),
        ("ALTER TABLE t COMPACT 'huge'", "INVALID_COMPACTION_TYPE", 10282),
        ("ALTER TABLE p PARTITION (q='x') COMPACT 'major'", "TOO_MANY_COMPACTION_PARTITIONS", 10284),
        ("ALTER TABLE p PARTITION (q='none') COMPACT 'major'", "PARTITION_NOT_FOUND", 10006),
        ("ALTER TABLE plain COMPACT 'major'", "NONACID_COMPACTION", 10286),
        ("ALTER TABLE b COMPACT 'rebalance'", "REBALANCE_ONLY_FULL_ACID", None),
        ("ALTER TABLE i COMPACT 'rebalance'", "REBALANCE_ONLY_FULL_ACID", None),
        ("ALTER TABLE t COMPACT 'rebalance' ORDER BY nothing", "COLUMN_NOT_FOUND", None),
        ("ALTER TABLE t COMPACT 'major' ORDER BY id", "COMPACTION_CLAUSE", None),
        ("ALTER TABLE nothing COMPACT 'major'", "TABLE_NOT_FOUND", None),
    ],
)
def test_what_cannot_be_compacted_is_refused_before_it_is_queued(
    statement: str, condition: str, code: int | None, session: Session
) -> None:
    insert_only = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (q string, r string) {ACID}")
    session.execute("ALTER TABLE p ADD PARTITION (q='x', r='1') PARTITION (q='x', r='2')")
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    session.execute(f"CREATE TABLE b (id int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.execute(f"CREATE TABLE i (id int) STORED AS ORC {insert_only}")
    error = refusal(session, statement)
    assert error.condition == condition
    assert code is None or error.hive_code == code
    assert error.span is not None
    assert list(session.execute("SHOW COMPACTIONS").rows()) == []


# ------------------------------------------------------------------------------------------------ the queue in SQL


def test_requests_wait_are_shown_and_aborted(session: Session) -> None:
    create(session)
    session.execute(f"CREATE TABLE u (id int) {ACID}")
    first = list(session.execute("ALTER TABLE t COMPACT 'minor'").rows())
    again = list(session.execute("ALTER TABLE t COMPACT 'major'").rows())
    how = "`acidsql compactor` does it, AND WAIT does it here"
    assert first == [("1", "initiated", f"Compaction enqueued with id 1: {how}")]
    assert again == [("1", "initiated", "Compaction already enqueued with id 1; State is initiated")]
    session.execute("ALTER TABLE u COMPACT 'major' POOL 'p'")

    def shown(rest: str) -> list[object]:
        return [row[0] for row in session.execute(f"SHOW COMPACTIONS {rest}").rows()]

    assert shown("") == ["2", "1"]
    assert shown("t") == ["1"]
    assert shown("DATABASE default") == ["2", "1"]
    assert shown("TYPE 'minor'") == shown("POOL 'default'") == shown("1") == ["1"]
    assert shown("POOL 'p'") == shown("STATE 'initiated' LIMIT 1") == ["2"]
    assert shown("ORDER BY tabname DESC, compactionid") == shown("ORDER BY compactionid DESC") == ["2", "1"]
    assert shown("ORDER BY tabname") == ["1", "2"]
    assert refusal(session, "SHOW COMPACTIONS ORDER BY nothing").condition == "COLUMN_NOT_FOUND"
    assert refusal(session, "SHOW COMPACTIONS LIMIT few").condition == "PARSE_SYNTAX_ERROR"
    assert list(session.execute("ABORT COMPACTIONS 1 7").rows()) == [
        ("1", "Success", "Successfully aborted compaction"),
        ("7", "Error", "No Such Compaction Id Available"),
    ]
    assert session.compactor.work() == 0
    assert shown("STATE 'aborted'") == ["1"]


def test_a_pool_has_workers_of_its_own(session: Session) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    (done,) = session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT POOL 'p'").rows()
    assert done[1] == "succeeded"
    insert(session, "(3, 3)")
    session.execute("ALTER TABLE t COMPACT 'minor' POOL 'p'")
    assert session.compactor.work() == 0
    session.compactor.pools = ("default", "p")
    assert session.compactor.work() == 1


def test_a_dropped_table_takes_its_requests_along(session: Session) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    session.execute("ALTER TABLE t COMPACT 'major'")
    session.execute("DROP TABLE t")
    create(session)
    insert(session, "(3, 3)", "(4, 4)")
    assert session.compactor.work() == 0
    assert rows(session, "id") == [(3,), (4,)]


def test_a_renamed_table_keeps_them(session: Session) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    session.execute("ALTER TABLE t COMPACT 'major'")
    session.execute("ALTER TABLE t RENAME TO u")
    assert session.compactor.work() == 1
    assert directories(location(session, "u"))[0] == "base_0000002_v"


@pytest.mark.parametrize(
    ("rename", "table", "partition"),
    [
        ("ALTER TABLE t RENAME TO u", "u", "p=1"),
        ("ALTER TABLE t PARTITION (p=1) RENAME TO PARTITION (p=2)", "t", "p=2"),
    ],
)
def test_a_renamed_partition_keeps_them_and_what_is_known_of_failed_ones(
    rename: str, table: str, partition: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base of a compaction that was aborted lies in the directory: nobody may take it for a committed one."""
    create(session, rest="PARTITIONED BY (p int)")
    insert(session, "(1, 1, 1)", "(2, 2, 1)")

    def left(_: object, job: Job, *__: object) -> None:
        directory = Path(job.part.directory, job.scope.data_name(job.txn))
        directory.mkdir()
        raise OSError("the worker ends here")

    monkeypatch.setattr(CompactionEngines, "merge", left)
    monkeypatch.setattr(worker.Worker, "_undo", lambda *_: None)
    assert refusal(session, "ALTER TABLE t PARTITION (p=1) COMPACT 'major' AND WAIT").condition == "COMPACTION_FAILED"
    monkeypatch.undo()
    session.execute("ALTER TABLE t PARTITION (p=1) COMPACT 'minor'")
    session.execute(rename)
    session.compactor.run_once()
    assert sorted(session.execute(f"SELECT id FROM {table}").rows()) == [(1,), (2,)]
    assert directories(location(session, table) / partition) == ["delta_0000001_0000002_v"]


# ------------------------------------------------------------------------------------------------ the service


def test_the_service_compacts_what_is_due_and_cleans_up(session: Session) -> None:
    root = create(session)
    session.execute(f"CREATE TABLE off (id int) {ACID}")
    session.execute("ALTER TABLE off SET TBLPROPERTIES ('NO_AUTO_COMPACTION'='true')")
    session.execute("SET hive.compactor.delta.num.threshold=3")
    lines: list[str] = []
    session.compactor.tell = lines.append
    for i in range(4):
        insert(session, f"({i}, {i})")
        session.execute(f"INSERT INTO off VALUES ({i})")
    session.compactor.run_once()
    assert directories(root) == ["base_0000004_v"]
    assert len(directories(location(session, "off"))) == 4
    assert [line.split(":")[0] for line in lines] == [
        "major compaction of default.t initiated as 1",
        "major compaction 1 of default.t",
        "cleaning up behind compaction 1 of default.t",
    ]
    assert "4 directories (4 files" in lines[1]
    assert rows(session, "id") == [(0,), (1,), (2,), (3,)]
    lines.clear()
    session.compactor.run_once()
    assert lines == []


def test_what_an_overwrite_made_obsolete_is_removed(session: Session) -> None:
    root = create(session)
    insert(session, "(1, 1)", "(2, 2)")
    session.execute("INSERT OVERWRITE TABLE t SELECT id + 10, v FROM t")
    session.compactor.run_once()
    assert directories(root) == ["base_0000003"]
    assert rows(session, "id") == [(11,), (12,)]


def test_the_history_is_kept_short(session: Session) -> None:
    create(session)
    for i in range(5):
        insert(session, f"({i}, {i})", f"({i}, {i})")
        compact(session, "t", "major")
        compact(session, "t", "major")
    session.compactor.keep_house()
    states = [row[5] for row in session.execute("SHOW COMPACTIONS").rows()]
    assert sorted(map(str, states)) == ["refused"] * 2 + ["succeeded"] * 3


def test_the_background_service_runs_while_it_is_switched_on(session: Session) -> None:
    root = create(session)
    session.execute("SET hive.compactor.delta.num.threshold=1")
    session.execute("SET hive.compactor.check.interval=100ms")
    session.execute("SET hive.compactor.cleaner.run.interval=100ms")
    session.execute("SET hive.compactor.initiator.on=true")
    insert(session, "(1, 1)", "(2, 2)", "(3, 3)")
    for _ in range(600):
        gc.collect()
        if len(directories(root)) == 1:
            break
        threading.Event().wait(0.1)
    session.execute("SET hive.compactor.initiator.on=false")
    assert directories(root)[0].startswith("base_")
    assert "acidsql-compactor" not in {thread.name for thread in threading.enumerate()}
    assert rows(session, "id") == [(1,), (2,), (3,)]


def test_metrics_tell_what_is_there(session: Session) -> None:
    create(session)
    insert(session, "(1, 1)", "(2, 2)")
    session.execute("ALTER TABLE t COMPACT 'major'")

    def value(name: str, place: str | None = None) -> float:
        return next(m.value for m in session.metrics() if (m.name, m.place) == (name, place))

    assert value("compaction_num_initiated") == 1
    assert value("compaction_num_active_deltas") == value("compaction_num_active_deltas", "default.t") == 2
    session.execute("START TRANSACTION")
    assert value("num_open_non_repl_txns") > 0
    session.execute("ROLLBACK")
    session.compactor.run_once()
    assert value("compaction_num_active_deltas") == 0
    assert value("compaction_num_succeeded") == value("compaction_worker_cycles_total") == 1
    shown = {row[0]: row[2] for row in session.execute("SHOW METRICS").rows()}
    assert shown["compaction_num_succeeded"] == "1"
