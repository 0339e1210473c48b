"""The content of a table's directories, and what a reader would read of it: for `acidsql inspect`.

The answer comes from the selection that readers use (acidsql.acid.snapshot_selection).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from acidsql.acid.data_files import DataFile, File, directory_files, is_visible, original_files
from acidsql.acid.directories import Base, Delta, is_hidden, parse_directory
from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.acid.partition_names import partition_name
from acidsql.acid.snapshot_selection import SelectedDirectory, Snapshot, states
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore
from acidsql.snapshot.committed_lengths import committed_part
from acidsql.snapshot.foreign_directories import require_known, top_level
from acidsql.snapshot.lost_files import require_complete
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.snapshot.statement_snapshots import snapshot_of
from acidsql.storage.file_rows import count_rows
from acidsql.storage.file_systems import FileSystem, Listing

_STAGING: Final = re.compile(re.escape(STAGING_DIRECTORY) + r"_(\d+)_(\d+)")


class DirectoryKind(Enum):
    """The kind of a directory."""

    BASE = "base"
    DELTA = "delta"
    DELETE_DELTA = "delete delta"
    FILES = "files"
    """The partition's own directory, with original files or the files of a plain table."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file: its path below the partition's directory, its size in bytes, and its number of rows if it has any.

    If a streaming client still writes to the file, these are the committed rows, in the first `length` bytes.
    """

    path: str
    size: int
    data: DataFile | None = None
    length: int = 0
    rows: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DirectoryContent:
    """A directory of a partition. `name` is empty for the partition's own."""

    name: str
    kind: DirectoryKind
    is_read: bool
    why: str
    """Why a reader does not read the directory, or which of its write IDs the reader skips."""
    files: tuple[FileContent, ...] = ()
    parsed: Base | Delta | None = None
    invalid_write_ids: frozenset[WriteId] = frozenset()
    """Write IDs of events that a reader skips."""


@dataclass(frozen=True, slots=True)
class PartContent:
    """A partition, by its name (`p=1/q=a`), or a table without partitions. `problem` is the error of a reader, and
    `values` are the partition's, as in its path."""

    name: str
    directory: str
    directories: tuple[DirectoryContent, ...]
    problem: AcidSqlError | None = None
    values: PartitionValues = ()


@dataclass(frozen=True, slots=True)
class TableContent:
    """The content of a table as of one snapshot. `writes` is None if the table is not transactional."""

    table: Table
    txns: ValidTxnList
    writes: ValidWriteIdList | None
    parts: tuple[PartContent, ...]


def table_content(
    table: Table,
    metastore: Metastore,
    files: FileSystem,
    partition: str | None = None,
    *,
    view: ReadView | None = None,
    counts_rows: bool = True,
) -> TableContent:
    """Reads every directory and the end of every file of a table. It needs no Spark for local files.

    `partition` is the name of one partition, or its beginning (`p=1` of `p=1/q=a`). `view` is the snapshot, by default
    that of now. Unless it `counts_rows`, no file is read. Raises PARTITION_NOT_FOUND.
    """
    view = view or ReadView(metastore, metastore.valid_txns())
    txns = view.txns
    writes = view.write_ids(table) if table.is_transactional else None
    reader = _TableReader(table, metastore, files, writes, txns, counts_rows)
    if not table.partition_columns:
        if partition is not None:
            raise AcidSqlError(Condition.NOT_PARTITIONED, table=table.qualified)
        return TableContent(table, txns, writes, (reader.part("", (), files.resolve(table.location)),))
    names = [c.name for c in table.partition_columns]
    partitions = [(partition_name(names, p.values), p) for p in metastore.partitions(table)]
    wanted = [(name, p) for name, p in partitions if partition is None or f"{name}/".startswith(f"{partition}/")]
    if partition is not None and not wanted:
        hint = f"SHOW PARTITIONS {table.qualified} lists them."
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, partition=partition, hint=hint)
    by_name = sorted(wanted, key=lambda pair: pair[0])
    parts = [reader.part(name, p.values, files.resolve(p.location)) for name, p in by_name]
    if partition is not None:
        return TableContent(table, txns, writes, tuple(parts))
    rest = reader.outside([p for _, p in partitions])
    return TableContent(table, txns, writes, (*parts, *rest))


@dataclass(frozen=True, slots=True)
class _TableReader:
    """Reads the directories of a table."""

    table: Table
    metastore: Metastore
    files: FileSystem
    writes: ValidWriteIdList | None
    txns: ValidTxnList
    counts_rows: bool

    def part(self, name: str, values: PartitionValues, directory: str) -> PartContent:
        listing = self.files.list_below(directory)
        try:
            snapshot = snapshot_of(self.table, self.files, directory, listing, self.writes, self.txns)
        except AcidSqlError as error:
            found = (self._unread(directory, n, files, "a reader fails") for n, files in _by_directory(listing).items())
            return PartContent(name, directory, (*found, *self._hidden(listing)), error, values)
        found = (self._directory(directory, snapshot, n, files) for n, files in _by_directory(listing).items())
        lacking = self._lacking(BoundPart(values, directory, snapshot), listing)
        return PartContent(name, directory, (*found, *self._hidden(listing)), lacking, values)

    def _lacking(self, part: BoundPart, listing: Listing) -> AcidSqlError | None:
        """The error of a reader where the directories and the metastore do not agree on what was written."""
        if self.writes is None:
            return None
        names, seen = top_level(listing), self.writes.high_watermark
        try:
            require_known(self.metastore, self.table, part.directory, names, seen, self.txns.high_watermark)
            require_complete(self.metastore, self.table, [part], self.writes, self.txns)
        except AcidSqlError as error:
            return error
        return None

    def outside(self, partitions: Sequence[Partition]) -> Iterator[PartContent]:
        """The content of a partitioned table's directory that is in no partition of the catalog."""
        root = self.files.resolve(self.table.location)
        listing = self.files.list_below(root)
        inside = [f"{self.files.resolve(p.location)}/" for p in partitions]
        folders: dict[str, list[File]] = {}
        for file in listing.files:
            if not f"{root}/{file.path}".startswith(tuple(inside)):
                folders.setdefault(file.path.rpartition("/")[0], []).append(file)
        why = "it is in no partition that the catalog knows"
        found = [
            DirectoryContent(name, DirectoryKind.OTHER, False, why, tuple(FileContent(f.path, f.length) for f in files))
            for name, files in sorted(folders.items())
        ]
        found += [d for d in self._hidden(listing) if not f"{root}/{d.name}".startswith(tuple(inside))]
        if found:
            yield PartContent("", root, tuple(found))

    def _directory(self, place: str, snapshot: Snapshot, name: str, files: Sequence[File]) -> DirectoryContent:
        if not name:
            return self._own_files(place, snapshot, files)
        read = {d.name: d for d in (*snapshot.deltas, *snapshot.delete_deltas, *filter(None, [snapshot.base]))}
        if name in read:
            return self._read(place, read[name], files)
        skipped = next((s for s in snapshot.skipped if s.name == name), None)
        why = skipped.why if skipped else "no reader looks there"
        return self._unread(place, name, files, why)

    def _read(self, place: str, selected: SelectedDirectory, files: Sequence[File]) -> DirectoryContent:
        why = _left_out(selected.invalid_write_ids, self.writes) if selected.files else "it is empty"
        return DirectoryContent(
            selected.name,
            _kind(selected.parsed),
            True,
            why,
            self._contents(place, files, selected.files),
            selected.parsed,
            selected.invalid_write_ids,
        )

    def _unread(self, place: str, name: str, files: Sequence[File], why: str) -> DirectoryContent:
        try:
            parsed = parse_directory(name)
            data = self._data(name, parsed, files)
        except AcidSqlError as error:
            plain = tuple(FileContent(f.path, f.length) for f in files)
            return DirectoryContent(name, DirectoryKind.OTHER, False, f"{why}: {error.message}", plain)
        kind = _kind(parsed) if parsed else DirectoryKind.OTHER if name else DirectoryKind.FILES
        return DirectoryContent(name, kind, False, why, self._contents(place, files, data), parsed)

    def _data(self, name: str, parsed: Base | Delta | None, files: Sequence[File]) -> Sequence[DataFile]:
        visible = [f for f in files if is_visible(f.path)]
        insert_only = not self.table.is_full_acid
        if parsed is None:
            return original_files(visible, insert_only=insert_only) if not name else ()
        return directory_files(name, parsed, visible, insert_only=insert_only)

    def _own_files(self, place: str, snapshot: Snapshot, files: Sequence[File]) -> DirectoryContent:
        read = {f.path for f in snapshot.originals}
        covered = [s for s in snapshot.skipped if "/" in s.name or s.name in {f.path for f in files}]
        why = covered[0].why if covered else "" if read else "no rows are in it"
        data = snapshot.original_files or self._data("", None, files)
        return DirectoryContent("", DirectoryKind.FILES, bool(read), why, self._contents(place, files, data))

    def _hidden(self, listing: Listing) -> Iterator[DirectoryContent]:
        for path in listing.hidden:
            staged = _STAGING.fullmatch(path.rpartition("/")[2])
            why = "hidden: no reader looks there"
            if staged:
                txn = TxnId(int(staged[1]))
                why = f"staged by transaction {txn}, which is {self.txns.state(txn)}, for write ID {staged[2]}"
            yield DirectoryContent(path, DirectoryKind.OTHER, False, why)

    def _contents(self, place: str, files: Sequence[File], data: Sequence[DataFile]) -> tuple[FileContent, ...]:
        known = {d.file.path: d for d in data}
        order = {path: number for number, path in enumerate(known)}
        ordered = sorted(files, key=lambda f: (order.get(f.path, len(order)), f.path))
        return tuple(self._file(place, file, known.get(file.path)) for file in ordered)

    def _file(self, place: str, file: File, data: DataFile | None) -> FileContent:
        if data is None:
            note = "" if not file.path.endswith("_flush_length") else "the length of what is committed"
            return FileContent(file.path, file.length, note=note)
        try:
            part = committed_part(self.files, place, data)
            path = f"{place}/{file.path}"
            rows = count_rows(self.table, self.files, path, part.length) if self.counts_rows else None
        except AcidSqlError as error:
            return FileContent(file.path, file.length, data, note=error.message)
        note = "" if part.is_whole else f"the first {part.length} bytes are committed"
        return FileContent(file.path, file.length, data, part.length, rows, note)


def _by_directory(listing: Listing) -> Mapping[str, Sequence[File]]:
    """The files by their ACID directory, empty directories included. All other files have the empty name."""
    found: dict[str, list[File]] = {name: [] for name in sorted(listing.directories) if _is_acid(name)}
    for file in sorted(listing.files, key=lambda f: f.path):
        top = file.path.partition("/")[0]
        found.setdefault(top if _is_acid(top) and "/" in file.path else "", []).append(file)
    return found


def _is_acid(name: str) -> bool:
    """Whether a name begins like that of an ACID directory. A reader fails if the rest breaks the rules."""
    return "/" not in name and not is_hidden(name) and name.startswith(("base_", "delta_", "delete_delta_"))


def _kind(parsed: Base | Delta) -> DirectoryKind:
    if isinstance(parsed, Base):
        return DirectoryKind.BASE
    return DirectoryKind.DELETE_DELTA if parsed.is_delete else DirectoryKind.DELTA


def _left_out(write_ids: Iterable[WriteId], writes: ValidWriteIdList | None) -> str:
    """The write IDs of a directory that are not read, in words."""
    if writes is None:
        return ""
    listed = sorted(write_ids)
    unseen = [w for w in listed if not writes.is_valid(w)]
    elsewhere = [w for w in listed if writes.is_valid(w)]
    words = [states(unseen, writes)] if unseen else []
    if elsewhere:
        words.append(f"write IDs {elsewhere[0]} to {elsewhere[-1]} are read elsewhere")
    return f"but not all of it: {', '.join(words)}" if words else ""
