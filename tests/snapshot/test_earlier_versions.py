"""`version=` of `session.table` and `session.read_arrow`: the rows that the writes up to a write ID made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from acidsql.acid.data_files import File
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange
from acidsql.planner.as_of import AsOf
from acidsql.session import Session
from acidsql.snapshot.earlier_versions import History, write_ids_at
from acidsql.snapshot.partition_history import check_no_drops
from acidsql.snapshot.version import Version
from acidsql.storage.file_systems import Listing
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


# -- a version that leaves out write IDs below its own


TABLE = Table("default", "t", (Column("id", "int"),), "/t", properties={"transactional": "true"})
ONLY_INSERTS = replace(TABLE, properties={**TABLE.properties, "transactional_properties": "insert_only"})
SEEN_TXNS = ValidTxnList(TxnId(99))


def write_ids(*ids: int) -> frozenset[WriteId]:
    return frozenset(map(WriteId, ids))


def test_a_version_shows_no_write_that_committed_later_than_its_moment() -> None:
    now = ValidWriteIdList("default.t", WriteId(9), write_ids(4, 8), write_ids(2))
    at = write_ids_at(Version(WriteId(6), write_ids(2, 3)), now)
    assert (at.high_watermark, at.open, at.aborted) == (6, write_ids(3, 4), write_ids(2))


@pytest.mark.parametrize(
    ("version", "table", "directory", "is_gone"),
    [
        (Version(WriteId(5)), TABLE, "base_0000005_v0000009", False),
        (Version(WriteId(5)), TABLE, "base_0000006_v0000009", True),
        (Version(WriteId(5)), TABLE, "base_0000006_v0000100", False),  # by a transaction that the reader does not see
        (Version(WriteId(5)), TABLE, "base_0000007", True),  # INSERT OVERWRITE
        (Version(WriteId(5)), TABLE, "base_0000008", False),  # it is open
        (Version(WriteId(5), write_ids(3)), TABLE, "base_0000005_v0000009", True),
        (Version(WriteId(5), write_ids(3)), TABLE, "base_0000002_v0000009", False),
        (Version(WriteId(5)), TABLE, "delta_0000001_0000007_v0000009", False),
        (Version(WriteId(5), write_ids(3)), TABLE, "delta_0000001_0000004_v0000009", False),
        (Version(WriteId(5)), ONLY_INSERTS, "delta_0000001_0000007_v0000009", True),
        (Version(WriteId(5)), ONLY_INSERTS, "delta_0000001_0000005_v0000009", False),
        (Version(WriteId(5), write_ids(3)), ONLY_INSERTS, "delta_0000001_0000004_v0000009", True),
        (Version(WriteId(5), write_ids(3)), ONLY_INSERTS, "delta_0000003_0000003_0000", False),
    ],
)
def test_a_version_is_gone_where_its_files_may_be_or_tell_it_from_no_other(
    version: Version, table: Table, directory: str, is_gone: bool
) -> None:
    now = ValidWriteIdList("default.t", WriteId(9), write_ids(8))
    listing = Listing((File(f"{directory}/bucket_00000", 1),), (directory,))
    history = History(version, table, now, SEEN_TXNS, None)
    if is_gone:
        fails("NOT_ENOUGH_HISTORY", lambda: history.passed_over(listing, ()))
    else:
        history.passed_over(listing, ())


def test_a_base_of_an_old_compactor_and_files_without_write_ids_hide_versions_too() -> None:
    aborted = ValidWriteIdList("default.t", WriteId(9), aborted=write_ids(7))
    history = History(Version(WriteId(5)), TABLE, aborted, SEEN_TXNS, None)
    base = Listing((File("base_0000007/bucket_00000", 1),), ())
    history.passed_over(base, ())
    fails("NOT_ENOUGH_HISTORY", lambda: history.passed_over(base, ("base_0000007",)))
    of_inserts = Listing((File("delta_0000001_0000007_v0000009/000000_0", 1),), ())
    fails("NOT_ENOUGH_HISTORY", lambda: history.passed_over(of_inserts, ()))


def test_the_hint_tells_how_files_are_kept() -> None:
    now = ValidWriteIdList("default.t", WriteId(9))
    history = History(Version(WriteId(5)), TABLE, now, SEEN_TXNS, None)
    base = Listing((File("base_0000007/bucket_00000", 1),), ())
    own = fails("NOT_ENOUGH_HISTORY", lambda: history.passed_over(base, ()))
    assert own.hint is not None
    assert own.hint.endswith("The table property acidsql.history.retention keeps them longer.")
    of_hive = replace(history, is_cleaned_by_hive=True)
    hint = fails("NOT_ENOUGH_HISTORY", lambda: of_hive.passed_over(base, ())).hint
    assert hint is not None
    assert "hive.compactor.delayed.cleanup.enabled=true" in hint
    assert "hive.compactor.cleaner.retention.time.seconds" in hint
    assert "'NO_CLEANUP'='true'" in hint


def test_only_the_user_can_say_that_nothing_was_dropped_where_no_metastore_tells() -> None:
    parted = replace(TABLE, partition_columns=(Column("p", "int"),))
    version = Version(WriteId(5))

    def check(changes: Sequence[PartitionChange] | None, table: Table = parted, *, assumes: bool = False) -> None:
        check_no_drops(AsOf(5, assumes), version, table, changes, lambda values: values == ("1",))

    error = fails("NOT_ENOUGH_HISTORY", lambda: check(None))
    assert "acidsql.history.assume.no.dropped.partitions" in str(error)
    check(None, TABLE)
    check(None, assumes=True)
    until_now = PartitionChange(None, ChangeKind.DROPPED, WriteId(5))
    fails("NOT_ENOUGH_HISTORY", lambda: check([until_now]))
    check([until_now], TABLE)
    check([until_now], assumes=True)
    dropped = PartitionChange(("1",), ChangeKind.DROPPED, WriteId(5))
    fails("NOT_ENOUGH_HISTORY", lambda: check([dropped], assumes=True))
    check([replace(dropped, write_id=WriteId(4)), replace(dropped, values=("2",))])
