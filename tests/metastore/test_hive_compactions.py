"""The compaction queue of a real Hive Metastore: beside Hive's own worker and cleaner, and on an older one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.compactions import Compaction, CompactionRequest, CompactionState
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.process_identity import process_name
from acidsql.session import connect
from tests.interop.hive_client import POOL, Hive
from tests.metastore import tables
from tests.metastore.conftest import clean
from tests.metastore.tables import plain_table
from tests.metastore.tcp_proxy import TcpProxy
from tests.metastore.test_process_names import ended as ended_process

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

MAJOR = CompactionRequest("default", "t", None, CompactionType.MAJOR)


@pytest.fixture
def store(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> Iterator[HiveMetastore]:
    with HiveMetastore(parse_address(hive.metastore_uri)) as opened:
        clean(opened)
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database("default").location)
        yield opened
        clean(opened)


@pytest.fixture
def directory(hive: Hive, store: HiveMetastore) -> Path:
    """Of a table with two deltas."""
    hive.run("CREATE TABLE t (k int) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
    hive.run("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
    return Path(store.table("default", "t").location.removeprefix("file:"))


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def ended(store: HiveMetastore, number: int) -> Compaction:
    until = time.monotonic() + 60
    while True:
        (found,) = (c for c in store.compactions() if c.id == number)
        if found.ended or time.monotonic() > until:
            return found
        time.sleep(0.1)


def test_hives_worker_compacts_what_acidsql_asks_for(hive: Hive, store: HiveMetastore, directory: Path) -> None:
    request = CompactionRequest("default", "t", None, CompactionType.MAJOR, pool=POOL)
    found = ended(store, store.enqueue_compaction(request).id)
    assert (found.state, found.highest_write_id, found.error) == (CompactionState.SUCCEEDED, 2, "")
    assert [name.partition("_v")[0] for name in names(directory)] == ["base_0000002"]
    assert hive.rows("SELECT k FROM t ORDER BY k") == [[1], [2]]


def test_acidsqls_worker_takes_what_hives_statement_asks_for(hive: Hive, store: HiveMetastore, directory: Path) -> None:
    hive.run("ALTER TABLE t COMPACT 'minor' WITH OVERWRITE TBLPROPERTIES ('tblprops.a' = 'b:c', 'd' = '')")
    taken = store.take_compaction("w1")
    assert taken is not None
    assert (taken.request.type, taken.request.initiator) == (CompactionType.MINOR, "manual")
    assert taken.request.properties == {"tblprops.a": "b:c", "d": ""}
    (shown,) = (row for row in hive.rows("SHOW COMPACTIONS") if row[0] == str(taken.id))
    assert shown[1:6] == ["default", "t", " --- ", "MINOR", "working"]
    assert shown[6:8] == [taken.worker_host, taken.worker]
    store.refuse_compaction(taken, "as the test wants it")
    (shown,) = (row for row in hive.rows("SHOW COMPACTIONS") if row[0] == str(taken.id))
    assert shown[5] == "refused"


def test_hives_cleaner_removes_what_acidsqls_worker_compacted(
    hive: Hive, store: HiveMetastore, directory: Path
) -> None:
    """The base here is Hive's own of another table: these tests write no files themselves."""
    hive.run("CREATE TABLE u (k int) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
    hive.run("INSERT INTO u VALUES (1)", "INSERT OVERWRITE TABLE u SELECT k FROM t")
    (base,) = Path(store.table("default", "u").location.removeprefix("file:")).glob("base_*")
    reader = store.open_txn(read_only=True)
    store.enqueue_compaction(MAJOR)
    taken = store.take_compaction("w1")
    assert taken is not None
    txn = store.open_compaction_txn(taken.request.type)
    taken = store.begin_compaction(taken, txn, WriteId(2))
    base.rename(directory / f"base_0000002_v{txn:07}")
    store.commit_compaction(taken)
    time.sleep(1)  # the cleaner looks every 300 ms
    assert len(names(directory)) == 3, "whoever was open before it still reads the deltas"
    store.commit(reader)
    assert ended(store, taken.id).state is CompactionState.SUCCEEDED
    assert names(directory) == [f"base_0000002_v{txn:07}"]
    assert hive.rows("SELECT k FROM t ORDER BY k") == [[1], [2]]


def test_what_a_process_took_that_has_ended_does_not_stay_in_the_way(store: HiveMetastore) -> None:
    store.create_table(plain_table())
    store.enqueue_compaction(MAJOR)
    dead, alive = ended_process(), process_name()
    taken = store.take_compaction(f"{dead}.1")
    assert taken is not None
    assert taken.worker == f"{dead}.1"
    txn = store.open_compaction_txn(CompactionType.MAJOR)
    store.begin_compaction(taken, txn, WriteId(1))
    assert store.revoke_dead_workers(3600) == [taken.id]
    assert store.ended([txn]) == {txn}
    assert ended(store, taken.id).state is CompactionState.FAILED
    assert store.enqueue_compaction(MAJOR).accepted
    assert store.take_compaction(f"{alive}.1") is not None
    assert store.revoke_dead_workers(0) == []


@pytest.mark.parametrize("kind", [CompactionType.MAJOR, CompactionType.REBALANCE])
def test_a_compaction_whose_worker_died_after_its_commit_is_cleaned_up(
    kind: CompactionType, hive: Hive, store: HiveMetastore, directory: Path
) -> None:
    """Hive's workers commit before they mark the entry (HIVE-29571). The cleaner ignores it until it is marked."""
    txn = merged(hive, store, directory, f"{ended_process()}.1", kind)
    store.commit(txn)
    assert store.enqueue_compaction(MAJOR).state is CompactionState.WORKING, "it is in the way of later requests"
    (revoked,) = store.revoke_dead_workers(3600)
    assert ended(store, revoked).state is CompactionState.SUCCEEDED
    assert names(directory) == [f"base_0000002_v{txn:07}"]
    assert hive.rows("SELECT k FROM t ORDER BY k") == [[1], [2]]
    assert store.enqueue_compaction(MAJOR).accepted


def test_an_error_of_a_worker_whose_transaction_committed_does_not_fail_the_compaction(
    hive: Hive, store: HiveMetastore, directory: Path
) -> None:
    """Such as the worker's own loss of the answer to its commit."""
    txn = merged(hive, store, directory, f"{process_name()}.1")
    store.commit(txn)
    (compaction,) = (c for c in store.compactions() if c.txn == txn)
    store.fail_compaction(compaction, "the metastore did not answer")
    assert ended(store, compaction.id).state is CompactionState.SUCCEEDED
    assert names(directory) == [f"base_0000002_v{txn:07}"]


def test_what_insert_overwrite_replaced_is_handed_over_to_hives_cleaner(
    hive: Hive, store: HiveMetastore, directory: Path
) -> None:
    """There is nothing to merge. Hive's initiator asks for a compaction all the same where a base is obsolete."""
    hive.run("INSERT OVERWRITE TABLE t SELECT k + 1 FROM t")
    with connect(metastore=hive.metastore_uri) as session:
        (row,) = session.execute("ALTER TABLE t COMPACT 'major' AND WAIT").rows()
        assert "the cleaner is to remove 2 directories" in str(row[-1])
        number = int(str(row[0]))
    assert ended(store, number).state is CompactionState.SUCCEEDED
    assert names(directory) == ["base_0000003"]
    assert hive.rows("SELECT k FROM t ORDER BY k") == [[2], [3]]


def test_a_request_without_anything_to_merge_or_to_remove_is_refused(
    hive: Hive, store: HiveMetastore, directory: Path
) -> None:
    hive.run("CREATE TABLE u (k int) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
    with connect(metastore=hive.metastore_uri) as session:
        (row,) = session.execute("ALTER TABLE u COMPACT 'major' AND WAIT").rows()
    assert row[1] == "refused"


def merged(
    hive: Hive, store: HiveMetastore, directory: Path, worker: str, kind: CompactionType = CompactionType.MAJOR
) -> TxnId:
    """What a worker does before its commit: returns its open transaction. The base is Hive's own of another table."""
    hive.run("DROP TABLE IF EXISTS u", "CREATE TABLE u (k int) STORED AS ORC TBLPROPERTIES ('transactional' = 'true')")
    hive.run("INSERT OVERWRITE TABLE u SELECT k FROM t")
    (base,) = Path(store.table("default", "u").location.removeprefix("file:")).glob("base_*")
    store.enqueue_compaction(replace(MAJOR, type=kind))
    taken = store.take_compaction(worker)
    assert taken is not None
    txn = store.open_compaction_txn(kind)
    store.begin_compaction(taken, txn, WriteId(2))
    base.rename(directory / f"base_0000002_v{txn:07}")
    return txn


def test_what_hives_worker_took_is_left_to_hive(store: HiveMetastore, hive: Hive) -> None:
    store.create_table(plain_table())
    store.enqueue_compaction(MAJOR)
    request = idl.FindNextCompactRequest(workerId=f"a-host-{ended_process()}.1", workerVersion="4.0.1")
    with closing(HiveConnections(parse_address(hive.metastore_uri))) as connections:
        assert connections.tell(lambda c: idl.find_next_compaction(c, request)) is not None
    assert store.revoke_dead_workers(0) == []


@pytest.mark.parametrize(
    ("call", "asks"),
    [
        ("compact2", lambda store: store.enqueue_compaction(MAJOR)),
        ("find_next_compact2", lambda store: store.take_compaction("w1")),
        ("abort_Compactions", lambda store: store.abort_compactions([1])),
    ],
)
def test_an_older_metastore_is_told_by_the_call_that_it_lacks(
    hive: Hive, store: HiveMetastore, call: str, asks: Callable[[HiveMetastore], object]
) -> None:
    store.create_table(plain_table())
    with TcpProxy("127.0.0.1", hive.home.port) as proxy:
        proxy.hidden = call.encode()
        with (
            HiveMetastore(parse_address(f"thrift://127.0.0.1:{proxy.port}")) as older,
            pytest.raises(AcidSqlError) as caught,
        ):
            asks(older)
    assert caught.value.condition == "NOT_YET_SUPPORTED"
    assert call in caught.value.message
