"""Spark's types for Hive's: the type of a column in a file, the type that a query sees, and the types that can be
stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar
from acidsql.acid.object_names import is_field_name
from acidsql.grammar.quoting import name_sql
from acidsql.planner.stored_values.stored_sql import fitted, inside

_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")
_INSTANT: Final = t.TimestampType()
_SIMPLE: Final[dict[str, t.DataType]] = {
    "tinyint": t.ByteType(),
    "smallint": t.ShortType(),
    "int": t.IntegerType(),
    "bigint": t.LongType(),
    "float": t.FloatType(),
    "double": t.DoubleType(),
    "string": t.StringType(),
    "boolean": t.BooleanType(),
    "binary": t.BinaryType(),
    "date": t.DateType(),
    "timestamp with local time zone": _INSTANT,
}


def file_type(hive_type: HiveType) -> t.DataType:
    """The type that Spark's ORC reader and writer use for a column.

    ORC's TIMESTAMP is Spark's TIMESTAMP there: Spark would write TIMESTAMP_NTZ as a bigint (spark-findings.md 12).
    """
    return _spark_type(hive_type, _INSTANT)


def query_type(hive_type: HiveType) -> t.DataType:
    """The type that a query sees: TIMESTAMP is wall-clock time without a zone."""
    return _spark_type(hive_type, t.TimestampNTZType())


def wall_clock_type(hive_type: HiveType) -> t.DataType:
    """The type in a file without time zones, in which instants are wall-clock times of UTC."""
    return _spark_type(hive_type, t.TimestampNTZType(), t.TimestampNTZType())


def _spark_type(hive_type: HiveType, timestamp: t.DataType, instant: t.DataType = _INSTANT) -> t.DataType:
    match hive_type:
        case Primitive("timestamp"):
            return timestamp
        case Primitive("timestamp with local time zone"):
            return instant
        case Primitive(name):
            return _SIMPLE[name]
        case Decimal(precision, scale):
            return t.DecimalType(precision, scale)
        case Char() | Varchar():
            return t.StringType()
        case Array(element):
            return t.ArrayType(_spark_type(element, timestamp, instant))
        case Map(key, value):
            return t.MapType(_spark_type(key, timestamp, instant), _spark_type(value, timestamp, instant))
        case Struct(fields):
            return t.StructType([t.StructField(n, _spark_type(f, timestamp, instant)) for n, f in fields])


def without_instants(data_type: t.DataType) -> t.DataType:
    """The type with wall-clock times in place of instants."""
    return _with_leaves(data_type, lambda leaf: t.TimestampNTZType() if isinstance(leaf, t.TimestampType) else leaf)


def _with_known_nulls(data_type: t.DataType) -> t.DataType:
    """The type with STRING as the type of values inside that are always NULL, which have none in Hive. A value that is
    no array, map or struct keeps its type."""
    if isinstance(data_type, t.NullType):
        return data_type
    return _with_leaves(data_type, lambda leaf: t.StringType() if isinstance(leaf, t.NullType) else leaf)


def _with_leaves(data_type: t.DataType, change: Callable[[t.DataType], t.DataType]) -> t.DataType:
    """The type with `change` applied to each type in it that is no array, map or struct."""
    match data_type:
        case t.ArrayType():
            return t.ArrayType(_with_leaves(data_type.elementType, change), data_type.containsNull)
        case t.MapType():
            key, value = (_with_leaves(of, change) for of in (data_type.keyType, data_type.valueType))
            return t.MapType(key, value, data_type.valueContainsNull)
        case t.StructType():
            fields = data_type.fields
            return t.StructType([t.StructField(f.name, _with_leaves(f.dataType, change), f.nullable) for f in fields])
        case _:
            return change(data_type)


def in_wall_clock_time(rows: DataFrame) -> DataFrame:
    """The rows with each instant as a wall-clock time in the time zone of the frame's session."""
    shown = [without_instants(field.dataType) for field in rows.schema.fields]
    if shown == [field.dataType for field in rows.schema.fields]:
        return rows
    names = rows.columns
    by_place = rows.toDF(*map(str, range(len(names))))
    return by_place.select(*(F.col(str(i)).cast(kind).alias(names[i]) for i, kind in enumerate(shown)))


def hive_type_name(data_type: t.DataType) -> str | None:
    """The Hive type that CREATE TABLE .. AS declares for a column of a query; None if Hive has no such type."""
    match data_type:
        case t.ArrayType():
            return _nested("array<{}>", data_type.elementType)
        case t.MapType():
            return _nested("map<{},{}>", data_type.keyType, data_type.valueType)
        case t.StructType():
            names = [name.lower() for name in data_type.names]
            inside = ",".join(f"{name}:{{}}" for name in names)
            known = all(map(is_field_name, names))
            return _nested(f"struct<{inside}>", *(f.dataType for f in data_type.fields)) if known else None
        case t.DecimalType():
            return f"decimal({data_type.precision},{data_type.scale})"
        case t.TimestampNTZType():
            return "timestamp"
        case _:
            return next((name for name, known in _SIMPLE.items() if known == data_type), None)


def hive_types(rows: DataFrame) -> dict[str, str | None]:
    """The Hive types of a frame's columns, by name; None for a column whose type Hive lacks."""
    return {f.name: hive_type_name(_with_known_nulls(f.dataType)) for f in rows.schema.fields}


def _nested(shape: str, *inside: t.DataType) -> str | None:
    names = [hive_type_name(of) for of in inside]
    known = [name for name in names if name is not None]
    return shape.format(*known) if len(known) == len(names) else None


def is_storable(source: t.DataType, target: HiveType) -> bool:
    """Whether a value of the type can be stored in a column: Hive's implicit conversions
    (TypeInfoUtils.implicitConvertible, and the conversions between primitives that INSERT adds).

    Complex types take complex types of the same shape only.
    """
    if isinstance(source, t.NullType):
        return True
    match target:
        case Array(element):
            return isinstance(source, t.ArrayType) and is_storable(source.elementType, element)
        case Map(key, value):
            return (
                isinstance(source, t.MapType)
                and is_storable(source.keyType, key)
                and is_storable(source.valueType, value)
            )
        case Struct(fields):
            return (
                isinstance(source, t.StructType)
                and len(source.fields) == len(fields)
                and all(is_storable(s.dataType, f) for s, (_, f) in zip(source.fields, fields, strict=True))
            )
        case Primitive("binary"):
            return isinstance(source, t.BinaryType | t.StringType)
        case Primitive("date"):
            return isinstance(source, t.DateType | t.StringType | t.TimestampType | t.TimestampNTZType)
        case Primitive("timestamp") if isinstance(source, t.NumericType):  # hive.strict.timestamp.conversion
            return False
        case Primitive(name) if name.startswith("timestamp"):  # a TIME, which Hive lacks, would get today's date
            is_known = isinstance(source, t.AtomicType) and hive_type_name(source) is not None
            return is_known and not isinstance(source, t.BinaryType)
        case Primitive(name) if name in _NUMBERS or name == "boolean":
            return isinstance(source, t.NumericType | t.StringType | t.BooleanType | t.TimestampType)
        case Decimal():
            return isinstance(source, t.NumericType | t.StringType | t.BooleanType | t.TimestampType)
        case _:
            return isinstance(source, t.AtomicType)


def ddl(data_type: t.DataType) -> str:
    """The type in Spark SQL, with the same meaning whatever the session's spark.sql.timestampType is.

    >>> ddl(t.ArrayType(t.StructType([t.StructField("a b", t.TimestampType())])))
    'array<struct<`a b`: timestamp_ltz>>'
    """
    match data_type:
        case t.ArrayType():
            return f"array<{ddl(data_type.elementType)}>"
        case t.MapType():
            return f"map<{ddl(data_type.keyType)}, {ddl(data_type.valueType)}>"
        case t.StructType():
            inside = ", ".join(f"{name_sql(f.name)}: {ddl(f.dataType)}" for f in data_type.fields)
            return f"struct<{inside}>"
        case t.TimestampType():
            return "timestamp_ltz"
        case _:
            return data_type.simpleString()


def padded_inside(value: str, hive_type: HiveType) -> str:
    """SQL: a value whose nested CHAR(n) values have the blanks that ORC's reader drops (HiveCharWritable). A CHAR
    column itself is padded last, after the query (char_columns.py)."""
    return value if isinstance(hive_type, Char) else inside(value, hive_type, _padded)


def _padded(value: str, hive_type: HiveType) -> str:
    return fitted(value, hive_type) if isinstance(hive_type, Char) else value
