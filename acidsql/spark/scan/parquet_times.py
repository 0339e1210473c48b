"""SQL for the times of a Parquet file in the time zone that the file names."""

from __future__ import annotations

from acidsql.acid.hive_types import HiveType, has_timestamp
from acidsql.grammar.quoting import sql_string
from acidsql.planner.stored_values.stored_sql import inside
from acidsql.storage.parquet_footer import UTC


def in_zone(value: str, hive_type: HiveType, zone: str) -> str:
    """SQL: a value with its timestamps, at any depth, converted from instants to the wall-clock times of a zone."""

    def moved(text: str, kind: HiveType) -> str:
        return f"from_utc_timestamp({text}, {sql_string(zone)})" if has_timestamp(kind) else text

    return value if zone == UTC else inside(value, hive_type, moved)
