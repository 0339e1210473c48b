"""The time zone and the calendar of the times in a Parquet file, from its footer.

Hive and Spark write TIMESTAMP as an instant (INT96), the wall-clock time in some zone. Hive 4 names the zone in
`writer.time.zone`. Spark and other writers do not name it, and UTC is assumed. Dates count in the hybrid Julian
calendar, unless Spark's metadata or Hive's `writer.date.proleptic` says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.file_systems import FileSystem, SizedFile

UTC: Final = "UTC"
_ZONE: Final = b"writer.time.zone"
_PROLEPTIC: Final = b"writer.date.proleptic"
_TAIL: Final = 8
"""Bytes at the end of a file: the footer's length and PAR1."""


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """`zone` is the time zone of the wall-clock times in INT96; `calendar` is the mode of Spark for dates and other
    timestamps."""

    zone: str = UTC
    calendar: str = "LEGACY"

    @property
    def reader_options(self) -> dict[str, str]:
        """Options of Spark's reader. It ignores them for files that Spark itself wrote."""
        return {"datetimeRebaseMode": self.calendar, "int96RebaseMode": "LEGACY"}


IN_UTC: Final = WrittenTimes()


def has_times(table: Table) -> bool:
    """Whether a column holds dates or timestamps, at any depth."""
    return any(word in c.type for c in table.columns for word in ("date", "timestamp"))


def written_times(files: FileSystem, file: SizedFile) -> WrittenTimes:
    """Reads the footer of a Parquet file. Raises MALFORMED_LAYOUT for any other file."""
    import pyarrow as pa
    from pyarrow import parquet

    end = files.read_end(file.path, file.size, _TAIL)
    length = int.from_bytes(end[:4], "little") + _TAIL
    if end[4:] != b"PAR1" or length > file.size:
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=file.path, reason="it is not a Parquet file")
    footer = parquet.read_metadata(pa.BufferReader(files.read_end(file.path, file.size, length)))
    metadata = footer.metadata or {}
    columns = [footer.schema.column(i) for i in range(len(footer.schema))]
    has_instants = any(c.physical_type == "INT96" for c in columns)
    kinds = {c.logical_type.type for c in columns}
    return WrittenTimes(
        metadata.get(_ZONE, b"UTC").decode() if has_instants else UTC,
        _calendar(kinds, proleptic_dates=metadata.get(_PROLEPTIC) == b"true"),
    )


def _calendar(kinds: Collection[str], *, proleptic_dates: bool) -> str:
    """The calendar mode of Spark. Timestamps that Hive writes as INT64 (hive.parquet.write.int64.timestamp) are
    proleptic, while dates beside them are Julian. Spark has one mode for both, or refuses values that would differ."""
    if proleptic_dates or "DATE" not in kinds:
        return "CORRECTED"
    return "EXCEPTION" if "TIMESTAMP" in kinds else "LEGACY"
