"""Plain tables: files without write IDs, in partitions and buckets, of every format."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.metastore.patience import eventually
from tests.selection import core

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def rows(session: Session, table: str = "t") -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in session.sql(f"SELECT * FROM {table}").collect()), key=repr)


def files(session: Session, table: str = "t") -> list[str]:
    root = Path(session.catalog.table("default", table).location)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def inserted(session: Session, statement: str) -> int:
    counts = session.execute(statement).counts
    assert counts is not None
    assert counts.affected == counts.inserted
    return counts.inserted


@pytest.mark.ci
@pytest.mark.parametrize("file_format", core(["ORC", "PARQUET", "TEXTFILE"], lambda name: name == "PARQUET"))
def test_a_partitioned_table_is_inserted_into_overwritten_and_truncated(session: Session, file_format: str) -> None:
    session.execute(f"CREATE TABLE t (id int, c char(4)) PARTITIONED BY (k string, n int) STORED AS {file_format}")
    assert inserted(session, "INSERT INTO t VALUES (1, 'x', '/=%', 1), (2, NULL, NULL, NULL), (3, 'zz', 'b', 2)") == 3
    null = (2, None, NULL_PARTITION, None)
    assert rows(session) == [(1, "x   ", "/=%", 1), null, (3, "zz  ", "b", 2)]
    assert files(session) == [
        "k=%2F%3D%25/n=1/000000_0",
        f"k={NULL_PARTITION}/n={NULL_PARTITION}/000000_0",
        "k=b/n=2/000000_0",
    ]
    assert inserted(session, "INSERT INTO t PARTITION (k = 'b', n = 2) VALUES (4, 'y')") == 1
    assert rows(session)[2:] == [(3, "zz  ", "b", 2), (4, "y   ", "b", 2)]
    overwrite = "INSERT OVERWRITE TABLE t PARTITION (k, n) SELECT id * 10, c, k, n FROM t WHERE k = 'b'"
    assert inserted(session, overwrite) == 2
    assert rows(session) == [(1, "x   ", "/=%", 1), null, (30, "zz  ", "b", 2), (40, "y   ", "b", 2)]
    assert inserted(session, "INSERT OVERWRITE TABLE t PARTITION (k = 'b', n = 2) IF NOT EXISTS SELECT 1, 'q'") == 0
    assert len(rows(session)) == 4
    assert inserted(session, "INSERT OVERWRITE TABLE t PARTITION (k = 'b', n = 2) SELECT 1, 'q' WHERE false") == 0
    assert rows(session) == [(1, "x   ", "/=%", 1), null]
    truncated = session.execute("TRUNCATE TABLE t PARTITION (k = '/=%')")
    assert truncated.write_ids == {}
    assert rows(session) == [null]
    shown = [str(row[0]) for row in session.execute("SHOW PARTITIONS t").rows()]
    assert shown == ["k=%2F%3D%25/n=1", f"k={NULL_PARTITION}/n={NULL_PARTITION}", "k=b/n=2"]
    session.execute("TRUNCATE TABLE t")
    assert files(session) == []


def test_insert_overwrite_replaces_all_rows_also_by_rows_of_the_table_itself(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v string) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert inserted(session, "INSERT OVERWRITE TABLE t SELECT id + 10, v FROM t") == 2
    assert rows(session) == [(11, "a"), (12, "b")]
    assert len(files(session)) == 1
    assert inserted(session, "INSERT OVERWRITE TABLE t SELECT * FROM t WHERE false") == 0
    assert files(session) == []


def test_a_failed_statement_changes_nothing(session: Session) -> None:
    session.execute("CREATE TABLE t (id int, v string) PARTITIONED BY (p int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1, 'a', 1)")
    before = files(session)
    with pytest.raises(AcidSqlError):
        session.execute("INSERT OVERWRITE TABLE t SELECT id, raise_error('no'), 2 FROM t")
    assert files(session) == before
    assert rows(session) == [(1, "a", 1)]
    assert len(list(session.execute("SHOW PARTITIONS t").rows())) == 1


def test_a_partitioned_and_bucketed_table_can_be_converted_and_changed(session: Session) -> None:
    session.execute(
        "CREATE TABLE t (id int, v string) PARTITIONED BY (p int) CLUSTERED BY (id) INTO 3 BUCKETS STORED AS ORC"
    )
    session.execute("INSERT INTO t SELECT id, 'x', id % 2 FROM range(0, 10, 1, 2)")
    session.execute("INSERT INTO t SELECT id + 10, 'x', id % 2 FROM range(0, 10, 1, 2)")
    expected = [(i, "x", i % 2) for i in range(20)]
    assert rows(session) == sorted(expected, key=repr)
    session.execute("ALTER TABLE t SET TBLPROPERTIES ('transactional'='true')")
    session.execute("UPDATE t SET v = 'y' WHERE id < 3")
    session.execute("DELETE FROM t WHERE id = 17")
    expected = [(i, "y" if i < 3 else "x", i % 2) for i in range(20) if i != 17]
    assert rows(session) == sorted(expected, key=repr)


def test_create_table_as_and_multi_insert_write_partitions(session: Session) -> None:
    session.execute("CREATE TABLE s (id int, k string) STORED AS ORC")
    session.execute("INSERT INTO s VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    session.execute("CREATE TABLE t PARTITIONED BY (k) STORED AS PARQUET AS SELECT id, k FROM s")
    assert rows(session) == [(1, "a"), (2, "b"), (3, NULL_PARTITION)]
    session.execute("CREATE TRANSACTIONAL TABLE u (id int)")
    session.execute(
        "FROM s INSERT OVERWRITE TABLE t PARTITION (k = 'a') SELECT id + 10 WHERE id > 1 INSERT INTO u SELECT id"
    )
    assert rows(session) == [(12, "a"), (13, "a"), (2, "b"), (3, NULL_PARTITION)]
    assert rows(session, "u") == [(1,), (2,), (3,)]


def test_an_external_table_is_not_truncated(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE EXTERNAL TABLE t (id int) STORED AS ORC LOCATION '{tmp_path}/t'")
    session.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(AcidSqlError, match=r"\[Error 10146\] Cannot truncate non-managed table default.t"):
        session.execute("TRUNCATE TABLE t")
    assert rows(session) == [(1,)]


def test_an_overwrite_waits_for_the_readers_of_the_table(session: Session, open_session: Callable[[], Session]) -> None:
    session.execute("CREATE TABLE t (id int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1)")
    other = open_session()
    reading = other.sql("SELECT * FROM t")  # not read yet: its transaction is open
    writer = threading.Thread(target=session.execute, args=["INSERT OVERWRITE TABLE t VALUES (2)"])
    writer.start()
    eventually(lambda: any(lock.blocked_by is not None for lock in other._metastore.locks()))
    assert writer.is_alive()
    assert [tuple(row) for row in reading.collect()] == [(1,)]
    del reading
    other.close()
    writer.join(60)
    assert rows(session) == [(2,)]


def test_a_multi_insert_that_fails_at_its_last_table_takes_back_what_the_first_one_showed(session: Session) -> None:
    session.execute("CREATE TABLE s (id int) STORED AS ORC")
    session.execute("INSERT INTO s VALUES (1), (2)")
    session.execute("CREATE TABLE first (id int) STORED AS PARQUET")
    session.execute("INSERT INTO first VALUES (7)")
    session.execute("CREATE TABLE last (id int) PARTITIONED BY (p int) STORED AS ORC")
    before = files(session, "first")
    (in_the_way := Path(session.catalog.table("default", "last").location) / "p=1").parent.mkdir(exist_ok=True)
    in_the_way.touch()
    statement = "FROM s INSERT INTO first SELECT id INSERT INTO last PARTITION (p) SELECT id, 1"
    with pytest.raises(AcidSqlError, match="p=1"):
        session.execute(statement)
    assert files(session, "first") == before
    assert rows(session, "first") == [(7,)]
    in_the_way.unlink()
    session.execute(statement)
    assert rows(session, "first") == [(1,), (2,), (7,)]
    assert rows(session, "last") == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    "kind", ["'transactional'='false'", "'transactional'='true', 'transactional_properties'='insert_only'"]
)
def test_a_subquery_without_a_value_finds_no_row_of_files_without_row_ids(session: Session, kind: str) -> None:
    session.sql(f"CREATE TABLE t (a int, s string) STORED AS ORC TBLPROPERTIES ({kind})")
    session.sql("INSERT INTO t VALUES (1, 'x'), (28, 'y'), (NULL, 'z')")
    nothing = "(SELECT max(a) FROM t WHERE a > 100)"
    for condition in (f"a <= {nothing}", f"a = {nothing}", f"a IN (NULL, {nothing})", f"NOT (a = {nothing})"):
        assert session.sql(f"SELECT * FROM t WHERE {condition}").collect() == []
    found = session.sql(f"SELECT a FROM t WHERE NOT (a = {nothing}) OR a IN (NULL, 28)").collect()
    assert [row.a for row in found] == [28]
