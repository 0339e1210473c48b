"""The files of transactions that were aborted and could not remove them: their process died, or never knew.

No reader ever sees them (their write IDs are aborted), so this is tidiness, not correctness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Leftover, Metastore
from acidsql.storage.file_systems import FileSystem, remove_all
from acidsql.storage.hadoop_files import FILE_ERRORS

_STAGED: Final = re.compile(rf"{re.escape(STAGING_DIRECTORY)}_(\d+)_.+")
"""Of a transaction; a plain table's has a random name without a second part."""


def is_there(metastore: Metastore, table: Table) -> bool:
    """Whether the directory of the table is its own still, or nobody's. Where it was dropped and made anew, the new one
    has given out the same write IDs: what is named after them is not the old one's."""
    found = metastore.find_table(table.database, table.name)
    return found is None or (found.created, found.location) == (table.created, table.location)


def tidy_up(
    metastore: Metastore, files_of: Callable[[str], FileSystem], places: Iterable[tuple[FileSystem, str]]
) -> None:
    """Removes what dead writers have left, in `places` where the metastore does not know of it. For the end of a
    statement: it is done, and what cannot be removed now may be later."""
    with suppress(AcidSqlError, *FILE_ERRORS):
        if metastore.knows_leftovers:
            remove_leftovers(metastore, files_of)
            return
    tidy_up_at(metastore, places)


def tidy_up_at(metastore: Metastore, places: Iterable[tuple[FileSystem, str]]) -> None:
    """Removes the staging directories of transactions that have ended, as far as it can. Also where the metastore knows
    of leftovers: a Spark task outlives its driver for a moment, and may write behind `remove_leftovers`.

    The metastore is asked only where there are some, and after they were listed: none of these is that of a
    transaction which is opened later."""
    with suppress(AcidSqlError, *FILE_ERRORS):
        _remove_staged(metastore, places)


def _remove_staged(metastore: Metastore, places: Iterable[tuple[FileSystem, str]]) -> None:
    for files, directory in places:
        names = files.directories_named(directory, f"{STAGING_DIRECTORY}_")
        staged = {f"{directory}/{name}": TxnId(int(of[1])) for name in names if (of := _STAGED.fullmatch(name))}
        if staged:
            ended = metastore.ended(frozenset(staged.values()))
            remove_all(files, [path for path, txn in staged.items() if txn in ended])


def remove_leftovers(metastore: Metastore, files_of: Callable[[str], FileSystem]) -> None:
    """Removes what the metastore knows of, once. What cannot be removed is not forgotten: it would count as committed
    when its transaction is (SqliteQueue.forget_aborted)."""
    gone: dict[TxnId, bool] = {}
    for left in metastore.leftovers():
        removed = [_remove(metastore, files_of(location), location, left) for location in _locations(metastore, left)]
        gone[left.txn] = gone.get(left.txn, True) and all(removed)
    for txn in (txn for txn, is_gone in gone.items() if is_gone):
        metastore.forget_leftovers(txn)


def _remove(metastore: Metastore, files: FileSystem, location: str, left: Leftover) -> bool:
    """Asks once more before each: no lock keeps the table from being dropped and made anew meanwhile."""
    root = files.resolve(location)
    directories = list(_directories(files, root, left))
    return remove_all(files, (f"{root}/{name}" for name in directories if is_there(metastore, left.table)))


def _locations(metastore: Metastore, left: Leftover) -> Iterator[str]:
    """The table's, and those of partitions that lie elsewhere."""
    yield left.table.location
    for partition in metastore.partitions(left.table):
        if not partition.location.startswith(f"{left.table.location}/"):
            yield partition.location


def _directories(files: FileSystem, root: str, left: Leftover) -> Iterator[str]:
    listing = files.list_below(root)
    written = re.compile(rf"{_written(left)}|{re.escape(STAGING_DIRECTORY)}_{left.txn}_.*")
    every = (*listing.directories, *listing.hidden)
    return (directory for directory in every if written.fullmatch(directory.rpartition("/")[2]))


def _written(left: Leftover) -> str:
    if left.write_id is None:
        return rf"((delete_)?delta|base)_.*_v{left.txn:07d}"
    low = f"{left.write_id:07d}"
    return rf"(delete_)?delta_{low}_{low}(_\d+)?|base_{low}"
