"""Moves of the directory of a renamed table or partition, which another process finishes if this one dies.

A move has three steps: the catalog gets the new name, the old location and the property MOVING; the directory is
renamed; the catalog gets the new location. Whoever finds MOVING in a table waits for the table's EXCLUSIVE lock, and so
for a mover that is alive, and then finishes the move of one that died.
"""

from __future__ import annotations

import json
from dataclasses import replace

from acidsql.acid.table import MOVING, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition
from acidsql.metastore.client import Metastore
from acidsql.metastore.transactions import Transactions
from acidsql.planner.lock_requests import exclusive_lock
from acidsql.storage.file_systems import FilesOf


def with_move(table: Table, old: str, new: str) -> Table:
    """The table with a move under way."""
    return replace(table, properties={**table.properties, MOVING: json.dumps([old, new])})


def finish_move(metastore: Metastore, files_of: FilesOf, table: Table) -> Table:
    """Finishes the move of a table whose EXCLUSIVE lock the caller holds, and gives the table as it is then. A table
    without a move stays as it is."""
    if MOVING not in table.properties:
        return table
    old, new = json.loads(table.properties[MOVING])
    files = files_of(old)
    source, target = files.resolve(old), files.resolve(new)
    # Only the move itself makes `target`. If `target` exists, a directory at `source` is somebody else's.
    if files.exists(source) and not files.exists(target):
        files.make_directories(target.rpartition("/")[0])
        files.rename(source, target)
    properties = {k: v for k, v in table.properties.items() if k != MOVING}
    settled = replace(table, location=_moved(table.location, old, new), properties=properties)
    moved = {p.values: Partition(p.values, _moved(p.location, old, new)) for p in metastore.partitions(table)}
    metastore.alter_table(table, settled, partitions=moved)
    return settled


def settled(transactions: Transactions, files_of: FilesOf, table: Table) -> Table:
    """The table without a move under way: waits for a mover that is alive, or finishes the move of one that died."""
    if MOVING not in table.properties:
        return table
    metastore = transactions.metastore
    with transactions.run(lambda: (exclusive_lock(table.database, table.name),)):
        return finish_move(metastore, files_of, metastore.table(table.database, table.name))


def require_free(files_of: FilesOf, location: str) -> None:
    """Raises LOCATION_NOT_EMPTY where something lies at the location that a directory is to be moved to."""
    files = files_of(location)
    if files.exists(files.resolve(location)):
        reason = "a directory is to be moved there, and there is one already"
        raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=location, reason=reason, hint="Remove it first.")


def _moved(location: str, old: str, new: str) -> str:
    below = location == old or location.startswith(f"{old}/")
    return new + location[len(old) :] if below else location
