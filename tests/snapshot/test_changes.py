"""CHANGES FROM VERSION .. TO VERSION, and `session.changes`: the rows that a range of writes inserted and deleted."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.write_ids import WriteId
from acidsql.session import Session
from acidsql.spark.scan.change_scan import commit_time_sql
from acidsql.statements.results import ScanResult
from tests.answers import fails, rows, spark_alone
from tests.support.golden_cases import golden_tables

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
FIRST_ROWS = "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"
WRITES = (
    FIRST_ROWS,
    "UPDATE t SET v = 'B' WHERE id = 2",
    "DELETE FROM t WHERE id = 3",
    "MERGE INTO t USING (VALUES (1, 'x'), (2, 'gone'), (4, 'd')) s(id, v) ON t.id = s.id"
    " WHEN MATCHED AND s.v = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
)
CHANGES: tuple[list[tuple[object, ...]], ...] = (
    [],
    [(1, "a", "insert", 1), (2, "b", "insert", 1), (3, "c", "insert", 1)],
    [(2, "B", "update_postimage", 2), (2, "b", "update_preimage", 2)],
    [(3, "c", "delete", 3)],
    [
        (1, "a", "update_preimage", 4),
        (1, "x", "update_postimage", 4),
        (2, "B", "delete", 4),
        (4, "d", "insert", 4),
    ],
)


def filled(session: Session, *writes: str, kind: str = ACID) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) {kind}")
    for statement in writes or WRITES:
        session.execute(statement)


def changes(session: Session, item: str, where: str = "true") -> list[tuple[object, ...]]:
    """The changes of a FROM item without their times, in order. Spark's own scan and the Arrow engine agree in them."""
    query = f"SELECT * FROM {item} WHERE {where}"
    with spark_alone(session):
        found = [tuple(row) for row in session.sql(query).collect()]
    without_spark = session.execute(query, rows_only=True)
    assert isinstance(without_spark, ScanResult) or "rowId" in item  # which compares rows
    assert sorted(without_spark.rows()) == sorted(found)
    without_spark.close()
    return sorted((*row[:-1],) for row in found)


def between(session: Session, first: int, last: int, table: str = "t") -> list[tuple[object, ...]]:
    return changes(session, f"{table} CHANGES FROM VERSION {first} TO VERSION {last}")


def untyped(found: list[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """The rows that the changes add and those that they take away, with their numbers."""
    counts: Counter[tuple[object, ...]] = Counter()
    for *row, kind, _ in found:
        counts[tuple(row)] += -1 if kind in ("delete", "update_preimage") else 1
    return counts


def of(*writes: int) -> list[tuple[object, ...]]:
    return sorted(change for write in writes for change in CHANGES[write])


# -- what is read


@pytest.mark.ci
def test_each_write_has_its_changes(session: Session) -> None:
    filled(session)
    for number in (1, 2, 3, 4):
        assert between(session, number, number) == of(number)
    assert between(session, 2, 3) == of(2, 3)
    assert changes(session, "t CHANGES FROM VERSION 1") == of(1, 2, 3, 4)
    frame = session.changes("t", 2, 4)
    assert frame.columns == ["id", "v", "_change_type", "_commit_version", "_commit_timestamp"]
    assert [kind for _, kind in frame.dtypes[2:]] == ["string", "bigint", "timestamp_ntz"]
    assert frame.count() == len(of(2, 3, 4))
    assert session.changes("default.t", 4).filter("_commit_timestamp IS NOT NULL").count() == len(of(4))


def test_a_row_keeps_its_id_in_its_changes(session: Session) -> None:
    filled(session, FIRST_ROWS, "DELETE FROM t WHERE id = 2")
    query = "SELECT id, row__id.rowid, row__is__deleted, _change_type FROM t CHANGES FROM VERSION 1 WHERE id = 2"
    assert sorted(rows(session, query)) == [(2, 1, False, "insert"), (2, 1, True, "delete")]
    (name,) = session.sql("SELECT input__file__name FROM t CHANGES FROM VERSION 2").collect()[0]
    assert "/delta_0000001_0000001_0000/" in name


@pytest.mark.ci
def test_a_transaction_of_several_statements_has_one_version(session: Session) -> None:
    filled(session, FIRST_ROWS)
    with session.transaction():
        session.sql("INSERT INTO t VALUES (4, 'd'), (5, 'e')")
        session.sql("UPDATE t SET v = upper(v) WHERE id IN (1, 4)")
        session.sql("DELETE FROM t WHERE id = 5")
        assert len(between(session, 2, 2)) == 7  # it sees its own changes
    assert between(session, 2, 2) == [
        (1, "A", "update_postimage", 2),
        (1, "a", "update_preimage", 2),
        (4, "D", "update_postimage", 2),
        (4, "d", "insert", 2),
        (4, "d", "update_preimage", 2),
        (5, "e", "delete", 2),
        (5, "e", "insert", 2),
    ]


@pytest.mark.ci
def test_changes_stand_wherever_a_table_is_read(session: Session) -> None:
    filled(session)
    assert rows(
        session,
        "SELECT t.id, c._change_type FROM t JOIN t CHANGES FROM VERSION :a TO VERSION :b c ON c.id = t.id"
        " WHERE c._change_type NOT LIKE 'update%' ORDER BY t.id",
        {"a": 1, "b": 4},
    ) == [(1, "insert"), (4, "insert")]
    assert rows(
        session,
        "WITH c AS (SELECT id, _commit_version w FROM t CHANGES FROM VERSION 2 TO VERSION 3 x(id, v, kind, "
        "_commit_version, at)) SELECT id, max(w), (SELECT count(*) FROM t CHANGES FROM VERSION ?) FROM c"
        " WHERE id IN (SELECT id FROM t CHANGES FROM VERSION 1 WHERE _change_type = 'delete') GROUP BY id ORDER BY id",
        [4],
    ) == [(2, 2, 4), (3, 3, 4)]
    session.sql("CREATE TABLE log STORED AS ORC AS SELECT * FROM t CHANGES FROM VERSION 1 TO VERSION 2")
    session.sql("INSERT INTO log SELECT * FROM t CHANGES FROM VERSION 3 TO VERSION 3")
    session.sql("FROM t CHANGES FROM VERSION 4 c INSERT INTO log SELECT * INSERT INTO log SELECT * WHERE id < 0")
    logged = rows(session, "SELECT id, v, _change_type, _commit_version FROM log")
    assert sorted(logged) == of(1, 2, 3, 4)


@pytest.mark.ci
def test_a_merge_of_the_changes_brings_a_copy_up_to_date(session: Session) -> None:
    filled(session)
    session.sql(f"CREATE TABLE copied (id int, v string) {ACID}")
    session.sql("INSERT INTO copied SELECT * FROM t VERSION AS OF 1")
    session.sql(
        "MERGE INTO copied t USING (SELECT * FROM t CHANGES FROM VERSION 2 WHERE _change_type <> 'update_preimage'"
        " QUALIFY row_number() OVER (PARTITION BY id ORDER BY _commit_version DESC) = 1) s ON t.id = s.id"
        " WHEN MATCHED AND s._change_type = 'delete' THEN DELETE WHEN MATCHED THEN UPDATE SET *"
        " WHEN NOT MATCHED AND s._change_type <> 'delete' THEN INSERT *"
    )
    assert rows(session, "SELECT * FROM copied ORDER BY id") == rows(session) == [(1, "x"), (4, "d")]


@pytest.mark.ci
def test_partitions_and_buckets_have_changes(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.sql("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2), (4, 'd', 3)")
    session.sql("UPDATE t SET v = upper(v) WHERE id IN (1, 3)")
    session.sql("UPDATE t SET p = 2 WHERE id = 2")
    session.sql("DELETE FROM t WHERE id = 4")
    session.sql("ALTER TABLE t ADD PARTITION (p=9)")
    updated = [(i, x, p, k, 2) for i, v, p in ((1, "a", 1), (3, "c", 2)) for x, k in images(v)]
    assert between(session, 2, 2) == sorted(updated)
    # The types are those within a partition: a row that moves is deleted in one and inserted in the other.
    assert between(session, 3, 4) == [(2, "b", 1, "delete", 3), (2, "b", 2, "insert", 3), (4, "d", 3, "delete", 4)]
    first = [(1, "a", 1, "insert", 1), (2, "b", 1, "insert", 1), (2, "b", 1, "delete", 3), *updated[:2]]
    assert changes(session, "t CHANGES FROM VERSION 1", "p = 1") == sorted(first)
    with spark_alone(session):
        files = session.sql("SELECT * FROM t CHANGES FROM VERSION 1 WHERE p = 1").inputFiles()
    assert files
    assert all("/p=1/" in file for file in files)


def images(value: str) -> list[tuple[str, str]]:
    return [(value, "update_preimage"), (value.upper(), "update_postimage")]


def test_insert_only_tables_have_insertions(session: Session) -> None:
    filled(session, FIRST_ROWS, "INSERT INTO t VALUES (4, 'd')", "INSERT INTO t VALUES (5, 'e')", kind=INSERT_ONLY)
    assert between(session, 2, 3) == [(4, "d", "insert", 2), (5, "e", "insert", 3)]
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.changes("t", 1, 3))
    assert "do not tell their write" in str(error)
    fails("NOT_ENOUGH_HISTORY", lambda: session.changes("t", 2))
    session.sql("INSERT INTO t VALUES (6, 'f')")
    assert between(session, 4, 4) == [(6, "f", "insert", 4)]


@pytest.mark.ci
def test_a_minor_compaction_leaves_the_changes_and_takes_the_types_of_updates(session: Session) -> None:
    filled(session)
    session.sql("ALTER TABLE t COMPACT 'minor' AND WAIT")
    for first, last in ((1, 4), (2, 3), (4, 4)):
        found = between(session, first, last)
        assert untyped(found) == untyped(of(*range(first, last + 1)))
        assert {kind for *_, kind, _ in found} <= {"insert", "delete"}
        assert Counter(w for *_, w in found) == Counter(w for *_, w in of(*range(first, last + 1)))
    session.sql("UPDATE t SET v = 'y' WHERE id = 1")
    assert between(session, 5, 5) == [(1, "x", "update_preimage", 5), (1, "y", "update_postimage", 5)]
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    fails("NOT_ENOUGH_HISTORY", lambda: session.changes("t", 5))
    session.sql("DELETE FROM t WHERE id = 1")
    assert between(session, 6, 6) == [(1, "y", "delete", 6)]


@pytest.mark.ci
def test_open_and_aborted_writes_have_no_changes(session: Session, open_session: Callable[[], Session]) -> None:
    filled(session, FIRST_ROWS)
    with session.transaction():
        session.sql("INSERT INTO t VALUES (8, 'never')")
        session.sql("DELETE FROM t WHERE id = 1")
        other = open_session()
        assert between(other, 2, 2) == []
    session.execute("START TRANSACTION")
    session.execute("DELETE FROM t WHERE id = 2")
    session.execute("ROLLBACK")
    session.execute("INSERT INTO t VALUES (4, 'd')")
    assert between(session, 2, 4) == [(1, "a", "delete", 2), (4, "d", "insert", 4), (8, "never", "insert", 2)]
    assert between(session, 3, 3) == []


def test_changes_have_the_columns_of_now(session: Session) -> None:
    filled(session, FIRST_ROWS, "DELETE FROM t WHERE id = 3")
    session.sql("ALTER TABLE t ADD COLUMNS (w double)")
    session.sql("ALTER TABLE t CHANGE COLUMN id id bigint")
    session.sql("INSERT INTO t VALUES (5000000000, 'e', 1.5)")
    frame = session.changes("t", 2)
    assert frame.dtypes[:3] == [("id", "bigint"), ("v", "string"), ("w", "double")]
    found = sorted(tuple(row)[:4] for row in frame.collect())
    assert found == [(3, "c", None, "delete"), (5000000000, "e", 1.5, "insert")]


def test_rows_of_plain_files_are_deleted_by_their_places_in_all_of_them(session: Session) -> None:
    session.sql("CREATE TABLE t (id int, v string) STORED AS ORC")
    for row in ("1, 'a'", "2, 'b'", "3, 'c'"):
        session.sql(f"INSERT INTO t VALUES ({row})")
    session.sql("ALTER TABLE t CONVERT TO ACID")
    session.sql("DELETE FROM t WHERE id = 3")
    write = 10_000_001
    assert changes(session, f"t CHANGES FROM VERSION {write}") == [(3, "c", "delete", write)]


@pytest.mark.parametrize("case", ["update_no_split", "employee_update", "employee_merge"])
def test_updates_of_hive_are_told_where_their_halves_have_one_statement_id(
    session: Session, tmp_path: Path, case: str
) -> None:
    table = next(t for t in golden_tables() if t.case == case)
    name = table.adopt(session, tmp_path)
    found = session.changes(name, 1)
    kinds = Counter(row["_change_type"] for row in found.collect())
    assert (kinds["update_preimage"] > 0) == (case == "update_no_split")
    assert kinds["update_preimage"] == kinds["update_postimage"]
    assert kinds["insert"] + kinds["update_postimage"] - kinds["delete"] - kinds["update_preimage"] == len(
        table.expected()
    )


# -- how much is read


@pytest.mark.ci
def test_only_files_that_can_have_changed_rows_are_read(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    for first in (0, 10000):
        session.sql(f"INSERT INTO t SELECT id, 'x' FROM range({first}, {first + 10000})")
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.sql("INSERT INTO t VALUES (-1, 'a'), (-2, 'b')")
    session.sql("INSERT INTO t VALUES (-3, 'c')")
    session.sql("UPDATE t SET v = 'd' WHERE id = -3")
    assert directories(session, 3, 4) == {"delta_0000003_0000003_0000", "delta_0000004_0000004_0000"}
    updated = {"delta_0000004_0000004_0000", "delta_0000005_0000005_0000", "delete_delta_0000005_0000005_0000"}
    assert directories(session, 5, 5) == updated
    assert len(between(session, 5, 5)) == 2
    session.sql("DELETE FROM t WHERE id = 77")
    assert {name.partition("_")[0] for name in directories(session, 6, 6)} == {"base", "delete"}
    assert between(session, 6, 6) == [(77, "x", "delete", 6)]


def directories(session: Session, first: int, last: int) -> set[str]:
    """The directories of the files that Spark reads."""
    with spark_alone(session):
        return {Path(file).parent.name for file in session.changes("t", first, last).inputFiles()}


ALL_TYPES = (
    "id bigint, flag boolean, tiny tinyint, small smallint, number int, f float, d double, amount decimal(38,5),"
    " day date, at timestamp, code char(4), name varchar(9), note string, raw binary"
)
ONE_OF_ALL = (
    "true, 1Y, 2S, 3, 0.1f, 0.2d, 12345678901234567890.12345, DATE'1500-02-28', TIMESTAMP'2024-03-31 02:30:00.123456',"
    " 'ab', 'vär', 'nöte', X'00FF'"
)


def test_few_changes_are_read_without_spark_for_its_frames(session: Session) -> None:
    """They have the values and types of the frames for which Spark reads the files, and are some rows of a large
    table."""
    session.sql(f"CREATE TABLE t ({ALL_TYPES}) PARTITIONED BY (p char(2)) {ACID}")
    session.sql(f"INSERT INTO t SELECT id, {ONE_OF_ALL}, 'a' FROM range(60000)")
    session.sql("INSERT INTO t (id, p) VALUES (-1, 'a'), (-2, 'b')")
    session.sql("UPDATE t SET number = -7, code = 'c' WHERE id IN (-2, 59999)")
    session.sql("DELETE FROM t WHERE id IN (-1, 17)")
    query = "SELECT *, row__id, row__is__deleted, input__file__name, code || '|' c FROM t CHANGES FROM VERSION 2"
    few = session.sql(query)
    assert few.inputFiles() == []
    with spark_alone(session):
        by_spark = session.sql(query)
    assert by_spark.inputFiles() != []
    assert few.dtypes == by_spark.dtypes
    assert len(few.collect()) == 8
    assert sorted(map(str, few.collect())) == sorted(map(str, by_spark.collect()))
    code = "SELECT count(*) FROM t CHANGES FROM VERSION 2 WHERE code = 'ab' AND p = 'a'"
    assert rows(session, code) == [(2,)]


def test_earlier_deletes_that_a_compaction_has_merged_are_no_changes(session: Session) -> None:
    filled(
        session, FIRST_ROWS, "INSERT INTO t VALUES (4, 'd')", "DELETE FROM t WHERE id = 2", "DELETE FROM t WHERE id = 4"
    )
    session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    assert between(session, 4, 4) == [(4, "d", "delete", 4)]


def test_rows_are_found_where_their_row_ids_do_not_tell_their_places(session: Session) -> None:
    """A compaction leaves gaps, and writes of several write IDs stand in one file."""
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    for first in (0, 30000, 60000):
        session.sql(f"INSERT INTO t SELECT id, 'x' FROM range({first}, {first + 30000})")
    session.sql("DELETE FROM t WHERE id % 7 = 0")
    session.sql("ALTER TABLE t COMPACT 'major' AND WAIT")
    session.sql("DELETE FROM t WHERE id IN (1, 29999, 30001, 89998)")
    session.sql("UPDATE t SET v = 'y' WHERE id BETWEEN 40000 AND 41000")
    assert between(session, 5, 5) == [(i, "x", "delete", 5) for i in (1, 29999, 30001, 89998)]
    assert len(between(session, 6, 6)) == 2 * len([i for i in range(40000, 41001) if i % 7])


# -- times


def test_times_of_commits_are_those_of_the_clocks_of_the_session(spark: SparkSession) -> None:
    at = datetime.datetime(2026, 11, 1, 12, 30, 0, 123456, tzinfo=datetime.UTC)
    times = {WriteId(2): at, WriteId(7): at + datetime.timedelta(days=1)}
    (known, later, none) = spark.sql(
        f"SELECT {', '.join(commit_time_sql(times, 'Asia/Tokyo', f'{write}L') for write in (2, 7, 5))}"
    ).collect()[0]
    local = datetime.datetime(2026, 11, 1, 21, 30, 0, 123456)
    assert (known, later, none) == (local, local + datetime.timedelta(days=1), None)


# -- what is refused


def test_unknown_versions_are_refused(session: Session) -> None:
    filled(session, FIRST_ROWS)
    error = fails("INVALID_PARAMETER", lambda: session.sql("SELECT * FROM t CHANGES FROM VERSION 1 TO VERSION 2"))
    assert "2 is not a version of default.t, which has the versions 1 to 1" in str(error)
    assert error.span is not None
    assert error.span.text == "CHANGES FROM VERSION 1 TO VERSION 2"
    fails("INVALID_PARAMETER", lambda: session.changes("t", 2))
    for first, last in ((0, 1), (1, 0), (-1, None), ("1", 1), (True, 1), (1, 1.5)):
        fails("INVALID_PARAMETER", partial(session.changes, "t", first, last))  # type: ignore[arg-type]
    session.sql(f"CREATE TABLE empty (id int) {ACID}")
    error = fails("INVALID_PARAMETER", lambda: session.changes("empty", 1))
    assert "no versions yet" in str(error)
    assert rows(session, "SHOW LOCKS") == []


def test_what_has_no_changes_is_refused(session: Session) -> None:
    filled(session, FIRST_ROWS)
    session.sql("CREATE TABLE plain (id int) STORED AS ORC")
    session.sql("CREATE VIEW w AS SELECT id FROM t")
    session.sql(f"CREATE TABLE named (id int, _commit_version int) {ACID}")
    fails("INVALID_PARAMETER", lambda: session.changes("plain", 1))
    fails("INVALID_PARAMETER", lambda: session.changes("named", 1))
    fails("NOT_YET_SUPPORTED", lambda: session.changes("w", 1))
    fails("TABLE_NOT_FOUND", lambda: session.changes("missing", 1))
    fails("INVALID_VIEW", lambda: session.sql("CREATE VIEW x AS SELECT id FROM t CHANGES FROM VERSION 1"))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OVERWRITE TABLE t PARTITION (p=1) VALUES (9, 'i')",
        "TRUNCATE TABLE t PARTITION (p=1)",
        "ALTER TABLE t DROP PARTITION (p=1)",
        "ALTER TABLE t PARTITION (p=1) COMPACT 'major' AND WAIT",
    ],
)
def test_a_range_whose_files_were_replaced_is_refused(session: Session, statement: str) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) {ACID}")
    session.sql("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    session.sql("INSERT INTO t VALUES (3, 'c', 1), (4, 'd', 2)")
    session.sql(statement)
    error = fails("NOT_ENOUGH_HISTORY", lambda: session.sql("SELECT * FROM t CHANGES FROM VERSION 2 TO VERSION 2"))
    assert error.span is not None
    assert error.span.text == "CHANGES FROM VERSION 2 TO VERSION 2"
    assert changes(session, "t CHANGES FROM VERSION 2 TO VERSION 2", "p = 2") == [(4, "d", 2, "insert", 2)]


# -- rows of streams, and values of all types


@pytest.mark.ci
def test_each_commit_of_a_stream_has_its_rows(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    with session.stream("t", id="s", batch_size=5) as stream:
        for number in (1, 2, 3):
            stream.write([(number, "s")])
            stream.commit()
        found = changes(session, "t CHANGES FROM VERSION 1")
        writes = [write for *_, write in found]
        assert [(row[0], row[2]) for row in found] == [(1, "insert"), (2, "insert"), (3, "insert")]
        assert len(set(writes)) == 3
        assert between(session, int(str(writes[1])), int(str(writes[1]))) == [found[1]]
    session.sql("DELETE FROM t WHERE id = 2")
    (deleted,) = (row for row in changes(session, "t CHANGES FROM VERSION 2") if row[2] == "delete")
    assert deleted[:2] == (2, "s")


@pytest.mark.ci
def test_old_rows_have_the_values_of_their_types(session: Session) -> None:
    session.sql(
        "CREATE TABLE t (id int, c char(5), vc varchar(5), d decimal(30, 4), ts timestamp, l timestamp with local time"
        " zone, day date, b binary, a array<int>, m map<string, date>, s struct<x: int, y: timestamp>, bo boolean)"
        f" PARTITIONED BY (p char(3), q date) {ACID}"
    )
    session.sql(
        "INSERT INTO t SELECT 1, 'ab', 'cd', 12345678901234567890.5, TIMESTAMP '1999-12-31 23:59:59.123456',"
        " TIMESTAMP '2026-03-29 02:30:00', DATE '0001-01-01', X'00FF', array(1, NULL), map('k', DATE '2020-02-29'),"
        " named_struct('x', 1, 'y', TIMESTAMP '1900-01-01 00:00:00'), NULL, 'x', DATE '2026-01-01'"
    )
    inserted = session.sql("SELECT * FROM t").collect()
    session.sql("DELETE FROM t")
    frame = session.changes("t", 1)
    assert [tuple(row)[:14] for row in frame.collect()] == [tuple(row) for row in inserted] * 2
    assert frame.dtypes[:14] == session.table("t").dtypes


@pytest.fixture
def in_tokyo(spark: SparkSession) -> Iterator[None]:
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    yield
    spark.conf.set("spark.sql.session.timeZone", zone)  # the session is that of all tests


def test_the_times_of_changes_are_those_of_their_commits(session: Session, in_tokyo: None) -> None:
    filled(session)
    table = session._metastore.table("default", "t")
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    known = {
        int(c.write_id): datetime.datetime.fromtimestamp(c.committed / 1000, tokyo).replace(tzinfo=None)
        for c in session._metastore.commits(table)
    }
    found = session.sql("SELECT DISTINCT _commit_version, _commit_timestamp FROM t CHANGES FROM VERSION 2").collect()
    assert {row[0]: row[1] for row in found} == {n: known[n] for n in (2, 3, 4)}


def test_the_changes_of_a_restore_are_refused_and_those_before_and_behind_it_read(session: Session) -> None:
    """No event tells which rows have gone by the base that a RESTORE writes, though the files before it are there."""
    filled(session)
    session.execute("RESTORE TABLE t TO VERSION AS OF 1")
    session.execute("UPDATE t SET v = 'new' WHERE id = 1")
    for first, last in ((5, 5), (4, 5), (1, 6), (5, 6)):
        fails("NOT_ENOUGH_HISTORY", partial(between, session, first, last))
    for version in (1, 2, 3, 4):
        assert between(session, version, version) == CHANGES[version]
    assert between(session, 6, 6) == [(1, "a", "update_preimage", 6), (1, "new", "update_postimage", 6)]
