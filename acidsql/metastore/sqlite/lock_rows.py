"""The lock table of the embedded metastore (Hive's HIVE_LOCKS). All functions run inside an open SQLite transaction.

Each lock() call is a numbered request. Its components are acquired together or wait together. A request waits for the
acquired locks of other transactions and for earlier requests, so that no request starves. A transaction that holds
locks already waits only for acquired locks. Therefore a cycle of waiting transactions consists of transactions that
hold what the next one wants. A single statement is in no cycle: it makes one request, and holds nothing before it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_rules import LockedResource, Resource, Resources, must_wait, resource
from acidsql.metastore.locks import Lock
from acidsql.metastore.process_identity import Process
from acidsql.metastore.sqlite.process_rows import process_of
from acidsql.metastore.sqlite.transaction_rows import add_components, require_open


@dataclass(frozen=True, slots=True)
class Blocker:
    """The lock that a request waits for. `waiting` means that it is an earlier request that waits too."""

    resource: str
    lock: tuple[int, int]
    """Its lock_id and number."""
    txn: TxnId
    lock_type: LockType
    waiting: bool
    user: str
    host: str
    process: Process
    last_heartbeat: int
    """Milliseconds since 1970."""
    ticks: int | None
    """The same moment by the monotonic clock of its machine (process_identity.Moment)."""


# The locks that another transaction has acquired or, with :queued, has requested earlier.
_IN_THE_WAY = """
    SELECT db, tbl, part, lock_type, lock_id, number, txn_id, hive_locks.state = 'waiting' AS is_waiting,
           user, host, machine, pid, pid_started, last_heartbeat, ticks
    FROM hive_locks JOIN txns ON txns.id = txn_id AND txns.state = 'open'
    WHERE txn_id != :txn AND db IN (SELECT db FROM hive_locks WHERE txn_id = :txn AND state = 'waiting')
      AND (hive_locks.state = 'acquired' OR :queued AND lock_id <
           (SELECT min(lock_id) FROM hive_locks WHERE txn_id = :txn AND state = 'waiting'))
    ORDER BY hive_locks.state = 'waiting', lock_id, number
"""


def request(db: sqlite3.Connection, txn: TxnId, components: Sequence[LockComponent]) -> None:
    """Adds the components as one waiting request at the end of the queue."""
    require_open(db, txn)
    lock_id = db.execute("SELECT next FROM next_lock_id").fetchone()["next"]
    db.execute("UPDATE next_lock_id SET next = next + 1")
    asked = dict.fromkeys(replace(c, dynamic_partition_write=False) for c in components)
    rows = [
        (lock_id, number, txn, c.database, c.table, c.partition, c.operation.value, c.lock_type.value)
        for number, c in enumerate(asked, 1)
    ]
    db.executemany(
        "INSERT INTO hive_locks (lock_id, number, txn_id, db, tbl, part, operation, lock_type, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting')",
        rows,
    )


def find_blocker(db: sqlite3.Connection, txn: TxnId) -> Blocker | None:
    """The lock that the request of `txn` must wait for, an acquired one before a waiting one; None if it need not."""
    return next(_blockers(db, txn), None)


def _blockers(db: sqlite3.Connection, txn: TxnId) -> Iterator[Blocker]:
    require_open(db, txn)
    mine = _requested(db, txn)
    key = {"txn": txn, "queued": not _holds_locks(db, txn)}
    for row in db.execute(_IN_THE_WAY, key).fetchall():
        theirs = LockedResource(LockType(row["lock_type"]), resource(row["db"], row["tbl"], row["part"]))
        for kind, resources in mine.items():
            common = resources.overlapping(theirs.resource)
            if common is not None and must_wait(kind, common, theirs):
                yield _blocker("/".join(common), row)
                break


def _requested(db: sqlite3.Connection, txn: TxnId) -> Mapping[LockType, Resources]:
    found: dict[LockType, list[Resource]] = {}
    for row in db.execute(
        "SELECT lock_type, db, tbl, part FROM hive_locks WHERE txn_id = ? AND state = 'waiting'", (txn,)
    ):
        found.setdefault(LockType(row["lock_type"]), []).append(resource(row["db"], row["tbl"], row["part"]))
    return {kind: Resources(resources) for kind, resources in found.items()}


def _blocker(common: str, row: sqlite3.Row) -> Blocker:
    return Blocker(
        resource=common,
        lock=(row["lock_id"], row["number"]),
        txn=TxnId(row["txn_id"]),
        lock_type=LockType(row["lock_type"]),
        waiting=bool(row["is_waiting"]),
        user=row["user"],
        host=row["host"],
        process=process_of(row),
        last_heartbeat=row["last_heartbeat"],
        ticks=row["ticks"],
    )


def acquire(db: sqlite3.Connection, txn: TxnId, components: Sequence[LockComponent], now: int) -> Blocker | None:
    """Acquires the request of `txn` and adds it to its write set, or returns the lock that is in the way."""
    if (blocker := find_blocker(db, txn)) is not None:
        return blocker
    if not _holds_locks(db, txn):
        db.execute(
            "UPDATE txns SET seen = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'write_set'), 0)"
            " WHERE id = ?",
            (txn,),
        )
    db.execute(
        "UPDATE hive_locks SET state = 'acquired', acquired = ? WHERE txn_id = ? AND state = 'waiting'", (now, txn)
    )
    add_components(db, txn, components)
    return None


def deadlock(db: sqlite3.Connection, txn: TxnId) -> Sequence[TxnId]:
    """The transactions of a waiting cycle, `txn` first; empty where `txn` is in no cycle."""
    edges: dict[TxnId, list[TxnId]] = {}
    paths: list[tuple[TxnId, ...]] = [(txn,)]
    while paths:
        path = paths.pop()
        if path[-1] not in edges:
            edges[path[-1]] = [b.txn for b in _blockers(db, path[-1])]
            for other in edges[path[-1]]:
                if other == txn:
                    return path
                paths.append((*path, other))
    return ()


def withdraw(db: sqlite3.Connection, txn: TxnId) -> None:
    """Removes the waiting request of `txn`. Its acquired locks stay."""
    db.execute("DELETE FROM hive_locks WHERE txn_id = ? AND state = 'waiting'", (txn,))


def release(db: sqlite3.Connection, txn: TxnId) -> None:
    """Releases all locks of `txn`."""
    require_open(db, txn)
    db.execute("DELETE FROM hive_locks WHERE txn_id = ?", (txn,))
    db.execute("DELETE FROM txn_components WHERE txn_id = ?", (txn,))


def locks(db: sqlite3.Connection) -> Sequence[Lock]:
    rows = db.execute(
        "SELECT lock_id, number, txn_id, db, tbl, lock_type, operation, part, user, host, last_heartbeat, acquired,"
        " hive_locks.state = 'waiting' AS is_waiting"
        " FROM hive_locks JOIN txns ON txns.id = txn_id AND txns.state = 'open' ORDER BY lock_id, number"
    ).fetchall()
    waiting = {TxnId(row["txn_id"]) for row in rows if row["is_waiting"]}
    blockers = {txn: find_blocker(db, txn) for txn in waiting}
    return [_lock(row, blockers) for row in rows]


def _lock(row: sqlite3.Row, blockers: Mapping[TxnId, Blocker | None]) -> Lock:
    txn = TxnId(row["txn_id"])
    blocker = blockers.get(txn) if row["is_waiting"] else None
    return Lock(
        lock_id=row["lock_id"],
        number=row["number"],
        txn=txn,
        component=LockComponent(
            row["db"], row["tbl"], LockType(row["lock_type"]), Operation(row["operation"]), row["part"]
        ),
        waiting=bool(row["is_waiting"]),
        user=row["user"],
        host=row["host"],
        last_heartbeat=row["last_heartbeat"],
        acquired=row["acquired"],
        blocked_by=None if blocker is None else blocker.lock,
    )


def timed_out(blocker: Blocker, seconds: float) -> AcidSqlError:
    """The LOCK_TIMEOUT error, with the resource and the transaction in the way."""
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
    """Whether `txn` holds a lock, for which others may wait."""
    row = db.execute("SELECT 1 FROM hive_locks WHERE txn_id = ? AND state = 'acquired'", (txn,))
    return row.fetchone() is not None
