"""ALTER TABLE: columns, partitions, names, properties. A refused statement changes nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.acid.hive_types import parse_type
from acidsql.acid.schema_evolution import is_widening, is_widening_in_parquet
from acidsql.ddl.relocation import with_move
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.session import Session, connect
from tests.answers import rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
MADE_UP = b"not read here"


def fails(session: Session, statement: str, condition: str) -> AcidSqlError:
    """Checks that the statement fails and changes neither the table's definition nor its partitions."""
    before = everything(session)
    with pytest.raises(AcidSqlError) as caught:
        session.execute(statement)
    assert caught.value.condition == condition, str(caught.value)
    assert caught.value.span is not None
    assert everything(session) == before
    return caught.value


def everything(session: Session) -> list[object]:
    catalog = session.catalog
    tables = [catalog.table("default", name) for name in catalog.tables("default")]
    return [(t, catalog.partitions(t)) for t in tables]


def tops(directory: str | Path) -> list[str]:
    return sorted(os.listdir(directory))


# ------------------------------------------------------------------------------------------------ columns


@pytest.mark.ci
def test_old_rows_are_null_in_added_columns_in_every_partition(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v varchar(2)) PARTITIONED BY (p string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    session.execute("ALTER TABLE t ADD COLUMNS (w string COMMENT 'later', z int)")
    session.execute("INSERT INTO t VALUES (3, 'c', 'w', 30, 'x')")
    assert rows(session, "SELECT * FROM t ORDER BY id") == [
        (1, "a", None, None, "x"),
        (2, "b", None, None, "y"),
        (3, "c", "w", 30, "x"),
    ]
    session.execute("ALTER TABLE t CHANGE id ident bigint COMMENT 'wider'")
    session.execute("ALTER TABLE t CHANGE COLUMN v v string")
    session.execute("UPDATE t SET w = 'new', ident = 5000000000 WHERE ident = 2")
    found = rows(session, "SELECT row__id.writeid, ident, v, w, z, p FROM t ORDER BY ident")
    # Each ALTER of columns took a write ID, as in Hive: 2, 4 and 5 (tests/golden/schema_evolution).
    assert found == [(1, 1, "a", None, None, "x"), (3, 3, "c", "w", 30, "x"), (6, 5000000000, "b", "new", None, "y")]


def test_every_widening_is_read_from_files_of_the_narrow_type(session: Session) -> None:
    changes = [
        ("tinyint", "-7", "smallint", -7),
        ("smallint", "300", "bigint", 300),
        ("int", "41", "double", 41.0),
        ("int", "42", "decimal(12,2)", "42.00"),
        ("bigint", "43", "string", "43"),
        ("float", "1.5", "double", 1.5),
        ("decimal(5,2)", "1.25", "decimal(9,3)", "1.250"),
        ("decimal(5,2)", "2.25", "string", "2.25"),
        ("char(3)", "'ab'", "string", "ab"),
        ("varchar(3)", "'abc'", "varchar(9)", "abc"),
        ("date", "DATE '1999-12-31'", "string", "1999-12-31"),
        ("double", "0.5", "string", "0.5"),
    ]
    columns = ", ".join(f"c{i} {old}" for i, (old, *_) in enumerate(changes))
    session.execute(f"CREATE TABLE t (id int, {columns}) {ACID}")
    session.execute(f"INSERT INTO t SELECT 1, {', '.join(value for _, value, *_ in changes)}")
    for i, (_, _, new, _) in enumerate(changes):
        session.execute(f"ALTER TABLE t CHANGE c{i} c{i} {new}")
    (found,) = rows(session, f"SELECT {', '.join(f'c{i}' for i in range(len(changes)))} FROM t")
    plain = [value if isinstance(value, int | float | str) else str(value) for value in found]
    assert plain == [expected for *_, expected in changes]


@pytest.mark.ci
def test_a_widened_column_is_compared_in_its_new_type(session: Session) -> None:
    """Spark would push 5.5 down to files with an int as 5, and fail on text."""
    session.execute(f"CREATE TABLE t (id int, a int, b int, c bigint, d decimal(4,2)) {ACID}")
    session.execute("INSERT INTO t SELECT id, id, id, id, id FROM (SELECT explode(sequence(5, 6)) AS id)")
    for column, wider in {"a": "double", "b": "string", "c": "decimal(22,2)", "d": "string"}.items():
        session.execute(f"ALTER TABLE t CHANGE {column} {column} {wider}")
    session.execute("INSERT INTO t VALUES (7, 5.25, '50', 5.25, '5.0')")
    for condition, ids in {
        "a < 5.5": [5, 7],
        "a = 5": [5],
        "b = '5'": [5],
        "b < '51'": [5, 7],
        "c < 5.5": [5, 7],
        "c >= 5.25": [6, 7],
        "d = '5'": [5],
        "d IN ('6', '5.0')": [6, 7],
    }.items():
        assert rows(session, f"SELECT id FROM t WHERE {condition} ORDER BY id") == [(i,) for i in ids], condition


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bigint", "int"),
        ("string", "int"),
        ("int", "decimal(11,2)"),
        ("decimal(9,3)", "decimal(9,4)"),
        ("varchar(9)", "varchar(3)"),
        ("string", "varchar(9)"),
        ("double", "float"),
        ("timestamp", "string"),
        ("array<int>", "array<bigint>"),
        ("boolean", "int"),
    ],
)
def test_a_type_that_would_lose_values_is_refused(old: str, new: str) -> None:
    assert not is_widening(parse_type(old), parse_type(new))
    assert not is_widening_in_parquet(parse_type(old), parse_type(new))


def test_columns_are_replaced_by_position_and_constraints_follow_their_names(session: Session) -> None:
    session.execute(
        f"CREATE TABLE t (id int NOT NULL ENABLE, v string DEFAULT 'd', CHECK (id > 0 AND v <> 'no')) {ACID}"
    )
    session.execute("INSERT INTO t VALUES (1, 'a')")
    session.execute("ALTER TABLE t REPLACE COLUMNS (`key` bigint, `value` string, more int)")
    session.execute("INSERT INTO t (`key`) VALUES (2)")
    assert rows(session, "SELECT * FROM t ORDER BY 1") == [(1, "a", None), (2, "d", None)]
    for refused in ("(NULL, 'x', 1)", "(0, 'x', 1)", "(1, 'no', 1)"):
        with pytest.raises(AcidSqlError) as caught:
            session.execute(f"INSERT INTO t VALUES {refused}")
        assert caught.value.condition == "CONSTRAINT_VIOLATED"


def test_a_renamed_bucket_column_keeps_its_buckets(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) CLUSTERED BY (id) INTO 4 BUCKETS {ACID}")
    session.execute("ALTER TABLE t CHANGE id k int")
    assert session.catalog.table("default", "t").bucket_columns == ("k",)
    assert "k" in fails(session, "ALTER TABLE t CHANGE k k bigint", "ALTER_REFUSED").message


def test_impossible_changes_of_columns_are_refused_with_their_reason(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id bigint, v string) PARTITIONED BY (p int) {ACID}")
    error = fails(session, "ALTER TABLE t CHANGE id id int", "INCOMPATIBLE_COLUMN_CHANGE")
    assert "id (bigint to int)" in error.message
    assert "Add a column" in error.hint
    assert error.span is not None
    assert error.span.text == "int"
    assert fails(session, "ALTER TABLE t CHANGE v v string FIRST", "CANNOT_REORDER_COLUMNS").hive_code == 10311
    assert fails(session, "ALTER TABLE t CHANGE id id bigint AFTER v", "CANNOT_REORDER_COLUMNS").hint
    assert fails(session, "ALTER TABLE t REPLACE COLUMNS (id bigint)", "REPLACE_CANNOT_DROP_COLUMNS").hive_code == 10313
    fails(session, "ALTER TABLE t REPLACE COLUMNS (v string, id bigint)", "INCOMPATIBLE_COLUMN_CHANGE")
    fails(session, "ALTER TABLE t REPLACE COLUMNS (id bigint, v string, p int)", "DUPLICATE_COLUMN")
    fails(session, "ALTER TABLE t CHANGE id v bigint", "DUPLICATE_COLUMN")
    fails(session, "ALTER TABLE t ADD COLUMNS (n int, P int)", "DUPLICATE_COLUMN")
    fails(session, "ALTER TABLE t ADD COLUMNS (n int, n int)", "DUPLICATE_COLUMN")
    fails(session, "ALTER TABLE t ADD COLUMNS (row__id int)", "INVALID_COLUMN_NAME")
    fails(session, "ALTER TABLE t ADD COLUMNS (n int NOT NULL)", "NOT_YET_SUPPORTED")
    fails(session, "ALTER TABLE t CHANGE p p bigint", "ALTER_REFUSED")
    assert "Did you mean id" in fails(session, "ALTER TABLE t CHANGE idd x int", "COLUMN_NOT_FOUND").message


def test_columns_of_parquet_files_are_matched_by_name(session: Session) -> None:
    only = "STORED AS PARQUET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
    session.execute(f"CREATE TABLE t (id int, v string) {only}")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    session.execute("ALTER TABLE t CHANGE v v string FIRST")
    session.execute("ALTER TABLE t CHANGE id id bigint")
    session.execute("ALTER TABLE t ADD COLUMNS (w int)")
    assert rows(session, "SELECT * FROM t") == [("a", 1, None)]
    fails(session, "ALTER TABLE t CHANGE v text string", "ALTER_REFUSED")
    fails(session, "ALTER TABLE t CHANGE id id string", "INCOMPATIBLE_COLUMN_CHANGE")


# ------------------------------------------------------------------------------------------------ partitions


@pytest.fixture
def parted(session: Session) -> Session:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p string, n int) {ACID}")
    return session


def names(session: Session) -> list[str]:
    return [str(name) for (name,) in session.execute("SHOW PARTITIONS t").rows()]


def test_partitions_are_added_once_with_values_as_their_types_write_them(parted: Session, tmp_path: Path) -> None:
    parted.execute(f"ALTER TABLE t ADD PARTITION (p='a/b', n='07') PARTITION (n=-8, p='c') LOCATION '{tmp_path}/far'")
    assert names(parted) == ["p=a%2Fb/n=7", "p=c/n=-8"]
    assert tops(tmp_path / "warehouse/t/p=a%2Fb/n=7") == []
    assert fails(parted, "ALTER TABLE t ADD PARTITION (p='c', n=-8)", "PARTITION_ALREADY_EXISTS").hive_code == 10118
    fails(parted, "ALTER TABLE t ADD PARTITION (p='d', n=1) PARTITION (p='d', n='01')", "PARTITION_ALREADY_EXISTS")
    parted.execute("ALTER TABLE t ADD IF NOT EXISTS PARTITION (p='c', n=-8) PARTITION (p='d', n=1)")
    assert names(parted) == ["p=a%2Fb/n=7", "p=c/n=-8", "p=d/n=1"]
    fails(parted, "ALTER TABLE t ADD PARTITION (p='e')", "INVALID_PARTITION_SPEC")
    fails(parted, "ALTER TABLE t ADD PARTITION (p='e', n='x')", "INVALID_PARTITION_SPEC")
    fails(parted, "ALTER TABLE t ADD PARTITION (p='e', n=3000000000)", "INVALID_PARTITION_SPEC")
    fails(parted, "ALTER TABLE t ADD PARTITION (p='e', q=1)", "PARTITION_COLUMN_UNKNOWN")
    parted.execute(f"CREATE TABLE flat (id int) {ACID}")
    fails(parted, "ALTER TABLE flat ADD PARTITION (p='e')", "NOT_PARTITIONED")


def test_a_location_of_other_write_ids_is_not_added(parted: Session, tmp_path: Path) -> None:
    strange = tmp_path / "strange"
    (strange / "delta_0000009_0000009_0000").mkdir(parents=True)
    error = fails(parted, f"ALTER TABLE t ADD PARTITION (p='a', n=1) LOCATION '{strange}'", "LOCATION_NOT_EMPTY")
    assert "write ID 9" in error.message
    named = tmp_path / "named"
    named.mkdir()
    (named / "part-0.orc").write_bytes(MADE_UP)
    assert (
        "LOAD DATA"
        in fails(parted, f"ALTER TABLE t ADD PARTITION (p='a', n=1) LOCATION '{named}'", "LOCATION_NOT_EMPTY").hint
    )
    assert not (tmp_path / "warehouse/t/p=a").exists()


@pytest.mark.parametrize(
    ("clause", "left"),
    [
        ("(p='a')", ["p=b/n=10", "p=b/n=9"]),
        ("(n<10)", ["p=b/n=10"]),
        ("(n>=9, p!='a')", ["p=a/n=1"]),
        ("(n='09')", ["p=a/n=1", "p=b/n=10"]),
        ("(p>'a'), PARTITION (p='a', n=1)", []),
    ],
)
def test_partitions_are_dropped_by_comparison(parted: Session, tmp_path: Path, clause: str, left: list[str]) -> None:
    parted.execute("ALTER TABLE t ADD PARTITION (p='a', n=1) PARTITION (p='b', n=9) PARTITION (p='b', n=10)")
    parted.execute(f"ALTER TABLE t DROP PARTITION {clause}")
    assert names(parted) == left
    directories = {path.relative_to(tmp_path / "warehouse/t").as_posix() for path in tmp_path.glob("warehouse/t/*/*")}
    assert directories == set(left)


def test_dropping_a_missing_partition_drops_no_other_one(parted: Session) -> None:
    parted.execute("ALTER TABLE t ADD PARTITION (p='a', n=1)")
    parted.execute("SET hive.exec.drop.ignorenonexistent=false")
    error = fails(parted, "ALTER TABLE t DROP PARTITION (p='a'), PARTITION (p='b')", "PARTITION_NOT_FOUND")
    assert error.message == "Partition not found p = 'b'"
    fails(parted, "ALTER TABLE t DROP PARTITION (id=1)", "PARTITION_COLUMN_UNKNOWN")
    parted.execute("ALTER TABLE t DROP IF EXISTS PARTITION (p='b'), PARTITION (p='c')")
    assert names(parted) == ["p=a/n=1"]


def test_rows_of_a_dropped_partition_do_not_come_back_even_where_files_were_left(
    parted: Session, tmp_path: Path
) -> None:
    """The process may die after the catalog forgot the partition, before all files are gone."""
    parted.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    table = parted.catalog.table("default", "t")
    directory = tmp_path / "warehouse/t/p=a/n=1"
    saved = {path.name: path.read_bytes() for path in (directory / "delta_0000001_0000001_0000").iterdir()}
    parted.execute("ALTER TABLE t DROP PARTITION (p='a')")
    assert not directory.exists()
    assert rows(parted, "SELECT * FROM t") == [(2, "b", 2)]
    # What a process leaves that dies while it removes files: the base that hides the others goes last.
    (directory / "delta_0000001_0000001_0000").mkdir(parents=True)
    for name, content in saved.items():
        (directory / "delta_0000001_0000001_0000" / name).write_bytes(content)
    (directory / "base_0000002").mkdir()
    (directory / "base_0000002/_metadata_acid").write_text('{"thisFileVersion":"0","dataFormat":"truncated"}')
    assert parted.catalog.table("default", "t") == table
    parted.execute("INSERT INTO t VALUES (3, 'a', 1)")
    assert rows(parted, "SELECT * FROM t ORDER BY id") == [(2, "b", 2), (3, "a", 1)]


def test_a_renamed_partition_keeps_its_rows_and_renames_its_directory(parted: Session, tmp_path: Path) -> None:
    parted.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    fails(
        parted,
        "ALTER TABLE t PARTITION (p='a', n=1) RENAME TO PARTITION (p='b', n=2)",
        "PARTITION_ALREADY_EXISTS",
    )
    fails(parted, "ALTER TABLE t PARTITION (p='x', n=1) RENAME TO PARTITION (p='b', n=3)", "PARTITION_NOT_FOUND")
    parted.execute("ALTER TABLE t PARTITION (p='a', n=1) RENAME TO PARTITION (p='c', n=3)")
    parted.execute("INSERT INTO t VALUES (4, 'a', 1)")
    assert rows(parted, "SELECT * FROM t ORDER BY id") == [(1, "c", 3), (2, "b", 2), (4, "a", 1)]
    assert "delta_0000001_0000001_0000" in tops(tmp_path / "warehouse/t/p=c/n=3")


# ------------------------------------------------------------------------------------------------ names


def test_a_renamed_table_keeps_rows_write_ids_and_partitions(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE DATABASE other")
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    session.execute(f"ALTER TABLE t ADD PARTITION (p='far') LOCATION '{tmp_path}/far'")
    session.execute("ALTER TABLE t RENAME TO other.u")
    assert session.catalog.tables("default") == []
    assert tops(tmp_path / "warehouse/other.db") == ["u"]
    assert not (tmp_path / "warehouse/t").exists()
    session.execute("INSERT INTO other.u VALUES (2, 'far')")
    found = rows(session, "SELECT row__id.writeid, * FROM other.u ORDER BY id")
    assert found == [(1, 1, "a"), (3, 2, "far")]
    assert "delta_0000003_0000003_0000" in tops(tmp_path / "far")


def test_a_table_is_not_renamed_to_an_existing_table_or_into_a_missing_database(
    session: Session, tmp_path: Path
) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute(f"CREATE TABLE u (id int) {ACID}")
    fails(session, "ALTER TABLE t RENAME TO u", "TABLE_ALREADY_EXISTS")
    fails(session, "ALTER TABLE t RENAME TO nowhere.t", "DATABASE_NOT_FOUND")
    fails(session, "ALTER TABLE missing RENAME TO v", "TABLE_NOT_FOUND")
    (tmp_path / "warehouse/v").mkdir()
    (tmp_path / "warehouse/v/kept").write_bytes(MADE_UP)
    with pytest.raises(AcidSqlError, match="LOCATION_NOT_EMPTY"):
        session.execute("ALTER TABLE t RENAME TO v")
    assert session.catalog.tables("default") == ["t", "u"]
    assert tops(tmp_path / "warehouse/v") == ["kept"]


def test_renaming_does_not_move_a_table_with_a_location_of_its_own(session: Session, tmp_path: Path) -> None:
    session.execute(
        f"CREATE TABLE t (id int) STORED AS ORC LOCATION '{tmp_path}/own' TBLPROPERTIES ('transactional'='true')"
    )
    session.execute("ALTER TABLE t RENAME TO u")
    assert session.catalog.table("default", "u").location == f"{tmp_path}/own"
    assert (tmp_path / "own").exists()


@pytest.mark.parametrize("moved", [False, True], ids=["before the directory moved", "after the directory moved"])
def test_the_next_statement_finishes_a_rename_whose_process_died(session: Session, tmp_path: Path, moved: bool) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p string) {ACID}")
    session.execute("ALTER TABLE t ADD PARTITION (p='a')")
    old = session.catalog.table("default", "t")
    new = f"{tmp_path}/warehouse/u"
    session.catalog.alter_table(old, with_move(replace(old, name="u"), old.location, new))
    if moved:
        os.rename(old.location, new)
    assert [str(n) for (n,) in session.execute("SHOW PARTITIONS u").rows()] == ["p=a"]
    table = session.catalog.table("default", "u")
    assert table == replace(old, name="u", location=new)
    assert [p.location for p in session.catalog.partitions(table)] == [f"{new}/p=a"]
    assert tops(new) == ["p=a"]
    assert not Path(old.location).exists()


# ------------------------------------------------------------------------------------------------ properties


def test_properties_are_set_and_unset(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC TBLPROPERTIES ('a'='1')")
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('b'='2', 'comment'='what it is', 'EXTERNAL'='TRUE')")
    table = session.catalog.table("default", "t")
    assert dict(table.properties) == {"a": "1", "b": "2", "bucketing_version": "2"}
    assert (table.comment, table.external) == ("what it is", True)
    session.execute("ALTER TABLE t UNSET TBLPROPERTIES ('a', 'comment')")
    session.execute("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a')")
    table = session.catalog.table("default", "t")
    assert (dict(table.properties), table.comment) == ({"b": "2", "bucketing_version": "2"}, None)
    assert fails(session, "ALTER TABLE t UNSET TBLPROPERTIES ('b', 'a')", "UNKNOWN_PROPERTY").hive_code == 10215
    fails(session, "ALTER TABLE t SET TBLPROPERTIES ('bucketing_version'='1')", "INVALID_TABLE_PROPERTIES")
    fails(session, "ALTER TABLE t SET TBLPROPERTIES ('acidsql.adopt.writeids'='1:1::')", "INVALID_TABLE_PROPERTIES")


def test_only_a_plain_table_gets_another_location(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int) PARTITIONED BY (p string) STORED AS ORC")
    session.execute("ALTER TABLE t ADD PARTITION (p='a')")
    session.execute(f"ALTER TABLE t PARTITION (p='a') SET LOCATION '{tmp_path}/there/'")
    session.execute(f"ALTER TABLE t SET LOCATION '{tmp_path}/elsewhere'")
    table = session.catalog.table("default", "t")
    assert table.location == f"{tmp_path}/elsewhere"
    assert [p.location for p in session.catalog.partitions(table)] == [f"{tmp_path}/there"]
    fails(session, f"ALTER TABLE t PARTITION (p='b') SET LOCATION '{tmp_path}'", "PARTITION_NOT_FOUND")
    session.execute(f"CREATE TABLE a (id int) {ACID}")
    fails(session, f"ALTER TABLE a SET LOCATION '{tmp_path}'", "ALTER_REFUSED")


# ------------------------------------------------------------------------------------------------ locks


@pytest.mark.parametrize(
    "action", ["ADD COLUMNS (n int)", "RENAME TO u", "DROP PARTITION (p='a')", "SET TBLPROPERTIES ('a'='b')"]
)
def test_alter_waits_for_a_transaction_that_writes_the_table(session: Session, tmp_path: Path, action: str) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p string) {ACID}")
    session.execute("ALTER TABLE t ADD PARTITION (p='a')")
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/metastore.db") as other:
        writer = other._metastore
        txn = writer.open_txn()
        writer.lock(txn, [LockComponent("default", "t", LockType.SHARED_READ, Operation.INSERT)])
        without_waiting(session)
        with pytest.raises(AcidSqlError, match="LOCK_TIMEOUT"):
            session.execute(f"ALTER TABLE t {action}")
        assert names(session) == ["p=a"]
        writer.commit(txn)
    session.execute(f"ALTER TABLE t {action}")


def without_waiting(session: Session) -> None:
    """A lock that is not free at once times out."""
    session.execute("SET hive.lock.numretries=0")


@pytest.mark.ci
def test_numbers_that_became_text_are_the_same_before_and_after_updates_and_compactions(session: Session) -> None:
    """The texts of numbers are those of ORC's reader, which Hive uses too: a FLOAT is shown as a DOUBLE, and NaN is
    NULL (ConvertTreeReaderFactory.StringGroupFromDoubleTreeReader)."""
    session.execute(f"CREATE TABLE t (id int, i int, d decimal(6,2), f float, b double) {ACID}")
    session.execute(
        "INSERT INTO t SELECT 1, -7, 2.50, cast(0.1 as float), 1e20 UNION ALL"
        " SELECT 2, 10, 0.01, cast('NaN' as float), 0.001 UNION ALL SELECT 3, NULL, NULL, NULL, NULL"
    )
    session.execute("ALTER TABLE t REPLACE COLUMNS (id int, i string, d string, f string, b string)")
    session.execute("INSERT INTO t VALUES (4, '9', '2.50', 'x', NULL)")
    expected = [
        (1, "-7", "2.5", "0.10000000149011612", "1.0E20"),
        (2, "10", "0.01", None, "0.001"),
        (3, None, None, None, None),
        (4, "9", "2.50", "x", None),
    ]
    assert rows(session, "SELECT * FROM t ORDER BY id") == expected
    assert rows(session, "SELECT id FROM t WHERE i > '1' AND i < '95' ORDER BY id") == [(2,), (4,)]
    session.execute("UPDATE t SET i = concat(i, '!') WHERE id = 2")
    session.execute(
        "MERGE INTO t USING (SELECT '-7' AS k UNION ALL SELECT '9') s ON t.i = s.k"
        " WHEN MATCHED AND t.id = 4 THEN DELETE WHEN MATCHED THEN UPDATE SET b = concat(t.b, '?')"
    )
    expected = [(1, "-7", "2.5", expected[0][3], "1.0E20?"), (2, "10!", "0.01", None, "0.001"), expected[2]]
    assert rows(session, "SELECT * FROM t ORDER BY id") == expected
    for kind in ("minor", "major"):
        session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
        assert rows(session, "SELECT * FROM t ORDER BY id") == expected, kind
    assert rows(session, "SELECT id FROM t WHERE d = '2.5'") == [(1,)]


def test_columns_of_a_bucketed_table_are_replaced(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int, v int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
    session.execute("ALTER TABLE t REPLACE COLUMNS (`key` int, v string, w int)")
    session.execute("INSERT INTO t VALUES (3, 'x', 5)")
    session.execute("UPDATE t SET w = 1 WHERE `key` = 1")
    assert rows(session, "SELECT * FROM t ORDER BY `key`") == [(1, "10", 1), (2, "20", None), (3, "x", 5)]
    fails(session, "ALTER TABLE t REPLACE COLUMNS (`key` bigint, v string, w int)", "ALTER_REFUSED")
