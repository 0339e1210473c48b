"""The table dropped_partitions of the embedded metastore: partitions that were dropped and whose files are kept for
readers of earlier versions. Each function runs inside an open SQLite transaction.

The cleaner first makes a row one of a partition whose files are gone, and then removes the files and the row.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.catalog import Partition
from acidsql.metastore.partition_changes import DroppedPartition
from acidsql.metastore.sqlite import commit_rows, partition_change_rows
from acidsql.metastore.sqlite.catalog_connection import CatalogConnection


def add(db: CatalogConnection, table_id: int, partitions: Sequence[Partition], dropper: TxnId, wall: int) -> None:
    """Adds what a transaction has dropped that has just committed."""
    query = (
        "INSERT INTO dropped_partitions SELECT table_id, ?, write_id, ?, ?, (SELECT next FROM next_txn_id), 0"
        " FROM txn_to_write_id WHERE table_id = ? AND txn_id = ?"
    )
    dropped = commit_rows.latest(db, wall)
    rows = [(json.dumps(p.values), db.locations.stored(p.location), dropped, table_id, dropper) for p in partitions]
    db.executemany(query, rows)


def of_table(db: CatalogConnection, table_id: int) -> Sequence[DroppedPartition]:
    """Those whose files are all there, in the order of the drops."""
    query = "SELECT * FROM dropped_partitions WHERE table_id = ? AND NOT is_gone ORDER BY write_id"
    return [_dropped(db, row) for row in db.execute(query, (table_id,))]


def unread(db: CatalogConnection) -> Sequence[tuple[int, DroppedPartition]]:
    """Those that no transaction reads that does not read an earlier version, with the keys of their tables."""
    rows = db.execute(
        "SELECT * FROM dropped_partitions WHERE next_txn_id <="
        " (SELECT coalesce(min(id), next_txn_id) FROM txns WHERE state = 'open') ORDER BY table_id, write_id"
    )
    return [(row["table_id"], _dropped(db, row)) for row in rows]


def expire(db: sqlite3.Connection, table_id: int, partition: DroppedPartition) -> None:
    """Ends the versions that need the files."""
    partition_change_rows.note_gone(db, table_id, partition.values, partition.write_id)
    db.execute(f"UPDATE dropped_partitions SET is_gone = 1 WHERE {_AT}", _at(table_id, partition))


def forget(db: sqlite3.Connection, table_id: int, partition: DroppedPartition) -> None:
    db.execute(f"DELETE FROM dropped_partitions WHERE {_AT}", _at(table_id, partition))


def move(db: CatalogConnection, table_id: int, old: str, new: str) -> None:
    """Follows the move of a directory that has those of dropped partitions in it, or is one."""
    for row in db.execute("SELECT * FROM dropped_partitions WHERE table_id = ?", (table_id,)).fetchall():
        location = db.locations.absolute(row["location"])
        if location == old or location.startswith(f"{old}/"):
            moved = db.locations.stored(new + location.removeprefix(old))
            key = (moved, table_id, row["part_values"], row["write_id"])
            db.execute(f"UPDATE dropped_partitions SET location = ? WHERE {_AT}", key)


_AT: Final = "table_id = ? AND part_values = ? AND write_id = ?"


def _at(table_id: int, partition: DroppedPartition) -> tuple[int, str, int]:
    return table_id, json.dumps(partition.values), partition.write_id


def _dropped(db: CatalogConnection, row: sqlite3.Row) -> DroppedPartition:
    return DroppedPartition(
        tuple(json.loads(row["part_values"])),
        db.locations.absolute(row["location"]),
        WriteId(row["write_id"]),
        row["dropped"],
        TxnId(row["next_txn_id"]),
    )
