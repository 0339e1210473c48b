"""The data files of a directory: their buckets and kinds, and the names that are not allowed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from acidsql.acid.directories import (
    Base,
    BucketFile,
    Delta,
    FlushLength,
    Original,
    is_hidden,
    parse_bucket_file,
    parse_directory,
)
from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError, Condition

_NUMBER_BYTES = 8


@dataclass(frozen=True, slots=True)
class File:
    """A listed file. Its path is relative to the directory of the table or partition, with `/` between its parts."""

    path: str
    length: int
    """Bytes."""
    modified: int = 0
    """Milliseconds since 1970."""
    identity: str = ""
    """What tells the file from a later one of its path, size and time: an inode or entity tag; empty if the file system
    has none."""
    changed: int = 0
    """Nanoseconds since 1970 of the last change of the file or its inode, which no program can set; 0 if the file
    system does not tell. An inode may be used again at once, and modification times may be copied."""


class FileKind(Enum):
    """The columns of a data file."""

    ACID = "the six ACID columns"
    PLAIN = "the table's own columns: LOAD DATA, an insert-only table, or a time before the table was transactional"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows or delete events. `bucket` comes from its name, `statement_id` from its directory (default
    0)."""

    file: File
    bucket: int
    statement_id: StatementId
    kind: FileKind
    flush_length_file: str | None = None
    """The path of the side file in which a streaming client stores the committed length."""


def is_visible(path: str) -> bool:
    """Whether the path has no hidden part."""
    return not any(map(is_hidden, path.split("/")))


def directory_files(
    name: str, parsed: Base | Delta, files: Sequence[File], *, insert_only: bool
) -> tuple[DataFile, ...]:
    """The data files among the visible files of an ACID directory, sorted by path. Raises MALFORMED_LAYOUT.

    A side file may be there before its data file, which has no rows then (OrcRecordUpdater makes the side file first).
    """
    statement_id = (parsed.statement_id if isinstance(parsed, Delta) else None) or StatementId(0)
    is_delete = isinstance(parsed, Delta) and parsed.is_delete
    side_files = {path: side for side in files if (path := _bucket_file_of(side.path)) is not None}
    found = [
        _insert_only_file(file, statement_id) if insert_only else _acid_table_file(file, statement_id, side_files)
        for file in sorted(files, key=_path)
        if insert_only or _bucket_file_of(file.path) is None
    ]
    _check_nesting(name, found, is_delete=is_delete)
    _check_buckets(found)
    if is_delete:
        _check_delete_events(found)
    return tuple(found)


def original_files(files: Iterable[File], *, insert_only: bool) -> tuple[DataFile, ...]:
    """The data files among the visible files outside ACID directories, in the order in which their rows are numbered.

    This is the order of the paths as text: `000000_0_copy_10` precedes `000000_0_copy_2` (the last step of
    AcidUtils.getAcidState). Empty files, which Hive writes for empty buckets, are left out. Raises MALFORMED_LAYOUT.
    """
    return tuple(
        _insert_only_file(file, StatementId(0)) if insert_only else _original_file(file)
        for file in sorted(files, key=_path)
        if file.length > 0
    )


def flushed_length(path: str, content: bytes) -> int:
    """How many bytes of a data file a streaming client has committed: the last number in its side file.

    Each number has 8 bytes, big-endian. A transaction appends one before it commits, so an incomplete number at the end
    belongs to a transaction that has not committed (OrcAcidUtils.getLastFlushLength). Raises MALFORMED_LAYOUT if there
    is no number, as AcidUtils.getLogicalLength: the committed part of the file is unknown then.
    """
    end = len(content) // _NUMBER_BYTES * _NUMBER_BYTES
    length = int.from_bytes(content[end - _NUMBER_BYTES : end], "big", signed=True) if end else -1
    if length < 0:
        raise _malformed(path, "it is to say how many bytes of the file beside it are committed, and does not")
    return length


def _path(file: File) -> str:
    return file.path


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _bucket_file_of(path: str) -> str | None:
    """The path of the bucket file that a side file belongs to, or None if `path` is not a side file."""
    folder, name = _split(path)
    parsed = parse_bucket_file(name)
    return f"{folder}/{parsed.bucket_file}" if isinstance(parsed, FlushLength) else None


def _acid_table_file(file: File, statement_id: StatementId, side_files: dict[str, File]) -> DataFile:
    parsed = parse_bucket_file(_split(file.path)[1])
    match parsed:
        case BucketFile(bucket):
            side = side_files.get(file.path)
            return DataFile(file, bucket, statement_id, FileKind.ACID, side.path if side else None)
        case Original(bucket):
            return DataFile(file, bucket, statement_id, FileKind.PLAIN)
        case FlushLength() | None:
            # Hive 4.0.1 silently reads a delta with files named part-00000-..orc as empty (hive-acid-v2.md).
            raise _malformed(file.path, "a data file is named bucket_B, bucket_B_A, B_A or B_A_copy_C")
        case _:
            assert_never(parsed)


def _insert_only_file(file: File, statement_id: StatementId) -> DataFile:
    """Files of insert-only tables may have any name, because their rows have no bucket property."""
    parsed = parse_bucket_file(_split(file.path)[1])
    bucket = parsed.bucket if isinstance(parsed, Original) else 0
    return DataFile(file, bucket, statement_id, FileKind.PLAIN)


def _original_file(file: File) -> DataFile:
    """The conversion of a table to full ACID refuses files with other names (TransactionalValidationListener)."""
    parsed = parse_bucket_file(_split(file.path)[1])
    if not isinstance(parsed, Original):
        raise _malformed(file.path, "a file outside of base and delta directories is named B_A or B_A_copy_C")
    return DataFile(file, parsed.bucket, StatementId(0), FileKind.PLAIN)


def _check_nesting(name: str, found: Iterable[DataFile], *, is_delete: bool) -> None:
    """Raises MALFORMED_LAYOUT if a directory of rows contains one of delete events, or the reverse.

    Other subdirectories are allowed: UNION ALL makes them.
    """
    for data in found:
        for part in data.file.path.removeprefix(f"{name}/").split("/")[:-1]:
            inner = parse_directory(part)
            if inner is not None and is_delete != (isinstance(inner, Delta) and inner.is_delete):
                raise _malformed(data.file.path, "rows and delete events lie in directories of their own")


def _check_buckets(found: Iterable[DataFile]) -> None:
    """Raises MALFORMED_LAYOUT if a bucket has files of two task attempts: it is unknown which one is valid."""
    seen: dict[tuple[str, int], str] = {}
    for data in found:
        if data.kind is FileKind.ACID:
            folder, name = _split(data.file.path)
            other = seen.setdefault((folder, data.bucket), name)
            if other != name:
                raise _malformed(data.file.path, f"it is another attempt at the bucket of {other}")


def _check_delete_events(found: Iterable[DataFile]) -> None:
    for data in found:
        if data.kind is FileKind.PLAIN:
            raise _malformed(data.file.path, "delete events lie in files named bucket_B or bucket_B_A")


def _malformed(path: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=reason)
