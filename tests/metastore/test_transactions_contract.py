"""The contract of `acidsql.metastore.transaction_client.TransactionClient`, which every metastore fulfils."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import AdoptedWriteIds
from acidsql.metastore.client import Metastore
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from tests.answers import fails
from tests.metastore.tables import database, partitioned_table, plain_table

UPDATE, DELETE, INSERT, SELECT = Operation.UPDATE, Operation.DELETE, Operation.INSERT, Operation.SELECT


@pytest.fixture
def table(store: Metastore) -> Table:
    store.create_table(made := plain_table())
    return made


def reading(table: Table) -> LockComponent:
    return LockComponent(table.database, table.name, LockType.SHARED_READ, Operation.SELECT)


def writing(
    table: Table, operation: Operation = UPDATE, partition: str | None = None, *, dynamic: bool = False
) -> LockComponent:
    return LockComponent(table.database, table.name, LockType.SHARED_WRITE, operation, partition, dynamic)


def begin(store: Metastore, *components: LockComponent) -> TxnId:
    txn = store.open_txn()
    store.lock(txn, components)
    return txn


def conflicts(store: Metastore, mine: LockComponent, theirs: LockComponent) -> bool:
    """Whether `mine` fails when `theirs` committed since `mine` was opened."""
    me, other = begin(store, mine), begin(store, theirs)
    store.commit(other)
    with suppress(AcidSqlError):
        store.commit(me)
    return me in store.valid_txns().aborted


# -- transactions
def test_transaction_ids_ascend(store: Metastore) -> None:
    first, second, third = store.open_txn(), store.open_txn(), store.open_txn()
    assert first < second < third
    store.abort(third)
    assert store.open_txn() > third


def test_a_snapshot_has_all_open_and_aborted_transactions_and_its_own_one(store: Metastore) -> None:
    committed, aborted, open_, own = (store.open_txn() for _ in range(4))
    store.commit(committed)
    store.abort(aborted)
    seen = store.valid_txns(own)
    assert seen.high_watermark == own
    assert {txn for txn in seen.open if txn >= committed} == {open_, own}
    assert {txn for txn in seen.aborted if txn >= committed} == {aborted}


def test_one_transaction_has_one_write_id_for_a_table(store: Metastore, table: Table) -> None:
    store.create_table(other := plain_table("other"))
    one, two = store.open_txn(), store.open_txn()
    assert [store.allocate_write_id(one, table) for _ in range(2)] == [1, 1]
    assert store.allocate_write_id(two, table) == 2
    assert store.allocate_write_id(two, other) == 1


def test_the_writer_of_a_write_id_is_known(store: Metastore, table: Table) -> None:
    store.create_table(other := plain_table("other"))
    one, two = store.open_txn(), store.open_txn()
    first, second = store.allocate_write_id(two, table), store.allocate_write_id(one, table)
    store.allocate_write_id(one, other)
    store.commit(two)
    assert [store.writer(table, w) for w in (first, second)] == [two, one]
    assert store.writer(other, second) is None


def test_open_aborted_and_committed_write_ids_have_different_states(store: Metastore, table: Table) -> None:
    txns = [store.open_txn() for _ in range(3)]
    committed, aborted, open_ = (store.allocate_write_id(t, table) for t in txns)
    store.commit(txns[0])
    store.abort(txns[1])
    seen = store.valid_write_ids(table, store.valid_txns())
    assert (seen.table, seen.open, seen.aborted) == ("default.t", frozenset({open_}), frozenset({aborted}))
    assert [seen.is_valid(w) for w in (committed, aborted, open_, WriteId(4))] == [True, False, False, False]


def test_a_later_commit_is_invisible_in_a_snapshot(store: Metastore, table: Table) -> None:
    before = store.open_txn()
    snapshot = store.valid_txns()
    after = store.open_txn()
    # The later transaction takes the lower write ID: it lies below the high watermark, but is not seen.
    low, high = store.allocate_write_id(after, table), store.allocate_write_id(before, table)
    store.commit(after)
    store.commit(before)
    old, new = store.valid_write_ids(table, snapshot), store.valid_write_ids(table, store.valid_txns())
    assert [old.is_valid(w) for w in (low, high)] == [False, False]
    assert [new.is_valid(w) for w in (low, high)] == [True, True]


def test_a_table_that_is_created_after_a_snapshot_is_empty_in_it(store: Metastore) -> None:
    snapshot = store.valid_txns()
    store.create_table(late := plain_table("late"))
    txn = store.open_txn()
    write_id = store.allocate_write_id(txn, late)
    store.commit(txn)
    assert not store.valid_write_ids(late, snapshot).is_valid(write_id)


def test_an_unknown_transaction_is_an_error_that_names_it(store: Metastore, table: Table) -> None:
    unknown = TxnId(999_999)
    error = fails("NO_SUCH_TRANSACTION", lambda: store.commit(unknown))
    assert error.message == "No record of transaction txnid:999999 could be found, may have timed out"
    fails("NO_SUCH_TRANSACTION", lambda: store.abort(unknown))
    fails("NO_SUCH_TRANSACTION", lambda: store.heartbeat(unknown))
    fails("NO_SUCH_TRANSACTION", lambda: store.lock(unknown, [writing(table)]))
    fails("NO_SUCH_TRANSACTION", lambda: store.allocate_write_id(unknown, table))
    fails("NO_SUCH_TRANSACTION", lambda: store.add_dynamic_partitions(unknown, table, ["p=a/q=1"], UPDATE))


def test_an_aborted_transaction_can_do_nothing_more(store: Metastore, table: Table) -> None:
    txn = store.open_txn()
    store.abort(txn)
    store.abort(txn)
    for call in (
        lambda: store.commit(txn),
        lambda: store.heartbeat(txn),
        lambda: store.lock(txn, [writing(table)]),
        lambda: store.allocate_write_id(txn, table),
    ):
        assert fails("TRANSACTION_ABORTED", call).message.startswith(
            f"Transaction manager has aborted the transaction txnid:{txn}.  Reason: "
        )


def test_a_committed_transaction_can_only_be_committed_again(store: Metastore, table: Table) -> None:
    txn = store.open_txn()
    store.commit(txn)
    store.commit(txn)
    fails("NO_SUCH_TRANSACTION", lambda: store.abort(txn))
    fails("NO_SUCH_TRANSACTION", lambda: store.heartbeat(txn))
    fails("NO_SUCH_TRANSACTION", lambda: store.allocate_write_id(txn, table))
    assert store.valid_txns().is_valid(txn)


def test_ended_transactions_are_those_that_committed_or_were_aborted(store: Metastore) -> None:
    """Hive's list of open transactions leaves out read-only ones."""
    committed, aborted, open_ = store.open_txn(), store.open_txn(), store.open_txn()
    reader = store.open_txn(read_only=True)
    store.commit(committed)
    store.abort(aborted)
    unborn = TxnId(reader + 1000)
    assert store.ended({committed, aborted, open_, reader, unborn}) == {committed, aborted}
    store.commit(reader)
    assert store.ended({reader, open_}) == {reader}
    assert store.ended(()) == frozenset()


def test_a_heartbeat_keeps_a_transaction_open(store: Metastore) -> None:
    txn = store.open_txn()
    store.heartbeat(txn)
    assert txn in store.valid_txns().open


# -- write conflicts
def test_the_first_committer_wins_and_the_message_is_hives(store: Metastore) -> None:
    """The text of semantics.md: Hive's TestDbTxnManager2 has it for the same interleaving."""
    store.create_table(table := partitioned_table())
    winner = begin(store, writing(table, UPDATE, "p=two"))
    loser = begin(store, writing(table, DELETE, "p=two"))
    store.commit(winner)
    error = fails("WRITE_CONFLICT", lambda: store.commit(loser))
    assert error.message == (
        f"Aborting [txnid:{loser},{loser}] due to a write conflict on default/tab1/p=two committed by"
        f" [txnid:{winner},{loser}] d/u"
    )
    assert loser in store.valid_txns().aborted
    fails("TRANSACTION_ABORTED", lambda: store.commit(loser))


def test_a_transaction_that_lost_a_conflict_says_so_when_it_is_used_again(store: Metastore, table: Table) -> None:
    winner, loser = begin(store, writing(table)), begin(store, writing(table))
    store.commit(winner)
    error = fails("WRITE_CONFLICT", lambda: store.commit(loser))
    assert error.message in fails("TRANSACTION_ABORTED", lambda: store.commit(loser)).message


@pytest.mark.parametrize("mine", [UPDATE, DELETE])
@pytest.mark.parametrize("theirs", [UPDATE, DELETE])
def test_update_and_delete_conflict_with_each_other_and_themselves(
    store: Metastore, table: Table, mine: Operation, theirs: Operation
) -> None:
    assert conflicts(store, writing(table, mine), writing(table, theirs))


@pytest.mark.parametrize("other", [INSERT, SELECT])
def test_inserts_and_reads_conflict_with_nothing(store: Metastore, table: Table, other: Operation) -> None:
    assert not conflicts(store, writing(table, other), writing(table, UPDATE))
    assert not conflicts(store, writing(table, UPDATE), writing(table, other))
    assert not conflicts(store, writing(table, other), writing(table, other))


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ("p=a/q=1", "p=a/q=1", True),
        ("p=a/q=1", "p=a/q=2", False),
        ("p=a/q=1", None, True),
        (None, "p=a/q=1", True),
        (None, None, True),
        ("p=a", "p=a/q=1", True),
        ("p=a/q=1", "p=a", True),
        ("p=a", "p=ab/q=1", False),
        ("p=ab/q=1", "p=a", False),
    ],
)
def test_a_conflict_needs_a_common_partition(
    store: Metastore, mine: str | None, theirs: str | None, expected: bool
) -> None:
    store.create_table(table := partitioned_table())
    assert conflicts(store, writing(table, UPDATE, mine), writing(table, UPDATE, theirs)) == expected


def test_writes_of_different_tables_do_not_conflict(store: Metastore, table: Table) -> None:
    store.create_database(database("sales"))
    store.create_table(elsewhere := plain_table(database="sales"))
    store.create_table(other := plain_table("other"))
    assert not conflicts(store, writing(table), writing(elsewhere))
    assert not conflicts(store, writing(table), writing(other))


def test_consecutive_transactions_do_not_conflict(store: Metastore, table: Table) -> None:
    txns = []
    for _ in range(3):
        store.commit(txn := begin(store, writing(table)))
        txns.append(txn)
    assert store.valid_txns().aborted.isdisjoint(txns)


def test_only_committed_transactions_cause_a_conflict(store: Metastore, table: Table) -> None:
    me, open_, aborted = (begin(store, writing(table)) for _ in range(3))
    store.abort(aborted)
    store.commit(me)
    fails("WRITE_CONFLICT", lambda: store.commit(open_))


def test_an_older_transaction_conflicts_with_a_younger_one_that_committed_first(store: Metastore, table: Table) -> None:
    me = begin(store, writing(table))
    for _ in range(3):
        store.commit(begin(store, writing(table)))
    error = fails("WRITE_CONFLICT", lambda: store.commit(me))
    assert error.getMessageParameters()["txn_id"] == str(me)


def test_a_lock_after_the_commit_of_another_transaction_belongs_to_the_write_set(
    store: Metastore, table: Table
) -> None:
    me, other = begin(store, reading(table)), begin(store, writing(table))
    store.commit(other)
    store.lock(me, [writing(table)])
    fails("WRITE_CONFLICT", lambda: store.commit(me))


def test_a_conflict_names_the_first_that_committed(store: Metastore, table: Table) -> None:
    me, early = store.open_txn(), begin(store, writing(table))
    store.lock(me, [writing(table)])
    store.commit(early)
    store.open_txn()  # a later commit has a higher commit ID only if a transaction was opened in between
    store.lock(other := store.open_txn(), [writing(table)])
    store.commit(other)
    assert fails("WRITE_CONFLICT", lambda: store.commit(me)).getMessageParameters()["other_txn_id"] == str(early)


def test_a_renamed_table_still_conflicts(store: Metastore, table: Table) -> None:
    early, late, other = begin(store, writing(table)), begin(store, reading(table)), begin(store, writing(table))
    store.commit(other)
    renamed = replace(table, name="new")
    store.alter_table(table, renamed)
    store.lock(late, [writing(renamed)])
    fails("WRITE_CONFLICT", lambda: store.commit(late))
    fails("WRITE_CONFLICT", lambda: store.commit(early))


def test_dynamic_partitions_narrow_the_write_set(store: Metastore) -> None:
    store.create_table(table := partitioned_table())
    me, same, different = (begin(store, writing(table, dynamic=True)) for _ in range(3))
    for txn, partitions in ((me, ["p=a/q=1", "p=b/q=1"]), (same, ["p=b/q=1", "p=c/q=1"]), (different, ["p=d/q=1"])):
        store.add_dynamic_partitions(txn, table, partitions, UPDATE)
    store.commit(me)
    store.commit(different)
    assert fails("WRITE_CONFLICT", lambda: store.commit(same)).getMessageParameters()["resource"] == (
        "default/tab1/p=b/q=1"
    )


def test_a_dynamic_write_without_partitions_conflicts_with_nothing(store: Metastore) -> None:
    store.create_table(table := partitioned_table())
    me, other = begin(store, writing(table, dynamic=True)), begin(store, writing(table))
    store.commit(other)
    store.add_dynamic_partitions(me, table, [], UPDATE)
    store.commit(me)


def test_until_it_is_narrowed_a_dynamic_write_conflicts_with_every_partition(store: Metastore) -> None:
    store.create_table(table := partitioned_table())
    assert conflicts(store, writing(table, dynamic=True), writing(table, UPDATE, "p=a/q=1"))


@pytest.mark.parametrize(("operation", "dynamic"), [(UPDATE, False), (DELETE, True)])
def test_narrowing_keeps_the_locks_of_other_statements(store: Metastore, operation: Operation, dynamic: bool) -> None:
    store.create_table(table := partitioned_table())
    me = begin(store, writing(table, dynamic=True), writing(table, operation, dynamic=dynamic))
    other = begin(store, writing(table, UPDATE, "p=z/q=1"))
    store.add_dynamic_partitions(me, table, ["p=a/q=1"], UPDATE)
    store.commit(other)
    fails("WRITE_CONFLICT", lambda: store.commit(me))


# -- adopted tables
def test_write_ids_of_an_adopted_table_count_as_committed_up_to_its_high_watermark(
    store: Metastore, table: Table
) -> None:
    store.create_table(old := plain_table("old"), adopted=AdoptedWriteIds(WriteId(7)))
    seen = store.valid_write_ids(old, store.valid_txns())
    assert (seen.high_watermark, seen.open, seen.aborted) == (7, frozenset(), frozenset())
    assert store.allocate_write_id(store.open_txn(), old) == 8


def test_open_and_aborted_write_ids_of_an_adopted_table_stay_invalid(store: Metastore) -> None:
    adopted = AdoptedWriteIds(WriteId(6), frozenset({WriteId(4)}), frozenset({WriteId(2), WriteId(9)}))
    store.create_table(old := plain_table("old"), adopted=adopted)
    txn = store.open_txn()
    assert store.allocate_write_id(txn, old) == 10
    before = store.valid_write_ids(old, store.valid_txns())
    assert (before.high_watermark, before.open, before.aborted) == (10, frozenset({4, 10}), frozenset({2, 9}))
    store.commit(txn)
    after = store.valid_write_ids(old, store.valid_txns())
    assert (after.high_watermark, after.open, after.aborted) == (10, frozenset({4}), frozenset({2, 9}))


def test_the_committed_write_ids_of_an_adopted_table_are_visible(store: Metastore) -> None:
    adopted = AdoptedWriteIds(WriteId(6), frozenset({WriteId(4)}), frozenset({WriteId(2), WriteId(9)}))
    store.create_table(old := plain_table("old"), adopted=adopted)
    for _ in range(2):
        seen = store.valid_write_ids(old, store.valid_txns())
        assert [w for w in map(WriteId, (1, 2, 3, 4, 5, 6, 9)) if seen.is_valid(w)] == [1, 3, 5, 6]
        new = store.allocate_write_id(txn := store.open_txn(), old)
        assert new > 9
        assert not seen.is_valid(new)
        store.commit(txn)
    assert store.valid_write_ids(old, store.valid_txns()).is_valid(new)


def test_new_transactions_start_above_those_of_adopted_tables(store: Metastore) -> None:
    adopted = AdoptedWriteIds(WriteId(3), committed_txns=frozenset({TxnId(12), TxnId(41)}))
    store.create_table(plain_table("old"), adopted=adopted)
    assert all(store.valid_txns().is_valid(TxnId(t)) for t in (12, 41))
    assert store.open_txn() == 42


def test_an_adopted_transaction_counts_as_committed_though_its_number_was_aborted_here(
    store: Metastore, table: Table
) -> None:
    txn = store.open_txn()
    write_id = store.allocate_write_id(txn, table)
    store.abort(txn)
    adopted = AdoptedWriteIds(WriteId(3), committed_txns=frozenset({txn}))
    store.create_table(plain_table("old"), adopted=adopted)
    store.create_table(plain_table("old2"), adopted=adopted)
    snapshot = store.valid_txns()
    assert snapshot.is_valid(txn)
    assert not store.valid_write_ids(table, snapshot).is_valid(write_id)
    fails("TRANSACTION_ABORTED", lambda: store.commit(txn))


def test_a_table_is_not_adopted_while_a_transaction_with_its_number_is_open(store: Metastore) -> None:
    txn = store.open_txn()
    adopted = AdoptedWriteIds(WriteId(3), committed_txns=frozenset({txn}))
    fails("LOCATION_NOT_EMPTY", lambda: store.create_table(plain_table("old"), adopted=adopted))
    assert store.find_table("default", "old") is None
    store.commit(txn)
    store.create_table(plain_table("old"), adopted=adopted)
    assert store.valid_txns().is_valid(txn)
