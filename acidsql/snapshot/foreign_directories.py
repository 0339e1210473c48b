"""Directories that the metastore knows nothing of: it is older than they are, or another metastore made them.

A metastore that was restored from a backup, or is a copy, gives out the same write IDs and transaction IDs a second
time. What was written under them before would become rows of its own transactions, and its readers would skip it
without a word. A directory of a higher ID than the reader or the writer has is first taken for that of a later
transaction, so the metastore is asked, after the listing, only where there is one. The metastore remembers what was
found: when it has given out that ID, the directory would look like one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from acidsql.acid.directories import Base, Delta, parse_directory
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.written_files import catalog_behind
from acidsql.storage.file_systems import FilesOf, Listing

_THREADS: Final = 16


def top_level(listing: Listing) -> frozenset[str]:
    """The names directly in a directory."""
    return frozenset(path.partition("/")[0] for path in (*listing.directories, *(f.path for f in listing.files)))


def require_known(
    metastore: Metastore,
    table: Table,
    path: str,
    names: Iterable[str],
    write_id: WriteId,
    txn: TxnId,
    *,
    require_open: Callable[[], None] = lambda: None,
) -> None:
    """Checks the directories that were listed at `path`. `write_id` and `txn` are the highest IDs that the caller knows
    to be given out. `require_open` raises an error where the caller's transaction has ended, and with it its locks:
    another table may have come in the place of its own.

    Raises CATALOG_BEHIND. A Hive Metastore does not tell which write IDs it has given out.
    """
    found = [(name, parsed) for name in names if (parsed := _parsed(name)) is not None]
    if all(_highest(d) <= write_id and (d.visibility_txn or 0) <= txn for _, d in found):
        return
    require_open()
    last = metastore.last_write_id(table)
    if last is None:
        return
    for name, directory in found:
        if _highest(directory) > last:
            raise _found(metastore, table, path, name, f"and its write IDs of {table.qualified} end at {last}")
    last_txn = metastore.valid_txns().high_watermark
    for name, directory in found:
        if (directory.visibility_txn or 0) > last_txn:
            raise _found(metastore, table, path, name, f"and its transaction IDs end at {last_txn}")


def check_whole(metastore: Metastore, table: Table, files_of: FilesOf) -> None:
    """Checks all partitions of a table before the first write after the metastore was copied or restored: the write
    looks only at those that it writes to, and its write ID would make directories in the others valid.

    Raises CATALOG_BEHIND.
    """
    if not table.is_transactional or not metastore.is_unchecked(table):
        return
    last, last_txn = metastore.last_write_id(table), metastore.valid_txns().high_watermark
    locations = [p.location for p in metastore.partitions(table)] if table.partition_columns else [table.location]

    def listed(location: str) -> tuple[str, Sequence[str]]:
        files = files_of(location)
        path = files.resolve(location)
        return path, files.directories_named(path, "")

    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(listed, locations))
    for path, names in found:
        require_known(metastore, table, path, names, last or WriteId(0), last_txn)
    metastore.note_checked(table)


@dataclass(frozen=True, slots=True)
class Siblings:
    """Checks the directories beside one that a transaction is to make. `first` to `last` are the write IDs in its name.
    `own` are lists of the directories that the transaction has made, which may grow."""

    metastore: Metastore
    table: Table
    first: WriteId
    last: WriteId
    txn: TxnId
    own: Sequence[Collection[str]] = ()

    def check(self, path: str, names: Iterable[str], new: str = "") -> None:
        """Raises CATALOG_BEHIND for directories at `path` with write IDs that were not given out before this one, and
        TRANSACTION_ABORTED where the transaction has ended: others may have written there since. `new` is the name of
        the directory that is to be made."""
        names = list(names)
        for name in names:
            parsed = _parsed(name)
            if parsed is None or (name != new and any(f"{path}/{name}" in made for made in self.own)):
                continue
            if self._made_by_another_path(path, name):
                continue  # two partitions in one directory: the file system refuses the second directory
            low = parsed.write_id if isinstance(parsed, Base) else parsed.min_write_id
            if parsed.visibility_txn == self.txn:
                raise self._found(path, name, f"and it gives out transaction ID {self.txn} only now")
            if low <= self.last and _highest(parsed) >= self.first:
                raise self._found(path, name, f"and it gives out write ID {self.first} only now")
        require_known(self.metastore, self.table, path, names, self.last, self.txn, require_open=self._require_open)

    def _made_by_another_path(self, path: str, name: str) -> bool:
        """Whether the transaction has made a directory of this name that this path leads to, too."""
        this = f"{path}/{name}"
        made = [place for places in self.own for place in places if place.endswith(f"/{name}") and place != this]
        wanted = os.path.realpath(this) if made else ""
        return any(os.path.realpath(place) == wanted for place in made)

    def _found(self, path: str, name: str, reason: str) -> AcidSqlError:
        self._require_open()
        return _found(self.metastore, self.table, path, name, reason)

    def _require_open(self) -> None:
        self.metastore.heartbeat(self.txn)


def _parsed(name: str) -> Base | Delta | None:
    try:
        return parse_directory(name)
    except AcidSqlError:  # a name that breaks the rules of the layout, which readers report
        return None


def _highest(directory: Base | Delta) -> WriteId:
    return directory.write_id if isinstance(directory, Base) else directory.max_write_id


def _found(metastore: Metastore, table: Table, path: str, name: str, reason: str) -> AcidSqlError:
    with suppress(AcidSqlError):  # a metastore that must not be written
        metastore.note_foreign(table, f"{path}/{name}", reason)
    return catalog_behind(f"{path}/{name}", reason)
