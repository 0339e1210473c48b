"""The columns of a query as Hive gives them: their names, the padding of CHAR, and their types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import NullType, StructField, YearMonthIntervalType

from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.dml.create_as import column_names
from acidsql.planner.plan import Scan
from acidsql.spark.catalyst.char_columns import CHAR_LENGTH, VARCHAR_LENGTH, lengths
from acidsql.spark.spark_types import hive_type_name


def with_own_names(rows: DataFrame, scans: Sequence[Scan]) -> DataFrame:
    """The rows of a query over `scans`. A column that Spark names after its expression gets the statement's names in
    it, in place of the names that row__id and INPUT__FILE__NAME have in the views of the scans."""
    renamed = [f"{s.view}." for s in scans if s.row_id or s.file_name or s.is_deleted]
    names = rows.columns if renamed else []
    shown = [reduce(lambda name, view: name.replace(view, ""), renamed, name) for name in names]
    return rows if shown == names else rows.toDF(*shown)


def as_shown(rows: DataFrame) -> DataFrame:
    """The rows with CHAR columns padded to their length, and with intervals of months as Hive's text, such as 1-2:
    PySpark cannot collect such intervals."""
    fields, sizes = rows.schema.fields, lengths(rows, CHAR_LENGTH)
    if not any(sizes) and not any(isinstance(field.dataType, YearMonthIntervalType) for field in fields):
        return rows
    by_place = rows.toDF(*map(str, range(len(fields))))
    shown = (_as_shown(F.col(str(place)), *one) for place, one in enumerate(zip(fields, sizes, strict=True)))
    return by_place.select(*(value.alias(name) for value, name in zip(shown, rows.columns, strict=True)))


def _as_shown(value: Column, field: StructField, char_length: int | None) -> Column:
    if char_length is not None:
        # What is not padded stays as it is: RPAD may change a text that is not UTF-8 (sized_text.py).
        return F.when(F.length(value) < char_length, F.rpad(value, char_length, " ")).otherwise(value)
    if isinstance(field.dataType, YearMonthIntervalType):
        return F.regexp_extract(value.cast("interval year to month").cast("string"), "'(.*)'", 1)
    return value


def hive_columns(rows: DataFrame, *, of_view: bool) -> list[tuple[str, str]]:
    """The names and Hive types of the columns of a view or a table. Raises CREATE_AS_TYPE.

    As in Hive, a column of a view, but not of a table, may have the type of NULL, `void`.
    """
    fields = rows.schema.fields
    named = column_names([field.name for field in fields])
    sized = zip(named, fields, lengths(rows, CHAR_LENGTH), lengths(rows, VARCHAR_LENGTH), strict=True)
    return [(field.name, _hive_type(name, field, *sizes, of_view=of_view)) for name, field, *sizes in sized]


def _hive_type(name_in_hive: str, field: StructField, char: int | None, varchar: int | None, *, of_view: bool) -> str:
    if char is not None or varchar is not None:
        return f"varchar({varchar})" if char is None else f"char({char})"
    if of_view and isinstance(field.dataType, NullType):
        return "void"
    name = hive_type_name(field.dataType)
    if name is None:
        kind = field.dataType.simpleString()
        hint = "Use CAST to give it a type that a table can have."
        raise AcidSqlError(Condition.CREATE_AS_TYPE, column=name_in_hive, type=kind, hint=hint)
    return name
