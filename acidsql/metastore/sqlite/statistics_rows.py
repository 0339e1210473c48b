"""The statistics of tables and partitions in the embedded metastore.

Each function runs inside an open SQLite transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from acidsql.acid.table import Table
from acidsql.metastore.basic_statistics import STATISTICS_STATE, out_of_date, with_statistics
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.sqlite.catalog_rows import table_id

_WHERE: Final = "WHERE table_id = ? AND part_values = ?"


def statistics(db: sqlite3.Connection, of: Table, partition: PartitionValues) -> Mapping[str, str]:
    return _stored(db, table_id(db, of), partition)


def are_known(db: sqlite3.Connection, of: Table) -> bool:
    """Whether there are statistics of the table or of a partition."""
    return db.execute("SELECT 1 FROM statistics WHERE table_id = ?", (table_id(db, of),)).fetchone() is not None


def store(
    db: sqlite3.Connection,
    of: Table,
    new: Mapping[PartitionValues, Mapping[str, str]],
    *,
    accurate: bool | None,
) -> None:
    key = table_id(db, of)
    for partition, values in new.items():
        stored = with_statistics(_stored(db, key, partition), values, accurate=accurate)
        row = (key, json.dumps(partition), json.dumps(stored))
        db.execute("INSERT OR REPLACE INTO statistics VALUES (?, ?, ?)", row)


def forget(db: sqlite3.Connection, of: Table, partitions: Sequence[PartitionValues]) -> None:
    """Marks the statistics of the table, or of these partitions, as out of date."""
    key = table_id(db, of)
    for partition in partitions if of.partition_columns else [()]:
        stored = _stored(db, key, partition)
        if STATISTICS_STATE in stored:
            values = (json.dumps(out_of_date(stored)), key, json.dumps(partition))
            db.execute(f"UPDATE statistics SET parameters = ? {_WHERE}", values)


def _stored(db: sqlite3.Connection, key: int, partition: PartitionValues) -> dict[str, str]:
    row = db.execute(f"SELECT parameters FROM statistics {_WHERE}", (key, json.dumps(partition))).fetchone()
    found: dict[str, str] = {} if row is None else json.loads(row["parameters"])
    return found
