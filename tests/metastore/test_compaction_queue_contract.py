"""The contract of `acidsql.metastore.compactions.CompactionQueue`, which every metastore fulfils."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.write_ids import WriteId
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import DEFAULT_POOL, Compaction, CompactionRequest, CompactionState
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.answers import fails
from tests.interop.hive_client import Hive
from tests.metastore.tables import partitioned_table, plain_table

MAJOR, MINOR, REBALANCE = CompactionType.MAJOR, CompactionType.MINOR, CompactionType.REBALANCE


@pytest.fixture
def queue(store: Metastore, request: pytest.FixtureRequest) -> Iterator[Metastore]:
    for name in ("t", "u"):
        store.create_table(plain_table(name))
    with nullcontext() if isinstance(store, SqliteMetastore) else hive_of(request).without_cleaner():
        yield store


def hive_of(request: pytest.FixtureRequest) -> Hive:
    hive = request.getfixturevalue("hive")
    assert isinstance(hive, Hive)
    return hive


def request(table: str = "t", partition: str | None = None, kind: CompactionType = MAJOR) -> CompactionRequest:
    return CompactionRequest("default", table, partition, kind)


def asked(queue: Metastore, wanted: CompactionRequest | None = None) -> int:
    """Requests a compaction and returns its ID."""
    answer = queue.enqueue_compaction(wanted or request())
    assert (answer.state, answer.accepted) == (CompactionState.INITIATED, True)
    return answer.id


def taken(queue: Metastore, worker: str = "w1") -> Compaction:
    compaction = queue.take_compaction(worker)
    assert compaction is not None
    return compaction


def begun(queue: Metastore, wanted: CompactionRequest | None = None, highest: int = 7) -> Compaction:
    """A compaction with the transaction that its worker has opened."""
    asked(queue, wanted)
    compaction = taken(queue)
    txn = queue.open_compaction_txn(compaction.request.type)
    return queue.begin_compaction(compaction, txn, WriteId(highest))


def listed(queue: Metastore, number: int) -> Compaction:
    (found,) = (c for c in queue.compactions() if c.id == number)
    return found


# -- requests
def test_a_request_is_listed_as_waiting(queue: Metastore) -> None:
    number = asked(queue, request(kind=MINOR))
    found = listed(queue, number)
    assert (found.request, found.state) == (request(kind=MINOR), CompactionState.INITIATED)
    assert (found.worker, found.txn, found.next_txn, found.highest_write_id) == ("", None, None, None)
    assert (found.started, found.ended, found.committed, found.error) == (0, 0, 0, "")


def test_a_second_request_for_a_place_gives_the_id_of_the_first(queue: Metastore) -> None:
    number = asked(queue)
    again = queue.enqueue_compaction(request(kind=MINOR))
    assert (again.id, again.state, again.accepted) == (number, CompactionState.INITIATED, False)
    taken(queue)
    again = queue.enqueue_compaction(request())
    assert (again.id, again.state, again.accepted) == (number, CompactionState.WORKING, False)
    assert [c.id for c in queue.compactions() if c.request.table == "t"] == [number]


def test_each_partition_has_its_own_requests(queue: Metastore) -> None:
    queue.create_table(partitioned_table())
    places = ["p=a/q=1", "p=a/q=2", "p=b%2Fc/q=1"]
    ids = [asked(queue, request("tab1", place)) for place in places]
    assert len(set(ids)) == 3
    assert not queue.enqueue_compaction(request("tab1", places[1])).accepted
    assert [taken(queue).request.partition for _ in places] == places


def test_a_request_for_a_missing_table_is_refused(queue: Metastore) -> None:
    error = fails("TABLE_NOT_FOUND", lambda: queue.enqueue_compaction(request("none")))
    assert "none" in error.message
    assert queue.take_compaction("w1") is None


def test_a_compaction_that_has_ended_can_be_requested_again(queue: Metastore) -> None:
    first = begun(queue)
    queue.fail_compaction(first, "no space")
    assert asked(queue) > first.id


def test_the_latest_request_is_listed_first(queue: Metastore) -> None:
    first, second = asked(queue), asked(queue, request("u"))
    taken(queue)
    assert [c.id for c in queue.compactions()][:2] == [second, first]


def test_the_list_has_all_facts_of_a_request(queue: Metastore) -> None:
    wanted = replace(request(kind=REBALANCE), properties={"a": "b"}, order_by="id DESC", buckets=4)
    assert listed(queue, asked(queue, wanted)).request == wanted


# -- workers
def test_no_compaction_is_taken_from_an_empty_queue(queue: Metastore) -> None:
    assert queue.take_compaction("w1") is None
    asked(queue)
    taken(queue)
    assert queue.take_compaction("w2") is None


def test_the_oldest_request_is_taken_first(queue: Metastore) -> None:
    ids = [asked(queue, request("u")), asked(queue, request("t"))]
    assert [taken(queue, worker).id for worker in ("w1", "w2")] == ids


def test_a_compaction_that_a_worker_took_is_not_given_to_another_one(queue: Metastore) -> None:
    number = asked(queue)
    found = taken(queue, "w1")
    assert (found.id, found.state) == (number, CompactionState.WORKING)
    assert (found.worker_host, found.worker) == (platform.node(), "w1")
    assert listed(queue, number) == found


def test_the_worker_gets_all_facts_of_the_request(queue: Metastore) -> None:
    properties = {"compactor.mapreduce.map.memory.mb": "3072", "tblprops.a": "b:\N{GRINNING FACE}c", "empty": ""}
    wanted = replace(
        request(kind=REBALANCE), properties=properties, order_by="id DESC, `x y`", buckets=4, initiator="initiator"
    )
    asked(queue, wanted)
    assert taken(queue).request == wanted


def test_a_worker_takes_requests_only_from_its_pools(queue: Metastore) -> None:
    asked(queue, replace(request("t"), pool="fast"))
    assert queue.take_compaction("w1") is None
    assert queue.take_compaction("w1", ["slow"]) is None
    assert queue.take_compaction("w1", []) is None
    found = queue.take_compaction("w1", ["slow", "fast"])
    assert found is not None
    assert found.request.pool == "fast"


def test_the_oldest_request_of_all_pools_of_a_worker_is_taken_first(queue: Metastore) -> None:
    first = asked(queue, replace(request("t"), pool="fast"))
    second = asked(queue, request("u"))
    pools = [DEFAULT_POOL, "slow", "fast"]
    found = [queue.take_compaction("w1", pools), queue.take_compaction("w1", pools)]
    assert [c.id for c in found if c is not None] == [first, second]


def test_the_default_pool_has_a_name(queue: Metastore) -> None:
    asked(queue, replace(request(), pool=DEFAULT_POOL))
    assert taken(queue).request.table == "t"


# -- a compaction's way
def test_a_begun_compaction_is_listed_with_its_transaction_and_highest_write_id(queue: Metastore) -> None:
    found = begun(queue, highest=7)
    assert found.txn is not None
    assert found.highest_write_id == 7
    assert listed(queue, found.id) == found
    assert not queue.valid_txns().is_valid(found.txn)


@pytest.mark.parametrize("kind", [MINOR, MAJOR])
def test_a_committed_compaction_is_ready_for_cleaning(queue: Metastore, kind: CompactionType) -> None:
    compaction = begun(queue, request(kind=kind))
    other = queue.open_txn(read_only=True)
    queue.commit_compaction(compaction)
    later = queue.open_txn(read_only=True)
    found = listed(queue, compaction.id)
    assert (found.state, found.txn, found.highest_write_id) == (CompactionState.READY_FOR_CLEANING, compaction.txn, 7)
    assert found.next_txn is not None
    assert other < found.next_txn <= later
    assert found.started <= found.committed


def test_a_rebalance_is_committed_like_other_compactions(queue: Metastore) -> None:
    compaction = begun(queue, request(kind=REBALANCE))
    assert compaction.txn is not None
    excluding = LockComponent("default", "t", LockType.EXCL_WRITE, Operation.UPDATE)
    assert queue.lock(compaction.txn, [excluding])
    queue.commit_compaction(compaction)
    assert queue.valid_txns().is_valid(compaction.txn)
    assert listed(queue, compaction.id).state is CompactionState.READY_FOR_CLEANING


def test_the_transaction_of_a_compaction_is_valid_in_later_snapshots_only(queue: Metastore) -> None:
    compaction = begun(queue)
    assert compaction.txn is not None
    before = queue.valid_txns()
    queue.commit_compaction(compaction)
    assert not before.is_valid(compaction.txn)
    assert queue.valid_txns().is_valid(compaction.txn)


def test_a_writer_has_no_conflict_with_a_compaction_at_the_same_time(queue: Metastore) -> None:
    compaction = begun(queue)
    assert compaction.txn is not None
    assert queue.lock(compaction.txn, [LockComponent("default", "t", LockType.SHARED_READ, Operation.SELECT)])
    writer = queue.open_txn()
    assert queue.lock(writer, [LockComponent("default", "t", LockType.SHARED_WRITE, Operation.UPDATE)])
    queue.commit_compaction(compaction)
    queue.commit(writer)
    assert queue.valid_txns().is_valid(writer)


def test_the_list_has_the_times_and_the_worker_of_a_compaction(queue: Metastore) -> None:
    before = round(time.time() * 1000) - 1
    compaction = begun(queue)
    queue.fail_compaction(compaction, "no space")
    found = listed(queue, compaction.id)
    after = round(time.time() * 1000) + 1
    assert before <= found.enqueued <= found.started <= found.ended <= after
    assert (found.initiator_host, found.request.initiator) == (platform.node(), "manual")
    assert (found.worker_host, found.worker) == (platform.node(), "w1")


def test_a_failed_compaction_stays_in_the_list(queue: Metastore) -> None:
    compaction = begun(queue)
    queue.fail_compaction(compaction, "no space left on device")
    found = listed(queue, compaction.id)
    assert (found.state, found.error) == (CompactionState.FAILED, "no space left on device")
    assert found.txn == compaction.txn
    assert queue.take_compaction("w1") is None


def test_a_compaction_that_is_given_back_waits_again(queue: Metastore) -> None:
    compaction = begun(queue)
    assert compaction.txn is not None
    queue.abort(compaction.txn)
    queue.give_back_compaction(compaction, "the service was stopped")
    queue.fail_compaction(compaction, "it does not belong to this worker any more")
    found = listed(queue, compaction.id)
    assert (found.state, found.txn, found.error) == (CompactionState.INITIATED, None, "")
    assert taken(queue, "w2").id == compaction.id


def test_a_refused_compaction_stays_in_the_list(queue: Metastore) -> None:
    asked(queue)
    compaction = taken(queue)
    queue.refuse_compaction(compaction, "nothing to compact")
    found = listed(queue, compaction.id)
    assert (found.state, found.error) == (CompactionState.REFUSED, "nothing to compact")
    assert queue.take_compaction("w1") is None


# -- aborts
def test_a_compaction_that_no_worker_has_begun_can_be_aborted(queue: Metastore) -> None:
    working, waiting = asked(queue, request("u")), asked(queue, request("t"))
    assert taken(queue).id == working
    unknown = working + 1_000_000
    answers = queue.abort_compactions([unknown, working, waiting])
    assert [(a.id, a.aborted) for a in answers] == [(unknown, False), (working, False), (waiting, True)]
    assert [a.message for a in answers] == [
        "No Such Compaction Id Available",
        "Error while aborting compaction as compaction is in state-working",
        "Successfully aborted compaction",
    ]
    assert listed(queue, waiting).state is CompactionState.ABORTED
    assert listed(queue, working).state is CompactionState.WORKING
    assert queue.take_compaction("w1") is None
    assert not queue.abort_compactions([waiting])[0].aborted


def test_an_abort_of_no_ids_aborts_nothing(queue: Metastore) -> None:
    number = asked(queue)
    assert not queue.abort_compactions([])
    assert listed(queue, number).state is CompactionState.INITIATED


# -- entries that are taken away
def test_a_worker_that_lost_its_entry_cannot_commit(queue: Metastore) -> None:
    compaction = begun(queue)
    assert compaction.txn is not None
    queue.fail_compaction(compaction, "its worker was given up")
    error = fails("COMPACTION_LOST", lambda: queue.commit_compaction(compaction))
    assert f"Compaction {compaction.id} of default.t is no longer this worker's" in error.message
    assert compaction.txn in queue.valid_txns().open
    assert listed(queue, compaction.id).state is CompactionState.FAILED


def test_a_worker_that_lost_its_entry_cannot_begin(queue: Metastore) -> None:
    asked(queue)
    compaction = taken(queue)
    queue.fail_compaction(compaction, "its worker was given up")
    txn = queue.open_compaction_txn(MAJOR)
    fails("COMPACTION_LOST", lambda: queue.begin_compaction(compaction, txn, WriteId(1)))
    assert listed(queue, compaction.id).txn is None


def test_a_worker_that_lost_its_entry_does_not_change_it(queue: Metastore) -> None:
    compaction = begun(queue)
    queue.fail_compaction(compaction, "its worker was given up")
    queue.fail_compaction(compaction, "no space")
    queue.refuse_compaction(compaction, "nothing to compact")
    found = listed(queue, compaction.id)
    assert (found.state, found.error) == (CompactionState.FAILED, "its worker was given up")


def test_an_entry_belongs_to_the_worker_that_took_it(queue: Metastore) -> None:
    compaction = begun(queue)
    other = replace(compaction, worker="w2")
    fails("COMPACTION_LOST", lambda: queue.commit_compaction(other))
    queue.fail_compaction(other, "mine")
    assert listed(queue, compaction.id).state is CompactionState.WORKING
    queue.commit_compaction(compaction)


def test_another_worker_can_take_the_compaction_of_a_worker_whose_transaction_is_lost(queue: Metastore) -> None:
    number, mine = asked(queue), taken(queue)
    txn = queue.open_compaction_txn(MAJOR)
    mine = queue.begin_compaction(mine, txn, WriteId(1))
    assert queue.revoke_dead_workers(3600) == []
    queue.abort(txn)
    assert queue.revoke_dead_workers(3600) == [number]
    assert queue.revoke_dead_workers(3600) == []
    queue.fail_compaction(mine, "the worker comes too late")
    again = queue.enqueue_compaction(request())
    assert again.state is CompactionState.INITIATED
    assert taken(queue, "w2").id == again.id


def test_a_compaction_is_committed_once(queue: Metastore) -> None:
    compaction = begun(queue)
    queue.commit_compaction(compaction)
    fails("COMPACTION_LOST", lambda: queue.commit_compaction(compaction))
    queue.fail_compaction(compaction, "no space")
    assert listed(queue, compaction.id).state is CompactionState.READY_FOR_CLEANING


def test_a_worker_whose_transaction_was_aborted_keeps_its_entry(queue: Metastore) -> None:
    compaction = begun(queue)
    assert compaction.txn is not None
    queue.abort(compaction.txn)
    fails("TRANSACTION_ABORTED", lambda: queue.commit_compaction(compaction))
    queue.fail_compaction(compaction, "its transaction was aborted")
    assert listed(queue, compaction.id).state is CompactionState.FAILED
