"""ALTER TABLE SET TBLPROPERTIES that makes a plain table full ACID or insert-only, and refused conversions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.answers import files_below, rows
from tests.support.golden_cases import (
    GoldenTable,
    golden_tables,
    read_golden_rows,
    read_rows,
    sorted_golden_rows,
    sorted_rows,
)

TO_ACID = "SET TBLPROPERTIES ('transactional'='true')"
TO_INSERT_ONLY = "SET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
GOLDEN = {t.case: t for t in golden_tables()}


def plain_copy(session: Session, golden: GoldenTable, into: Path) -> Path:
    """A copy of the files that Hive wrote into a plain table, as a plain table `t`."""
    location = golden.copy(into)
    columns = ", ".join(f"{name} {kind}" for name, kind in golden.columns)
    clustered = f"CLUSTERED BY ({', '.join(golden.bucket_columns)}) INTO {golden.buckets} BUCKETS"
    buckets = clustered if golden.buckets > 0 else ""
    session.execute(f"CREATE TABLE t ({columns}) {buckets} STORED AS ORC LOCATION '{location}'")
    return location


@pytest.mark.parametrize("case", ["originals.converted", "originals_bucketed.converted"])
def test_a_plain_table_of_hive_has_after_its_conversion_the_row_ids_that_hive_gives(
    session: Session, tmp_path: Path, case: str
) -> None:
    golden = GOLDEN[case]
    location = plain_copy(session, golden, tmp_path)
    before = files_below(location)
    session.execute(f"ALTER TABLE t {TO_ACID}")
    assert files_below(location) == before
    expected = golden.expected_row_ids()
    assert expected
    assert sorted_golden_rows(read_golden_rows(session, "t", location)) == sorted_golden_rows(expected)
    assert dict(session.catalog.table("default", "t").properties) == {
        "bucketing_version": "2",
        "transactional": "true",
        "transactional_properties": "default",
    }


def test_dml_on_a_converted_table_gives_what_it_gave_in_hive(session: Session, tmp_path: Path) -> None:
    location = plain_copy(session, GOLDEN["originals.converted"], tmp_path)
    session.execute(f"ALTER TABLE t {TO_ACID}")
    for statement in (  # tests/golden/originals.changed/case.sql
        "UPDATE t SET name = 'u' WHERE id IN (2, 3)",
        "DELETE FROM t WHERE id = 5",
        "INSERT INTO t VALUES (6, 'f')",
    ):
        session.execute(statement)
    assert sorted_rows(read_rows(session, "t")) == sorted_rows(GOLDEN["originals.changed"].expected())
    assert {p.name for p in location.glob("*delta_*")} == {
        "delete_delta_10000001_10000001_0000",
        "delta_10000001_10000001_0000",
        "delete_delta_10000002_10000002_0000",
        "delta_10000003_10000003_0000",
    }
    session.execute(
        "MERGE INTO t USING (VALUES (1, 'm'), (9, 'n')) s(id, name) ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)"
    )
    found = rows(session, "SELECT row__id.writeid, * FROM t ORDER BY id")
    new = 10000000
    assert found == [
        (new + 4, 1, "m"),
        (new + 1, 2, "u"),
        (new + 1, 3, "u"),
        (0, 4, "d"),
        (new + 3, 6, "f"),
        (new + 4, 9, "n"),
    ]


def test_a_partitioned_table_is_converted_with_all_its_partitions(session: Session, tmp_path: Path) -> None:
    golden = GOLDEN["originals.converted"]
    session.execute("CREATE TABLE t (id int, name string) PARTITIONED BY (p string) STORED AS ORC")
    far = golden.copy(tmp_path)
    shutil.copytree(far, tmp_path / "warehouse/t/p=a")
    session.execute(f"ALTER TABLE t ADD PARTITION (p='a') PARTITION (p='far') LOCATION '{far}'")
    assert rows(session, "SELECT p, count(*) FROM t GROUP BY p ORDER BY p") == [("a", 5), ("far", 5)]
    session.execute(f"ALTER TABLE t {TO_ACID}")
    session.execute("UPDATE t SET p = 'far', name = 'moved' WHERE id = 1 AND p = 'a'")
    session.execute("DELETE FROM t WHERE p = 'far' AND name <> 'moved' AND id < 4")
    found = rows(session, "SELECT p, id, name, row__id.writeid FROM t ORDER BY p, id")
    assert found == [
        ("a", 2, "b", 0),
        ("a", 3, "c", 0),
        ("a", 4, "d", 0),
        ("a", 5, "e", 0),
        ("far", 1, "moved", 10000001),
        ("far", 4, "d", 0),
        ("far", 5, "e", 0),
    ]


def test_a_plain_table_of_acidsql_can_be_converted(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute("INSERT INTO t VALUES (3)")
    assert files_below(tmp_path / "warehouse/t") == ["000000_0", "000000_0_copy_1"]
    session.execute(f"ALTER TABLE t {TO_ACID}")
    session.execute("DELETE FROM t WHERE id = 2")
    assert rows(session, "SELECT row__id.rowid, id FROM t ORDER BY id") == [(0, 1), (2, 3)]


def test_a_bucketed_plain_table_of_acidsql_has_its_rows_in_hives_buckets(session: Session, tmp_path: Path) -> None:
    buckets = "CLUSTERED BY (id) INTO 3 BUCKETS STORED AS ORC"
    session.execute(f"CREATE TABLE t (id int, v string) {buckets}")
    session.execute(f"CREATE TABLE acid (id int, v string) {buckets} TBLPROPERTIES ('transactional'='true')")
    for table in ("t", "acid"):
        for start in (0, 20):
            session.execute(
                f"INSERT INTO {table} SELECT id, 'v' FROM (SELECT explode(sequence({start}, {start + 19})) id)"
            )
    assert files_below(tmp_path / "warehouse/t") == [f"00000{b}_0{c}" for b in range(3) for c in ("", "_copy_1")]
    session.execute(f"ALTER TABLE t {TO_ACID}")
    query = "SELECT id, row__id.bucketid FROM {} ORDER BY id"
    assert rows(session, query.format("t")) == rows(session, query.format("acid"))


@pytest.mark.ci
@pytest.mark.parametrize("format_", ["ORC", "PARQUET"])
def test_the_files_of_an_insert_only_table_become_its_first_write(
    session: Session, tmp_path: Path, format_: str
) -> None:
    session.execute(f"CREATE TABLE t (id int) STORED AS {format_}")
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute(f"ALTER TABLE t {TO_INSERT_ONLY}")
    session.execute("INSERT INTO t VALUES (3)")
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1,), (2,), (3,)]
    # As Hive's generateAddMmTasks moves them (hive.mm.allow.originals=false).
    assert files_below(tmp_path / "warehouse/t") == [
        "delta_0000001_0000001_0000/000000_0",
        "delta_0000002_0000002_0000/000000_0",
    ]


def test_a_conversion_to_insert_only_that_was_cut_short_loses_nothing_and_can_be_repeated(
    session: Session, tmp_path: Path
) -> None:
    table = tmp_path / "warehouse/t"
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1)")
    session.execute("INSERT INTO t VALUES (2)")
    (table / "delta_0000001_0000001_0000").mkdir()
    os.rename(table / "000000_0", table / "delta_0000001_0000001_0000/000000_0")
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1,), (2,)]
    session.execute(f"ALTER TABLE t {TO_INSERT_ONLY}")
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1,), (2,)]
    assert files_below(table) == [f"delta_0000001_0000001_0000/000000_0{copy}" for copy in ("", "_copy_1")]


def test_an_insert_only_table_becomes_full_acid(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) STORED AS ORC {TO_INSERT_ONLY.removeprefix('SET ')}")
    session.execute("INSERT INTO t VALUES (1), (2)")
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional_properties'='default')")
    session.execute("UPDATE t SET id = 20 WHERE id = 2")
    assert rows(session, "SELECT row__id.writeid, id FROM t ORDER BY id") == [(1, 1), (10000001, 20)]


# ------------------------------------------------------------------------------------------------ what is refused


def refuses(session: Session, properties: str, *said: str, condition: str = "INVALID_TABLE_PROPERTIES") -> None:
    """Checks that table `t` refuses the properties and keeps its definition and files."""
    before = session.catalog.table("default", "t")
    files = files_below(Path(before.location))
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"ALTER TABLE t SET TBLPROPERTIES ({properties})")
    assert caught.value.condition == condition
    assert all(text in str(caught.value) for text in said), str(caught.value)
    assert session.catalog.table("default", "t") == before
    assert files_below(Path(before.location)) == files


ACID = "'transactional'='true'"


def test_only_orc_can_be_full_acid(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS PARQUET")
    refuses(session, ACID, "The table must be stored using an ACID compliant format (such as ORC): default.t")


def test_an_external_table_is_not_converted_unless_it_is_made_managed_too(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE EXTERNAL TABLE t (id int) STORED AS ORC LOCATION '{tmp_path}/t'")
    refuses(session, ACID, "default.t cannot be declared transactional because it's an external table")
    refuses(session, f"{ACID}, 'transactional_properties'='insert_only'", "because it's an external table")
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('EXTERNAL'='FALSE', 'transactional'='TRUE')")
    table = session.catalog.table("default", "t")
    assert (table.is_full_acid, table.external) == (True, False)
    assert set(table.properties) == {"bucketing_version", "transactional", "transactional_properties"}
    refuses(session, "'EXTERNAL'='TRUE'", "cannot be converted to external table as it is transactional table")


def test_a_sorted_table_is_not_converted(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) CLUSTERED BY (id) SORTED BY (id) INTO 2 BUCKETS STORED AS ORC")
    refuses(session, ACID, condition="SORTED_TABLE")


@pytest.mark.parametrize(
    "name", ["part-00000-abc.snappy.orc", "bucket_00000", "sub/data.orc", "delta_0000001_0000001_0000/000000_0"]
)
def test_a_file_whose_rows_can_have_no_row_id_is_refused_by_name(session: Session, tmp_path: Path, name: str) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    file = tmp_path / "warehouse/t" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"never read")
    (tmp_path / "warehouse/t/_hidden").write_bytes(b"never read")
    refuses(session, ACID, "Unexpected data file name format.  Cannot convert default.t", str(file), "INSERT .. SELECT")


def test_a_file_of_a_bucket_that_the_table_does_not_have_is_refused(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC")
    (tmp_path / "warehouse/t/000002_0").write_bytes(b"never read")
    refuses(session, ACID, "Cannot convert default.t", "there are 2 buckets")


def test_a_transactional_table_does_not_become_plain(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ({ACID})")
    back = "Cannot convert an ACID table to non-ACID"
    refuses(session, "'transactional'='false'", back)
    refuses(session, "'TRANSACTIONAL'='false'", back)
    refuses(session, "'transactional_properties'='insert_only'", "cannot be altered after the table is created")
    with pytest.raises(AcidSqlError, match=back):
        session.execute("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('transactional')")
    assert session.catalog.table("default", "t").is_full_acid


def test_invalid_transactional_properties_are_refused(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    refuses(session, "'transactional'='yes'", "may only have value 'true'")
    refuses(session, "'transactional_properties'='insert_only'", "without setting 'transactional' to 'true'")
    refuses(session, f"{ACID}, 'transactional_properties'='both'", "unknown value both")
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional'='false')")
    assert dict(session.catalog.table("default", "t").properties) == {"bucketing_version": "2"}
