"""TRUNCATE TABLE: an empty base in the table's directory, or in each partition that the clause names."""

from __future__ import annotations

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import to_spark
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.history_retention import keeps_history
from acidsql.metastore.transactions import Transactions
from acidsql.planner.conditions.partition_pruning import has_values
from acidsql.planner.ddl.ddl_plan import EmptyTable
from acidsql.planner.ddl.ddl_planner import truncate_locks
from acidsql.snapshot.foreign_directories import check_whole
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.file_systems import FilesOf, FileSystem
from acidsql.writing.catalog_partitions import CatalogPartitions
from acidsql.writing.publishing import WriteTarget, empty
from acidsql.writing.table_write import note_replaced
from acidsql.writing.write_transaction import WriteTransaction, transaction


def empty_table(step: EmptyTable, transactions: Transactions, files_of: FilesOf) -> WriteTransaction:
    """Runs the step in a transaction and gives the transaction, which is committed.

    Raises PARTITION_NOT_FOUND, and what `transaction` raises.
    """
    table = step.table
    with transaction(transactions, lambda: truncate_locks(step)) as txn:
        txn.check_unchanged(table)
        files = files_of(table.location)
        emptied = _directories(step, transactions, files)
        check_whole(txn.metastore, table, files_of)
        directory, write_id = files.resolve(table.location), txn.write_id(table)
        partitions = CatalogPartitions(emptied, table, files, None)
        target = WriteTarget(
            table, directory, files, txn.id, write_id, (), partitions, overwrites=True, operation="TRUNCATE"
        )
        write = txn.begin(target)
        write.emptied.extend(emptied.values())
        txn.opened.require_open()
        siblings = txn.siblings(write)
        snapshots = StatementSnapshots(files_of, txn.view())
        before = snapshots.parts_of(table, list(emptied)) if keeps_history(table) else None
        for place in write.emptied:
            empty(target, place, write.made, siblings, txn.opened.require_open)
        if before is not None:
            note_replaced(write, before)
    return txn


def _directories(step: EmptyTable, transactions: Transactions, files: FileSystem) -> dict[PartitionValues, str]:
    """The directories to empty, by partition values."""
    table, items = step.table, step.partition
    if not table.partition_columns:
        return {(): files.resolve(table.location)}
    found = [p for p in transactions.metastore.partitions(table) if has_values(items, table, p.values)]
    if items and not found:
        shown = ", ".join(f"{i.column.value}={to_spark(i.value)}" for i in items if i.value is not None)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=items[0].column.span, partition=shown)
    return {p.values: files.resolve(p.location) for p in found}
