"""Columns of a Parquet file, read by pyarrow in batches. Columns are found by name, as Spark finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from acidsql.arrow.scan.stored_arrays import Calendar
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.storage.file_identity import require_same, same_file
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.local_files import LocalFiles

_READ_ERRORS: Final = (pa.ArrowException, *FILE_ERRORS)
_SPARK: Final = b"org.apache.spark.version"
_LEGACY_DATES: Final = b"org.apache.spark.legacyDateTime"
_LEGACY_INT96: Final = b"org.apache.spark.legacyINT96"


def parquet_batches(
    files: FileSystem, source: SourceFile, names: Sequence[str], batch_rows: int
) -> Iterator[tuple[int, list[Any | None], Calendar]]:
    """For each batch its rows, the columns of these names (None for those that the file lacks), and the file's
    calendar. Raises MALFORMED_LAYOUT, FILE_REPLACED."""
    from pyarrow import parquet

    is_local = isinstance(files, LocalFiles)
    try:
        with same_file(files, source.sized, *_READ_ERRORS, only_errors=files.reads_opened and not is_local):
            content = pa.OSFile(source.path) if is_local else files.open_listed(source.sized)
            file = parquet.ParquetFile(content, coerce_int96_timestamp_unit="us")
        calendar = _calendar(file.metadata.metadata or {}, source)
        known = {name.lower(): name for name in reversed(file.schema_arrow.names)}
        wanted = [known.get(name) for name in names]
        present = list(dict.fromkeys(name for name in wanted if name is not None))
        for batch in file.iter_batches(batch_size=batch_rows, columns=present):
            if not files.reads_opened:
                require_same(files, source.sized)
            columns = [None if name is None else batch.column(name) for name in wanted]
            yield batch.num_rows, columns, calendar
    except (pa.ArrowException, OSError) as error:
        if not is_local:
            require_same(files, source.sized)
        reason = f"it cannot be read: {error}"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=source.path, reason=reason) from error


def _calendar(metadata: dict[bytes, bytes], source: SourceFile) -> Calendar:
    if _SPARK in metadata:
        return Calendar(_LEGACY_DATES in metadata, _LEGACY_INT96 in metadata, source.times.zone)
    return Calendar(source.times.calendar != "CORRECTED", True, source.times.zone)
