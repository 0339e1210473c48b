"""Hive's lock table (HIVE_LOCKS) in the embedded metastore: an open SQLite transaction in, values out.

Each lock() call is a request with a number; its components are acquired together or wait together. A request waits
for the acquired locks of others and for the requests that came before it, so that nobody is overtaken for ever.
A transaction that holds locks already waits for acquired ones only. So each cycle of waiting is one of transactions
that hold what the next one wants, and none of single statements: those ask once, when they hold nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from acidsql.acid.writeids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Lock, LockComponent, LockType, Operation
from acidsql.metastore.locks import KINDS, LockKind, must_wait
from acidsql.metastore.process import Process
from acidsql.metastore.sqlite_txns import COMMON_PARTITION, add_components, require_open


@dataclass(frozen=True, slots=True)
class Blocker:
    """Whom a request waits for, and where. `waiting`: the other one has come first, and waits too."""

    resource: str
    txn: TxnId
    lock_type: LockType
    waiting: bool
    user: str
    host: str
    process: Process
    last_heartbeat: int
    """Milliseconds since 1970."""


def _values(kinds: Iterable[tuple[LockKind, ...]]) -> str:
    rows = ((text for kind in row for text in (kind.lock_type.value, kind.operation.value)) for row in kinds)
    return "(VALUES " + ", ".join(f"({', '.join(map(repr, row))})" for row in rows) + ")"


_WAITING_PAIRS = _values((mine, theirs) for mine in KINDS for theirs in KINDS if must_wait(mine, theirs))
_WAITED_FOR = _values((theirs,) for theirs in KINDS if any(must_wait(mine, theirs) for mine in KINDS))

_FIND_BLOCKER = f"""
    SELECT mine.db, mine.tbl, mine.part, theirs.txn_id, theirs.lock_type, theirs.state = 'waiting',
           txns.user, txns.host, txns.machine, txns.pid, txns.pid_started, txns.last_heartbeat
    FROM hive_locks mine
    JOIN hive_locks theirs ON theirs.db = mine.db AND theirs.txn_id != mine.txn_id
    JOIN txns ON txns.id = theirs.txn_id AND txns.state = 'open'
    WHERE mine.txn_id = :txn AND mine.state = 'waiting'
      AND (theirs.tbl IS NULL OR mine.tbl IS NULL OR theirs.tbl = mine.tbl) AND {COMMON_PARTITION}
      AND (mine.lock_type, mine.operation, theirs.lock_type, theirs.operation) IN {_WAITING_PAIRS}
      AND (theirs.state = 'acquired' OR (theirs.lock_id < mine.lock_id AND NOT :holds))
    ORDER BY theirs.state = 'waiting', theirs.lock_id, mine.tbl, mine.part LIMIT 1
"""


def request(db: sqlite3.Connection, txn: TxnId, components: Sequence[LockComponent]) -> None:
    """Enters the components as one waiting request, behind all that are there."""
    require_open(db, txn)
    (lock_id,) = db.execute("SELECT next FROM next_lock_id").fetchone()
    db.execute("UPDATE next_lock_id SET next = next + 1")
    rows = {(lock_id, txn, c.database, c.table, c.partition, c.operation.value, c.lock_type.value) for c in components}
    db.executemany("INSERT INTO hive_locks VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting')", rows)


def find_blocker(db: sqlite3.Connection, txn: TxnId) -> Blocker | None:
    """Whom the request of `txn` has to wait for, one who holds a lock before one who waits; None: it need not wait."""
    require_open(db, txn)
    row = db.execute(_FIND_BLOCKER, {"txn": txn, "holds": _holds_locks(db, txn)}).fetchone()
    if row is None:
        return None
    database, table, partition, other, lock_type, waiting, user, host, machine, pid, started, heard = row
    resource = "/".join(filter(None, (database, table, partition)))
    process = Process(machine, pid, started)
    return Blocker(resource, TxnId(other), LockType(lock_type), bool(waiting), user, host, process, heard)


def acquire(db: sqlite3.Connection, txn: TxnId, components: Sequence[LockComponent]) -> Blocker | None:
    """Acquires what `txn` has requested, and makes it its write set, or says who is in the way."""
    if (blocker := find_blocker(db, txn)) is not None:
        return blocker
    db.execute("UPDATE hive_locks SET state = 'acquired' WHERE txn_id = ?", (txn,))
    add_components(db, txn, components)
    return None


def withdraw(db: sqlite3.Connection, txn: TxnId) -> None:
    """Forgets what `txn` waits for; what it holds stays."""
    db.execute("DELETE FROM hive_locks WHERE txn_id = ? AND state = 'waiting'", (txn,))


def locks(db: sqlite3.Connection) -> Sequence[Lock]:
    rows = db.execute(
        "SELECT lock_id, txn_id, db, tbl, lock_type, operation, part, hive_locks.state = 'waiting', user, host"
        " FROM hive_locks JOIN txns ON txns.id = txn_id AND txns.state = 'open' ORDER BY lock_id, db, tbl, part"
    )
    return [
        Lock(
            lock_id,
            TxnId(txn),
            LockComponent(database, table, LockType(lock_type), Operation(operation), partition),
            bool(waiting),
            user,
            host,
        )
        for lock_id, txn, database, table, lock_type, operation, partition, waiting, user, host in rows
    ]


def timed_out(blocker: Blocker, seconds: float) -> AcidSqlError:
    """LOCK_TIMEOUT, with the resource and who is in the way."""
    what = "came first and waits for" if blocker.waiting else "holds"
    return AcidSqlError(
        Condition.LOCK_TIMEOUT,
        hint=f"Run the statement again when transaction {blocker.txn} has ended.",
        resource=blocker.resource,
        millis=round(seconds * 1000),
        detail=f"[txnid:{blocker.txn}] of {blocker.user}@{blocker.host}, process {blocker.process.pid}, {what}"
        f" {blocker.lock_type.value}.",
    )


def _holds_locks(db: sqlite3.Connection, txn: TxnId) -> bool:
    """Whether `txn` holds a lock that others may be waiting for."""
    row = db.execute(
        f"SELECT 1 FROM hive_locks WHERE txn_id = ? AND state = 'acquired' AND (lock_type, operation) IN {_WAITED_FOR}",
        (txn,),
    )
    return row.fetchone() is not None
