"""The table partition_changes of the embedded metastore: partitions that went or came, and the highest write ID of
their table that is older. Each function runs inside an open SQLite transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange

ANY = ""
"""`part_values` of the row that says that nobody has recorded the drops up to its write ID."""


def changes(db: sqlite3.Connection, table_id: int) -> Sequence[PartitionChange]:
    rows = db.execute("SELECT part_values, kind, write_id FROM partition_changes WHERE table_id = ?", (table_id,))
    return [
        PartitionChange(
            None if row["part_values"] == ANY else tuple(json.loads(row["part_values"])),
            ChangeKind(row["kind"]),
            WriteId(row["write_id"]),
        )
        for row in rows
    ]


def note(
    db: sqlite3.Connection,
    table_id: int,
    partitions: Sequence[PartitionValues],
    kind: ChangeKind,
    dropper: TxnId | None = None,
) -> None:
    """Notes a change at this moment. The versions from the write ID of `dropper` on, if it has one, know of it."""
    _note(db, table_id, [json.dumps(values) for values in partitions], kind, dropper)


def note_added(db: sqlite3.Connection, table_id: int, partitions: Sequence[PartitionValues]) -> None:
    """Notes partitions that a write makes. Another open write, with a lower ID, may write to them too."""
    query = (
        "INSERT OR REPLACE INTO partition_changes SELECT id, ?, ?, ifnull((SELECT min(write_id) FROM txn_to_write_id"
        " JOIN txns ON txns.id = txn_id WHERE table_id = tables.id AND state <> 'aborted'), next_write_id) - 1"
        " FROM tables WHERE id = ?"
    )
    kind = ChangeKind.ADDED.value
    db.executemany(query, [(json.dumps(values), kind, table_id) for values in partitions])


def note_gone(db: sqlite3.Connection, table_id: int, values: PartitionValues, write_id: WriteId) -> None:
    """Notes that the files of a partition that the write `write_id` has dropped go now."""
    db.execute(
        "INSERT INTO partition_changes VALUES (?, ?, 'dropped', ?) ON CONFLICT DO UPDATE"
        " SET write_id = max(write_id, excluded.write_id)",
        (table_id, json.dumps(values), write_id - 1),
    )


def note_unknown(db: sqlite3.Connection, table_id: int) -> None:
    """Notes that partitions may have been dropped until now."""
    _note(db, table_id, [ANY], ChangeKind.DROPPED, None)


def _note(db: sqlite3.Connection, table_id: int, keys: Sequence[str], kind: ChangeKind, dropper: TxnId | None) -> None:
    query = (
        "INSERT OR REPLACE INTO partition_changes SELECT id, ?, ?, ifnull("
        "(SELECT write_id FROM txn_to_write_id WHERE table_id = tables.id AND txn_id = ?), next_write_id) - 1"
        " FROM tables WHERE id = ?"
    )
    db.executemany(query, [(key, kind.value, dropper, table_id) for key in keys])
