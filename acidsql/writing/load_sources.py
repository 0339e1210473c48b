"""The source files of LOAD DATA: finds them, checks them against the table, and gives them their names in it."""

from __future__ import annotations

import bz2
import glob
import gzip
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Final
from urllib.parse import urlparse

from acidsql.acid.directories import Original, is_hidden, parse_bucket_file, parse_directory
from acidsql.acid.hive_types import Char, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.layout import original_name
from acidsql.acid.row_id import MAX_BUCKET
from acidsql.acid.schema_evolution import is_widening
from acidsql.acid.storage_classes import STORAGE_CLASSES
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import LoadData
from acidsql.storage.file_systems import FilesOf, FileSystem, is_local
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.orc.column_types import hive_columns

_GLOB: Final = frozenset("*?[")
_CHUNK: Final = 1 << 20
_TEXT: Final = STORAGE_CLASSES["textfile"]


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file to load: its path, its name in the table's directory, and its number of rows."""

    path: str
    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that a LOAD DATA statement names, with their file system."""

    files: FileSystem
    loaded: tuple[LoadedFile, ...]


def find_sources(files_of: FilesOf, statement: LoadData, table: Table, open_columns: int = 0) -> Sources:
    """Finds and checks the files below the path. The last `open_columns` columns of `table` are partition columns that
    the PARTITION clause leaves open.

    Raises INVALID_PATH, ILLEGAL_PATH, LOAD_ACID_FILE, LOAD_FORMAT, LIMIT_EXCEEDED, NOT_YET_SUPPORTED, and
    PARTITION_REQUIRED for an ORC file without a column for them.
    """
    span = path_span(statement)
    location = _location(statement, table, span)
    files = files_of(location)
    paths = _visible_files(files, files.resolve(location), statement, span)
    names = _names(table, paths, span)
    checks = _Checks(files, table, statement, span, open_columns)
    return Sources(files, tuple(LoadedFile(p, n, checks.rows(p)) for p, n in zip(paths, names, strict=True)))


def path_span(statement: LoadData) -> Span | None:
    start = statement.source.find(statement.path)
    return Span(statement.source, start, start + len(statement.path)) if start >= 0 else None


# ------------------------------------------------------------------------------------------------ finding


def _location(statement: LoadData, table: Table, span: Span | None) -> str:
    """The location of the path: an absolute path on this machine, or, without a scheme, on the table's file system."""
    path = statement.path.rstrip("/") or "/"
    scheme = urlparse(path).scheme
    if statement.local:
        if not is_local(path):
            reason = 'Source file system should be "file" if "local" is specified'
            raise AcidSqlError(Condition.ILLEGAL_PATH, span=span, path=path, reason=reason)
        return path if scheme else os.path.abspath(path)
    target = urlparse(table.location)
    if not scheme and not is_local(table.location):
        return f"{target.scheme}://{target.netloc}{path}"
    if is_local(path) != is_local(table.location) or (not is_local(path) and urlparse(path).netloc != target.netloc):
        reason = f"a move from there to {table.location} is not valid"
        hint = "Use LOAD DATA LOCAL INPATH for files of this machine."
        raise AcidSqlError(Condition.ILLEGAL_PATH, span=span, path=path, reason=reason, hint=hint)
    return os.path.abspath(path) if not scheme else path


def _visible_files(files: FileSystem, path: str, statement: LoadData, span: Span | None) -> list[str]:
    found = [f for one in _matching(files, path) for f in _files_at(files, one, span)]
    if not found:
        reason = f"No files matching path {path}"
        raise AcidSqlError(Condition.INVALID_PATH, span=span, path=statement.path, reason=reason)
    return found


def _matching(files: FileSystem, path: str) -> list[str]:
    """The paths that match. A pattern works for local files only; a path that exists is no pattern."""
    if not _GLOB & set(path) or files.exists(path):
        return [path]
    if not is_local(path):
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED, feature="A pattern in the path of LOAD DATA outside this machine"
        )
    return sorted(glob.glob(path))


def _files_at(files: FileSystem, path: str, span: Span | None) -> list[str]:
    if files.file_size(path) is not None:
        return [] if is_hidden(path.rpartition("/")[2]) else [path]
    listing = files.list_below(path)
    if listing.directories:
        reason = f"source contains directory: {path}/{listing.directories[0]}"
        raise AcidSqlError(Condition.INVALID_PATH, span=span, path=path, reason=reason)
    return sorted(f"{path}/{f.path}" for f in listing.files if not is_hidden(f.path))


# ------------------------------------------------------------------------------------------------ names


def _names(table: Table, paths: Sequence[str], span: Span | None) -> list[str]:
    """The names of the files in the table. A bucketed table has the bucket's number in them, a full ACID table the
    file's place in the order (Hive.copyFiles, acidRename); in other tables a file keeps its name."""
    if table.bucket_columns:
        return [original_name(b) for b in _buckets(table, paths, span)]
    if table.is_full_acid:
        if len(paths) > MAX_BUCKET + 1:
            raise AcidSqlError(
                Condition.LIMIT_EXCEEDED,
                span=span,
                what="Files of one LOAD DATA",
                value=len(paths),
                limit=MAX_BUCKET + 1,
            )
        return [original_name(number) for number in range(len(paths))]
    return [path.rpartition("/")[2] for path in paths]


def _buckets(table: Table, paths: Sequence[str], span: Span | None) -> list[int]:
    """The buckets that the files' names give. Hive wants one file for each bucket."""
    seen: dict[int, str] = {}
    hint = "Load the files into a table without buckets, and fill this one with INSERT .. SELECT."
    for path in paths:
        parsed = parse_bucket_file(path.rpartition("/")[2])
        if not isinstance(parsed, Original):
            reason = (
                f"The file name is invalid for {table.qualified}, which is bucketed: it must be named as 000000_0 is"
            )
        elif parsed.bucket >= (table.bucket_count or 0):
            reason = (
                f"The file name corresponds to invalid bucketId: {table.qualified} has {table.bucket_count} buckets"
            )
        elif parsed.bucket in seen:
            reason = f"Multiple files for same bucket: {seen[parsed.bucket]} is of bucket {parsed.bucket} too"
        else:
            seen[parsed.bucket] = path
            continue
        raise AcidSqlError(Condition.INVALID_PATH, span=span, path=path, reason=reason, hint=hint)
    return list(seen)


# ------------------------------------------------------------------------------------------------ content


@dataclass(frozen=True, slots=True)
class _Checks:
    files: FileSystem
    table: Table
    statement: LoadData
    span: Span | None
    open_columns: int

    def rows(self, path: str) -> int:
        """The number of rows of a file, after checking that it fits the table. Raises LOAD_FORMAT, LOAD_ACID_FILE."""
        if not self.statement.local and _is_of_a_transaction(path):
            raise AcidSqlError(
                Condition.LOAD_ACID_FILE,
                span=self.span,
                path=path,
                hint="It is a transactional table's: copy the rows with INSERT .. SELECT.",
            )
        match self.table.file_format:
            case "orc":
                return self._orc_rows(path)
            case "parquet":
                return self._parquet_rows(path)
            case "textfile":
                return self._lines(path)
            case other:
                raise AcidSqlError(
                    Condition.NOT_YET_SUPPORTED, span=self.span, feature=f"LOAD DATA into a table stored as {other}"
                )

    def _orc_rows(self, path: str) -> int:
        try:
            tail = read_file_tail(self.files, path, self.files.file_size(path) or 0)
        except AcidSqlError as error:
            raise self._other_format(
                path, error.getMessageParameters().get("reason", "it is not an ORC file")
            ) from error
        if tail.is_acid:
            raise AcidSqlError(
                Condition.LOAD_ACID_FILE, span=self.span, path=path, hint="Copy the rows with INSERT .. SELECT."
            )
        self._check_columns(path, hive_columns(tail))
        return tail.rows

    def _check_columns(self, path: str, found: Sequence[tuple[str, HiveType | None]]) -> None:
        """Compares the columns by position, as they will be read. A name of another column shows that the file
        has them in another order."""
        columns = self.table.columns
        if len(found) > len(columns):
            raise self._refused(path, f"it has {len(found)} columns, and {self.table.qualified} has {len(columns)}")
        if self.open_columns and len(found) <= len(columns) - self.open_columns:
            hint = f"PARTITION ({', '.join(f'{c.name} = ..' for c in columns[-self.open_columns :])})"
            target = self.statement.target.span
            raise AcidSqlError(Condition.PARTITION_REQUIRED, span=target, table=self.table.qualified, hint=hint)
        names = [c.name for c in columns]
        for position, ((name, kind), column) in enumerate(zip(found, columns, strict=False)):
            place = f"its column {position + 1} ({name} {kind or 'uniontype'})"
            if name.lower() in names and names.index(name.lower()) != position:
                raise self._refused(path, f"{place} stands where the table has {column.name}")
            if kind is None or not _is_readable(kind, parse_type(column.type)):
                raise self._refused(path, f"{place} cannot be read as {column.name} {column.type}")

    def _parquet_rows(self, path: str) -> int:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            content = path if is_local(path) else pa.BufferReader(self.files.read(path))
            file = parquet.ParquetFile(content)
        except (pa.ArrowException, OSError) as error:
            raise self._other_format(path, "it is not a Parquet file") from error
        found = {str(name).lower() for name in file.schema_arrow.names}
        if not found & {c.name for c in self.table.columns}:
            shown = ", ".join(sorted(found))
            raise self._refused(path, f"it has none of the table's columns, but {shown}")
        return int(file.metadata.num_rows)

    def _lines(self, path: str) -> int:
        size = self.files.file_size(path) or 0
        if self.files.read_end(path, size, 4) == b"PAR1" or self.files.read_end(path, size, 4)[:3] == b"ORC":
            raise self._other_format(path, "it is a binary file, and the table has lines of text")
        opened = _open_text(path) if is_local(path) else None
        if opened is None:
            return self.files.read(path).count(b"\n")
        lines, last = 0, b"\n"
        with opened as file:
            while chunk := file.read(_CHUNK):
                lines, last = lines + chunk.count(b"\n"), chunk[-1:]
        return lines + (last != b"\n")

    def _refused(self, path: str, reason: str) -> AcidSqlError:
        hint = "Make a table for such files, and copy the rows with INSERT .. SELECT."
        return AcidSqlError(Condition.LOAD_FORMAT, span=self.span, path=path, reason=reason, hint=hint)

    def _other_format(self, path: str, reason: str) -> AcidSqlError:
        hint = (
            "LOAD DATA .. INPUTFORMAT 'class' SERDE 'class' copies the rows of files in another format. Lines of text"
            f" have INPUTFORMAT '{_TEXT.input}' SERDE '{_TEXT.serde}'."
        )
        return AcidSqlError(Condition.LOAD_FORMAT, span=self.span, path=path, reason=reason, hint=hint)


def _open_text(path: str) -> BufferedIOBase:
    """Opens a text file. Readers recognize compressed text by the file's suffix."""
    if path.endswith(".gz"):
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if path.endswith(".bz2") else open(path, "rb")


def _is_readable(found: HiveType, wanted: HiveType) -> bool:
    """Whether a column of the file can be read as the table's. Spark writes CHAR and VARCHAR as STRING."""
    text = isinstance(found, Char | Varchar) or found == Primitive("string")
    return is_widening(found, wanted) or (text and isinstance(wanted, Char | Varchar))


def _is_of_a_transaction(path: str) -> bool:
    """Whether the file lies in a base or delta directory. Moving it away would take rows out of another table."""
    for part in path.split("/")[:-1]:
        with suppress(AcidSqlError):  # a name that only begins like such a directory
            if parse_directory(part) is not None:
                return True
    return False
