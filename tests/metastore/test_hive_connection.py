"""Connections to a real Hive Metastore: cut, interrupted, shared by threads; and what only this metastore does."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

from acidsql import interrupts
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.interrupts import interruptible
from acidsql.metastore.catalog import Partition
from acidsql.metastore.client import Metastore
from acidsql.metastore.hive import thrift_connection
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.transactions import Transactions
from acidsql.snapshot.read_transactions import ReadTransactions
from tests.interop.hive_client import Hive
from tests.metastore import tables
from tests.metastore.conftest import clean
from tests.metastore.patience import AT_ONCE, eventually, give_up_soon
from tests.metastore.tables import partitioned_table
from tests.metastore.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]


@pytest.fixture
def proxy(hive: Hive) -> Iterator[TcpProxy]:
    with TcpProxy("127.0.0.1", hive.home.port) as running:
        yield running


@pytest.fixture
def connections(proxy: TcpProxy) -> Iterator[HiveConnections]:
    opened = HiveConnections(parse_address(f"thrift://127.0.0.1:{proxy.port}"))
    yield opened
    opened.close()


@pytest.fixture
def store(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> Iterator[HiveMetastore]:
    with HiveMetastore(parse_address(hive.metastore_uri)) as opened:
        clean(opened)
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database("default").location)
        yield opened
        clean(opened)


def databases(client: Any) -> list[str]:
    found = client.get_all_databases()
    assert isinstance(found, list)
    return found


def test_an_interrupted_call_leaves_no_answer_for_the_next_one(connections: HiveConnections) -> None:
    def interrupted(client: Any) -> None:
        client.send_get_config_value("metastore.warehouse.dir", "")
        raise KeyboardInterrupt

    for call in (connections.tell, connections.ask):
        with pytest.raises(KeyboardInterrupt):
            call(interrupted)
        assert "default" in connections.ask(databases)


def test_what_may_be_repeated_is_asked_again_when_the_connection_breaks(
    connections: HiveConnections, proxy: TcpProxy
) -> None:
    proxy.cut_answers = True
    assert "default" in connections.ask(databases)
    assert proxy.accepted == 2


def test_what_must_not_be_done_twice_fails_when_the_connection_breaks(
    connections: HiveConnections, proxy: TcpProxy
) -> None:
    proxy.cut_answers = True
    with pytest.raises(AcidSqlError, match="the connection broke during a call") as caught:
        connections.tell(databases)
    assert caught.value.condition == "METASTORE_UNAVAILABLE"
    assert "default" in connections.tell(databases)


def test_an_answer_that_does_not_come_is_waited_for_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"thrift://127.0.0.1:{silent.getsockname()[1]}?timeout=0.2"
        with pytest.raises(AcidSqlError, match="timeout") as caught:
            HiveConnections(parse_address(uri))
    assert caught.value.condition == "METASTORE_UNAVAILABLE"


def test_a_connection_that_was_closed_between_two_calls_is_made_anew(
    connections: HiveConnections, proxy: TcpProxy
) -> None:
    proxy.cut()
    assert "default" in connections.tell(databases)


def test_an_answer_that_is_an_error_leaves_the_connection_in_use(connections: HiveConnections, proxy: TcpProxy) -> None:
    for _ in range(3):
        with pytest.raises(AcidSqlError, match=r"refused: .*nowhere") as caught:
            connections.tell(lambda c: c.get_database("nowhere"))
        assert caught.value.condition == "METASTORE_FAILED"
    assert proxy.accepted == 1


def test_the_next_metastore_is_asked_where_the_first_is_away(hive: Hive) -> None:
    opened = HiveConnections(parse_address(f"thrift://127.0.0.1:1,127.0.0.1:{hive.home.port}"))
    assert "default" in opened.ask(databases)
    opened.close()
    with pytest.raises(AcidSqlError, match="it was closed"):
        opened.ask(databases)


def test_threads_call_at_once(store: HiveMetastore) -> None:
    with ThreadPoolExecutor(8) as pool:
        txns = list(pool.map(lambda _: store.open_txn(), range(40)))
        assert len(set(txns)) == 40
        list(pool.map(store.heartbeat, txns))
        list(pool.map(store.commit, txns))
    assert all(store.valid_txns().is_valid(txn) for txn in txns)


@pytest.mark.nightly
def test_more_than_a_thousand_partitions_come_and_go(store: HiveMetastore) -> None:
    store.create_table(table := partitioned_table())
    many = [Partition((f"p{n:04}", str(n)), f"{table.location}/{n}") for n in range(1_100)]
    store.add_partitions(table, many)
    assert list(store.partitions(table)) == many
    store.drop_partitions(table, [p.values for p in many[1:]])
    assert list(store.partitions(table)) == many[:1]


def test_hive_shows_transactions_and_locks_of_acidsql(store: HiveMetastore, hive: Hive) -> None:
    store.create_table(table := partitioned_table())
    writer, reader = store.open_txn(), store.open_txn(read_only=True)
    store.lock(writer, [LockComponent("default", table.name, LockType.EXCL_WRITE, Operation.UPDATE, "p=a%2Fb/q=1")])
    store.lock(reader, [LockComponent("default", table.name, LockType.SHARED_READ, Operation.SELECT)])
    open_txns = {int(str(row[0])) for row in hive.rows("SHOW TRANSACTIONS")[1:] if row[1] == "OPEN"}
    assert {writer, reader} <= open_txns
    header, *rows = hive.rows("SHOW LOCKS")
    agent = [str(name).strip() for name in header].index("Agent Info")
    assert {(row[2], row[agent]) for row in rows} == {("tab1", "acidsql"), ("tab1", f"acidsql txnid:{reader}")}
    assert {(lock.txn, lock.component.partition) for lock in store.locks()} == {
        (writer, "p=a%2Fb/q=1"),
        (reader, None),
    }


def test_a_commit_that_fails_within_the_metastore_is_asked_again(store: HiveMetastore, hive: Hive) -> None:
    """As with Hive 4.0.1 on Derby, where a commit fails if another's lock request is in its way for too long."""
    txn = store.open_txn()
    failed = "Internal error processing commit_txn"
    before = hive.home.log.read_text(errors="replace").count(failed)
    with ThreadPoolExecutor(1) as pool:
        hive.in_its_database("RENAME TABLE COMPLETED_TXN_COMPONENTS TO AWAY")
        try:
            committing = pool.submit(store.commit, txn)
            eventually(
                lambda: hive.home.log.read_text(errors="replace").count(failed) > before or committing.done(),
            )
        finally:
            hive.in_its_database("RENAME TABLE AWAY TO COMPLETED_TXN_COMPONENTS")
        committing.result()
    assert store.valid_txns().is_valid(txn)


@pytest.fixture
def through(store: HiveMetastore, proxy: TcpProxy) -> Iterator[HiveMetastore]:
    """The same metastore as `store`."""
    with HiveMetastore(parse_address(f"thrift://127.0.0.1:{proxy.port}")) as opened:
        yield opened


def test_a_commit_that_was_done_before_it_failed_is_one(
    store: HiveMetastore, through: HiveMetastore, proxy: TcpProxy
) -> None:
    txn = through.open_txn()
    header = b"\0\0\0\ncommit_txn"
    proxy.replaced = (b"\x80\x01\x00\x02" + header, b"\x80\x01\x00\x03" + header)  # the types REPLY, EXCEPTION
    through.commit(txn)
    assert proxy.replaced == (b"", b"")
    assert store.valid_txns().is_valid(txn)


def test_a_commit_whose_answer_is_late_is_one(store: HiveMetastore, through: HiveMetastore, proxy: TcpProxy) -> None:
    txn = through.open_txn()
    proxy.delayed = b"commit_txn"
    give_up_soon(through, "commit_txn")
    with ThreadPoolExecutor(1) as pool:
        committing = pool.submit(through.commit, txn)
        try:
            assert proxy.come.wait(60)
            assert proxy.left.wait(60)
        finally:
            proxy.go.set()
        committing.result()
    assert store.valid_txns().is_valid(txn)


def test_a_commit_that_does_not_come_is_aborted(store: HiveMetastore, through: HiveMetastore, proxy: TcpProxy) -> None:
    txn = through.open_txn()
    proxy.lost = b"commit_txn"
    give_up_soon(through, "commit_txn")
    with pytest.raises(AcidSqlError, match="the connection broke during a call") as caught:
        through.commit(txn)
    assert caught.value.condition == "METASTORE_UNAVAILABLE"
    assert txn in store.valid_txns(None).aborted


@pytest.mark.parametrize("creates", [False, True])
def test_a_metastore_that_goes_away_in_a_commit_leaves_it_unknown(
    creates: bool, store: HiveMetastore, through: HiveMetastore, proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thrift_connection, "_PAUSES", (0.1,))
    txn, table = through.open_txn(), partitioned_table()
    proxy.delayed = b"commit_txn"
    with ThreadPoolExecutor(1) as pool:
        committing = pool.submit(
            lambda: through.commit_created(txn, table, []) if creates else through.commit(txn),
        )
        assert proxy.come.wait(60)
        proxy.go_away()
        proxy.go.set()
        error = committing.exception()
    assert isinstance(error, AcidSqlError)
    assert error.condition == "COMMIT_UNKNOWN"
    assert error.hint == "Look for its rows before you run the statement again"
    assert store.valid_txns().is_valid(txn)
    assert (store.find_table("default", table.name) is not None) is creates


def test_a_lock_of_hive_is_waited_for_and_named(store: HiveMetastore, hive: Hive) -> None:
    hive.run("CREATE TABLE default.theirs (k int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    held = hive.begin("default.theirs")
    update = LockComponent("default", "theirs", LockType.EXCL_WRITE, Operation.UPDATE)
    with pytest.raises(AcidSqlError) as caught:
        store.lock(store.open_txn(), [update], patience=AT_ONCE)
    assert f"[txnid:{held.txn}] of tests@" in caught.value.message
    hive.abort(held.txn)


def test_a_reader_that_ends_leaves_no_lock(store: Metastore) -> None:
    store.create_table(table := partitioned_table())
    read = LockComponent("default", table.name, LockType.SHARED_READ, Operation.SELECT)
    for end in (store.commit, store.abort):
        reader = store.open_txn(read_only=True)
        store.lock(reader, [read])
        store.heartbeat(reader)
        end(reader)
        assert not store.locks()


def test_a_lock_of_a_reader_whose_answer_is_lost_is_released(
    store: HiveMetastore, through: HiveMetastore, proxy: TcpProxy
) -> None:
    """It belongs to no transaction, whose end would release it."""
    store.create_table(table := partitioned_table())
    reader, header = through.open_txn(read_only=True), b"\0\0\0\x04lock"
    proxy.replaced = (b"\x80\x01\x00\x02" + header, b"\x80\x01\x00\x03" + header)  # the types REPLY, EXCEPTION
    with pytest.raises(AcidSqlError):
        through.lock(reader, [LockComponent("default", table.name, LockType.SHARED_READ, Operation.SELECT)])
    assert proxy.replaced == (b"", b"")
    assert not store.locks()


def test_a_table_whose_creator_cannot_commit_is_not_there(store: HiveMetastore) -> None:
    txn: TxnId = store.open_txn()
    store.abort(txn)
    with pytest.raises(AcidSqlError) as caught:
        store.commit_created(txn, table := partitioned_table(), [])
    assert caught.value.condition == "TRANSACTION_ABORTED"
    assert store.find_table("default", table.name) is None


def opens_a_writer(transactions: Transactions) -> object:
    return transactions.open()


def opens_a_reader(transactions: Transactions) -> object:
    return ReadTransactions(transactions).open(())


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Is set when the handler of a statement is called; SIGINT has Python's own one outside of statements."""
    event, arrive = threading.Event(), interrupts._Interrupt.arrive

    def told(interrupt: interrupts._Interrupt, number: int, frame: FrameType | None) -> None:
        event.set()
        arrive(interrupt, number, frame)

    monkeypatch.setattr(interrupts._Interrupt, "arrive", told)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield event
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("opens", [opens_a_writer, opens_a_reader])
def test_an_interrupt_while_a_transaction_is_opened_leaves_none_open(
    store: HiveMetastore, proxy: TcpProxy, arrived: threading.Event, opens: Callable[[Transactions], object]
) -> None:
    """The metastore has opened it, and its answer is on the way."""

    def interrupt() -> None:
        try:
            assert proxy.come.wait(60)
            os.kill(os.getpid(), signal.SIGINT)
            assert arrived.wait(60)
        finally:
            proxy.go.set()

    def statement(metastore: HiveMetastore) -> None:
        with interruptible(lambda: None):
            opens(Transactions(metastore))

    proxy.delayed = b"open_txns"
    with (
        HiveMetastore(parse_address(f"thrift://127.0.0.1:{proxy.port}")) as through,
        ThreadPoolExecutor() as pool,
    ):
        interrupting = pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            statement(through)
        interrupting.result()
    assert not [txn for txn in store.transactions() if txn.is_open]
