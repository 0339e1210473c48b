"""The files of a directory that is read: which hold rows, of which bucket, and which should not be there."""

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
    """A file as listed: its path relative to the table's or partition's directory, `/` between its parts."""

    path: str
    length: int
    """Bytes."""
    modified: int = 0
    """Milliseconds since 1970."""


class FileKind(Enum):
    """What the columns of a data file are."""

    ACID = "the six ACID columns"
    PLAIN = "the table's own columns: LOAD DATA, an insert-only table, or a time before the table was transactional"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file with rows or delete events. `bucket` is from its name, `statement_id` from its directory's (else 0)."""

    file: File
    bucket: int
    statement_id: StatementId
    kind: FileKind
    flush_length_file: str | None = None
    """Path of the side file that says how many of its bytes are committed (streaming)."""


def is_visible(path: str) -> bool:
    """Whether no part of the path is hidden."""
    return not any(map(is_hidden, path.split("/")))


def directory_files(
    name: str, parsed: Base | Delta, files: Sequence[File], *, insert_only: bool
) -> tuple[DataFile, ...]:
    """The data files among the visible files of an ACID directory, by path. Raises MALFORMED_LAYOUT."""
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
    if not insert_only:
        _check_side_files(found, side_files)
    return tuple(found)


def original_files(files: Iterable[File], *, insert_only: bool) -> tuple[DataFile, ...]:
    """The data files among visible files outside ACID directories, in the order their row IDs count on.

    That order is the paths' as text, `000000_0_copy_10` before `000000_0_copy_2` (AcidUtils.getAcidState, last
    step). A file of no bytes has no rows: Hive makes them for empty buckets. Raises MALFORMED_LAYOUT.
    """
    return tuple(
        _insert_only_file(file, StatementId(0)) if insert_only else _original_file(file)
        for file in sorted(files, key=_path)
        if file.length > 0
    )


def flushed_length(path: str, content: bytes) -> int:
    """The bytes of a data file that a streaming client has committed, from its side file: the last of its numbers.

    The numbers are 8 bytes each, big-endian; a transaction writes one before it commits, so a last one that is torn is
    of a transaction that has not (OrcAcidUtils.getLastFlushLength). Raises MALFORMED_LAYOUT where there is none, as
    AcidUtils.getLogicalLength: reading the file as it is would show what is not committed, or miss what is.
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
    """Path of the bucket file that a side file belongs to; None where `path` is no side file."""
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
            # Hive 4.0.1 reads a delta of files named part-00000-..orc as empty, silently (hive-acid-v2.md).
            raise _malformed(file.path, "a data file is named bucket_B, bucket_B_A, B_A or B_A_copy_C")
        case _:
            assert_never(parsed)


def _insert_only_file(file: File, statement_id: StatementId) -> DataFile:
    """Other engines write insert-only tables under names of their own; rows there have no bucket property."""
    parsed = parse_bucket_file(_split(file.path)[1])
    bucket = parsed.bucket if isinstance(parsed, Original) else 0
    return DataFile(file, bucket, statement_id, FileKind.PLAIN)


def _original_file(file: File) -> DataFile:
    """Hive's conversion to a transactional table refuses other names (TransactionalValidationListener)."""
    parsed = parse_bucket_file(_split(file.path)[1])
    if not isinstance(parsed, Original):
        raise _malformed(file.path, "a file outside of base and delta directories is named B_A or B_A_copy_C")
    return DataFile(file, parsed.bucket, StatementId(0), FileKind.PLAIN)


def _check_nesting(name: str, found: Iterable[DataFile], *, is_delete: bool) -> None:
    """Directories inside are passed through (UNION ALL makes them), but never from rows to delete events."""
    for data in found:
        for part in data.file.path.removeprefix(f"{name}/").split("/")[:-1]:
            inner = parse_directory(part)
            if inner is not None and is_delete != (isinstance(inner, Delta) and inner.is_delete):
                raise _malformed(data.file.path, "rows and delete events lie in directories of their own")


def _check_buckets(found: Iterable[DataFile]) -> None:
    """One bucket, one file: of two attempts nothing here says which one counts."""
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


def _check_side_files(found: Iterable[DataFile], side_files: dict[str, File]) -> None:
    paths = {data.file.path for data in found}
    for bucket_file, side in side_files.items():
        if bucket_file not in paths:
            raise _malformed(side.path, f"it is the length of {bucket_file}, which is not there")


def _malformed(path: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=reason)
