"""The compaction queue of the embedded metastore (Hive's CompactionTxnHandler), inside an open SQLite transaction.

The queue and its history are one table. A worker may change an entry only while the entry belongs to it: each call
compares the entry's ID, worker and state, so that a worker that was declared dead fails (HIVE-29210).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.compactions import (
    DEFAULT_POOL,
    AbortedCompaction,
    Changed,
    Compaction,
    CompactionRequest,
    CompactionState,
    Enqueued,
    PlaceName,
    Retention,
)
from acidsql.metastore.process_identity import Process
from acidsql.metastore.sqlite import commit_rows, transaction_rows
from acidsql.metastore.sqlite.process_rows import process_of

_ACTIVE: Final = ("initiated", "working")


# ------------------------------------------------------------------------------------------------ requests


def enqueue(db: sqlite3.Connection, request: CompactionRequest, host: str, now: int) -> Enqueued:
    """`now` in milliseconds since 1970."""
    waiting = db.execute(
        f"SELECT id, state FROM compaction_queue WHERE {_AT} AND state IN {_ACTIVE} LIMIT 1", _at(request.place)
    ).fetchone()
    if waiting is not None:
        return Enqueued(waiting["id"], CompactionState(waiting["state"]), accepted=False)
    return Enqueued(_insert(db, request, CompactionState.INITIATED, host, now), CompactionState.INITIATED, True)


def _insert(db: sqlite3.Connection, request: CompactionRequest, state: CompactionState, host: str, now: int) -> int:
    found = db.execute(
        "INSERT INTO compaction_queue (db, tbl, part, type, properties, pool, order_by, buckets, initiator, state,"
        " enqueued, initiator_host) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            request.database,
            request.table,
            request.partition,
            request.type.value,
            json.dumps(dict(request.properties)),
            request.pool,
            request.order_by,
            request.buckets,
            request.initiator,
            state.value,
            now,
            host,
        ),
    )
    return int(found.fetchone()["id"])


def compactions(db: sqlite3.Connection) -> Sequence[Compaction]:
    rows = db.execute("SELECT * FROM compaction_queue ORDER BY id DESC")
    return [_compaction(row) for row in rows]


def abort(db: sqlite3.Connection, ids: Collection[int], now: int) -> Sequence[AbortedCompaction]:
    return [_abort(db, number, now) for number in ids]


def _abort(db: sqlite3.Connection, number: int, now: int) -> AbortedCompaction:
    row = db.execute("SELECT state FROM compaction_queue WHERE id = ?", (number,)).fetchone()
    if row is None:
        return AbortedCompaction(number, False, "No Such Compaction Id Available")
    if row["state"] != CompactionState.INITIATED.value:
        message = f"Error while aborting compaction as compaction is in state-{row['state']}"
        return AbortedCompaction(number, False, message)
    _end(db, number, CompactionState.ABORTED, "Compaction aborted by Abort Compaction request.", now)
    return AbortedCompaction(number, True, "Successfully aborted compaction")


# ------------------------------------------------------------------------------------------------ workers


def take(
    db: sqlite3.Connection, worker: str, host: str, process: Process, pools: Collection[str], now: int
) -> Compaction | None:
    row = db.execute(
        "SELECT * FROM compaction_queue WHERE state = 'initiated'"
        " AND ifnull(pool, ?) IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1",
        (DEFAULT_POOL, json.dumps(sorted(pools))),
    ).fetchone()
    if row is None:
        return None
    db.execute(
        "UPDATE compaction_queue SET state = 'working', worker = ?, worker_host = ?, started = ?, machine = ?, pid = ?,"
        " pid_started = ? WHERE id = ?",
        (worker, host, now, process.machine, process.pid, process.started, row["id"]),
    )
    return _find(db, row["id"])


def begin(db: sqlite3.Connection, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
    """Raises COMPACTION_LOST, TRANSACTION_ABORTED."""
    _require_own(db, compaction)
    transaction_rows.require_open(db, txn)
    place = compaction.request.place
    # The remover of leftovers finds the files of an aborted compaction by this row.
    db.execute(
        "INSERT OR REPLACE INTO compaction_txns VALUES (?, ?, ?, ?)",
        (txn, place.database, place.table, place.partition),
    )
    db.execute(
        "UPDATE compaction_queue SET txn_id = ?, highest_write_id = ? WHERE id = ?",
        (txn, highest_write_id, compaction.id),
    )
    return _find(db, compaction.id)


def commit(db: sqlite3.Connection, compaction: Compaction, now: int) -> AcidSqlError | None:
    """Commits the transaction and makes the entry ready for cleaning, atomically. Returns a WRITE_CONFLICT.

    Raises COMPACTION_LOST, TRANSACTION_ABORTED.
    """
    _require_own(db, compaction)
    assert compaction.txn is not None
    transaction_rows.require_open(db, compaction.txn)
    conflict = transaction_rows.commit(db, compaction.txn, now)
    if conflict is not None:
        return conflict
    db.execute(
        "UPDATE compaction_queue SET state = 'ready for cleaning', committed = ?,"
        " next_txn_id = (SELECT next FROM next_txn_id) WHERE id = ?",
        (commit_rows.latest(db, now), compaction.id),  # later than all commits, though the clock may have been set back
    )
    db.execute("DELETE FROM compaction_txns WHERE txn_id = ?", (compaction.txn,))
    return None


def end(db: sqlite3.Connection, compaction: Compaction, state: CompactionState, message: str, now: int) -> None:
    """Ends an entry as failed or refused. Does nothing where it does not belong to this worker any more."""
    if _is_own(db, compaction):
        _end(db, compaction.id, state, message, now)


def give_back(db: sqlite3.Connection, compaction: Compaction) -> None:
    """Returns an entry to the queue. Does nothing where it does not belong to this worker any more."""
    if _is_own(db, compaction):
        _wait_again(db, compaction.id)


def give_back_all(db: sqlite3.Connection) -> None:
    """Returns the entries of all workers to the queue. The caller has aborted their transactions."""
    for row in db.execute("SELECT id FROM compaction_queue WHERE state = 'working'").fetchall():
        _wait_again(db, row["id"])


def _wait_again(db: sqlite3.Connection, number: int) -> None:
    db.execute(
        "UPDATE compaction_queue SET state = 'initiated', worker = '', worker_host = '', started = 0,"
        " txn_id = NULL, highest_write_id = NULL WHERE id = ?",
        (number,),
    )


def _end(db: sqlite3.Connection, number: int, state: CompactionState, message: str, now: int) -> None:
    db.execute(
        "UPDATE compaction_queue SET state = ?, error = ?, ended = ? WHERE id = ?",
        (state.value, message, now, number),
    )


def _require_own(db: sqlite3.Connection, compaction: Compaction) -> None:
    if not _is_own(db, compaction):
        row = db.execute("SELECT state FROM compaction_queue WHERE id = ?", (compaction.id,)).fetchone()
        reason = "it is gone from the queue" if row is None else f"it is {row['state']}, and another worker may have it"
        place = compaction.request.place
        raise AcidSqlError(Condition.COMPACTION_LOST, id=compaction.id, resource=place.text, reason=reason)


def _is_own(db: sqlite3.Connection, compaction: Compaction) -> bool:
    """Whether the entry is as this worker left it: a worker of the same name may have taken it again meanwhile."""
    row = db.execute(
        "SELECT 1 FROM compaction_queue WHERE id = ? AND state = 'working' AND worker = ? AND started = ?"
        " AND txn_id IS ?",
        (compaction.id, compaction.worker, compaction.started, compaction.txn),
    ).fetchone()
    return row is not None


# ------------------------------------------------------------------------------------------------ initiator, cleaner


def changed(db: sqlite3.Connection) -> Sequence[Changed]:
    rows = db.execute("SELECT db, tbl, part, txn_id FROM completed_txn_components ORDER BY db, tbl, part")
    return [Changed(_place(row), TxnId(row["txn_id"])) for row in rows]


def forget_changed(db: sqlite3.Connection, seen: Changed) -> None:
    """Forgets a place, unless another transaction has written there since. That one may have a lower ID: a streaming
    client commits transactions long after it opened them."""
    db.execute(
        f"DELETE FROM completed_txn_components WHERE {_AT} AND txn_id = :txn", {**_at(seen.place), "txn": seen.txn}
    )


def did_not_initiate(db: sqlite3.Connection, request: CompactionRequest, reason: str, host: str, now: int) -> None:
    number = _insert(db, request, CompactionState.DID_NOT_INITIATE, host, now)
    _end(db, number, CompactionState.DID_NOT_INITIATE, reason, now)


def enqueue_cleaning(
    db: sqlite3.Connection, request: CompactionRequest, highest_write_id: WriteId, host: str, now: int
) -> None:
    """Queues the removal of directories that a base of INSERT OVERWRITE or TRUNCATE made obsolete, at the time `now`;
    it waits for the transactions that may read them."""
    number = _insert(db, request, CompactionState.READY_FOR_CLEANING, host, now)
    db.execute(
        "UPDATE compaction_queue SET started = ?, committed = ?, highest_write_id = ?,"
        " next_txn_id = (SELECT next FROM next_txn_id) WHERE id = ?",
        (now, now, highest_write_id, number),
    )


def ready_for_cleaning(db: sqlite3.Connection, now: int, retention_millis: int) -> Sequence[Compaction]:
    """Compactions whose sources no transaction reads: all transactions that were open at the commit have ended."""
    rows = db.execute(
        "SELECT * FROM compaction_queue WHERE state = 'ready for cleaning' AND committed <= ?"
        " AND clean_after <= ?"
        " AND next_txn_id <= (SELECT coalesce(min(id), next_txn_id) FROM txns WHERE txns.state = 'open') ORDER BY id",
        (now - retention_millis, now),
    )
    return [_compaction(row) for row in rows]


def cleaned(db: sqlite3.Connection, compaction: Compaction, now: int) -> None:
    _end(db, compaction.id, CompactionState.SUCCEEDED, "", now)


def cleaning_failed(db: sqlite3.Connection, compaction: Compaction, message: str, again_at: int) -> None:
    """Notes the error, and when to try again."""
    db.execute(
        "UPDATE compaction_queue SET error = ?, clean_after = ?, clean_attempts = clean_attempts + 1 WHERE id = ?",
        (message, again_at, compaction.id),
    )


def failures_in_a_row(db: sqlite3.Connection, place: PlaceName) -> tuple[int, int]:
    """The number of consecutive failures of a place's last compactions, and the time of the last failure."""
    count = last = 0
    for row in db.execute(
        f"SELECT state, ended FROM compaction_queue WHERE {_AT} AND state IN ('failed', 'succeeded',"
        " 'ready for cleaning', 'refused') ORDER BY id DESC",
        _at(place),
    ):
        if row["state"] != "failed":
            break
        count, last = count + 1, max(last, row["ended"])
    return count, last


# ------------------------------------------------------------------------------------------------ housekeeping


def revoke_dead(
    db: sqlite3.Connection, is_gone: Callable[[Process], bool], now: int, timeout_millis: int
) -> Sequence[int]:
    """Returns entries to the queue whose worker has ended, has lost its transaction or takes too long. Aborts their
    transactions, so that the files of the first worker never become visible beside those of the second."""
    revoked = []
    for row in db.execute(
        "SELECT id, txn_id, started, machine, pid, pid_started FROM compaction_queue WHERE state = 'working'"
    ).fetchall():
        number, txn = row["id"], row["txn_id"]
        is_lost = txn is not None and not _is_open(db, txn)
        if not (is_lost or is_gone(process_of(row)) or now - row["started"] > timeout_millis):
            continue
        if txn is not None and not is_lost:
            transaction_rows.abort(db, TxnId(txn), "its compaction was given to another worker")
        _wait_again(db, number)
        revoked.append(number)
    return revoked


def _is_open(db: sqlite3.Connection, txn: int) -> bool:
    return db.execute("SELECT 1 FROM txns WHERE id = ? AND state = 'open'", (txn,)).fetchone() is not None


def purge_history(db: sqlite3.Connection, keep: Retention) -> None:
    """Keeps the latest entries of each place by state. Aborted and refused ones have the limit of did not initiate."""
    kept: dict[tuple[PlaceName, str], int] = {}
    limits = {"succeeded": keep.succeeded, "failed": keep.failed}
    for row in db.execute(
        "SELECT id, state, db, tbl, part FROM compaction_queue"
        " WHERE state NOT IN ('initiated', 'working', 'ready for cleaning') ORDER BY id DESC"
    ).fetchall():
        key = (_place(row), row["state"])
        kept[key] = kept.get(key, 0) + 1
        if kept[key] > limits.get(row["state"], keep.did_not_initiate):
            db.execute("DELETE FROM compaction_queue WHERE id = ?", (row["id"],))


def forget_table(db: sqlite3.Connection, database: str, table: str) -> None:
    """Forgets the entries of a dropped table: they must not apply to a later table of the same name."""
    for name in ("compaction_queue", "compaction_txns", "completed_txn_components"):
        db.execute(f"DELETE FROM {name} WHERE db = ? AND tbl = ?", (database, table))


def forget_partition(db: sqlite3.Connection, place: PlaceName) -> None:
    for name in ("compaction_queue", "compaction_txns", "completed_txn_components"):
        db.execute(f"DELETE FROM {name} WHERE {_AT}", _at(place))


def rename_partition(db: sqlite3.Connection, old: PlaceName, new: PlaceName) -> None:
    """Keeps the entries of a partition that gets other values: what an aborted compaction has left lies in its
    directory still."""
    at = {**_at(old), "new": new.partition}
    for name in ("compaction_queue", "compaction_txns", "completed_txn_components"):
        db.execute(f"UPDATE OR REPLACE {name} SET part = :new WHERE {_AT}", at)


def rename_table(db: sqlite3.Connection, names: tuple[str, str, str, str]) -> None:
    """`names` are the new database and table, then the old ones."""
    for name in ("compaction_queue", "compaction_txns", "completed_txn_components"):
        db.execute(f"UPDATE OR REPLACE {name} SET db = ?, tbl = ? WHERE db = ? AND tbl = ?", names)


_AT: Final = "db = :db AND tbl = :tbl AND part IS :part"


def _at(place: PlaceName) -> dict[str, Any]:
    return {"db": place.database, "tbl": place.table, "part": place.partition}


def _place(row: sqlite3.Row) -> PlaceName:
    return PlaceName(row["db"], row["tbl"], row["part"])


def _find(db: sqlite3.Connection, number: int) -> Compaction:
    return _compaction(db.execute("SELECT * FROM compaction_queue WHERE id = ?", (number,)).fetchone())


def _compaction(row: sqlite3.Row) -> Compaction:
    request = CompactionRequest(
        database=row["db"],
        table=row["tbl"],
        partition=row["part"],
        type=CompactionType(row["type"]),
        properties=json.loads(row["properties"]),
        pool=row["pool"],
        order_by=row["order_by"],
        buckets=row["buckets"],
        initiator=row["initiator"],
    )
    return Compaction(
        id=row["id"],
        request=request,
        state=CompactionState(row["state"]),
        enqueued=row["enqueued"],
        started=row["started"],
        ended=row["ended"],
        worker_host=row["worker_host"],
        worker=row["worker"],
        initiator_host=row["initiator_host"],
        txn=row["txn_id"],
        next_txn=row["next_txn_id"],
        committed=row["committed"],
        highest_write_id=row["highest_write_id"],
        error=row["error"],
    )
