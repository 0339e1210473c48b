"""row__id of insert-only tables, and deleted rows: t('insertonly.fetch.bucketid'='true') and
t('acid.fetch.deleted.rows'='true'). The expected values are those of Hive 4.0.1."""

from __future__ import annotations

import pytest

from acidsql.session import Session
from tests.answers import fails

INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
DELETED = "('acid.fetch.deleted.rows'='true')"


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    found = [tuple(tuple(v) if isinstance(v, tuple) else v for v in row) for row in session.sql(query).collect()]
    return sorted(found, key=repr)


@pytest.mark.nightly
@pytest.mark.parametrize("file_format", ["ORC", "PARQUET", "TEXTFILE"])
def test_row_ids_of_an_insert_only_table_have_its_write_ids(session: Session, file_format: str) -> None:
    session.execute(f"CREATE TABLE t (a int) CLUSTERED BY (a) INTO 2 BUCKETS STORED AS {file_format} {INSERT_ONLY}")
    session.execute("INSERT INTO t VALUES (1), (2), (3)")
    session.execute("INSERT INTO t VALUES (4)")
    expected: list[tuple[object, ...]] = [((1, 0, 0), 2), ((1, 0, 0), 3), ((1, 1, 0), 1), ((2, 1, 0), 4)]
    assert rows(session, "SELECT row__id, a FROM t('insertonly.fetch.bucketid'='true')") == expected
    assert rows(session, "SELECT row__id, a FROM t") == expected
    assert rows(session, "SELECT x.a, x.row__id.bucketid FROM default.t x WHERE x.row__id.writeid > 1") == [(4, 1)]
    assert rows(session, "SELECT * FROM t WHERE row__is__deleted") == []


def test_rows_of_an_insert_only_table_have_no_id_where_the_write_is_not_known(session: Session) -> None:
    session.execute("CREATE TABLE t (a int) PARTITIONED BY (p int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (0, 1)")
    session.execute(f"CREATE TABLE u (a int) PARTITIONED BY (p int) STORED AS ORC {INSERT_ONLY}")
    session.execute("INSERT INTO u VALUES (1, 1), (2, 2)")
    session.execute("INSERT INTO u VALUES (3, 1)")
    session.execute("INSERT OVERWRITE TABLE u PARTITION (p = 2) SELECT 9")
    assert rows(session, "SELECT row__id, a FROM u") == [((1, 0, 0), 1), ((2, 0, 0), 3), ((3, 0, 0), 9)]
    session.execute("ALTER TABLE u PARTITION (p = 1) COMPACT 'major' AND WAIT")
    assert rows(session, "SELECT row__id, a FROM u") == [((3, 0, 0), 9), (None, 1), (None, 3)]
    assert rows(session, "SELECT a FROM u WHERE row__id.writeid > 1") == [(9,)]
    error = fails("ROW_ID_OF_PLAIN_TABLE", lambda: session.sql("SELECT row__is__deleted FROM t"))
    assert "default.t has no row__is__deleted" in error.message


def changed(session: Session) -> None:
    session.execute(f"CREATE TABLE t (a int, b string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    session.execute("DELETE FROM t WHERE a = 1")
    session.execute("UPDATE t SET b = 'x' WHERE a = 3")


@pytest.mark.ci
def test_deleted_rows_are_read_with_the_write_id_of_the_delete(session: Session) -> None:
    changed(session)
    query = f"SELECT ROW__IS__DELETED, row__id.writeid, row__id.rowid, * FROM t{DELETED}"
    assert rows(session, query) == [
        (False, 1, 1, 2, "two"),
        (False, 3, 0, 3, "x"),
        (True, 2, 0, 1, "one"),
        (True, 3, 2, 3, "three"),
    ]
    assert rows(session, "SELECT t.ROW__IS__DELETED, * FROM t") == [(False, 2, "two"), (False, 3, "x")]
    assert rows(session, f"SELECT count(*) FROM t{DELETED}") == [(4,)]
    assert rows(session, f"SELECT x.a FROM t{DELETED} x WHERE x.row__is__deleted") == [(1,), (3,)]
    assert rows(session, f"SELECT x.a FROM t{DELETED} AS x JOIN t y ON x.a = y.a") == [(2,), (3,), (3,)]
    assert rows(session, f"SELECT a FROM t{DELETED} WHERE a = 1") == [(1,)]
    assert rows(session, "SELECT a FROM t('acid.fetch.deleted.rows'='false')") == [(2,), (3,)]
    assert rows(session, "SELECT a FROM t('unknown'='true')") == [(2,), (3,)]


@pytest.mark.ci
def test_deleted_rows_of_partitions_and_older_files_are_read_until_a_major_compaction(session: Session) -> None:
    session.execute("CREATE TABLE t (a int) PARTITIONED BY (p string) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'y')")
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')")
    assert rows(session, f"SELECT a, row__is__deleted FROM t{DELETED}") == [(1, False), (2, False), (3, False)]
    session.execute("DELETE FROM t WHERE a IN (1, 3)")
    query = f"SELECT a, p, row__is__deleted FROM t{DELETED}"
    assert rows(session, query) == [(1, "x", True), (2, "x", False), (3, "y", True)]
    assert rows(session, f"{query} WHERE p = 'y'") == [(3, "y", True)]
    session.execute("ALTER TABLE t PARTITION (p = 'x') COMPACT 'major' AND WAIT")
    assert rows(session, query) == [(2, "x", False), (3, "y", True)]


def test_statements_that_copy_deleted_rows_take_them_as_rows(session: Session) -> None:
    changed(session)
    session.execute(f"CREATE TABLE log AS SELECT a, ROW__IS__DELETED AS gone FROM t{DELETED}")
    assert rows(session, "SELECT * FROM log") == [(1, True), (2, False), (3, False), (3, True)]
    assert rows(session, "SELECT a FROM t") == [(2,), (3,)]


def test_a_view_and_a_merge_may_read_deleted_rows(session: Session) -> None:
    changed(session)
    session.execute(f"CREATE VIEW v AS SELECT x.a, x.row__is__deleted AS gone FROM t{DELETED} x")
    assert rows(session, "SELECT * FROM v") == [(1, True), (2, False), (3, False), (3, True)]
    session.execute(f"CREATE TABLE u (a int, gone boolean) {ACID}")
    source = f"(SELECT a, row__is__deleted AS gone FROM t{DELETED} WHERE a < 3) s"
    merge = f"MERGE INTO u USING {source} ON u.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.gone)"
    session.execute(merge)
    assert rows(session, "SELECT * FROM u") == [(1, True), (2, False)]
