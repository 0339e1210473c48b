"""Frames and views whose files are replaced before or while they are read: they give their snapshot, or an error."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.spark.catalyst.file_relations import unreadable_file
from acidsql.storage.file_identity import file_replaced
from tests.open_readers import KINDS, WITHOUT_SPARK, History, Reading, Rows
from tests.selection import every

SEED = int(os.environ.get("ACIDSQL_SEED", "0"))
STEPS = int(os.environ.get("ACIDSQL_STEPS", "30"))
NAMES = count()


def collected(frame: DataFrame) -> Rows:
    try:
        return [(row.a, row.p) for row in frame.collect()]
    except Py4JJavaError as error:  # of a frame of the user's Spark session, around which there is no acidsql
        replaced = unreadable_file(str(error))
        if replaced is None:
            raise
        raise file_replaced(*replaced) from error


def later(rows: Callable[[], Rows]) -> Reading:
    """A reader that reads nothing before it is asked for its rows."""
    yield rows()


def query(session: Session) -> DataFrame:
    return session.sql("SELECT a, p FROM t")


def a_frame(session: Session) -> Reading:
    frame = query(session)
    return later(lambda: collected(frame))


def a_frame_that_has_run(session: Session) -> Reading:
    frame = query(session)
    frame.collect()
    return later(lambda: collected(frame))


def a_derived_frame(session: Session) -> Reading:
    frame = query(session).filter("a > 0").select("p", "a")
    return later(lambda: collected(frame))


def a_grouped_frame_that_has_run(session: Session) -> Reading:
    frame = query(session).groupBy("a", "p").count()
    frame.collect()
    return later(lambda: collected(frame))


def a_local_iterator(session: Session) -> Reading:
    return ([(row.a, row.p)] for row in query(session).toLocalIterator())


def a_result(session: Session) -> Reading:
    rows = session.execute("SELECT a, p FROM t ORDER BY a").rows()
    return ([(int(str(a)), int(str(p)))] for a, p in rows)


def a_view(session: Session) -> Reading:
    name = f"v{next(NAMES)}"
    query(session).createOrReplaceTempView(name)
    return later(lambda: collected(session.sql(f"SELECT a, p FROM {name}")))


def a_view_in_spark(session: Session) -> Reading:
    name = f"v{next(NAMES)}"
    query(session).createOrReplaceTempView(name)
    return later(lambda: collected(session.spark.table(name)))


WITH_SPARK = {
    way.__name__.replace("_", " "): way
    for way in (
        *(a_frame, a_frame_that_has_run, a_derived_frame, a_grouped_frame_that_has_run, a_local_iterator, a_result),
        *(a_view, a_view_in_spark),
    )
}


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(4, KINDS))
def test_frames_beside_random_changes_of_their_table_give_their_snapshot_or_one_error(
    session: Session, tmp_path: Path, kind: str
) -> None:
    ways = WITH_SPARK | ({} if "text" in kind else WITHOUT_SPARK)
    history = History(session, kind, tmp_path, random.Random(f"{SEED} {kind}"), ways)
    history.run(STEPS)
    assert sum(history.outcomes.values()) > 0


def test_frames_and_views_of_a_table_that_was_replaced_say_so(session: Session) -> None:
    create(session, 10)
    readings = {name: way(session) for name, way in WITH_SPARK.items() if way is not a_local_iterator}
    session.execute("DROP TABLE t")
    create(session, 20)
    for name, reading in readings.items():
        with pytest.raises(AcidSqlError, match=r"/t/p=[012]/\S+ was removed after the statement had taken") as raised:
            pytest.fail(f"{name} gives {list(reading)}")
        assert raised.value.condition == "FILE_REPLACED"


def test_an_iterator_that_has_begun_gives_no_rows_of_another_table(session: Session) -> None:
    create(session, 10)
    rows = query(session).toLocalIterator()
    assert next(rows).a in (10, 11, 12)
    session.execute("DROP TABLE t")
    create(session, 20)
    with pytest.raises(AcidSqlError, match="FILE_REPLACED"):
        list(rows)


def test_a_statement_that_is_given_such_a_frame_writes_nothing(session: Session) -> None:
    create(session, 10)
    with session.transaction():
        unguarded = query(session)
    session.execute(f"CREATE TABLE target (a INT, p INT) {KINDS['full ACID']}")
    session.sql("INSERT INTO target SELECT a, p FROM {rows}", rows=unguarded)
    frame = query(session)
    session.execute("DROP TABLE t")
    create(session, 20)
    for given in (frame, unguarded):
        with pytest.raises(AcidSqlError, match="FILE_REPLACED"):
            session.sql("INSERT INTO target SELECT a, p FROM {rows}", rows=given)
    written = session.sql("SELECT a, p FROM target")
    assert sorted(collected(written)) == [(10, 0), (11, 1), (12, 2)]


def test_a_frame_of_a_transaction_that_has_ended_compares_its_files(session: Session) -> None:
    create(session, 10)
    with session.transaction():
        frame = query(session)
        assert len(frame.collect()) == 3
    assert len(frame.collect()) == 3
    session.execute("DROP TABLE t")
    create(session, 20)
    with pytest.raises(AcidSqlError, match="FILE_REPLACED"):
        frame.collect()


def test_a_frame_gets_its_locks_back_behind_a_statement_that_leaves_its_files(
    session: Session, open_session: Callable[[], Session]
) -> None:
    create(session, 10)
    frame = query(session)
    session.execute("ALTER TABLE t ADD COLUMNS (b INT)")
    other = open_session()
    other.set_settings({"hive.lock.numretries": "1"})
    with pytest.raises(AcidSqlError, match="LOCK_TIMEOUT"):
        other.execute("DROP TABLE t")
    assert sorted(collected(frame)) == [(10, 0), (11, 1), (12, 2)]


def create(session: Session, number: int) -> None:
    session.execute(f"CREATE TABLE t (a INT) PARTITIONED BY (p INT) {KINDS['full ACID']}")
    for p in range(3):
        session.execute(f"INSERT INTO t PARTITION (p={p}) VALUES ({number + p})")


def test_a_reader_that_ends_while_it_takes_its_locks_back_stays_ended(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector may end a reader at any time."""
    session.sql("CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.sql("INSERT INTO t VALUES (1)")
    frame = session.sql("SELECT * FROM t")
    transactions, lock = session._transactions, session._metastore.lock
    (reader,) = (txn for txn, held in transactions.readers.items() if held)
    transactions.given_up[reader], transactions.readers[reader] = transactions.readers[reader], ()
    session._metastore.release_locks(reader)

    def lock_and_end(*args: Any, **kwargs: Any) -> bool:
        found = lock(*args, **kwargs)
        del transactions.given_up[reader], transactions.readers[reader]
        return found

    monkeypatch.setattr(session._metastore, "lock", lock_and_end)
    transactions.lock_again(reader)
    assert reader not in transactions.readers
    del frame
