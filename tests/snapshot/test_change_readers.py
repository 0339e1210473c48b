"""`Session.changes(since=..)`: a reader of changes goes on where the reader of its name stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from acidsql.session import Session
from tests.answers import fails, rows
from tests.snapshot.test_changes import ACID, FIRST_ROWS, INSERT_ONLY, filled

MERGE = (
    "MERGE INTO copied t USING (SELECT * FROM {changes} WHERE _change_type <> 'update_preimage') s ON t.id = s.id"
    " WHEN MATCHED AND s._change_type = 'delete' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v"
    " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
)


def read(session: Session, reader: str = "copy", *, net: bool = True) -> list[tuple[object, ...]]:
    """The changes since the place of the reader, without their times."""
    mode = "netChanges" if net else None
    found = session.changes("t", since=reader, deduplication_mode=mode).drop("_commit_timestamp").collect()
    return sorted(tuple(row) for row in found)


def take(session: Session, reader: str = "copy", *, net: bool = True) -> list[tuple[object, ...]]:
    """The changes since the place of the reader, and moves its place."""
    with session.transaction():
        return read(session, reader, net=net)


def copy(session: Session, reader: str = "copy") -> None:
    """Brings the table `copied` up to date, in a transaction."""
    with session.transaction():
        changes = session.changes("t", since=reader, deduplication_mode="netChanges", compute_updates=True, row_id="id")
        session.execute(MERGE, frames={"changes": changes})


def place(session: Session, reader: str = "copy") -> str | None:
    (found,) = [row[3] for row in rows(session, "SHOW STREAMS") if row[2] == f"changes:{reader}"]
    return None if found is None else str(found)


@pytest.mark.ci
def test_a_reader_goes_on_where_it_stopped(session: Session) -> None:
    filled(session, FIRST_ROWS)
    assert session.changes("t", since="copy").columns == session.changes("t", 1).columns
    assert session.changes("t", since="copy").dtypes == session.changes("t", 1).dtypes
    first = [(1, "a", "insert", 1), (2, "b", "insert", 1), (3, "c", "insert", 1)]
    assert read(session) == first
    assert take(session) == first
    assert place(session) == '{"read": "1:"}'
    assert take(session) == []
    session.execute("UPDATE t SET v = 'B' WHERE id = 2")
    session.execute("DELETE FROM t WHERE id = 3")
    old = [(2, "b", "update_preimage", 2), (3, "c", "delete", 3)]
    assert read(session, net=False) == [(2, "B", "update_postimage", 2), *old]
    assert read(session) == [(2, "B", "insert", 2), (2, "b", "delete", 2), (3, "c", "delete", 3)]
    assert take(session, "other") == [(1, "a", "insert", 3), (2, "B", "insert", 3)]
    assert take(session, net=False) == [(2, "B", "update_postimage", 2), *old]
    assert take(session) == take(session, "other") == []
    assert read(session) == []
    session.execute("INSERT INTO t VALUES (4, 'd')")
    session.execute("START TRANSACTION")
    assert read(session) == [(4, "d", "insert", 4)]
    session.execute("ROLLBACK")
    assert take(session) == [(4, "d", "insert", 4)]


@pytest.mark.nightly
def test_a_copy_follows_its_source(session: Session) -> None:
    filled(session, FIRST_ROWS)
    session.execute(f"CREATE TABLE copied (id int, v string) {ACID}")
    for statements in (
        (),
        ("UPDATE t SET v = 'B' WHERE id = 2", "DELETE FROM t WHERE id = 3", "INSERT INTO t VALUES (4, 'd'), (5, 'e')"),
        ("UPDATE t SET v = 'D' WHERE id = 4", "DELETE FROM t WHERE id = 5", "INSERT INTO t VALUES (3, 'again')"),
        ("ALTER TABLE t COMPACT 'minor' AND WAIT",),
        ("UPDATE t SET id = 9 WHERE id = 1", "ALTER TABLE t COMPACT 'minor' AND WAIT"),
    ):
        for statement in statements:
            session.execute(statement)
        copy(session)
        assert rows(session, "SELECT * FROM copied ORDER BY id") == rows(session, "SELECT * FROM t ORDER BY id")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert take(session) == []  # it has read all that the compaction has merged
    session.execute("INSERT INTO t VALUES (6, 'f')")
    copy(session)
    assert rows(session, "SELECT * FROM copied ORDER BY id") == rows(session, "SELECT * FROM t ORDER BY id")


@pytest.mark.ci
def test_a_write_that_commits_late_is_not_lost(session: Session, open_session: Callable[[], Session]) -> None:
    filled(session, FIRST_ROWS)
    take(session)
    late, lost = open_session(), open_session()
    late.execute("START TRANSACTION")
    late.execute("INSERT INTO t VALUES (5, 'late')")
    lost.execute("START TRANSACTION")
    lost.execute("INSERT INTO t VALUES (6, 'lost')")
    assert take(session) == []
    assert place(session) == '{"read": "3:2,3"}'
    session.execute("UPDATE t SET v = 'A' WHERE id = 1")
    assert take(session) == [(1, "A", "insert", 4), (1, "a", "delete", 4)]
    assert place(session) == '{"read": "4:2,3"}'
    assert take(session) == []
    lost.execute("ROLLBACK")
    late.execute("COMMIT")
    assert take(session) == [(5, "late", "insert", 2)]
    assert take(session) == []
    late.execute("START TRANSACTION")
    late.execute("INSERT INTO t VALUES (7, 'latest')")
    assert [row[2:] for row in take(session, "other")] == [("insert", 4)] * 4
    late.execute("COMMIT")
    assert take(session) == take(session, "other") == [(7, "latest", "insert", 5)]
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert take(session) == []


@pytest.mark.ci
def test_changes_that_a_compaction_has_merged_are_refused_until_the_reader_begins_anew(session: Session) -> None:
    filled(session, FIRST_ROWS)
    take(session)
    session.execute("INSERT INTO t VALUES (4, 'd')")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    error = fails("NOT_ENOUGH_HISTORY", lambda: take(session))
    assert "forget_changes('t', 'copy') lets the reader begin anew, with all rows." in str(error)
    assert session.transaction_id is None
    session.forget_changes("t", since="copy")
    session.forget_changes("t", since="never")
    assert len(take(session)) == 4
    assert take(session) == []


@pytest.mark.ci
def test_one_reader_of_a_name_at_a_time_is_in_a_transaction(
    session: Session, open_session: Callable[[], Session]
) -> None:
    filled(session, FIRST_ROWS)
    other = open_session()
    with session.transaction():
        first = read(session)
        fails("STREAM_IN_USE", lambda: take(other))
        fails("STREAM_IN_USE", lambda: other.forget_changes("t", since="copy"))
        assert other.transaction_id is None
        assert read(other) == first  # looking is free
        assert len(take(other, "other")) == 3
        assert read(session) == first
    assert take(other) == []
    other.execute("START TRANSACTION")
    rows(other, "SELECT * FROM t")  # fixes its snapshot
    session.execute("INSERT INTO t VALUES (4, 'd')")
    assert take(session) == [(4, "d", "insert", 2)]
    fails("STREAM_LOST", lambda: read(other))
    other.execute("ROLLBACK")


@pytest.mark.nightly
def test_what_a_transaction_has_written_itself_is_read_by_the_next_one(session: Session) -> None:
    filled(session, FIRST_ROWS)
    with session.transaction():
        assert len(read(session)) == 3
        session.execute("INSERT INTO t VALUES (4, 'd')")
        fails("INVALID_PARAMETER", lambda: read(session))
    assert take(session) == [(4, "d", "insert", 2)]


@pytest.mark.nightly
def test_insert_only_tables_and_partitions_have_readers(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {INSERT_ONLY}")
    assert take(session) == []
    session.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    assert take(session) == [(1, "a", 1, "insert", 1), (2, "b", 2, "insert", 1)]
    assert take(session) == []
    session.execute("ALTER TABLE t ADD COLUMNS (w int)")
    session.execute("INSERT INTO t VALUES (3, 'c', 7, 3)")
    assert take(session) == [(3, "c", 7, 3, "insert", 3)]
    session.execute("ALTER TABLE t RENAME TO u")
    assert session.changes("u", since="copy").count() == 0


@pytest.mark.ci
def test_what_no_reader_can_do_is_refused(session: Session) -> None:
    filled(session, FIRST_ROWS)
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    session.execute(f"CREATE TABLE named (id int, _change_type int) {ACID}")
    session.execute(f"CREATE TABLE u (id int) {ACID}")
    session.execute("CREATE VIEW w AS SELECT id FROM t")
    fails("INVALID_STREAM_TABLE", lambda: session.changes("plain", since="r"))
    fails("INVALID_PARAMETER", lambda: session.changes("named", since="r"))
    fails("NOT_A_TABLE", lambda: session.changes("w", since="r"))
    fails("TABLE_NOT_FOUND", lambda: session.changes("missing", since="r"))
    fails("INVALID_PARAMETER", lambda: session.changes("t", since=""))
    fails("INVALID_PARAMETER", lambda: session.changes("t", since=7))  # type: ignore[arg-type]
    fails("INVALID_PARAMETER", lambda: session.changes("t", 1, since="r"))
    fails("INVALID_PARAMETER", lambda: session.changes("t", since="r", to_timestamp="2026-01-01 00:00:00"))
    with session.transaction():
        session.changes("t", since="r")
        fails("NOT_YET_SUPPORTED", lambda: session.changes("u", since="r"))
        fails("NOT_YET_SUPPORTED", lambda: session.changes("t", since="s"))
        fails("IN_TRANSACTION", lambda: session.forget_changes("t", since="r"))
    with session.stream("t", id="changes:mine") as stream:
        stream.write([(7, "g")], offset={"read": 5})
        stream.commit()
    fails("INVALID_PARAMETER", partial(session.changes, "t", since="mine"))
