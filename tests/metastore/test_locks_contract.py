"""The contract of `acidsql.metastore.locks.LockKeeper.lock`, which every metastore fulfils."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Lock
from tests.answers import fails
from tests.metastore.patience import AT_ONCE, eventually, within
from tests.metastore.tables import database, plain_table
from tests.metastore.test_transactions_contract import begin

PATIENCE = 60.0
"""Seconds after which a test that waits gives up; none of them should wait for one."""


@pytest.fixture(autouse=True)
def table(store: Metastore) -> None:
    store.create_table(plain_table())


def component(
    lock_type: LockType, operation: Operation, table: str | None = "t", partition: str | None = None
) -> LockComponent:
    return LockComponent("default", table, lock_type, operation, partition)


def inserting(table: str = "t", partition: str | None = None) -> LockComponent:
    return component(LockType.SHARED_READ, Operation.INSERT, table, partition)


def updating(table: str = "t", partition: str | None = None) -> LockComponent:
    return component(LockType.EXCL_WRITE, Operation.UPDATE, table, partition)


def overwriting(table: str = "t", partition: str | None = None) -> LockComponent:
    return component(LockType.EXCLUSIVE, Operation.INSERT, table, partition)


def dropping(table: str | None = "t", partition: str | None = None) -> LockComponent:
    return component(LockType.EXCLUSIVE, Operation.NO_TXN, table, partition)


def reading(table: str = "t") -> LockComponent:
    return component(LockType.SHARED_READ, Operation.SELECT, table)


def must_wait(store: Metastore, *components: LockComponent) -> bool:
    """Whether a new transaction that requests the locks must wait. It is aborted afterwards."""
    txn = store.open_txn()
    before = store.locks()
    try:
        store.lock(txn, components, patience=AT_ONCE)
    except AcidSqlError as error:
        if error.condition != "LOCK_TIMEOUT":
            raise
        assert store.locks() == before
        return True
    finally:
        store.abort(txn)
    return False


class Waiter:
    """A transaction whose lock() waits in its own thread."""

    def __init__(self, pool: ThreadPoolExecutor, store: Metastore, *components: LockComponent) -> None:
        self.txn = store.open_txn()
        self._call: Future[bool] = pool.submit(store.lock, self.txn, components, patience=within(PATIENCE))
        eventually(lambda: any(lock.txn == self.txn and lock.waiting for lock in store.locks()) or self._call.done())
        assert not self._call.done()

    def got_it(self) -> None:
        assert self.result()

    def result(self) -> bool:
        return self._call.result(PATIENCE)

    def error(self) -> BaseException | None:
        return self._call.exception(PATIENCE)


def waiting(store: Metastore) -> set[TxnId]:
    return {lock.txn for lock in store.locks() if lock.waiting}


# -- who waits for whom
@pytest.mark.parametrize("whole", [overwriting(), dropping()])
@pytest.mark.parametrize("writer", [inserting(), updating(), overwriting(), dropping()])
def test_an_overwrite_and_a_writer_exclude_each_other(
    store: Metastore, whole: LockComponent, writer: LockComponent
) -> None:
    holder = begin(store, whole)
    assert must_wait(store, writer)
    store.commit(holder)
    assert not must_wait(store, writer)
    holder = begin(store, writer)
    assert must_wait(store, whole)
    store.abort(holder)
    assert not must_wait(store, whole)


@pytest.mark.parametrize("writer", [inserting(), updating(), replace(updating(), lock_type=LockType.SHARED_WRITE)])
def test_readers_and_writers_of_rows_do_not_wait_for_each_other(store: Metastore, writer: LockComponent) -> None:
    holder = begin(store, writer)
    assert not must_wait(store, reading())
    assert not must_wait(store, inserting())
    store.commit(holder)
    begin(store, reading(), inserting())
    assert not must_wait(store, writer)


@pytest.mark.parametrize("whole", [overwriting(), dropping()])
def test_an_overwrite_and_a_reader_exclude_each_other(store: Metastore, whole: LockComponent) -> None:
    holder = begin(store, whole)
    assert must_wait(store, reading())
    store.commit(holder)
    begin(store, reading())
    assert must_wait(store, whole)


def test_exclusive_writers_take_turns_and_shared_ones_do_not(store: Metastore) -> None:
    shared = replace(updating(), lock_type=LockType.SHARED_WRITE)
    holder = begin(store, updating())
    assert must_wait(store, updating())
    assert must_wait(store, shared)
    store.abort(holder)
    begin(store, shared)
    assert not must_wait(store, shared)
    assert must_wait(store, updating())


def test_a_commit_before_the_locks_is_no_conflict(store: Metastore) -> None:
    """The snapshot is taken after the locks, so it has the writes of the previous holder."""
    holder = begin(store, updating())
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, updating())
        store.commit(holder)
        waiter.got_it()
    store.commit(waiter.txn)


def test_lock_tells_whether_a_commit_before_the_locks_will_be_a_conflict(store: Metastore) -> None:
    """A Hive Metastore counts commits from the opening of the transaction, whether it waited or not."""
    holder, behind = begin(store, updating()), store.open_txn()
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, updating())
        store.commit(holder)
        waited = waiter.result()
    assert waited == commits(store, waiter.txn)
    assert store.lock(behind, [updating()]) == commits(store, behind)
    fresh = store.open_txn()
    assert store.lock(fresh, [updating()])
    store.commit(fresh)


def commits(store: Metastore, txn: TxnId) -> bool:
    try:
        store.commit(txn)
    except AcidSqlError as error:
        if error.condition != "WRITE_CONFLICT":
            raise
        return False
    return True


def test_read_locks_can_be_released_while_the_transaction_stays_open(store: Metastore) -> None:
    reader = store.open_txn(read_only=True)
    store.lock(reader, [reading()])
    assert must_wait(store, dropping())
    store.release_locks(reader)
    assert not must_wait(store, dropping())
    assert reader in {txn.id for txn in store.transactions() if txn.is_open}
    assert not store.locks()
    store.commit(reader)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (("t", None), ("t", "p=a"), True),
        (("t", "p=a"), ("t", "p=a"), True),
        (("t", "p=a"), ("t", "p=a/q=1"), True),
        (("t", "p=a"), ("t", "p=b"), False),
        (("t", "p=a"), ("t", "p=ab"), False),
        (("t", "p=a/q=1"), ("t", "p=a/q=2"), False),
        (("t", None), ("u", None), False),
        ((None, None), ("t", None), True),
        ((None, None), ("t", "p=a"), True),
        ((None, None), (None, None), True),
    ],
)
def test_only_overlapping_resources_are_excluded(
    store: Metastore, one: tuple[str | None, str | None], two: tuple[str | None, str | None], expected: bool
) -> None:
    for mine, theirs in ((one, two), (two, one)):
        holder = begin(store, component(LockType.EXCLUSIVE, Operation.INSERT, *theirs))
        assert must_wait(store, component(LockType.SHARED_WRITE, Operation.INSERT, *mine)) == expected
        store.abort(holder)


def test_tables_of_one_name_in_two_databases_are_two_resources(store: Metastore) -> None:
    store.create_database(database("sales"))
    begin(store, overwriting(), dropping(None))
    assert not must_wait(store, replace(inserting(), database="sales"))


def test_a_transaction_does_not_wait_for_itself(store: Metastore) -> None:
    txn = begin(store, inserting(), overwriting())
    store.lock(txn, [dropping(), updating()], patience=AT_ONCE)
    assert {(lock.txn, lock.component.lock_type) for lock in store.locks()} == {
        (txn, LockType.SHARED_READ),
        (txn, LockType.EXCLUSIVE),
        (txn, LockType.EXCL_WRITE),
    }


def test_locks_last_until_the_transaction_ends_and_not_longer(store: Metastore) -> None:
    committed, aborted = begin(store, overwriting("t")), begin(store, overwriting("u"))
    store.allocate_write_id(committed, plain_table())
    assert [(lock.txn, lock.waiting) for lock in store.locks()] == [(committed, False), (aborted, False)]
    store.commit(committed)
    store.abort(aborted)
    assert list(store.locks()) == []


def test_narrowing_a_write_to_its_partitions_keeps_the_lock_of_the_table(store: Metastore) -> None:
    txn = begin(store, replace(updating(), dynamic_partition_write=True))
    store.add_dynamic_partitions(txn, plain_table(), ["p=a"], Operation.UPDATE)
    assert must_wait(store, overwriting("t", "p=b"))


def test_a_renamed_table_stays_locked(store: Metastore) -> None:
    begin(store, inserting())
    store.alter_table(plain_table(), plain_table("new"))
    assert must_wait(store, dropping("new"))
    assert not must_wait(store, dropping("t"))


def test_the_list_has_the_holder_of_each_lock(store: Metastore) -> None:
    asked = [updating("t", "p=a"), reading("u")]
    txn = begin(store, *asked)
    later = begin(store, inserting())
    first, second, third = store.locks()
    assert (first.txn, second.txn, third.txn) == (txn, txn, later)
    assert first.lock_id == second.lock_id < third.lock_id
    assert [without_operation(lock.component) for lock in (first, second)] == list(map(without_operation, asked))
    assert [first.number, second.number] == [1, 2]
    assert replace(third, component=inserting(), agent="") == Lock(
        third.lock_id, 1, later, inserting(), False, first.user, first.host, third.last_heartbeat, third.acquired
    )
    assert third.last_heartbeat <= third.acquired <= third.last_heartbeat + 60_000


def without_operation(locked: LockComponent) -> LockComponent:
    return replace(locked, operation=Operation.NO_TXN)


def test_the_list_has_the_operation_of_each_lock(store: Metastore) -> None:
    begin(store, asked := updating("t", "p=a"))
    assert [lock.component for lock in store.locks()] == [asked]


def test_an_overwrite_of_one_table_does_not_make_its_insert_into_another_wait(store: Metastore) -> None:
    begin(store, inserting("u"))
    assert not must_wait(store, overwriting("t"), inserting("u"))
    assert must_wait(store, overwriting("t"), overwriting("u"))


# -- all or nothing
def test_components_are_locked_all_together_or_not_at_all(store: Metastore) -> None:
    holder = begin(store, overwriting("t"))
    txn = store.open_txn()
    held = store.locks()
    fails("LOCK_TIMEOUT", lambda: store.lock(txn, [updating("u"), inserting("t")], patience=AT_ONCE))
    assert store.locks() == held
    assert not must_wait(store, overwriting("u"))
    store.commit(holder)
    store.commit(txn)


def test_a_refused_request_is_not_added_to_the_write_set(store: Metastore) -> None:
    holder = begin(store, overwriting("t"))
    txn = store.open_txn()
    fails("LOCK_TIMEOUT", lambda: store.lock(txn, [updating("u"), inserting("t")], patience=AT_ONCE))
    store.commit(begin(store, updating("u")))
    store.commit(holder)
    store.commit(txn)


def test_a_transaction_keeps_what_it_held_before_a_refused_request(store: Metastore) -> None:
    begin(store, overwriting("t"))
    txn = begin(store, inserting("u"))
    fails("LOCK_TIMEOUT", lambda: store.lock(txn, [inserting("t")], patience=AT_ONCE))
    assert must_wait(store, overwriting("u"))
    store.commit(txn)


def test_two_statements_that_lock_two_tables_in_opposite_order_both_get_them(store: Metastore) -> None:
    holder = begin(store, inserting("t"), inserting("u"))
    with ThreadPoolExecutor() as pool:
        one = Waiter(pool, store, overwriting("t"), overwriting("u"))
        two = Waiter(pool, store, overwriting("u"), overwriting("t"))
        store.commit(holder)
        one.got_it()
        assert waiting(store) == {two.txn}
        store.commit(one.txn)
        two.got_it()


# -- waiting
@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_waiter_gets_its_lock_when_the_holder_ends(store: Metastore, end: str) -> None:
    holder = begin(store, inserting())
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, overwriting())
        (store.commit if end == "commit" else store.abort)(holder)
        waiter.got_it()
    assert must_wait(store, inserting())


def test_after_the_wait_every_earlier_writer_is_visible(store: Metastore) -> None:
    holder = begin(store, inserting())
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, overwriting())
        earlier = store.allocate_write_id(holder, plain_table())
        store.commit(holder)
        waiter.got_it()
    snapshot = store.valid_write_ids(plain_table(), store.valid_txns(waiter.txn))
    assert snapshot.is_valid(earlier)
    assert store.allocate_write_id(waiter.txn, plain_table()) > earlier


def test_a_waiting_overwrite_delays_later_inserts(store: Metastore) -> None:
    holder = begin(store, inserting())
    with ThreadPoolExecutor() as pool:
        overwrite = Waiter(pool, store, overwriting())
        later = store.open_txn()
        error = fails("LOCK_TIMEOUT", lambda: store.lock(later, [inserting()], patience=AT_ONCE))
        assert f"[txnid:{overwrite.txn}]" in error.message
        assert error.message.endswith("came first and waits for EXCLUSIVE.")
        store.commit(holder)
        overwrite.got_it()


def test_waiters_are_served_in_the_order_in_which_they_came(store: Metastore) -> None:
    holder = begin(store, overwriting())
    with ThreadPoolExecutor() as pool:
        queue = [Waiter(pool, store, overwriting()) for _ in range(4)]
        store.commit(holder)
        for place, waiter in enumerate(queue):
            waiter.got_it()
            assert waiting(store) == {later.txn for later in queue[place + 1 :]}
            store.commit(waiter.txn)


def test_inserts_that_waited_together_get_their_locks_together(store: Metastore) -> None:
    holder = begin(store, overwriting())
    with ThreadPoolExecutor() as pool:
        inserts = [Waiter(pool, store, inserting()) for _ in range(3)]
        store.commit(holder)
        for insert in inserts:
            insert.got_it()


def test_a_waiter_whose_transaction_has_ended_leaves_the_queue(store: Metastore) -> None:
    holder = begin(store, inserting())
    with ThreadPoolExecutor() as pool:
        overwrite = Waiter(pool, store, overwriting())
        behind = Waiter(pool, store, inserting())
        store.abort(overwrite.txn)
        assert getattr(overwrite.error(), "condition", None) == "TRANSACTION_ABORTED"
        behind.got_it()
    store.commit(holder)


def test_a_transaction_that_holds_locks_does_not_wait_for_one_that_waits_for_them(store: Metastore) -> None:
    holder = begin(store, inserting())
    with ThreadPoolExecutor() as pool:
        overwrite = Waiter(pool, store, overwriting())
        try:
            store.lock(holder, [inserting(), updating()], patience=AT_ONCE)
        finally:
            store.commit(holder)
        overwrite.got_it()


# -- deadlocks
def test_the_youngest_transaction_of_a_deadlock_is_aborted(store: Metastore) -> None:
    older, younger = begin(store, updating("t")), begin(store, updating("u"))
    with ThreadPoolExecutor() as pool:
        waiter = pool.submit(store.lock, older, [updating("u")], patience=within(PATIENCE))
        eventually(lambda: older in waiting(store))
        error = fails("DEADLOCK", lambda: store.lock(younger, [updating("t")], patience=within(PATIENCE)))
        assert f"txnid:{younger}" in error.message
        assert f"txnid:{older}" in error.message
        assert waiter.result(PATIENCE)
    assert younger in store.valid_txns().aborted
    store.commit(older)


def test_a_deadlock_of_three_transactions_is_found_in_any_order(store: Metastore) -> None:
    one, two, three = (begin(store, updating(table)) for table in ("t", "u", "v"))
    with ThreadPoolExecutor() as pool:
        third = pool.submit(store.lock, three, [updating("t")], patience=within(PATIENCE))
        eventually(lambda: three in waiting(store))
        second = pool.submit(store.lock, two, [updating("v")], patience=within(PATIENCE))
        eventually(lambda: two in waiting(store))
        first = pool.submit(store.lock, one, [updating("u")], patience=within(PATIENCE))
        error = third.exception(PATIENCE)
        assert getattr(error, "condition", None) == "DEADLOCK"
        assert second.result(PATIENCE)
        store.commit(two)
        first.result(PATIENCE)
    # The other wrote to `u` after this one had its snapshot.
    fails("WRITE_CONFLICT", lambda: store.commit(one))


def test_the_list_has_the_lock_that_each_waiter_waits_for(store: Metastore) -> None:
    begin(store, reading("u"), inserting())
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, overwriting())
        eventually(lambda: all(lock.blocked_by is not None for lock in store.locks() if lock.waiting))
        held, (mine,) = (
            [lock for lock in store.locks() if not lock.waiting],
            [lock for lock in store.locks() if lock.waiting],
        )
        assert mine.blocked_by == (held[1].lock_id, held[1].number)
        assert mine.acquired == 0
        assert all(lock.blocked_by is None and lock.acquired > 0 for lock in held)
        store.abort(waiter.txn)
        waiter.error()


# -- giving up
def test_a_timeout_names_the_resource_and_the_holder(store: Metastore) -> None:
    holder = begin(store, overwriting("t", "p=a/q=1"))
    txn = store.open_txn()
    error = fails("LOCK_TIMEOUT", lambda: store.lock(txn, [inserting("t", "p=a/q=1")], patience=within(0.25)))
    assert error.hive_code == 10307
    lock = store.locks()[0]
    assert error.message.startswith(
        f"Lock acquisition for default/t/p=a/q=1 timed out after 250ms.  [txnid:{holder}] of {lock.user}@{lock.host}"
    )
    assert error.message.endswith(" holds EXCLUSIVE.")
    assert waiting(store) == set()
    assert txn in store.valid_txns().open
    store.commit(holder)
    store.lock(txn, [inserting("t", "p=a/q=1")], patience=AT_ONCE)


def test_a_timeout_names_the_narrower_resource_and_the_holders_process(store: Metastore) -> None:
    begin(store, overwriting("t", "p=a"))
    txn = store.open_txn()
    error = fails("LOCK_TIMEOUT", lambda: store.lock(txn, [inserting("t", "p=a/q=1")], patience=AT_ONCE))
    assert error.message.startswith("Lock acquisition for default/t/p=a/q=1 timed out after 0ms.  ")
    assert f", process {os.getpid()}, holds EXCLUSIVE." in error.message


def test_a_timeout_names_a_holder_before_a_waiter(store: Metastore) -> None:
    waiters_holder = begin(store, inserting("t"))
    with ThreadPoolExecutor() as pool:
        waiter = Waiter(pool, store, overwriting("t"))
        holder = begin(store, overwriting("u"))
        txn = store.open_txn()
        error = fails("LOCK_TIMEOUT", lambda: store.lock(txn, [inserting("t"), inserting("u")], patience=AT_ONCE))
        assert error.message.startswith(f"Lock acquisition for default/u timed out after 0ms.  [txnid:{holder}] of ")
        store.commit(waiters_holder)
        waiter.got_it()


def test_a_waiter_that_times_out_leaves_the_queue(store: Metastore) -> None:
    begin(store, inserting())
    giving_up = store.open_txn()
    fails("LOCK_TIMEOUT", lambda: store.lock(giving_up, [overwriting()], patience=within(0.02)))
    assert not must_wait(store, inserting())
