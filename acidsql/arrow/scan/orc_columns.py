"""Columns of single stripes of an ORC file, read by pyarrow.

pyarrow selects columns by name. A file with names that it could confuse is read with another footer, in which the
table's columns have numbers as names. A file to which a streaming client still writes is read up to its committed end.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO, Final

import pyarrow as pa

from acidsql.acid.hive_types import HiveType
from acidsql.acid.layout import ACID_FIELDS
from acidsql.arrow.scan.orc_single_rows import is_readable, single_rows
from acidsql.arrow.scan.stored_arrays import Calendar
from acidsql.arrow.scan.stripe_fetching import StripeFetcher
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.file_identity import same_file
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.column_types import row_types
from acidsql.storage.orc.footer_messages import KIND_TIMESTAMP, KIND_TIMESTAMP_INSTANT, orc_type
from acidsql.storage.orc.rewrite import encode_end, with_clear_names
from acidsql.storage.orc.tail import Tail
from acidsql.storage.range_file import RangeFile

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIRST_MILLIS, _LAST_MILLIS = -9_223_372_036_855 + 86_400_000, 9_223_372_036_854 - 86_400_000
"""The times that nanoseconds of 64 bits since 1970 reach, less a day for time zones."""
_READ_ERRORS: Final = (pa.ArrowException, *FILE_ERRORS)
WAY_OUT: Final = "session.sql(..) reads the table with Spark."


class _FileStart(io.RawIOBase):
    """The first bytes of a file with another end."""

    def __init__(self, file: BinaryIO, count: int, end: bytes) -> None:
        self._file = file
        self._count = count
        self._end = end
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._count + len(self._end)}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        whole = self._count + len(self._end)
        last = whole if size < 0 else min(whole, self._at + size)
        start = b""
        if self._at < self._count:
            self._file.seek(self._at)
            start = self._file.read(min(last, self._count) - self._at)
        end = self._end[max(self._at - self._count, 0) : max(last - self._count, 0)]
        self._at = last
        return start + end

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass(frozen=True)
class OrcFile:
    """An ORC file of a scan, whose columns are named by their positions in the file."""

    files: FileSystem
    source: SourceFile

    @property
    def tail(self) -> Tail:
        assert self.source.tail is not None
        return self.source.tail

    @property
    def calendar(self) -> Calendar:
        """pyarrow's times begin in 1677, so that no calendar matters to them."""
        return Calendar(hybrid_dates=not self.tail.is_proleptic)

    @cached_property
    def types(self) -> tuple[HiveType | None, ...]:
        """The types of the table's columns in the file. None is a type that tables of acidsql cannot have."""
        return row_types(self.tail)

    def stripe_starts(self) -> Iterator[tuple[int, int, int]]:
        """The number, the first row and the rows of each stripe."""
        first = 0
        for number, rows in enumerate(self.tail.stripe_rows):
            yield number, first, rows
            first += rows

    def read(self, stripe: int, acid: Sequence[int], positions: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """ACID columns, by their places in ACID_FIELDS, and columns of the table of a stripe. Raises MALFORMED_LAYOUT,
        NOT_YET_SUPPORTED."""
        names = [self.tail.top_level_names[i] for i in acid]
        columns = [self._names[i] for i in positions]
        owner = self.tail.top_level_names[-1] if self.tail.is_acid else None
        wanted = names + [f"{owner}.{name}" if owner else name for name in columns]
        if not wanted:
            return [], []
        opened = self._opened
        self.fetch(stripe, acid, positions)
        with self._checked_read():
            batch = opened.read_stripe(stripe, columns=wanted)
        rows = batch.column(owner) if owner and columns else None
        found = [batch.column(name) if rows is None else _inside(rows, name) for name in columns]
        return [batch.column(name) for name in names], found

    def read_rows(self, numbers: Sequence[int], acid: Sequence[int], positions: Sequence[int]) -> list[Any] | None:
        """ACID columns and columns of the table, in ascending order, of single rows by their numbers in the file. None
        if only whole stripes can be read."""
        if not self._is_plain:
            return None
        owner = self.tail.top_level_names[-1] if self.tail.is_acid else None
        schema = self._opened.schema
        of_table = schema if owner is None else schema.field(owner).type
        inside = [self._names[i] for i in positions]
        ids = [self.tail.top_level_names[i] for i in acid]
        names = ids + [f"{owner}.{name}" if owner else name for name in inside]
        kinds = [schema.field(name).type for name in ids] + [of_table.field(name).type for name in inside]
        if not names:
            return []
        if not all(map(is_readable, kinds)):
            return None
        with same_file(self.files, self.source.sized):
            return single_rows(self.source.path, numbers, names, kinds)

    @contextmanager
    def _checked_read(self) -> Iterator[None]:
        """Raises FILE_REPLACED if another file lies at the path, and the errors of the reader as those of acidsql."""
        try:
            with same_file(self.files, self.source.sized, *_READ_ERRORS, only_errors=self.files.reads_opened):
                yield
        except (pa.ArrowException, OSError) as error:
            raise _failure(error, self.source.origin) from error

    def check_times(self, positions: Sequence[int]) -> None:
        """Raises NOT_YET_SUPPORTED if a column has times that pyarrow cannot represent, by the file's statistics."""
        types = [orc_type(m) for m in self.tail.type_messages]
        waiting = [self.tail.row_columns[i] for i in positions]
        for number in waiting:
            waiting += types[number].subtypes
            if types[number].kind in (KIND_TIMESTAMP, KIND_TIMESTAMP_INSTANT):
                found = self.tail.time_range(number)
                if found is not None and not _FIRST_MILLIS <= found[0] <= found[1] <= _LAST_MILLIS:
                    raise _out_of_range(self.source.origin)

    @cached_property
    def _has_plain_names(self) -> bool:
        names = self.tail.written_names
        return all(map(_PLAIN_NAME.fullmatch, names)) and len(set(names)) == len(names)

    @property
    def _names(self) -> Sequence[str]:
        names = self.tail.written_names
        return names if self._has_plain_names else [f"c{i}" for i in range(len(names))]

    @cached_property
    def _opened(self) -> Any:
        from pyarrow import orc

        try:
            is_checked = self.files.reads_opened and self._ranges is not None
            with same_file(self.files, self.source.sized, *_READ_ERRORS, only_errors=is_checked):
                return orc.ORCFile(self._content())
        except (pa.ArrowException, OSError) as error:
            raise _failure(error, self.source.origin) from error

    @cached_property
    def _is_plain(self) -> bool:
        """Whether other programs read the file as it is: on a local disk, with plain names, and at its end."""
        is_here = self._has_plain_names and isinstance(self.files, LocalFiles)
        return is_here and self.files.file_size(self.source.path) == self.tail.size

    @cached_property
    def _ranges(self) -> BinaryIO | None:
        """The file, opened for single ranges; None where pyarrow or pyorc opens it."""
        return None if isinstance(self.files, LocalFiles) else self.files.open_listed(self.source.sized)

    def _content(self) -> Any:
        path, tail = self.source.path, self.tail
        if self._is_plain:
            return pa.OSFile(path)
        if not self._has_plain_names:
            end = encode_end(with_clear_names(tail, self._names))
        elif isinstance(self._ranges, RangeFile):
            return pa.PythonFile(self._ranges, mode="r")
        else:
            end = self.files.read_end(path, tail.size, tail.size - tail.footer_start)
        opened = self.files.open(path) if self._ranges is None else self._ranges
        return pa.PythonFile(_FileStart(opened, tail.footer_start, end), mode="r")

    @cached_property
    def _fetcher(self) -> StripeFetcher | None:
        """What fetches columns before pyarrow asks for them; None where each piece of the file is at hand."""
        return StripeFetcher(self._ranges, self.tail) if isinstance(self._ranges, RangeFile) else None

    def fetch_ahead(self, stripe: int, acid: Sequence[int], positions: Sequence[int]) -> None:
        """Begins to fetch columns that will be read; an error comes when they are."""
        try:
            fetcher = self._fetcher
        except OSError:
            return
        if fetcher is not None:
            fetcher.fetch_ahead(stripe, acid, positions)

    def fetch(self, stripe: int, acid: Sequence[int], positions: Sequence[int]) -> None:
        """Fetches columns that will be read one behind the other. Raises what `read` raises."""
        fetcher = self._fetcher
        if fetcher is not None:
            with self._checked_read():
                fetcher.fetch(stripe, acid, positions)


def acid_columns(*names: str) -> list[int]:
    """The places of ACID columns."""
    return [ACID_FIELDS.index(name) for name in names]


def _inside(rows: Any, name: str) -> Any:
    """A column of the structs of `row`."""
    return rows.field(rows.type.get_field_index(name))


def _failure(error: Exception, path: str) -> Exception:
    """An error about the content of a file as one of acidsql. One of its file system names the path, and stays."""
    return error if isinstance(error, OSError) and error.filename is not None else unreadable(error, path)


def unreadable(error: Exception, path: str) -> AcidSqlError:
    """An error of pyarrow about the content of a file, as one of acidsql."""
    if "out of range for nanosecond" in str(error):
        return _out_of_range(path)
    if isinstance(error, NotImplementedError):
        return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"Reading {path} without Spark", hint=WAY_OUT)
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=f"it cannot be read: {error}")


def _out_of_range(path: str) -> AcidSqlError:
    feature = f"Reading a time before 1677-09-22 or after 2262-04-10 without Spark ({path})"
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=WAY_OUT)
