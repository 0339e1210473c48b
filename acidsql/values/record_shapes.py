"""What clients give as records: dicts, tuples, and tables of Arrow, pandas and others that speak Arrow's C interface.

Whatever the shape, the records become columns: a list of Python values, or an Arrow array, for each name or place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

import pyarrow as pa

from acidsql.errors import AcidSqlError, Condition
from acidsql.values.arrow_tables import check_values, is_of_pandas

ColumnValues: TypeAlias = "Sequence[object] | pa.Array | pa.ChunkedArray"

MISSING: Final = object()
"""Stands in a column of Python values where a record does not have the column."""


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """Columns by name as the records spell it."""

    count: int
    columns: Sequence[tuple[str, ColumnValues]]


@dataclass(frozen=True, slots=True)
class PlacedColumns:
    """Columns by position."""

    count: int
    columns: Sequence[ColumnValues]


Columns: TypeAlias = NamedColumns | PlacedColumns


def columns_of(records: object, wanted: int) -> Columns:
    """The columns of records. Tuples must have `wanted` values.

    Raises INVALID_RECORD for a record of the wrong length, and for what is no record, and what `check_values` raises.
    """
    table = _arrow_table(records)
    if table is not None:
        return NamedColumns(table.num_rows, list(zip(table.column_names, table.columns, strict=True)))
    if is_of_pandas(records):
        return _pandas_columns(records)
    return _python_columns(_listed(records), wanted)


def pieces(records: object, most: int) -> Iterator[object]:
    """The records in pieces of at most `most` rows, each of them records again. An iterator and a reader of Arrow
    batches are read piece by piece, so that no more than one piece is in memory."""
    if isinstance(records, list) and records and _is_record(records[0]):
        yield from (records[start : start + most] for start in range(0, len(records), most))
    elif isinstance(records, Iterator) and not isinstance(records, pa.RecordBatchReader):
        while piece := list(islice(records, most)):
            yield piece
    elif is_of_pandas(records):
        frame: Any = records
        yield from (frame.iloc[start : start + most] for start in range(0, len(frame), most))
    else:
        reader = _arrow_reader(records)
        batches = [records] if reader is None else reader
        for batch in batches:
            is_long = isinstance(batch, pa.RecordBatch) and batch.num_rows > most
            yield from _slices(batch, most) if is_long else [batch]


def _slices(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, most) for start in range(0, batch.num_rows, most))


# ------------------------------------------------------------------------------------------------ tables


def _arrow_reader(records: object) -> pa.RecordBatchReader | None:
    match records:
        case pa.RecordBatchReader():
            return records
        case pa.Table():
            return records.to_reader()
        case pa.RecordBatch():
            return pa.RecordBatchReader.from_batches(records.schema, [records])
        case _ if not is_of_pandas(records) and hasattr(records, "__arrow_c_stream__"):
            check_values(records, "records")
            return pa.RecordBatchReader.from_stream(records)
        case _:
            return None


def _arrow_table(records: object) -> pa.Table | None:
    if isinstance(records, pa.Table):
        return records
    reader = _arrow_reader(records)
    return None if reader is None else reader.read_all()


def _pandas_columns(frame: Any) -> NamedColumns:
    check_values(frame, "records")
    return NamedColumns(
        len(frame), [(name, _pandas_column(frame.iloc[:, place])) for place, name in enumerate(frame.columns)]
    )


def _pandas_column(series: Any) -> ColumnValues:
    """What pandas takes for a missing value (NaN, NaT, NA, None) is None."""
    if series.dtype != object:
        return pa.array(series, from_pandas=True)
    # pyarrow would find types for the values, and for dicts a struct with the keys of them all.
    missing = series.isna()
    return [None if is_missing else value for value, is_missing in zip(series, missing, strict=True)]


# ------------------------------------------------------------------------------------------------ Python's records


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping | tuple | list)


def _listed(records: object) -> Sequence[object]:
    """The records of a list or an iterator. A dict or a tuple is one record, and so is a list of other values."""
    match records:
        case Mapping() | tuple():
            return [records]
        case list():
            return records if not records or _is_record(records[0]) else [records]
        case Iterator():
            return list(records)
        case _:
            hint = "Records are dicts, tuples, lists or iterators of them, Arrow tables and batches, or a pandas frame."
            raise invalid_record(1, f"a {type(records).__name__} is no record", hint)


def _python_columns(records: Sequence[object], wanted: int) -> Columns:
    kinds = set(map(type, records))
    if all(issubclass(kind, Mapping) for kind in kinds):
        return _columns_of_dicts(records)  # type: ignore[arg-type]
    if all(issubclass(kind, tuple | list) for kind in kinds):
        return _columns_of_tuples(records, wanted)  # type: ignore[arg-type]
    first = isinstance(records[0], Mapping)
    number = next(n for n, r in enumerate(records, 1) if isinstance(r, Mapping) != first or not _is_record(r))
    kind = type(records[number - 1]).__name__
    raise invalid_record(number, f"it is a {kind}", "The records of one call are all dicts, or all tuples.")


def _columns_of_dicts(records: Sequence[Mapping[object, object]]) -> NamedColumns:
    names: dict[object, None] = {}
    for record in records:
        if not record.keys() <= names.keys():
            names.update(dict.fromkeys(record))
    for name in names:
        if not isinstance(name, str):
            number = 1 + _first(records, lambda record, name=name: name in record)  # type: ignore[misc]
            raise invalid_record(number, f"its key {name!r} is not the name of a column")
    return NamedColumns(len(records), [(str(name), [r.get(name, MISSING) for r in records]) for name in names])


def _columns_of_tuples(records: Sequence[Sequence[object]], wanted: int) -> PlacedColumns:
    if not set(map(len, records)) <= {wanted}:
        place = _first(records, lambda record: len(record) != wanted)
        raise invalid_record(place + 1, f"it has {len(records[place])} values for {wanted} columns")
    return PlacedColumns(len(records), list(zip(*records, strict=True)))


def _first(records: Iterable[Any], is_meant: Callable[[Any], bool]) -> int:
    """The place of the first record that is meant, of which there is one."""
    return next(place for place, record in enumerate(records) if is_meant(record))


def invalid_record(number: int, reason: str, hint: str = "") -> AcidSqlError:
    """The error of a record that cannot be stored; `number` counts from 1 within the records given."""
    return AcidSqlError(Condition.INVALID_RECORD, number=number, reason=reason, hint=hint)


def lists_columns(names: Collection[str]) -> str:
    """A hint that lists the columns that a record may have."""
    return f"The columns are {', '.join(names)}."
