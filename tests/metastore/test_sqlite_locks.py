"""Locks of the embedded metastore among several processes: races, kill -9, Ctrl-C, queues. The processes are real."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import DEFAULT_PATIENCE, Patience
from acidsql.metastore.sqlite.schema import SCHEMA_VERSION, upgrade_schema
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.clock import Clock, wait_for_heartbeat
from tests.metastore.older_files import make_version_8
from tests.metastore.patience import AT_ONCE, eventually, within

INSERT = LockComponent("default", "t", LockType.SHARED_READ, Operation.INSERT)
OVERWRITE = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.INSERT)
PATIENCE = 60.0

PRELUDE = """
import json, random, sys, time
from pathlib import Path
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore

warehouse = Path(sys.argv[1])
table = Table("default", "t", (Column("v", "string"),), str(warehouse / "t"))
insert = LockComponent("default", "t", LockType.SHARED_READ, Operation.INSERT)
overwrite = LockComponent("default", "t", LockType.EXCLUSIVE, Operation.INSERT)
store = SqliteMetastore(warehouse / "m.db", str(warehouse))
"""

# The table is a directory of JSON files: base_N (a list of rows that hides all below N) and delta_N.
READ = """
def rows(valid):
    names = [(int(p.name.partition("_")[2]), p) for p in sorted((warehouse / "t").iterdir())]
    seen = [(write_id, p) for write_id, p in names if valid.is_valid(write_id)]
    base = max((write_id for write_id, p in seen if p.name.startswith("base")), default=0)
    return [
        row
        for write_id, p in seen
        if write_id > base or p.name == f"base_{base}"
        for row in json.loads(p.read_text())
    ]
"""

WRITE = """
def write(kind, row):
    txn = store.open_txn()
    store.lock(txn, [insert if kind == "delta" else overwrite])
    write_id = store.allocate_write_id(txn, table)
    valid = store.valid_write_ids(table, store.valid_txns(txn))
    old = rows(valid) if kind == "base" else []
    if kind == "base":
        assert valid.open == {write_id}, f"{valid.open} are open beside {write_id}"
    time.sleep(random.uniform(0, 0.01))
    (warehouse / "t" / f"{kind}_{write_id}").write_text(json.dumps([*old, row]))
    if random.random() < 0.1:
        return store.abort(txn)
    store.commit(txn)
    print(row, flush=True)

for n in range(int(sys.argv[4])):
    write(sys.argv[3], f"{sys.argv[2]}{n}")
"""

LOCK_AND_HANG = """
txn = store.open_txn()
store.lock(txn, [insert if sys.argv[2] == "insert" else overwrite])
print(txn, flush=True)
time.sleep(600)
"""

# With a transaction that outlives the interrupted statement, as in an explicit one.
LOCK_UNTIL_INTERRUPTED = """
txn = store.open_txn()
print(txn, flush=True)
try:
    store.lock(txn, [overwrite])
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.read()
store.commit(txn)
print("committed", flush=True)
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    (tmp_path / "t").mkdir()
    with SqliteMetastore(tmp_path / "m.db", str(tmp_path)) as store:
        store.create_table(table(tmp_path))
    return tmp_path


def table(warehouse: Path) -> Table:
    return Table("default", "t", (Column("v", "string"),), str(warehouse / "t"))


def open_store(warehouse: Path) -> SqliteMetastore:
    return SqliteMetastore(warehouse / "m.db", str(warehouse))


def start(code: str, warehouse: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + code, str(warehouse), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def output(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)


def queued(store: SqliteMetastore) -> set[TxnId]:
    return {lock.txn for lock in store.locks() if lock.waiting}


def begin(store: SqliteMetastore, component: LockComponent, patience: Patience = DEFAULT_PATIENCE) -> TxnId:
    txn = store.open_txn()
    store.lock(txn, [component], patience=patience)
    return txn


# -- nothing is lost
def test_no_insert_is_lost_to_overwrites_of_other_processes(warehouse: Path) -> None:
    """INSERT OVERWRITE t SELECT * FROM t UNION ALL .. beside INSERTs: each committed row exists once at the end."""
    code = READ + WRITE
    processes = [start(code, warehouse, name, "delta", "25") for name in "abc"]
    processes += [start(code, warehouse, name, "base", "12") for name in "xy"]
    committed = sorted(row for process in processes for row in output(process).split())
    namespace: dict[str, object] = {"warehouse": warehouse}
    exec("import json\n" + READ, namespace)
    rows = namespace["rows"]
    assert callable(rows)
    with open_store(warehouse) as store:
        assert sorted(rows(store.valid_write_ids(table(warehouse), store.valid_txns()))) == committed
        assert len(committed) > 60
        assert list(store.locks()) == []


# -- nobody starves
def test_an_overwrite_gets_its_lock_during_a_stream_of_inserts(warehouse: Path) -> None:
    """Each insert ends only when a later one holds its lock, or waits for it: without a queue there is no gap."""
    stop = threading.Event()

    def is_followed(store: SqliteMetastore, txn: TxnId) -> bool:
        return stop.is_set() or any(lock.txn > txn and lock.component == INSERT for lock in store.locks())

    def stream(store: SqliteMetastore) -> None:
        while not stop.is_set():
            txn = begin(store, INSERT)
            eventually(partial(is_followed, store, txn))
            store.commit(txn)

    with open_store(warehouse) as store, open_store(warehouse) as other, ThreadPoolExecutor() as pool:
        streams = [pool.submit(stream, other) for _ in range(3)]
        try:
            eventually(lambda: len(store.locks()) > 1)
            for _ in range(3):
                store.commit(begin(store, OVERWRITE, patience=within(PATIENCE)))
        finally:
            stop.set()
        for done in streams:
            done.result(PATIENCE)


# -- the dead
def test_a_killed_holder_and_a_killed_waiter_make_room(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        holder = start(LOCK_AND_HANG, warehouse, "insert")
        assert line(holder)
        waiter = start(LOCK_AND_HANG, warehouse, "overwrite")
        eventually(lambda: len(queued(store)) == 1)
        mine = store.open_txn()
        with ThreadPoolExecutor() as pool:
            call = pool.submit(store.lock, mine, [OVERWRITE], patience=within(PATIENCE))
            eventually(lambda: len(queued(store)) == 2)
            kill(waiter)
            kill(holder)
            call.result(PATIENCE)
        assert {lock.txn for lock in store.locks()} == {mine}
        assert len(store.valid_txns().aborted) == 2


def test_a_killed_waiter_does_not_delay_those_behind_it(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        begin(store, INSERT)
        mine = store.open_txn()
        waiter = start(LOCK_AND_HANG, warehouse, "overwrite")
        eventually(lambda: len(queued(store)) == 1)
        with pytest.raises(AcidSqlError, match="LOCK_TIMEOUT"):
            store.lock(mine, [INSERT], patience=AT_ONCE)
        kill(waiter)
        store.lock(mine, [INSERT], patience=AT_ONCE)


def test_a_request_does_not_wait_for_a_holder_that_was_killed_before(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        txn = store.open_txn()  # opening one looks for the dead: so it comes first
        holder = start(LOCK_AND_HANG, warehouse, "overwrite")
        assert line(holder)
        kill(holder)
        store.lock(txn, [INSERT], patience=AT_ONCE)


def test_a_holder_without_a_heartbeat_loses_its_lock_and_a_waiter_keeps_its_heartbeat(
    warehouse: Path, clock: Clock
) -> None:
    timeout = 2  # the waiter has a heartbeat in each fifth of it
    with SqliteMetastore(warehouse / "m.db", "/w", txn_timeout=timeout) as store, ThreadPoolExecutor() as pool:
        silent = begin(store, OVERWRITE)
        alive = store.open_txn()
        call = pool.submit(store.lock, alive, [OVERWRITE], patience=within(PATIENCE))
        eventually(lambda: queued(store) == {alive})
        clock.pass_by(timeout)
        store.heartbeat(alive)
        clock.pass_by(1)
        call.result(PATIENCE)
        assert silent in store.valid_txns().aborted
        waiter = store.open_txn()
        call = pool.submit(store.lock, waiter, [INSERT], patience=within(PATIENCE))
        eventually(lambda: queued(store) == {waiter})
        for _ in range(3):
            clock.pass_by(timeout - 1)
            store.heartbeat(alive)
            wait_for_heartbeat(store, waiter, clock)
        assert store.abort_timed_out() == []
        store.commit(alive)
        call.result(PATIENCE)


# -- interrupted
def test_an_interrupted_wait_leaves_nothing_in_the_queue(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        holder = begin(store, INSERT)
        process = start(LOCK_UNTIL_INTERRUPTED, warehouse)
        waiter = int(line(process))
        eventually(lambda: queued(store) == {waiter})
        process.send_signal(signal.SIGINT)
        assert line(process) == "interrupted"
        assert {lock.txn for lock in store.locks()} == {holder}
        assert waiter in store.valid_txns().open
        store.commit(begin(store, INSERT, patience=AT_ONCE))
        assert output(process) == "committed\n"


# -- the message
def test_a_timeout_names_the_process_that_holds_the_lock(warehouse: Path) -> None:
    holder = start(LOCK_AND_HANG, warehouse, "overwrite")
    other = line(holder)
    with open_store(warehouse) as store, pytest.raises(AcidSqlError) as caught:
        begin(store, INSERT, patience=within(0.05))
    kill(holder)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(
        f"[LOCK_TIMEOUT] [Error 10307] Lock acquisition for default/t timed out after 50ms.  [txnid:{other}] of "
    )
    assert lines[0].endswith(f", process {holder.pid}, holds EXCLUSIVE.")
    assert lines[1] == f"Hint: Run the statement again when transaction {other} has ended."


# -- the file
def test_transactions_that_have_ended_leave_no_locks_in_the_file(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        store.commit(begin(store, INSERT))
        store.abort(begin(store, OVERWRITE))
        with sqlite3.connect(warehouse / "m.db") as db:
            assert db.execute("SELECT * FROM hive_locks").fetchall() == []


# -- older files
def test_a_metastore_without_locks_gets_them_and_keeps_its_open_writers(warehouse: Path) -> None:
    with open_store(warehouse) as store:
        writer = begin(store, INSERT)
        new = schema(warehouse)
        make_version_8(warehouse / "m.db", str(warehouse))
        with sqlite3.connect(warehouse / "m.db") as db:  # as the first version had it
            db.execute("DROP TABLE hive_locks")
            db.execute("DROP TABLE next_lock_id")
            db.execute("DROP INDEX txns_left")
            db.execute("ALTER TABLE txns DROP COLUMN ticks")
            db.execute("ALTER TABLE txns DROP COLUMN cleaned")
            db.execute("ALTER TABLE txns DROP COLUMN seen")
            for column in ("managed_location", "owner", "owner_kind"):
                db.execute(f"ALTER TABLE databases DROP COLUMN {column}")
            newer = (
                "compaction_queue",
                "compaction_txns",
                "completed_txn_components",
                "views",
                "statistics",
                "streams",
            )
            for name in ("write_set", *newer):
                db.execute(f"DROP TABLE {name}")
            db.execute("CREATE TABLE write_set (db TEXT, tbl TEXT, part TEXT, txn_id, commit_id, operation TEXT)")
            db.execute("UPDATE metastore SET schema_version = 1")
    with open_store(warehouse) as store:
        assert schema(warehouse) == new
        assert [(lock.txn, lock.component, lock.waiting) for lock in store.locks()] == [(writer, INSERT, False)]
        with pytest.raises(AcidSqlError, match="LOCK_TIMEOUT"):
            begin(store, OVERWRITE, patience=AT_ONCE)
        store.commit(writer)
        assert store.allocate_write_id(begin(store, OVERWRITE, patience=AT_ONCE), table(warehouse)) == WriteId(1)


def test_two_processes_can_upgrade_a_metastore_at_the_same_time(warehouse: Path) -> None:
    before = schema(warehouse)
    with sqlite3.connect(warehouse / "m.db") as db:
        db.row_factory = sqlite3.Row
        upgrade_schema(db, "default", warehouse / "m.db")
    assert schema(warehouse) == before


def schema(warehouse: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(warehouse / "m.db") as db:
        assert db.execute("SELECT schema_version FROM metastore").fetchall() == [(SCHEMA_VERSION,)]
        return db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
