"""A DDL statement and the catalog facts that it needs, to its plan: the locks first, then the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from acidsql.acid.object_names import check_database_name, check_table_name
from acidsql.acid.partition_values import as_known, check_own_place
from acidsql.acid.table import Table, View
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import statements as s
from acidsql.metastore.catalog import DEFAULT_DATABASE, Database, Partition
from acidsql.metastore.lock_components import LockComponent
from acidsql.planner.ddl import ddl_plan as steps
from acidsql.planner.ddl.constraint_changes import with_constraint, without_constraint
from acidsql.planner.ddl.create_defaults import with_defaults
from acidsql.planner.ddl.create_like import with_columns_of
from acidsql.planner.ddl.ddl_plan import DdlFacts, DdlPlan, DdlStatement, Step
from acidsql.planner.ddl.ddl_settings import ignores_missing
from acidsql.planner.ddl.exchange_partition import exchange_step
from acidsql.planner.ddl.partition_spec import default_location, name_of_partition, partition_values
from acidsql.planner.ddl.statistics_update import require_column, statistics_step
from acidsql.planner.ddl.table_definition import ADOPT_WRITE_IDS, check_supported, defined_table
from acidsql.planner.ddl.table_properties import conversion, known_key
from acidsql.planner.ddl.table_storage import StorageAction, change_text, with_storage
from acidsql.planner.ddl.view_ddl import plan_view_statement
from acidsql.planner.lock_requests import analyze_locks, database_lock, exclusive_lock, insert_locks, overwrite_locks


def plan_ddl(statement: DdlStatement, facts: DdlFacts) -> DdlPlan:
    """Raises the AcidSqlError of the first rule that the statement breaks. The runs of the steps check the rules about
    the table's columns, properties, partitions and files."""
    match statement:
        case s.CreateDatabase():
            return _create_database(statement, facts)
        case s.AlterDatabase():
            return _alter_database(statement, facts)
        case s.DropDatabase():
            return _drop_database(statement, facts)
        case s.CreateTable():
            return _create_table(statement, facts)
        case s.DropTable():
            return _drop_table(statement, facts)
        case s.TruncateTable():
            empty = truncate_step(statement, facts.table(statement.table))
            return DdlPlan(f"TRUNCATE TABLE {empty.table.qualified}", truncate_locks(empty), (empty,))
        case s.CreateView() | s.AlterView() | s.DropView():
            return plan_view_statement(statement, facts)
        case s.LoadData():
            load = load_step(statement, facts.table(statement.target), facts.partitions)
            return DdlPlan(f"LOAD DATA INTO {load.table.qualified}", load_locks(load), (load,))
        case s.RepairTable():
            return _repair_table(statement, facts)
        case s.AnalyzeTable():
            return _analyze_table(statement, facts)
        case s.AlterTable():
            title = f"ALTER TABLE {facts.qualified(statement.table)}"
            return DdlPlan(title, _alter_locks(statement, facts), (_alter_step(statement, facts),))
        case _:
            assert_never(statement)


# ------------------------------------------------------------------------------------------------ databases


def _create_database(statement: s.CreateDatabase, facts: DdlFacts) -> DdlPlan:
    name, span = statement.database.value, statement.database.span
    title = f"CREATE DATABASE {name}"
    if statement.if_not_exists and name in facts.databases:
        return DdlPlan(title)
    check_database_name(name, span)
    location = statement.location or f"{facts.warehouse}/{name}.db"
    properties = dict(statement.properties)
    database = Database(name, location, statement.comment, properties, statement.managed_location)
    return DdlPlan(title, (), (steps.RegisterDatabase(database, span),))


def _alter_database(statement: s.AlterDatabase, facts: DdlFacts) -> DdlPlan:
    """Takes no lock, as in Hive: the change affects no table and no running statement."""
    database = facts.databases[statement.database.value]
    step = steps.RedefineDatabase(database, _altered(database, statement.action), statement.database.span)
    return DdlPlan(f"ALTER DATABASE {database.name}", (), (step,))


def _altered(database: Database, action: s.AlterDatabaseAction) -> Database:
    match action:
        case s.SetDatabaseProperties(properties):
            return replace(database, properties={**database.properties, **dict(properties)})
        case s.SetOwner(owner, kind):
            return replace(database, owner=owner, owner_kind=kind)
        case s.SetDatabaseLocation(location, managed=False):
            return replace(database, location=location)
        case s.SetDatabaseLocation(location):
            return replace(database, managed_location=location)
        case _:
            assert_never(action)


def _drop_database(statement: s.DropDatabase, facts: DdlFacts) -> DdlPlan:
    """The lock on the database is one on all its tables too. The catalog refuses to drop `default`: its tables stay."""
    name = statement.database.value
    title = f"DROP DATABASE {name}"
    database = facts.databases.get(name)
    if database is None:
        return DdlPlan(title)
    contents = () if name == DEFAULT_DATABASE else facts.contents
    removals = (steps.RemoveView(r) if isinstance(r, View) else steps.RemoveTable(r, r.skips_trash) for r in contents)
    return DdlPlan(title, (exclusive_lock(name, None),), (*removals, steps.RemoveDatabase(database)))


# ------------------------------------------------------------------------------------------------ tables


def _create_table(statement: s.CreateTable, facts: DdlFacts) -> DdlPlan:
    """The lock keeps the database from being dropped, as Hive's CREATE TABLE does (DDL_SHARED)."""
    check_supported(statement)
    title = f"CREATE {'TEMPORARY ' if statement.temporary else ''}TABLE {facts.qualified(statement.table)}"
    if statement.if_not_exists and facts.relation(statement.table) is not None:
        return DdlPlan(title)
    if statement.like is not None:
        source = facts.relation(statement.like)
        assert source is not None, "the facts have what the statement names"
        statement = with_columns_of(statement, source)
    statement = with_defaults(statement, facts.settings)
    database = facts.database_of(statement.table)
    step = steps.RegisterTable(
        defined_table(statement, database),
        adopts=statement.location is not None,
        write_ids=dict(statement.properties).get(ADOPT_WRITE_IDS),
        span=statement.table.span,
    )
    return DdlPlan(title, (database_lock(database.name),), (step,))


def _drop_table(statement: s.DropTable, facts: DdlFacts) -> DdlPlan:
    """The locks of Hive's DropTableAnalyzer. As in Hive, an external table is not locked, because its files stay
    (AcidUtils.isLockableTable, hive.txn.ext.locking.enabled)."""
    title = f"DROP TABLE {facts.qualified(statement.table)}"
    if facts.qualified(statement.table) in facts.views and not statement.if_exists:
        raise AcidSqlError(Condition.WRONG_DROP, span=statement.table.span, kind="view", statement="DROP TABLE")
    table = facts.find(statement.table)
    if table is None:
        return DdlPlan(title)
    on_table = () if table.external else (exclusive_lock(table.database, table.name),)
    step = steps.RemoveTable(table, statement.purge or table.skips_trash)
    return DdlPlan(title, (database_lock(table.database), *on_table), (step,))


def _repair_table(statement: s.RepairTable, facts: DdlFacts) -> DdlPlan:
    """The lock keeps writers out, so that no directory of a write under way is taken for a partition. Hive locks
    transactional tables so (Msck.repair). Raises NOT_PARTITIONED."""
    table, span = facts.table(statement.table), statement.table.span
    if not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    step = steps.RepairPartitions(table, statement.adds, statement.drops, not statement.repairs, span)
    return DdlPlan(f"MSCK TABLE {table.qualified}", (exclusive_lock(table.database, table.name),), (step,))


def _analyze_table(statement: s.AnalyzeTable, facts: DdlFacts) -> DdlPlan:
    """The lock keeps writers out while the numbers are stored. Rows are counted before.

    Raises NOT_PARTITIONED, COLUMN_NOT_FOUND.
    """
    table, span = facts.table(statement.table), statement.table.span
    if statement.partition and not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    for name in statement.columns or ():
        require_column(name, table.column_names)
    step = steps.CollectStatistics(table, statement.partition, statement.scans, span)
    locks = analyze_locks(table, facts.settings, reads=statement.scans)
    return DdlPlan(f"ANALYZE TABLE {table.qualified}", locks, (step,))


def truncate_step(statement: s.TruncateTable, table: Table) -> steps.EmptyTable:
    """Raises TRUNCATE_EXTERNAL, NOT_PARTITIONED."""
    span = statement.table.span
    if table.external:
        raise AcidSqlError(Condition.TRUNCATE_EXTERNAL, span=span, table=table.qualified)
    if statement.partition and not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    return steps.EmptyTable(table, statement.partition)


def truncate_locks(step: steps.EmptyTable) -> tuple[LockComponent, ...]:
    return overwrite_locks(step.table, ())


def load_step(statement: s.LoadData, table: Table, partitions: Sequence[Partition]) -> steps.LoadFiles:
    """`partitions` are the table's: the clause may spell the values of one otherwise (`q=01`).

    Raises PARTITION_REQUIRED, LOCATION_NOT_EMPTY, and what `partition_values` raises.
    """
    span = statement.target.span
    step = steps.LoadFiles(table, statement.path, copies=statement.local, overwrites=statement.overwrite)
    if not statement.partition:
        if table.partition_columns:
            hint = f"PARTITION ({', '.join(f'{c.name} = ..' for c in table.partition_columns)})"
            raise AcidSqlError(Condition.PARTITION_REQUIRED, span=span, table=table.qualified, hint=hint)
        return step
    values = partition_values(statement.partition, table, span)
    known = {p.values: p for p in partitions}
    found = as_known(values, table.partition_columns, known.keys())
    if found is not None:
        return replace(step, partition=known[found])
    location = default_location(table, values)
    check_own_place(location, table.partition_columns, {p.location: p.values for p in partitions}, span)
    return replace(step, partition=Partition(values, location), is_new=True)


def load_locks(step: steps.LoadFiles) -> tuple[LockComponent, ...]:
    """Those of INSERT or INSERT OVERWRITE, on the partition that the statement names."""
    locks = (overwrite_locks if step.overwrites else insert_locks)(step.table, ())
    if step.partition is None:
        return locks
    name = name_of_partition(step.table, step.partition.values)
    return tuple(replace(lock, partition=name) for lock in locks)


# ------------------------------------------------------------------------------------------------ ALTER TABLE


def _alter_locks(statement: s.AlterTable, facts: DdlFacts) -> tuple[LockComponent, ...]:
    """A plain table is locked too, so that two changes of its definition take turns. RENAME also keeps the new database
    from being dropped. A compaction takes its locks itself, when it runs."""
    table, action = facts.table(statement.table), statement.action
    if isinstance(action, s.Compact):
        return ()
    new_database = (
        (database_lock(facts.database_of(action.new_name).name),) if isinstance(action, s.RenameTable) else ()
    )
    other = facts.table(action.other) if isinstance(action, s.ExchangePartition) else None
    on_other = () if other is None else (exclusive_lock(other.database, other.name),)
    return (exclusive_lock(table.database, table.name), *on_other, *new_database)


def _alter_step(statement: s.AlterTable, facts: DdlFacts) -> Step:
    table, span, action = facts.table(statement.table), statement.table.span, statement.action
    match action:
        case s.AddColumns() | s.ChangeColumn() | s.ReplaceColumns():
            return steps.RedefineColumns(table, action, span)
        case s.AddConstraint(constraint):
            changed = with_constraint(table, constraint, facts.database)
            return steps.RedefineTable(table, changed, f"adds the constraint {constraint.name.value}")
        case s.DropConstraint(name):
            return steps.RedefineTable(table, without_constraint(table, name), f"removes the constraint {name.value}")
        case s.AddPartitions():
            named = ((partition_values(items, table, span), location) for items, location in action.partitions)
            partitions = (Partition(values, place or default_location(table, values)) for values, place in named)
            return steps.RegisterPartitions(table, tuple(partitions), action.if_not_exists, span)
        case s.DropPartitions():
            if_exists = action.if_exists or ignores_missing(facts.settings)
            return steps.RemovePartitions(table, action.partitions, if_exists, action.purge or table.skips_trash, span)
        case s.RenamePartition():
            old, new = (partition_values(items, table, span) for items in (action.partition, action.new_partition))
            spans = (items[0].column.span for items in (action.partition, action.new_partition))
            return steps.MovePartition(table, old, new, *spans)
        case s.RenameTable():
            return _rename(table, action, facts)
        case s.SetTableProperties():
            properties = {known_key(key): value for key, value in action.properties}
            return steps.UpdateProperties(table, properties, conversion(table, properties), span)
        case s.UnsetTableProperties():
            return steps.RemoveProperties(table, tuple(map(known_key, action.keys)), action.if_exists, span)
        case s.SetLocation():
            return _assign_location(table, statement, action)
        case (
            s.SetFileFormat()
            | s.SetSerde()
            | s.SetSerdeProperties()
            | s.UnsetSerdeProperties()
            | s.SetClustering()
            | s.NotSorted()
            | s.SetBucketCount()
        ):
            return _redefine_storage(table, action, span)
        case s.Touch():
            return steps.Touch(table, tuple(partition_values(items, table, span) for items in action.partitions), span)
        case s.UpdateStatistics():
            return statistics_step(table, action, span)
        case s.UpdateColumnStatistics(column, _, partition):
            require_column(column, [c.name for c in table.columns])
            return steps.Touch(table, (partition_values(partition, table, span),) if partition else (), span)
        case s.SetOwner(owner, kind):
            owned = replace(table, owner=owner, owner_kind=kind)
            return steps.RedefineTable(table, owned, f"sets the owner to the {kind.value.lower()} {owner}")
        case s.ExchangePartition():
            return exchange_step(table, facts.table(action.other), action, span)
        case s.Compact():
            return steps.RequestCompaction(table, action)
        case _:
            assert_never(action)


def _redefine_storage(table: Table, action: StorageAction, span: Span | None) -> steps.RedefineStorage:
    new, change = with_storage(table, action, span), change_text(action)
    if not action.partition:
        return steps.RedefineStorage(table, new, change, span=span)
    values = partition_values(action.partition, table, span)
    return steps.RedefineStorage(table, new, change, values, span, action.partition[0].column.span)


def _rename(table: Table, action: s.RenameTable, facts: DdlFacts) -> steps.MoveTable:
    """As in Hive, the directory moves if the table is managed and has its default location."""
    new_name = action.new_name
    check_table_name(new_name.name, new_name.span)
    database = facts.database_of(new_name)
    if facts.relation(new_name) is not None:
        shown = f"{database.name}.{new_name.name}"
        raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, span=new_name.span, table=shown)
    place, new_place = (
        d.location_of(transactional=table.is_transactional) for d in (facts.databases[table.database], database)
    )
    moves = not table.external and table.location == f"{place}/{table.name}"
    move = steps.Move(table.location, f"{new_place}/{new_name.name}") if moves else None
    return steps.MoveTable(table, replace(table, database=database.name, name=new_name.name), move)


def _assign_location(table: Table, statement: s.AlterTable, action: s.SetLocation) -> steps.AssignLocation:
    """Only plain tables can get another location. As in Hive no file moves: the table has the files that lie there."""
    span = statement.table.span
    if table.is_transactional:
        message = (
            f"The location of {table.qualified} cannot be set: it is transactional, and what lies elsewhere has"
            " write IDs that are not its own"
        )
        hint = "CREATE TABLE .. LOCATION adopts the directory of a transactional table."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)
    if not action.partition:
        return steps.AssignLocation(table, action.location, span=span)
    values = partition_values(action.partition, table, span)
    return steps.AssignLocation(table, action.location, values, span, action.partition[0].column.span)
