"""ALTER TABLE .. COMPACT: checks a request before it is queued."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.grammar.statements import Compact, TableName
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.compactions import CompactionRequest
from acidsql.planner.conditions.partition_pruning import has_values


def compaction_requests(
    action: Compact, table: Table, name: TableName, partitions: Sequence[PartitionValues]
) -> list[CompactionRequest]:
    """The requests of a statement on `table`, whose `partitions` have these values: one, or one for each partition of a
    partitioned table that the statement names without a PARTITION clause.

    Raises NONACID_COMPACTION, INVALID_COMPACTION_TYPE, TOO_MANY_COMPACTION_PARTITIONS, NOT_PARTITIONED,
    PARTITION_NOT_FOUND, REBALANCE_ONLY_FULL_ACID, COMPACTION_CLAUSE, COLUMN_NOT_FOUND.
    """
    if not table.is_transactional:
        raise AcidSqlError(Condition.NONACID_COMPACTION, span=name.span, table=table.qualified)
    kind = _type(action)
    if kind is CompactionType.REBALANCE:
        _check_rebalance(action, table, name)
    elif action.buckets is not None or action.order_by:
        clause = "ORDER BY" if action.order_by else "CLUSTERED INTO .. BUCKETS"
        raise AcidSqlError(Condition.COMPACTION_CLAUSE, span=action.type_span, clause=clause)
    return [
        CompactionRequest(
            table.database,
            table.name,
            partition,
            kind,
            dict(action.properties),
            action.pool,
            ", ".join(item.source for item in action.order_by) or None,
            action.buckets,
        )
        for partition in _places(action, table, name, partitions)
    ]


def _type(action: Compact) -> CompactionType:
    try:
        return CompactionType[action.type.upper()]
    except KeyError:
        raise AcidSqlError(Condition.INVALID_COMPACTION_TYPE, span=action.type_span, type=action.type) from None


def _check_rebalance(action: Compact, table: Table, name: TableName) -> None:
    kind = "insert-only" if table.is_insert_only else "bucketed" if table.bucket_columns else None
    if kind is not None:
        raise AcidSqlError(Condition.REBALANCE_ONLY_FULL_ACID, span=name.span, table=table.qualified, kind=kind)
    known = {c.name for c in table.columns}
    for column in (c for item in action.order_by for c in item.value.find_all(exp.Column)):
        if column.name.lower() not in known:
            raise AcidSqlError(
                Condition.COLUMN_NOT_FOUND,
                span=name.span,
                column=column.name,
                suggestion=suggestion(column.name, sorted(known)),
            )


def _places(
    action: Compact, table: Table, name: TableName, partitions: Sequence[PartitionValues]
) -> Sequence[str | None]:
    """The names of the partitions to compact; None stands for a table without partitions."""
    columns = [c.name for c in table.partition_columns]
    if not columns:
        if action.partition:
            raise AcidSqlError(Condition.NOT_PARTITIONED, span=name.span, table=table.qualified)
        return [None]
    if not action.partition:
        return [partition_name(columns, values) for values in partitions]
    found = [values for values in partitions if has_values(action.partition, table, values)]
    if not found:
        shown = ", ".join(f"{i.column.value}={i.value.name}" for i in action.partition if i.value is not None)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=name.span, partition=shown)
    if len(found) > 1:
        count = len(found)
        raise AcidSqlError(Condition.TOO_MANY_COMPACTION_PARTITIONS, span=name.span, table=table.qualified, count=count)
    return [partition_name(columns, found[0])]
