"""Plain (non-transactional) tables: appended to without a transaction."""

from __future__ import annotations

import uuid
from itertools import chain, count
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.layout import STAGING_DIRECTORY, original_name
from acidsql.acid.table import Column as TableColumn
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.events import name_sql
from acidsql.planner.plan import BRANCH, WritePlan
from acidsql.spark.bucketing import bucket_column
from acidsql.spark.engine import Engine
from acidsql.spark.exact_paths import load_exactly
from acidsql.spark.files import FileSystem
from acidsql.spark.orc_times import representable
from acidsql.spark.types import ddl, file_type, has_instant

_FORMATS: Final = ("orc", "parquet")
_BUCKET: Final = "@bucket"


def append(spark: SparkSession, events: DataFrame, plan: WritePlan, engine: Engine) -> int:
    """Adds the rows as new files; the number of rows."""
    table = plan.target
    _check_format(table)
    files = engine.files(table.location)
    directory = files.resolve(table.location)
    run = uuid.uuid4().hex[:12]
    staging = f"{directory}/{STAGING_DIRECTORY}_{run}"
    columns = [_filed(c, table).alias(c.name) for c in table.columns]
    if table.bucket_columns:
        columns.append(bucket_column(table).alias(_BUCKET))
    try:
        rows = events.where(F.col(BRANCH) >= 0).select(*columns)
        writer = rows.write.mode("overwrite").partitionBy(*([_BUCKET] if table.bucket_columns else []))
        writer.format(table.file_format).save(staging)
        found = load_exactly(spark.read.schema(rows.schema), table.file_format, [staging]).count()
        for file in files.list_below(staging).files:
            if (number := _file_number(file.path)) is not None:
                add_file(files, f"{staging}/{file.path}", f"{directory}/{original_name(number)}")
        return found
    finally:
        files.delete(staging)


def _filed(column: TableColumn, table: Table) -> Column:
    value = f"CAST({name_sql(column.name)} AS {ddl(file_type(parse_type(column.type)))})"
    return F.expr(representable(value, column) if table.file_format == "orc" else value)


def _file_number(path: str) -> int | None:
    """The bucket of a staged file or, where there are none, the task that wrote it; None for no data file."""
    directory, _, name = path.rpartition("/")
    if not name.startswith("part-"):
        return None
    return int(directory.removeprefix(f"{_BUCKET}=")) if directory else int(name.split("-")[1])


def add_file(files: FileSystem, source: str, target: str) -> str:
    """Moves a file to `target`, or, where others lie there, to `target_copy_1`, `_copy_2` .., as Hive names them: only
    files named so are taken over by a conversion to full ACID. Gives the path that it has now."""
    directory, _, name = target.rpartition("/")
    stem, dot, extension = name.partition(".")  # .gz tells a reader of text what to do
    copies = (f"{directory}/{stem}_copy_{number}{dot}{extension}" for number in count(1))
    return next(path for path in chain([target], copies) if files.place(source, path))


def _check_format(table: Table) -> None:
    if table.file_format not in _FORMATS:
        feature = f"A plain table stored as {table.file_format} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    if table.file_format == "orc" and any(has_instant(parse_type(c.type)) for c in table.columns):
        feature = f"Writing timestamp with local time zone to a plain ORC table ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    if table.partition_columns:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"A partitioned plain table ({table.qualified})")
