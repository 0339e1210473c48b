"""The system's clock is set forward or back by a day: only processes without a heartbeat lose their transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.metastore.client import LockComponent, LockType, Operation, Patience
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore

DAY = 86_400.0
TIMEOUT = 0.6
EXCLUSIVE = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.NO_TXN)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMetastore]:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=TIMEOUT) as opened:
        yield opened


@pytest.fixture(params=[DAY, -DAY], ids=["forward", "back"])
def jump(request: pytest.FixtureRequest) -> float:
    return float(request.param)


def set_clock(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Changes the time of day from now on."""
    real = time.time
    patch.setattr(time, "time", lambda: real() + seconds)


def test_a_process_with_a_heartbeat_keeps_its_transaction_when_the_clock_jumps(
    store: SqliteMetastore, jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    txn = store.open_txn()
    with Heartbeat(store, txn, interval=TIMEOUT / 6) as heartbeat:
        set_clock(monkeypatch, jump)
        later = store.open_txn()
        assert later == txn + 1
        assert store.abort_timed_out() == []
        time.sleep(TIMEOUT / 2)
        heartbeat.check()
    assert txn in store.valid_txns().open
    store.commit(txn)
    assert store.valid_txns().is_valid(txn)


def test_a_process_without_a_heartbeat_loses_its_transaction_and_locks_when_the_clock_jumps(
    store: SqliteMetastore, jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = store.open_txn()
    store.lock(silent, [EXCLUSIVE])
    set_clock(monkeypatch, jump)
    waiting = store.open_txn()
    store.lock(waiting, [EXCLUSIVE], patience=Patience(retries=30, longest_pause=0.1))
    assert silent in store.valid_txns().aborted
    with closing(sqlite3.connect(store._file.path)) as db:
        (reason,) = db.execute("SELECT reason FROM txns WHERE id = ?", (silent,)).fetchone()
    assert reason == "no heartbeat for 0 seconds"


def test_the_silence_of_a_machine_whose_clock_is_ahead_counts_from_now(
    store: SqliteMetastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, DAY)
    txn = store.open_txn()
    monkeypatch.undo()
    with closing(sqlite3.connect(tmp_path / "m.db")) as db, db:
        db.execute("UPDATE txns SET machine = 'elsewhere//'")
    assert store.abort_timed_out() == []
    time.sleep(TIMEOUT + 0.2)
    assert store.abort_timed_out() == [txn]


def test_transaction_ids_do_not_depend_on_the_clock(store: SqliteMetastore, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    for jump in (0, DAY, -2 * DAY, DAY):
        set_clock(monkeypatch, jump)
        opened.append(store.open_txn())
    assert opened == [TxnId(number) for number in (1, 2, 3, 4)]
