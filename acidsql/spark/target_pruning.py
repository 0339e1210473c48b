"""Partitions, files and row groups of a statement's target are not read if they cannot have the keys of a small source.

The keys of a MERGE's source, or of a subquery of UPDATE or DELETE, are read before the target is listed, in a job of
their own. So the query for them must give the same rows again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.errors import AnalysisException

from acidsql.grammar.quoting import name_sql
from acidsql.planner.plan import KeyQuery, Scan
from acidsql.snapshot.key_ranges import are_keys, come_first, narrowed
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.spark.catalyst.gateway import select
from acidsql.spark.catalyst.repeatable_queries import is_repeatable
from acidsql.spark.collected_rows import small_rows
from acidsql.spark.running_spark import StatementSpark
from acidsql.spark.session.jobs import was_cancelled
from acidsql.spark.session.jvm_loss import SPARK_ERRORS

_LARGE: Final = 64 * 1024 * 1024
"""Bytes of a target from which on it is worth a job to find out which of its files have the keys."""
_MOST_KEY_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a source up to which its keys are read."""


def pruned(
    spark: StatementSpark,
    query: KeyQuery,
    target: Scan,
    snapshots: StatementSnapshots,
    args: Mapping[str, object],
) -> Scan:
    """The target's scan with the conditions that the keys imply. It is the same scan if the target is small, or if the
    query reads much or may give other rows when it runs again. The views that the query reads are defined."""
    if not _is_large(target, query, snapshots):
        return target
    try:
        keys = spark.sql(query.sql, args)
    except AnalysisException:
        return target  # the statement's own query reports the error, with its place
    if not is_repeatable(keys):
        return target
    wanted = select(keys, [f"{name_sql(key)} AS {name_sql(column)}" for column, key in query.columns.items()])
    try:
        rows = small_rows(wanted, lambda schema: are_keys(schema, target.table), _MOST_KEY_BYTES)
    except SPARK_ERRORS as error:
        if was_cancelled(error):
            raise
        return target  # the same: the source is read again, and fails again
    return target if rows is None else narrowed(target, dict(zip(rows.column_names, rows.columns, strict=True)))


def _is_large(target: Scan, query: KeyQuery, snapshots: StatementSnapshots) -> bool:
    if come_first(target, query.columns, snapshots):
        return True
    return sum(f.file.length for part in snapshots.bind(target).parts for f in part.data_files) >= _LARGE
