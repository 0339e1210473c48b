"""The rows of an INSERT as Arrow arrays of the table's columns, where no doubt is left what Hive's store assignment
makes of them. Spark converts all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from acidsql.acid import hive_types as t
from acidsql.acid.bucketing import bucketing_version
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.planner.plan import ArrowInsert, FrameRows
from acidsql.values.arrow_tables import arrow_table, is_of_pandas
from acidsql.values.bucket_hashes import buckets
from acidsql.values.column_arrays import UnfitValue, array_of_arrow, array_of_values
from acidsql.values.literal_columns import FIRST_TIMESTAMP, stored_column
from acidsql.writing.row_placement import Numbers, Rows, partitions_of

_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_PARTITIONED_BY: Final = (*_INTEGERS, "string", "date")
"""The types of partition columns whose values have one text."""
_HASHED: Final = (*_INTEGERS, "string", "date", "boolean")
"""The types of bucketing columns, beside DECIMAL and VARCHAR."""


def rows_of(given: ArrowInsert, table: Table, frames: Mapping[str, object]) -> Rows | None:
    """The rows as they are stored; None if one of their values is not certain, if NULL stands where it must not, or if
    there are no rows."""
    columns = _columns(given, table, frames)
    if columns is None:
        return None
    count = len(next(iter(columns.values())))
    required = [columns[name] for name in table.constraints.not_null if name in columns]
    if not count or any(array.null_count for array in required):
        return None
    files = [columns[c.name] for c in table.columns]
    names = [f"_c{i}" for i in range(len(files))]
    try:
        dynamic = [(c, t.parse_type(c.type), columns[c.name]) for c in table.partition_columns]
        partitions, places = partitions_of(dynamic, (), count)
    except AcidSqlError:  # Spark's way reports the value
        return None
    return Rows(pa.Table.from_arrays(files, names=names), partitions, places, buckets_of(table, columns))


def takes(table: Table) -> bool:
    """Whether partitions and buckets of the table are of types for which `rows_of` finds the place of a row."""
    kinds = {c.name: t.parse_type(c.type) for c in table.all_columns}
    by_partition = [kinds[c.name] for c in table.partition_columns]
    hashed = [kinds[name] for name in table.bucket_columns] if table.bucket_count else []
    return all(_is_one_of(kind, _PARTITIONED_BY) or isinstance(kind, t.Decimal) for kind in by_partition) and all(
        _is_one_of(kind, _HASHED) or isinstance(kind, t.Decimal | t.Varchar) for kind in hashed
    )


def _is_one_of(kind: t.HiveType, names: Sequence[str]) -> bool:
    return isinstance(kind, t.Primitive) and kind.name in names


def buckets_of(table: Table, columns: Mapping[str, pa.Array]) -> Numbers | None:
    """The bucket of each row, by the arrays of the table's columns; None for a table without buckets."""
    if not table.bucket_count:
        return None
    kinds = {c.name: t.parse_type(c.type) for c in table.columns}
    hashed = [(kinds[name], columns[name]) for name in table.bucket_columns]
    return buckets(hashed, table.bucket_count, bucketing_version(table))


def _columns(given: ArrowInsert, table: Table, frames: Mapping[str, object]) -> dict[str, pa.Array] | None:
    """The arrays of all columns of the table, by name."""
    match given.rows:
        case FrameRows():
            found = _of_frame(given.rows, given.columns, frames)
        case rows:
            trees = zip(given.columns, zip(*rows, strict=True), strict=True)
            found = _certain({c.name: stored_literals(of, c) for c, of in trees})
    if found is None:
        return None
    count = len(next(iter(found.values()))) if found else 0
    for column in table.all_columns:
        if column.name not in found:
            one = stored_literals((given.constants[column.name],), column)
            if one is None:
                return None
            found[column.name] = one.take(pa.array(np.zeros(count, np.int64)))
    return found


def _certain(arrays: Mapping[str, pa.Array | None]) -> dict[str, pa.Array] | None:
    """The arrays, if there is one for each name."""
    known = {name: array for name, array in arrays.items() if array is not None}
    return known if len(known) == len(arrays) else None


def _type(column: Column) -> t.HiveType:
    return t.parse_type(column.type)


def stored_literals(trees: Iterable[exp.Expr], column: Column) -> pa.Array | None:
    """The array that the column stores for literals; None if one of them leaves a doubt."""
    values = stored_column(trees, _type(column))
    if values is None or not _fits(values, _type(column)):
        return None
    try:
        return array_of_values(values, _type(column))
    except UnfitValue:
        return None


# ------------------------------------------------------------------------------------------------ frames


def _fits(values: Any, target: t.HiveType) -> bool:
    """Whether texts are no longer than a CHAR or VARCHAR. Blanks at the end do not count."""
    if not isinstance(target, t.Char | t.Varchar):
        return True
    lengths = pc.utf8_length(pc.ascii_rtrim(pa.array(values, pa.string()) if isinstance(values, list) else values, " "))
    return not pc.any(pc.greater(lengths, target.length)).as_py()


def _of_frame(given: FrameRows, columns: Sequence[Column], frames: Mapping[str, object]) -> dict[str, pa.Array] | None:
    frame = frame_table(frames.get(given.frame))
    if frame is None:
        return None
    names = [name.lower() for name in frame.column_names]
    wanted = names if given.columns is None else [name.lower() for name in given.columns]
    if len(wanted) != len(columns) or any(names.count(name) != 1 for name in wanted):
        return None
    found = {
        column.name: stored_arrow(frame.column(names.index(name)), _type(column))
        for column, name in zip(columns, wanted, strict=True)
    }
    return _certain(found)


def frame_table(frame: Any) -> Any:
    """A frame of Arrow or pandas as an Arrow table; None for another one: a reader could not be read again by Spark."""
    if not isinstance(frame, pa.Table) and not is_of_pandas(frame):
        return None
    try:
        return arrow_table(frame, "frame")
    except (pa.ArrowException, TypeError, ValueError, AcidSqlError):  # Spark's way reports the error
        return None


def stored_arrow(column: pa.ChunkedArray, target: t.HiveType) -> pa.Array | None:
    """The column as it is stored, if its type leaves no doubt about any value, and each value fits."""
    if not has_one_meaning(column.type, target) or not (pa.types.is_null(column.type) or _fits(column, target)):
        return None
    try:
        array = array_of_arrow(column, target)
    except UnfitValue:
        return None
    return array if is_known(array, target) else None


def has_one_meaning(source: pa.DataType, target: t.HiveType) -> bool:
    """Whether Spark and Hive store a value of the Arrow type in the column as pyarrow converts it, if it fits."""
    of = pa.types
    if of.is_null(source):
        return not t.is_complex(target) and not t.has_instant(target)
    match target:
        case t.Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return bool(of.is_signed_integer(source))
        case t.Decimal():
            return bool(of.is_signed_integer(source) or of.is_decimal128(source))
        case t.Primitive("double"):
            return bool(of.is_float64(source) or of.is_float32(source))
        case t.Primitive("float"):
            return bool(of.is_float32(source))
        case t.Primitive("string") | t.Varchar() | t.Char():
            return bool(of.is_string(source) or of.is_large_string(source))
        case t.Primitive("boolean"):
            return bool(of.is_boolean(source))
        case t.Primitive("binary"):
            return bool(of.is_binary(source) or of.is_large_binary(source))
        case t.Primitive("date"):
            return bool(of.is_date32(source))
        case t.Primitive("timestamp"):
            return bool(of.is_timestamp(source) and source.tz is None)
        case _:
            return False


def is_known(array: pa.Array, target: t.HiveType) -> bool:
    """Whether all readers understand the dates and times of the array in one way."""
    match target:
        case t.Primitive("date"):
            first = pa.scalar(t.FIRST_GREGORIAN_DAY, array.type)
        case t.Primitive("timestamp"):
            first = pa.scalar(FIRST_TIMESTAMP, array.type)
        case _:
            return True
    return not pc.any(pc.less(array, first)).as_py()
