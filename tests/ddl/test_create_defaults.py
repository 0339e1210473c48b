"""What CREATE TABLE leaves open: the file format and the kind of the table, by Hive's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.acid.table import Table
from acidsql.session import Session
from tests.answers import fails

LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
ORC = "org.apache.hadoop.hive.ql.io.orc."


def created(session: Session, statement: str, *settings: str) -> Table:
    for setting in settings:
        session.execute(f"SET {setting}")
    session.execute(statement)
    return session.catalog.table("default", "t")


@pytest.mark.parametrize(
    ("statement", "file_format", "settings"),
    [
        ("CREATE TABLE t (id int)", "orc", []),
        ("CREATE TABLE t (id int)", "textfile", ["hive.default.fileformat=TextFile"]),
        ("CREATE EXTERNAL TABLE t (id int)", "orc", ["hive.default.fileformat.managed=PARQUET"]),
        ("CREATE TABLE t (id int)", "parquet", ["hive.default.fileformat.managed=PARQUET"]),
        ("CREATE TABLE t AS SELECT 1 AS id", "parquet", ["hive.default.fileformat=parquet"]),
        ("CREATE TABLE t (id int) STORED AS ORC", "orc", ["hive.default.fileformat=textfile"]),
        ("CREATE TABLE t (id int) ROW FORMAT DELIMITED", "textfile", []),
        ("CREATE TABLE t (id int) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','", "textfile", []),
        (f"CREATE TABLE t (id int) ROW FORMAT SERDE '{LAZY}'", "textfile", ["hive.default.fileformat=parquet"]),
        (f"CREATE TABLE t (id int) ROW FORMAT SERDE '{ORC}OrcSerde'", "orc", []),
        (
            f"CREATE TABLE t (id int) ROW FORMAT SERDE '{ORC}OrcSerde'"
            f" STORED AS INPUTFORMAT '{ORC}OrcInputFormat' OUTPUTFORMAT '{ORC}OrcOutputFormat'",
            "orc",
            [],
        ),
        (
            "CREATE TABLE t (id int) STORED AS INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat'"
            " OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat'",
            "textfile",
            [],
        ),
    ],
)
def test_the_file_format_is_that_of_the_statement_or_of_the_settings(
    session: Session, statement: str, file_format: str, settings: list[str]
) -> None:
    assert created(session, statement, *settings).file_format == file_format


def test_a_table_with_a_row_format_reads_the_text_files_of_its_directory(session: Session, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "people.csv").write_text("1,Ann\n2,Bob\n")
    row_format = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
    session.execute(f"CREATE EXTERNAL TABLE t (id int, name string) {row_format} LOCATION '{tmp_path}/in'")
    assert sorted(map(tuple, session.sql("SELECT * FROM t").collect())) == [(1, "Ann"), (2, "Bob")]


REFUSED = {
    "CREATE TABLE t (a int) STORED AS SEQUENCEFILE": "STORED AS SEQUENCEFILE",
    "CREATE TABLE t STORED AS AVRO AS SELECT 1 AS a": "STORED AS AVRO",
    "CREATE TABLE t (a int) ROW FORMAT SERDE 'org.x.MySerDe'": "ROW FORMAT SERDE 'org.x.MySerDe'",
    f"CREATE TABLE t (a int) ROW FORMAT SERDE '{LAZY}' STORED AS ORC": LAZY,
    "CREATE TABLE t (a int) STORED AS INPUTFORMAT 'org.x.In' OUTPUTFORMAT 'org.x.Out'": "'org.x.In'",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_a_format_that_cannot_be_read_is_refused_by_its_name(session: Session, statement: str) -> None:
    error = fails("NOT_YET_SUPPORTED", lambda: session.execute(statement))
    assert REFUSED[statement] in error.message
    assert list(session.catalog.tables("default")) == []


def test_a_default_format_that_cannot_be_read_is_refused_when_a_table_is_created(session: Session) -> None:
    session.execute("SET hive.default.fileformat=RCfile")
    assert "STORED AS RCFILE" in fails("NOT_YET_SUPPORTED", lambda: session.execute("CREATE TABLE t (a int)")).message
    fails("INVALID_SETTING", lambda: session.execute("SET hive.default.fileformat=ork"))


ACID, INSERT_ONLY = "metastore.create.as.acid=true", "hive.create.as.insert.only=true"


@pytest.mark.parametrize(
    ("statement", "kind", "settings"),
    [
        ("CREATE TABLE t (id int)", "plain", []),
        ("CREATE TABLE t (id int)", "full ACID", [ACID]),
        ("CREATE TABLE t (id int)", "full ACID", ["hive.create.as.acid=true"]),
        ("CREATE TABLE t AS SELECT 1 AS id", "full ACID", [ACID]),
        ("CREATE TABLE t (id int)", "full ACID", [ACID, INSERT_ONLY]),
        ("CREATE TABLE t (id int)", "insert-only", [INSERT_ONLY]),
        ("CREATE TABLE t AS SELECT 1 AS id", "insert-only", [INSERT_ONLY]),
        ("CREATE TABLE t (id int) STORED AS PARQUET", "plain", [ACID]),
        ("CREATE TABLE t (id int) STORED AS PARQUET", "insert-only", [ACID, INSERT_ONLY]),
        ("CREATE TABLE t (id int) CLUSTERED BY (id) SORTED BY (id) INTO 2 BUCKETS", "plain", [ACID]),
        ("CREATE TABLE t (id int) TBLPROPERTIES ('transactional'='false')", "plain", [ACID, INSERT_ONLY]),
        ("CREATE TABLE t (id int) TBLPROPERTIES ('transactional'='true')", "full ACID", [INSERT_ONLY]),
        ("CREATE EXTERNAL TABLE t (id int)", "plain", [ACID, INSERT_ONLY]),
        ("CREATE TABLE t (id int) TBLPROPERTIES ('EXTERNAL'='TRUE')", "plain", [ACID]),
        ("CREATE TRANSACTIONAL TABLE t (id int)", "full ACID", []),
        ("CREATE MANAGED TABLE t (id int)", "full ACID", []),
        ("CREATE TRANSACTIONAL TABLE t (id int) STORED AS PARQUET", "insert-only", []),
    ],
)
def test_the_kind_of_a_table_follows_from_its_statement_and_the_settings(
    session: Session, statement: str, kind: str, settings: list[str]
) -> None:
    table = created(session, statement, *settings)
    shown = "full ACID" if table.is_full_acid else "insert-only" if table.is_insert_only else "plain"
    assert (shown, table.external) == (kind, "EXTERNAL" in statement)


def test_transactional_properties_without_transactional_are_refused(session: Session) -> None:
    statement = "CREATE TABLE t (id int) TBLPROPERTIES ('transactional_properties'='insert_only')"
    error = fails("INVALID_TABLE_PROPERTIES", lambda: session.execute(statement))
    assert "Cannot specify transactional_properties without transactional" in error.message
