"""Lines of tables with JsonSerDe, as HiveJsonWriter writes them: an object with a key for each column, also for
NULLs."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.hive_types import Array, HiveType, Map, Primitive, Struct, parse_type
from acidsql.acid.json_format import check_json
from acidsql.acid.table import Table


def json_line(table: Table, names: Iterable[str]) -> Column:
    """The line of a row, from its values in the columns `names`. Raises NOT_YET_SUPPORTED."""
    check_json(table)
    pairs = zip(names, table.columns, strict=True)
    fields = [_written(F.col(name), parse_type(column.type)).alias(column.name) for name, column in pairs]
    return F.to_json(F.struct(*fields), {"ignoreNullFields": "false"})


def _written(value: Column, hive_type: HiveType) -> Column:
    """The value with texts in place of dates and timestamps, and of the keys of maps. Spark writes the rest as Hive
    does: binary is base 64, and numbers that are not finite are texts."""
    match hive_type:
        case Array(element):
            return F.transform(value, lambda e: _written(e, element))
        case Map(key, of):
            entries = F.transform(
                F.map_entries(value),
                lambda e: F.struct(_key(e["key"], key).alias("key"), _written(e["value"], of).alias("value")),
            )
            return F.map_from_entries(entries)
        case Struct(fields):
            parts = [_written(value.getField(name), kind).alias(name) for name, kind in fields]
            return F.when(value.isNotNull(), F.struct(*parts))
        case Primitive("date" | "timestamp"):
            return value.cast("string")
        case _:
            return value


def _key(value: Column, hive_type: HiveType) -> Column:
    return F.base64(value) if hive_type == Primitive("binary") else value.cast("string")
