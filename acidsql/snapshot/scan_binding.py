"""A scan with its partitions, their snapshots, and the files that it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Final

from acidsql.acid.directories import Base, Delta, Original, parse_bucket_file
from acidsql.acid.hive_types import HiveType
from acidsql.acid.layout import ACID_FIELDS
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.snapshot_selection import DataFile, FileKind, SelectedDirectory, Snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import Scan
from acidsql.snapshot.committed_lengths import committed_part, is_complete
from acidsql.snapshot.version import Version
from acidsql.storage.file_identity import sized
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.column_types import narrower_types
from acidsql.storage.orc.tail import CURRENT_TRANSACTION_COLUMN, OPERATION_COLUMN, Tail
from acidsql.storage.parquet_footer import IN_UTC, WrittenTimes, has_times

NO_WRITE_ID: Final = 0
"""The write ID of a file whose write ID is unknown. No write has this ID."""


@dataclass(frozen=True, slots=True)
class BoundPart:
    """One partition, or a whole table without partitions. `values` are the partition's, as in its path."""

    values: tuple[str | None, ...]
    directory: str
    snapshot: Snapshot

    @property
    def data_directories(self) -> tuple[SelectedDirectory, ...]:
        base = (self.snapshot.base,) if self.snapshot.base is not None else ()
        return (*base, *self.snapshot.deltas)

    @property
    def data_files(self) -> tuple[DataFile, ...]:
        return (*self.snapshot.original_files, *(f for d in self.data_directories for f in d.files))

    @property
    def count_of_files(self) -> int:
        """How many files a reader opens, of data and of delete events."""
        return len(self.data_files) + sum(len(d.files) for d in self.snapshot.delete_deltas)

    @property
    def buckets(self) -> frozenset[int]:
        """The numbers of the files that hold live rows."""
        return frozenset(f.bucket for f in self.data_files)

    @property
    def buckets_of_one_file(self) -> frozenset[int]:
        """The numbers of the buckets that have one file only, in the order of its row IDs."""
        counts = Counter(f.bucket for f in self.data_files)
        return frozenset(f.bucket for f in self.data_files if counts[f.bucket] == 1 and f.kind is FileKind.ACID)

    def of_files(self, paths: Collection[str]) -> BoundPart:
        """The part with some of its data files. Delete events are those of the whole part."""

        def narrowed(directory: SelectedDirectory) -> SelectedDirectory:
            return replace(directory, files=tuple(filter(is_wanted, directory.files)))

        def is_wanted(file: DataFile) -> bool:
            return f"{self.directory}/{file.file.path}" in paths

        snapshot = self.snapshot
        narrow = replace(
            snapshot,
            base=None if snapshot.base is None else narrowed(snapshot.base),
            deltas=tuple(map(narrowed, snapshot.deltas)),
            original_files=tuple(filter(is_wanted, snapshot.original_files)),
        )
        return replace(self, snapshot=narrow)


@dataclass(frozen=True, slots=True)
class BoundChanges:
    """The changes of the writes that the snapshot of the scan has and the version `before` has not. `times` has the
    times of their commits, as far as they are known."""

    before: Version
    times: Mapping[WriteId, datetime]


@dataclass(frozen=True, slots=True)
class BoundScan:
    """A scan with the snapshots that it reads."""

    scan: Scan
    files: FileSystem
    parts: tuple[BoundPart, ...]
    changes: BoundChanges | None = None
    """The changes that are read, where these are read in place of rows."""

    @property
    def table(self) -> Table:
        return self.scan.table

    @property
    def buckets(self) -> frozenset[int]:
        return frozenset().union(*(p.buckets for p in self.parts))

    @property
    def has_one_file_a_bucket(self) -> bool:
        """Whether every bucket of a partition has one file only, and every file is in the order of its row IDs."""
        return all(p.buckets_of_one_file == p.buckets for p in self.parts)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A data or delete file with everything that the reader needs to know of it.

    Spark reads `path`, of `size` bytes. If Spark cannot read the file itself, that is a copy of the file `copy_of`.
    `names` are the table's columns in the file, by position. `hidden` are the write IDs of events to skip. The rows of
    a plain file have the write ID `write_id`, the bucket property `bucket_property` and row IDs from `first_row` on.
    """

    path: str
    size: int
    part: int
    is_acid: bool
    names: tuple[str, ...]
    hidden: frozenset[WriteId] = frozenset()
    write_id: int = 0
    bucket_property: int = 0
    first_row: int = 0
    tail: Tail | None = None
    copy_of: str | None = None

    @property
    def origin(self) -> str:
        """The file's path in the table."""
        return self.copy_of or self.path

    narrower: tuple[HiveType | None, ...] = ()
    """For each column, the type in the file if the table's type was widened since, else None."""
    modified: int = 0
    """The modification time, as in SizedFile."""
    identity: str = ""
    changed: int = 0
    may_grow: bool = False
    times: WrittenTimes = IN_UTC
    """The zone and calendar of the times in a Parquet file."""

    @property
    def sized(self) -> SizedFile:
        """The file that is read, with what tells it from a later one of its path."""
        return SizedFile(self.path, self.size, self.modified, self.identity, self.changed, self.may_grow)

    @property
    def has_hives_names(self) -> bool:
        """Whether the ACID columns have the names of Hive's writer, capitals included. Hive's query-based compactor
        writes them in lower case."""
        return self.tail is not None and self.tail.top_level_names == ACID_FIELDS

    def is_all(self, operation: int) -> bool:
        """Whether all events are of one operation, by the footer."""
        return self.tail is not None and self.tail.integer_range(OPERATION_COLUMN) == (operation, operation)


def data_files(bound: BoundScan, footers: FooterCache) -> list[SourceFile]:
    """The data files of all partitions.

    Raises ACID_V1_FILE, MALFORMED_LAYOUT, NOT_YET_SUPPORTED.
    """
    _read_footers(bound, footers)
    return [f for number, part in enumerate(bound.parts) for f in _part_files(bound, number, part, footers)]


def _read_footers(bound: BoundScan, footers: FooterCache) -> None:
    """Reads the footers of all files at once, where otherwise each directory would wait for the one before it. Leaves
    out files that may be growing."""
    if bound.table.file_format == "orc":
        files = ((part, f) for part in bound.parts for f in part.data_files)
        of_deletes = ((part, f) for part in bound.parts for d in part.snapshot.delete_deltas for f in d.files)
        wanted = [sized(f"{p.directory}/{f.file.path}", f.file) for p, f in chain(files, of_deletes) if is_complete(f)]
        footers.read_ahead(bound.files, wanted)


def _part_files(bound: BoundScan, number: int, part: BoundPart, footers: FooterCache) -> Iterator[SourceFile]:
    for selected in part.data_directories:
        _check_whole(bound, selected, part)
    if bound.table.file_format != "orc":
        yield from _other_files(bound, number, part, footers)
        return
    for directory, files in _by_directory(part):
        yield from _source_files(bound, number, part, directory, files, footers)


def _other_files(bound: BoundScan, number: int, part: BoundPart, footers: FooterCache) -> Iterator[SourceFile]:
    """Text and Parquet files. Parquet files of a table with times come with the zone and calendar of these."""
    files = [sized(f"{part.directory}/{f.file.path}", f.file) for f in part.data_files]
    looks = bound.table.file_format == "parquet" and has_times(bound.table)
    times = footers.times(bound.files, files) if looks else [IN_UTC] * len(files)
    named = [_row_id_of_file(bound.table, d, f) for d, found in _by_directory(part) for f in found]
    for file, written, (write_id, bucket) in zip(files, times, named, strict=True):
        yield SourceFile(
            file.path,
            file.size,
            number,
            False,
            (),
            write_id=write_id,
            bucket_property=bucket,
            modified=file.modified,
            identity=file.identity,
            changed=file.changed,
            times=written,
        )


def _by_directory(part: BoundPart) -> Iterator[tuple[SelectedDirectory | None, Sequence[DataFile]]]:
    """The data files of a part in the order of `BoundPart.data_files`, each group with its ACID directory."""
    yield None, part.snapshot.original_files
    for directory in part.data_directories:
        yield directory, directory.files


def _row_id_of_file(table: Table, directory: SelectedDirectory | None, file: DataFile) -> tuple[int, int]:
    """The write ID and the bucket that row__id has for all rows of a plain file.

    In an insert-only table the bucket is the number in the file's name, or -1. The write ID is NO_WRITE_ID where the
    name of the directory does not show it: in the results of compactions and in original files (BucketIdentifier).
    """
    if not table.is_insert_only:
        write_id = 0 if directory is None else plain_write_id(directory.parsed)
        return write_id, encode_bucket(file.bucket, file.statement_id)
    is_numbered = isinstance(parse_bucket_file(file.file.path.rpartition("/")[2]), Original)
    write_id = NO_WRITE_ID if directory is None else _only_write_id(directory.parsed)
    return write_id, file.bucket if is_numbered else -1


def _only_write_id(parsed: Base | Delta) -> int:
    """The write ID of all rows of a directory; NO_WRITE_ID for the result of a compaction."""
    if isinstance(parsed, Base):
        return NO_WRITE_ID if parsed.visibility_txn else parsed.write_id
    return parsed.min_write_id if parsed.min_write_id == parsed.max_write_id else NO_WRITE_ID


def _check_whole(bound: BoundScan, directory: SelectedDirectory, part: BoundPart) -> None:
    """Refuses an insert-only directory with hidden write IDs: its rows do not record their write ID, so the scan cannot
    skip some of them."""
    if directory.invalid_write_ids and bound.table.is_insert_only:
        reason = f"only some of its write IDs may be read, and its rows do not tell theirs: {directory.name}"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=part.directory, reason=reason)


def plain_write_id(parsed: Base | Delta) -> int:
    """The write ID of the rows of plain files in the directory, from LOAD DATA or a former insert-only table."""
    return parsed.write_id if isinstance(parsed, Base) else parsed.max_write_id


def _source_files(
    bound: BoundScan,
    number: int,
    part: BoundPart,
    directory: SelectedDirectory | None,
    files: Sequence[DataFile],
    footers: FooterCache,
) -> Iterator[SourceFile]:
    """ORC files: those of `directory`, or original files if it is None."""
    hidden = frozenset[WriteId]() if directory is None else directory.invalid_write_ids
    next_rows: dict[int, int] = {}
    for opened in opened_files(bound, part, files, footers):
        data, file, tail = opened.data, opened.file, opened.tail
        first_row = next_rows.get(data.bucket, 0)
        if not tail.is_acid:
            _check_plain(bound, data, file.path)
            next_rows[data.bucket] = first_row + tail.rows
        else:
            _check_version_2(bound, tail, file.path)
        if opened.has_events(hidden):
            write_id, bucket_property = _row_id_of_file(bound.table, directory, data)
            read = opened.readable(bound.files, footers)
            yield SourceFile(
                read.path,
                read.size,
                number,
                tail.is_acid,
                tail.row_names[: len(bound.table.columns)],
                opened.hidden_of(hidden),
                write_id,
                bucket_property,
                first_row,
                tail,
                copy_of=file.path if read is not file else None,
                narrower=narrower_types(tail, bound.table),
                modified=read.modified,
                identity=read.identity,
                changed=read.changed,
                may_grow=read.may_grow,
            )


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A data or delete file with its footer: that of its committed part, if a streaming client still writes to it."""

    data: DataFile
    file: SizedFile
    tail: Tail
    is_whole: bool

    def readable(self, files: FileSystem, footers: FooterCache) -> SizedFile:
        """The file itself, or a copy that Spark can read."""
        return footers.copies.readable(files, self.file, self.tail, is_whole=self.is_whole)

    def hidden_of(self, hidden: frozenset[WriteId]) -> frozenset[WriteId]:
        """Those of the hidden write IDs of its directory that events of the file may have, by its statistics. A batch
        of transactions has open and aborted write IDs, and mostly no events of them."""
        if not hidden or not self.tail.is_acid:
            return frozenset()
        written = self.tail.integer_range(CURRENT_TRANSACTION_COLUMN)
        return hidden if written is None else frozenset(w for w in hidden if written[0] <= w <= written[1])

    def has_events(self, hidden: frozenset[WriteId]) -> bool:
        """Whether the file may have events whose write ID is not hidden."""
        written = self.tail.integer_range(CURRENT_TRANSACTION_COLUMN) if self.tail.is_acid else None
        all_hidden = written is not None and len(self.hidden_of(hidden)) == written[1] - written[0] + 1
        return self.tail.rows > 0 and not all_hidden


def opened_files(
    bound: BoundScan, part: BoundPart, files: Sequence[DataFile], footers: FooterCache
) -> Iterator[OpenedFile]:
    """The files with their footers, without those of which a streaming client has not committed anything yet."""
    committed = [committed_part(bound.files, part.directory, f) for f in files]
    started = [(f, c) for f, c in zip(files, committed, strict=True) if c.length or c.is_whole]
    found = [
        replace(sized(f"{part.directory}/{f.file.path}", f.file), size=c.length, may_grow=c.may_grow)
        for f, c in started
    ]
    tails = footers.tails(bound.files, found)
    return (
        OpenedFile(data, file, tail, c.is_whole) for (data, c), file, tail in zip(started, found, tails, strict=True)
    )


def _check_plain(bound: BoundScan, data: DataFile, path: str) -> None:
    if data.kind is FileKind.ACID and not bound.table.is_insert_only:
        reason = "its name says that it has the six ACID columns, and it has not"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=reason)


def _check_version_2(bound: BoundScan, tail: Tail, path: str) -> None:
    """Refuses ACID v1, which has operation 1 or 2 in data files. The scan checks files without statistics."""
    operations = tail.integer_range(OPERATION_COLUMN)
    if operations is not None and operations[1] > 0:
        raise AcidSqlError(Condition.ACID_V1_FILE, path=path, table=bound.table.qualified)
