"""The files of text tables as rows: their lines without header and footer, split into columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from acidsql.acid import csv_format, regex_format
from acidsql.acid.json_format import JSON_SERDES
from acidsql.acid.table import Table
from acidsql.acid.text_format import footer_lines, header_lines
from acidsql.grammar.quoting import name_sql
from acidsql.spark.catalyst.gateway import where
from acidsql.spark.running_spark import FILE_PER_TASK, copy_with
from acidsql.spark.scan.exact_paths import load_exactly
from acidsql.spark.scan.file_partitions import METADATA, ROW_NUMBER, metadata_column
from acidsql.spark.text_formats import text_fields
from acidsql.spark.text_formats.csv_fields import csv_fields
from acidsql.spark.text_formats.json_fields import REPEATED_KEYS, json_fields, with_objects
from acidsql.spark.text_formats.regex_fields import regex_fields

_LINE: Final = ":line"
_LINES: Final = ":lines"


def load_text(spark: SparkSession, table: Table, paths: Sequence[str]) -> DataFrame:
    """The rows of text files, and the column that `metadata_column` names. Spark decompresses a file by the suffix of
    its name, as Hive does.

    Raises NOT_YET_SUPPORTED, INVALID_TABLE_PROPERTIES, and when it runs INVALID_JSON_LINE.
    """
    header, footer = header_lines(table), footer_lines(table)
    settings = _settings(table)
    lines = load_exactly((copy_with(spark, settings) if settings else spark).read, "text", paths)
    metadata = metadata_column([c.name for c in table.columns])
    if footer:
        lines = _without_ends(lines, metadata, header, footer)
    else:
        lines = where(lines, f"{ROW_NUMBER} >= {header}") if header else lines
        lines = lines.select("value", F.col(METADATA).alias(metadata))
    return _columns(lines, table, F.col(name_sql(metadata)))


def _settings(table: Table) -> Mapping[str, str]:
    """Settings of the scan. The task of a whole file counts its lines."""
    counts = bool(header_lines(table) or footer_lines(table))
    return (FILE_PER_TASK if counts else {}) | (REPEATED_KEYS if table.serde in JSON_SERDES else {})


def _columns(lines: DataFrame, table: Table, metadata: Column) -> DataFrame:
    """The table's columns of the lines, and the column `metadata`."""
    match table.serde:
        case None:
            fields = text_fields.fields(table)
        case csv_format.CSV_SERDE:
            fields = csv_fields(table)
        case regex_format.REGEX_SERDE:
            fields = regex_fields(lines.sparkSession, table)
        case _:
            lines, fields = with_objects(lines, table), json_fields(table)
    return lines.select(*fields, metadata)


def _without_ends(lines: DataFrame, metadata: str, header: int, footer: int) -> DataFrame:
    """The lines without the first and the last ones of each file. Only a window knows the number of lines of a file
    before the file is read, so this costs a shuffle."""
    numbered = lines.select("value", F.col(METADATA).alias(metadata), F.expr(ROW_NUMBER).alias(_LINE))
    of_file = Window.partitionBy(F.col(name_sql(metadata))["file_path"])
    counted = numbered.withColumn(_LINES, F.count(F.lit(1)).over(of_file))
    return counted.where((F.col(_LINE) >= header) & (F.col(_LINE) < F.col(_LINES) - footer))
