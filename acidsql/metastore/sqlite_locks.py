"""Hive's lock table (HIVE_LOCKS) in the embedded metastore: an open SQLite transaction in, values out.

Each lock() call is a request with a number; its components are acquired together or wait together. A request waits
for the acquired locks of others and for the requests that came before it, so that nobody is overtaken for ever.
A transaction that holds locks already waits for acquired ones only. So each cycle of waiting is one of transactions
that hold what the next one wants, and none of single statements: those ask once, when they hold nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from acidsql.acid.writeids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Lock, LockComponent, LockType, Operation
from acidsql.metastore.locks import KINDS, LockKind, Resource, Resources, must_wait, resource
from acidsql.metastore.process import Process
from acidsql.metastore.sqlite_txns import add_components, require_open


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


# Those that another transaction has or, with :queued, has asked for first, as far as a request may wait for them.
_IN_THE_WAY = """
    SELECT db, tbl, part, lock_type, operation, txn_id, hive_locks.state = 'waiting',
           user, host, machine, pid, pid_started, last_heartbeat
    FROM hive_locks JOIN txns ON txns.id = txn_id AND txns.state = 'open'
    WHERE txn_id != :txn AND db IN (SELECT db FROM hive_locks WHERE txn_id = :txn AND state = 'waiting')
      AND lock_type || operation IN (SELECT value FROM json_each(:kinds))
      AND (hive_locks.state = 'acquired' OR :queued AND lock_id <
           (SELECT min(lock_id) FROM hive_locks WHERE txn_id = :txn AND state = 'waiting'))
    ORDER BY hive_locks.state = 'waiting', lock_id, tbl, part
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
    mine = _requested(db, txn)
    kinds = [theirs for theirs in KINDS if any(must_wait(kind, theirs) for kind in mine)]
    if not kinds:
        return None
    key = {"txn": txn, "kinds": _json(kinds), "queued": not _holds_locks(db, txn)}
    for database, table, partition, lock_type, operation, *who in db.execute(_IN_THE_WAY, key):
        theirs = LockKind(LockType(lock_type), Operation(operation))
        for kind, resources in mine.items():
            common = resources.overlapping(resource(database, table, partition))
            if common is not None and must_wait(kind, theirs):
                return _blocker("/".join(common), theirs.lock_type, *who)
    return None


def _requested(db: sqlite3.Connection, txn: TxnId) -> Mapping[LockKind, Resources]:
    found: dict[LockKind, list[Resource]] = {}
    for lock_type, operation, *names in db.execute(
        "SELECT lock_type, operation, db, tbl, part FROM hive_locks WHERE txn_id = ? AND state = 'waiting'", (txn,)
    ):
        found.setdefault(LockKind(LockType(lock_type), Operation(operation)), []).append(resource(*names))
    return {kind: Resources(resources) for kind, resources in found.items()}


def _blocker(
    common: str,
    lock_type: LockType,
    txn: int,
    waiting: int,
    user: str,
    host: str,
    machine: str,
    pid: int,
    started: int | None,
    heard: int,
) -> Blocker:
    process = Process(machine, pid, started)
    return Blocker(common, TxnId(txn), lock_type, bool(waiting), user, host, process, heard)


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
    waited_for = [theirs for theirs in KINDS if any(must_wait(mine, theirs) for mine in KINDS)]
    row = db.execute(
        "SELECT 1 FROM hive_locks WHERE txn_id = ? AND state = 'acquired'"
        " AND lock_type || operation IN (SELECT value FROM json_each(?))",
        (txn, _json(waited_for)),
    )
    return row.fetchone() is not None


def _json(kinds: Iterable[LockKind]) -> str:
    return json.dumps([kind.lock_type.value + kind.operation.value for kind in kinds])
