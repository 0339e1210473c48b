"""Plain (non-transactional) tables: appended to without a transaction."""

from __future__ import annotations

import uuid
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.acid.table import Table
from acidsql.acid.types import parse_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.plan import BRANCH, WritePlan
from acidsql.spark.engine import Engine
from acidsql.spark.types import file_type, has_instant

_FORMATS: Final = ("orc", "parquet")


def append(spark: SparkSession, events: DataFrame, plan: WritePlan, engine: Engine) -> int:
    """Adds the rows as new files; the number of rows."""
    table = plan.target
    _check_format(table)
    files = engine.files(table.location)
    directory = files.resolve(table.location)
    run = uuid.uuid4().hex[:12]
    staging = f"{directory}/{STAGING_DIRECTORY}_{run}"
    columns = [F.col(f"`{c.name}`").cast(file_type(parse_type(c.type))).alias(c.name) for c in table.columns]
    try:
        rows = events.where(F.col(BRANCH) >= 0).select(*columns)
        rows.write.mode("overwrite").format(table.file_format).save(staging)
        count = spark.read.schema(rows.schema).format(table.file_format).load(staging).count()
        for file in files.list_below(staging).files:
            if not file.path.startswith("_"):
                files.rename(f"{staging}/{file.path}", f"{directory}/{file.path[:10]}_{run}.{table.file_format}")
        return count
    finally:
        files.delete(staging)


def _check_format(table: Table) -> None:
    if table.file_format not in _FORMATS:
        feature = f"A plain table stored as {table.file_format} ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    if table.file_format == "orc" and any(has_instant(parse_type(c.type)) for c in table.columns):
        feature = f"Writing timestamp with local time zone to a plain ORC table ({table.qualified})"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    if table.partition_columns:
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"A partitioned plain table ({table.qualified})")
