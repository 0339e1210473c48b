"""Removes files of aborted transactions that did not remove them: their process died, or did not know of the abort.

No reader sees these files, because their write IDs are aborted. Removing them saves space; it is not needed for
correct answers.
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
"""The name of a transaction's staging directory. That of a plain LOAD DATA is random, without a second part."""


def is_there(metastore: Metastore, table: Table) -> bool:
    """Whether the directory still belongs to the table, or to none. If the table was dropped and created again, the new
    table has given out the same write IDs, and directories named after them are not those of the old table."""
    found = metastore.find_table(table.database, table.name)
    return found is None or (found.created, found.location) == (table.created, table.location)


def tidy_up(
    metastore: Metastore, files_of: Callable[[str], FileSystem], places: Iterable[tuple[FileSystem, str]]
) -> None:
    """Removes what dead writers left: everything that the metastore knows of, or else the staging directories in
    `places`. It runs after a statement has succeeded, so errors are ignored: a later statement tries again."""
    with suppress(AcidSqlError, *FILE_ERRORS):
        if metastore.knows_leftovers:
            remove_leftovers(metastore, files_of)
            return
    tidy_up_at(metastore, places)


def tidy_up_at(metastore: Metastore, places: Iterable[tuple[FileSystem, str]]) -> None:
    """Removes the staging directories of transactions that have ended, and ignores errors. Compactions need it even if
    the metastore knows of leftovers: a Spark task outlives its driver for a moment, and may write after
    `remove_leftovers`.

    The metastore is asked after the listing, and only if there are staging directories. So none of them belongs to a
    transaction that is opened later.
    """
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
    """Removes the leftovers that the metastore knows of. It keeps those that could not be removed: their write ID would
    count as committed once their transaction is forgotten (SqliteQueue.forget_aborted)."""
    gone: dict[TxnId, bool] = {}
    for left in metastore.leftovers():
        removed = [_remove(metastore, files_of(location), location, left) for location in _locations(metastore, left)]
        gone[left.txn] = gone.get(left.txn, True) and all(removed)
    for txn in (txn for txn, is_gone in gone.items() if is_gone):
        metastore.forget_leftovers(txn)


def _remove(metastore: Metastore, files: FileSystem, location: str, left: Leftover) -> bool:
    """Removes the directories of a leftover. Checks the table before each, because no lock keeps it from being dropped
    and created again meanwhile."""
    root = files.resolve(location)
    directories = list(_directories(files, root, left))
    return remove_all(files, (f"{root}/{name}" for name in directories if is_there(metastore, left.table)))


def _locations(metastore: Metastore, left: Leftover) -> Iterator[str]:
    """The location of the table, and those of partitions that lie elsewhere."""
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
