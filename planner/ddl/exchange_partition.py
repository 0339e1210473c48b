"""EXCHANGE PARTITION: which tables may exchange which partitions, by the rules of Hive's
AlterTableExchangePartitionAnalyzer."""

from __future__ import annotations

from collections.abc import Sequence

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import ExchangePartition
from acidsql.planner.ddl.ddl_plan import TakePartitions


def exchange_step(table: Table, source: Table, action: ExchangePartition, span: Span | None) -> TakePartitions:
    """Partitions of `source` move to `table`; `span` is the name of `table`.

    Raises NOT_PARTITIONED, INCOMPATIBLE_TABLES, EXCHANGE_TRANSACTIONAL, PARTITION_VALUES_NOT_CONTINUOUS, ALTER_REFUSED.
    """
    if not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    if _kinds(table.columns) != _kinds(source.columns) or _kinds(table.partition_columns) != _kinds(
        source.partition_columns
    ):
        raise AcidSqlError(Condition.INCOMPATIBLE_TABLES, span=action.other.span)
    if table.is_transactional or source.is_transactional:
        raise AcidSqlError(Condition.EXCHANGE_TRANSACTIONAL, span=span)
    if table.qualified == source.qualified:
        message = f"{table.qualified} cannot exchange partitions with itself"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=action.other.span, message=message)
    if _storage(table) != _storage(source):
        message = f"{table.qualified} and {source.qualified} differ in their file format, SerDe or buckets"
        hint = "INSERT OVERWRITE .. SELECT the partition, and drop it from the other table."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=action.other.span, message=message, hint=hint)
    _check_prefix(action, table)
    return TakePartitions(table, source, action.partition, span)


def _check_prefix(action: ExchangePartition, table: Table) -> None:
    """The clause must give values to the first partition columns, with no gap."""
    given = {item.column.value for item in action.partition}
    for item in action.partition:
        if item.value is None or item.operator not in ("=", "=="):
            detail = f"{item.column.value} must be given as {item.column.value} = value"
            raise AcidSqlError(Condition.INVALID_PARTITION_SPEC, span=item.column.span, detail=detail)
    first = {column.name for column in table.partition_columns[: len(given)]}
    if given <= {column.name for column in table.partition_columns} and given != first:
        raise AcidSqlError(Condition.PARTITION_VALUES_NOT_CONTINUOUS, span=action.partition[0].column.span)


def _kinds(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]


def _storage(table: Table) -> tuple[object, ...]:
    buckets = (table.bucket_columns, table.bucket_count, table.sort_columns)
    return (table.file_format, table.serde, dict(table.row_format), *buckets)
