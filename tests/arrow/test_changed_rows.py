"""The changes of some versions by the Arrow engine are those that Spark reads."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from acidsql.session import Session, connect
from acidsql.statements.row_changes import RowChanges
from tests.answers import fails
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def both(session: Session, first: int, last: int | None = None) -> RowChanges:
    """The changes, which are the same on both ways."""
    steering = session._engines.steering
    assert steering.may_use_arrow
    by_arrow = session.row_changes("t", first, last)
    steering.may_use_arrow = False
    by_spark = session.row_changes("t", first, last)
    steering.may_use_arrow = True
    assert by_arrow == by_spark
    return by_arrow


@pytest.mark.ci
def test_values_of_all_types_in_partitions_and_buckets(session: Session) -> None:
    session.execute(
        "CREATE TABLE t (id int, c char(5), d decimal(30, 4), ts timestamp, day date, b binary, f float, a array<int>,"
        f" s struct<x: int, y: string>) PARTITIONED BY (p char(3)) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}"
    )
    session.execute(
        "INSERT INTO t SELECT 1, 'ab', 1234567890123456789.5, TIMESTAMP '1999-12-31 23:59:59.123456',"
        " DATE '0001-01-01', X'00FF', 0.1, array(1, NULL), named_struct('x', 1, 'y', 'z'), 'x'"
    )
    session.execute("INSERT INTO t SELECT 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'y'")
    session.execute("UPDATE t SET c = 'n'")
    session.execute("DELETE FROM t WHERE p = 'x'")
    session.execute("ALTER TABLE t ADD COLUMNS (later int)")
    found = both(session, 1)
    assert (found.inserted, found.updated, found.deleted) == (2, 2, 1)
    # pyarrow does not write the date of the year 1, so that Spark's tasks have written the UPDATE.
    assert {row.change for row in found.rows} == {"insert", "update_preimage", "update_postimage", "delete"}
    assert [column.name for column in found.columns][-2:] == ["later", "p"]


@pytest.mark.nightly
def test_what_compactions_streams_and_aborted_writes_leave(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    with session.stream("t", id="s", batch_size=5) as stream:
        for number in (1, 2, 3):
            stream.write([(number, "s")])
            stream.commit()
    session.execute("DELETE FROM t WHERE id = 2")
    session.execute("START TRANSACTION")
    session.execute("UPDATE t SET v = 'never' WHERE id = 1")
    session.execute("ROLLBACK")
    session.execute("UPDATE t SET v = 'x' WHERE id = 1")
    assert (both(session, 1).inserted, both(session, 1).updated) == (3, 1)
    session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    merged = both(session, 2)
    assert (merged.updated, merged.deleted, merged.inserted) == (0, 2, 3)


def test_small_changes_start_no_spark(tmp_path: Path) -> None:
    with connect(tmp_path / "warehouse") as session:
        session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
        session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        session.execute("UPDATE t SET v = 'x' WHERE id = 1")
        session.execute("DELETE FROM t WHERE id = 2")
        found = session.row_changes("t", 2)
        assert [(row.change, row.version, row.old, row.new) for row in found.rows] == [
            ("update", 2, (1, "a"), (1, "x")),
            ("delete", 3, (2, "b"), None),
        ]
        assert session.row_changes("t", 1, 1).inserted == 2
        fails("INVALID_PARAMETER", lambda: session.row_changes("t", 4))
        assert not session._engine.is_running


@pytest.mark.nightly
@pytest.mark.parametrize("seed", every(9, range(5)))
def test_random_ranges(session: Session, seed: int) -> None:
    chance = random.Random(seed)
    partitioned = "PARTITIONED BY (p int)" if seed % 2 else ""
    session.execute(f"CREATE TABLE t (id int, v int) {partitioned} {ACID}")
    for version in range(1, 16):
        ids = ", ".join(str(chance.randint(0, 12)) for _ in range(4))
        match chance.randint(0, 4):
            case 0 | 1:
                tail = f", {chance.randint(0, 2)}" if partitioned else ""
                rows = ", ".join(f"({chance.randint(0, 12)}, {version}{tail})" for _ in range(5))
                session.execute(f"INSERT INTO t VALUES {rows}")
            case 2 | 3:
                change = "p = 2 - p" if partitioned and chance.random() < 0.3 else f"v = {version}"
                session.execute(f"UPDATE t SET {change} WHERE id IN ({ids})")
            case 4:
                session.execute(f"DELETE FROM t WHERE id IN ({ids})")
        if version == 8 and not partitioned:
            session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    for _ in range(4):
        first = chance.randint(1, 15)
        both(session, first, chance.randint(first, 15))
