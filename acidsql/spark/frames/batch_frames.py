"""The frames that a streaming query gives to the function of foreachBatch, and the query that runs it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from acidsql.grammar.quoting import name_sql
from acidsql.spark.catalyst.pyspark_api import VariantType
from acidsql.spark.catalyst.streaming_queries import has_running
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, is_lost

_RANK: Final = ":rank"
_LOW: Final = 0xFFFFFFFF
_MODULUS: Final = 1 << 64


def query_of(frame: DataFrame) -> str:
    """The ID of the streaming query that runs on this thread, or an empty text. It lies in the query's checkpoint."""
    return frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or ""


def is_running(spark: SparkSession, query: str) -> bool:
    """Whether a streaming query runs, by its ID. An empty ID, of calls outside of a query, counts as running."""
    if is_lost(spark.sparkContext):
        return False
    try:
        return not query or has_running(spark, query)
    except SPARK_ERRORS:
        return not is_lost(spark.sparkContext)


def digest(frame: DataFrame) -> int:
    """The sum of the hashes of the rows, modulo 2**64. It does not depend on the order of the rows."""
    fields = frame.schema.fields
    numbered = frame.toDF(*(f"c{i}" for i in range(len(fields))))  # a frame may have two columns of one name
    columns = [_hashable(F.col(f"c{i}"), field.dataType) for i, field in enumerate(fields)]
    of_row = F.xxhash64(F.lit(len(columns)), *columns)
    # Each half is summed by itself: a sum of the whole hashes would overflow.
    low, high = of_row.bitwiseAND(F.lit(_LOW)), F.shiftrightunsigned(of_row, 32)
    (found,) = numbered.agg(F.sum(low), F.sum(high)).collect()
    return ((found[0] or 0) + ((found[1] or 0) << 32)) % _MODULUS


def _hashable(column: Column, kind: DataType) -> Column:
    """Spark does not hash maps. The JSON of one is the same each time that the same rows are read."""
    return F.to_json(F.struct(column)) if _has_map(kind) else column


def _has_map(kind: DataType) -> bool:
    match kind:
        case MapType() | VariantType():
            return True
        case ArrayType():
            return _has_map(kind.elementType)
        case StructType():
            return any(_has_map(field.dataType) for field in kind.fields)
        case _:
            return False


def newest(frame: DataFrame, keys: Sequence[str], by: Sequence[str], grouped: Collection[str] = ()) -> DataFrame:
    """The newest record of each key: the one with the highest values in the columns `by`; NULL is the lowest.

    All records are kept whose key is NULL in a column that is not in `grouped`: such a key is equal to no other.
    """
    key = [F.col(name_sql(name)) for name in keys]
    order = [F.col(name_sql(name)).desc_nulls_last() for name in by]
    rank: Column = F.row_number().over(Window.partitionBy(*key).orderBy(*order))
    alone = [column.isNull() for name, column in zip(keys, key, strict=True) if name not in grouped]
    if alone:
        rank = F.when(reduce(or_, alone), F.lit(1)).otherwise(rank)
    return frame.withColumn(_RANK, rank).where(F.col(name_sql(_RANK)) == 1).drop(_RANK)
