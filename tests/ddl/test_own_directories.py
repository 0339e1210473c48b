"""Directories of tables and databases: names are not paths, no directory lies in another's, DROP removes its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.grammar.quoting import name_sql
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PARTED = f"(k INT) PARTITIONED BY (p STRING, q INT) {ACID}"
NO_NAMES = (
    "d.db/x",
    "../evil",
    "y.db",
    "a b",
    "é",
    ".",
    "..",
    ".acidsql",
    "_x/",
    "a`b",
    "%61",
    "t@1",
    "a:b",
    "x" * 256,
)


@pytest.fixture
def files(tmp_path: Path) -> Callable[[], set[str]]:
    """All files below the test's directory except the metastore's own."""
    return lambda: {
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.name.startswith("metastore.db")
    }


def refused(session: Session, sql: str, condition: str) -> str:
    with pytest.raises(AcidSqlError) as raised:
        session.execute(sql)
    assert raised.value.condition == condition, raised.value
    return str(raised.value)


def put(directory: Path) -> Path:
    """A file that somebody needs."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "000000_0").write_text("rows")
    return directory / "000000_0"


@pytest.mark.parametrize("name", NO_NAMES)
def test_an_invalid_name_creates_no_directory(session: Session, files: Callable[[], set[str]], name: str) -> None:
    session.execute(f"CREATE TABLE t (k INT) {ACID}")
    before, quoted = files(), name_sql(name)
    refused(session, f"CREATE TABLE {quoted} (k INT) {ACID}", "INVALID_TABLE_NAME")
    refused(session, f"CREATE TABLE {quoted} LIKE t", "INVALID_TABLE_NAME")
    refused(session, f"ALTER TABLE t RENAME TO {quoted}", "INVALID_TABLE_NAME")
    refused(session, f"CREATE DATABASE {quoted}", "INVALID_DATABASE_NAME")
    session.execute("SET hive.exec.drop.ignorenonexistent=false")
    for missing in (f"DROP TABLE {quoted}", f"DROP TABLE default.{quoted}"):
        refused(session, missing, "TABLE_NOT_FOUND")
    refused(session, f"DROP DATABASE {quoted} CASCADE", "DATABASE_NOT_FOUND")
    assert files() == before


def test_the_name_of_create_table_as_is_checked_before_the_query_runs(session: Session) -> None:
    refused(session, f"CREATE TABLE `../t` {ACID} AS SELECT 1 AS x", "INVALID_TABLE_NAME")


def test_a_random_name_creates_its_own_directory_or_none(session: Session, tmp_path: Path) -> None:
    seed = 17
    chance = random.Random(seed)
    made = set()
    for _ in range(150):
        name = "".join(chance.choices("ab_1Z./\\ `'\"%:é", k=chance.randint(1, 4)))
        sql = f"CREATE TABLE IF NOT EXISTS {name_sql(name)} (k INT) {ACID}"
        is_name = name.replace("_", "a").isascii() and name.replace("_", "a").isalnum()
        if is_name:
            session.execute(sql)
            made.add(name.lower())
        else:
            assert "INVALID_TABLE_NAME" in refused(session, sql, "INVALID_TABLE_NAME"), f"seed {seed}: {name!r}"
    assert {path.name for path in (tmp_path / "warehouse").iterdir()} == made
    assert not (made - {row[0] for row in session.sql("SHOW TABLES").collect()})


def test_no_table_lies_in_the_directory_of_another_one(session: Session, tmp_path: Path) -> None:
    warehouse, far = tmp_path / "warehouse", tmp_path / "far"
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.t {PARTED}")
    session.execute(f"CREATE TABLE own (k INT) STORED AS ORC LOCATION '{far}/own'")
    session.execute(f"ALTER TABLE d.t ADD PARTITION (p='a', q=1) LOCATION '{far}/part'")
    (tmp_path / "link").symlink_to(far)
    taken = [
        warehouse,  # holds databases and tables
        tmp_path,  # holds the metastore's file too
        warehouse / "d.db",
        warehouse / "d.db" / "x",  # another database's
        warehouse / "d.db" / "t",
        warehouse / "d.db" / "t" / "p=b",
        far,
        far / "own",
        far / "own" / "below",
        far / "part",
        far / "part" / "delta_0000001_0000001_0000",
        tmp_path / "link" / "own",
        f"{far}/elsewhere/../own",
        f"file:{far}/own",
        f"{far}//own/",
        tmp_path / "metastore.db",
    ]
    for location in taken:
        for properties in (
            f"(k INT) STORED AS ORC LOCATION '{location}'",
            f"(k INT) STORED AS ORC LOCATION '{location}' TBLPROPERTIES ('transactional'='true')",
        ):
            refused(session, f"CREATE TABLE x {properties}", "LOCATION_TAKEN")
        refused(session, f"CREATE EXTERNAL TABLE x (k INT) STORED AS ORC LOCATION '{location}'", "LOCATION_TAKEN")
        if "own" not in str(location):
            refused(session, f"ALTER TABLE own SET LOCATION '{location}'", "LOCATION_TAKEN")
    refused(session, f"CREATE TABLE x STORED AS ORC LOCATION '{far}/own' AS SELECT 1 AS k", "LOCATION_TAKEN")
    session.execute(f"CREATE TABLE d.aside (k INT) STORED AS ORC LOCATION '{warehouse}/aside'")
    refused(session, f"CREATE TABLE aside (k INT) {ACID}", "LOCATION_TAKEN")
    session.execute(f"CREATE EXTERNAL TABLE e (k INT) STORED AS ORC LOCATION '{far}/shared'")
    session.execute(f"CREATE EXTERNAL TABLE f (k INT) STORED AS ORC LOCATION '{far}/shared'")
    refused(session, f"CREATE TABLE g (k INT) STORED AS ORC LOCATION '{far}/shared'", "LOCATION_TAKEN")


def test_no_database_lies_in_the_directory_of_a_table_or_of_another_one(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE t (k INT) {ACID}")
    warehouse = tmp_path / "warehouse"
    for location in (
        warehouse,
        tmp_path,
        warehouse / "t",
        warehouse / "t" / "x",
        warehouse / "d.db",
        warehouse / "d.db" / "x",
    ):
        refused(session, f"CREATE DATABASE e LOCATION '{location}'", "LOCATION_TAKEN")
    session.execute(f"CREATE DATABASE e LOCATION '{warehouse}/e'")
    refused(session, f"CREATE TABLE e (k INT) {ACID}", "LOCATION_TAKEN")


def test_no_partition_lies_where_other_rows_are(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t {PARTED}")
    session.execute(f"CREATE TABLE u (k INT) {ACID}")
    session.execute("ALTER TABLE t ADD PARTITION (p='a', q=1) PARTITION (p='a', q=2) LOCATION 'far/x'")
    root = tmp_path / "warehouse" / "t"
    for location in (
        root,
        root.parent,
        root.parent / "u",
        root.parent / "u" / "below",
        "p=a/q=1",
        "p=a/q=9",
        "p=a",
        "P%3Da/../p=c",
        "far",
        "far/x",
        "far/x/y",
    ):
        refused(session, f"ALTER TABLE t ADD PARTITION (p='b', q=1) LOCATION '{location}'", "LOCATION_TAKEN")
    refused(
        session,
        f"ALTER TABLE t ADD PARTITION (p='c', q=1) LOCATION '{tmp_path}/n'"
        f" PARTITION (p='c', q=2) LOCATION '{tmp_path}/n/m'",
        "LOCATION_TAKEN",
    )
    session.execute(
        f"ALTER TABLE t ADD PARTITION (p='b', q=1) LOCATION '{tmp_path}/n' PARTITION (p='d', q=4) LOCATION 'p=d/q=4'"
    )
    assert len(session.sql("SHOW PARTITIONS t").collect()) == 4


def test_drop_removes_nothing_of_another_table(session: Session, tmp_path: Path) -> None:
    """Such tables are of acidsql's first versions, or of a metastore that other programs change."""
    session.execute(f"CREATE TABLE t (k INT) {ACID}")
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.u (k INT) {ACID}")
    warehouse, metastore = tmp_path / "warehouse", session._metastore
    known = metastore.table("default", "t")
    kept = [put(warehouse / "t"), put(warehouse / "d.db" / "u"), put(warehouse / "t" / "inner")]
    locations = (warehouse, warehouse / "t", warehouse / "t" / "inner", warehouse / "d.db", tmp_path)
    for number, location in enumerate(locations):
        metastore.create_table(replace(known, name=f"x{number}", location=str(location)))
        session.execute(f"DROP TABLE x{number}")
        assert all(file.exists() for file in kept), location
    metastore.create_table(replace(known, name="around", location=str(warehouse / "n")))
    metastore.create_table(replace(known, name="inside", location=str(warehouse / "n" / "m")))
    file = put(warehouse / "n" / "m")
    session.execute("DROP TABLE around")
    assert file.exists()
    session.execute("DROP TABLE inside")
    assert not file.exists()
    session.execute("DROP TABLE t")
    assert not kept[0].exists()


def test_drop_database_keeps_files_that_belong_to_no_table(session: Session, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.t (k INT) {ACID}")
    foreign = put(warehouse / "d.db" / "notes")
    hidden = put(warehouse / "d.db" / ".hidden")
    session.execute("DROP DATABASE d CASCADE")
    assert foreign.exists()
    assert hidden.exists()
    assert not (warehouse / "d.db" / "t").exists()
    session.execute("CREATE DATABASE e")
    session.execute(f"CREATE TABLE e.t (k INT) {ACID}")
    session.execute("DROP DATABASE e CASCADE")
    assert not (warehouse / "e.db").exists()


def test_drop_partition_removes_nothing_of_another_one(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (k INT) PARTITIONED BY (p STRING) STORED AS ORC")
    session.execute("ALTER TABLE t ADD PARTITION (p='a') PARTITION (p='b') PARTITION (p='c')")
    table = session._metastore.table("default", "t")
    a, b, _ = session._metastore.partitions(table)
    session._metastore.alter_table(table, table, partitions={b.values: replace(b, location=f"{a.location}/x")})
    kept = put(Path(a.location) / "x")
    session.execute("ALTER TABLE t DROP PARTITION (p='a')")
    assert kept.exists()
    gone = put(tmp_path / "warehouse" / "t" / "p=c")
    session.execute("ALTER TABLE t DROP PARTITION (p='c')")
    assert not gone.exists()


def test_a_relative_location_is_the_same_for_every_process(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session.execute("CREATE TABLE t (k INT) STORED AS ORC LOCATION 'there/t/'")
    session.execute("CREATE DATABASE d LOCATION 'there/d'")
    assert session._metastore.table("default", "t").location == f"{tmp_path}/there/t"
    assert session._metastore.database("d").location == f"{tmp_path}/there/d"


def test_no_statement_can_make_acidsql_move_a_directory(session: Session, tmp_path: Path) -> None:
    kept = put(tmp_path / "a")
    moving = f"'acidsql.moving'='[\"{tmp_path}/a\", \"{tmp_path}/b\"]'"
    refused(session, f"CREATE TABLE t (k INT) STORED AS ORC TBLPROPERTIES ({moving})", "INVALID_TABLE_PROPERTIES")
    session.execute("CREATE TABLE t (k INT) STORED AS ORC")
    refused(session, f"ALTER TABLE t SET TBLPROPERTIES ({moving})", "INVALID_TABLE_PROPERTIES")
    assert kept.exists()


def test_a_table_that_shares_its_directory_becomes_neither_managed_nor_transactional(
    session: Session, tmp_path: Path
) -> None:
    for name in ("e", "f"):
        session.execute(f"CREATE EXTERNAL TABLE {name} (k INT) STORED AS ORC LOCATION '{tmp_path}/shared'")
    refused(session, "ALTER TABLE e SET TBLPROPERTIES ('EXTERNAL'='FALSE')", "LOCATION_TAKEN")
    both = "'EXTERNAL'='FALSE', 'transactional'='true'"
    refused(session, f"ALTER TABLE e SET TBLPROPERTIES ({both})", "LOCATION_TAKEN")
    session.execute("DROP TABLE f")
    session.execute(f"ALTER TABLE e SET TBLPROPERTIES ({both})")


def test_dropping_a_partition_whose_directory_lies_in_another_table_keeps_the_files(
    session: Session, tmp_path: Path
) -> None:
    session.execute(f"CREATE TABLE u (k INT) {ACID}")
    session.execute("INSERT INTO u VALUES (1)")
    session.execute(f"CREATE TABLE t {PARTED}")
    session.execute("ALTER TABLE t ADD PARTITION (p='a', q=1)")
    metastore = session._metastore
    table = metastore.table("default", "t")
    (only,) = metastore.partitions(table)
    metastore.alter_table(table, table, partitions={only.values: replace(only, location=f"{tmp_path}/warehouse/u")})
    session.execute("ALTER TABLE t DROP PARTITION (p='a')")
    assert [row[0] for row in session.sql("SELECT k FROM u").collect()] == [1]
