"""The transactions of the embedded metastore (Hive's TxnHandler). All functions run inside an open SQLite transaction.

A transaction has a row in `txns` while it is open and after an abort. A commit deletes the row: an ID up to the highest
one without a row has committed, just as a ValidTxnList lists only transactions that have not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.lock_components import LockComponent, Operation
from acidsql.metastore.lock_rules import Resource, Resources, resource
from acidsql.metastore.process_identity import Moment, Process
from acidsql.metastore.sqlite import commit_rows, written_rows
from acidsql.metastore.sqlite.process_rows import Opener, process_of, silent_millis
from acidsql.metastore.transaction_client import Conflict, Transaction


def require_room(db: sqlite3.Connection, limit: int, wanted: int = 1) -> None:
    """Raises TOO_MANY_TRANSACTIONS where more than `limit` transactions would be open with the `wanted` ones."""
    found = db.execute("SELECT count(*) AS open_txns FROM txns WHERE state = 'open'").fetchone()
    if found["open_txns"] + wanted > limit:
        raise AcidSqlError(Condition.TOO_MANY_TRANSACTIONS, limit=limit)


def open_txn(db: sqlite3.Connection, opener: Opener, now: Moment) -> TxnId:
    txn = _next_txn_id(db)
    process = opener.process
    db.execute(
        "INSERT INTO txns (id, state, started, last_heartbeat, ticks, user, host, machine, pid, pid_started)"
        " VALUES (?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)",
        (txn, now.wall, now.wall, now.ticks, opener.user, opener.host, process.machine, process.pid, process.started),
    )
    return txn


def valid_txns(db: sqlite3.Connection) -> ValidTxnList:
    """The snapshot of now, as Hive's get_open_txns: the caller's own transaction is among the open ones."""
    by_state: dict[str, set[TxnId]] = {"open": set(), "aborted": set()}
    for row in db.execute("SELECT id, state FROM txns WHERE state IN ('open', 'aborted')"):
        by_state[row["state"]].add(TxnId(row["id"]))
    return ValidTxnList(_high_watermark(db), frozenset(by_state["open"]), frozenset(by_state["aborted"]))


def transactions(db: sqlite3.Connection) -> Sequence[Transaction]:
    rows = db.execute(
        "SELECT id, state = 'open' AS is_open, started, last_heartbeat, user, host FROM txns"
        " WHERE state IN ('open', 'aborted') ORDER BY id"
    )
    return [
        Transaction(TxnId(r["id"]), bool(r["is_open"]), r["started"], r["last_heartbeat"], r["user"], r["host"])
        for r in rows
    ]


def add_components(db: sqlite3.Connection, txn: TxnId, components: Sequence[LockComponent]) -> None:
    """Notes the components that `txn` reads and writes, for its commit."""
    rows = [
        (txn, c.database, c.table, c.partition, c.operation.value, c.lock_type.value, c.dynamic_partition_write)
        for c in components
    ]
    db.executemany("INSERT OR IGNORE INTO txn_components VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def add_dynamic_partitions(
    db: sqlite3.Connection, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation
) -> None:
    """Replaces the table's dynamic components of the operation by the partitions, with the same lock type."""
    require_open(db, txn)
    which = (txn, table.database, table.name, operation.value)
    where = "txn_id = ? AND db = ? AND tbl = ? AND operation = ? AND dynamic AND part IS NULL"
    found = db.execute(f"SELECT lock_type FROM txn_components WHERE {where}", which).fetchall()
    db.execute(f"DELETE FROM txn_components WHERE {where}", which)
    lock_types = [row["lock_type"] for row in found] or ["SHARED_WRITE"]
    rows = [
        (txn, table.database, table.name, partition, operation.value, lock_type, False)
        for partition in partitions
        for lock_type in lock_types
    ]
    db.executemany("INSERT OR IGNORE INTO txn_components VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def allocate_write_id(db: sqlite3.Connection, txn: TxnId, table_id: int) -> WriteId:
    require_open(db, txn)
    row = db.execute("SELECT write_id FROM txn_to_write_id WHERE table_id = ? AND txn_id = ?", (table_id, txn))
    if (known := row.fetchone()) is not None:
        return WriteId(known["write_id"])
    written_rows.require_no_foreign(db, table_id)
    write_id = db.execute("SELECT next_write_id FROM tables WHERE id = ?", (table_id,)).fetchone()["next_write_id"]
    db.execute("UPDATE tables SET next_write_id = next_write_id + 1 WHERE id = ?", (table_id,))
    db.execute("INSERT INTO txn_to_write_id VALUES (?, ?, ?)", (table_id, txn, write_id))
    return WriteId(write_id)


def last_write_id(db: sqlite3.Connection, table_id: int) -> WriteId:
    row = db.execute("SELECT next_write_id FROM tables WHERE id = ?", (table_id,)).fetchone()
    return WriteId(row["next_write_id"] - 1)


def writer(db: sqlite3.Connection, table_id: int, write_id: WriteId) -> TxnId | None:
    row = db.execute("SELECT txn_id FROM txn_to_write_id WHERE table_id = ? AND write_id = ?", (table_id, write_id))
    found = row.fetchone()
    return None if found is None else TxnId(found["txn_id"])


def valid_write_ids(db: sqlite3.Connection, table: Table, table_id: int, txns: ValidTxnList) -> ValidWriteIdList:
    """The write IDs of the table that the snapshot `txns` sees, whatever has happened since it was taken.

    As in Hive's GetValidWriteIdsForTableFunction, the high watermark is the highest write ID of any transaction up to
    the high watermark of `txns`. Below it, the write IDs of aborted transactions are aborted, and those of open and of
    later transactions are open. A later transaction has a write ID below the high watermark if it allocated the ID
    before an earlier transaction allocated its own.
    """
    key = {"table": table_id, "txn_hwm": txns.high_watermark, "invalid": json.dumps([*txns.open, *txns.aborted])}
    adopted = db.execute("SELECT adopted_high_watermark FROM tables WHERE id = :table", key).fetchone()
    highest = db.execute(
        "SELECT write_id FROM txn_to_write_id WHERE table_id = :table AND txn_id <= :txn_hwm"
        " ORDER BY write_id DESC LIMIT 1",
        key,
    ).fetchone()
    mark = highest["write_id"] if highest else adopted["adopted_high_watermark"]
    invalid: dict[str, set[WriteId]] = {"open": set(), "aborted": set()}
    for row in db.execute(
        "SELECT write_id, txn_id FROM txn_to_write_id WHERE table_id = :table"
        " AND (txn_id > :txn_hwm OR txn_id IN (SELECT value FROM json_each(:invalid)))",
        key,
    ):
        invalid["aborted" if row["txn_id"] in txns.aborted else "open"].add(WriteId(row["write_id"]))
    for row in db.execute("SELECT write_id, state FROM adopted_write_ids WHERE table_id = :table", key):
        invalid[row["state"]].add(WriteId(row["write_id"]))
    return ValidWriteIdList(
        table.qualified, WriteId(mark), _up_to(mark, invalid["open"]), _up_to(mark, invalid["aborted"])
    )


def heartbeat(db: sqlite3.Connection, txn: TxnId, now: Moment) -> None:
    require_open(db, txn)
    db.execute("UPDATE txns SET last_heartbeat = ?, ticks = ? WHERE id = ?", (now.wall, now.ticks, txn))


def heartbeats(db: sqlite3.Connection, txns: Sequence[TxnId], now: Moment) -> frozenset[TxnId]:
    """Those of the transactions that are not open."""
    ended = frozenset(txn for txn in txns if _state(db, txn).name != "open")
    beats = [(now.wall, now.ticks, txn) for txn in txns if txn not in ended]
    db.executemany("UPDATE txns SET last_heartbeat = ?, ticks = ? WHERE id = ?", beats)
    return ended


def commit(
    db: sqlite3.Connection,
    txn: TxnId,
    wall: int,
    writes: Sequence[CommittedWrite] = (),
    compatible: Collection[TxnId] | None = None,
) -> AcidSqlError | None:
    """Commits `txn` at the time of day `wall`, or returns the WRITE_CONFLICT. A conflict aborts `txn` where
    `compatible` is None. As in Hive, a second commit is no error."""
    if is_committed(db, txn):
        return None
    require_open(db, txn)
    for conflict in find_conflicts(db, txn):
        if compatible is None:
            _abort(db, txn, conflict.error.message)
        if conflict.txn not in (compatible or ()):
            return conflict.error
    # The commit ID is the highest transaction ID at this moment: transactions up to it were opened before.
    db.execute(
        "INSERT INTO write_set (db, tbl, part, txn_id, commit_id, operation)"
        " SELECT DISTINCT db, tbl, part, txn_id, ?, operation FROM txn_components"
        " WHERE txn_id = ? AND tbl IS NOT NULL AND operation IN ('u', 'd')",
        (_high_watermark(db), txn),
    )
    db.execute(
        "INSERT OR REPLACE INTO completed_txn_components SELECT DISTINCT db, tbl, part, txn_id FROM txn_components"
        " WHERE txn_id = ? AND tbl IS NOT NULL AND operation IN ('i', 'u', 'd')",
        (txn,),
    )
    written_rows.forget_replaced(db, txn)
    commit_rows.record(db, txn, writes, wall)
    db.execute("DELETE FROM txns WHERE id = ?", (txn,))
    db.execute(
        "DELETE FROM write_set WHERE commit_id <"
        " (SELECT coalesce(min(id), (SELECT next FROM next_txn_id)) FROM txns WHERE state = 'open')"
    )
    return None


def abort(db: sqlite3.Connection, txn: TxnId, reason: str = "it was rolled back") -> None:
    if _state(db, txn).name == "aborted":
        return
    require_open(db, txn)
    _abort(db, txn, reason)


def forget_leftovers(db: sqlite3.Connection, txn: TxnId) -> None:
    db.execute("UPDATE txns SET cleaned = 1 WHERE id = ?", (txn,))


def abort_dead(
    db: sqlite3.Connection, is_gone: Callable[[Process], bool], now: Moment, timeout_millis: int
) -> Sequence[TxnId]:
    """Aborts open transactions without a heartbeat for `timeout_millis`, and those whose process is gone."""
    is_gone = cache(is_gone)  # many transactions belong to few processes
    # A heartbeat in the future comes from a clock that was set back since: count the silence from now on.
    set_back = "UPDATE txns SET last_heartbeat = ? WHERE state = 'open' AND last_heartbeat > ?"
    db.execute(set_back, (now.wall, now.wall))
    rows = db.execute(
        "SELECT id, last_heartbeat, ticks, machine, pid, pid_started FROM txns WHERE state = 'open'"
    ).fetchall()
    dead = []
    for row in rows:
        process = process_of(row)
        silent = silent_millis(process, row["last_heartbeat"], row["ticks"], now)
        if (gone := is_gone(process)) or silent > timeout_millis:
            reason = "its process ended" if gone else f"no heartbeat for {silent // 1000} seconds"
            dead.append((TxnId(row["id"]), reason))
    for txn, reason in dead:
        _abort(db, txn, reason)
    return [txn for txn, _ in dead]


def forget_aborted(db: sqlite3.Connection, is_gone: Callable[[Process], bool]) -> Sequence[TxnId]:
    """Forgets aborted transactions without files whose process can no longer write (Hive:
    cleanEmptyAbortedAndCommittedTxns).

    Their write IDs stay aborted for ever in each table: a directory that was unknown to the cleaner, such as that of a
    dropped partition, may be added again.
    """
    rows = db.execute(
        "SELECT id, machine, pid, pid_started FROM txns WHERE state = 'aborted' AND (cleaned"
        " OR id NOT IN (SELECT txn_id FROM txn_to_write_id) AND id NOT IN (SELECT txn_id FROM compaction_txns))"
    ).fetchall()
    is_gone = cache(is_gone)
    gone = [TxnId(row["id"]) for row in rows if is_gone(process_of(row))]
    db.executemany(
        "INSERT OR IGNORE INTO adopted_write_ids SELECT table_id, write_id, 'aborted' FROM txn_to_write_id"
        " WHERE txn_id = ?",
        [(txn,) for txn in gone],
    )
    db.executemany("DELETE FROM txns WHERE id = ?", [(txn,) for txn in gone])
    db.executemany("DELETE FROM compaction_txns WHERE txn_id = ?", [(txn,) for txn in gone])
    return gone


def abort_writers_of_table(db: sqlite3.Connection, table_id: int, reason: str) -> None:
    """Aborts open writers of a table: they could commit into a new table of the same name."""
    rows = db.execute(
        "SELECT id FROM txns JOIN txn_to_write_id ON txn_id = id WHERE table_id = ? AND state = 'open'", (table_id,)
    )
    for row in rows.fetchall():
        _abort(db, TxnId(row["id"]), reason)


def count_as_committed(db: sqlite3.Connection, table: Table, txns: Collection[TxnId]) -> None:
    """Makes foreign transaction IDs (the `_v` suffixes of an adopted table) valid in every later ValidTxnList.

    New transaction IDs are higher. An aborted transaction of this metastore that has one of these IDs gets a new ID,
    under which its write IDs stay aborted. Raises LOCATION_NOT_EMPTY where an open transaction has one of these IDs.
    """
    if not txns:
        return
    db.execute("UPDATE next_txn_id SET next = max(next, ?)", (max(txns) + 1,))
    for txn in sorted(txns):
        row = db.execute("SELECT state FROM txns WHERE id = ?", (txn,)).fetchone()
        state = None if row is None else row["state"]
        if state == "open":
            raise AcidSqlError(
                Condition.LOCATION_NOT_EMPTY,
                path=table.location,
                reason=f"transaction {txn} compacted it elsewhere, and a transaction {txn} is open here",
                hint="Create the table again when that transaction has ended.",
            )
        if state == "aborted":
            _renumber_aborted(db, txn)


def _renumber_aborted(db: sqlite3.Connection, txn: TxnId) -> None:
    new = _next_txn_id(db)
    db.execute(
        "INSERT INTO txns SELECT ?, state, reason, started, last_heartbeat, user, host, machine, pid, pid_started,"
        " seen, cleaned, ticks"
        " FROM txns WHERE id = ?",
        (new, txn),
    )
    db.execute("UPDATE txn_to_write_id SET txn_id = ? WHERE txn_id = ?", (new, txn))
    db.execute("UPDATE txn_components SET txn_id = ? WHERE txn_id = ?", (new, txn))
    # The row stays: a commit by the process that opened it must still fail as aborted.
    db.execute("UPDATE txns SET state = 'replaced' WHERE id = ?", (txn,))


def find_conflicts(db: sqlite3.Connection, txn: TxnId) -> Iterator[Conflict]:
    """The transactions that updated or deleted in the same place and committed after `txn` was opened, in the order of
    their commits.

    The rules are those of Hive's checkForWriteConflict (CommitTxnFunction in Hive 4): UPDATE and DELETE conflict with
    each other and with themselves; Hive 3 let two DELETEs pass. There are two differences. A component of the whole
    table conflicts with each of its partitions; Hive never has both for one table. And a commit before the first locks
    of `txn` is no conflict, because the snapshot, taken after the locks, sees it; Hive opens another transaction then.
    """
    mine = _write_set(db, txn)
    theirs = db.execute(
        "SELECT db, tbl, part, txn_id, commit_id, operation FROM write_set WHERE commit_id >= :txn"
        " AND id > (SELECT seen FROM txns WHERE id = :txn) AND (db, tbl) IN"
        " (SELECT db, tbl FROM txn_components WHERE txn_id = :txn AND operation IN ('u', 'd'))"
        " ORDER BY id",
        {"txn": txn},
    )
    for row in theirs.fetchall():
        place = resource(row["db"], row["tbl"], row["part"])
        other = TxnId(row["txn_id"])
        for my_operation, resources in sorted(mine.items()):
            if (common := resources.overlapping(place)) is not None:
                error = AcidSqlError(
                    Condition.WRITE_CONFLICT,
                    hint="Run the statement again: it will see what the other transaction wrote.",
                    txn_id=txn,
                    commit_id=_high_watermark(db),
                    resource="/".join(place if row["part"] is not None else common),
                    other_txn_id=other,
                    other_commit_id=row["commit_id"],
                    operations=f"{my_operation}/{row['operation']}",
                )
                write_id = _write_id(db, other, row["db"], row["tbl"])
                yield Conflict(other, row["db"], row["tbl"], write_id, error)


def _write_id(db: sqlite3.Connection, txn: TxnId, database: str, table: str) -> WriteId | None:
    row = db.execute(
        "SELECT write_id FROM txn_to_write_id JOIN tables ON id = table_id WHERE txn_id = ? AND db = ? AND name = ?",
        (txn, database, table),
    ).fetchone()
    return None if row is None else WriteId(row["write_id"])


def _write_set(db: sqlite3.Connection, txn: TxnId) -> Mapping[str, Resources]:
    """The resources that `txn` updates and deletes, by operation."""
    found: dict[str, list[Resource]] = {}
    for row in db.execute(
        "SELECT operation, db, tbl, part FROM txn_components WHERE txn_id = ? AND operation IN ('u', 'd')", (txn,)
    ):
        found.setdefault(row["operation"], []).append(resource(row["db"], row["tbl"], row["part"]))
    return {operation: Resources(resources) for operation, resources in found.items()}


def _abort(db: sqlite3.Connection, txn: TxnId, reason: str) -> None:
    db.execute("UPDATE txns SET state = 'aborted', reason = ? WHERE id = ?", (reason, txn))
    db.execute("DELETE FROM txn_components WHERE txn_id = ?", (txn,))
    db.execute("DELETE FROM hive_locks WHERE txn_id = ?", (txn,))
    written_rows.forget_aborted(db, txn)


def require_open(db: sqlite3.Connection, txn: TxnId) -> None:
    """Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED."""
    state = _state(db, txn)
    if state.name is None:
        raise AcidSqlError(Condition.NO_SUCH_TRANSACTION, txn_id=f"txnid:{txn}")
    if state.name != "open":
        raise AcidSqlError(Condition.TRANSACTION_ABORTED, txn_id=f"txnid:{txn}", reason=state.reason)


class _State(NamedTuple):
    """`open`, `aborted`, or None without a row: the transaction has committed, or its ID was never assigned."""

    name: str | None
    reason: str


def _state(db: sqlite3.Connection, txn: TxnId) -> _State:
    row = db.execute("SELECT state, reason FROM txns WHERE id = ?", (txn,)).fetchone()
    if row is None:
        return _State(None, "")
    return _State("open" if row["state"] == "open" else "aborted", row["reason"])


def is_committed(db: sqlite3.Connection, txn: TxnId) -> bool:
    return 0 < txn <= _high_watermark(db) and _state(db, txn).name is None


def _high_watermark(db: sqlite3.Connection) -> TxnId:
    """The highest transaction ID that was assigned."""
    return TxnId(db.execute("SELECT next FROM next_txn_id").fetchone()["next"] - 1)


def _next_txn_id(db: sqlite3.Connection) -> TxnId:
    txn = db.execute("SELECT next FROM next_txn_id").fetchone()["next"]
    db.execute("UPDATE next_txn_id SET next = next + 1")
    return TxnId(txn)


def _up_to(mark: int, write_ids: Collection[WriteId]) -> frozenset[WriteId]:
    return frozenset(w for w in write_ids if w <= mark)
