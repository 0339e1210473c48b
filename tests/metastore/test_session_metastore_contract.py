"""Temporary tables in front of each metastore: what the shared one never hears of, and what it decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.client import Metastore
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.session_metastore import SessionMetastore
from tests.answers import fails
from tests.metastore.tables import partition, partitioned_table, plain_table

AT_ONCE = Patience(retries=0)


@pytest.fixture
def mine(store: Metastore) -> SessionMetastore:
    return SessionMetastore(store)


def temporary(table: Table) -> Table:
    return replace(table, temporary=True, location=f"{table.location}-temporary")


def updating(table: Table) -> LockComponent:
    return LockComponent(table.database, table.name, LockType.SHARED_WRITE, Operation.UPDATE)


def begin(store: Metastore, *components: LockComponent) -> TxnId:
    txn = store.open_txn()
    store.lock(txn, components, patience=AT_ONCE)
    return txn


def test_a_temporary_table_hides_a_shared_one(store: Metastore, mine: SessionMetastore) -> None:
    shared, own = plain_table(), temporary(plain_table())
    store.create_table(shared)
    mine.create_table(own)
    assert (mine.table("default", "t"), store.table("default", "t").temporary) == (own, False)
    assert list(mine.tables("default")) == ["t"]
    assert [p.temporary for p in mine.places() if p.table == ("default", "t")] == [False, True]
    fails("TABLE_ALREADY_EXISTS", lambda: mine.create_table(own))
    mine.drop_table("default", "t")
    assert not mine.table("default", "t").temporary
    assert store.table("default", "t").location == shared.location


def test_locks_of_a_temporary_table_are_the_sessions_own(store: Metastore, mine: SessionMetastore) -> None:
    store.create_table(plain_table())
    mine.create_table(own := temporary(plain_table()))
    theirs, first = begin(store, updating(plain_table())), begin(mine, updating(own))
    fails("LOCK_TIMEOUT", lambda: begin(mine, updating(own)))
    assert {lock.component.table for lock in mine.locks() if lock.txn == first} == {"t"}
    store.commit(theirs)
    mine.commit(first)
    begin(mine, updating(own))


def test_a_temporary_table_has_write_ids_of_its_own(store: Metastore, mine: SessionMetastore) -> None:
    mine.create_table(own := temporary(plain_table()))
    first, second, third = (begin(mine) for _ in range(3))
    assert [mine.allocate_write_id(txn, own) for txn in (first, second, first, third)] == [1, 2, 1, 3]
    before = mine.valid_write_ids(own, mine.valid_txns())
    mine.commit(second)
    mine.abort(first)
    seen = mine.valid_write_ids(own, mine.valid_txns())
    assert [seen.is_valid(WriteId(i)) for i in (1, 2, 3)] == [False, True, False]
    assert seen.aborted == {WriteId(1)}
    assert mine.writer(own, WriteId(2)) == second
    assert not before.is_valid(WriteId(2))
    fails("TRANSACTION_ABORTED", lambda: mine.allocate_write_id(first, own))


def test_a_created_table_is_there_after_the_commit_alone(store: Metastore, mine: SessionMetastore) -> None:
    store.create_table(plain_table())
    own = temporary(plain_table())
    mine.commit_created(txn := begin(mine), own, ())
    assert mine.valid_write_ids(own, mine.valid_txns()).is_valid(WriteId(1))
    assert mine.writer(own, WriteId(1)) == txn
    mine.abort(lost := begin(mine))
    other = temporary(plain_table("other"))
    fails("TRANSACTION_ABORTED", lambda: mine.commit_created(lost, other, ()))
    assert mine.find("default", "other") is None


def test_partitions_of_a_temporary_table_are_changed_with_it(mine: SessionMetastore) -> None:
    mine.create_table(own := temporary(partitioned_table()))
    one, two = partition(own, "a", "1"), partition(own, None, "2", at="/far")
    mine.add_partitions(own, [one, two, replace(one, location="ignored")])
    assert list(mine.partitions(own)) == [two, one]
    renamed = replace(own, name="tab2")
    mine.alter_table(own, renamed, partitions={two.values: partition(own, "b", "2")}, committed_up_to=None)
    assert [p.values for p in mine.partitions(renamed)] == [("a", "1"), ("b", "2")]
    fails(
        "PARTITION_ALREADY_EXISTS",
        lambda: mine.alter_table(renamed, renamed, partitions={("b", "2"): one}),
    )
    mine.drop_partitions(renamed, [("a", "1"), ("x", "9")])
    assert [p.values for p in mine.partitions(renamed)] == [("b", "2")]
    fails("TABLE_NOT_FOUND", lambda: mine.partitions(own))
    fails("TABLE_CHANGED", lambda: mine.alter_table(replace(renamed, comment="old"), renamed))


def test_leftovers_of_a_hidden_table_are_left_to_others(store: Metastore, mine: SessionMetastore) -> None:
    store.create_table(plain_table())
    store.allocate_write_id(txn := begin(store, updating(plain_table())), plain_table())
    store.abort(txn)
    known = len(store.leftovers())
    mine.create_table(temporary(plain_table()))
    assert len(mine.leftovers()) == 0
    mine.drop_table("default", "t")
    assert len(mine.leftovers()) == known


@pytest.mark.parametrize("is_temporary", [False, True])
def test_dropped_partitions_are_gone_after_the_commit(mine: SessionMetastore, is_temporary: bool) -> None:
    table = temporary(partitioned_table()) if is_temporary else partitioned_table()
    mine.create_table(table)
    one, two = partition(table, "a", "1"), partition(table, "b", "2")
    mine.add_partitions(table, [one, two])
    mine.commit_dropped(txn := begin(mine), table, [one.values])
    assert list(mine.partitions(table)) == [two]
    assert mine.valid_txns().is_valid(txn)
