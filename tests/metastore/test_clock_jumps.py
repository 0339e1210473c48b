"""The system's clock is set forward or back by a day: only processes without a heartbeat lose their transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.clock import Clock, wait_for_heartbeat
from tests.metastore.patience import eventually, within

DAY = 86_400
TIMEOUT = 10
PATIENCE = 60.0
EXCLUSIVE = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.NO_TXN)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMetastore]:
    with SqliteMetastore(tmp_path / "m.db", "/w", txn_timeout=TIMEOUT) as opened:
        yield opened


@pytest.fixture(params=[DAY, -DAY], ids=["forward", "back"])
def jump(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_a_process_with_a_heartbeat_keeps_its_transaction_when_the_clock_jumps(
    store: SqliteMetastore, jump: int, clock: Clock
) -> None:
    txn = store.open_txn()
    store.heartbeat(txn)
    clock.jump(jump)
    later = store.open_txn()
    assert later == txn + 1
    assert store.abort_timed_out() == []
    clock.pass_by(TIMEOUT - 1)
    with Heartbeat(store, txn, interval=0.02) as heartbeat:
        wait_for_heartbeat(store, txn, clock)
        assert store.abort_timed_out() == []
        heartbeat.check()
    assert txn in store.valid_txns().open
    store.commit(txn)
    assert store.valid_txns().is_valid(txn)


def test_a_process_without_a_heartbeat_loses_its_transaction_and_locks_when_the_clock_jumps(
    store: SqliteMetastore, jump: int, clock: Clock
) -> None:
    silent = store.open_txn()
    store.lock(silent, [EXCLUSIVE])
    clock.jump(jump)
    waiting = store.open_txn()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(store.lock, waiting, [EXCLUSIVE], patience=within(PATIENCE))
        eventually(lambda: any(lock.waiting for lock in store.locks()))
        clock.pass_by(TIMEOUT)
        store.heartbeat(waiting)
        assert silent in store.valid_txns().open
        clock.pass_by(1)
        call.result()
    assert silent in store.valid_txns().aborted
    with closing(sqlite3.connect(store._file.path)) as db:
        (reason,) = db.execute("SELECT reason FROM txns WHERE id = ?", (silent,)).fetchone()
    assert reason == f"no heartbeat for {TIMEOUT + 1} seconds"


def test_the_silence_of_a_machine_whose_clock_is_ahead_counts_from_now(
    store: SqliteMetastore, tmp_path: Path, clock: Clock
) -> None:
    clock.jump(DAY)
    txn = store.open_txn()
    clock.jump(-DAY)
    with closing(sqlite3.connect(tmp_path / "m.db")) as db, db:
        db.execute("UPDATE txns SET machine = 'elsewhere//'")
    assert store.abort_timed_out() == []
    clock.pass_by(TIMEOUT + 1)
    assert store.abort_timed_out() == [txn]


def test_transaction_ids_do_not_depend_on_the_clock(store: SqliteMetastore, clock: Clock) -> None:
    opened = []
    for jump in (0, DAY, -3 * DAY, 3 * DAY):
        clock.jump(jump)
        opened.append(store.open_txn())
    assert opened == [TxnId(number) for number in (1, 2, 3, 4)]
