"""CHANGES FROM .. WITH ('deduplicationMode' = 'netChanges', ..): at most one change of a row in a range, and updates by
the columns that identify a row. Also the bounds of a range, and ranges of times."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial

import pytest

from acidsql.session import Session
from tests.answers import fails, rows, spark_alone
from tests.snapshot.test_changes import ACID, CHANGES, FIRST_ROWS, INSERT_ONLY, WRITES, changes, filled, of

NET = "WITH ('deduplicationMode' = 'netChanges')"
BY_ID = "WITH ('deduplicationMode' = 'netChanges', 'computeUpdates' = 'true', 'rowId' = 'id')"


def net(session: Session, first: int, last: int | None = None, options: str = NET) -> list[tuple[object, ...]]:
    until = "" if last is None else f" TO VERSION {last}"
    return changes(session, f"t CHANGES FROM VERSION {first}{until} {options}")


@pytest.mark.ci
def test_net_changes_leave_out_what_came_and_went(session: Session) -> None:
    filled(
        session,
        FIRST_ROWS,
        "UPDATE t SET v = 'b2' WHERE id = 2",
        "INSERT INTO t VALUES (4, 'd'), (5, 'e')",
        "UPDATE t SET v = concat(v, '!') WHERE id IN (2, 4)",
        "DELETE FROM t WHERE id IN (1, 5)",
        "UPDATE t SET v = 'B' WHERE id = 2",
    )
    old, new = [(1, "a", "delete", 5), (2, "b", "delete", 2)], [(2, "B", "insert", 6), (4, "d!", "insert", 4)]
    assert net(session, 2) == sorted(old + new)
    assert net(session, 1) == sorted([(3, "c", "insert", 1), *new])
    assert net(session, 3, 5) == [(1, "a", "delete", 5), (2, "b2", "delete", 4), (2, "b2!", "insert", 4), new[1]]
    pair = [(2, "B", "update_postimage", 6), (2, "b", "update_preimage", 2)]
    assert net(session, 2, options=BY_ID) == sorted([old[0], *pair, new[1]])
    assert net(session, 1, options=BY_ID) == net(session, 1)
    by_call = session.changes("t", 2, deduplication_mode="netChanges", compute_updates=True, row_id="id")
    assert sorted(tuple(row) for row in by_call.drop("_commit_timestamp").collect()) == net(session, 2, options=BY_ID)
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    assert net(session, 2, options=BY_ID) == sorted([old[0], *pair, new[1]])
    assert net(session, 3, 5) == [(1, "a", "delete", 5), (2, "b2", "delete", 4), (2, "b2!", "insert", 4), new[1]]


@pytest.mark.nightly
def test_the_columns_of_a_key_tell_updates_where_the_directories_do_not(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID}")
    session.sql("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1), (7, 'x', 1), (7, 'y', 1)")
    session.sql("UPDATE t SET p = 2 WHERE id = 2")
    session.sql("UPDATE t SET id = 9 WHERE id = 3")
    session.sql("DELETE FROM t WHERE id = 7")
    session.sql("INSERT INTO t VALUES (7, 'z', 1)")
    options = "WITH ('computeUpdates' = 'true', 'rowId' = 'id')"
    moved = [(2, "b", 1, "update_preimage", 2), (2, "b", 2, "update_postimage", 2)]
    renamed = [(3, "c", 1, "delete", 3), (9, "c", 1, "insert", 3)]
    assert net(session, 2, 3, options) == sorted(moved + renamed)
    assert net(session, 2, 3, BY_ID) == sorted(moved + renamed)
    # A condition takes nothing from the rows that are compared.
    item = f"t CHANGES FROM VERSION 2 TO VERSION 2 {BY_ID}"
    assert changes(session, item, "p = 2 AND v > 'a'") == [moved[1]]
    # Two rows have the key 7, so that its rows are no update.
    of_seven = [(7, "x", 1, "delete", 4), (7, "y", 1, "delete", 4), (7, "z", 1, "insert", 5)]
    assert changes(session, f"t CHANGES FROM VERSION 4 {BY_ID}") == of_seven
    with session.transaction():
        session.sql("INSERT INTO t VALUES (8, 'new', 1)")
        session.sql("DELETE FROM t WHERE id = 8")
    assert [kind for *_, kind, _ in net(session, 6, 6, options)] == ["delete", "insert"]
    assert net(session, 6, 6, BY_ID) == []


@pytest.mark.nightly
def test_net_changes_bring_a_copy_up_to_date(session: Session) -> None:
    filled(session, *WRITES, "DELETE FROM t WHERE id = 4", "INSERT INTO t VALUES (4, 'again'), (5, 'e')")
    session.sql(f"CREATE TABLE copied {ACID} AS SELECT * FROM t VERSION AS OF 1")
    session.sql(
        f"MERGE INTO copied USING (SELECT * FROM t CHANGES FROM VERSION 2 {BY_ID}"
        " WHERE _change_type <> 'update_preimage') s ON copied.id = s.id"
        " WHEN MATCHED AND s._change_type = 'delete' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
    )
    assert rows(session, "SELECT * FROM copied ORDER BY id") == rows(session) == [(1, "x"), (4, "again"), (5, "e")]


@pytest.mark.nightly
def test_insert_only_tables_have_net_insertions(session: Session) -> None:
    filled(session, FIRST_ROWS, "INSERT INTO t VALUES (4, 'd')", kind=INSERT_ONLY)
    assert net(session, 2) == [(4, "d", "insert", 2)]
    assert net(session, 2, options=BY_ID) == [(4, "d", "insert", 2)]


@pytest.mark.ci
def test_net_changes_read_no_file_of_rows_that_came_and_went(session: Session) -> None:
    filled(session, FIRST_ROWS, "INSERT INTO t VALUES (4, 'd')", "DELETE FROM t WHERE id = 4")
    with spark_alone(session):
        files = session.changes("t", 2, deduplication_mode="netChanges").inputFiles()
    assert {file.split("/")[-2] for file in files} == {"delta_0000002_0000002_0000"}
    assert net(session, 2) == []


# -- bounds


@pytest.mark.nightly
def test_bounds_are_inclusive_or_exclusive(session: Session) -> None:
    filled(session)
    for clause, writes in {
        "VERSION 2 EXCLUSIVE": (3, 4),
        "VERSION 0 EXCLUSIVE TO VERSION 2 INCLUSIVE": (1, 2),
        "SYSTEM_VERSION 2 INCLUSIVE TO SYSTEM_VERSION 4 EXCLUSIVE": (2, 3),
        "VERSION 4 EXCLUSIVE": (),
        "VERSION 3 EXCLUSIVE TO VERSION 4 EXCLUSIVE": (),
        "VERSION '4:2,3' EXCLUSIVE": (2, 3),
        "VERSION '3:2' EXCLUSIVE TO VERSION '4:'": (2, 4),
        "VERSION '1:' EXCLUSIVE TO VERSION '4:3'": (2, 4),
    }.items():
        assert changes(session, f"t CHANGES FROM {clause} c") == of(*writes), clause
    for clause, reason in {
        "VERSION '4:2'": "EXCLUSIVE",
        "VERSION 1 TO VERSION '4:2' EXCLUSIVE": "leave EXCLUSIVE out",
        "VERSION 3 EXCLUSIVE TO VERSION '4:2'": "ends before it begins",
        "VERSION 3 EXCLUSIVE TO VERSION 3 EXCLUSIVE": "ends before it begins",
        "VERSION '2:5' EXCLUSIVE": "an integer",
        "VERSION '9:5' EXCLUSIVE": "not a version",
        "VERSION 1 WITH ('deduplicationMode' = 'net')": "not one of none, dropCarryovers, netChanges",
        "VERSION 1 WITH ('computeUpdates' = true)": "the columns that identify a row",
        "VERSION 1 WITH ('rowId' = 'id')": "computeUpdates = true",
        "VERSION 1 WITH ('computeUpdates' = 'true', 'rowId' = 'id, nope')": "no column nope",
        "VERSION 1 WITH ('startingVersion' = 3)": "not one of deduplicationMode, computeUpdates, rowId",
    }.items():
        error = fails("INVALID_PARAMETER", partial(changes, session, f"t CHANGES FROM {clause}"))
        assert reason in str(error), clause


@pytest.mark.ci
def test_a_version_may_be_a_set_of_writes(session: Session, open_session: Callable[[], Session]) -> None:
    filled(session, FIRST_ROWS)
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("UPDATE t SET v = 'late' WHERE id = 1")
    session.execute("INSERT INTO t VALUES (4, 'd')")
    other.execute("COMMIT")
    assert rows(session, "SELECT v FROM t VERSION AS OF '3:2' ORDER BY id") == [("a",), ("b",), ("c",), ("d",)]
    late = [(1, "a", "update_preimage", 2), (1, "late", "update_postimage", 2)]
    assert changes(session, "t CHANGES FROM VERSION '3:2' EXCLUSIVE") == late
    assert changes(session, "t CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION '3:2'") == [(4, "d", "insert", 3)]
    first = [(1, "late", "insert", 2), (2, "b", "insert", 1), (3, "c", "insert", 1)]
    assert net(session, 1) == [*first, (4, "d", "insert", 3)]


# -- times


@pytest.mark.ci
def test_changes_of_a_range_of_times(session: Session) -> None:
    filled(session)
    table = session._metastore.table("default", "t")
    at = {int(c.write_id): c.committed for c in session._metastore.commits(table)}

    def time(millis: float) -> str:
        return datetime.datetime.fromtimestamp(millis / 1000, datetime.UTC).isoformat(" ", "microseconds")

    def committed(low: float, high: float) -> list[tuple[object, ...]]:
        return of(*(write for write, millis in at.items() if low <= millis <= high))

    second, third, last = time(at[2]), time(at[3]), time(at[4])
    for clause, low, high in (
        (f"TIMESTAMP '{second}'", at[2], at[4]),
        (f"TIMESTAMP '{second}' EXCLUSIVE", at[2] + 1, at[4]),
        (f"SYSTEM_TIME '{second}' TO SYSTEM_TIME '{third}' c", at[2], at[3]),
        (f"TIMESTAMP '{second}' INCLUSIVE TO TIMESTAMP '{last}' EXCLUSIVE", at[2], at[4] - 1),
        (f"TIMESTAMP TIMESTAMP '{time(at[2] + 0.5)}' TO TIMESTAMP '{time(at[3] + 0.5)}'", at[2] + 1, at[3]),
    ):
        found = changes(session, f"t CHANGES FROM {clause}")
        assert found == committed(low, high), clause
    frame = session.changes("t", from_timestamp=second, to_timestamp=third)
    assert frame.count() == len(committed(at[2], at[3]))
    fails("INVALID_PARAMETER", lambda: session.changes("t", from_timestamp="2126-01-01 00:00:00"))
    fails("INVALID_PARAMETER", lambda: session.changes("t", from_timestamp=second, to_timestamp="2126-01-01 00:00:00"))
    assert session.changes("t", from_timestamp="1999-01-01 00:00:00").count() == len(of(1, 2, 3, 4))
    fails("INVALID_PARAMETER", lambda: session.changes("t", from_timestamp=last, to_timestamp=time(at[1] - 1)))
    for arguments in ({}, {"to_version": 3}, {"from_version": 1, "to_timestamp": last}):
        fails("INVALID_PARAMETER", partial(session.changes, "t", **arguments))


@pytest.mark.nightly
def test_a_late_commit_belongs_to_the_time_of_its_commit(session: Session, open_session: Callable[[], Session]) -> None:
    filled(session, FIRST_ROWS)
    other = open_session()
    other.execute("START TRANSACTION")
    other.execute("INSERT INTO t VALUES (5, 'late')")
    session.execute("INSERT INTO t VALUES (4, 'd')")
    table = session._metastore.table("default", "t")
    early = max(c.committed for c in session._metastore.commits(table))
    moment = datetime.datetime.fromtimestamp(early / 1000, datetime.UTC).isoformat(" ", "milliseconds")
    other.execute("COMMIT")
    late = {int(c.write_id): c.committed for c in session._metastore.commits(table)}[2]
    found = changes(session, f"t CHANGES FROM TIMESTAMP '{moment}' EXCLUSIVE")
    assert found == ([(5, "late", "insert", 2)] if late > early else [])
    assert changes(session, f"t CHANGES FROM TIMESTAMP '{moment}'")[0] == (4, "d", "insert", 3)
    assert CHANGES[0] == []
