"""The file of the embedded metastore: creation, files that cannot be opened, timeouts, threads."""

from __future__ import annotations

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import CompactionRequest
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite import database_file
from acidsql.metastore.sqlite.schema import SCHEMA_VERSION
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore, open_sqlite
from acidsql.metastore.streams import StreamProgress
from tests.metastore.clock import Clock

TABLE = Table("default", "t", (Column("id", "int"),), "/w/t")
TIMEOUT = 10
UPDATE = LockComponent("default", "t", LockType.SHARED_WRITE, Operation.UPDATE)


def reason(path: Path) -> str:
    with pytest.raises(AcidSqlError) as caught:
        SqliteMetastore(path, "/w")
    assert caught.value.condition == "METASTORE_UNAVAILABLE"
    assert caught.value.getMessageParameters()["uri"] == f"sqlite:///{path}"
    return caught.value.getMessageParameters()["reason"]


# -- the file
def test_the_file_and_its_directories_are_created_and_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "m.db"
    with SqliteMetastore(path, "/warehouse") as store:
        metastore: Metastore = store  # the protocol: mypy checks it
        metastore.create_table(TABLE)
        txn = store.open_txn()
    with SqliteMetastore(path, "/elsewhere") as store:
        assert store.table("default", "t") == TABLE
        assert store.database("default").location == "/warehouse"
        assert store.open_txn() == txn + 1


@pytest.mark.parametrize("prefix", ["sqlite:///", ""])
def test_a_uri_names_an_absolute_or_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (f"{tmp_path}/absolute.db", "relative.db", ":memory:"):
        store = open_sqlite(f"{prefix}{path}", "/w")
        assert list(tmp_path.glob(path.rpartition("/")[2])) == []
        store.open_txn()
        store.close()
    beside = {p.name for p in tmp_path.glob("*-issued")}
    assert {p.name for p in tmp_path.iterdir()} - beside == {"absolute.db", "relative.db", ":memory:"}


@pytest.mark.parametrize("uri", ["sqlite://x.db", "sqlite:x.db", "sqlite:///", "thrift://host:9083"])
def test_a_wrong_uri_of_an_embedded_metastore_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AcidSqlError, match=r"METASTORE_UNAVAILABLE.*sqlite:///PATH"):
        open_sqlite(uri, "/w")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_metastore(tmp_path: Path) -> None:
    (tmp_path / "m.db").touch()
    with SqliteMetastore(tmp_path / "m.db", "/w") as store:
        assert store.open_txn() == 1


def test_a_corrupt_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(b"this is no database at all" * 100)
    before = path.read_bytes()
    assert reason(path) == "file is not a database"
    assert path.read_bytes() == before


def test_a_file_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    SqliteMetastore(path, "/w").close()
    content = bytearray(path.read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(content)
    assert "malformed" in reason(path)


def test_a_metastore_of_a_newer_acidsql_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    SqliteMetastore(path, "/w").close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE metastore SET schema_version = 999")
    assert reason(path) == f"a newer acidsql made it (schema 999, this one knows {SCHEMA_VERSION}): upgrade acidsql"


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE places (url TEXT)")
    assert reason(path) == "it is a SQLite file, but not a metastore of acidsql"
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("places",)]


def test_the_error_of_a_path_where_no_file_can_be_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert reason(tmp_path / "file" / "m.db") == f"File exists: {tmp_path / 'file'}"
    assert reason(tmp_path) == "unable to open database file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_the_error_of_a_directory_without_write_permission_names_it(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    assert reason(tmp_path / "locked" / "m.db") == "unable to open database file"


def test_a_file_that_is_deleted_while_in_use_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with SqliteMetastore(path, "/w") as store:
        path.unlink()
        with pytest.raises(AcidSqlError, match="removed or replaced"):
            store.open_txn()
        SqliteMetastore(path, "/w").close()
        with pytest.raises(AcidSqlError, match="removed or replaced"):
            store.databases()


def test_a_closed_metastore_raises_an_error(tmp_path: Path) -> None:
    store = SqliteMetastore(tmp_path / "m.db", "/w")
    store.close()
    store.close()
    with pytest.raises(AcidSqlError, match="it was closed"):
        store.databases()


def test_the_file_has_a_write_ahead_log_and_works_without_one(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with SqliteMetastore(path, "/w") as store:
        store.create_table(TABLE)
    with sqlite3.connect(path, isolation_level=None) as reader:
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert reader.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM tables").fetchall()  # while somebody reads, nobody can change the mode
        with SqliteMetastore(path, "/w") as one, SqliteMetastore(path, "/w") as two:
            reader.execute("ROLLBACK")
            assert reader.execute("PRAGMA journal_mode").fetchone() == ("delete",)
            first, second = one.open_txn(), two.open_txn()
            assert [one.allocate_write_id(first, TABLE), two.allocate_write_id(second, TABLE)] == [1, 2]
            one.commit(first)
            assert two.valid_write_ids(TABLE, two.valid_txns()).is_valid(WriteId(1))
    reader.close()


# -- timeouts
def test_opening_a_transaction_aborts_one_without_a_heartbeat(tmp_path: Path, clock: Clock) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=TIMEOUT) as store:
        quiet, alive = store.open_txn(), store.open_txn()
        clock.pass_by(TIMEOUT)
        store.heartbeat(alive)
        clock.pass_by(1)
        new = store.open_txn()
        assert store.valid_txns().open == {alive, new}
        with pytest.raises(AcidSqlError, match=r"TRANSACTION_ABORTED.*Reason: no heartbeat for 11 seconds"):
            store.commit(quiet)
        clock.pass_by(TIMEOUT + 1)
        assert store.abort_timed_out() == [alive, new]
        assert store.abort_timed_out() == []


def test_a_claim_without_a_heartbeat_ends_and_its_writer_commits_nothing_more(tmp_path: Path, clock: Clock) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=TIMEOUT) as store:
        store.create_table(TABLE)
        quiet, kept = store.claim_stream(TABLE, "quiet"), store.claim_stream(TABLE, "kept")
        clock.pass_by(TIMEOUT)
        store.keep_claim(kept)
        clock.pass_by(1)
        assert [bool(stream.writer) for stream in store.streams()] == [True, False]
        store.claim_stream(TABLE, "quiet")
        late = store.open_txn()
        with pytest.raises(AcidSqlError, match=r"STREAM_LOST.*'quiet' of table default\.t"):
            store.commit(late, progress=StreamProgress(quiet, quiet.state, 1, 1))
        store.commit(late)
        with pytest.raises(AcidSqlError, match="STREAM_IN_USE"):
            store.claim_stream(TABLE, "kept")


def test_a_write_conflict_leaves_the_offset_of_a_stream_as_it_was(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w") as store:
        store.create_table(TABLE)
        claim = store.claim_stream(TABLE, "s")
        mine, other = store.open_txn(), store.open_txn()
        store.lock(mine, [UPDATE])
        store.lock(other, [UPDATE])
        store.commit(other)
        with pytest.raises(AcidSqlError, match="WRITE_CONFLICT"):
            store.commit(mine, progress=StreamProgress(claim, claim.state, 1, 1))
        assert store.stream(TABLE, "s") == claim.state


def test_dropping_a_table_aborts_its_writers(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w") as store:
        store.create_table(TABLE)
        writer, bystander = store.open_txn(), store.open_txn()
        store.allocate_write_id(writer, TABLE)
        store.drop_table("default", "t")
        with pytest.raises(AcidSqlError, match=r"Reason: table default\.t was dropped"):
            store.commit(writer)
        store.commit(bystander)


def test_write_sets_are_removed_when_no_transaction_can_conflict_with_them(tmp_path: Path) -> None:
    path = tmp_path / "m.db"

    def kept() -> int:
        with sqlite3.connect(path) as db:
            return int(db.execute("SELECT count(*) FROM write_set").fetchone()[0])

    with SqliteMetastore(path, "/w") as store:
        old = store.open_txn()
        for _ in range(5):
            txn = store.open_txn()
            store.lock(txn, [UPDATE])
            store.commit(txn)
        assert kept() == 5
        store.abort(old)
        store.commit(store.open_txn())
        assert kept() == 0


def test_the_cleaner_waits_for_the_oldest_transaction_that_was_open_at_the_commit(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w") as store:
        store.create_table(TABLE)
        reader = store.open_txn(read_only=True)
        store.enqueue_compaction(CompactionRequest("default", "t", None, CompactionType.MAJOR))
        compaction = store.take_compaction("w1")
        assert compaction is not None
        compaction = store.begin_compaction(compaction, store.open_compaction_txn(CompactionType.MAJOR), WriteId(1))
        store.commit_compaction(compaction)
        store.open_txn(read_only=True)  # it sees the compacted files
        assert store.ready_for_cleaning() == []
        store.commit(reader)
        assert [ready.id for ready in store.ready_for_cleaning()] == [compaction.id]


# -- threads
def test_threads_share_one_metastore(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "m.db", "/w") as store:
        store.create_table(TABLE)

        def write(_: int) -> tuple[TxnId, WriteId]:
            txn = store.open_txn()
            write_id = store.allocate_write_id(txn, TABLE)
            assert not store.valid_write_ids(TABLE, store.valid_txns()).is_valid(write_id)
            store.commit(txn)
            assert store.valid_write_ids(TABLE, store.valid_txns()).is_valid(write_id)
            return txn, write_id

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(write, range(80)))
        assert sorted(t for t, _ in done) == list(range(1, 81))
        assert sorted(w for _, w in done) == list(range(1, 81))


def test_a_writer_waits_for_another_process_that_holds_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, refused, begins = tmp_path / "m.db", threading.Event(), database_file._begins

    def told(db: sqlite3.Connection, deadline: float) -> bool:
        begun = begins(db, deadline)
        if not begun:
            refused.set()
        return begun

    with SqliteMetastore(path, "/w") as store:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(database_file, "_begins", told)
        assert store.databases()  # readers do not wait, or this one would wait in vain
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(store.open_txn)
            assert refused.wait(60)
            assert not opening.done()
            other.execute("ROLLBACK")
            assert opening.result() == 1
        other.close()
