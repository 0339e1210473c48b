"""The Parquet files of a bucket in the delta of one transaction of an insert-only table."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyarrow import parquet

from acidsql.acid.layout import copy_name, original_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.ingest.unpublished_file import UnpublishedFile
from acidsql.storage.file_systems import FileSystem

_CODEC: Final = "snappy"
"""Spark's default, in which acidsql's statements write."""


class WholeParquetFile:
    """`B_0`, and after its flush `B_0_copy_1` and so on: a Parquet file cannot grow once it has its footer.

    Timestamps are INT96, as Hive and Spark write them for Hive; the values are those of the hybrid calendar.
    """

    def __init__(self, table: Table, files: FileSystem, directory: str, bucket: int) -> None:
        self._files = files
        self._path = f"{directory}/{original_name(bucket)}"
        self._flushed: list[UnpublishedFile] = []
        self._open: tuple[UnpublishedFile, parquet.ParquetWriter] | None = None

    @property
    def is_new(self) -> bool:
        return not self._flushed

    @property
    def is_flushed(self) -> bool:
        return self._open is None

    def append(self, write_id: WriteId, rows: pa.Table) -> None:
        if self._open is None:
            file = UnpublishedFile(self._files, copy_name(self._path, len(self._flushed)))
            writer = parquet.ParquetWriter(
                file.written, rows.schema, compression=_CODEC, use_deprecated_int96_timestamps=True
            )
            self._open = file, writer
        self._open[1].write_table(rows)

    def flush(self) -> None:
        if self._open is not None:
            file, writer = self._open
            writer.close()
            file.publish()
            self._flushed.append(file)
            self._open = None

    def drop(self) -> None:
        if self._open is not None:
            (file, writer), self._open = self._open, None
            try:
                writer.close()
            finally:
                file.close()

    def is_intact(self) -> bool:
        files = self._flushed if self._open is None else [*self._flushed, self._open[0]]
        return all(file.is_intact() for file in files)

    def close(self) -> None:
        self.drop()
        for file in self._flushed:
            file.close()
