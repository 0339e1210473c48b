"""The ORC file of a bucket in the delta of one transaction."""

from __future__ import annotations

import pyarrow as pa

from acidsql.acid.layout import bucket_name, original_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.ingest.striped_file import StripedFile
from acidsql.ingest.unpublished_file import UnpublishedFile
from acidsql.storage.file_systems import FileSystem


class WholeOrcFile:
    """`bucket_B`, or `B_0` in an insert-only table. It is hidden before its first flush.

    A further flush makes the file longer, or replaces it on another file system than this machine's. No reader is
    concerned, as the transaction has not committed.
    """

    def __init__(self, table: Table, files: FileSystem, directory: str, bucket: int) -> None:
        name = original_name(bucket) if table.is_insert_only else bucket_name(bucket)
        self._place = UnpublishedFile(files, f"{directory}/{name}")
        self._file = StripedFile(table, self._place.written, bucket)

    @property
    def is_new(self) -> bool:
        return not self._place.is_published

    @property
    def is_flushed(self) -> bool:
        return self._file.is_ended and not self.is_new

    def append(self, write_id: WriteId, rows: pa.Table) -> None:
        self._file.add(write_id, rows)

    def flush(self) -> None:
        if not self._file.is_ended or self.is_new:
            self._file.end()
            self._place.publish()
            self._file.path = self._place.written

    def drop(self) -> None:
        if not self._file.is_ended and self._file.is_intact():
            self._file.cut()

    def is_intact(self) -> bool:
        return self._place.is_intact() and self._file.is_intact()

    def close(self) -> None:
        if not self.is_new:
            self.drop()
        self._place.close()
