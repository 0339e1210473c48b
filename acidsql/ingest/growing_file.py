"""The file of a bucket in the delta of a transaction batch, with the side file that tells how much of it is committed.

The side file is made before the data file, and removed after the data file has got its last end, so that no reader
takes a file without an end for a finished one. Each of its numbers is a length at which the file has an end
(OrcAcidUtils.getLastFlushLength).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa

from acidsql.acid.directories import side_file
from acidsql.acid.layout import bucket_name
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.ingest.striped_file import StripedFile

_NUMBER_BYTES: Final = 8


class GrowingFile:
    """`bucket_B` and `bucket_B_flush_length` in a directory."""

    def __init__(self, table: Table, directory: str, bucket: int) -> None:
        name = bucket_name(bucket)
        self._side_file = Path(f"{directory}/{side_file(name)}")
        # Readers must not find a side file without a number.
        hidden = Path(f"{directory}/.{side_file(name)}")
        hidden.write_bytes(_number(0))
        hidden.rename(self._side_file)
        self._file = StripedFile(table, f"{directory}/{name}", bucket)

    @property
    def is_new(self) -> bool:
        """Whether nothing was flushed yet."""
        return self._file.length == 0

    @property
    def is_flushed(self) -> bool:
        return self._file.is_ended and not self.is_new

    def append(self, write_id: WriteId, rows: pa.Table) -> None:
        self._file.add(write_id, rows)

    def flush(self) -> None:
        if not self._file.is_ended:
            length = self._file.end()
            with self._side_file.open("ab") as side:
                side.write(_number(length))

    def drop(self) -> None:
        """Takes back what was appended since the last flush. A file that has nothing else is removed.

        A file that is another one now, because the table was dropped and created again, is left alone.
        """
        if not self._file.is_intact():
            return
        if self.is_new:
            # Readers ignore a side file alone, and take a data file alone for a finished one.
            self._file.remove()
            self._side_file.unlink(missing_ok=True)
        elif not self._file.is_ended:
            self._file.cut()

    def is_intact(self) -> bool:
        return self._file.is_intact() and self._side_file.exists()

    def close(self) -> None:
        """Takes back what was not flushed. The file then ends where its last flush ended, and needs no side file. Where
        it does not end there, the side file stays, and readers read the file up to there."""
        self.drop()
        if self._file.is_cut:
            self._side_file.unlink(missing_ok=True)


def _number(length: int) -> bytes:
    return length.to_bytes(_NUMBER_BYTES, "big")
