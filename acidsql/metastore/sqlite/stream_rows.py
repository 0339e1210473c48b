"""The streams of the embedded metastore: their claims, and what is committed of them.

Each function runs inside an open SQLite transaction. A claim is found by its token alone, so that it outlives a rename
of its table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.process_identity import Moment, is_gone
from acidsql.metastore.sqlite import transaction_rows
from acidsql.metastore.sqlite.catalog_rows import table_id
from acidsql.metastore.sqlite.process_rows import Opener, process_of, silent_millis
from acidsql.metastore.stream_json import offset_from_json, offset_to_json
from acidsql.metastore.streams import (
    CLAIM_GONE,
    StreamClaim,
    StreamProgress,
    StreamState,
    stream_in_use,
    stream_lost,
)

_STREAMS: Final = "SELECT streams.*, db, name FROM streams JOIN tables ON tables.id = table_id"


def claim(
    db: sqlite3.Connection, table: Table, stream_id: str, token: str, opener: Opener, now: Moment, timeout_millis: int
) -> StreamClaim | AcidSqlError:
    """Gives `token` the claim, or returns the STREAM_IN_USE of a live writer."""
    key = (table_id(db, table), stream_id)
    # A heartbeat in the future comes from a clock that was set back since: count the silence from now on.
    set_back = "UPDATE streams SET last_heartbeat = ? WHERE table_id = ? AND id = ? AND last_heartbeat > ?"
    db.execute(set_back, (now.wall, *key, now.wall))
    known = _find(db, *key, now, timeout_millis)
    if known is not None and known.writer:
        return stream_in_use(known)
    process = opener.process
    db.execute("INSERT OR IGNORE INTO streams (table_id, id) VALUES (?, ?)", key)
    db.execute(
        "UPDATE streams SET token = ?, user = ?, host = ?, machine = ?, pid = ?, pid_started = ?, last_heartbeat = ?,"
        " ticks = ? WHERE table_id = ? AND id = ?",
        (
            *(token, opener.user, opener.host),
            *(process.machine, process.pid, process.started),
            *(now.wall, now.ticks),
            *key,
        ),
    )
    state = _find(db, *key, now, timeout_millis)
    assert state is not None
    return StreamClaim(table, stream_id, token, state)


def keep(db: sqlite3.Connection, kept: StreamClaim, now: Moment) -> None:
    """Raises STREAM_LOST."""
    _claimed(db, kept)
    _beat(db, kept, now)


def release(db: sqlite3.Connection, released: StreamClaim) -> None:
    db.execute("UPDATE streams SET token = '' WHERE token = ?", (released.token,))


def commit(
    db: sqlite3.Connection,
    txn: TxnId,
    compatible: Collection[TxnId] | None,
    progress: StreamProgress,
    writes: Sequence[CommittedWrite],
    now: Moment,
) -> AcidSqlError | None:
    """As transaction_rows.commit, and commits the offset with it. A heartbeat of the claim, too. Raises STREAM_LOST."""
    if transaction_rows.is_committed(db, txn):
        return None
    transaction_rows.require_open(db, txn)
    row = _claimed(db, progress.claim)
    if reason := progress.obstacle(row["txn_id"], row["commits"]):
        raise stream_lost(progress.claim, reason)
    conflict = transaction_rows.commit(db, txn, now.wall, writes, compatible)
    if conflict is None:
        state = progress.committed(txn, now.wall)
        db.execute(
            "UPDATE streams SET committed_offset = ?, commits = ?, row_count = ?, txn_id = ?, first_commit = ?,"
            " last_commit = ? WHERE token = ?",
            (
                *(offset_to_json(state.offset), state.commits, state.rows, txn),
                *(state.first_commit, state.last_commit, progress.claim.token),
            ),
        )
        _beat(db, progress.claim, now)
    return conflict


def stream(
    db: sqlite3.Connection, table: Table, stream_id: str, now: Moment, timeout_millis: int
) -> StreamState | None:
    return _find(db, table_id(db, table), stream_id, now, timeout_millis)


def streams(db: sqlite3.Connection, now: Moment, timeout_millis: int) -> Sequence[StreamState]:
    rows = db.execute(f"{_STREAMS} ORDER BY db, name, streams.id").fetchall()
    return [_state(row, now, timeout_millis) for row in rows]


def _claimed(db: sqlite3.Connection, of: StreamClaim) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM streams WHERE token = ?", (of.token,)).fetchone()
    if row is None:
        raise stream_lost(of, CLAIM_GONE)
    return row


def _beat(db: sqlite3.Connection, of: StreamClaim, now: Moment) -> None:
    db.execute("UPDATE streams SET last_heartbeat = ?, ticks = ? WHERE token = ?", (now.wall, now.ticks, of.token))


def _find(db: sqlite3.Connection, key: int, stream_id: str, now: Moment, timeout_millis: int) -> StreamState | None:
    row = db.execute(f"{_STREAMS} WHERE table_id = ? AND streams.id = ?", (key, stream_id)).fetchone()
    return None if row is None else _state(row, now, timeout_millis)


def _state(row: sqlite3.Row, now: Moment, timeout_millis: int) -> StreamState:
    return StreamState(
        row["db"],
        row["name"],
        row["id"],
        offset=offset_from_json(row["committed_offset"]),
        commits=row["commits"],
        rows=row["row_count"],
        txn=None if row["txn_id"] is None else TxnId(row["txn_id"]),
        first_commit=row["first_commit"],
        last_commit=row["last_commit"],
        writer=_live_writer(row, now, timeout_millis),
    )


def _live_writer(row: sqlite3.Row, now: Moment, timeout_millis: int) -> str:
    process = process_of(row)
    if not row["token"] or is_gone(process):
        return ""
    silent = silent_millis(process, row["last_heartbeat"], row["ticks"], now)
    return "" if silent > timeout_millis else str(Opener(row["user"], row["host"], process))
