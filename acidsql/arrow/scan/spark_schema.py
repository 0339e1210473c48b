"""The Arrow types and Spark's names of types for Hive's types: those that Spark's `toArrow` and `simpleString` give."""

from __future__ import annotations

from typing import Final, assert_never

import pyarrow as pa

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar
from acidsql.values.arrow_types import arrow_type

_RENAMED: Final = {"timestamp": "timestamp_ntz", "timestamp with local time zone": "timestamp"}
ROW_ID_TYPE: Final = Struct(
    (("writeid", Primitive("bigint")), ("bucketid", Primitive("int")), ("rowid", Primitive("bigint")))
)


def column_type(hive_type: HiveType) -> pa.DataType:
    """The Arrow type of a column.

    >>> column_type(Array(Decimal(10, 2)))
    ListType(list<element: decimal128(10, 2)>)
    """
    match hive_type:
        case Primitive() | Decimal() | Char() | Varchar():
            return arrow_type(hive_type)
        case Array(element):
            return pa.list_(pa.field("element", column_type(element)))
        case Map(key, value):
            return pa.map_(column_type(key), column_type(value))
        case Struct(fields):
            return pa.struct([pa.field(name, column_type(of)) for name, of in fields])
        case _:
            assert_never(hive_type)


def spark_name(hive_type: HiveType) -> str:
    """Spark's name of a column's type.

    >>> spark_name(Struct((("a", Char(3)), ("b", Primitive("timestamp")))))
    'struct<a:string,b:timestamp_ntz>'
    """
    match hive_type:
        case Primitive(name):
            return _RENAMED.get(name, name)
        case Decimal():
            return str(hive_type)
        case Char() | Varchar():
            return "string"
        case Array(element):
            return f"array<{spark_name(element)}>"
        case Map(key, value):
            return f"map<{spark_name(key)},{spark_name(value)}>"
        case Struct(fields):
            return f"struct<{','.join(f'{name}:{spark_name(of)}' for name, of in fields)}>"
        case _:
            assert_never(hive_type)
