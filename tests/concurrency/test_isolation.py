"""Single statements of several sessions at once: locks, snapshots, and how long a reader's transaction lasts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import DataFrame

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.spark.frames import readers
from tests.answers import rows

TABLE = "(id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PATIENCE = 120.0


@pytest.fixture
def one(session: Session) -> Session:
    session.execute(f"CREATE TABLE t {TABLE}")
    session.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
    return session


@pytest.fixture
def two(one: Session, open_session: Callable[[], Session]) -> Session:
    return open_session()


def open_readers(session: Session) -> list[str]:
    """The transactions that are open, by ID."""
    return [str(row[0]) for row in session.execute("SHOW TRANSACTIONS").rows() if row[1] == "OPEN"]


def look_whether_somebody_reads(session: Session) -> None:
    """What a thread of the session does from time to time: it collects garbage, and ends the unused transactions."""
    session._engines._readers._end_unread(readers._IDLE_PAUSE)


def eventually(session: Session, true: Callable[[], bool]) -> None:
    """Waits until it is true, and collects the garbage of Python and of the JVM meanwhile: py4j's thread releases
    objects of the JVM some time after those of Python."""
    jvm: Any = session.spark._jvm
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        gc.collect()
        time.sleep(0.5)
        jvm.java.lang.System.gc()


def at_once(*statements: tuple[Session, str]) -> list[str]:
    """Runs each function in its own thread. Returns the conditions of those that failed."""

    def run(session: Session, sql: str) -> str:
        try:
            session.execute(sql)
        except AcidSqlError as error:
            return error.condition
        return ""

    with ThreadPoolExecutor() as pool:
        return [c for c in pool.map(lambda statement: run(*statement), statements) if c]


# -- writers
@pytest.mark.ci
def test_updates_of_two_sessions_take_turns_and_both_take_effect(one: Session, two: Session) -> None:
    for _ in range(2):
        assert at_once((one, "UPDATE t SET v = v + 1"), (two, "UPDATE t SET v = v + 1")) == []
    assert rows(one) == [(1, 14), (2, 24), (3, 34)]


@pytest.mark.ci
def test_two_merges_never_insert_one_new_key_twice(one: Session, two: Session) -> None:
    merge = (
        "MERGE INTO t USING (SELECT {} AS id) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)"
    )
    only_insert = "MERGE INTO t USING (SELECT {} AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)"
    assert at_once((one, merge.format(8)), (two, merge.format(8))) == []
    assert at_once((one, only_insert.format(9)), (two, only_insert.format(9))) == []
    assert rows(one, "SELECT id, v FROM t WHERE id > 7 ORDER BY id") == [(8, 1), (9, 0)]


@pytest.mark.ci
def test_if_writers_share_a_lock_one_of_two_updates_conflicts_or_both_take_effect(one: Session, two: Session) -> None:
    for session in (one, two):
        session.execute("SET hive.txn.xlock.write=false")
    failed = at_once((one, "UPDATE t SET v = v + 1"), (two, "UPDATE t SET v = v + 1"))
    assert failed in ([], ["WRITE_CONFLICT"])
    assert rows(one) == [(i, 10 * i + 2 - len(failed)) for i in (1, 2, 3)]


# -- readers
@pytest.mark.ci
def test_a_frame_keeps_its_snapshot_and_its_transaction(one: Session, two: Session) -> None:
    frame: DataFrame = one.sql("SELECT * FROM t").filter("id > 1").select("id")
    (reader,) = open_readers(two)
    two.execute("DELETE FROM t WHERE id = 3")
    two.execute("INSERT INTO t VALUES (4, 40)")
    look_whether_somebody_reads(one)
    assert reader in open_readers(two)
    assert sorted(frame.collect()) == [(2,), (3,)]
    del frame
    eventually(two, lambda: reader not in open_readers(two))


@pytest.mark.nightly
def test_a_cached_frame_and_a_view_keep_their_snapshot_and_transaction(one: Session, two: Session) -> None:
    one.sql("SELECT * FROM t").createOrReplaceTempView("kept_of_t")
    (reader,) = open_readers(two)
    look_whether_somebody_reads(one)
    assert reader in open_readers(two)
    one.spark.catalog.dropTempView("kept_of_t")
    eventually(two, lambda: reader not in open_readers(two))


def test_closing_the_session_ends_its_readers(one: Session, open_session: Callable[[], Session]) -> None:
    other = open_session()
    frame = other.sql("SELECT * FROM t")
    assert len(open_readers(one)) == 1
    other.close()
    assert open_readers(one) == []
    del frame


def test_a_result_holds_no_lock_once_its_rows_are_read_and_it_is_closed(one: Session, two: Session) -> None:
    result = one.execute("SELECT id FROM t")
    assert len(list(result.rows())) == 3
    assert len(open_readers(two)) == 1
    result.close()
    assert open_readers(two) == []


@pytest.mark.ci
def test_an_overwrite_waits_for_a_reader_of_another_session(one: Session, two: Session) -> None:
    two.execute("SET hive.lock.numretries=1")
    frame = one.sql("SELECT id FROM t")
    with pytest.raises(AcidSqlError, match=r"holds SHARED_READ"):
        two.execute("INSERT OVERWRITE TABLE t VALUES (9, 9)")
    two.execute("UPDATE t SET v = 0 WHERE id = 1")  # an update does not wait
    assert sorted(frame.collect()) == [(1,), (2,), (3,)]
    del frame
    two.execute("SET hive.lock.numretries=100")
    two.execute("INSERT OVERWRITE TABLE t VALUES (9, 9)")
    assert rows(one) == [(9, 9)]


@pytest.mark.ci
def test_a_frame_without_references_does_not_delay_an_overwrite_of_another_session(
    one: Session, two: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that sees somebody wait for it collects its garbage; here it never does so in its own time."""
    monkeypatch.setattr(readers, "_IDLE_PAUSE", float("inf"))
    two.execute("SET hive.lock.numretries=30")  # two and a half minutes
    assert len(rows(one)) == 3
    two.execute("INSERT OVERWRITE TABLE t VALUES (9, 9)")
    assert rows(one) == [(9, 9)]


def test_the_frames_of_a_session_do_not_delay_its_own_statements(one: Session) -> None:
    frame = one.sql("SELECT id FROM t")
    one.execute("INSERT OVERWRITE TABLE t SELECT id, v + 1 FROM t")
    assert sorted(frame.collect()) == [(1,), (2,), (3,)]
    assert rows(one) == [(1, 11), (2, 21), (3, 31)]
    one.execute("DROP TABLE t")


@pytest.mark.ci
def test_a_query_sees_its_tables_at_one_moment(one: Session, two: Session) -> None:
    """A query sees both halves of a transfer between two tables, or neither."""
    one.execute(f"CREATE TABLE u {TABLE}")
    one.execute("INSERT INTO u VALUES (1, 0)")
    total = "SELECT (SELECT sum(v) FROM t) + (SELECT sum(v) FROM u)"

    def transfer() -> None:
        for _ in range(4):
            with two.transaction():
                two.execute("UPDATE t SET v = v - 1 WHERE id = 1")
                two.execute("UPDATE u SET v = v + 1")

    with ThreadPoolExecutor() as pool:
        transfers = pool.submit(transfer)
        seen = {rows(one, total)[0][0]}
        while not transfers.done():
            seen.add(rows(one, total)[0][0])
        transfers.result()
    assert seen == {60}
    assert rows(one, "SELECT v FROM u") == [(4,)]
