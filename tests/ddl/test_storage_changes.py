"""ALTER TABLE .. SET FILEFORMAT, SERDE, SERDEPROPERTIES, buckets, OWNER and TOUCH; ALTER DATABASE. Files that are there
never become unreadable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.acid.table import PrincipalKind
from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.answers import rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
CSV = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet"


def fails(session: Session, statement: str, condition: str) -> AcidSqlError:
    """Checks that the statement fails and changes no table."""
    catalog = session.catalog
    before = [catalog.table("default", name) for name in catalog.tables("default")]
    with pytest.raises(AcidSqlError) as caught:
        session.execute(statement)
    assert caught.value.condition == condition, str(caught.value)
    assert [catalog.table("default", name) for name in catalog.tables("default")] == before
    return caught.value


def test_the_file_format_of_a_table_without_files_can_change(session: Session) -> None:
    delimited = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
    session.execute(f"CREATE TABLE t (id int, v string) {delimited} STORED AS TEXTFILE")
    session.execute("ALTER TABLE t SET FILEFORMAT PARQUET")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    assert session.catalog.table("default", "t").file_format == "parquet"
    assert rows(session, "SELECT * FROM t") == [(1, "a")]
    error = fails(session, "ALTER TABLE t SET FILEFORMAT ORC", "ALTER_REFUSED")
    assert "its files are no files of that format" in str(error)
    session.execute("ALTER TABLE t SET FILEFORMAT parquet")
    session.execute("TRUNCATE TABLE t")
    text = "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' OUTPUTFORMAT 'x'"
    session.execute(f"ALTER TABLE t SET FILEFORMAT {text} SERDE '{LAZY}'")
    session.execute("INSERT INTO t VALUES (2, 'b')")
    assert (Path(session.warehouse) / "t" / "000000_0").read_text() == "2,b\n"


def test_orc_tables_keep_their_format_and_serde_as_in_hive(session: Session) -> None:
    session.execute(f"CREATE TABLE acid (id int) {ACID}")
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    for table in ("acid", "plain"):
        error = fails(session, f"ALTER TABLE {table} SET FILEFORMAT TEXTFILE", "CANNOT_CHANGE_FILE_FORMAT")
        text = f"Changing file format (from ORC) is not supported for table default.{table}"
        assert (error.hive_code, text in str(error)) == (10310, True)
        error = fails(session, f"ALTER TABLE {table} SET SERDE '{LAZY}'", "CANNOT_CHANGE_SERDE")
        assert (error.hive_code, "Changing SerDe (from OrcSerde)" in str(error)) == (10309, True)
        session.execute(f"ALTER TABLE {table} SET FILEFORMAT ORC")
        session.execute(f"ALTER TABLE {table} SET SERDE 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'")
        session.execute(f"ALTER TABLE {table} SET SERDEPROPERTIES ('a'='b')")
        assert session.catalog.table("default", table).row_format == {"a": "b"}
        session.execute(f"INSERT INTO {table} VALUES (1)")
        assert rows(session, f"SELECT id FROM {table}") == [(1,)]


def test_formats_and_serdes_that_acidsql_cannot_read_are_refused(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS TEXTFILE")
    session.execute("CREATE TABLE p (id int) STORED AS PARQUET")
    fails(session, "ALTER TABLE t SET FILEFORMAT AVRO", "NOT_YET_SUPPORTED")
    fails(session, "ALTER TABLE t SET SERDE 'org.x.Own'", "NOT_YET_SUPPORTED")
    fails(session, f"ALTER TABLE p SET SERDE '{LAZY}'", "NOT_YET_SUPPORTED")
    fails(session, "ALTER TABLE t SET SERDEPROPERTIES ('serialization.encoding'='GBK')", "NOT_YET_SUPPORTED")
    fails(session, f"ALTER TABLE t SET SERDE '{CSV}'", "ALTER_REFUSED")
    fails(session, "ALTER TABLE t SET FILEFORMAT thing", "PARSE_SYNTAX_ERROR")


def test_serde_properties_say_how_the_files_of_a_text_table_are_read(session: Session) -> None:
    session.execute("CREATE TABLE t (a string, b string) STORED AS TEXTFILE")
    (Path(session.warehouse) / "t" / "data").write_text("1;NULL\n2;x\n")
    assert rows(session, "SELECT b FROM t ORDER BY a") == [(None,), (None,)]
    session.execute("ALTER TABLE t SET SERDEPROPERTIES ('field.delim'=';', 'serialization.null.format'='NULL')")
    assert rows(session, "SELECT a, b FROM t ORDER BY a") == [("1", None), ("2", "x")]
    session.execute("ALTER TABLE t UNSET SERDEPROPERTIES ('serialization.null.format', 'unknown')")
    assert rows(session, "SELECT a, b FROM t ORDER BY a") == [("1", "NULL"), ("2", "x")]
    fails(session, f"ALTER TABLE t SET SERDE '{CSV}' WITH SERDEPROPERTIES ('separatorChar'=';')", "NOT_YET_SUPPORTED")


def test_a_text_table_becomes_a_csv_table_while_it_has_no_files(session: Session) -> None:
    session.execute("CREATE TABLE t (a string, b string) STORED AS TEXTFILE")
    session.execute(f"ALTER TABLE t SET SERDE '{CSV}' WITH SERDEPROPERTIES ('separatorChar'='|')")
    session.execute("INSERT INTO t VALUES ('x', 'y')")
    assert (Path(session.warehouse) / "t" / "000000_0").read_text() == '"x"|"y"\n'
    fails(session, f"ALTER TABLE t SET SERDE '{LAZY}'", "NOT_YET_SUPPORTED")
    session.execute("ALTER TABLE t UNSET SERDEPROPERTIES ('separatorChar')")
    fails(session, f"ALTER TABLE t SET SERDE '{LAZY}'", "ALTER_REFUSED")


def test_a_partitioned_table_changes_its_storage_while_it_has_no_partitions(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v string) PARTITIONED BY (p int) STORED AS TEXTFILE")
    session.execute("ALTER TABLE t SET SERDEPROPERTIES ('field.delim'=',')")
    session.execute("INSERT INTO t PARTITION (p = 1) VALUES (1, 'a')")
    fails(session, "ALTER TABLE t SET FILEFORMAT PARQUET", "ALTER_REFUSED")
    fails(session, "ALTER TABLE t SET SERDEPROPERTIES ('field.delim'=';')", "ALTER_REFUSED")
    fails(session, "ALTER TABLE t CLUSTERED BY (id) INTO 2 BUCKETS", "ALTER_REFUSED")
    fails(session, "ALTER TABLE t PARTITION (p = 1) SET FILEFORMAT PARQUET", "NOT_YET_SUPPORTED")
    fails(session, "ALTER TABLE t PARTITION (p = 2) SET FILEFORMAT TEXTFILE", "PARTITION_NOT_FOUND")
    session.execute("ALTER TABLE t PARTITION (p = '01') SET FILEFORMAT TEXTFILE")
    session.execute(f"ALTER TABLE t PARTITION (p = 1) SET SERDE '{LAZY}' WITH SERDEPROPERTIES ('field.delim'=',')")
    assert rows(session, "SELECT * FROM t") == [(1, "a", 1)]


def test_buckets_of_a_plain_table_change_for_new_files(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v string) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (0, 'old')")
    error = fails(session, "ALTER TABLE t INTO 4 BUCKETS", "NOT_BUCKETED")
    assert error.hive_code == 10145
    session.execute("ALTER TABLE t CLUSTERED BY (id) SORTED BY (v) INTO 3 BUCKETS")
    session.execute("ALTER TABLE t NOT SORTED")
    session.execute("ALTER TABLE t INTO 2 BUCKETS")
    found = session.catalog.table("default", "t")
    assert (found.bucket_columns, found.bucket_count, found.sort_columns) == (("id",), 2, ())
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(0,), (1,), (2,)]
    session.execute("ALTER TABLE t NOT CLUSTERED")
    assert session.catalog.table("default", "t").bucket_count is None
    fails(session, "ALTER TABLE t CLUSTERED BY (nothing) INTO 2 BUCKETS", "COLUMN_NOT_FOUND")
    fails(session, "ALTER TABLE t CLUSTERED BY (id) INTO 0 BUCKETS", "PARSE_SYNTAX_ERROR")


@pytest.mark.parametrize(
    "change", ["CLUSTERED BY (id) INTO 4 BUCKETS", "INTO 4 BUCKETS", "NOT CLUSTERED", "NOT SORTED"]
)
def test_buckets_of_a_transactional_table_stay(session: Session, change: str) -> None:
    session.execute(f"CREATE TABLE t (id int) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    fails(session, f"ALTER TABLE t {change}", "ALTER_REFUSED")


def test_touch_changes_nothing_and_finds_missing_partitions(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int) {ACID}")
    session.execute("ALTER TABLE t ADD PARTITION (p = 1)")
    before = session.catalog.table("default", "t")
    session.execute("ALTER TABLE t TOUCH")
    session.execute("ALTER TABLE t TOUCH PARTITION (p = 1) PARTITION (p = '01')")
    fails(session, "ALTER TABLE t TOUCH PARTITION (p = 1) PARTITION (p = 2)", "PARTITION_NOT_FOUND")
    assert session.catalog.table("default", "t") == before


def test_a_table_gets_an_owner(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    before = session.catalog.table("default", "t")
    session.execute("ALTER TABLE t SET OWNER ROLE `Analysts`")
    assert session.catalog.table("default", "t") == replace(before, owner="Analysts", owner_kind=PrincipalKind.ROLE)
    shown = list(session.execute("DESCRIBE FORMATTED t").rows())
    assert ("OwnerType:", "ROLE", "") in shown
    assert ("Owner:", "Analysts", "") in shown
    session.execute("ALTER TABLE t SET OWNER USER bob")
    session.execute("INSERT INTO t VALUES (1)")
    assert ("OwnerType:", "USER", "") in session.execute("DESCRIBE FORMATTED t").rows()


def test_a_database_gets_an_owner_and_other_directories(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE DATABASE d COMMENT 'people' MANAGEDLOCATION '{tmp_path}/m' WITH DBPROPERTIES ('a'='b')")
    session.execute("CREATE TABLE d.old (id int)")
    session.execute("ALTER DATABASE d SET OWNER ROLE admins")
    session.execute(f"ALTER DATABASE d SET LOCATION '{tmp_path}/l'")
    session.execute("CREATE TABLE d.plain (id int)")
    session.execute(f"CREATE TABLE d.acid (id int) {ACID}")
    session.execute("INSERT INTO d.acid VALUES (1)")
    places = [session.catalog.table("d", name).location for name in ("old", "plain", "acid")]
    assert places == [f"{session.warehouse}/d.db/old", f"{tmp_path}/l/plain", f"{tmp_path}/m/acid"]
    names = ["db_name", "comment", "location", "managedlocation", "ownername", "ownertype", "parameters"]
    answer = session.execute("DESCRIBE DATABASE EXTENDED d")
    assert [c.name for c in answer.columns or ()] == names
    assert list(answer.rows()) == [("d", "people", f"{tmp_path}/l", f"{tmp_path}/m", "admins", "ROLE", "{a=b}")]
    text = "\n".join(str(line) for (line,) in session.execute("SHOW CREATE DATABASE d").rows())
    session.execute(f"ALTER DATABASE d SET MANAGEDLOCATION '{tmp_path}/n'")
    assert session.catalog.database("d").managed_location == f"{tmp_path}/n"
    before = session.catalog.database("d")
    session.execute("DROP DATABASE d CASCADE")
    session.execute(text)
    assert replace(session.catalog.database("d"), managed_location=before.managed_location) == before


def test_a_database_does_not_get_the_directory_of_another_one(session: Session) -> None:
    session.execute("CREATE DATABASE d")
    session.execute("CREATE DATABASE e")
    before = session.catalog.database("d")
    for place in ("LOCATION", "MANAGEDLOCATION"):
        with pytest.raises(AcidSqlError) as caught:
            session.execute(f"ALTER DATABASE d SET {place} '{session.warehouse}/e.db/below'")
        assert caught.value.condition == "LOCATION_TAKEN"
    assert session.catalog.database("d") == before
