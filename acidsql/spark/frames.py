"""Frames that a caller passes with a statement (Spark, pandas, Arrow, lists of rows), and frames with the answers of
statements that are not queries.

An answer is made from an Arrow table, which becomes part of the plan. A frame that Spark makes from Python's rows runs
a job, with Python processes, each time it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.spark_connect import is_of_connect
from acidsql.spark.jvm_loss import SPARK_ERRORS
from acidsql.spark.spark_types import hive_type_name

_UNREADABLE: Final = (PySparkException, TypeError, ValueError, ArithmeticError, AttributeError, NotImplementedError)
"""The exceptions of PySpark and Arrow (ArrowInvalid is a ValueError) for rows whose types they cannot infer."""


def to_frame(value: Any, name: str, spark: SparkSession) -> DataFrame:
    """The value as a Spark DataFrame. Raises UNRESOLVED_QUERY for a value that is not a frame."""
    if is_of_connect(value):
        message = f"{{{name}}} is a frame of Spark Connect: give a frame of a classic Spark session"
        raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)
    if isinstance(value, DataFrame):
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    try:
        if kind.startswith("pandas."):
            return spark.createDataFrame(_by_arrow(value))
        if kind.startswith("pyarrow.") or isinstance(value, list):
            return spark.createDataFrame(value)
    except _UNREADABLE as error:
        message = f"{{{name}}} cannot be read: {next(iter(str(error).splitlines()), kind)}"
        raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message) from error
    message = f"{{{name}}} is a {kind}: give a Spark, pandas or Arrow frame"
    raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)


def column_types(value: Any) -> Mapping[str, str | None]:
    """The columns of a frame in lower case, each with its Hive type; None for a type that Hive does not have. Empty for
    rows whose types only Spark can infer."""
    if is_of_connect(value):
        return {}
    try:
        if isinstance(value, DataFrame):
            schema = value.schema
        else:
            from pyspark.sql.pandas.types import from_arrow_schema  # imports NumPy

            found = _by_arrow(value) if type(value).__module__.startswith("pandas.") else value
            if not type(found).__module__.startswith("pyarrow."):
                return {}
            schema = from_arrow_schema(found.schema)
    except (*_UNREADABLE, *SPARK_ERRORS):
        return {}  # the statement reports the error when it reads the frame
    return {field.name.lower(): hive_type_name(field.dataType) for field in schema.fields}


def _by_arrow(frame: Any) -> Any:
    """A pandas frame as an Arrow table, if Arrow is installed. PySpark 4.1 reads a missing string of pandas 3 as the
    text 'nan'; Arrow reads it as NULL."""
    try:
        import pyarrow
    except ImportError:
        return frame
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


def frame_of_counts(names: Sequence[str], counts: Sequence[int], spark: SparkSession) -> DataFrame:
    """One row of BIGINTs."""
    import pyarrow as pa

    return spark.createDataFrame(pa.table([pa.array([count], pa.int64()) for count in counts], list(names)))


def frame_of_texts(names: Sequence[str], rows: Sequence[Sequence[object]], spark: SparkSession) -> DataFrame:
    """Rows of STRINGs."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return spark.createDataFrame(pa.table([pa.array(column, pa.string()) for column in columns], list(names)))


def plan_text(frame: DataFrame) -> str:
    """Spark's physical plan as DataFrame.explain prints it, for people: nothing reads it."""
    printed = StringIO()
    with redirect_stdout(printed):
        frame.explain(mode="formatted")
    return printed.getvalue().strip()
