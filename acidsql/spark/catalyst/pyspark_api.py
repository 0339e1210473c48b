"""What PySpark 4 has and PySpark 3.5 lacks: each name under which the rest of acidsql uses it, on both.

On PySpark 4 every function is one call of PySpark's own. On 3.5 it does the same with what 3.5 has.
`shims` does this for the classes of the JVM.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.spark.catalyst.names import SPARK_THROWABLE
from acidsql.spark.catalyst.spark35_sql import in_spark35

if TYPE_CHECKING:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
    from pyspark.sql.types import VariantType
else:
    try:
        from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
        from pyspark.sql.types import VariantType
    except ModuleNotFoundError:
        ClassicFrame = DataFrame

        class VariantType(t.DataType):
            """A type that no frame of PySpark 3.5 has."""


__all__ = [
    "HAS_VARIANT",
    "IS_SPARK_35",
    "TO_ARROW",
    "ClassicFrame",
    "VariantType",
    "arrow_table_of",
    "error_logger",
    "frame_of_arrow",
    "name_of_error",
    "parameters_of_error",
    "places_of_error",
    "sql_column",
    "sql_of_spark",
    "try_cast",
]

HAS_VARIANT: Final = hasattr(t, "VariantType")
"""Whether Spark has VARIANT, into which it parses JSON."""
IS_SPARK_35: Final = not hasattr(Column, "try_cast")
"""Whether this is PySpark 3.5.

There a Column takes settings of the thread's active session, such as ANSI mode, when it is made
(`sessions.activate`). In Spark 4 it takes those of the session of its frame, when the frame is made.
"""
_HAS_ARROW_FRAMES: Final = hasattr(DataFrame, "toArrow")
_HAS_CONDITIONS: Final = hasattr(PySparkException, "getCondition")
_LARGE: Final = {"large_string": pa.string(), "large_binary": pa.binary()}


def sql_of_spark(sql: str) -> str:
    """SQL that acidsql has made, as this Spark reads it."""
    return in_spark35(sql) if IS_SPARK_35 else sql


def sql_column(sql: str) -> Column:
    """`F.expr` of SQL that acidsql has made."""
    return F.expr(sql_of_spark(sql))


def error_logger() -> logging.Logger | None:
    """The logger to which PySpark writes a record of each analysis error; None where it writes none."""
    try:
        from pyspark.logger import PySparkLogger
    except ModuleNotFoundError:
        return None
    # Let PySpark create the logger: a plain logger of this name would fail on PySpark's arguments.
    return PySparkLogger.getLogger("SQLQueryContextLogger")


def name_of_error(error: PySparkException) -> str | None:
    """Spark's name of the error, such as UNRESOLVED_COLUMN.WITH_SUGGESTION."""
    return error.getCondition() if _HAS_CONDITIONS else error.getErrorClass()


def parameters_of_error(error: PySparkException) -> dict[str, str]:
    """The parts of the error's message, by their names."""
    return dict(error.getMessageParameters() or {})


def places_of_error(error: PySparkException) -> Iterable[tuple[str, int, str]]:
    """The places in the SQL that Spark names: the summary, the index of the first character, and the text there."""
    if _HAS_CONDITIONS:
        for place in error.getQueryContext():
            yield place.summary(), place.startIndex(), place.fragment()
        return
    origin: Any = getattr(error, "_origin", None)
    if origin is not None and SPARK_THROWABLE.name in _names_of_interfaces(origin):
        for place in origin.getQueryContext():
            yield str(place.summary()), int(place.startIndex()), str(place.fragment())


def _names_of_interfaces(thrown: Any) -> set[str]:
    """The names of the interfaces of a Java exception."""
    kind, names = thrown.getClass(), set()
    while kind is not None:
        names |= {str(one.getName()) for one in kind.getInterfaces()}
        kind = kind.getSuperclass()
    return names


def try_cast(value: Column, kind: t.DataType | str) -> Column:
    """TRY_CAST. With ANSI mode off, as acidsql runs its statements, CAST is the same."""
    return value.try_cast(kind) if not IS_SPARK_35 else value.cast(kind)


def arrow_table_of(frame: DataFrame) -> pa.Table:
    """The rows of a frame as an Arrow table."""
    if _HAS_ARROW_FRAMES:
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    private: Any = frame
    batches = private._collect_as_arrow()
    schema = to_arrow_schema(frame.schema)
    return pa.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()


def _to_arrow(self: DataFrame) -> pa.Table:
    """The rows as an Arrow table, as `toArrow` of PySpark 4 gives them."""
    return arrow_table_of(self)


_to_arrow.__name__ = "toArrow"
TO_ARROW: Final = _to_arrow
"""The method `toArrow` for frames that lack it."""


def frame_of_arrow(spark: SparkSession, table: pa.Table, schema: t.StructType | None = None) -> DataFrame:
    """The rows of an Arrow table as a frame, whose plan contains them, with the types of a schema. Without one, times
    without a zone are those of the session's zone where the session takes TIMESTAMP for TIMESTAMP_LTZ.

    Raises what PySpark and Arrow raise for a type that Spark does not have.
    """
    if _HAS_ARROW_FRAMES:
        return spark.createDataFrame(table) if schema is None else spark.createDataFrame(table, schema)
    return _frame_of_arrow_in_35(spark, table, schema)


def _frame_of_arrow_in_35(spark: SparkSession, table: pa.Table, wanted: t.StructType | None) -> DataFrame:
    """As `SparkSession.createDataFrame` of PySpark 4: a stream of Arrow batches that the JVM reads from a file."""
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.utils import is_timestamp_ntz_preferred

    names = table.column_names
    plain = pa.Table.from_arrays([_in_micros(column).cast(_small(column.type)) for column in table.columns], names)
    if wanted is None:
        wanted = from_arrow_schema(plain.schema, prefer_timestamp_ntz=is_timestamp_ntz_preferred())
    schema = from_arrow_schema(plain.schema, prefer_timestamp_ntz=True)
    batches = plain.cast(to_arrow_schema(schema), safe=False).to_batches() if names else plain.to_batches()
    jvm: Any = spark._jvm
    context: Any = spark.sparkContext
    utils = jvm.PythonSQLUtils
    found = context._serialize_to_jvm(
        batches, ArrowStreamSerializer(), utils.readArrowStreamFromFile, jvm.ArrowIteratorServer
    )
    frame = DataFrame(utils.toDataFrame(found, schema.json(), spark._jsparkSession), spark)
    if [field.dataType for field in schema.fields] == [field.dataType for field in wanted.fields]:
        return frame
    by_place = frame.toDF(*map(str, range(len(names))))
    return by_place.select(*(F.col(str(i)).cast(f.dataType).alias(f.name) for i, f in enumerate(wanted.fields)))


def _in_micros(column: pa.ChunkedArray) -> pa.ChunkedArray:
    is_nanos = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    return pc.floor_temporal(column, unit="microsecond") if is_nanos else column


def _small(kind: Any) -> pa.DataType:
    """The type with 32-bit offsets: PySpark 3.5 knows no large lists, and reads no large texts."""
    match kind:
        case pa.StructType():
            return pa.struct([field.with_type(_small(field.type)) for field in kind])
        case pa.MapType():
            return pa.map_(_small(kind.key_type), kind.item_field.with_type(_small(kind.item_type)))
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType():
            return pa.list_(kind.value_field.with_type(_small(kind.value_type)))
        case _:
            return _LARGE.get(str(kind), kind)
