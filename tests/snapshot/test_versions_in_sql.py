"""VERSION AS OF behind the tables of statements, by Spark and without it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import WriteId
from acidsql.connection import connect
from acidsql.errors import AcidSqlError
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange
from acidsql.planner.as_of import AsOf
from acidsql.session import Session
from acidsql.snapshot.partition_history import check_no_drops
from acidsql.snapshot.version import Version
from acidsql.statements.results import ScanResult
from tests.answers import fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
WRITES = (
    "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "UPDATE t SET v = 'B' WHERE id = 2",
    "DELETE FROM t WHERE id = 3",
    "INSERT INTO t VALUES (4, 'd')",
)
VERSIONS: tuple[list[tuple[object, ...]], ...] = (
    [],
    [(1, "a"), (2, "b"), (3, "c")],
    [(1, "a"), (2, "B"), (3, "c")],
    [(1, "a"), (2, "B")],
    [(1, "a"), (2, "B"), (4, "d")],
)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Session]:
    """A session that has not started Spark."""
    with connect(tmp_path / "alone", metastore=f"sqlite:///{tmp_path}/alone.db") as opened:
        yield opened
        assert not opened._engine.is_running


def without_spark(
    session: Session, query: str, args: Mapping[str, object] | Sequence[object] | None = None
) -> list[tuple[object, ...]]:
    """The rows of a query that the Arrow engine answers, in order."""
    found = session.execute(query, args, rows_only=True)
    assert isinstance(found, ScanResult)
    return sorted(tuple(row.values()) for batch in found.batches for row in batch.to_pylist())


def place(error: AcidSqlError) -> str | None:
    """The part of the statement that an error points to."""
    return None if error.span is None else error.span.text


def filled(session: Session, kind: str = ACID) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) {kind}")
    for statement in WRITES if kind == ACID else WRITES[::3]:
        session.execute(statement)


def partitioned(session: Session, properties: str = ACID) -> None:
    """Versions 1 to 3: rows come into p=1 and p=2, then into p=1 and p=3, then p=1 is changed."""
    session.execute(f"CREATE TABLE parted (id int) PARTITIONED BY (p int) {properties}")
    session.execute("INSERT INTO parted VALUES (1, 1), (2, 2)")
    session.execute("INSERT INTO parted VALUES (3, 3), (4, 1)")


# -- what is read


def test_each_version_is_read_without_spark(alone: Session) -> None:
    filled(alone)
    for number, then in enumerate(VERSIONS):
        assert without_spark(alone, f"SELECT * FROM t VERSION AS OF {number}") == then
        assert without_spark(alone, "SELECT v FROM t FOR SYSTEM_VERSION AS OF :v x WHERE x.id = 2", {"v": number}) == [
            (v,) for i, v in then if i == 2
        ]
    assert without_spark(alone, "SELECT * FROM t FOR VERSION AS OF ? AS x LIMIT 9", [2]) == VERSIONS[2]
    assert without_spark(alone, "SELECT * FROM t") == VERSIONS[4]


def test_versions_stand_beside_each_other_and_beside_the_latest_rows(session: Session) -> None:
    filled(session)
    assert rows(
        session,
        "SELECT a.id, a.v, b.v, t.v FROM t VERSION AS OF 1 a LEFT JOIN t VERSION AS OF 2 b ON a.id = b.id"
        " LEFT JOIN t ON t.id = a.id ORDER BY a.id",
    ) == [(1, "a", "a", "a"), (2, "b", "B", "B"), (3, "c", "c", None)]
    assert rows(
        session,
        "WITH old AS (SELECT * FROM t VERSION AS OF 1) SELECT id, v, (SELECT count(*) FROM t FOR VERSION AS OF ?) n"
        " FROM old WHERE id NOT IN (SELECT id FROM t) OR EXISTS"
        " (SELECT 1 FROM t VERSION AS OF 2 x WHERE x.id = old.id AND x.v <> old.v)"
        " UNION ALL SELECT id, v, 0 FROM t VERSION AS OF :p2 WHERE id = 1 ORDER BY id".replace(":p2", "3"),
        [2],
    ) == [(1, "a", 0), (2, "b", 3), (3, "c", 3)]


@pytest.mark.ci
def test_versions_are_sources_of_writes(session: Session) -> None:
    filled(session)
    session.sql("INSERT INTO t SELECT * FROM t VERSION AS OF 1 WHERE id = 3")
    assert rows(session) == [(1, "a"), (2, "B"), (3, "c"), (4, "d")]
    session.sql("MERGE INTO t USING t VERSION AS OF 1 s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    assert rows(session) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    session.sql(
        "MERGE INTO t USING (SELECT id, v FROM t VERSION AS OF 2 WHERE id = 2) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE"
    )
    assert rows(session) == [(1, "a"), (2, "B"), (3, "c")]
    session.sql("UPDATE t SET v = 'u' WHERE id IN (SELECT id FROM t VERSION AS OF 2 WHERE v = 'B')")
    session.sql("DELETE FROM t WHERE EXISTS (SELECT 1 FROM t VERSION AS OF 1 o WHERE o.id = t.id AND o.v = t.v)")
    assert rows(session) == [(2, "u")]
    session.sql("CREATE TABLE c STORED AS ORC AS SELECT * FROM t VERSION AS OF 1")
    assert rows(session, "SELECT * FROM c ORDER BY id") == VERSIONS[1]
    session.sql("FROM t VERSION AS OF 2 x INSERT INTO c SELECT id + 10, v INSERT INTO c SELECT id + 20, v")
    assert rows(session, "SELECT count(*), max(id) FROM c") == [(9, 23)]
    assert rows(session, "SELECT * FROM t VERSION AS OF 4 ORDER BY id") == VERSIONS[4]
    session.sql("INSERT OVERWRITE TABLE t SELECT * FROM t VERSION AS OF 1")
    assert rows(session) == VERSIONS[1]


def test_explain_names_the_version_and_opens_no_transaction(alone: Session) -> None:
    filled(alone)
    text = alone.explain("SELECT * FROM t FOR SYSTEM_VERSION AS OF 2 WHERE id = 1")
    assert "default.t VERSION AS OF 2" in text
    assert "Arrow: the query is the scan of one table" in text


def test_insert_only_tables_have_versions(session: Session, alone: Session) -> None:
    for one in (session, alone):
        filled(one, INSERT_ONLY)
        assert without_spark(one, "SELECT * FROM t VERSION AS OF 1") == VERSIONS[1]
        assert without_spark(one, "SELECT * FROM t VERSION AS OF 2") == [*VERSIONS[1], (4, "d")]
    assert rows(session, "SELECT a.id FROM t VERSION AS OF 2 a LEFT ANTI JOIN t VERSION AS OF 1 b ON a.id = b.id") == [
        (4,)
    ]


def test_a_column_that_came_later_is_null_and_a_widened_one_has_its_new_type(session: Session) -> None:
    filled(session)
    session.sql("ALTER TABLE t ADD COLUMNS (w double)")
    session.sql("ALTER TABLE t CHANGE COLUMN id id bigint")
    session.sql("INSERT INTO t VALUES (5000000000, 'e', 1.5)")
    assert without_spark(session, "SELECT * FROM t VERSION AS OF 2") == [(i, v, None) for i, v in VERSIONS[2]]
    frame = session.sql("SELECT * FROM t VERSION AS OF 2 UNION ALL SELECT * FROM t VERSION AS OF 7")
    assert dict(frame.dtypes) == {"id": "bigint", "v": "string", "w": "double"}
    assert frame.count() == 7
    assert session.table("t", version=1).filter("w IS NULL").count() == 3


def test_counts_are_those_of_the_version(session: Session) -> None:
    filled(session)
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    counts = " UNION ALL ".join(f"SELECT {n} v, count(*) FROM t VERSION AS OF {n}" for n in range(5))
    assert rows(session, f"{counts} ORDER BY v") == [(n, len(then)) for n, then in enumerate(VERSIONS)]


def test_a_transaction_reads_versions_beside_its_own_rows(session: Session) -> None:
    filled(session)
    with session.transaction():
        session.sql("DELETE FROM t WHERE id = 1")
        session.sql("INSERT INTO t SELECT * FROM t VERSION AS OF 1 WHERE id = 1")
        assert without_spark(session, "SELECT * FROM t VERSION AS OF 4") == VERSIONS[4]
        assert rows(session, "SELECT * FROM t VERSION AS OF 1 ORDER BY id") == VERSIONS[1]
    assert rows(session) == VERSIONS[4]


def test_aborted_and_open_writes_are_no_part_of_a_version(session: Session, alone: Session) -> None:
    filled(session)
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (9, 'never')")
    session.execute("ROLLBACK")
    session.execute("INSERT INTO t VALUES (6, 'f')")
    assert without_spark(session, "SELECT * FROM t VERSION AS OF 5") == VERSIONS[4]
    assert rows(session, "SELECT * FROM t VERSION AS OF 6 ORDER BY id") == [*VERSIONS[4], (6, "f")]


# -- partitions


@pytest.mark.parametrize("properties", [ACID, INSERT_ONLY, f"CLUSTERED BY (id) INTO 2 BUCKETS {ACID}"])
def test_partitioned_and_bucketed_tables_have_versions(session: Session, properties: str) -> None:
    partitioned(session, properties)
    session.sql("ALTER TABLE parted ADD PARTITION (p=8)")
    assert without_spark(session, "SELECT * FROM parted VERSION AS OF 0") == []
    assert without_spark(session, "SELECT * FROM parted VERSION AS OF 1") == [(1, 1), (2, 2)]
    assert without_spark(session, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 1") == [(1,), (4,)]
    assert rows(session, "SELECT id FROM parted VERSION AS OF 2 ORDER BY id") == [(1,), (2,), (3,), (4,)]
    assert session.read_arrow("parted", ["id"], "p > 1", version=1).read_all().to_pylist() == [{"id": 2}]
    assert session.table("parted", version=1).count() == 2


def test_a_partition_that_an_overwrite_has_made_ends_no_version(alone: Session) -> None:
    partitioned(alone)
    alone.execute("ALTER TABLE parted ADD PARTITION (p=6)")
    alone.execute("INSERT OVERWRITE TABLE parted PARTITION (p=6) VALUES (6)")
    alone.execute("INSERT OVERWRITE TABLE parted PARTITION (p=8) VALUES (8)")
    assert without_spark(alone, "SELECT * FROM parted VERSION AS OF 1") == [(1, 1), (2, 2)]
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 3 WHERE p > 5") == [(6,)]
    alone.execute("INSERT OVERWRITE TABLE parted PARTITION (p=6) VALUES (7)")
    assert without_spark(alone, "SELECT * FROM parted VERSION AS OF 2 WHERE p > 1") == [(2, 2), (3, 3)]
    fails("NOT_ENOUGH_HISTORY", lambda: alone.read_arrow("parted", version=3))


def test_a_partition_has_the_rows_of_a_write_that_began_before_the_one_that_made_it(
    session: Session, open_session: Callable[[], Session]
) -> None:
    partitioned(session)
    first, second = open_session(), open_session()
    first.execute("START TRANSACTION")
    first.execute("INSERT INTO parted VALUES (8, 1)")  # takes write ID 3
    second.execute("INSERT INTO parted VALUES (9, 9)")
    first.execute("INSERT INTO parted VALUES (10, 9)")
    assert without_spark(session, "SELECT id FROM parted VERSION AS OF 4 WHERE p = 9") == [(9,)]
    first.execute("COMMIT")
    assert without_spark(session, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 9") == []
    assert without_spark(session, "SELECT id FROM parted VERSION AS OF 3 WHERE p = 9") == [(10,)]
    assert without_spark(session, "SELECT id FROM parted VERSION AS OF 4 WHERE p = 9") == [(9,), (10,)]


def test_a_converted_table_has_its_first_rows_in_all_versions(session: Session) -> None:
    session.sql("CREATE TABLE parted (id int) PARTITIONED BY (p int) STORED AS ORC")
    session.sql("INSERT INTO parted PARTITION (p) VALUES (1, 1), (2, 2)")
    session.sql("ALTER TABLE parted CONVERT TO ACID")
    session.sql("DELETE FROM parted WHERE id = 1")
    assert without_spark(session, "SELECT * FROM parted VERSION AS OF 0") == [(1, 1), (2, 2)]
    assert without_spark(session, "SELECT * FROM parted VERSION AS OF 10000000") == [(1, 1), (2, 2)]
    assert without_spark(session, "SELECT * FROM parted VERSION AS OF 10000001") == [(2, 2)]


@pytest.mark.ci
def test_a_version_is_read_to_its_end_while_compactions_replace_its_files(
    session: Session, open_session: Callable[[], Session]
) -> None:
    filled(session)
    frame = session.sql("SELECT * FROM t VERSION AS OF 2 ORDER BY id")
    reader = session.read_arrow("t", version=1)
    other = open_session()
    other.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    other.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert [tuple(row) for row in frame.collect()] == VERSIONS[2]
    assert reader.read_all().num_rows == 3
    fails("NOT_ENOUGH_HISTORY", lambda: other.sql("SELECT * FROM t VERSION AS OF 2"))


def test_a_dropped_partition_is_missed_where_it_could_be_read(alone: Session) -> None:
    partitioned(alone)
    alone.execute("ALTER TABLE parted DROP PARTITION (p=2)")
    error = fails("NOT_ENOUGH_HISTORY", lambda: alone.execute("SELECT * FROM parted VERSION AS OF 2", rows_only=True))
    assert "partition p=2 was dropped" in str(error)
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 1") == [(1,), (4,)]
    assert without_spark(alone, "SELECT * FROM parted VERSION AS OF 3") == [(1, 1), (3, 3), (4, 1)]
    alone.execute("INSERT INTO parted VALUES (5, 2)")
    fails("NOT_ENOUGH_HISTORY", lambda: alone.read_arrow("parted", where="p < 3", version=2))
    assert without_spark(alone, "SELECT * FROM parted VERSION AS OF 3") == [(1, 1), (3, 3), (4, 1)]
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 4 WHERE p = 2") == [(5,)]


def test_renamed_partitions_have_no_earlier_versions(alone: Session) -> None:
    partitioned(alone)
    alone.execute("ALTER TABLE parted PARTITION (p=2) RENAME TO PARTITION (p=7)")
    for gone in (2, 7):
        query = f"SELECT * FROM parted VERSION AS OF 2 WHERE p = {gone}"
        fails("NOT_ENOUGH_HISTORY", partial(alone.execute, query, rows_only=True))
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 1") == [(1,), (4,)]


def test_msck_drops_and_finds_partitions(alone: Session, tmp_path: Path) -> None:
    partitioned(alone)
    table = tmp_path / "alone" / "parted"
    (table / "p=2").rename(tmp_path / "away")
    alone.execute("MSCK REPAIR TABLE parted SYNC PARTITIONS")
    fails("NOT_ENOUGH_HISTORY", lambda: alone.read_arrow("parted", version=1))
    (tmp_path / "away").rename(table / "p=2")
    alone.execute("MSCK REPAIR TABLE parted")
    assert without_spark(alone, "SELECT id FROM parted WHERE p = 2") == [(2,)]
    fails("NOT_ENOUGH_HISTORY", lambda: alone.read_arrow("parted", version=1))
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 3") == [(3,)]


def test_a_partition_that_came_with_its_files_is_no_part_of_earlier_versions(session: Session, tmp_path: Path) -> None:
    session.sql(f"CREATE EXTERNAL TABLE plain (id int) STORED AS ORC LOCATION 'file:{tmp_path}/plain'")
    session.sql("INSERT INTO plain VALUES (7)")
    session.sql("DROP TABLE plain")
    for number, file in enumerate(sorted((tmp_path / "plain").glob("*.orc"))):
        file.rename(tmp_path / "plain" / f"{number:06d}_0")
    partitioned(session)
    session.sql(f"ALTER TABLE parted ADD PARTITION (p=5) LOCATION 'file:{tmp_path}/plain'")
    session.sql("INSERT INTO parted VALUES (8, 5)")
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT * FROM parted VERSION AS OF 2"))
    assert "partition p=5 came to the table with its files later" in str(error)
    assert rows(session, "SELECT id FROM parted VERSION AS OF 2 WHERE p = 3") == [(3,)]
    assert rows(session, "SELECT id FROM parted VERSION AS OF 3 WHERE p = 5 ORDER BY id") == [(7,), (8,)]


def test_tables_that_nobody_watched_need_the_setting(session: Session, tmp_path: Path) -> None:
    partitioned(session)
    location = tmp_path / "warehouse" / "parted"
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in location.iterdir():
        path.rename(copy / path.name)
    session.sql(
        f"CREATE TABLE adopted (id int) PARTITIONED BY (p int) STORED AS ORC LOCATION 'file:{copy}'"
        " TBLPROPERTIES ('transactional'='true')"
    )
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT * FROM adopted VERSION AS OF 1"))
    assert "acidsql.history.assume.no.dropped.partitions" in str(error)
    session.sql("SET acidsql.history.assume.no.dropped.partitions=true")
    assert rows(session, "SELECT * FROM adopted VERSION AS OF 1 ORDER BY id") == [(1, 1), (2, 2)]
    session.sql("ALTER TABLE adopted DROP PARTITION (p=2)")
    fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT * FROM adopted VERSION AS OF 1"))


def test_temporary_tables_have_versions_too(alone: Session) -> None:
    alone.execute(f"CREATE TEMPORARY TABLE parted (id int) PARTITIONED BY (p int) {ACID}")
    alone.execute("INSERT INTO parted VALUES (1, 1), (2, 2)")
    alone.execute("INSERT INTO parted VALUES (3, 1)")
    assert without_spark(alone, "SELECT * FROM parted VERSION AS OF 1") == [(1, 1), (2, 2)]
    alone.execute("ALTER TABLE parted DROP PARTITION (p=2)")
    fails("NOT_ENOUGH_HISTORY", lambda: alone.read_arrow("parted", version=1))
    assert without_spark(alone, "SELECT id FROM parted VERSION AS OF 1 WHERE p = 1") == [(1,)]


# -- what is refused


def test_a_version_that_a_table_does_not_have_is_an_error_with_its_place(alone: Session) -> None:
    filled(alone)
    error = fails("INVALID_PARAMETER", lambda: alone.execute("SELECT * FROM t VERSION AS OF 5", rows_only=True))
    assert "5 is not one of the versions 0 to 4 of default.t" in str(error)
    assert place(error) == "VERSION AS OF 5"
    fails("INVALID_PARAMETER", lambda: alone.execute("SELECT * FROM t VERSION AS OF ?", ["2"]))
    fails("INVALID_PARAMETER", lambda: alone.execute("SELECT * FROM t VERSION AS OF ?", [None]))
    assert alone._metastore.locks() == []


def times(session: Session) -> list[datetime.datetime]:
    """The times of the commits of `t`, the first one first."""
    table = session._metastore.table("default", "t")
    found = sorted(commit.committed for commit in session._metastore.commits(table))
    return [datetime.datetime.fromtimestamp(millis / 1000, datetime.UTC) for millis in found]


def test_a_time_reads_what_was_committed_then(session: Session) -> None:
    filled(session)
    before = datetime.date(2024, 1, 1)
    for number, at in enumerate(times(session), 1):
        query = "SELECT id, v FROM t FOR SYSTEM_TIME AS OF ?"
        assert without_spark(session, query, [at]) == VERSIONS[number]
        assert without_spark(session, query, [at - datetime.timedelta(milliseconds=1)]) == VERSIONS[number - 1]
        text = at.isoformat(" ", "milliseconds")
        assert rows(session, f"SELECT id, v FROM t TIMESTAMP AS OF '{text}' ORDER BY id") == VERSIONS[number]
        assert sorted(map(tuple, session.table("t", timestamp=text).collect())) == VERSIONS[number]
        assert without_spark(session, query, [before]) == VERSIONS[0]
    error = fails(
        "INVALID_PARAMETER",
        partial(session.execute, "SELECT * FROM t TIMESTAMP AS OF '2999-01-01'", rows_only=True),
    )
    assert place(error) == "TIMESTAMP AS OF '2999-01-01'"
    fails("INVALID_PARAMETER", lambda: session.execute("SELECT * FROM t TIMESTAMP AS OF ?", [3], rows_only=True))


def test_a_time_without_an_offset_is_one_in_the_zone_of_the_session(alone: Session) -> None:
    filled(alone)
    at = times(alone)[1]
    for zone, offset in (("Asia/Tokyo", 9.0), ("+05:30", 5.5), ("UTC", 0.0), ("GMT-2", -2.0)):
        alone.execute(f"SET spark.sql.session.timeZone={zone}")
        local = at.astimezone(datetime.timezone(datetime.timedelta(hours=offset))).replace(tzinfo=None)
        text = local.isoformat(" ", "milliseconds")
        assert without_spark(alone, f"SELECT id, v FROM t TIMESTAMP AS OF '{text}'") == VERSIONS[2], zone
        assert without_spark(alone, f"SELECT id, v FROM t TIMESTAMP AS OF TIMESTAMP '{text}'") == VERSIONS[2], zone


def test_a_drop_that_commits_later_than_later_writes_ends_the_times_before_it(session: Session) -> None:
    """The drop has a lower write ID than a write that was committed at the moment that is read."""
    changes = (PartitionChange(("1",), ChangeKind.DROPPED, WriteId(4)),)
    table = Table("default", "t", (Column("id", "int"),), "/t", (Column("p", "int"),))
    at = AsOf(datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC))
    check_no_drops(at, Version(WriteId(6)), table, changes, lambda values: True)
    later = Version(WriteId(6), frozenset({WriteId(5)}))
    error = fails("NOT_ENOUGH_HISTORY", lambda: check_no_drops(at, later, table, changes, lambda values: True))
    assert "p=1" in str(error)


def test_views_keep_no_version(session: Session) -> None:
    filled(session)
    fails("INVALID_VIEW", lambda: session.sql("CREATE VIEW w AS SELECT * FROM t VERSION AS OF 1"))
    session.sql("CREATE VIEW w AS SELECT * FROM t")
    fails("NOT_YET_SUPPORTED", lambda: session.sql("SELECT * FROM w VERSION AS OF 1"))
    assert rows(session, "SELECT w.id FROM w JOIN t VERSION AS OF 1 o ON o.id = w.id ORDER BY w.id") == [(1,), (2,)]


def test_what_a_compaction_or_an_overwrite_has_replaced_is_refused(session: Session) -> None:
    partitioned(session)
    session.sql("ALTER TABLE parted PARTITION (p=1) COMPACT 'major' AND WAIT")
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT * FROM parted VERSION AS OF 1"))
    assert place(error) == "VERSION AS OF 1"
    assert rows(session, "SELECT id FROM parted VERSION AS OF 1 WHERE p = 2") == [(2,)]
    assert rows(session, "SELECT id FROM parted VERSION AS OF 2 ORDER BY id") == [(1,), (2,), (3,), (4,)]
    session.sql("INSERT OVERWRITE TABLE parted PARTITION (p=2) VALUES (9)")
    fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT id FROM parted VERSION AS OF 2 WHERE p = 2"))
    session.sql("TRUNCATE TABLE parted PARTITION (p=3)")
    fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT id FROM parted VERSION AS OF 2 WHERE p = 3"))
