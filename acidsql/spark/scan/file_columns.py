"""The columns of a table and INPUT__FILE__NAME as SQL over the columns of a file, and the schema for reading the file.

Columns are matched by position, as in Hive: a file has the names and types of the time when it was written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final, TypeAlias

from pyspark.sql import types as t

from acidsql.acid.hive_types import Char, HiveType, Primitive, has_timestamp, parse_type
from acidsql.acid.layout import ACID_FIELDS
from acidsql.acid.table import Table
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.stored_values.stored_sql import inside
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.scan.file_partitions import file_uri, metadata_column
from acidsql.spark.spark_types import ddl, file_type, padded_inside, query_type
from acidsql.storage.parquet_footer import UTC

Narrower: TypeAlias = "tuple[HiveType | None, ...]"
"""The types of a file's columns where they are narrower than the table's, by position; None elsewhere."""
_CHEAP: Final = ("boolean", "tinyint", "smallint", "int", "bigint", "date", "float", "double")


def acid_schema(columns: Iterable[tuple[str, t.DataType]], unread: Collection[str] = ()) -> t.StructType:
    """The six ACID columns as Hive names and orders them; the names of `unread` ones are in capitals."""
    kinds = (t.IntegerType(), t.LongType(), t.IntegerType(), t.LongType(), t.LongType(), file_schema(columns))
    fields = zip(ACID_FIELDS, kinds, strict=True)
    return t.StructType([t.StructField(name.upper() if name in unread else name, kind) for name, kind in fields])


def file_schema(columns: Iterable[tuple[str, t.DataType]]) -> t.StructType:
    return t.StructType([t.StructField(name, kind) for name, kind in columns])


def types_in_file(table: Table, names: Sequence[str], narrower: Narrower = ()) -> list[tuple[str, t.DataType]]:
    """The columns under the file's names, with the table's current types, or with the file's own type where
    `table_columns` casts the values."""
    types = (parse_type(c.type) for c in table.columns)
    return [
        (name, file_type(own if own is not None and not _is_text(kind) else kind))
        for name, kind, own in zip(names, types, chain(narrower, repeat(None)), strict=False)
    ]


def _is_text(hive_type: HiveType) -> bool:
    return hive_type == Primitive("string")


def _widened(value: str, hive_type: HiveType) -> str:
    """SQL: a value of the file's type as a value of the table's type.

    The file is read with its own type, and the value is cast here. Otherwise Spark would push comparisons down with the
    literal cast to the file's type, so that 5.5 becomes 5, or would fail to (OrcFilters.castLiteralValue). Numbers
    become text as ORC, and so Hive, writes them: 2.50 is 2.5.
    """
    return f"concat({value}, '')" if _is_text(hive_type) else _cast(value, hive_type)


def _cast(value: str, hive_type: HiveType) -> str:
    return f"CAST({value} AS {ddl(query_type(hive_type))})"


def cheapest_column(columns: Sequence[tuple[str, t.DataType]]) -> str:
    """The column of `row` that a scan names to keep `row`: the first one if it is cheap to read, else the cheapest."""

    def cost(column: tuple[str, t.DataType]) -> int:
        name = column[1].simpleString()
        return _CHEAP.index(name) if name in _CHEAP else len(_CHEAP) + len(name)

    return columns[0][0] if cost(columns[0]) < len(_CHEAP) else min(columns, key=cost)[0]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """SQL of a table's columns over those of a file, by name. `times` are the names of columns that are still instants
    in UTC."""

    values: dict[str, str]
    times: list[str]


def table_columns(
    table: Table, names: Sequence[str], owner: str | None, narrower: Narrower = (), zone: str = UTC
) -> TableColumns:
    """The table's columns from the file's, by position. A column that was added after the file was written is NULL."""
    values, times = {}, []
    for position, column in enumerate(table.columns):
        hive_type = parse_type(column.type)
        if position >= len(names):
            value = _cast("NULL", hive_type)
        else:
            value = f"{owner}.{name_sql(names[position])}" if owner else name_sql(names[position])
            value = f"rtrim({value})" if isinstance(hive_type, Char) and not owner else value
            is_widened = any(narrower[position : position + 1])
            if hive_type == Primitive("timestamp") and not is_widened and zone == UTC:
                times.append(column.name)
            else:
                value = _widened(value, hive_type) if is_widened else value
                value = _in_zone(value, hive_type, zone)
                value = padded_inside(_cast(value, hive_type) if has_timestamp(hive_type) else value, hive_type)
        values[column.name] = value
    return TableColumns(values, times)


def file_name(table: Table, files: Sequence[SourceFile]) -> str:
    """SQL of INPUT__FILE__NAME. For a copy of a file it is the name of the original."""
    names = () if files[0].is_acid else files[0].names or tuple(c.name for c in table.columns)
    path = f"{metadata_column(names)}.file_path"
    copies = {file_uri(f.path): file_uri(f.copy_of) for f in files if f.copy_of is not None}
    if copies:
        known = ", ".join(sql_string(text) for pair in copies.items() for text in pair)
        path = f"coalesce(map({known})[{path}], {path})"
    # Hive's name is a path, not a URI. url_decode would turn a plus sign into a blank.
    return f"url_decode(replace({path}, '+', '%2B'))"


def _in_zone(value: str, hive_type: HiveType, zone: str) -> str:
    """SQL: a value with its timestamps, at any depth, converted from instants to the wall-clock times of a zone."""

    def moved(text: str, kind: HiveType) -> str:
        return f"from_utc_timestamp({text}, {sql_string(zone)})" if has_timestamp(kind) else text

    return value if zone == UTC else inside(value, hive_type, moved)
