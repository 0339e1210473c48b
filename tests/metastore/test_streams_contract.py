"""The contract of `acidsql.metastore.streams.StreamKeeper`, which every metastore fulfils: claims, and offsets that are
committed with a transaction."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore import stream_claims
from acidsql.metastore.client import Metastore
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.stream_claims import StreamClaims, StreamUser
from acidsql.metastore.streams import Offset, StreamClaim, StreamProgress, StreamState
from acidsql.metastore.transactions import Transactions
from tests.answers import fails
from tests.metastore.patience import AT_ONCE, eventually
from tests.metastore.tables import database, plain_table

CLAIM_AND_DIE = """
import os, signal, sys
from acidsql.acid.table import Column, Table
from acidsql.metastore.registry import open_metastore
store = open_metastore(sys.argv[1], sys.argv[2]).metastore
table = store.table("default", "t")
claim = store.claim_stream(table, "s")
txns = store.open_txns(3)
store.allocate_write_ids(txns, table)
print(*txns, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def table(store: Metastore) -> Table:
    store.create_table(made := plain_table())
    return made


@pytest.fixture(autouse=True)
def _claims_end(store: Metastore, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Releases all claims of a test: all tests share one Hive Metastore."""
    made: list[StreamClaim] = []
    claim_stream = store.claim_stream

    def recorded(table: Table, stream_id: str) -> StreamClaim:
        made.append(claim_stream(table, stream_id))
        return made[-1]

    monkeypatch.setattr(store, "claim_stream", recorded)
    yield
    for claim in made:
        store.release_claim(claim)


@pytest.fixture
def writer_process(store: Metastore, request: pytest.FixtureRequest) -> Callable[[], Sequence[TxnId]]:
    """Runs a process that claims stream `s` of table `t`, opens three transactions and is killed."""
    if "hive" in request.node.name:
        uri = request.getfixturevalue("hive").metastore_uri
    else:
        uri = "sqlite:///" + next(place.location for place in store.places() if place.table is None)

    def run() -> Sequence[TxnId]:
        command = [sys.executable, "-c", CLAIM_AND_DIE, uri, store.database("default").location]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode < 0, ended.stderr
        return [TxnId(int(txn)) for txn in ended.stdout.split()]

    return run


def begin(store: Metastore, table: Table, claim: StreamClaim) -> TxnId:
    txn = store.open_txn()
    insert = LockComponent(table.database, table.name, LockType.SHARED_READ, Operation.INSERT)
    store.lock(txn, [insert, *store.stream_locks(claim)], patience=AT_ONCE)
    store.allocate_write_id(txn, table)
    return txn


def step(claim: StreamClaim, before: StreamState, offset: Offset, rows: int = 1) -> StreamProgress:
    return StreamProgress(claim, before, offset, rows)


def commit(store: Metastore, table: Table, claim: StreamClaim, offset: Offset, rows: int = 1) -> TxnId:
    """Commits one more transaction of a stream."""
    before = store.stream(table, claim.id)
    assert before is not None
    txn = begin(store, table, claim)
    store.commit(txn, progress=step(claim, before, offset, rows))
    return txn


# -- claims


def test_the_claims_of_a_session_end_with_it_or_when_nobody_holds_it(
    store: Metastore, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_claims, "_LOOK_SECONDS", 0.05)
    user = StreamUser("", lambda: True)
    first = StreamClaims(Transactions(store))
    first.hold(table, "s", user)
    assert first.hold(table, "s", user).id == "s"
    fails("STREAM_IN_USE", lambda: store.claim_stream(table, "s"))
    first.release()
    second = StreamClaims(Transactions(store))
    second.hold(table, "s", user)
    fails("STREAM_IN_USE", lambda: store.claim_stream(table, "s"))
    del second
    eventually(lambda: (state := store.stream(table, "s")) is not None and state.writer == "")


def test_one_writer_at_a_time_has_the_claim_to_a_stream(store: Metastore, table: Table) -> None:
    assert store.stream(table, "s") is None
    assert store.committed(table, "s") is None
    claim = store.claim_stream(table, "s")
    assert (claim.state.commits, claim.state.offset, claim.state.txn) == (0, None, None)
    error = fails("STREAM_IN_USE", lambda: store.claim_stream(table, "s"))
    state = store.stream(table, "s")
    assert state is not None
    assert state.writer == claim.state.writer
    assert store.committed(table, "s") == replace(state, writer="")
    assert f"'s' of table default.t has a live writer: {state.writer}" in error.message
    other = store.claim_stream(table, "other")
    assert other.token != claim.token
    store.keep_claim(claim)
    store.release_claim(claim)
    store.release_claim(claim)
    fails("STREAM_LOST", lambda: store.keep_claim(claim))
    released = store.stream(table, "s")
    assert released is not None
    assert released.writer == ""
    again = store.claim_stream(table, "s")
    assert again.token != claim.token
    fails("STREAM_LOST", lambda: store.keep_claim(claim))
    store.release_claim(claim)
    store.keep_claim(again)


def test_of_several_threads_that_claim_a_stream_one_has_it(store: Metastore, table: Table) -> None:
    def claims(_: int) -> str:
        try:
            store.claim_stream(table, "s")
        except AcidSqlError as error:
            return error.condition
        return "CLAIMED"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(claims, range(4))) == ["CLAIMED", *["STREAM_IN_USE"] * 3]


def test_the_claim_of_a_killed_process_does_not_count_and_its_transactions_are_aborted(
    store: Metastore, table: Table, writer_process: Callable[[], Sequence[TxnId]]
) -> None:
    txns = writer_process()
    assert len(txns) == 3
    claim = store.claim_stream(table, "s")
    assert set(txns) <= store.valid_txns().aborted
    commit(store, table, claim, 1)


@pytest.mark.parametrize("stream_id", ["", "\ud800"])
def test_an_id_is_some_text(store: Metastore, table: Table, stream_id: str) -> None:
    fails("INVALID_PARAMETER", lambda: store.claim_stream(table, stream_id))


def test_streams_of_temporary_tables_are_refused(store: Metastore) -> None:
    mine = SessionMetastore(store)
    mine.create_table(own := replace(plain_table(), temporary=True))
    error = fails("INVALID_PARAMETER", lambda: mine.claim_stream(own, "s"))
    assert "default.t is a temporary table" in error.message
    assert mine.stream(own, "s") is None


# -- offsets


@pytest.mark.parametrize(
    "offset",
    [
        None,
        True,
        7,
        -(2**70),
        0.1,
        "snow ☃ \U0001f600 'quote' \"\\\0\n",
        [1, [], {}],
        {"z": {"topic-0": 17, "": None}, "a": ["ä", 1.5]},
    ],
)
def test_an_offset_is_any_value_that_json_can_hold(store: Metastore, table: Table, offset: Offset) -> None:
    claim = store.claim_stream(table, "s")
    commit(store, table, claim, offset)
    found = store.stream(table, "s")
    assert found is not None
    assert (found.offset, type(found.offset)) == (offset, type(offset))
    if isinstance(offset, dict) and isinstance(found.offset, dict):
        assert list(found.offset) == list(offset)


@pytest.mark.parametrize("offset", [float("nan"), [float("inf")], {1: "a"}, b"bytes", {"a": {1, 2}}])
def test_what_json_cannot_hold_is_refused_before_the_commit(store: Metastore, table: Table, offset: Offset) -> None:
    claim = store.claim_stream(table, "s")
    txn = begin(store, table, claim)
    fails("INVALID_PARAMETER", lambda: store.commit(txn, progress=step(claim, claim.state, offset)))
    assert txn in store.valid_txns().open
    store.commit(txn, progress=step(claim, claim.state, 1))


def test_progress_is_committed_with_its_transaction(store: Metastore, table: Table) -> None:
    claim = store.claim_stream(table, "ä stream/'quoted'")
    first = commit(store, table, claim, {"line": 3}, rows=3)
    one = store.stream(table, claim.id)
    assert one is not None
    assert (one.offset, one.commits, one.rows, one.txn) == ({"line": 3}, 1, 3, first)
    assert 0 < one.first_commit == one.last_commit
    second = commit(store, table, claim, {"line": 8}, rows=5)
    two = store.stream(table, claim.id)
    assert two is not None
    assert (two.offset, two.commits, two.rows, two.txn) == ({"line": 8}, 2, 8, second)
    assert two.first_commit == one.first_commit <= two.last_commit
    assert list(store.streams()) == [two]
    store.release_claim(claim)
    again = store.claim_stream(table, claim.id)
    assert replace(again.state, writer="") == replace(two, writer="")
    assert all(store.valid_write_ids(table, store.valid_txns()).is_valid(WriteId(w)) for w in (1, 2))


def test_an_aborted_transaction_leaves_the_offset_as_it_was(store: Metastore, table: Table) -> None:
    claim = store.claim_stream(table, "s")
    store.abort(begin(store, table, claim))
    aborted = begin(store, table, claim)
    store.abort(aborted)
    fails("TRANSACTION_ABORTED", lambda: store.commit(aborted, progress=step(claim, claim.state, 1)))
    found = store.stream(table, "s")
    assert found == claim.state


def test_a_second_commit_of_a_transaction_is_no_error_and_counts_once(store: Metastore, table: Table) -> None:
    claim = store.claim_stream(table, "s")
    txn = begin(store, table, claim)
    progress = step(claim, claim.state, "here", rows=2)
    store.commit(txn, progress=progress)
    store.commit(txn, progress=progress)
    found = store.stream(table, "s")
    assert found is not None
    assert (found.offset, found.commits, found.rows) == ("here", 1, 2)


def test_a_writer_that_has_not_seen_the_last_commit_commits_nothing(store: Metastore, table: Table) -> None:
    claim = store.claim_stream(table, "s")
    commit(store, table, claim, 1)
    late = begin(store, table, claim)
    fails("STREAM_LOST", lambda: store.commit(late, progress=step(claim, claim.state, 2)))
    seen = store.stream(table, "s")
    assert seen is not None
    assert (seen.offset, seen.commits) == (1, 1)
    assert late in store.valid_txns().open
    store.commit(late, progress=step(claim, seen, 2))


def test_a_writer_that_has_lost_its_claim_commits_nothing(store: Metastore, table: Table) -> None:
    old = store.claim_stream(table, "s")
    late = begin(store, table, old)
    store.release_claim(old)
    new = store.claim_stream(table, "s")
    fails("STREAM_LOST", lambda: store.commit(late, progress=step(old, old.state, "old")))
    assert late in store.valid_txns().open
    store.abort(late)
    commit(store, table, new, "new")
    found = store.stream(table, "s")
    assert found is not None
    assert (found.offset, found.commits) == ("new", 1)
    assert not store.valid_write_ids(table, store.valid_txns()).is_valid(WriteId(1))


def test_streams_belong_to_a_table_through_its_renames_and_end_with_it(store: Metastore, table: Table) -> None:
    store.create_database(database("d"))
    store.create_table(other := plain_table("u", database="d"))
    claim, later = store.claim_stream(table, "s"), store.claim_stream(other, "s")
    commit(store, table, claim, 1)
    commit(store, other, later, 2)
    store.release_claim(claim)
    renamed = replace(table, name="renamed")
    store.alter_table(table, renamed)
    found = store.stream(renamed, "s")
    assert found is not None
    assert (found.table, found.offset, found.commits) == ("renamed", 1, 1)
    assert [(s.database, s.table, s.offset) for s in store.streams()] == [("d", "u", 2), ("default", "renamed", 1)]
    commit(store, renamed, store.claim_stream(renamed, "s"), 3)
    store.drop_table("default", "renamed")
    store.create_table(renamed)
    assert store.stream(renamed, "s") is None
    new = store.claim_stream(renamed, "s")
    assert (new.state.commits, new.state.offset) == (0, None)
    assert [(s.table, s.commits) for s in store.streams()] == [("u", 1), ("renamed", 0)]


# -- several transactions


def test_several_transactions_are_opened_with_write_ids_without_gaps(store: Metastore, table: Table) -> None:
    before = store.open_txn()
    txns = store.open_txns(5)
    assert len(txns) == 5
    assert list(txns) == sorted(set(txns))
    assert before < txns[0]
    assert list(store.allocate_write_ids(txns, table)) == [1, 2, 3, 4, 5]
    assert [store.allocate_write_id(txn, table) for txn in txns] == [1, 2, 3, 4, 5]
    for txn in txns:
        store.commit(txn)
    assert not store.valid_write_ids(table, store.valid_txns()).open


def test_write_ids_of_several_transactions_need_all_of_them_open(store: Metastore, table: Table) -> None:
    txns = store.open_txns(3)
    store.abort(txns[1])
    error = fails("TRANSACTION_ABORTED", lambda: store.allocate_write_ids(txns, table))
    assert f"txnid:{txns[1]}" in error.message
    fails("NO_SUCH_TRANSACTION", lambda: store.allocate_write_ids([TxnId(999_999)], table))
    assert store.allocate_write_id(txns[0], table) == 1


def test_heartbeats_tell_which_transactions_have_ended(store: Metastore) -> None:
    txns = store.open_txns(5)
    store.commit(txns[1])
    store.abort(txns[3])
    assert store.heartbeats(txns) == {txns[1], txns[3]}
    assert store.heartbeats([txns[4], txns[0]]) == frozenset()
    assert store.heartbeats([]) == frozenset()
