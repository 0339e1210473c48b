"""Ctrl-C at any moment of a statement: the statement ends, nothing of it is visible, and the session can be used."""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.interrupts import hold, holding, interruptible
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.metastore.transactions import OpenTransaction, Transactions
from acidsql.session import Session
from tests.embedded_metastore import store_of
from tests.metastore.patience import eventually
from tests.selection import core

LONG_QUERY = "SELECT count(*) FROM range(1000000000000) r JOIN t ON r.id * 7 % 1000003 = t.id"
LONG_UPDATE = (
    "UPDATE t SET v = v + 1 WHERE id IN (SELECT r.id % 7 FROM range(1000000000000) r WHERE r.id * 7 % 1000003 = 5)"
)
LONG_UPDATE_OF_LITTLE = (
    "UPDATE t SET v = v + 1 WHERE id < (SELECT count(*) FROM t a JOIN t b ON a.id + b.id > 0"
    " JOIN t c ON b.id + c.id > 0 JOIN t d ON c.id + d.id > a.id AND d.id < 40)"
)
"""Of 200 rows: the driver collects what it writes. Its task notices a cancellation before and behind the joins only, so
it is one that ends after some seconds: two that go on would take both of the tests' cores from what follows."""


@pytest.fixture
def table(session: Session) -> Iterator[Session]:
    """A table of 200 rows, in a session whose SIGINT raises KeyboardInterrupt whatever the test runner does with it."""
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t SELECT id, 0 FROM range(200)")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield session
    signal.signal(signal.SIGINT, before)


class Gate:
    """A semaphore in the JVM: a call waits there until another thread opens the gate."""

    def __init__(self, session: Session) -> None:
        jvm: Any = session.spark._jvm
        self._semaphore = jvm.java.util.concurrent.Semaphore(0)

    def wait(self) -> None:
        self._semaphore.acquire()

    def open(self) -> None:
        self._semaphore.release()

    def interrupt_who_waits(self) -> threading.Thread:
        """A thread that sends SIGINT as soon as a call waits."""
        thread = threading.Thread(target=self._interrupt)
        thread.start()
        return thread

    def _interrupt(self) -> None:
        eventually(self._semaphore.hasQueuedThreads)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def gate(table: Session) -> Iterator[Gate]:
    made = Gate(table)
    yield made
    opening = threading.Thread(target=made.open)  # with a connection of its own, for a call that still waits
    opening.start()
    opening.join()


@pytest.mark.ci
@pytest.mark.parametrize("seed", core(range(6), lambda seed: seed < 2))
def test_an_interrupt_at_any_moment_ends_the_statement_and_the_session_can_be_used(
    table: Session, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    statement = (LONG_QUERY, LONG_UPDATE, LONG_UPDATE_OF_LITTLE)[seed % 3]
    # From the planning to the running job.
    seconds = random.Random(seed).uniform(0.01, 0.12 * (seed + 1))
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))

    def run() -> None:
        timer.start()
        list(table.execute(statement).rows())

    monkeypatch.setattr(OpenTransaction, "commit", lambda _: time.sleep(60))  # a timer that is late comes now
    with pytest.raises(KeyboardInterrupt):
        run()
    timer.join()
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert table.sql("SELECT count(*) AS n, max(v) AS most FROM t").collect()[0] == (200, 0)
    table.execute("UPDATE t SET v = 7 WHERE id = 3")
    assert table.sql("SELECT id FROM t WHERE v = 7").collect() == [(3,)]
    assert len(list(os.scandir(table.catalog.table("default", "t").location))) == 3  # two deltas and a delete_delta


def test_the_answer_of_an_interrupted_call_to_the_jvm_does_not_go_to_the_next_call(table: Session, gate: Gate) -> None:
    jvm: Any = table.spark._jvm

    def call() -> None:
        with interruptible(gate.open):
            gate.wait()

    interrupting = gate.interrupt_who_waits()
    with pytest.raises(KeyboardInterrupt):
        call()
    interrupting.join()
    assert jvm.java.lang.Integer.parseInt("17") == 17
    assert jvm.java.lang.Integer.parseInt("18") == 18


@pytest.mark.usefixtures("table")
def test_an_interrupt_that_python_drops_in_a_callback_is_raised_again() -> None:
    class Target:
        """Something that a weak reference can refer to."""

    def interrupted(_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the handler raises")

    def run() -> None:
        with interruptible(lambda: None):
            target = Target()
            reference = weakref.ref(target, interrupted)
            del target
            assert reference() is None  # the statement goes on behind the callback
            time.sleep(30)

    report = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        run()
    assert sys.unraisablehook is report


@pytest.mark.usefixtures("table")
def test_a_signal_that_another_thread_receives_interrupts_the_main_thread_while_it_waits() -> None:
    answer = threading.Lock()
    answer.acquire()
    too_late: list[bool] = []
    main = threading.get_ident()

    def give_up() -> None:
        too_late.append(True)
        answer.release()

    def receive() -> None:
        eventually(lambda: sys._current_frames()[main].f_code is wait.__code__)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    def wait() -> None:
        with interruptible(lambda: None):
            receiver.start()
            answer.acquire()

    end = threading.Timer(60, give_up)
    end.start()
    receiver = threading.Thread(target=receive)
    with pytest.raises(KeyboardInterrupt):
        wait()
    end.cancel()
    receiver.join()
    assert not too_late


def test_the_wakeup_descriptor_of_an_event_loop_gets_its_signals_and_is_put_back(table: Session) -> None:
    received, written = socket.socketpair()
    received.settimeout(60)
    written.setblocking(False)
    before = signal.set_wakeup_fd(written.fileno())
    handler = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with interruptible(table.cancel), interruptible(table.cancel):
            signal.raise_signal(signal.SIGUSR1)
            assert received.recv(1) == bytes([signal.SIGUSR1])
        assert signal.set_wakeup_fd(before) == written.fileno()
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGUSR1, handler)


def test_an_attempt_to_cancel_the_jobs_that_fails_is_repeated(gate: Gate) -> None:
    attempts: list[int] = []

    def cancel() -> None:
        attempts.append(len(attempts))
        if len(attempts) < 3:
            message = "no connection"
            raise OSError(message)
        gate.open()

    def call() -> None:
        with interruptible(cancel):
            gate.wait()

    interrupting = gate.interrupt_who_waits()
    with pytest.raises(KeyboardInterrupt):
        call()
    interrupting.join()
    assert len(attempts) >= 3


def test_an_interrupt_during_a_commit_waits_until_the_commit_is_done(table: Session) -> None:
    finished: list[str] = []

    def commit() -> None:
        with interruptible(table.cancel):
            assert not hold()
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)  # nor does a second one break it
            finished.append("committed")
            finished.append(f"waits: {hold()}")

    with pytest.raises(KeyboardInterrupt) as caught:
        commit()
    assert finished == ["committed", "waits: True"]
    assert caught.value.__notes__ == ["The statement was finished when the interrupt came."]


def test_an_interrupt_in_a_block_that_holds_it_is_raised_at_the_end_of_the_block(table: Session) -> None:
    done: list[str] = []

    def hold_twice() -> None:
        with interruptible(table.cancel), holding():
            with holding():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
            raise ValueError("what else went wrong")

    with pytest.raises(KeyboardInterrupt) as caught:
        hold_twice()
    assert done == ["inner", "outer"]
    assert isinstance(caught.value.__context__, ValueError)


def test_an_interrupt_while_a_transaction_is_opened_leaves_none_open(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_txn = SqliteMetastore.open_txn
    opened: list[TxnId] = []

    def interrupted_open(store: SqliteMetastore, *, read_only: bool = False) -> TxnId:
        opened.append(open_txn(store, read_only=read_only))
        signal.raise_signal(signal.SIGINT)
        return opened[-1]

    monkeypatch.setattr(SqliteMetastore, "open_txn", interrupted_open)
    for statement in ("UPDATE t SET v = 9", "SELECT * FROM t", "START TRANSACTION"):
        with pytest.raises(KeyboardInterrupt):
            table.execute(statement)
    monkeypatch.undo()
    assert len(opened) == 4  # START TRANSACTION opens one for its frames, too
    assert table.transaction_id is None
    assert store_of(table).ended(opened) == set(opened)


@pytest.mark.parametrize("fails", [True, False], ids=["an error", "an interrupt"])
def test_an_interrupt_between_the_end_of_a_statement_and_its_undo_leaves_no_transaction_open(
    table: Session, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """A statement that fails asks the metastore whether its transaction is lost, and aborts it then."""
    transactions = Transactions(store_of(table))
    opened: list[TxnId] = []
    lost = OpenTransaction.lost

    def interrupted(txn: OpenTransaction, error: BaseException) -> AcidSqlError | None:
        signal.raise_signal(signal.SIGINT)
        return lost(txn, error)

    def run() -> None:
        with interruptible(table.cancel), transactions.run(tuple) as txn:
            opened.append(txn.id)
            if fails:
                raise ValueError("the statement fails")
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(OpenTransaction, "lost", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.undo()
    assert len(opened) == 1
    assert store_of(table).ended(opened) == set(opened)


def test_an_interrupt_while_an_error_is_handled_is_raised_when_the_statement_goes_on(table: Session) -> None:
    done: list[str] = []

    def go_on() -> None:
        try:
            raise ValueError("the program handles an error of its own while it runs the statement")
        except ValueError:
            with interruptible(table.cancel):
                try:
                    raise KeyError("the statement does without something")
                except KeyError:
                    with holding():
                        signal.raise_signal(signal.SIGINT)
                    done.append("handled")
                time.sleep(30)
                done.append("too late")

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert done == ["handled"]


@pytest.mark.usefixtures("table")
def test_an_interrupt_is_raised_although_the_jvm_does_not_answer_the_call_that_cancels_the_jobs() -> None:
    asked, answers = threading.Event(), threading.Event()
    done: list[str] = []

    def cancel() -> None:
        asked.set()
        answers.wait(60)

    def go_on() -> None:
        with interruptible(cancel):
            try:
                try:
                    raise KeyError("the statement does without something")
                except KeyError:
                    signal.raise_signal(signal.SIGINT)
                    assert asked.wait(60)  # the thread that cancels the jobs waits for its answer now
                    done.append("handled")
                time.sleep(30)
                done.append("too late")
            finally:
                answers.set()

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert done == ["handled"]


def test_a_statement_that_repeats_an_aborted_transaction_can_be_interrupted(table: Session) -> None:
    """A statement opens another transaction where its locks came too late."""
    transactions = Transactions(store_of(table))
    too_late: list[bool] = []

    def repeat() -> None:
        with interruptible(table.cancel):
            transactions.abort(transactions.open())
            signal.raise_signal(signal.SIGINT)
            too_late.append(True)

    with pytest.raises(KeyboardInterrupt):
        repeat()
    assert not too_late


def test_an_interrupt_at_the_commit_leaves_all_or_nothing(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while the metastore commits: the commit stands, and the files stay."""
    commit = SqliteMetastore.commit

    def interrupted_commit(store: SqliteMetastore, txn: TxnId, **more: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        commit(store, txn, **more)

    monkeypatch.setattr(SqliteMetastore, "commit", interrupted_commit)
    with pytest.raises(KeyboardInterrupt):
        table.execute("UPDATE t SET v = 9 WHERE id = 5")
    monkeypatch.undo()
    assert table.sql("SELECT id FROM t WHERE v = 9").collect() == [(5,)]


def test_other_threads_are_not_interrupted(table: Session) -> None:
    read: list[Any] = []
    worker = threading.Thread(target=lambda: read.extend(table.execute("SELECT max(id) FROM t").rows()))
    worker.start()
    worker.join()
    assert read == [(199,)]
