"""`version=` of `session.table` and `session.read_arrow`: the rows that the writes up to a write ID made."""

from __future__ import annotations

import pytest

from acidsql.session import Session
from tests.answers import fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
WRITES = (
    "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "UPDATE t SET v = 'B' WHERE id = 2",
    "DELETE FROM t WHERE id = 3",
    "MERGE INTO t USING (VALUES (1, 'x'), (4, 'd')) s(id, v) ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "INSERT INTO t VALUES (5, 'e')",
)


def by_arrow(session: Session, version: int | None) -> list[tuple[object, ...]]:
    read = session.read_arrow("t", ["id", "v"], version=version).read_all().to_pylist()
    return sorted((row["id"], row["v"]) for row in read)


def by_spark(session: Session, version: int | None) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in session.table("t", version=version).collect())


@pytest.mark.ci
def test_each_version_is_what_a_reader_saw_then_also_after_a_minor_compaction(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    seen: list[list[tuple[object, ...]]] = [[]]
    for statement in WRITES:
        session.sql(statement)
        seen.append(by_arrow(session, None))
    for version, then in enumerate(seen):
        assert by_arrow(session, version) == then, version
    assert by_spark(session, 1) == seen[1]
    assert by_spark(session, 4) == seen[4]
    assert session.read_arrow("t", ["v"], "id = 2", version=1).read_all().to_pylist() == [{"v": "b"}]
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    assert any("_v" in directory for directory in _directories(session))
    for version, then in enumerate(seen):
        assert by_arrow(session, version) == then, version
    assert by_spark(session, 2) == seen[2]
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert by_arrow(session, 5) == by_spark(session, 5) == seen[5]
    fails("NOT_ENOUGH_HISTORY", lambda: session.read_arrow("t", version=4))
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.table("t", version=4))
    assert "replaced the files of earlier versions" in str(error)


def _directories(session: Session) -> set[str]:
    content = session.inspect("t")
    return {directory.name for part in content.parts for directory in part.directories}


def test_an_overwrite_ends_the_history(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {INSERT_ONLY}")
    for row in ("1, 'a'", "2, 'b'"):
        session.sql(f"INSERT INTO t VALUES ({row})")
    assert by_arrow(session, 1) == by_spark(session, 1) == [(1, "a")]
    session.sql("INSERT OVERWRITE TABLE t VALUES (3, 'c')")
    fails("NOT_ENOUGH_HISTORY", lambda: session.read_arrow("t", version=2))
    assert by_arrow(session, 3) == [(3, "c")]


def test_rows_of_insert_only_tables_have_no_version_behind_a_compaction(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {INSERT_ONLY}")
    for row in ("1, 'a'", "2, 'b'"):
        session.sql(f"INSERT INTO t VALUES ({row})")
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    fails("NOT_ENOUGH_HISTORY", lambda: session.read_arrow("t", version=1))
    assert by_arrow(session, 2) == [(1, "a"), (2, "b")]


def test_a_transaction_reads_a_version_without_its_own_rows(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    session.sql(WRITES[0])
    with session.transaction():
        session.sql("DELETE FROM t")
        assert by_spark(session, 1) == by_arrow(session, 1) == [(1, "a"), (2, "b"), (3, "c")]
        assert by_arrow(session, None) == []


@pytest.mark.parametrize(
    ("version", "reason"), [(-1, "-1 is negative"), (2, "2 is not one of the versions 0 to 1 of default.t")]
)
def test_a_version_that_the_table_does_not_have_is_an_error(session: Session, version: int, reason: str) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    session.sql(WRITES[0])
    error = fails("INVALID_PARAMETER", lambda: session.read_arrow("t", version=version))
    assert reason in str(error)
    fails("INVALID_PARAMETER", lambda: session.table("t", version=version))
    assert rows(session, "SHOW LOCKS") == []


def test_what_has_no_versions_is_refused(session: Session) -> None:
    session.sql("CREATE TABLE plain (id int) STORED AS ORC")
    session.sql(f"CREATE TABLE t (id int) {ACID}")
    session.sql("CREATE VIEW w AS SELECT id FROM t")
    fails("INVALID_PARAMETER", lambda: session.read_arrow("plain", version=1))
    fails("NOT_YET_SUPPORTED", lambda: session.table("w", version=1))
    fails("TABLE_NOT_FOUND", lambda: session.table("missing", version=1))
    fails("NOT_YET_SUPPORTED", lambda: session.table("t", timestamp="2026-11-01 00:00:00"))
    fails("NOT_YET_SUPPORTED", lambda: session.changes("t", 1, 2))
