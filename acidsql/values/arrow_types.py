"""Arrow's types of the columns in a table's files."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar

_SIMPLE: Final[dict[str, pa.DataType]] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    # Spark and acidsql's own writes keep microseconds. Nanoseconds of 64 bits would not reach the year 9999.
    "timestamp": pa.timestamp("us"),
    "timestamp with local time zone": pa.timestamp("us", tz="UTC"),
}


def arrow_type(hive_type: HiveType) -> pa.DataType:
    """The type of a column's values in the files that pyarrow writes.

    >>> arrow_type(parse_type("array<decimal(10,2)>"))
    ListType(list<item: decimal128(10, 2)>)
    """
    match hive_type:
        case Primitive(name):
            return _SIMPLE[name]
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Char() | Varchar():
            return pa.string()
        case Array(element):
            return pa.list_(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([pa.field(name, arrow_type(of)) for name, of in fields])
