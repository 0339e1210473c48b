"""Streams on a real Hive Metastore: lost answers, claims that time out, metastores that cannot do it."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import pytest

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.metastore.client import Metastore
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.streams import StreamClaim, StreamProgress, StreamState
from tests.answers import fails
from tests.interop.hive_client import Hive
from tests.metastore import tables
from tests.metastore.conftest import clean
from tests.metastore.patience import AT_ONCE, give_up_soon
from tests.metastore.tables import plain_table
from tests.metastore.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]


@pytest.fixture
def store(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> Iterator[HiveMetastore]:
    with HiveMetastore(parse_address(hive.metastore_uri)) as opened:
        clean(opened)
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database("default").location)
        yield opened


@pytest.fixture
def proxy(hive: Hive) -> Iterator[TcpProxy]:
    with TcpProxy("127.0.0.1", hive.home.port) as running:
        yield running


@pytest.fixture
def other(store: HiveMetastore, proxy: TcpProxy) -> Iterator[HiveMetastore]:
    """Another client, by way of `proxy`."""
    with HiveMetastore(parse_address(f"thrift://127.0.0.1:{proxy.port}")) as opened:
        yield opened


@pytest.fixture
def table(store: HiveMetastore) -> Table:
    store.create_table(made := plain_table())
    return made


OPEN_AND_DIE = """
import os, signal, sys
from acidsql.metastore.registry import open_hive
print(*open_hive(sys.argv[1]).open_txns(2), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def begin(store: Metastore, table: Table, claim: StreamClaim) -> TxnId:
    txn = store.open_txn()
    insert = LockComponent(table.database, table.name, LockType.SHARED_READ, Operation.INSERT)
    store.lock(txn, [insert, *store.stream_locks(claim)], patience=AT_ONCE)
    store.allocate_write_id(txn, table)
    return txn


def found(store: Metastore, table: Table) -> StreamState:
    state = store.stream(table, "s")
    assert state is not None
    return state


@pytest.mark.parametrize("how", ["lost answer", "lost call"])
def test_an_offset_is_committed_with_a_commit_whose_answer_is_lost_and_only_then(
    how: str, store: HiveMetastore, other: HiveMetastore, proxy: TcpProxy, table: Table
) -> None:
    claim = other.claim_stream(table, "s")
    txn = begin(other, table, claim)
    progress = StreamProgress(claim, claim.state, {"line": 1}, 1)
    if how == "lost call":
        proxy.lost = b"commit_txn"
        give_up_soon(other, "commit_txn")
        fails("METASTORE_UNAVAILABLE", lambda: other.commit(txn, progress=progress))
        assert (found(store, table).offset, found(store, table).commits) == (None, 0)
        assert txn in store.valid_txns().aborted
    else:
        header = b"\x00\x00\x00\x0acommit_txn"
        proxy.replaced = (b"\x80\x01\x00\x02" + header, b"\x80\x01\x00\x03" + header)  # the types REPLY, EXCEPTION
        other.commit(txn, progress=progress)
        assert proxy.replaced == (b"", b"")
        assert (found(store, table).offset, found(store, table).commits) == ({"line": 1}, 1)
    proxy.lost = b""
    other.release_claim(claim)


def test_a_claim_without_a_heartbeat_is_taken_and_its_writer_commits_nothing_more(
    store: HiveMetastore, other: HiveMetastore, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = store.claim_stream(table, "s")
    late = begin(store, table, old)
    fails("STREAM_IN_USE", lambda: other.claim_stream(table, "s"))
    monkeypatch.setattr(other, "txn_timeout", -1.0)
    new = other.claim_stream(table, "s")
    fails("STREAM_LOST", lambda: store.keep_claim(old))
    # While the transaction of the old writer is open, no other one can be between its comparison and its commit.
    fails("LOCK_TIMEOUT", lambda: begin(other, table, new))
    fails("STREAM_LOST", lambda: store.commit(late, progress=StreamProgress(old, old.state, "old", 1)))
    store.abort(late)
    other.commit(begin(other, table, new), progress=StreamProgress(new, new.state, "new", 1))
    assert found(store, table).offset == "new"
    other.release_claim(new)
    for txn in other.valid_txns().open:
        other.abort(txn)


def test_a_transaction_without_the_locks_of_the_stream_commits_no_progress(store: HiveMetastore, table: Table) -> None:
    claim = store.claim_stream(table, "s")
    txn = store.open_txn()
    error = fails("STREAM_LOST", lambda: store.commit(txn, progress=StreamProgress(claim, claim.state, 1, 1)))
    assert "does not hold the locks" in error.message
    store.abort(txn)
    store.release_claim(claim)


def test_a_metastore_that_commits_no_offset_is_refused_at_the_first_claim(
    store: HiveMetastore, other: HiveMetastore, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_with: Callable[..., None] = other.commit_with

    def as_hive_3(txn: TxnId, compatible: Collection[TxnId] | None, key_value: Any = None) -> None:
        commit_with(txn, compatible)

    monkeypatch.setattr(other, "commit_with", as_hive_3)
    error = fails("NOT_YET_SUPPORTED", lambda: other.claim_stream(table, "s"))
    assert "HIVE-20701" in error.message
    assert not store.valid_txns().open
    assert store.stream(table, "s") is None


def test_a_table_that_hive_renames_and_changes_keeps_its_streams(
    store: HiveMetastore, hive: Hive, table: Table
) -> None:
    claim = store.claim_stream(table, "s")
    store.commit(begin(store, table, claim), progress=StreamProgress(claim, claim.state, 1, 1))
    store.release_claim(claim)
    hive.run(
        "ALTER TABLE default.t SET TBLPROPERTIES ('a' = 'b')",
        "ANALYZE TABLE default.t COMPUTE STATISTICS",
        "ALTER TABLE default.t RENAME TO default.u",
    )
    renamed = replace(table, name="u")
    assert [(s.table, s.offset) for s in store.streams()] == [("u", 1)]
    again = store.claim_stream(renamed, "s")
    assert (again.state.offset, again.state.commits) == (1, 1)
    store.release_claim(again)
    hive.run("DROP TABLE default.u")
    assert list(store.streams()) == []


def test_transactions_of_an_ended_process_are_aborted_when_another_client_opens_one(
    store: HiveMetastore, hive: Hive
) -> None:
    command = [sys.executable, "-c", OPEN_AND_DIE, hive.metastore_uri]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    left = {TxnId(int(txn)) for txn in ended.stdout.split()}
    assert len(left) == 2, ended.stderr
    shown = {txn.id: txn.host for txn in store.transactions() if txn.is_open}
    assert {shown[txn] for txn in left} == {platform.node()}
    with HiveMetastore(parse_address(hive.metastore_uri)) as later:
        mine = later.open_txn()
        assert left <= later.valid_txns().aborted
        assert mine in later.valid_txns().open
        later.abort(mine)
