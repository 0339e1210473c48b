"""One session drops a database while another one creates a table in it: one of them waits, and then sees the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
MAKING = {
    "CREATE TABLE": f"CREATE TABLE d.u (id int) {ACID}",
    "plain": "CREATE EXTERNAL TABLE d.u (id int)",
    "LIKE": "CREATE TABLE d.u LIKE t",
    "AS": f"CREATE TABLE d.u {ACID} AS SELECT 1 AS id",
    "RENAME": "ALTER TABLE t RENAME TO d.u",
}


@pytest.fixture
def one(session: Session) -> Session:
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    return session


@pytest.fixture
def other(one: Session, tmp_path: Path) -> Iterator[SqliteMetastore]:
    """Another process's view of the same metastore."""
    with SqliteMetastore(tmp_path / "metastore.db", str(tmp_path / "warehouse")) as store:
        yield store


def locked(store: SqliteMetastore, kind: LockType, table: str | None = None) -> Callable[[], None]:
    """Locks the database or one of its tables. Returns a function that releases the lock."""
    txn = store.open_txn()
    store.lock(txn, [LockComponent("d", table, kind, Operation.NO_TXN)])
    return lambda: store.commit(txn)


def fails(condition: str, session: Session, sql: str) -> None:
    with pytest.raises(AcidSqlError) as caught:
        session.execute(sql)
    assert caught.value.condition == condition


@pytest.mark.parametrize("statement", MAKING)
def test_create_table_waits_while_its_database_is_being_dropped(
    statement: str, one: Session, other: SqliteMetastore
) -> None:
    unlock = locked(other, LockType.EXCLUSIVE)
    one.execute("SET hive.lock.numretries=0")
    fails("LOCK_TIMEOUT", one, MAKING[statement])
    unlock()
    one.execute(MAKING[statement])
    assert [row[0] for row in one.execute("SHOW TABLES IN d").rows()] == ["u"]


@pytest.mark.parametrize("table", [None, "u"])
def test_a_database_is_not_dropped_while_it_or_a_table_of_it_is_in_use(
    table: str | None, one: Session, other: SqliteMetastore
) -> None:
    one.execute(MAKING["CREATE TABLE"])
    unlock = locked(other, LockType.SHARED_READ, table)
    one.execute("SET hive.lock.numretries=0")
    fails("LOCK_TIMEOUT", one, "DROP DATABASE d CASCADE")
    assert [row[0] for row in one.execute("SHOW TABLES IN d").rows()] == ["u"]
    unlock()
    one.execute("DROP DATABASE d CASCADE")
    fails("DATABASE_NOT_FOUND", one, "SHOW TABLES IN d")


def test_tables_are_created_in_a_database_at_the_same_time(one: Session, other: SqliteMetastore) -> None:
    locked(other, LockType.SHARED_READ)
    locked(other, LockType.EXCLUSIVE, "w")
    one.execute("SET hive.lock.numretries=0")
    one.execute(MAKING["CREATE TABLE"])
    one.execute("DROP TABLE d.u")


def test_a_statement_that_waited_for_drop_database_finds_no_database(
    one: Session, open_session: Callable[[], Session]
) -> None:
    """No directory is left without a database, and no table without a directory."""
    two = open_session()
    place = Path(one.catalog.database("d").location.removeprefix("file://"))
    ends = set()
    for _ in range(10):
        one.execute("CREATE DATABASE IF NOT EXISTS d")
        with ThreadPoolExecutor() as pool:
            made = pool.submit(two.execute, MAKING["CREATE TABLE"])
            one.execute("DROP DATABASE d CASCADE")
        assert not place.exists()
        error = made.exception()
        ends.add(error.condition if isinstance(error, AcidSqlError) else error)
    assert ends <= {None, "DATABASE_NOT_FOUND"}


def test_the_default_database_is_not_emptied_by_a_drop_that_is_refused(one: Session) -> None:
    fails("CANNOT_DROP_DEFAULT_DATABASE", one, "DROP DATABASE default CASCADE")
    assert [row[0] for row in one.execute("SHOW TABLES").rows()] == ["t"]


def test_explain_locks_shows_a_lock_of_the_database(one: Session) -> None:
    shown = [row[0] for row in one.execute(f"EXPLAIN LOCKS {MAKING['AS']}").rows()]
    assert shown == ["LOCK INFORMATION:", "d -> SHARED_READ", "d.u -> EXCL_WRITE"]


def test_drop_table_of_a_plain_table_waits_while_the_table_is_in_use(one: Session, other: SqliteMetastore) -> None:
    one.execute("CREATE TABLE d.u (id int)")
    unlock = locked(other, LockType.SHARED_READ, "u")
    one.execute("SET hive.lock.numretries=0")
    fails("LOCK_TIMEOUT", one, "DROP TABLE d.u")
    unlock()
    one.execute("DROP TABLE d.u")
    assert not list(one.execute("SHOW TABLES IN d").rows())


def test_drop_table_of_an_external_table_does_not_wait(one: Session, other: SqliteMetastore) -> None:
    one.execute(MAKING["plain"])
    locked(other, LockType.SHARED_READ, "u")
    one.execute("SET hive.lock.numretries=0")
    one.execute("DROP TABLE d.u")
    assert not list(one.execute("SHOW TABLES IN d").rows())


def test_drop_table_fails_if_a_managed_table_has_replaced_the_external_one(
    one: Session, other: SqliteMetastore
) -> None:
    one.execute(MAKING["plain"])
    external = one.catalog.table("d", "u")
    unlock = locked(other, LockType.EXCLUSIVE)
    with ThreadPoolExecutor() as pool:
        drop = pool.submit(one.execute, "DROP TABLE d.u")
        while not any(lock.waiting for lock in other.locks()):
            assert not drop.done()
        other.drop_table("d", "u")
        other.create_table(replace(external, external=False))
        unlock()
    error = drop.exception()
    assert isinstance(error, AcidSqlError)
    assert error.condition == "TABLE_CHANGED"
    assert not one.catalog.table("d", "u").external
