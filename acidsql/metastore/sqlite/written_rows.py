"""The directories that transactions have made (acid/written_directories.py), in the embedded metastore.

A transaction notes its directories before it commits; an abort forgets them. A commit forgets those that its own
replace: a base, or what a compaction has merged. A table may also have directories that no transaction has noted: the
metastore was restored, or another one writes there. Each function runs inside an open SQLite transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from acidsql.acid.partition_values import PartitionValues
from acidsql.acid.write_ids import TxnId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.metastore.written_files import catalog_behind

_MOST_ASKED = 100
"""For more partitions, all directories of the table are read."""


def note(db: sqlite3.Connection, txn: TxnId, table_id: int, made: Sequence[WrittenDirectory]) -> None:
    """A directory that several transactions share, that of a stream, keeps what the first one told."""
    rows = [(table_id, json.dumps(d.partition), d.name, *d.range, d.replaces_others, d.files, txn) for d in made]
    db.executemany("INSERT OR IGNORE INTO written_directories VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def are_noted(db: sqlite3.Connection, table_id: int, made: Sequence[WrittenDirectory]) -> bool:
    query = "SELECT 1 FROM written_directories WHERE table_id = ? AND part_values = ? AND name = ?"
    return all(db.execute(query, (table_id, json.dumps(d.partition), d.name)).fetchone() is not None for d in made)


def known(
    db: sqlite3.Connection, table_id: int, partitions: Sequence[PartitionValues]
) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
    query = "SELECT part_values, name, files FROM written_directories WHERE table_id = ?"
    parameters: tuple[object, ...] = (table_id,)
    if len(partitions) <= _MOST_ASKED:
        query += f" AND part_values IN ({', '.join('?' * len(partitions))})"
        parameters += tuple(map(json.dumps, partitions))
    found: dict[str, list[sqlite3.Row]] = {}
    for row in db.execute(query, parameters):
        found.setdefault(row["part_values"], []).append(row)
    of_values = {tuple(json.loads(text)): rows for text, rows in found.items()}
    return {
        values: [WrittenDirectory(values, row["name"], row["files"]) for row in rows]
        for values, rows in of_values.items()
    }


def forget_replaced(db: sqlite3.Connection, txn: TxnId) -> None:
    query = "SELECT 1 FROM written_directories WHERE txn_id = ? AND replaces LIMIT 1"
    if db.execute(query, (txn,)).fetchone() is None:
        return
    db.execute(
        "DELETE FROM written_directories WHERE txn_id <> :txn AND EXISTS (SELECT 1 FROM written_directories AS made"
        " WHERE made.txn_id = :txn AND made.replaces AND made.table_id = written_directories.table_id"
        " AND made.part_values = written_directories.part_values"
        " AND made.low <= written_directories.low AND made.high >= written_directories.high)"
        " AND table_id IN (SELECT table_id FROM written_directories WHERE txn_id = :txn AND replaces)",
        {"txn": txn},
    )


def forget_aborted(db: sqlite3.Connection, txn: TxnId) -> None:
    db.execute("DELETE FROM written_directories WHERE txn_id = ?", (txn,))


def forget_partitions(db: sqlite3.Connection, table_id: int, partitions: Sequence[PartitionValues]) -> None:
    rows = [(table_id, json.dumps(values)) for values in partitions]
    db.executemany("DELETE FROM written_directories WHERE table_id = ? AND part_values = ?", rows)


def rename_partition(db: sqlite3.Connection, table_id: int, old: PartitionValues, new: PartitionValues) -> None:
    keys = (json.dumps(new), table_id, json.dumps(old))
    db.execute("UPDATE OR REPLACE written_directories SET part_values = ? WHERE table_id = ? AND part_values = ?", keys)


def is_unchecked(db: sqlite3.Connection, table_id: int) -> bool:
    return bool(db.execute("SELECT unchecked FROM tables WHERE id = ?", (table_id,)).fetchone()["unchecked"])


def note_checked(db: sqlite3.Connection, table_id: int) -> None:
    db.execute("UPDATE tables SET unchecked = 0 WHERE id = ?", (table_id,))


def note_foreign(db: sqlite3.Connection, table_id: int, path: str, reason: str) -> None:
    text = json.dumps([path, reason])
    db.execute("UPDATE tables SET foreign_directory = ? WHERE id = ? AND foreign_directory IS NULL", (text, table_id))


def require_no_foreign(db: sqlite3.Connection, table_id: int) -> None:
    """Raises CATALOG_BEHIND where somebody has found a directory that this metastore knows nothing of."""
    found = db.execute("SELECT foreign_directory FROM tables WHERE id = ?", (table_id,)).fetchone()["foreign_directory"]
    if found is not None:
        raise catalog_behind(*json.loads(found))
