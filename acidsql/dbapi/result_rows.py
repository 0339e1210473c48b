"""The rows of a result as DB-API values, and the description of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias, assert_never

from acidsql.statements.results import CountsResult, Done, QueryResult, Result, RowsResult, ScanResult

Row: TypeAlias = tuple[object, ...]
ColumnDescription: TypeAlias = tuple[str, str, None, None, int | None, int | None, None]
"""Name, type code, display size, internal size, precision, scale, and whether NULL may occur."""

_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
_NESTED: Final = ("array", "map", "struct")


def describe(result: Result) -> tuple[ColumnDescription, ...] | None:
    """The columns of a result with their Hive types, or None for a statement that returns no rows."""
    match result:
        case QueryResult():
            return tuple(map(_described, (c.name for c in result.columns), _hive_types(result)))
        case ScanResult():
            kinds = map(str, result.batches.kinds)
            return tuple(_described(c.name, kind) for c, kind in zip(result.columns, kinds, strict=True))
        case RowsResult():
            return tuple(_described(c.name, c.type) for c in result.columns)
        case CountsResult() | Done():
            return None
        case _:
            assert_never(result)


def row_count(result: Result) -> int:
    """The number of rows that a statement changed; -1 where it is not known, as for a query."""
    return -1 if result.counts is None else result.counts.affected


def result_rows(result: Result, columns: tuple[ColumnDescription, ...]) -> Iterator[Row]:
    """The rows as tuples of Python values: a list for an ARRAY, a dict for a MAP or a STRUCT, and a datetime in the
    time zone UTC for a TIMESTAMP WITH LOCAL TIME ZONE.

    Reads them in bounded memory, partition by partition.
    """
    nested = [number for number, column in enumerate(columns) if column[1].startswith(_NESTED)]
    rows = result.rows_with_instants() if isinstance(result, QueryResult) else result.rows()
    return (_converted(row, nested) for row in rows) if nested else rows


def _hive_types(result: QueryResult) -> list[str]:
    from acidsql.spark.spark_types import hive_type_name

    fields = result.fetched.schema.fields
    return [hive_type_name(field.dataType) or field.dataType.simpleString() for field in fields]


def _described(name: str, hive_type: str) -> ColumnDescription:
    decimal = _DECIMAL.fullmatch(hive_type)
    precision, scale = (int(decimal[1]), int(decimal[2])) if decimal else (None, None)
    return (name, hive_type, None, None, precision, scale, None)


def _converted(row: Row, nested: list[int]) -> Row:
    values = list(row)
    for number in nested:
        values[number] = plain_value(values[number])
    return tuple(values)


def plain_value(value: object) -> object:
    """A value with dicts in the place of PySpark's rows, at any depth. The keys of a map stay as they are."""
    match value:
        case list():
            return [plain_value(item) for item in value]
        case dict():
            return {key: plain_value(item) for key, item in value.items()}
        case tuple() if (fields := getattr(value, "__fields__", None)) is not None:
            return {name: plain_value(item) for name, item in zip(fields, value, strict=True)}
        case _:
            return value
