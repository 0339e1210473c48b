"""The times of commits in the embedded metastore: their order, what a crash and an upgrade leave, and their bound."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.clock import Clock
from tests.metastore.older_files import make_version_9
from tests.metastore.tables import plain_table

HOUR = 3600


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMetastore]:
    with SqliteMetastore(tmp_path / "m.db", "/warehouse") as opened:
        yield opened


@pytest.fixture
def table(store: SqliteMetastore) -> Table:
    store.create_table(plain_table())
    return store.table("default", "t")


def begin(store: SqliteMetastore, table: Table) -> tuple[TxnId, WriteId]:
    txn = store.open_txn()
    return txn, store.allocate_write_id(txn, table)


def insert(store: SqliteMetastore, table: Table, rows: int = 1) -> WriteId:
    txn, write_id = begin(store, table)
    store.commit(txn, writes=[CommittedWrite(table.database, table.name, "INSERT", rows, 0, 0)])
    return write_id


def times(store: SqliteMetastore, table: Table) -> dict[int, int]:
    return {commit.write_id: commit.committed for commit in store.commits(table)}


def later(store: SqliteMetastore, table: Table, instant: int) -> set[int]:
    found = store.write_ids_at(table, instant)
    assert found is not None
    return set(found.later)


def test_a_commit_is_recorded_with_its_time_and_what_it_did(store: SqliteMetastore, table: Table, clock: Clock) -> None:
    txn, write_id = begin(store, table)
    clock.pass_by(5)
    store.commit(txn, writes=[CommittedWrite("default", "t", "MERGE", 3, 2, None)])
    (commit,) = store.commits(table)
    assert (commit.write_id, commit.txn, commit.committed, commit.operation) == (write_id, txn, clock.millis, "MERGE")
    assert (commit.inserted, commit.updated, commit.deleted, bool(commit.user)) == (3, 2, None, True)
    untold, _ = begin(store, table)
    store.commit(untold)
    assert [(c.operation, c.inserted) for c in store.commits(table, 1)] == [("UNKNOWN", None)]


def test_open_and_aborted_write_ids_have_no_commit(store: SqliteMetastore, table: Table) -> None:
    aborted, _ = begin(store, table)
    begin(store, table)
    committed = insert(store, table)
    store.abort(aborted)
    assert list(times(store, table)) == [committed]


def test_times_ascend_in_the_order_of_commits_and_not_of_write_ids(
    store: SqliteMetastore, table: Table, clock: Clock
) -> None:
    (slow, first), (quick, second) = begin(store, table), begin(store, table)
    store.commit(quick)
    store.commit(slow)
    found = times(store, table)
    assert found[second] + 1 == found[first]  # although the clock stands still
    assert later(store, table, found[second]) == {first}
    assert later(store, table, found[second] - 1) == {first, second}
    assert later(store, table, found[first]) == set()


def test_a_clock_that_is_set_back_does_not_disorder_the_times(
    store: SqliteMetastore, table: Table, clock: Clock
) -> None:
    before = insert(store, table)
    clock.jump(-HOUR)
    after = insert(store, table)
    store.create_table(plain_table("other"))
    other = store.table("default", "other")
    insert(store, other)
    found = times(store, table)
    assert found[after] == found[before] + 1
    assert times(store, other) == {1: found[before] + 2}
    latest = store.write_ids_at(table, found[after])
    assert latest is not None
    assert latest.latest == found[before] + 2  # which is no instant of the future, although the clock says so
    clock.jump(2 * HOUR)
    last = insert(store, table)
    assert times(store, table)[last] == clock.millis


@pytest.mark.parametrize("step", ["INSERT ON committed_writes", "DELETE ON txns"])
def test_a_commit_that_fails_leaves_neither_time_nor_commit(
    step: str, store: SqliteMetastore, table: Table, tmp_path: Path
) -> None:
    txn, _ = begin(store, table)
    with closing(sqlite3.connect(tmp_path / "m.db")) as db:
        db.execute(f"CREATE TRIGGER crash BEFORE {step} BEGIN SELECT RAISE(FAIL, 'here'); END")
        db.commit()
        with pytest.raises((AcidSqlError, sqlite3.IntegrityError)):
            store.commit(txn)
        db.execute("DROP TRIGGER crash")
        db.commit()
    assert times(store, table) == {}
    assert txn in store.valid_txns().open
    store.commit(txn)
    store.commit(txn)  # once more, which is no error
    assert list(times(store, table)) == [1]


def test_the_history_goes_with_the_table_and_not_with_its_name(store: SqliteMetastore, table: Table) -> None:
    insert(store, table)
    renamed = plain_table("renamed")
    store.alter_table(table, renamed)
    assert list(times(store, store.table("default", "renamed"))) == [1]
    store.drop_table("default", "renamed")
    store.create_table(renamed)
    assert times(store, store.table("default", "renamed")) == {}


def test_commits_of_an_older_acidsql_are_unrecorded(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with SqliteMetastore(path, "/warehouse") as store:
        store.create_table(plain_table())
        store.create_table(plain_table("empty"))
        table, empty = store.table("default", "t"), store.table("default", "empty")
        insert(store, table)
        still_open, write_id = begin(store, table)
    make_version_9(path)
    with SqliteMetastore(path, "/warehouse") as store:
        assert times(store, table) == {}
        since = store.write_ids_at(table, 0)
        assert since is not None
        assert since.recorded_since > 0
        store.commit(still_open)
        assert times(store, table)[write_id] > since.recorded_since
        unwritten = store.write_ids_at(empty, 0)
        assert unwritten is not None
        assert unwritten.recorded_since == 0


def test_the_housekeeper_forgets_only_commits_of_versions_that_nobody_can_read(
    store: SqliteMetastore, table: Table
) -> None:
    for _ in range(9):
        insert(store, table)
    found = times(store, table)
    store.forget_commits(kept=3)
    assert len(times(store, table)) == 9  # all can be read
    txn, write_id = begin(store, table)
    store.note_written(txn, table, [WrittenDirectory((), f"base_{write_id:07d}", 1)])
    store.forget_commits(kept=3)
    assert len(times(store, table)) == 9  # the base is not committed yet
    store.commit(txn)
    insert(store, table)
    store.forget_commits(kept=5)
    assert sorted(times(store, table)) == [7, 8, 9, 10, 11]
    store.forget_commits(kept=1)
    assert sorted(times(store, table)) == [10, 11]  # the version of the base can be read
    since = store.write_ids_at(table, 0)
    assert since is not None
    assert since.recorded_since == found[9]
