"""Strategy `Plain`: the rows of a plain (non-transactional) table, staged as files of its format."""

from __future__ import annotations

from acidsql.grammar.quoting import name_sql
from acidsql.planner.stored_values.partition_text import partition_text
from acidsql.planner.write_strategy import Plain
from acidsql.spark.catalyst.gateway import with_columns
from acidsql.spark.write.bucket_expression import bucket_column
from acidsql.spark.write.event_rows import filed, with_constraints
from acidsql.spark.write.event_write import EventWrite
from acidsql.spark.write.staging import save
from acidsql.writing.placed_columns import value_directories
from acidsql.writing.publishing import BUCKET_DIRECTORY, StagedFile, finish_staged


def stage_plain(write: EventWrite, strategy: Plain) -> list[StagedFile]:
    """Writes the rows of the events, as the tasks make them."""
    table, target = write.plan.target, write.target
    rows = with_constraints(write.events)
    if table.bucket_columns:
        rows = with_columns(rows, {BUCKET_DIRECTORY: bucket_column(table)})
    texts = value_directories(table)
    buckets = [BUCKET_DIRECTORY] if table.bucket_columns else []
    values = [f"{partition_text(name_sql(c.name), c)} AS {name_sql(name)}" for name, c in texts.items()]
    # Behind the projection: between two, Spark would copy each row once more.
    rows = filed(rows, (*values, *map(name_sql, buckets)), table).coalesce(strategy.most_tasks)
    written = save(rows, table, target.files, target.staging, [*texts, *buckets])
    return finish_staged(target, written, None)
