"""Plain (non-transactional) tables: their rows staged as files of their format."""

from __future__ import annotations

from pyspark.sql import DataFrame

from acidsql.planner.event_queries import name_sql
from acidsql.planner.partition_text import partition_text
from acidsql.planner.plan import WritePlan
from acidsql.spark.catalyst.gateway import with_columns
from acidsql.spark.write.bucket_expression import bucket_column
from acidsql.spark.write.event_rows import filed, value_directories, with_constraints
from acidsql.spark.write.publishing import BUCKET_DIRECTORY, StagedFile, WriteTarget, finish_staged
from acidsql.spark.write.staging import save


def stage(events: DataFrame, plan: WritePlan, target: WriteTarget) -> list[StagedFile]:
    """Writes the rows of the events, in the storage session."""
    table = plan.target
    rows = with_constraints(events)
    if table.bucket_columns:
        rows = with_columns(rows, {BUCKET_DIRECTORY: bucket_column(table)})
    texts = value_directories(table)
    buckets = [BUCKET_DIRECTORY] if table.bucket_columns else []
    values = [f"{partition_text(name_sql(c.name), c)} AS {name_sql(name)}" for name, c in texts.items()]
    rows = filed(rows, (*values, *map(name_sql, buckets)), table)
    save(rows, table, target.files, target.staging, [*texts, *buckets])
    return finish_staged(target, None)
