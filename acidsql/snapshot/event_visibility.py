"""Every event of a table, visible or not, and why: the reader's rules, one event at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from acidsql.acid.row_id import encode_bucket
from acidsql.acid.snapshot_selection import FileKind, states
from acidsql.acid.write_ids import WriteId
from acidsql.snapshot.scan_binding import plain_write_id
from acidsql.snapshot.table_contents import DirectoryContent, DirectoryKind, FileContent, PartContent, TableContent
from acidsql.storage.file_rows import stored_rows
from acidsql.storage.file_systems import FileSystem

_Key = tuple[object, object, object]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a file, or a row of a plain one, whose numbers are those that readers give it (None: none).

    `row` is None for a delete event. `is_seen`: a row is visible, a delete event is in effect.
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


def stored_events(content: TableContent, part: PartContent, files: FileSystem) -> Iterator[StoredEvent]:
    """The events of a partition, file by file. Reads its delete events first, and keeps their row IDs."""
    deleted: dict[_Key, str] = {}
    for directory, event in _events(content, part, files, {DirectoryKind.DELETE_DELTA}):
        if event.is_seen:
            key = (event.original_transaction, event.bucket, event.row_id)
            deleted.setdefault(key, f"deleted by write ID {event.current_transaction} ({directory.name})")
    for directory, event in _events(content, part, files, set(DirectoryKind)):
        key = (event.original_transaction, event.bucket, event.row_id)
        is_row = directory.kind is not DirectoryKind.DELETE_DELTA
        yield _hidden(event, deleted[key]) if event.is_seen and is_row and key in deleted else event


def _events(
    content: TableContent, part: PartContent, files: FileSystem, kinds: set[DirectoryKind]
) -> Iterator[tuple[DirectoryContent, StoredEvent]]:
    for directory in part.directories:
        counted: dict[int, int] = {}
        for file in directory.files if directory.kind in kinds else ():
            if file.rows:
                yield from ((directory, e) for e in _file_events(content, part, directory, file, files, counted))


def _file_events(
    content: TableContent,
    part: PartContent,
    directory: DirectoryContent,
    file: FileContent,
    files: FileSystem,
    counted: dict[int, int],
) -> Iterator[StoredEvent]:
    assert file.data is not None
    rows = stored_rows(content.table, files, f"{part.directory}/{file.path}", file.length)
    names = tuple(c.name for c in content.table.columns)
    first = counted.get(file.data.bucket, 0)
    for number, values in enumerate(rows, start=first):
        if file.data.kind is FileKind.ACID:
            operation, original, bucket, row_id, current, row = values
            event = StoredEvent(file.path, operation, original, bucket, row_id, current, row, True, "")  # type: ignore[arg-type]
        else:
            counted[file.data.bucket] = number + 1
            event = _plain_event(content, directory, file, number, dict(zip(names, values, strict=False)))
        yield _judged(content, directory, event)


def _plain_event(
    content: TableContent, directory: DirectoryContent, file: FileContent, number: int, row: Mapping[str, object]
) -> StoredEvent:
    """A row of a plain file: in a full ACID table it has a row ID all the same."""
    assert file.data is not None
    if not content.table.is_full_acid:
        return StoredEvent(file.path, None, None, None, None, None, row, True, "")
    write_id = plain_write_id(directory.parsed) if directory.parsed else 0
    bucket = encode_bucket(file.data.bucket, file.data.statement_id)
    return StoredEvent(file.path, 0, write_id, bucket, number, write_id, row, True, "")


def _judged(content: TableContent, directory: DirectoryContent, event: StoredEvent) -> StoredEvent:
    """What the directory says of its event."""
    if not directory.is_read:
        return _hidden(event, directory.why)
    if event.current_transaction in directory.invalid_write_ids and content.writes is not None:
        write_id = WriteId(event.current_transaction)
        if content.writes.is_valid(write_id):
            return _hidden(event, f"write ID {write_id} is read elsewhere")
        return _hidden(event, states([write_id], content.writes))
    return event


def _hidden(event: StoredEvent, why: str) -> StoredEvent:
    return StoredEvent(
        event.file,
        event.operation,
        event.original_transaction,
        event.bucket,
        event.row_id,
        event.current_transaction,
        event.row,
        False,
        why,
    )
