"""Removes files of aborted transactions that did not remove them: their process died, or did not know of the abort.

No reader sees these files, because their write IDs are aborted. Removing them saves space; it is not needed for
correct answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

from acidsql.acid.directories import Base, Delta, parse_directory
from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.written_files import Leftover
from acidsql.storage.directory_relations import canonical_path, related
from acidsql.storage.file_systems import FilesOf, FileSystem, remove_all
from acidsql.storage.hadoop_files import FILE_ERRORS

_STAGED: Final = re.compile(rf"{re.escape(STAGING_DIRECTORY)}_(\d+)_.+")
"""The name of a transaction's staging directory. That of a plain LOAD DATA is random, without a second part."""


def is_there(metastore: Metastore, table: Table, files_of: FilesOf) -> bool:
    """Whether the directory still belongs to the table, or to none. If the table was dropped and created again, or
    another table was created in its directory, the new table has given out the same write IDs, and directories named
    after them are not those of the old table. The files of an external table stay when it is dropped, and other tables
    may share its directory: its writers find their own files there."""
    found = metastore.find_table(table.database, table.name)
    if found is None:
        return table.external or not is_taken(metastore, table.location, files_of)
    return found.may_be(table) and (found.created, found.location) == (table.created, table.location)


def is_taken(metastore: Metastore, location: str, files_of: FilesOf) -> bool:
    """Whether the directory of a table or of a partition is the location, in it or around it. It reads the whole
    catalog, so it is for tables that are gone."""
    files = files_of(location)
    canonical = cache(lambda path: canonical_path(files, path, location))
    places = (place for place in metastore.places() if place.table is not None)
    return any(related(location, place.location, canonical) is not None for place in places)


def keep_if_open(
    new: Iterable[tuple[FileSystem, str]], require_open: Callable[[], None], made: list[str] | None = None
) -> None:
    """Asks, once a transaction has made the directories `new`, whether it was open until then. If not, another table
    may be in the place of its own, and their names mean something to it: they are removed at once, and from the list of
    all that the transaction has `made`. Raises TRANSACTION_ABORTED."""
    try:
        require_open()
    except BaseException:
        for files, path in new:
            files.delete(path)
            if made is not None:
                made.remove(path)
        raise


def tidy_up(metastore: Metastore, files_of: FilesOf, places: Iterable[tuple[FileSystem, str]]) -> None:
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


def staging_txn(name: str) -> TxnId | None:
    """The transaction whose staging directory has this name; None for another directory.

    >>> staging_txn(".acidsql_staging_7_2_0"), staging_txn("delta_0000002_0000002_0000")
    (7, None)
    """
    staged = _STAGED.fullmatch(name)
    return None if staged is None else TxnId(int(staged[1]))


def _remove_staged(metastore: Metastore, places: Iterable[tuple[FileSystem, str]]) -> None:
    for files, directory in places:
        names = files.directories_named(directory, f"{STAGING_DIRECTORY}_")
        staged = {f"{directory}/{name}": txn for name in names if (txn := staging_txn(name)) is not None}
        if staged:
            ended = metastore.ended(frozenset(staged.values()))
            remove_all(files, [path for path, txn in staged.items() if txn in ended])


def remove_leftovers(metastore: Metastore, files_of: FilesOf) -> None:
    """Removes the leftovers that the metastore knows of, and keeps those that could not be removed for another time.
    Lists each table once."""
    of_tables: dict[tuple[str, str], list[Leftover]] = {}
    known = metastore.leftovers()
    for left in known:
        of_tables.setdefault((left.table.qualified, left.table.location), []).append(left)
    kept: set[TxnId] = set()
    for lefts in of_tables.values():
        for location in _locations(metastore, lefts[0].table):
            kept |= _remove(metastore, files_of, location, lefts)
    for txn in dict.fromkeys(left.txn for left in known if left.txn not in kept):
        metastore.forget_leftovers(txn)


def _remove(metastore: Metastore, files_of: FilesOf, location: str, lefts: Sequence[Leftover]) -> set[TxnId]:
    """Removes the directories of a table's leftovers, and gives the transactions of those that are still there. Checks
    the table before each removal, because no lock keeps it from being dropped and created again meanwhile."""
    files, table = files_of(location), lefts[0].table
    root = files.resolve(location)
    found = _directories(metastore, files, root, lefts)
    return {
        txn
        for txn, names in found.items()
        if not remove_all(files, (f"{root}/{name}" for name in names if is_there(metastore, table, files_of)))
    }


def _locations(metastore: Metastore, table: Table) -> Iterator[str]:
    """The location of the table, and those of partitions that lie elsewhere."""
    yield table.location
    for partition in metastore.partitions(table):
        if not partition.location.startswith(f"{table.location}/"):
            yield partition.location


def _directories(
    metastore: Metastore, files: FileSystem, root: str, lefts: Sequence[Leftover]
) -> Mapping[TxnId, list[str]]:
    """The directories below `root` that are leftovers, by their transaction."""
    owners = _Owners(
        {left.write_id: left.txn for left in lefts if left.write_id is not None},
        frozenset(left.txn for left in lefts if left.write_id is None),
    )
    listing = files.list_below(root)
    found: dict[TxnId, list[str]] = {}
    batches: list[tuple[str, Delta]] = []
    for directory in (*listing.directories, *listing.hidden):
        name = directory.rpartition("/")[2]
        if (txn := owners.of(name)) is not None:
            found.setdefault(txn, []).append(directory)
        elif isinstance(parsed := _parsed(name), Delta) and parsed.may_be_streamed:
            batches.append((directory, parsed))
    for txn, directory in _aborted_batches(metastore, lefts[0].table, owners.writers, batches):
        found.setdefault(txn, []).append(directory)
    return found


@dataclass(frozen=True, slots=True)
class _Owners:
    """The aborted transactions of a table, by their write IDs, and those of compactions."""

    writers: Mapping[WriteId, TxnId]
    compactors: frozenset[TxnId]

    def of(self, name: str) -> TxnId | None:
        """The transaction that a directory is left of, by its name; None for one of no transaction, or of several."""
        if (txn := staging_txn(name)) is not None:
            return txn if txn in self.compactors or txn in self.writers.values() else None
        parsed = _parsed(name)
        if parsed is None:
            return None
        if parsed.visibility_txn is not None:
            return parsed.visibility_txn if parsed.visibility_txn in self.compactors else None
        if isinstance(parsed, Base):
            return self.writers.get(parsed.write_id)
        return self.writers.get(parsed.min_write_id) if parsed.min_write_id == parsed.max_write_id else None


def _parsed(name: str) -> Base | Delta | None:
    try:
        return parse_directory(name)
    except AcidSqlError:  # a name that no transaction gives
        return None


def _aborted_batches(
    metastore: Metastore, table: Table, writers: Mapping[WriteId, TxnId], batches: Sequence[tuple[str, Delta]]
) -> Iterator[tuple[TxnId, str]]:
    """The directories of batches all of whose transactions were aborted, each with one of them. The others stay:
    compactions leave the rows of aborted write IDs out, and these stay aborted for ever."""
    aborted: frozenset[WriteId] | None = None
    for directory, parsed in batches:
        write_ids = [WriteId(w) for w in range(parsed.min_write_id, parsed.max_write_id + 1)]
        txns = [writers[w] for w in write_ids if w in writers]
        if txns and aborted is None:
            aborted = metastore.valid_write_ids(table, metastore.valid_txns()).aborted
        if txns and aborted is not None and aborted.issuperset(write_ids):
            yield txns[0], directory
