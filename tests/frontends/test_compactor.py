"""`acidsql compactor` as a process: one round, and as a service."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.metastore.compactions import CompactionState
from acidsql.session import Session
from tests.answers import rows
from tests.compactor.layout import directories, location
from tests.crash.writers import PATIENCE, wait_for
from tests.frontends.java_gate import JavaGate
from tests.interop.reserved_port import reserved_port
from tests.metastore.patience import eventually

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def start(place: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    where = ("--warehouse", str(place / "warehouse"), "--metastore", f"sqlite:///{place}/metastore.db")
    small = ("--master", "local[1]", "--conf", "spark.driver.memory=512m")
    command = [sys.executable, "-m", "acidsql", "compactor", *where, *small, *arguments]
    env = {**os.environ, **environment}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def table(session: Session) -> Path:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    for i in range(3):
        session.execute(f"INSERT INTO t VALUES ({i})")
    return location(session, "t")


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """What it says, without the times and sizes."""
    assert process.stdout is not None
    for line in process.stdout:
        yield re.sub(r"\d+(\.\d+)? (s|B|kB)\b", "#", line[len("2026-01-01 00:00:00 ") :].strip())


@pytest.mark.nightly
def test_one_round_does_what_is_due_and_leaves(table: Path, tmp_path: Path) -> None:
    process = start(tmp_path, "--once", "--hiveconf", "hive.compactor.delta.num.threshold=2")
    assert list(lines(process)) == [
        "major compaction of default.t initiated as 1: there are 3 deltas",
        "major compaction 1 of default.t: 3 directories (3 files, #) -> base_0000003_v0000005,"
        " 1 directory (1 file, #) in #",
        "cleaning up behind compaction 1 of default.t: 3 directories removed",
    ]
    assert process.wait(PATIENCE) == 0
    assert directories(table) == ["base_0000003_v"]


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_service_takes_requests_serves_metrics_and_stops_at_sigterm(
    table: Path, session: Session, tmp_path: Path
) -> None:
    port = reserved_port()
    process = start(tmp_path, "--metrics-port", str(port))
    said = lines(process)
    assert next(said) == "the compactor runs; Ctrl-C stops it"
    session.execute("ALTER TABLE t COMPACT 'minor'")
    assert next(said).startswith(
        "minor compaction 1 of default.t: 3 directories (3 files, #) -> delta_0000001_0000003_v"
    )
    assert next(said) == "cleaning up behind compaction 1 of default.t: 3 directories removed"
    assert directories(table) == ["delta_0000001_0000003_v"]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    assert "acidsql_compaction_num_succeeded 1.0" in text
    assert "# HELP acidsql_num_open_non_repl_txns Open transactions." in text
    assert 'acidsql_compaction_num_active_deltas_by_place{place="default.t"} 1.0' in text
    process.send_signal(signal.SIGTERM)
    assert list(said) == ["the compactor has stopped"]
    assert process.wait(PATIENCE) == 0


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_two_services_on_one_metastore_do_each_request_once_and_drain_at_sigterm(
    session: Session, tmp_path: Path
) -> None:
    tables = [f"t{number}" for number in range(4)]
    for name in tables:
        session.execute(f"CREATE TABLE {name} (id int) {ACID}")
        for value in range(2):
            session.execute(f"INSERT INTO {name} VALUES ({value})")
    services = [start(tmp_path, "--drain-seconds", "300") for _ in range(2)]
    said = [lines(service) for service in services]
    for one in said:
        assert next(one) == "the compactor runs; Ctrl-C stops it"
    for name in tables:
        session.execute(f"ALTER TABLE {name} COMPACT 'major'")
    while [one.state for one in session._metastore.compactions()] != [CompactionState.SUCCEEDED] * len(tables):
        time.sleep(0.5)
    for service in services:
        service.send_signal(signal.SIGTERM)
    rest = [list(one) for one in said]
    assert [service.wait(PATIENCE) for service in services] == [0, 0]
    assert [one[-1] for one in rest] == ["the compactor has stopped"] * 2
    merged = [line for one in rest for line in one if re.match(r"major compaction \d+ of \S+: ", line)]
    assert sorted(line.split()[4].rstrip(":") for line in merged) == [f"default.{name}" for name in tables]
    for name in tables:
        assert directories(location(session, name)) == ["base_0000002_v"]
        assert session.execute(f"SELECT count(*) FROM {name}").frame().collect()[0][0] == 2


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_service_that_is_stopped_gives_its_compaction_back_and_another_does_it(
    table: Path, session: Session, tmp_path: Path
) -> None:
    java = JavaGate(tmp_path)  # a minor compaction starts Spark first
    health = reserved_port()
    try:
        process = start(tmp_path, "--drain-seconds", "0", "--health-port", str(health), JAVA_HOME=str(java.home))
        said = lines(process)
        assert next(said) == "the compactor runs; Ctrl-C stops it"
        session.execute("ALTER TABLE t COMPACT 'minor'")
        wait_for(java.is_waited_for, process)
        assert states(session) == [CompactionState.WORKING]
        process.send_signal(signal.SIGTERM)
        eventually(lambda: is_draining(health))
    finally:
        java.open()
    assert list(said)[-1] == "the compactor has stopped"
    assert process.wait(PATIENCE) == 0
    assert states(session) == [CompactionState.INITIATED]
    assert directories(table) == [f"delta_000000{n}_000000{n}_0000" for n in (1, 2, 3)]
    assert start(tmp_path, "--once").wait(PATIENCE) == 0
    assert states(session) == [CompactionState.SUCCEEDED]
    assert directories(table) == ["delta_0000001_0000003_v"]
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(0,), (1,), (2,)]


def is_draining(health_port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{health_port}/healthz") as answer:
            return b"draining" in answer.read()
    except urllib.error.HTTPError as error:
        return b"draining" in error.read()


def states(session: Session) -> list[CompactionState]:
    return [one.state for one in session._metastore.compactions()]
