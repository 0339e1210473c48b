"""The ORC file of a bucket in the delta of one transaction. It is hidden until its first flush."""

from __future__ import annotations

import tempfile

import pyarrow as pa

from acidsql.acid.layout import bucket_name, original_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.ingest.striped_file import StripedFile
from acidsql.storage.file_systems import FileSystem, LocalFiles


class WholeOrcFile:
    """`bucket_B`, or `B_0` in an insert-only table.

    A flush after the first one makes the file longer, or, on another file system than this machine's, replaces it. No
    reader is concerned: the transaction has not committed.
    """

    def __init__(self, table: Table, files: FileSystem, directory: str, bucket: int) -> None:
        name = original_name(bucket) if table.is_insert_only else bucket_name(bucket)
        self._files = files
        self._path = f"{directory}/{name}"
        self._hidden = f"{directory}/.{name}"
        self._scratch = None if isinstance(files, LocalFiles) else tempfile.TemporaryDirectory(prefix="acidsql-write-")
        self._file = StripedFile(
            table, self._hidden if self._scratch is None else f"{self._scratch.name}/{name}", bucket
        )

    @property
    def is_new(self) -> bool:
        return self._file.length == 0

    def append(self, write_id: WriteId, rows: pa.Table) -> None:
        self._file.add(write_id, rows)

    def flush(self) -> None:
        if self._file.is_ended:
            return
        was_new = self.is_new
        self._file.end()
        if self._scratch is not None:
            self._copy(was_new=was_new)
        elif was_new:
            self._file.place(self._files, self._path)

    def _copy(self, *, was_new: bool) -> None:
        self._files.take_local(self._file.path, self._hidden)
        if not was_new:
            self._files.delete(self._path)
        self._files.rename(self._hidden, self._path)

    def drop(self) -> None:
        if self.is_new:
            self._file.remove()
        elif not self._file.is_ended and self._file.is_intact():
            self._file.cut()

    def is_intact(self) -> bool:
        copied = self._scratch is None or self.is_new or self._files.exists(self._path)
        return copied and self._file.is_intact()

    def close(self) -> None:
        self.drop()
        if self._scratch is not None:
            self._scratch.cleanup()
