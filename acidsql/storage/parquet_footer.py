"""The time zone and the calendar of the times in a Parquet file, from its footer.

Hive and Spark write TIMESTAMP as an instant (INT96): the wall-clock time as it was in a zone, which Hive 4 names in
`writer.time.zone`; Spark and others in no way, and those here are of UTC. Dates count in the hybrid Julian calendar
where neither Spark's metadata nor Hive's `writer.date.proleptic` says otherwise.
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
"""Bytes at the end: the footer's length, PAR1."""


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """`zone`: whose wall-clock times the instants are; `calendar`: that of dates, and of timestamps that are none."""

    zone: str = UTC
    calendar: str = "LEGACY"

    @property
    def reader_options(self) -> dict[str, str]:
        """Of Spark's reader; for files that Spark itself wrote it knows better."""
        return {"datetimeRebaseMode": self.calendar, "int96RebaseMode": "LEGACY"}


IN_UTC: Final = WrittenTimes()


def has_times(table: Table) -> bool:
    """Whether a column has a date or a timestamp in it."""
    return any(word in c.type for c in table.columns for word in ("date", "timestamp"))


def written_times(files: FileSystem, file: SizedFile) -> WrittenTimes:
    """Raises MALFORMED_LAYOUT for what is no Parquet file."""
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
    """Hive's numbers for timestamps (hive.parquet.write.int64.timestamp) are proleptic and of no zone, beside dates
    that are not; Spark can do only one for both, or refuse a value that would differ."""
    if proleptic_dates or "DATE" not in kinds:
        return "CORRECTED"
    return "EXCEPTION" if "TIMESTAMP" in kinds else "LEGACY"
