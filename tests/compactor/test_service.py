"""The service as an operator runs it: its health over HTTP, its drain, and requests that it gives back."""

from __future__ import annotations

import gc
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from acidsql.compactor.health import Health, Status
from acidsql.compactor.http_endpoint import Page, serve_http
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.compactions import CompactionState
from acidsql.session import Session
from tests.compactor.layout import directories, location
from tests.metastore.patience import eventually

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def served(session: Session) -> Iterator[threading.Event]:
    stop = threading.Event()
    thread = threading.Thread(target=session.compactor.serve, args=(stop,))
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join()


class _AfterQuestions(threading.Event):
    """Is set from a number of questions on, as if it had been set between two steps of a compaction."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self._questions = questions

    def is_set(self) -> bool:
        self._questions -= 1
        return self._questions < 0


def test_health_and_metrics_are_served_over_http(session: Session) -> None:
    port = session.serve_health(0)
    assert get(port, "/healthz") == (503, '{"status": "starting"}\n')
    with served(session):
        eventually(lambda: get(port, "/healthz")[0] == 200)
        assert json.loads(get(port, "/healthz")[1]) == {"status": "ok"}
        status, text = get(port, "/metrics")
        assert status == 200
        assert "# TYPE acidsql_num_open_non_repl_txns gauge" in text
        assert get(port, "/else") == (404, "/healthz /metrics\n")
    assert get(port, "/healthz") == (503, '{"status": "draining"}\n')


def test_a_port_that_is_taken_is_an_error(session: Session) -> None:
    port = session.serve_health(0)
    with pytest.raises(AcidSqlError) as refused:
        session.serve_health(port)
    assert refused.value.condition == "CANNOT_START"


def test_pages_are_for_this_machine_unless_an_address_opens_them(session: Session) -> None:
    def listens_at(port: int) -> set[str]:
        return {s.getsockname()[0] for s in gc.get_objects() if isinstance(s, socket.socket) and is_at(s, port)}

    def is_at(one: socket.socket, port: int) -> bool:
        return one.fileno() >= 0 and one.getsockname()[1:2] == (port,)

    assert listens_at(session.serve_health(0)) == {"127.0.0.1"}
    assert listens_at(serve_http(0, {}, "")) == {"127.0.0.1"}
    assert listens_at(session.serve_health(0, listen="0.0.0.0")) == {"0.0.0.0"}
    with pytest.raises(AcidSqlError, match=r"Cannot serve HTTP at port 0 of 192\.0\.2\.1") as refused:
        session.serve_health(0, listen="192.0.2.1")
    assert refused.value.condition == "CANNOT_START"


def test_a_metastore_that_is_away_is_answered_with_its_condition() -> None:
    def away() -> Page:
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri="thrift://h:1", reason="no route")

    assert get(serve_http(0, {"/metrics": away}), "/metrics") == (503, "METASTORE_UNAVAILABLE\n")


def test_failures_count_when_they_last_and_a_worker_that_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    health, running = Health(), threading.Event()
    thread = threading.Thread(target=running.wait, name="acidsql-worker-0", daemon=True)
    thread.start()
    health.begin([thread])
    health.failed(AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri="secret", reason="secret"))
    assert health.status() == (Status.OK, "")
    monkeypatch.setattr("acidsql.compactor.health._PATIENCE", -1.0)
    status, reason = health.status()
    assert status is Status.FAILING
    assert reason.endswith("the last with METASTORE_UNAVAILABLE")
    health.succeeded()
    assert health.status() == (Status.OK, "")
    running.set()
    thread.join()
    assert health.status() == (Status.FAILING, "acidsql-worker-0 has ended")


@pytest.mark.parametrize("questions", [0, 1])
def test_a_compaction_that_is_given_back_leaves_no_file_and_waits_for_another_worker(
    session: Session, questions: int
) -> None:
    """The worker is told before its job begins, and after the job has written its files."""
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    for number in range(2):
        session.execute(f"INSERT INTO t VALUES ({number})")
    before = directories(location(session, "t"))
    session.execute("ALTER TABLE t COMPACT 'minor'")
    compactor = session.compactor
    compactor.giving_back = _AfterQuestions(questions)
    outcome = compactor.work_next(compactor.worker())
    assert outcome is not None
    assert (outcome.state, outcome.merged) == (CompactionState.INITIATED, None)
    assert directories(location(session, "t")) == before
    assert not list(location(session, "t").glob(".acidsql*"))
    (waiting,) = session._metastore.compactions()
    assert (waiting.state, waiting.worker, waiting.txn) == (CompactionState.INITIATED, "", None)
    compactor.giving_back = threading.Event()
    again = compactor.work_next(compactor.worker())
    assert again is not None
    assert (again.compaction.id, again.state) == (outcome.compaction.id, CompactionState.READY_FOR_CLEANING)
    assert session.execute("SELECT count(*) FROM t").frame().collect()[0][0] == 2


def test_one_round_requests_all_compactions_that_are_due(session: Session) -> None:
    """Hive's initiator takes a limited number of tables, and could leave out the same ones each time (HIVE-30026)."""
    session.execute("SET hive.compactor.fetch.size=2")
    session.execute("SET hive.compactor.delta.num.threshold=1")
    tables = [f"t{number}" for number in range(6)]
    for table in tables:
        session.execute(f"CREATE TABLE {table} (id int) {ACID}")
        for number in range(2):
            session.execute(f"INSERT INTO {table} VALUES ({number})")
    session.compactor.initiate()
    assert sorted(str(row[2]) for row in session.execute("SHOW COMPACTIONS").rows()) == tables
