"""A warehouse that this process must not write: it is read, and each change is one clear error. Without Spark.

Root may write what nobody may write, so the reader is a process that gives up this right of root.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import acidsql

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"

READER = """
import ctypes, sys
import acidsql
from acidsql.errors import AcidSqlError

if sys.platform == "linux":  # without CAP_DAC_OVERRIDE, the permissions of files hold for root too (capset(2))
    libc = ctypes.CDLL(None)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    data[0] &= ~2
    data[1] &= ~2
    assert libc.capset(header, data) == 0

def rows(table):
    return sorted(row["id"] for row in session.read_arrow(table).read_all().to_pylist())

def told(act):
    try:
        return act()
    except AcidSqlError as error:
        return error.condition

with acidsql.connect(sys.argv[1]) as session:
    for line in sys.stdin:
        print(eval(line), flush=True)
"""


class Reader:
    """A process that must not write, with a session on a warehouse. It evaluates expressions."""

    def __init__(self, warehouse: Path) -> None:
        command = [sys.executable, "-c", READER, str(warehouse)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def ask(self, expression: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{expression}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def end(self) -> str:
        """Ends the process and gives its error output."""
        return self.process.communicate(timeout=60)[1]


def set_permissions(warehouse: Path, *, writable: bool) -> None:
    more = 0o200 if writable else 0
    for path in [warehouse, *warehouse.rglob("*")]:
        path.chmod((0o555 if path.is_dir() else 0o444) | more)


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "w"
    with acidsql.connect(str(place)) as session:
        session.execute(f"CREATE TABLE t (id INT) {ACID}")
        session.execute("INSERT INTO t VALUES (1), (2)")
        session.execute("DELETE FROM t WHERE id = 1")
    set_permissions(place, writable=False)
    yield place
    set_permissions(place, writable=True)


WRITES = (
    "INSERT INTO t VALUES (3)",
    "UPDATE t SET id = 3",
    "DELETE FROM t",
    "TRUNCATE TABLE t",
    "CREATE TABLE u (id INT)",
    "CREATE DATABASE d",
    "DROP TABLE t",
    "ALTER TABLE t RENAME TO u",
    "ALTER TABLE t COMPACT 'major'",
    "START TRANSACTION",
)


def test_a_read_only_warehouse_is_read_and_not_changed(warehouse: Path) -> None:
    before = sorted(warehouse.rglob("*"))
    reader = Reader(warehouse)
    assert reader.ask("rows('t')") == "[2]"
    for statement in ("SHOW TABLES", "DESCRIBE FORMATTED t", "SHOW LOCKS", "SHOW TRANSACTIONS", "SHOW COMPACTIONS"):
        assert reader.ask(f"session.execute('{statement}').columns != ()") == "True"
    assert reader.ask("[d.name for d in session.inspect('t').parts[0].directories]").count("delta_") == 2
    for statement in WRITES:
        assert reader.ask(f'told(lambda: session.execute("{statement}"))') == "METASTORE_READ_ONLY", statement
    assert reader.ask("told(lambda: session.stream('t').write([{'id': 3}]))") == "METASTORE_READ_ONLY"
    assert reader.ask("told(lambda: session.stream('t', id='s'))") == "METASTORE_READ_ONLY"
    assert reader.ask("rows('t')") == "[2]"
    assert reader.end() == ""
    assert sorted(warehouse.rglob("*")) == before


def test_a_reader_sees_what_a_process_that_may_write_commits(warehouse: Path) -> None:
    reader = Reader(warehouse)
    assert reader.ask("rows('t')") == "[2]"
    set_permissions(warehouse, writable=True)
    with acidsql.connect(str(warehouse)) as session:
        session.execute("INSERT INTO t VALUES (3)")
        assert reader.ask("rows('t')") == "[2, 3]"
        session.execute("INSERT INTO t VALUES (4)")
        assert reader.ask("rows('t')") == "[2, 3, 4]"
    assert reader.ask("rows('t')") == "[2, 3, 4]"
    reader.end()


def test_a_log_that_only_a_writer_can_read_is_an_error(warehouse: Path) -> None:
    """The last commits are in the log of a writer that died: the file alone would show an older state."""
    set_permissions(warehouse, writable=True)
    file = warehouse / ".acidsql" / "metastore.db"
    db = sqlite3.connect(file)
    db.execute("UPDATE next_txn_id SET next = next + 1")
    db.commit()
    log = file.with_name("metastore.db-wal")
    shutil.copy(log, warehouse / "log")
    db.close()
    shutil.move(warehouse / "log", log)
    assert log.stat().st_size > 0
    set_permissions(warehouse, writable=False)
    reader = Reader(warehouse)
    assert "METASTORE_UNAVAILABLE" in reader.end()
