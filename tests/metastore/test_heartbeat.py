"""Heartbeats, on a real metastore."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.clock import Clock, wait_for_heartbeat
from tests.metastore.patience import eventually

TIMEOUT = 10
DAY = 86_400.0
PATIENCE = 60.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMetastore]:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=TIMEOUT) as opened:
        yield opened


def loss(heartbeat: Heartbeat) -> str:
    """The condition of the error that the statement gets, as soon as there is one."""
    eventually(lambda: heartbeat.lost is not None)
    with pytest.raises(AcidSqlError) as caught:
        heartbeat.check()
    return caught.value.condition


def runs(txn: TxnId) -> bool:
    """Whether the thread of a transaction's heartbeat runs."""
    return f"heartbeat of txnid:{txn}" in {thread.name for thread in threading.enumerate()}


@pytest.mark.ci
def test_a_transaction_lives_as_long_as_it_is_heartbeaten(store: SqliteMetastore, clock: Clock) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        for _ in range(3):
            clock.pass_by(TIMEOUT - 1)
            wait_for_heartbeat(store, txn, clock)
            assert store.abort_timed_out() == []
        heartbeat.check()
    clock.pass_by(TIMEOUT + 1)
    assert store.abort_timed_out() == [txn]


def test_an_aborted_transaction_is_noticed_while_the_statement_runs(store: SqliteMetastore) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        heartbeat.check()
        store.abort(txn)
        assert loss(heartbeat) == "TRANSACTION_ABORTED"
    with pytest.raises(AcidSqlError, match="TRANSACTION_ABORTED"):
        heartbeat.check()


def test_a_transaction_that_nobody_knows_is_noticed(store: SqliteMetastore) -> None:
    with Heartbeat(store, TxnId(77), interval=0.02) as heartbeat:
        assert loss(heartbeat) == "NO_SUCH_TRANSACTION"


def test_the_statement_is_told_of_the_loss_until_it_ends(store: SqliteMetastore, clock: Clock) -> None:
    """It may start jobs after it was told for the first time."""
    told = threading.Semaphore(0)
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02, on_lost=told.release):
        clock.pass_by(1)
        wait_for_heartbeat(store, txn, clock)
        assert not told.acquire(blocking=False)
        store.abort(txn)
        assert all(told.acquire(timeout=PATIENCE) for _ in range(3))
        assert runs(txn)
    eventually(lambda: not runs(txn))


def test_a_metastore_that_is_away_for_a_moment_is_tried_again(
    store: SqliteMetastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = threading.Semaphore(0)

    def heartbeat_of(txn: TxnId) -> None:
        try:
            SqliteMetastore.heartbeat(store, txn)
        except AcidSqlError:
            failures.release()
            raise

    monkeypatch.setattr(store, "heartbeat", heartbeat_of)
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        (tmp_path / "m.db").rename(tmp_path / "away.db")
        assert all(failures.acquire(timeout=PATIENCE) for _ in range(2))
        heartbeat.check()
        (tmp_path / "away.db").rename(tmp_path / "m.db")
        store.abort(txn)
        assert loss(heartbeat) == "TRANSACTION_ABORTED"


def test_it_stops_at_once_and_leaves_no_thread(store: SqliteMetastore) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=DAY):
        assert runs(txn)
    eventually(lambda: not runs(txn))
