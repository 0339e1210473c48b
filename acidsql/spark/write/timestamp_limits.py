"""Timestamps that an ORC file cannot hold."""

from __future__ import annotations

from typing import Final

from acidsql.acid.hive_types import Array, HiveType, Map, Primitive, Struct, has_instant, has_timestamp, parse_type
from acidsql.acid.table import Column as TableColumn
from acidsql.errors import Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.sql_errors import raise_sql

_FIRST: Final = "TIMESTAMP_NTZ'1969-12-31 23:59:59.001'"
_LAST: Final = "TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'"


def representable(value: str, column: TableColumn) -> str:
    """SQL of the value of a column that raises INVALID_STORE_VALUE, when it runs, for a value that ORC cannot hold.

    ORC rounds seconds towards zero. A time in the last second before 1970 that has milliseconds is therefore read as a
    time in the first second after (TimestampTreeWriter). Hive 4.0.1 reads it so too, at any depth of a value
    (tests/golden/timestamps_at_1970).
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
    return f"CASE WHEN coalesce({_is_before_zero(value, hive_type)}, false) THEN {failure} ELSE {value} END"


def _has_time(hive_type: HiveType) -> bool:
    return has_timestamp(hive_type) or has_instant(hive_type)


def _is_before_zero(value: str, hive_type: HiveType, depth: int = 0) -> str:
    match hive_type:
        case Array(element):
            return _exists(value, element, depth)
        case Map(key, of):
            found = [(f"map_keys({value})", key), (f"map_values({value})", of)]
            return _any([_exists(items, kind, depth) for items, kind in found if _has_time(kind)])
        case Struct(fields):
            inside = [(f"{value}.{name_sql(n)}", kind) for n, kind in fields if _has_time(kind)]
            return _any([_is_before_zero(field, kind, depth) for field, kind in inside])
        case Primitive("timestamp"):
            return f"{value} BETWEEN {_FIRST} AND {_LAST}"
        case _:
            return f"unix_micros({value}) BETWEEN -999000 AND -1"


def _exists(items: str, element: HiveType, depth: int) -> str:
    item = f"e{depth}"
    return f"exists({items}, {item} -> {_is_before_zero(item, element, depth + 1)})"


def _any(conditions: list[str]) -> str:
    """The conditions joined by OR. A condition that is NULL counts as false, so that the whole is never NULL."""
    return " OR ".join(f"coalesce({c}, false)" for c in conditions).join("()")
