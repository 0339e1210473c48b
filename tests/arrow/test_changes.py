"""UPDATE and DELETE without Spark leave the same files, row IDs, counts and errors as Spark's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acidsql.arrow import executor
from acidsql.arrow.scan import parallel_reads
from acidsql.arrow.write import changed_rows
from acidsql.engines import statement_engines
from acidsql.session import Session
from tests.answers import fails, rows
from tests.arrow.two_ways import ACID, both, check_same_files, drop_on_both
from tests.selection import core, every

COLUMNS = "(id int, v string, d decimal(6,2), c char(4), k date, a double)"
KINDS = {
    "flat": ACID,
    "parted": f"PARTITIONED BY (p string) {ACID}",
    "bucketed": f"CLUSTERED BY (id) INTO 3 BUCKETS {ACID}",
}
SOME_ROWS = """SELECT CAST(id AS INT), CONCAT('v', id), id / 4, CONCAT('c', id),
 DATE_ADD(DATE '2024-01-01', CAST(id AS INT)), id * 1.5{p} FROM range(0, 40, 1, 1)"""
STATEMENTS = (
    "UPDATE t SET v = 'x', d = 1.5, c = 'q', k = NULL WHERE id = 7",
    "UPDATE t SET v = NULL WHERE id IN (1, 2, 3) OR v LIKE 'v3%'",
    "DELETE FROM t WHERE id BETWEEN 10 AND 12 AND v IS NOT NULL",
    "UPDATE t SET a = 0 WHERE c = 'c20'",
    "DELETE FROM t WHERE k > DATE '2024-02-05'",
    "DELETE FROM t WHERE id = 7",
    "UPDATE t SET v = 'none' WHERE id = 1000",
    "DELETE FROM t WHERE d < 0.5",
    "UPDATE t SET v = 'all'",
)


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The number of events of each UPDATE and DELETE that this process looks at from now on; None if it has left the
    statement to Spark after its look."""
    found: list[int | None] = []
    placed_changes = changed_rows.placed_changes

    def noted(*arguments: Any) -> Any:
        events = placed_changes(*arguments)
        found.append(None if events is None else events.events.num_rows)
        return events

    monkeypatch.setattr(changed_rows, "placed_changes", noted)
    return found


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind == "bucketed"))
def test_changes_leave_the_same_files(pair: tuple[Session, Session], changed: list[int | None], kind: str) -> None:
    both(pair, "DROP TABLE IF EXISTS t")
    both(pair, f"CREATE TABLE t {COLUMNS} {KINDS[kind]}")
    p = ", CAST(NULLIF(id % 3, 1) AS STRING)" if kind == "parted" else ""
    both(pair, f"INSERT INTO t {SOME_ROWS.format(p=p)}")
    for statement in STATEMENTS:
        both(pair, statement)
    assert None not in changed
    assert len(changed) == len(STATEMENTS)
    check_same_files(pair, "t")
    if kind == "parted":
        both(pair, "UPDATE t SET v = 'p' WHERE p = '2' AND id > 5")
        both(pair, "DELETE FROM t WHERE p IS NULL")
        assert len(changed) == len(STATEMENTS) + 2
        both(pair, "UPDATE t SET p = 'moved' WHERE id = 5")  # for Spark: rows go to another partition
        assert len(changed) == len(STATEMENTS) + 2
        check_same_files(pair, "t")


@pytest.mark.ci
def test_a_statement_turns_to_spark_in_its_transaction(
    pair: tuple[Session, Session], changed: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(pair, f"CREATE TABLE s (id int NOT NULL, k date, v string) {ACID}")
    both(pair, "INSERT INTO s VALUES (1, DATE '2024-01-01', 'a'), (2, NULL, 'b')")
    both(pair, "INSERT INTO s SELECT 3, DATE '1400-01-01', 'old'")
    both(pair, "START TRANSACTION")
    both(pair, "UPDATE s SET v = 'x'")  # pyarrow would write the old date in another calendar
    both(pair, "UPDATE s SET v = 'y' WHERE id = 2")
    both(pair, "COMMIT")
    assert changed == [None, 2]
    with monkeypatch.context() as patched:
        patched.setattr(statement_engines, "may_read", lambda *_: False)
        both(pair, "DELETE FROM s WHERE v = 'x' AND id < 3")
    assert changed == [None, 2, None]
    check_same_files(pair, "s")
    for session in pair:
        fails("CONSTRAINT_VIOLATED", lambda s=session: s.execute("UPDATE s SET id = NULL"))  # type: ignore[misc]
        session.execute("DELETE FROM s WHERE id = ?", [2])
        session.execute("UPDATE s SET v = :v WHERE id = :id", {"v": "z'", "id": 3})
    check_same_files(pair, "s")
    assert changed[3:] == [None, 1, None]


def test_statements_with_and_without_spark_conflict(
    session: Session, open_session: Callable[[], Session], changed: list[int | None]
) -> None:
    session.execute("SET hive.txn.xlock.write=false")
    session.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    other = open_session()
    other.execute("SET hive.txn.xlock.write=false")
    for first, second in (("v = 5", "v = v + 1"), ("v = v + 1", "v = 5")):
        session.execute("START TRANSACTION")
        session.execute(f"UPDATE t SET {first} WHERE id = 1")
        other.execute(f"UPDATE t SET {second} WHERE id = 1")
        fails("WRITE_CONFLICT", lambda: session.execute("COMMIT"))
    assert changed == [2, 2]
    assert rows(session) == [(1, 5), (2, 2)]


LISTS = {
    "with NULL": f"id IN ({', '.join(map(str, range(10, 1200)))}, NULL)",
    "of remainders": f"id % 1300 IN ({', '.join(map(str, range(10, 1200)))})",
    "of an expression": f"lower(v) IN ({', '.join(repr(f'v{n}') for n in range(10, 1200))})",
    "of another type": f"v IN ({', '.join(map(str, range(1200)))})",
}


@pytest.mark.ci
@pytest.mark.parametrize("kind", every(4, LISTS))
def test_a_long_list_is_no_deep_condition(pair: tuple[Session, Session], kind: str) -> None:
    drop_on_both(pair, "l")
    both(pair, f"CREATE TABLE l (id int, v string) {ACID}")
    both(pair, "INSERT INTO l SELECT CAST(id AS INT), IF(id = 39, '39', CONCAT('v', id)) FROM range(0, 40, 1, 1)")
    counts = both(pair, f"DELETE FROM l WHERE {LISTS[kind]}")
    assert counts is not None
    assert counts.deleted == {"with NULL": 30, "of remainders": 30, "of an expression": 29, "of another type": 1}[kind]
    check_same_files(pair, "l")


@pytest.mark.ci
@pytest.mark.parametrize(
    "condition", every(4, [f"v {text}" for text in ("LIKE 'M_ller'", "NOT LIKE 'M_ller'", "LIKE 'M%l%r'", "LIKE 'M%'")])
)
def test_a_text_that_is_not_utf8_is_read_as_by_spark(
    pair: tuple[Session, Session], changed: list[int | None], condition: str
) -> None:
    """pyarrow's LIKE finds no character in such a byte, Java finds one."""
    drop_on_both(pair, "u")
    both(pair, f"CREATE TABLE u (id int, v string) {ACID}")
    both(pair, "INSERT INTO u SELECT 1, CAST(unhex('4DFC6C6C6572') AS STRING)")  # Latin-1
    both(pair, "INSERT INTO u SELECT 2, 'Meller'")
    both(pair, f"DELETE FROM u WHERE {condition}")
    assert changed == [0 if "NOT" in condition else 2]
    ids = [rows(session, "SELECT id FROM u") for session in pair]
    assert ids[0] == ids[1] == ([(1,), (2,)] if "NOT" in condition else [])


def test_texts_that_are_not_utf8_are_shown(session: Session) -> None:
    session.execute(f"CREATE TABLE u (id int, v string) {ACID}")
    session.execute("INSERT INTO u SELECT 1, CAST(unhex('4DFC6C6C6572') AS STRING)")
    assert list(session.execute("SELECT v FROM u", rows_only=True).rows()) == [("M\ufffdller",)]


def test_a_file_is_not_read_beyond_the_limit_of_memory(
    pair: tuple[Session, Session], changed: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(pair, f"CREATE TABLE b (id int, v string) {ACID}")
    both(pair, "INSERT INTO b SELECT CAST(id AS INT), repeat('x', 1000) FROM range(0, 2000, 1, 1)")
    taken: list[int] = []
    take = parallel_reads.MemoryLimit.take

    def noted(limit: parallel_reads.MemoryLimit, size: int) -> None:
        taken.append(size)
        take(limit, size)

    monkeypatch.setattr(parallel_reads.MemoryLimit, "take", noted)
    monkeypatch.setattr(executor, "_IN_MEMORY", 1 / 64)  # 1 MiB
    both(pair, "UPDATE b SET id = 0")
    assert changed == [None]
    assert sum(taken) > 1 << 20
    check_same_files(pair, "b")
