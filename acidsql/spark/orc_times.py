"""Timestamps that an ORC file cannot hold."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.table import Column as TableColumn
from acidsql.acid.types import Array, HiveType, Map, Struct, parse_type
from acidsql.errors import Condition
from acidsql.planner.raised import raise_sql, sql_string
from acidsql.spark.types import has_instant, has_timestamp


def representable(value: Column, column: TableColumn) -> Column:
    """The value of a column, or INVALID_STORE_VALUE when it runs.

    ORC counts seconds towards zero, so a fraction of the second before 1970, if it has a millisecond, is read as one of
    the second after it (TimestampTreeWriter); Hive 4.0.1 shows it so, at any depth (tests/golden/timestamps_at_1970).
    """
    hive_type = parse_type(column.type)
    if not _has_time(hive_type):
        return value
    failure = raise_sql(
        Condition.INVALID_STORE_VALUE,
        value="'1969-12-31 23:59:59 and a fraction'",
        column=sql_string(column.name),
        type=sql_string(f"{column.type} of an ORC file"),
    )
    is_refused = F.coalesce(_is_before_zero(value, hive_type), F.lit(False))
    return F.when(is_refused, F.expr(failure)).otherwise(value)


def _has_time(hive_type: HiveType) -> bool:
    return has_timestamp(hive_type) or has_instant(hive_type)


def _is_before_zero(value: Column, hive_type: HiveType) -> Column:
    match hive_type:
        case Array(element):
            return F.exists(value, _each(element))
        case Map(key, of):
            found = [(F.map_keys(value), key), (F.map_values(value), of)]
            return _any([F.exists(items, _each(kind)) for items, kind in found if _has_time(kind)])
        case Struct(fields):
            return _any([_is_before_zero(value.getField(n), kind) for n, kind in fields if _has_time(kind)])
        case _:
            return F.unix_micros(value).between(-999_000, -1)


def _each(element: HiveType) -> Callable[[Column], Column]:
    return lambda item: _is_before_zero(item, element)


def _any(conditions: list[Column]) -> Column:
    """NULL counts as false: no OR is NULL for the sake of one part."""
    return F.greatest(*(F.coalesce(c, F.lit(False)) for c in (*conditions, F.lit(False))))
