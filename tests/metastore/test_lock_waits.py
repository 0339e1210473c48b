"""A request that waits for a lock says for what it waits, and who has it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.frontends.terminal import waiting_shown
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_waits import LockWaits, wait_in_words
from acidsql.metastore.locks import Lock, Patience
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.metastore.transactions import Transactions
from acidsql.session import connect
from tests.metastore.patience import AT_ONCE, eventually

TABLE = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.INSERT)
PARTITION = LockComponent("default", "t", LockType.SHARED_READ, Operation.SELECT, "p=a")
MINE, THEIRS = TxnId(8), TxnId(7)


def _lock(txn: TxnId, component: LockComponent, *, waiting: bool = False, blocked_by: int | None = None) -> Lock:
    by = None if blocked_by is None else (blocked_by, 1)
    return Lock(txn, 1, txn, component, waiting, "ann", "host", blocked_by=by)


@pytest.mark.parametrize(("mine", "theirs"), [(PARTITION, TABLE), (TABLE, PARTITION)])
def test_the_words_name_the_narrower_resource_the_lock_and_its_owner(
    mine: LockComponent, theirs: LockComponent
) -> None:
    locks = [_lock(THEIRS, theirs), _lock(MINE, mine, waiting=True, blocked_by=THEIRS)]
    kind = theirs.lock_type.value
    assert wait_in_words(MINE, locks) == f"waits for default.t/p=a, on which transaction 7 of ann@host holds {kind}"


def test_an_earlier_request_that_waits_itself_is_named_as_such() -> None:
    locks = [_lock(THEIRS, TABLE, waiting=True), _lock(MINE, TABLE, waiting=True, blocked_by=THEIRS)]
    assert wait_in_words(MINE, locks).endswith("transaction 7 of ann@host came first and waits for EXCLUSIVE")


def test_nothing_is_said_without_a_wait() -> None:
    assert wait_in_words(MINE, []) == ""
    assert wait_in_words(MINE, [_lock(MINE, TABLE)]) == ""
    assert wait_in_words(MINE, [_lock(MINE, TABLE, waiting=True, blocked_by=THEIRS)]) == ""


def test_a_wait_is_told_until_the_lock_is_there(tmp_path: Path) -> None:
    with SqliteMetastore(tmp_path / "m.db", str(tmp_path)) as store, ThreadPoolExecutor() as pool:
        transactions = Transactions(store, Patience)
        transactions.waits = LockWaits(store, told_after=0, asked_every=0)
        holder, waiter = store.open_txn(), store.open_txn()
        store.lock(holder, [TABLE], patience=AT_ONCE)
        call = pool.submit(transactions.lock, waiter, [TABLE])
        eventually(lambda: transactions.waits.told() != "")
        assert f"on which transaction {holder} of " in transactions.waits.told()
        assert "holds EXCLUSIVE since " in transactions.waits.told()
        store.commit(holder)
        call.result(60)
        assert transactions.waits.told() == ""


def test_a_statement_tells_a_log_for_which_lock_it_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with connect(tmp_path) as one, connect(tmp_path) as other, ThreadPoolExecutor() as pool:
        one.execute("CREATE TRANSACTIONAL TABLE t (a INT)")
        one.execute("START TRANSACTION")
        one.execute("INSERT INTO t VALUES (1)")

        def write() -> None:
            with waiting_shown(silent=False, progress=other.progress, lock_wait=other.lock_wait):
                other.execute("DROP TABLE t")

        def has_told() -> bool:
            return "The statement waits for default.t, on which" in capsys.readouterr().err

        call = pool.submit(write)
        eventually(has_told)
        assert other.progress().startswith("waits for default.t, on which transaction ")
        one.execute("COMMIT")
        call.result(60)
        assert other.progress() == ""
