"""An ORC file of a table on this machine, which grows stripe by stripe."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from acidsql.acid.row_id import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.file_identity import file_identity
from acidsql.ingest.orc_parts import Part, event_part, plain_part
from acidsql.storage.orc.commit_notes import commit_note
from acidsql.storage.orc.orc_footers import Key, insert_keys, user_metadata
from acidsql.storage.orc.rewrite import encode_second_end, with_user_metadata
from acidsql.storage.orc.stripe_appending import HEADER, first_stripes, with_stripes
from acidsql.storage.orc.tail import Tail


@dataclass(frozen=True, slots=True)
class _Content:
    """What the first `size` bytes of the file hold, behind which it has an end of `end` bytes. The next row of
    `write_id` has the row ID `next_row`."""

    size: int = 0
    end: int = 0
    tail: Tail | None = None
    keys: tuple[Key, ...] = ()
    write_id: WriteId | None = None
    next_row: int = 0


class StripedFile:
    """Rows of one bucket. Behind the rows of each `add` the file has an end, which the next one replaces, and which
    `end` makes lasting. Hive looks for the end of the whole file even if it reads only a first part of it
    (VectorizedOrcAcidRowBatchReader.findMinMaxKeys)."""

    def __init__(self, table: Table, path: str, bucket: int) -> None:
        """Makes the file, which must not exist."""
        self.path = path
        """Where the file is. Its owner changes this when it moves the file."""
        self._table = table
        self._bucket_property = encode_bucket(bucket, 0)
        self._content = self._ended = _Content()
        with open(path, "xb") as file:
            self._identity = file_identity(file.fileno())

    @property
    def length(self) -> int:
        """Bytes up to the last lasting end; 0 before the first."""
        return self._ended.size

    @property
    def is_ended(self) -> bool:
        """Whether all rows are before the last lasting end."""
        return self._content is self._ended

    def add(self, write_id: WriteId, rows: pa.Table) -> None:
        """Adds rows of a transaction; write IDs ascend. The rows are those of `storable`."""
        content = self._content
        first_row = content.next_row if content.write_id == write_id else 0
        part = self._part(write_id, rows, first_row)
        at = max(content.size, len(HEADER))
        tail = first_stripes(part.tail) if content.tail is None else content.tail
        tail = with_stripes(replace(tail, path=self.path), part.tail, at, len(part.stripes))
        keys = content.keys + tuple(self._keys(write_id, part))
        end = self._end(tail, keys)
        self._content = replace(content)  # a write that fails may leave bytes behind the end, which `cut` takes back
        self._write(content.size, (HEADER if content.size == 0 else b"") + part.stripes + end)
        self._content = _Content(at + len(part.stripes), len(end), tail, keys, write_id, first_row + rows.num_rows)

    def end(self) -> int:
        """Makes the end lasting: readers who know the length that this returns can read the file up to there, also
        after more rows were added."""
        content = self._content
        if not self.is_ended:
            self._content = self._ended = replace(content, size=content.size + content.end, end=0)
        return self.length

    def cut(self) -> None:
        """Takes back all rows behind the last lasting end."""
        with open(self.path, "r+b") as file:
            self._check(file)
            file.truncate(self._ended.size)
        self._content = self._ended

    @property
    def is_cut(self) -> bool:
        """Whether the file at its path has nothing behind the last lasting end."""
        return self.is_intact() and os.path.getsize(self.path) == self.length

    def is_intact(self) -> bool:
        """Whether the file is still the one at its path."""
        try:
            size, identity = os.path.getsize(self.path), file_identity(self.path)
        except OSError:
            return False
        return identity == self._identity and size >= self._content.size

    def remove(self) -> None:
        Path(self.path).unlink(missing_ok=True)

    def _part(self, write_id: WriteId, rows: pa.Table, first_row: int) -> Part:
        if self._table.is_full_acid:
            return event_part(self._table, rows, write_id, self._bucket_property, first_row)
        return plain_part(self._table, rows)

    def _end(self, tail: Tail, keys: tuple[Key, ...]) -> bytes:
        if self._table.is_full_acid:
            metadata = user_metadata(tail.rows, keys, is_delete=False)
            tail = with_user_metadata(tail, {**metadata, **commit_note("STREAM")})
        return encode_second_end(tail)

    def _keys(self, write_id: WriteId, part: Part) -> list[Key]:
        if not self._table.is_full_acid:
            return []
        keys = insert_keys(write_id, self._bucket_property, part.tail)
        assert keys is not None, "pyarrow writes statistics of each stripe"
        return keys

    def _write(self, at: int, data: bytes) -> None:
        """Writes at the offset, and removes what an unfinished write left behind it."""
        with open(self.path, "r+b") as file:
            self._check(file)
            file.truncate(at)
            file.seek(at)
            file.write(data)

    def _check(self, file: BinaryIO) -> None:
        if file_identity(file.fileno()) != self._identity:
            reason = "it is another file than the one that the stream has begun"
            raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=self.path, reason=reason)
