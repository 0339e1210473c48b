"""CREATE TABLE LIKE: the shape and kind of a table without its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.acid.table import Column, Constraints, Table
from acidsql.errors import AcidSqlError
from acidsql.session import Session


def table(session: Session, name: str) -> Table:
    return session.catalog.table("default", name)


def test_a_copy_has_columns_partitions_buckets_and_kind_but_neither_rows_nor_constraints(
    session: Session, tmp_path: Path
) -> None:
    session.execute(
        "CREATE TABLE t (id int NOT NULL ENABLE COMMENT 'the key', v string DEFAULT 'd') COMMENT 'source'"
        " PARTITIONED BY (p date) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC"
        " TBLPROPERTIES ('transactional'='true', 'orc.compress'='SNAPPY', 'mine'='x')"
    )
    session.execute("INSERT INTO t VALUES (1, 'a', '2024-01-01')")
    session.execute("CREATE TABLE l LIKE t")
    copy = table(session, "l")
    assert copy.columns == (Column("id", "int", "the key"), Column("v", "string"))
    assert copy.partition_columns == (Column("p", "date"),)
    assert (copy.bucket_columns, copy.bucket_count, copy.file_format) == (("id",), 2, "orc")
    assert dict(copy.properties) == {
        "bucketing_version": "2",
        "transactional": "true",
        "transactional_properties": "default",
        "orc.compress": "SNAPPY",
    }
    assert (copy.constraints, copy.comment) == (Constraints(), None)
    assert copy.location == f"{tmp_path}/warehouse/l"
    assert session.catalog.partitions(copy) == []
    session.execute("INSERT INTO l SELECT * FROM t")
    session.execute("DELETE FROM l WHERE id = 1")
    assert session.sql("SELECT * FROM l").collect() == []
    assert session.sql("SELECT count(*) FROM t").first() == (1,)


def test_clauses_of_the_statement_win_over_those_of_the_source(session: Session, tmp_path: Path) -> None:
    only = "'transactional'='true', 'transactional_properties'='insert_only'"
    session.execute(f"CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ({only}, 'orc.compress'='SNAPPY')")
    session.execute(
        f"CREATE TABLE l LIKE t LOCATION '{tmp_path}/there' TBLPROPERTIES"
        " ('transactional_properties'='default', 'ORC.COMPRESS'='ZSTD', 'own'='y')"
    )
    session.execute("CREATE TABLE plain LIKE t TBLPROPERTIES ('transactional'='false')")
    session.execute(f"CREATE EXTERNAL TABLE outside LIKE t STORED AS PARQUET LOCATION '{tmp_path}/out'")
    session.execute("CREATE TRANSACTIONAL TABLE again LIKE plain")
    made = table(session, "l")
    assert (made.is_full_acid, made.location) == (True, f"{tmp_path}/there")
    assert (made.properties["ORC.COMPRESS"], made.properties["own"]) == ("ZSTD", "y")
    assert "orc.compress" not in made.properties
    assert not table(session, "plain").is_transactional
    outside = table(session, "outside")
    assert (outside.external, outside.is_transactional, outside.file_format) == (True, False, "parquet")
    assert table(session, "again").is_full_acid
    session.execute("CREATE TABLE managed LIKE outside")
    assert not table(session, "managed").external


def test_an_impossible_copy_is_refused(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    for statement, condition in {
        "CREATE TABLE l LIKE tt": "TABLE_NOT_FOUND",
        "CREATE TABLE t LIKE t": "TABLE_ALREADY_EXISTS",
        "CREATE TABLE nowhere.l LIKE t": "DATABASE_NOT_FOUND",
        "CREATE TABLE l LIKE t STORED AS PARQUET": "INVALID_TABLE_PROPERTIES",
    }.items():
        with pytest.raises(AcidSqlError) as caught:
            session.execute(statement)
        assert caught.value.condition == condition
    session.execute("CREATE TABLE IF NOT EXISTS t LIKE missing")
    assert session.catalog.tables("default") == ["t"]
