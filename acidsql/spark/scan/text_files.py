"""The files of text tables as rows: their lines without header and footer, split into columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from acidsql.acid.table import Table
from acidsql.acid.text_format import footer_lines, header_lines
from acidsql.planner.event_queries import name_sql
from acidsql.spark.catalyst.gateway import where
from acidsql.spark.engine import A_FILE_A_TASK, copy_with
from acidsql.spark.scan import text_fields
from acidsql.spark.scan.exact_paths import load_exactly
from acidsql.spark.scan.file_partitions import METADATA, ROW_NUMBER, metadata_column

_LINE: Final = ":line"
_LINES: Final = ":lines"


def load_text(spark: SparkSession, table: Table, paths: Sequence[str]) -> DataFrame:
    """The rows of text files, and the column that `metadata_column` names. Spark decompresses a file by the suffix of
    its name, as Hive does. Raises NOT_YET_SUPPORTED."""
    fields = text_fields.fields(table)
    header, footer = header_lines(table), footer_lines(table)
    # The task of a whole file counts its lines.
    lines = load_exactly((copy_with(spark, A_FILE_A_TASK) if header or footer else spark).read, "text", paths)
    metadata = metadata_column([c.name for c in table.columns])
    if footer:
        lines = _without_ends(lines, metadata, header, footer)
        return lines.select(*fields, F.col(name_sql(metadata)))
    if metadata != METADATA:
        fields.append(F.col(METADATA).alias(metadata))
    return (where(lines, f"{ROW_NUMBER} >= {header}") if header else lines).select(*fields)


def _without_ends(lines: DataFrame, metadata: str, header: int, footer: int) -> DataFrame:
    """The lines without the first and the last ones of each file. Only a window knows the number of lines of a file
    before the file is read, so this costs a shuffle."""
    numbered = lines.select("value", F.col(METADATA).alias(metadata), F.expr(ROW_NUMBER).alias(_LINE))
    of_file = Window.partitionBy(F.col(name_sql(metadata))["file_path"])
    counted = numbered.withColumn(_LINES, F.count(F.lit(1)).over(of_file))
    return counted.where((F.col(_LINE) >= header) & (F.col(_LINE) < F.col(_LINES) - footer))
