"""The embedded metastore used by several processes at once, and after kill -9. The processes are real."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.process_identity import Process, is_gone, this_process
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore

PRELUDE = """
import os, sys, time
from pathlib import Path
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore

path, warehouse = Path(sys.argv[1]), Path(sys.argv[2])
table = Table("default", "t", (Column("v", "int"),), str(warehouse / "t"))
update = LockComponent("default", "t", LockType.SHARED_WRITE, Operation.UPDATE)
"""

OPEN_AND_REPORT = """
with SqliteMetastore(path, str(warehouse)) as store:
    print(store.open_txn())
"""

# The table is a directory of files, one for each write ID, that hold a number: UPDATE t SET v = v + 1.
INCREMENT = """
def value(valid):
    seen = [int(p.name) for p in (warehouse / "t").iterdir() if valid.is_valid(int(p.name))]
    return int((warehouse / "t" / str(max(seen))).read_text()) if seen else 0

def increment():
    txn = store.open_txn()
    store.lock(txn, [update])
    old = value(store.valid_write_ids(table, store.valid_txns(txn)))
    write_id = store.allocate_write_id(txn, table)
    (warehouse / "t" / str(write_id)).write_text(str(old + 1))
    try:
        store.commit(txn)
    except AcidSqlError as error:
        assert error.condition == "WRITE_CONFLICT", error
        return False
    (warehouse / f"{txn}.committed").touch()
    return True

with SqliteMetastore(path, str(warehouse)) as store:
    done = 0
    while done < int(sys.argv[3]):
        if increment():
            done += 1
        else:
            time.sleep(0.002)
"""

OPEN_AND_HANG = """
store = SqliteMetastore(path, str(warehouse))
txn = store.open_txn()
store.lock(txn, [update])
print(txn, store.allocate_write_id(txn, table), flush=True)
time.sleep(600)
"""

COMMIT_FOR_EVER = """
store = SqliteMetastore(path, str(warehouse))
while True:
    txn = store.open_txn()
    store.lock(txn, [update])
    store.allocate_write_id(txn, table)
    try:
        store.commit(txn)
        print(txn, flush=True)
    except AcidSqlError as error:
        assert error.condition == "WRITE_CONFLICT", error
"""

# Forks pairs of writers, which die after some calls within the metastore: also in the middle of a SQLite transaction.
DYING_WRITERS = (
    INCREMENT.partition("with SqliteMetastore")[0]
    + """
import random, signal

def die_after(calls):
    left = calls
    def profile(frame, event, argument):
        nonlocal left
        if str(frame.f_globals.get("__name__")).startswith("acidsql.metastore"):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(profile)

deaths, choose = int(sys.argv[3]), random.Random(int(sys.argv[4]))
for _ in range(deaths // 2):
    children = []
    for calls in (choose.randint(1, 1500), choose.randint(1, 1500)):
        child = os.fork()
        if not child:
            die_after(calls)
            with SqliteMetastore(path, str(warehouse)) as store:
                while True:
                    increment()
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
"""
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".acidsql" / "metastore.db"


def start(code: str, path: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + code, str(path), str(path.parent.parent), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str], seconds: float = 120) -> str:
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    return out


def make_table(path: Path) -> Table:
    table = Table("default", "t", (Column("v", "int"),), str(path.parent.parent / "t"))
    (path.parent.parent / "t").mkdir()
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        store.create_table(table)
    return table


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


def test_several_processes_may_open_a_new_metastore_at_once(path: Path) -> None:
    processes = [start(OPEN_AND_REPORT, path) for _ in range(8)]
    assert sorted(int(output(p)) for p in processes) == list(range(1, 9))
    with SqliteMetastore(path, "/other") as store:
        assert [(d.name, d.location) for d in store.databases()] == [("default", str(path.parent.parent))]


def test_no_increment_is_lost_among_several_processes(path: Path) -> None:
    table = make_table(path)
    for process in [start(INCREMENT, path, "25") for _ in range(4)]:
        output(process)
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        snapshot = store.valid_txns()
        write_ids = store.valid_write_ids(table, snapshot)
        valid = [w for w in range(1, write_ids.high_watermark + 1) if write_ids.is_valid(WriteId(w))]
        values = [int((path.parent.parent / "t" / str(w)).read_text()) for w in valid]
        assert values == list(range(1, 101))
        # Every transaction took one write ID: none was given out twice, none was skipped.
        assert [write_ids.high_watermark, snapshot.high_watermark] == [100 + len(snapshot.aborted)] * 2
        assert len(write_ids.aborted) == len(snapshot.aborted)
        assert snapshot.open == frozenset()


def test_a_killed_process_leaves_a_transaction_that_the_next_one_aborts(path: Path) -> None:
    table = make_table(path)
    process = start(OPEN_AND_HANG, path)
    txn, write_id = map(int, first_line(process).split())
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        store.open_txn()
        assert txn in store.valid_txns().open
        kill(process)
        store.open_txn()
        assert txn in store.valid_txns().aborted
        assert write_id in store.valid_write_ids(table, store.valid_txns()).aborted


def test_a_process_that_is_killed_but_not_waited_for_is_gone_too(path: Path) -> None:
    make_table(path)
    process = start(OPEN_AND_HANG, path)
    txn = int(first_line(process).split()[0])
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        assert store.abort_timed_out() == []
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
        assert store.abort_timed_out() == [txn]
    process.communicate(timeout=60)


def test_killing_writers_at_any_moment_leaves_a_sound_file(path: Path) -> None:
    table = make_table(path)
    committed: list[int] = []
    for delay in (0.0, 0.01, 0.03, 0.07):
        processes = [start(COMMIT_FOR_EVER, path) for _ in range(2)]
        heads = [first_line(p) for p in processes]
        time.sleep(delay)
        for process in processes:
            process.send_signal(signal.SIGKILL)
        rest = [p.communicate(timeout=60)[0] for p in processes]
        # A line that was cut off by the kill has no end and says nothing.
        committed += [int(line) for text in (*heads, *rest) for line in text.splitlines(keepends=True) if "\n" in line]
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        store.abort_timed_out()
        snapshot = store.valid_txns()
        assert snapshot.open == frozenset()
        assert all(snapshot.is_valid(TxnId(t)) for t in committed)
        assert len(committed) == len(set(committed)) > 0
        assert store.valid_write_ids(table, snapshot).open == frozenset()
        assert store.open_txn() == snapshot.high_watermark + 1
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("deaths", [60, pytest.param(4000, marks=pytest.mark.soak)])
def test_the_committed_writes_of_killed_writers_are_visible_in_order(path: Path, deaths: int) -> None:
    seed = int(os.environ.get("ACIDSQL_SEED", "0"))
    table = make_table(path)
    output(start(DYING_WRITERS, path, str(deaths), str(seed)), seconds=7000)
    reported = {TxnId(int(p.stem)) for p in path.parent.parent.glob("*.committed")}
    with SqliteMetastore(path, str(path.parent.parent)) as store:
        store.abort_timed_out()
        snapshot = store.valid_txns()
        write_ids = store.valid_write_ids(table, snapshot)
        valid = [w for w in range(1, write_ids.high_watermark + 1) if write_ids.is_valid(WriteId(w))]
        writers = {store.writer(table, WriteId(w)) for w in valid}
        values = [int((path.parent.parent / "t" / str(w)).read_text()) for w in valid]
    assert snapshot.open == frozenset(), seed
    assert values == list(range(1, len(valid) + 1)), seed
    assert reported <= writers, seed
    assert len(writers - reported) <= deaths, seed
    assert reported, "nothing was tested"
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_live_process_is_not_gone_and_is_told_from_a_later_one_with_its_number() -> None:
    me = this_process()
    assert not is_gone(me)
    assert me.started is not None
    assert is_gone(Process(me.machine, me.pid, me.started - 1))
    assert not is_gone(Process(me.machine, me.pid, None))


def test_processes_of_another_machine_are_never_known_to_have_ended() -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    assert is_gone(Process(this_process().machine, ended.pid, None))
    assert not is_gone(Process("elsewhere//", ended.pid, None))
