"""Owners of directories: no table's directory lies in another table's, and a directory is removed only if its table is
its only owner.

The directory of a database may hold its tables' directories. The directory of `default` also holds those of the other
databases.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from urllib.parse import urlparse

from acidsql.acid.partition_names import partition_name, unescape
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.metastore.catalog import DEFAULT_DATABASE, Partition, Place
from acidsql.metastore.client import Metastore
from acidsql.storage.directory_relations import DirectoryRelation, canonical_path, related
from acidsql.storage.file_systems import FilesOf, is_local


@dataclass(frozen=True)
class Ownership:
    """Compares directories with those that the metastore knows. It asks the metastore once, at the first comparison."""

    metastore: Metastore
    files: FilesOf
    _canonical_names: dict[tuple[str, tuple[str, str]], str] = field(default_factory=dict)

    @cached_property
    def _places(self) -> Sequence[Place]:
        return self.metastore.places()

    @cached_property
    def _databases(self) -> Sequence[tuple[str, str]]:
        """The databases' names and directories."""
        known = self.metastore.databases()
        return [(d.name, location) for d in known for location in (d.location, d.managed_location) if location]

    def require_for_table(self, table: Table, span: Span | None) -> None:
        """Raises LOCATION_TAKEN if the table's directory overlaps the directory of another table, of another database
        or of the metastore."""
        self._require_outside_tables(table, table.location, span)
        self._require_in_own_database(table, table.location, span)

    def require_for_partition(
        self, table: Table, partition: Partition, others: Iterable[Partition], span: Span | None
    ) -> None:
        """Raises LOCATION_TAKEN as `require_for_table` does, for the directory of a partition. `others` are the table's
        other partitions."""
        location = partition.location
        to_table = self._related(location, table.location)
        if to_table in (DirectoryRelation.SAME, DirectoryRelation.AROUND):
            raise _taken(location, to_table, f"table {table.qualified} itself", span)
        if to_table is DirectoryRelation.INSIDE:
            self._require_not_default_location(table, partition, span)
        else:
            self._require_outside_tables(table, location, span)
            self._require_in_own_database(table, location, span)
        for other in others:
            found = self._related(location, other.location)
            if found is not None:
                raise _taken(location, found, f"another partition of {table.qualified}", span)

    def require_for_database(self, name: str, location: str, span: Span | None) -> None:
        """Raises LOCATION_TAKEN as `require_for_table` does, for the directory of a database that is to be created, or
        is to get it."""
        for place in self._places:
            found = self._related(location, place.location)
            if found is not None:
                raise _taken(location, found, _named(place), span)
        for other, directory in self._databases:
            found = None if other == name else self._related(location, directory)
            if found is not None and (other, found) != (DEFAULT_DATABASE, DirectoryRelation.INSIDE):
                raise _taken(location, found, f"database {other}", span)

    def require_for_output(self, location: str, span: Span | None) -> None:
        """Raises LOCATION_TAKEN for a directory whose files a statement would replace, if it overlaps the directory of
        a table, of a database or of the metastore."""
        for place in self._places:
            found = self._related(location, place.location)
            if found is not None:
                raise _taken(location, found, _named(place), span)
        for name, directory in self._databases:
            found = self._related(location, directory)
            if found is not None:
                raise _taken(location, found, f"database {name}", span)

    def is_own(self, table: Table, location: str, others: Iterable[Partition] = ()) -> bool:
        """Whether the removal of a directory of the table would remove nothing of another table, of a database, of the
        metastore, or of the table's partitions `others`."""
        if any(self._related(location, other.location) is not None for other in others):
            return False
        places = (p for p in self._places if not _is_of(p, table))
        if any(self._related(location, place.location) is not None for place in places):
            return False
        return all(self._related(location, other) in (None, DirectoryRelation.INSIDE) for _, other in self._databases)

    def is_empty(self, location: str) -> bool:
        """Whether a directory holds no file, and overlaps no directory of a table."""
        if any(self._related(location, place.location) is not None for place in self._places):
            return False
        if any(
            self._related(location, other) in (DirectoryRelation.SAME, DirectoryRelation.AROUND)
            for _, other in self._databases
        ):
            return False
        files = self.files(location)
        listing = files.list_below(files.resolve(location))
        return not listing.files and not listing.hidden

    def _require_outside_tables(self, table: Table, location: str, span: Span | None) -> None:
        """External tables may share a directory, because acidsql removes no files of theirs."""
        for place in self._places:
            if _is_of(place, table) or (table.external and place.external):
                continue
            found = self._related(location, place.location)
            if found is not None:
                raise _taken(location, found, _named(place), span)

    def _require_in_own_database(self, table: Table, location: str, span: Span | None) -> None:
        """The directory must not lie in the directory of another database, except that of `default`, nor around one."""
        inside: list[tuple[int, str]] = []
        for name, directory in self._databases:
            found = self._related(location, directory)
            if found is DirectoryRelation.INSIDE:
                inside.append((len(self._canonical(directory, location)), name))
            elif found is not None:
                raise _taken(location, found, f"database {name}", span)
        nearest = {name for length, name in inside if length == max(inside)[0]}
        if nearest and not nearest & {table.database, DEFAULT_DATABASE}:
            raise _taken(location, DirectoryRelation.INSIDE, f"database {min(nearest)}", span)

    def _require_not_default_location(self, table: Table, partition: Partition, span: Span | None) -> None:
        """Raises LOCATION_TAKEN for a directory `p=..` below the table's: the rows of another partition go there, even
        if the catalog lacks that partition."""
        root, place = (self._canonical(path, table.location) for path in (table.location, partition.location))
        below = place[len(root) + 1 :]
        names = [c.name for c in table.partition_columns]
        name, sign, _ = below.partition("/")[0].partition("=")
        if below == partition_name(names, partition.values):
            return
        if sign and unescape(name).lower() == names[0]:
            reason = f"rows of another partition of {table.qualified} go there"
            raise AcidSqlError(Condition.LOCATION_TAKEN, span=span, path=partition.location, reason=reason)

    def _related(self, mine: str, other: str) -> DirectoryRelation | None:
        """How `mine` lies relative to `other`; None where they do not overlap."""
        return related(mine, other, lambda location: self._canonical(location, mine))

    def _canonical(self, location: str, beside: str) -> str:
        """The one path of a directory, in the file system of `beside`."""
        key = location, urlparse(beside)[:2]
        if key not in self._canonical_names:
            self._canonical_names[key] = canonical_path(self.files(beside), location, beside)
        return self._canonical_names[key]


_FILE_SYSTEM: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:(?://[^/]*)?)?")
"""The scheme and the authority in front of a path, if there are any."""


def is_relative(location: str) -> bool:
    return is_local(location) and not location.startswith(("/", "file:"))


def absolute(location: str) -> str:
    """The location without a slash at its end and without `..`, and independent of the process's working directory.

    Owners of directories are compared by these names. As in Hadoop's Path, `..` is resolved in the name, without a
    look at the file system.
    """
    if is_relative(location):
        return os.path.abspath(location)
    found = _FILE_SYSTEM.match(location)
    file_system = found[0] if found is not None else ""
    path = location.removeprefix(file_system)
    if not {".", ".."}.isdisjoint(path.split("/")):
        path = posixpath.normpath(path)
    return f"{file_system}{path}".rstrip("/") or "/"


def _is_of(place: Place, table: Table) -> bool:
    return place.table == (table.database, table.name) and place.temporary == table.temporary


def _named(place: Place) -> str:
    return "the metastore" if place.table is None else f"table {'.'.join(place.table)}"


def _taken(location: str, relation: DirectoryRelation, other: str, span: Span | None) -> AcidSqlError:
    return AcidSqlError(Condition.LOCATION_TAKEN, span=span, path=location, reason=relation.value.format(other=other))
