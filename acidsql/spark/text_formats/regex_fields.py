"""Values of tables with RegexSerDe: the groups of a regular expression that matches the whole line.

A line that does not match is a row of NULLs. The rules were seen in Hive 4.0.1
(tests/interop/test_hive_text_formats.py).
"""

from __future__ import annotations

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.hive_types import Char, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.regex_format import line_pattern
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.pyspark_api import try_cast
from acidsql.spark.session.jvm_loss import SPARK_ERRORS
from acidsql.spark.spark_types import file_type
from acidsql.spark.text_formats.text_values import taken


def regex_fields(spark: SparkSession, table: Table) -> list[Column]:
    """The columns of a line, which is the column `value`. Raises INVALID_TABLE_PROPERTIES for a pattern that Java does
    not understand, or that has not a group for each column."""
    pattern = line_pattern(table.row_format, table.properties)
    _check_groups(spark, table, pattern)
    line = F.col("value")
    return [
        F.when(line.rlike(pattern), _value(_group(line, pattern, place), parse_type(column.type))).alias(column.name)
        for place, column in enumerate(table.columns, 1)
    ]


def _check_groups(spark: SparkSession, table: Table, pattern: str) -> None:
    try:
        groups = jvm(spark).java_class("java.util.regex.Pattern").compile(pattern).matcher("").groupCount()
    except SPARK_ERRORS as error:
        reason = str(error).partition("\n")[0]
        message = f"Java does not understand the input.regex of {table.qualified}: {reason}"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, message=message) from error
    if groups != len(table.columns):
        message = (
            f"Number of matching groups doesn't match the number of columns: {groups} and {len(table.columns)}"
            f" ({table.qualified})"
        )
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, message=message)


def _group(line: Column, pattern: str, place: int) -> Column:
    """The text of a group; NULL for a group that is not part of the match. Spark gives an empty text for both that and
    an empty group. Only a group that is part of the match is found by a back reference."""
    text = F.regexp_extract(line, pattern, place)
    flags, _, inside = pattern.partition(")")
    is_part = line.rlike(rf"{flags})(?={inside})(?s:.*?)\{place}")
    return F.when((text != "") | is_part, text)


def _value(text: Column, hive_type: HiveType) -> Column:
    match hive_type:
        case Primitive("string"):
            return text
        case Char(length) | Varchar(length):
            return F.substring(text, 1, length)
        case Primitive("boolean"):
            return F.coalesce(F.lower(text) == "true", F.lit(False))
        case Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return try_cast(F.when(text.rlike(r"^[+-]?\d+$"), text), file_type(hive_type))
        case _:
            return try_cast(taken(text, str(hive_type)), file_type(hive_type))
