"""Frames that come with a call: Spark, pandas, Arrow, or rows of another Spark session's making."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError, Condition


def to_frame(value: Any, name: str, spark: SparkSession) -> DataFrame:
    """The value as a Spark DataFrame. Raises UNRESOLVED_QUERY for what is no frame."""
    if isinstance(value, DataFrame):
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind.startswith(("pandas.", "pyarrow.")) or isinstance(value, list):
        return spark.createDataFrame(value)
    message = f"{{{name}}} is a {kind}: give a Spark, pandas or Arrow frame"
    raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)
