"""The rows of single files, read by pyarrow without Spark.

Values are those in the file: pyarrow does not convert dates before 1582-10-15, which Hive stores in the Julian
calendar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from acidsql.acid.table import Table
from acidsql.acid.text_format import footer_lines, header_lines, text_format
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.footer_cache import read_file_tail

_NOT_SHOWN = (pa.ArrowException, OverflowError, ValueError)


def count_rows(table: Table, files: FileSystem, path: str, length: int) -> int:
    """Rows or events in the first `length` bytes of a file. Raises MALFORMED_LAYOUT for one that is no ORC file."""
    if length == 0:
        return 0
    match table.file_format:
        case "orc":
            return read_file_tail(files, path, length).rows
        case "parquet":
            from pyarrow import parquet

            return int(parquet.ParquetFile(pa.BufferReader(files.read(path))).metadata.num_rows)
        case _:
            return max(0, len(files.read(path).splitlines()) - header_lines(table) - footer_lines(table))


def stored_rows(table: Table, files: FileSystem, path: str, length: int) -> Iterator[Sequence[object]]:
    """The top-level values of each row in the first `length` bytes of a file; structs are mappings."""
    content = files.read_end(path, length, length)
    match table.file_format:
        case "orc" if length:
            yield from _orc_rows(content)
        case "parquet" if length:
            from pyarrow import parquet

            for batch in parquet.ParquetFile(pa.BufferReader(content)).iter_batches():
                yield from _batch_rows(batch)
        case "orc" | "parquet":
            return
        case _:
            lines = content.decode(errors="replace").splitlines()
            lines = lines[header_lines(table) : max(0, len(lines) - footer_lines(table))]
            if table.serde is not None:
                yield from ([line] for line in lines)
                return
            form = text_format(table.row_format)
            texts = (line.split(form.separators[0]) for line in lines)
            yield from ([None if field == form.null else field for field in fields] for fields in texts)


def _batch_rows(batch: Any) -> list[Sequence[object]]:
    """Rows of Parquet; a column with a value that Python cannot hold, such as a date before its first, is not shown."""
    try:
        return _values(batch)
    except _NOT_SHOWN:
        return list(zip(*(_shown(batch.select([name])) for name in batch.schema.names), strict=True))


def _shown(column: Any) -> list[object]:
    try:
        return [row[0] for row in _values(column)]
    except _NOT_SHOWN as error:
        return [f"(cannot be shown: {error})"] * column.num_rows


def _orc_rows(content: bytes) -> Iterator[Sequence[object]]:
    from pyarrow import orc

    file = orc.ORCFile(pa.BufferReader(content))
    for stripe in range(file.nstripes):
        try:
            rows = _values(file.read_stripe(stripe))
        except _NOT_SHOWN:
            rows = _column_by_column(file, stripe)
        yield from rows


def _column_by_column(file: Any, stripe: int) -> list[Sequence[object]]:
    """The rows of a stripe with a value that pyarrow or Python cannot hold, such as a timestamp after 2262."""
    count = file.read_stripe(stripe, [file.schema.names[0]]).num_rows
    columns = [_column(file, stripe, field, count) for field in file.schema]
    return list(zip(*columns, strict=True))


def _column(file: Any, stripe: int, field: Any, count: int) -> list[object]:
    if not pa.types.is_struct(field.type):
        return _one_column(file, stripe, field.name, count)
    parts = {f.name: _one_column(file, stripe, f"{field.name}.{f.name}", count) for f in field.type}
    return [{name: _inside(values[row], name) for name, values in parts.items()} for row in range(count)]


def _inside(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else value


def _one_column(file: Any, stripe: int, name: str, count: int) -> list[object]:
    try:
        return [row[0] for row in _values(file.read_stripe(stripe, [name]))]
    except _NOT_SHOWN as error:
        return [f"(cannot be shown: {error})"] * count


def _values(batch: Any) -> list[Sequence[object]]:
    fields = [pa.field(f.name, _in_microseconds(f.type)) for f in batch.schema]
    columns = [column.cast(f.type, safe=False).to_pylist() for column, f in zip(batch.columns, fields, strict=True)]
    return list(zip(*columns, strict=True))


def _in_microseconds(kind: Any) -> Any:
    """The type with its timestamps in microseconds: Python has no shorter ones."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _in_microseconds(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(_in_microseconds(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_in_microseconds(kind.key_type), _in_microseconds(kind.item_type))
    return kind
