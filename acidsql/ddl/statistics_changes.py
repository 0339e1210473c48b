"""ALTER TABLE .. UPDATE STATISTICS: stores numbers that a statement gives, which nothing has counted."""

from __future__ import annotations

from acidsql.ddl.plan_run import PlanRun
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import PartitionValues
from acidsql.planner.ddl.ddl_plan import StoreStatistics
from acidsql.planner.ddl.partition_spec import comparison_text, partitions_named


def store(step: StoreStatistics, run: PlanRun) -> None:
    """Stores the numbers as out of date, so that neither Hive nor acidsql answers a query from them.

    Raises PARTITION_NOT_FOUND.
    """
    table = step.table
    assert run.transaction is not None, "the plan locks the table"
    txn = run.transaction.id if table.is_transactional else None
    statistics = dict.fromkeys(_chosen(step, run), step.statistics)
    run.metastore.set_statistics(txn, table, statistics, accurate=False)


def _chosen(step: StoreStatistics, run: PlanRun) -> list[PartitionValues]:
    if not step.partition:
        return [()]
    known = run.metastore.partition_values(step.table)
    named = partitions_named(step.partition, step.table, known, step.partition[0].column.span)
    if not named:
        shown = ", ".join(map(comparison_text, step.partition))
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=step.partition[0].column.span, partition=shown)
    return list(named)
