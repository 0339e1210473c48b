"""Every event of a table, visible or not, with the reason: the rules of a reader, applied to one event at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from acidsql.acid.row_id import encode_bucket
from acidsql.acid.snapshot_selection import DataFile, FileKind, states
from acidsql.acid.write_ids import WriteId
from acidsql.snapshot.delete_applicability import RowKey, applies_to_bucket, is_visible
from acidsql.snapshot.scan_binding import plain_write_id
from acidsql.snapshot.table_contents import DirectoryContent, DirectoryKind, FileContent, PartContent, TableContent
from acidsql.storage.file_rows import stored_rows
from acidsql.storage.file_systems import FileSystem


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a file, or a row of a plain file with the numbers that readers give it.

    `row` is None for a delete event. `is_seen` means that a row is visible, or that a delete event is in effect; `why`
    is the reason where it is not.
    """

    file: str
    operation: int | None
    original_transaction: int | None
    bucket: int | None
    row_id: int | None
    current_transaction: int | None
    row: Mapping[str, object] | None
    is_seen: bool
    why: str

    @property
    def row_key(self) -> RowKey:
        return RowKey(self.original_transaction, self.bucket, self.row_id)


def stored_events(content: TableContent, part: PartContent, files: FileSystem) -> Iterator[StoredEvent]:
    """The events of a partition, file by file. Reads its delete events first, and keeps their row IDs."""
    reader = _PartReader(content, part, files, _data_buckets(part))
    deleted: dict[RowKey, str] = {}
    for directory, event in reader.events({DirectoryKind.DELETE_DELTA}):
        if event.is_seen:
            why = f"deleted by write ID {event.current_transaction} ({directory.name})"
            deleted.setdefault(event.row_key, why)
    for directory, event in reader.events(set(DirectoryKind)):
        is_row = directory.kind is not DirectoryKind.DELETE_DELTA
        is_deleted = event.is_seen and is_row and event.row_key in deleted
        yield _unseen(event, deleted[event.row_key]) if is_deleted else event


def _data_buckets(part: PartContent) -> frozenset[int]:
    """The bucket numbers of the data files that a reader reads."""
    read = (d for d in part.directories if d.is_read and d.kind is not DirectoryKind.DELETE_DELTA)
    return frozenset(f.data.bucket for d in read for f in d.files if f.data is not None)


@dataclass(frozen=True, slots=True)
class _PartReader:
    """Reads the files of a partition."""

    content: TableContent
    part: PartContent
    files: FileSystem
    data_buckets: frozenset[int]

    def events(self, kinds: set[DirectoryKind]) -> Iterator[tuple[DirectoryContent, StoredEvent]]:
        """The events in directories of these kinds, each with what a reader does with it."""
        for directory in self.part.directories:
            first_rows: dict[int, int] = {}
            for file in directory.files if directory.kind in kinds else ():
                if file.rows and file.data is not None:
                    for event in self._file_events(directory, file, file.data, first_rows):
                        yield directory, self._with_visibility(directory, file.data, event)

    def _file_events(
        self, directory: DirectoryContent, file: FileContent, data: DataFile, first_rows: dict[int, int]
    ) -> Iterator[StoredEvent]:
        """The events of a file. `first_rows` has the row ID of the next plain row of each bucket."""
        rows = stored_rows(self.content.table, self.files, f"{self.part.directory}/{file.path}", file.length)
        for number, values in enumerate(rows, start=first_rows.get(data.bucket, 0)):
            if data.kind is FileKind.ACID:
                operation, original, bucket, row_id, current, row = values
                yield StoredEvent(file.path, operation, original, bucket, row_id, current, row, True, "")  # type: ignore[arg-type]
            else:
                first_rows[data.bucket] = number + 1
                yield self._plain_event(directory, file, data, number, values)

    def _plain_event(
        self, directory: DirectoryContent, file: FileContent, data: DataFile, number: int, values: Sequence[object]
    ) -> StoredEvent:
        """A row of a plain file: in a full ACID table it has a row ID too."""
        row = dict(zip((c.name for c in self.content.table.columns), values, strict=False))
        if not self.content.table.is_full_acid:
            return StoredEvent(file.path, None, None, None, None, None, row, True, "")
        write_id = plain_write_id(directory.parsed) if directory.parsed else 0
        bucket = encode_bucket(data.bucket, data.statement_id)
        return StoredEvent(file.path, 0, write_id, bucket, number, write_id, row, True, "")

    def _with_visibility(self, directory: DirectoryContent, data: DataFile, event: StoredEvent) -> StoredEvent:
        """The event as a reader of its directory and file takes it; deleted rows are still visible."""
        if not directory.is_read:
            return _unseen(event, directory.why)
        writes, write_id = self.content.writes, event.current_transaction
        if writes is not None and write_id is not None and not is_visible(write_id, directory.invalid_write_ids):
            if writes.is_valid(WriteId(write_id)):
                return _unseen(event, f"write ID {write_id} is read elsewhere")
            return _unseen(event, states([write_id], writes))
        is_delete = directory.kind is DirectoryKind.DELETE_DELTA
        if is_delete and not applies_to_bucket(data.bucket, self.data_buckets):
            return _unseen(event, f"no data file has bucket {data.bucket}")
        return event


def _unseen(event: StoredEvent, why: str) -> StoredEvent:
    return replace(event, is_seen=False, why=why)
