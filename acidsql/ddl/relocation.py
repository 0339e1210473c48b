"""Directories that move with a renamed table or partition, whatever dies in the middle.

Three steps: the catalog has the new name, the old location, and MOVING; the directory is renamed; the catalog has the
new location. Whoever meets MOVING in a table waits for its EXCLUSIVE lock, so for a mover that is alive, and then does
what a dead one left undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from acidsql.acid.table import Table
from acidsql.ddl.exclusive_access import Held, exclusively
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import LockComponent, Metastore, Partition
from acidsql.metastore.transactions import Transactions
from acidsql.storage.file_systems import FileSystem

MOVING: Final = "acidsql.moving"
"""Table property: the locations from and to which a directory is being moved, as a JSON list."""

Files = Callable[[str], FileSystem]


def with_move(table: Table, old: str, new: str) -> Table:
    """The table with a move under way."""
    return replace(table, properties={**table.properties, MOVING: json.dumps([old, new])})


def finish_move(metastore: Metastore, files_of: Files, table: Table) -> Table:
    """Does what is left of the move of a table whose EXCLUSIVE lock is held; the table as it is then."""
    old, new = json.loads(table.properties[MOVING])
    files = files_of(old)
    source, target = files.resolve(old), files.resolve(new)
    # Only the move itself makes `target`: where it is there, a directory at `source` is somebody else's.
    if files.exists(source) and not files.exists(target):
        files.make_directories(target.rpartition("/")[0])
        files.rename(source, target)
    properties = {k: v for k, v in table.properties.items() if k != MOVING}
    settled = replace(table, location=_moved(table.location, old, new), properties=properties)
    moved = {p.values: Partition(p.values, _moved(p.location, old, new)) for p in metastore.partitions(table)}
    metastore.alter_table(table, settled, partitions=moved)
    return settled


def settled(transactions: Transactions, files_of: Files, table: Table) -> Table:
    """The table without a move under way: waits for one, or finishes that of a process that died."""
    if MOVING not in table.properties:
        return table
    with exclusively_settled(transactions, files_of, table) as held:
        return held.table


@contextmanager
def exclusively_settled(
    transactions: Transactions, files_of: Files, table: Table, *also: LockComponent
) -> Iterator[Held]:
    """`exclusively`, after the move that a process may have died in."""
    with exclusively(transactions, table, *also) as held:
        under_way = MOVING in held.table.properties
        yield replace(held, table=finish_move(transactions.metastore, files_of, held.table)) if under_way else held


def require_free(files_of: Files, location: str) -> None:
    """Raises LOCATION_NOT_EMPTY where something lies at the location that a directory is to be moved to."""
    files = files_of(location)
    if files.exists(files.resolve(location)):
        reason = "a directory is to be moved there, and there is one already"
        raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=location, reason=reason, hint="Remove it first.")


def _moved(location: str, old: str, new: str) -> str:
    below = location == old or location.startswith(f"{old}/")
    return new + location[len(old) :] if below else location
