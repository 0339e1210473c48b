"""ALTER TABLE: each action under the table's EXCLUSIVE lock, as one change of the catalog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from acidsql.acid.object_names import check_table_name
from acidsql.acid.partition_values import as_known
from acidsql.acid.table import Table
from acidsql.ddl.catalog_changes import Ddl
from acidsql.ddl.column_changes import with_added, with_changed, with_replaced
from acidsql.ddl.conversion import AlterProperties
from acidsql.ddl.ownership import absolute
from acidsql.ddl.partition_changes import AlterPartitions
from acidsql.ddl.relocation import exclusively_settled, finish_move, require_free, with_move
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.statements import (
    AddColumns,
    AddPartitions,
    AlterTable,
    ChangeColumn,
    Compact,
    DropPartitions,
    RenamePartition,
    RenameTable,
    ReplaceColumns,
    SetLocation,
    SetTableProperties,
    UnsetTableProperties,
)
from acidsql.metastore.client import Partition
from acidsql.planner.lock_requests import database_lock
from acidsql.planner.partition_spec import partition_values


@dataclass(frozen=True, slots=True)
class Alter:
    """Runs ALTER TABLE statements."""

    ddl: Ddl

    def run(self, statement: AlterTable, database: str) -> None:
        """Raises TABLE_NOT_FOUND, and what the action breaks; then nothing has changed."""
        table = self.ddl.lookup(statement.table, database)
        span = statement.table.span
        action = statement.action
        match action:
            case AddColumns():
                self._columns(table, lambda now: with_added(now, action))
            case ChangeColumn():
                self._columns(table, lambda now: with_changed(now, action))
            case ReplaceColumns():
                self._columns(table, lambda now: with_replaced(now, action, span))
            case AddPartitions():
                self._partitions(table, span).add(action)
            case DropPartitions():
                self._partitions(table, span).drop(action)
            case RenamePartition():
                self._partitions(table, span).rename(action)
            case RenameTable():
                self._rename(table, action, database)
            case SetTableProperties():
                AlterProperties(self.ddl.transactions, self.ddl.files, table, span).set(action)
            case UnsetTableProperties():
                AlterProperties(self.ddl.transactions, self.ddl.files, table, span).unset(action)
            case SetLocation():
                self._set_location(table, action, span)
            case Compact():
                raise AssertionError("no change of the catalog: compactor/compaction_requests.py")
            case _:
                assert_never(action)

    def _columns(self, table: Table, change: Callable[[Table], Table]) -> None:
        """Uses up a write ID, as in Hive (tests/golden/schema_evolution)."""
        metastore = self.ddl.metastore
        with exclusively_settled(self.ddl.transactions, self.ddl.files, table) as held:
            changed = change(held.table)
            if held.table.is_transactional:
                metastore.allocate_write_id(held.txn, held.table)
            metastore.alter_table(held.table, changed)

    def _partitions(self, table: Table, span: Span | None) -> AlterPartitions:
        return AlterPartitions(self.ddl.transactions, self.ddl.files, table, span)

    def _rename(self, table: Table, action: RenameTable, database: str) -> None:
        """As in Hive, the directory moves if the table is managed and has its default location."""
        metastore, files = self.ddl.metastore, self.ddl.files
        new_name = action.new_name
        check_table_name(new_name.name, new_name.span)
        target = self.ddl.database_of(new_name, database)
        if metastore.find_table(target.name, new_name.name) is not None:
            shown = f"{target.name}.{new_name.name}"
            raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, span=new_name.span, table=shown)
        with exclusively_settled(self.ddl.transactions, files, table, database_lock(target.name)) as held:
            old, target = held.table, self.ddl.database_of(new_name, database)
            place, new_place = (
                d.location_of(transactional=old.is_transactional) for d in (metastore.database(old.database), target)
            )
            new_location = f"{new_place}/{new_name.name}"
            moves = not old.external and old.location == f"{place}/{old.name}"
            renamed = replace(old, database=target.name, name=new_name.name)
            if moves:
                require_free(files, new_location)
                renamed = with_move(renamed, old.location, new_location)
            if old.is_transactional:
                metastore.allocate_write_id(held.txn, old)
            metastore.alter_table(old, renamed)
            if moves:
                finish_move(metastore, files, renamed)

    def _set_location(self, table: Table, action: SetLocation, span: Span | None) -> None:
        """Of plain tables only, and no file moves, as in Hive: the table has what lies there."""
        if table.is_transactional:
            message = (
                f"The location of {table.qualified} cannot be set: it is transactional, and what lies elsewhere has"
                " write IDs that are not its own"
            )
            hint = "CREATE TABLE .. LOCATION adopts the directory of a transactional table."
            raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)
        location = absolute(action.location)
        metastore = self.ddl.metastore
        values = partition_values(action.partition, table, span) if action.partition else None
        with exclusively_settled(self.ddl.transactions, self.ddl.files, table) as held:
            ownership = self.ddl.ownership()
            if values is None:
                moved = replace(held.table, location=location)
                ownership.require_for_table(moved, span)
                metastore.alter_table(held.table, moved)
                return
            partitions = metastore.partitions(held.table)
            found = as_known(values, table.partition_columns, [p.values for p in partitions])
            if found is None:
                shown = ", ".join(f"{i.column.value}" for i in action.partition)
                raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=action.partition[0].column.span, partition=shown)
            moved_partition = Partition(found, location)
            others = (p for p in partitions if p.values != found)
            ownership.require_for_partition(held.table, moved_partition, others, span)
            metastore.alter_table(held.table, held.table, partitions={found: moved_partition})
