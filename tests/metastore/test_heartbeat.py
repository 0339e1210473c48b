"""Heartbeats, on a real metastore."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMetastore]:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=2.0) as opened:
        yield opened


def wait_until_lost(heartbeat: Heartbeat) -> AcidSqlError:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            heartbeat.check()
        except AcidSqlError as error:
            return error
        time.sleep(0.01)
    pytest.fail("the heartbeat did not notice")


def test_a_transaction_lives_as_long_as_it_is_heartbeaten(store: SqliteMetastore) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.05) as heartbeat:
        time.sleep(2.5)
        assert store.abort_timed_out() == []
        heartbeat.check()
    time.sleep(2.2)
    assert store.abort_timed_out() == [txn]


def test_an_aborted_transaction_is_noticed_while_the_statement_runs(store: SqliteMetastore) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        heartbeat.check()
        store.abort(txn)
        assert wait_until_lost(heartbeat).condition == "TRANSACTION_ABORTED"
    with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
        heartbeat.check()


def test_a_transaction_that_nobody_knows_is_noticed(store: SqliteMetastore) -> None:
    with Heartbeat(store, TxnId(77), interval=0.02) as heartbeat:
        assert wait_until_lost(heartbeat).condition == "NO_SUCH_TRANSACTION"


def test_the_statement_is_told_of_the_loss_until_it_ends(store: SqliteMetastore) -> None:
    """It may start jobs after it was told for the first time."""
    told = threading.Semaphore(0)
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02, on_lost=told.release):
        assert not told.acquire(timeout=0.1)
        store.abort(txn)
        assert all(told.acquire(timeout=10) for _ in range(3))
    while told.acquire(blocking=False):
        pass
    assert not told.acquire(timeout=1)


def test_a_metastore_that_is_away_for_a_moment_is_tried_again(store: SqliteMetastore, tmp_path: Path) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        (tmp_path / "m.db").rename(tmp_path / "away.db")
        time.sleep(0.2)
        heartbeat.check()
        (tmp_path / "away.db").rename(tmp_path / "m.db")
        store.abort(txn)
        assert wait_until_lost(heartbeat).condition == "TRANSACTION_ABORTED"


def test_it_stops_at_once_and_leaves_no_thread(store: SqliteMetastore) -> None:
    before = threading.active_count()
    began = time.monotonic()
    with Heartbeat(store, store.open_txn(), interval=60):
        assert threading.active_count() == before + 1
    assert time.monotonic() - began < 1
    assert threading.active_count() == before
