"""The times of commits in the embedded metastore, and what each commit did to each table.

A commit stores them in its own SQLite transaction. Each function runs inside an open one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.commit_history import UNKNOWN, CommittedWrite, RecordedCommit

_HIDING_BASE: Final = """
    SELECT min(highest) AS base FROM (
        SELECT coalesce((
            SELECT max(high) FROM written_directories AS made
            WHERE made.table_id = :table AND made.part_values = places.part_values AND made.name LIKE 'base%'
            AND NOT EXISTS (SELECT 1 FROM txns WHERE txns.id = made.txn_id)
        ), 0) AS highest
        FROM (
            SELECT part_values FROM partitions WHERE table_id = :table
            UNION ALL SELECT '[]' WHERE NOT EXISTS (SELECT 1 FROM partitions WHERE table_id = :table)
        ) AS places
    )"""


def record(db: sqlite3.Connection, txn: TxnId, writes: Sequence[CommittedWrite], wall: int) -> None:
    """Records the commit of an open transaction at the time of day `wall`, for each table of which it has a write ID.
    What `writes` does not tell is unknown."""
    of_txn = "SELECT table_id, write_id, db, name FROM txn_to_write_id JOIN tables ON id = table_id WHERE txn_id = ?"
    rows = db.execute(of_txn, (txn,)).fetchall()
    if not rows:
        return
    committed = _next_time(db, wall)
    user = db.execute("SELECT user FROM txns WHERE id = ?", (txn,)).fetchone()["user"]
    told = {(write.database, write.table): write for write in writes}
    db.executemany(
        "INSERT INTO committed_writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(row["table_id"], row["write_id"], txn, committed),
                *_what(told.get((row["db"], row["name"]))),
                user,
            )
            for row in rows
        ],
    )


def note_unrecorded(db: sqlite3.Connection, table_id: int, wall: int) -> None:
    """Notes that the table has writes now of which no commit is recorded."""
    db.execute("UPDATE tables SET recorded_since = ? WHERE id = ?", (_next_time(db, wall), table_id))


def latest(db: sqlite3.Connection, wall: int) -> int:
    """The last moment that a commit may have had: now, or the time of the last commit before a clock was set back."""
    return max(wall, int(db.execute("SELECT last_commit FROM metastore").fetchone()["last_commit"]))


def commits(db: sqlite3.Connection, table_id: int, limit: int | None) -> Sequence[RecordedCommit]:
    rows = db.execute(
        "SELECT * FROM committed_writes WHERE table_id = ? ORDER BY write_id DESC LIMIT ?",
        (table_id, -1 if limit is None else limit),
    )
    return [
        RecordedCommit(
            WriteId(row["write_id"]),
            TxnId(row["txn_id"]),
            row["committed"],
            row["operation"],
            row["inserted"],
            row["updated"],
            row["deleted"],
            row["user"],
        )
        for row in rows
    ]


def committed(db: sqlite3.Connection, table_id: int, write_id: WriteId) -> int | None:
    """When a write ID committed; None if that is not recorded."""
    query = "SELECT committed FROM committed_writes WHERE table_id = ? AND write_id = ?"
    row = db.execute(query, (table_id, write_id)).fetchone()
    return None if row is None else int(row["committed"])


def committed_after(db: sqlite3.Connection, table_id: int, instant: int) -> frozenset[WriteId]:
    query = "SELECT write_id FROM committed_writes WHERE table_id = ? AND committed > ?"
    return frozenset(WriteId(row["write_id"]) for row in db.execute(query, (table_id, instant)))


def recorded_since(db: sqlite3.Connection, table_id: int) -> int:
    return int(db.execute("SELECT recorded_since FROM tables WHERE id = ?", (table_id,)).fetchone()["recorded_since"])


def long_histories(db: sqlite3.Connection, kept: int) -> Sequence[int]:
    """The tables with more than `kept` recorded commits."""
    rows = db.execute("SELECT table_id FROM committed_writes GROUP BY table_id HAVING count(*) > ?", (kept,))
    return [row["table_id"] for row in rows]


def forget_unreadable(db: sqlite3.Connection, table_id: int, kept: int, until: int) -> None:
    """Forgets the commits of versions that a base hides in every place of the table, but none of the last `kept`, and
    none that were later than `until`, whose versions the table retains."""
    newest = db.execute(
        "SELECT write_id FROM committed_writes WHERE table_id = ? ORDER BY write_id DESC LIMIT 1 OFFSET ?",
        (table_id, kept - 1),
    ).fetchone()
    if newest is None:
        return
    base = db.execute(_HIDING_BASE, {"table": table_id}).fetchone()["base"]
    key = (table_id, min(base, newest["write_id"]), until)
    where = "table_id = ? AND write_id < ? AND committed <= ?"
    last = db.execute(f"SELECT max(committed) AS last FROM committed_writes WHERE {where}", key).fetchone()["last"]
    if last is not None:
        db.execute("UPDATE tables SET recorded_since = max(recorded_since, ?) WHERE id = ?", (last, table_id))
        db.execute(f"DELETE FROM committed_writes WHERE {where}", key)


def _what(write: CommittedWrite | None) -> tuple[str, int | None, int | None, int | None]:
    if write is None:
        return UNKNOWN, None, None, None
    return write.operation, write.inserted, write.updated, write.deleted


def _next_time(db: sqlite3.Connection, wall: int) -> int:
    """The time of a commit: `wall`, or one millisecond more than the last commit of the metastore, if that is later."""
    db.execute("UPDATE metastore SET last_commit = max(last_commit + 1, ?)", (wall,))
    return int(db.execute("SELECT last_commit FROM metastore").fetchone()["last_commit"])
