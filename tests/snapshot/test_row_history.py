"""`session.row_history`: the life of single rows, whatever has become of their files."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from acidsql.acid.row_id import RowId, encode_bucket
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.snapshot.row_history import RowEvent, RowHistory
from tests.answers import fails
from tests.selection import every
from tests.support.golden_cases import golden_tables

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
FIRST_ROWS = "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"
BUCKET = encode_bucket(0, 0)


def filled(session: Session, *statements: str) -> None:
    for statement in (f"CREATE TABLE t (id int, v string) {ACID}", FIRST_ROWS, *statements):
        session.execute(statement)


def lives(session: Session, where: str, table: str = "t") -> Sequence[RowHistory]:
    return session.row_history(table, where=where).rows


def told(history: RowHistory) -> list[tuple[object, ...]]:
    """Version, change and value of each event."""
    return [(event.version, event.change.value, event.values.get("v")) for event in history.events]


def row_id(write_id: int, row: int) -> RowId:
    return RowId(WriteId(write_id), BUCKET, row)


def without_spark(tmp_path: Path) -> Session:
    return connect(tmp_path / "own")


# -- what is told


def test_a_row_is_followed_through_its_updates_from_any_of_its_row_ids(tmp_path: Path) -> None:
    with without_spark(tmp_path) as session:
        filled(
            session,
            "UPDATE t SET v = 'B' WHERE id = 2",
            "UPDATE t SET v = 'x' WHERE id > 1",
            "DELETE FROM t WHERE id = 2",
            "UPDATE t SET v = 'y'",
        )
        (life,) = lives(session, "id = 2")
        assert told(life) == [(1, "insert", "b"), (2, "update", "B"), (3, "update", "x"), (4, "delete", "x")]
        assert [(event.old, event.new) for event in life.events] == [
            (None, row_id(1, 1)),
            (row_id(1, 1), row_id(2, 0)),
            (row_id(2, 0), row_id(3, 2)),
            (row_id(3, 2), None),
        ]
        assert life.events[2].changed == {"v": "B"}
        assert life.events[2].files == (
            "delete_delta_0000003_0000003_0000/bucket_00000",
            "delta_0000003_0000003_0000/bucket_00000",
        )
        assert [(e.statement_id, e.bucket, e.state, e.note) for e in life.events] == [(0, 0, "committed", "")] * 4
        write = life.events[3].write
        assert write is not None
        assert (write.operation, write.deleted, write.version) == ("DELETE", 1, 4)
        for each in (row_id(1, 1), row_id(2, 0), row_id(3, 2)):
            numbers = {"writeid": each.write_id, "bucketid": each.bucket_property, "rowid": each.row_id}
            assert session.row_history("t", row=numbers).rows == [life]
        assert [told(each)[-1] for each in lives(session, "v = 'y'")] == [(5, "update", "y")] * 3
        assert [len(each.events) for each in lives(session, "id <> 2")] == [2, 3, 3]
        assert lives(session, "v = 'never'") == []
        assert session.last_result is not None
        assert not session._engine.is_running


def test_rows_are_found_that_fulfilled_the_condition_once(tmp_path: Path) -> None:
    with without_spark(tmp_path) as session:
        filled(session, "UPDATE t SET v = 'x' WHERE id = 1", "DELETE FROM t WHERE id = 1")
        (life,) = lives(session, "v = 'a'")
        assert told(life) == [(1, "insert", "a"), (2, "update", "x"), (3, "delete", "x")]
        assert life.current is None
        found = session.row_history("t", where="id > 1", limit=2)
        assert (len(found.rows), found.has_more) == (2, True)
        assert [each.current for each in found.rows] == [row_id(1, 1), row_id(1, 2)]


def test_a_merge_and_the_statements_of_a_transaction_are_told_apart(session: Session) -> None:
    filled(session)
    session.execute(
        "MERGE INTO t USING (VALUES (1, 'x'), (2, 'gone'), (4, 'y'), (9, 'new')) s(id, v) ON t.id = s.id"
        " WHEN MATCHED AND s.v = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    with session.transaction():
        session.execute("UPDATE t SET v = 'p' WHERE id IN (1, 4)")
        session.execute("UPDATE t SET v = 'q' WHERE id IN (1, 9)")
        session.execute("DELETE FROM t WHERE id = 9")
    expected = {
        1: [(1, "insert", "a"), (2, "update", "x"), (3, "update", "p"), (3, "update", "q")],
        2: [(1, "insert", "b"), (2, "delete", "b")],
        4: [(1, "insert", "d"), (2, "update", "y"), (3, "update", "p")],
        9: [(2, "insert", "new"), (3, "update", "q"), (3, "delete", "q")],
    }
    for number, events in expected.items():
        (life,) = lives(session, f"id = {number}")
        assert told(life) == events
    (life,) = lives(session, "id = 9")
    assert [event.statement_id for event in life.events] == [0, 1, 2]


def test_open_and_aborted_writes_are_shown_as_such(session: Session, open_session: Callable[[], Session]) -> None:
    filled(session)
    session.execute("START TRANSACTION")
    session.execute("UPDATE t SET v = 'open' WHERE id = 1")
    (life,) = lives(open_session(), "id = 1")
    assert [(e.version, e.change.value, e.state) for e in life.events] == [
        (1, "insert", "committed"),
        (2, "update", "open"),
    ]
    assert life.current == row_id(1, 0)
    assert life.events[1].write is None
    session.execute("COMMIT")
    (life,) = lives(session, "id = 1")
    assert (life.events[1].state, life.current) == ("committed", row_id(2, 0))


@pytest.mark.parametrize("case", ["aborted_open"])
def test_writes_of_hive_that_were_aborted_or_are_open(tmp_path: Path, case: str) -> None:
    golden = next(t for t in golden_tables() if t.case == case)
    with without_spark(tmp_path) as session:
        name = golden.adopt(session, tmp_path)
        states = {e.version: e.state for life in lives(session, "true", name) for e in life.events}
    assert states == {1: "committed", 2: "aborted", 3: "committed", 4: "open", 5: "committed"}


def test_an_update_of_hive_is_a_delete_and_an_insert_that_say_what_they_may_be(tmp_path: Path) -> None:
    golden = next(t for t in golden_tables() if t.case == "employee_update")
    with without_spark(tmp_path) as session:
        name = golden.adopt(session, tmp_path)
        events = [event for life in lives(session, "true", name) for event in life.events]
    deleted = [event for event in events if event.change.value == "delete"]
    assert deleted
    assert all("UPDATE of Hive" in event.note for event in deleted)
    new = [e for e in events if e.change.value == "insert" and e.version == deleted[0].version]
    assert [event.note for event in new] == [event.note for event in deleted]


# -- what compactions and overwrites leave


def test_a_minor_compaction_keeps_the_events_and_only_single_updates_stay_together(session: Session) -> None:
    filled(session, "UPDATE t SET v = 'B' WHERE id = 2", "UPDATE t SET v = 'x' WHERE id > 2")
    session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    (life,) = lives(session, "id = 2")
    assert told(life) == [(1, "insert", "b"), (2, "update", "B")]
    assert life.events[1].files[0].startswith("delete_delta_0000001_0000003_v")
    before, after = lives(session, "id = 3")
    assert told(before) == [(1, "insert", "c"), (3, "update", "c")]
    assert told(after) == [(3, "update", "x")]
    assert (before.events[1].new, after.events[0].old) == (None, None)
    note = "A compaction has merged the events of version 3: the files do not tell its other row."
    assert before.events[1].note == after.events[0].note == note
    assert (before.current, after.current) == (None, row_id(3, 0))


def test_files_that_the_cleaner_has_not_removed_still_tell_the_pairs(session: Session) -> None:
    filled(session, "UPDATE t SET v = 'x' WHERE id > 1")
    with session.transaction():
        session.execute("SELECT * FROM t").close()  # a reader that holds the cleaner back
        with connect(session.warehouse, metastore=_store(session)) as other:
            other.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
            (life,) = lives(other, "id = 3")
    assert told(life) == [(1, "insert", "c"), (2, "update", "x")]
    copied, written = life.events[1].files[1:]
    assert copied.startswith("base_0000002_v")
    assert written == "delta_0000002_0000002_0000/bucket_00000"
    assert life.current == row_id(2, 1)


def _store(session: Session) -> str:
    return f"sqlite:///{Path(session.warehouse).parent}/metastore.db"


def test_behind_a_major_compaction_only_the_last_state_is_told(session: Session) -> None:
    filled(session, "UPDATE t SET v = 'x' WHERE id > 2", "DELETE FROM t WHERE id = 3")
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert lives(session, "id = 3") == []
    (kept,), (updated,) = lives(session, "id = 1"), lives(session, "id = 4")
    assert told(kept) == [(1, "insert", "a")]
    assert kept.events[0].note == ""
    assert told(updated) == [(2, "update", "x")]
    assert updated.events[0].note.startswith("A compaction has merged the events of version 2")


@pytest.mark.ci
def test_a_row_is_not_told_as_the_one_that_had_its_row_id_before_a_rebalance(session: Session) -> None:
    filled(session, "ALTER TABLE t SET TBLPROPERTIES ('acidsql.history.retention'='1d')")
    session.execute("INSERT INTO t VALUES (5, 'e'), (6, 'f')")
    session.execute("ALTER TABLE t COMPACT 'rebalance' AND WAIT")
    (now,) = session.read_arrow("t", ["row__id"], "id = 1").read_all().to_pylist()
    assert now["row__id"] == {"writeid": 2, "bucketid": BUCKET, "rowid": 0}  # those of the row 5 before
    refused = fails("NOT_YET_SUPPORTED", lambda: lives(session, "id = 1"))
    assert f"(2, {BUCKET}, 0)" in str(refused)
    fails("NOT_YET_SUPPORTED", lambda: session.row_history("t", row=now["row__id"]))
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('acidsql.history.retention'='0')")
    session.compactor.clean()
    (life,) = lives(session, "id = 1")
    assert (life.current, told(life)) == (row_id(2, 0), [(2, "insert", "a")])
    assert life.events[0].note.endswith("and the row may be older.")


@pytest.mark.ci
def test_behind_a_rebalance_no_row_is_told_as_updated_that_was_not(session: Session) -> None:
    filled(session, "UPDATE t SET v = 'x' WHERE id > 2", "ALTER TABLE t COMPACT 'rebalance' AND WAIT")
    session.compactor.clean()
    found = {key: lives(session, f"id = {key}") for key in (1, 4)}
    assert {key: [told(life) for life in of_key] for key, of_key in found.items()} == {
        1: [[(2, "insert", "a")]],
        4: [[(2, "insert", "x")]],
    }


@pytest.mark.parametrize("statement", ["TRUNCATE TABLE t", "INSERT OVERWRITE TABLE t VALUES (1, 'n')"])
def test_an_overwrite_ends_the_rows_without_an_event_of_theirs(session: Session, statement: str) -> None:
    filled(session, "DELETE FROM t WHERE id = 2", statement)
    found = lives(session, "id < 3 AND v <> 'n'")
    assert [told(life)[-1][:2] for life in found] == [(3, "overwrite"), (2, "delete")]
    assert [life.current for life in found] == [None, None]
    assert found[0].events[-1].files == ("base_0000003",)
    new = lives(session, "v = 'n'")
    assert [told(life) for life in new] == ([] if statement.startswith("TRUNC") else [[(3, "insert", "n")]])


@pytest.mark.ci
def test_rows_that_move_to_another_partition(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 2)")
    session.execute("UPDATE t SET p = 7 WHERE id = 3")
    (moved,) = lives(session, "id = 3")
    assert told(moved) == [(1, "insert", "c"), (2, "update", "c")]
    assert [event.partition for event in moved.events] == ["p=2", "p=7"]
    assert moved.events[1].changed == {"p": 2}
    session.execute("UPDATE t SET p = 3 - p WHERE id < 3")  # each partition has lost a row and got another one
    found = lives(session, "id = 1")
    assert [told(life) for life in found] == [[(1, "insert", "a"), (3, "update", "a")], [(3, "update", "a")]]
    assert "The statement has updated 2 rows" in found[0].events[1].note
    session.execute("UPDATE t SET v = 'z' WHERE id < 4")
    assert [told(life)[-1] for life in lives(session, "v = 'z'")] == [(4, "update", "z")] * 3
    assert len(lives(session, "id = 3")) == 1
    assert len(lives(session, "p = 7 AND id = 3")) == 1


def test_columns_that_came_later_are_null_and_values_have_the_wide_type(session: Session) -> None:
    filled(session)
    session.execute("ALTER TABLE t ADD COLUMNS (w double)")
    session.execute("ALTER TABLE t CHANGE COLUMN id id bigint")
    session.execute("UPDATE t SET id = 5000000000, w = 1.5 WHERE id = 1")
    (life,) = lives(session, "w IS NOT NULL")
    assert [dict(event.values) for event in life.events] == [
        {"id": 1, "v": "a", "w": None},
        {"id": 5000000000, "v": "a", "w": 1.5},
    ]
    assert life.events[1].changed == {"id": 1, "w": None}


# -- conditions, and what is refused


@pytest.mark.ci
def test_spark_evaluates_what_the_arrow_engine_does_not(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (`p q` string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x %y'), (3, 'a', 'z')")
    session.execute("UPDATE t SET v = 'new' WHERE id < 3")
    for condition in ("upper(v) = 'A'", "v = 'a'"):
        assert [told(life) for life in lives(session, condition)] == [
            [(1, "insert", "a"), (2, "update", "new")],
            [(1, "insert", "a")],
        ]
    (life,) = lives(session, "upper(v) = 'B' AND `p q` = 'x %y'")
    assert told(life) == [(1, "insert", "b"), (2, "update", "new")]


def test_what_has_no_rows_with_a_life_is_refused(session: Session) -> None:
    filled(session)
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    session.execute(f"CREATE TABLE inserts (id int) {ACID[:-1]}, 'transactional_properties'='insert_only')")
    session.execute("CREATE VIEW w AS SELECT id FROM t")
    fails("ROW_ID_OF_PLAIN_TABLE", partial(session.row_history, "plain", where="id = 1"))
    for table in ("inserts", "w"):
        fails("NOT_YET_SUPPORTED", partial(session.row_history, table, where="id = 1"))
    fails("NOT_YET_SUPPORTED", partial(session.row_history, "t", where="id IN (SELECT id FROM plain)"))
    fails("TABLE_NOT_FOUND", partial(session.row_history, "nothing", where="id = 1"))
    fails("COLUMN_NOT_FOUND", partial(session.row_history, "t", where="ID2 = 1"))
    fails("INVALID_PARAMETER", partial(session.row_history, "t"))
    fails("INVALID_PARAMETER", partial(session.row_history, "t", where="id = 1", row={"writeid": 1}))
    for row in ({}, {"writeid": 1, "bucketid": 2}, {"writeid": "1", "bucketid": 2, "rowid": 3}, 5):
        fails("INVALID_PARAMETER", partial(session.row_history, "t", row=row))  # type: ignore[arg-type]
    assert session.sql("SHOW LOCKS").collect() == []


# -- random histories


def _events(found: Sequence[RowHistory]) -> set[tuple[int, str]]:
    return {(event.version, event.change.value) for life in found for event in life.events}


@pytest.mark.ci
@pytest.mark.parametrize("seed", every(3, range(3)))
def test_every_row_has_the_life_that_the_statements_gave_it(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    partitioned = "PARTITIONED BY (p int)" if seed % 2 else ""
    with without_spark(tmp_path) as session:
        session.execute(f"CREATE TABLE t (id int, v int) {partitioned} {ACID}")
        wanted: dict[int, list[tuple[int, str]]] = defaultdict(list)
        values: dict[int, int] = {}
        kept_pairs = True
        for version in range(1, 31):
            number = chance.random()
            few = sorted(chance.sample(sorted(values), min(len(values), chance.randint(1, 4))))
            ids = ", ".join(map(str, few))
            if number < 0.3 or not values:
                new = [len(wanted) + n for n in range(chance.randint(1, 4))]
                tail = f", {chance.randint(0, 1)}" if partitioned else ""
                session.execute(f"INSERT INTO t VALUES {', '.join(f'({n}, 0{tail})' for n in new)}")
                for n in new:
                    wanted[n].append((version, "insert"))
                    values[n] = 0
            elif number < 0.75:
                session.execute(f"UPDATE t SET v = {version} WHERE id IN ({ids})")
                for n in few:
                    wanted[n].append((version, "update"))
                    values[n] = version
            elif number < 0.9:
                session.execute(f"DELETE FROM t WHERE id IN ({ids})")
                for n in few:
                    wanted[n].append((version, "delete"))
                    del values[n]
            else:
                session.execute("START TRANSACTION")
                session.execute(f"UPDATE t SET v = -1 WHERE id IN ({ids})")
                session.execute("ROLLBACK")
            if version == 20 and not partitioned:
                session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
                kept_pairs = False
        for n, events in wanted.items():
            found = lives(session, f"id = {n}")
            assert _events(found) == set(events), (n, found)
            assert [life.current is not None for life in found].count(True) == (n in values)
            if kept_pairs:
                (life,) = found
                last: RowEvent = life.events[-1]
                assert last.change.value == "delete" or last.values["v"] == values[n]


@pytest.mark.nightly
def test_rows_are_told_while_compactions_and_the_cleaner_run(tmp_path: Path) -> None:
    with without_spark(tmp_path) as session, connect(tmp_path / "own") as other:
        filled(session)
        failures: list[AcidSqlError] = []
        is_done = threading.Event()

        def change() -> None:
            try:
                for number in range(24):
                    other.execute(f"UPDATE t SET v = '{number}' WHERE id = 1")
                    if number % 4 == 3:
                        kind = "major" if number % 8 == 7 else "minor"
                        other.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
                        other.compactor.run_once()
            except AcidSqlError as error:
                failures.append(error)
            finally:
                is_done.set()

        thread = threading.Thread(target=change)
        thread.start()
        reads = 0
        while not is_done.is_set():
            found = lives(session, "id = 1")
            assert [life.current is not None for life in found].count(True) == 1
            versions = [event.version for life in found for event in life.events]
            assert versions == sorted(versions)
            reads += 1
        thread.join()
        assert failures == []
        assert reads > 0
        assert lives(session, "id = 1")[-1].events[-1].values["v"] == "23"
