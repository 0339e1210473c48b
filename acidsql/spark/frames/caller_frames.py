"""Frames that a caller passes with a statement (Spark, pandas, polars, Arrow, lists of rows), and frames with the
answers of statements that are not queries.

An answer is made from an Arrow table, which becomes part of the plan. A frame that Spark makes from Python's rows runs
a job, with Python processes, each time it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, Final, cast

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql
from acidsql.spark.catalyst.pyspark_api import frame_of_arrow
from acidsql.spark.catalyst.spark_connect import is_of_connect
from acidsql.spark.frames.arrow_frames import with_known_types
from acidsql.spark.session.jvm_loss import SPARK_ERRORS
from acidsql.spark.spark_types import hive_type_name
from acidsql.values.arrow_tables import arrow_table, check_integers

_UNREADABLE: Final = (PySparkException, TypeError, ValueError, ArithmeticError, AttributeError, NotImplementedError)
"""The exceptions of PySpark and Arrow (ArrowInvalid is a ValueError) for rows whose types they cannot infer."""


def readable_frames(frames: Mapping[str, object]) -> dict[str, object]:
    """The frames of a statement as values that can be read several times: Spark DataFrames, Arrow tables and lists.

    Raises what `readable_frame` raises.
    """
    return {name: readable_frame(value, f"{{{name}}}") for name, value in frames.items()}


def readable_frame(value: Any, name: str) -> Any:
    """The frame as a Spark DataFrame, an Arrow table with types that Spark knows, or the list that it is.

    A frame of pandas, and whatever gives its rows as a stream of Arrow (a frame of polars, a reader), becomes an Arrow
    table. Raises UNRESOLVED_QUERY, which calls the frame `name`, for a value that is not a frame, and what
    `arrow_table` raises.
    """
    if is_of_connect(value):
        message = f"{name} is a frame of Spark Connect: give a frame of a classic Spark session"
        raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)
    if isinstance(value, DataFrame | list):
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    try:
        table = arrow_table(value, name)
        if table is not None:
            return with_known_types(table)
    except _UNREADABLE as error:
        raise _unreadable(name, error, kind) from error
    message = f"{name} is a {kind}: give a Spark, pandas or Arrow frame, or one that has __arrow_c_stream__"
    raise AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)


def _unreadable(name: str, error: BaseException, kind: str) -> AcidSqlError:
    message = f"{name} cannot be read: {next(iter(str(error).splitlines()), kind)}"
    return AcidSqlError(Condition.UNRESOLVED_QUERY, message=message)


def to_frame(value: Any, name: str, spark: SparkSession) -> DataFrame:
    """The value as a Spark DataFrame. Raises UNRESOLVED_QUERY for a value that is not a frame, and INVALID_RECORD for
    an integer beyond BIGINT in a list, which would become NULL."""
    found = readable_frame(value, f"{{{name}}}")
    if isinstance(found, DataFrame):
        return found
    if isinstance(found, list):
        check_integers(found)
    try:
        return spark.createDataFrame(found) if isinstance(found, list) else frame_of_arrow(spark, found)
    except _UNREADABLE as error:
        raise _unreadable(f"{{{name}}}", error, type(found).__qualname__) from error


def frame_columns(frame: Any) -> Sequence[str]:
    """The names of the columns of a DataFrame or an Arrow table, as `readable_frame` gives them."""
    return frame.columns if isinstance(frame, DataFrame) else frame.column_names


def repeated_key(value: Any, keys: Sequence[str], spark: SparkSession) -> Mapping[str, object] | None:
    """The values of `keys` that several rows of a frame have; None if no two rows agree in them."""
    key = [F.col(name_sql(name)) for name in keys]
    many = to_frame(value, "source", spark).groupBy(*key).count().where(F.col("count") > 1)
    found = many.select(*key).first()
    return None if found is None else dict(zip(keys, found, strict=True))


def column_types(value: Any) -> Mapping[str, str | None]:
    """The columns of a frame in lower case, each with its Hive type; None for a type that Hive does not have, and for
    one that only Spark can infer. Empty for rows whose columns only Spark can infer."""
    if is_of_connect(value):
        return {}
    if isinstance(value, list):
        return _types_of_records(value)
    try:
        if isinstance(value, DataFrame):
            schema = value.schema
        else:
            from pyspark.sql.pandas.types import from_arrow_schema  # imports NumPy

            schema = from_arrow_schema(readable_frame(value, "frame").schema)
    except (*_UNREADABLE, *SPARK_ERRORS):
        return {}  # the statement reports the error when it reads the frame
    return {field.name.lower(): hive_type_name(field.dataType) for field in schema.fields}


def _types_of_records(records: Sequence[object]) -> Mapping[str, str | None]:
    """The columns of a list of dicts: those that hold text only, and others, whose types Spark infers."""
    if not all(isinstance(record, dict) for record in records):
        return {}
    kinds: dict[str, set[type]] = {}
    for record in records:
        for name, value in cast("dict[object, object]", record).items():
            kinds.setdefault(str(name).lower(), set()).update(() if value is None else (type(value),))
    return {name: "string" if of == {str} else None for name, of in kinds.items()}


def frame_of_counts(names: Sequence[str], counts: Sequence[int], spark: SparkSession) -> DataFrame:
    """One row of BIGINTs."""
    import pyarrow as pa

    return frame_of_arrow(spark, pa.table([pa.array([count], pa.int64()) for count in counts], list(names)))


def frame_of_texts(names: Sequence[str], rows: Sequence[Sequence[object]], spark: SparkSession) -> DataFrame:
    """Rows of STRINGs."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return frame_of_arrow(spark, pa.table([pa.array(column, pa.string()) for column in columns], list(names)))


def plan_text(frame: DataFrame) -> str:
    """Spark's physical plan as DataFrame.explain prints it, for people: nothing reads it."""
    printed = StringIO()
    with redirect_stdout(printed):
        frame.explain(mode="formatted")
    return printed.getvalue().strip()
