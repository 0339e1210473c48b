"""One session in several threads, several sessions in one process, closing a session in use, and forks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.crash.writers import PATIENCE
from tests.metastore.patience import eventually

THREADS = 3
ENDLESS_UPDATE = (
    "UPDATE t SET v = v + 1 WHERE id IN (SELECT r.id % 7 FROM range(1000000000000) r WHERE r.id * 7 % 1000003 = 5)"
)


def make_table(session: Session, name: str = "t") -> None:
    session.execute(f"CREATE TABLE {name} (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")


@pytest.mark.ci
@pytest.mark.parametrize("sessions", [1, pytest.param(THREADS, marks=pytest.mark.nightly)])
def test_each_thread_gets_its_own_answers(session: Session, open_session: Callable[[], Session], sessions: int) -> None:
    make_table(session)
    opened = [session, *(open_session() for _ in range(sessions - 1))]

    def statements(me: int) -> list[tuple[object, ...]]:
        mine = opened[me % sessions]
        make_table(mine, f"own_{me}")
        for number in range(3):
            inserted = mine.execute(f"INSERT INTO t VALUES ({10 * me + number}, {me}), (-1, {me})")
            assert inserted.counts is not None
            assert inserted.counts.inserted == 2
            mine.execute(f"INSERT INTO own_{me} VALUES ({number}, {me})")
            updated = mine.execute(f"UPDATE own_{me} SET v = v + 1 WHERE id <= {number}")
            assert updated.counts is not None
            assert updated.counts.updated == number + 1
            assert mine.last_result is not None
            with pytest.raises(AcidSqlError, match=f"wrong_{me}"):
                mine.sql(f"SELECT wrong_{me} FROM t")
            assert mine.sql(f"SELECT DISTINCT v FROM t WHERE v = {me}").collect() == [(me,)]
        return sorted(map(tuple, mine.sql(f"SELECT * FROM own_{me}").collect()))

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(statements, range(THREADS)))
    assert found == [[(0, me + 3), (1, me + 2), (2, me + 1)] for me in range(THREADS)]
    of_all = sorted(map(tuple, session.sql("SELECT id, v FROM t WHERE id >= 0").collect()))
    assert of_all == [(10 * me + number, me) for me in range(THREADS) for number in range(3)]


def test_statements_of_several_threads_in_one_transaction_all_take_effect(session: Session) -> None:
    make_table(session)
    session.execute("START TRANSACTION")
    together = threading.Barrier(THREADS)

    def insert(me: int) -> None:
        together.wait()
        session.execute(f"INSERT INTO t VALUES ({me}, 0)")

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(insert, range(THREADS)))
    session.execute("COMMIT")
    assert sorted(row.id for row in session.sql("SELECT id FROM t").collect()) == list(range(THREADS))


def test_closing_a_session_ends_the_statement_of_another_thread(
    session: Session, open_session: Callable[[], Session], tmp_path: Path
) -> None:
    make_table(session)
    rows = session.spark.range(0, 4000, 1, 2).selectExpr("CAST(id AS INT) AS id", "0 AS v")
    session.sql("INSERT INTO t SELECT * FROM {rows}", rows=rows)
    other = open_session()
    raised: list[BaseException] = []

    def update() -> None:
        try:
            other.execute(ENDLESS_UPDATE)
        except AcidSqlError as error:
            raised.append(error)

    thread = threading.Thread(target=update)
    thread.start()
    jobs = session.spark.sparkContext.statusTracker()
    eventually(lambda: bool(jobs.getActiveStageIds()))
    other.close()
    thread.join(PATIENCE)
    assert len(raised) == 1
    with SqliteMetastore(tmp_path / "metastore.db", "") as store:
        assert [lock for lock in store.locks() if lock.component.operation.value == "u"] == []
    assert session.execute("UPDATE t SET v = 5 WHERE id = 1").counts is not None  # nothing holds it up
    assert tuple(session.sql("SELECT count(*), sum(v) FROM t").collect()[0]) == (4000, 5)
    assert list((tmp_path / "warehouse" / "t").glob(".acidsql_staging*")) == []
    with pytest.raises(AcidSqlError, match="SESSION_CLOSED"):
        other.execute("SELECT 1")
    other.close()


def test_a_forked_process_is_refused_and_leaves_its_parents_connections_alone(session: Session, tmp_path: Path) -> None:
    make_table(session)
    session.execute("INSERT INTO t VALUES (1, 1)")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (2, 2)")
    child = os.fork()
    if not child:
        conditions = []
        try:
            for use in (
                lambda: session.sql("SELECT * FROM t"),
                lambda: session.catalog.tables("default"),
                lambda: acidsql.connect(str(tmp_path / "warehouse"), f"sqlite:///{tmp_path}/metastore.db").start(),
            ):
                try:
                    use()
                    conditions.append("nothing")
                except AcidSqlError as error:
                    conditions.append(error.condition)
            session.close()
        finally:
            os._exit(0 if conditions == ["SESSION_CLOSED", "METASTORE_UNAVAILABLE", "CANNOT_START"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    session.execute("COMMIT")
    assert sorted(map(tuple, session.sql("SELECT * FROM t").collect())) == [(1, 1), (2, 2)]
