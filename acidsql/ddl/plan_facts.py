"""What a DDL plan needs to know: the tables and databases that a statement names, read from the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from acidsql.acid.table import Relation, Table, View
from acidsql.ddl.ownership import absolute, is_relative
from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.metastore.catalog import Database, Partition
from acidsql.planner.ddl.ddl_plan import DdlFacts, DdlStatement, ViewDefinition
from acidsql.planner.ddl.ddl_settings import ignores_missing


def plan_facts(
    statement: DdlStatement,
    lookup: TableLookup,
    database: str,
    warehouse: str,
    settings: Mapping[str, str],
    definition: ViewDefinition | None = None,
) -> DdlFacts:
    """`database` is the current one, `settings` are the session's, and `definition` is that of the view which the
    statement defines.

    Raises TABLE_NOT_FOUND, DATABASE_NOT_FOUND for what the statement needs, and the error of a statement that needs a
    table and names a view, or the other way round.
    """
    relations = {r.qualified: r for r in _relations(statement, lookup, database, settings)}
    tables = {name: r for name, r in relations.items() if isinstance(r, Table)}
    views = {name: r for name, r in relations.items() if isinstance(r, View)}
    databases = {d.name: d for d in _databases(statement, lookup, database)}
    partitions = _partitions(statement, lookup, tables.values())
    contents = tuple(_contents(statement, lookup))
    return DdlFacts(
        database, absolute(warehouse), tables, databases, tuple(partitions), views, definition, settings, contents
    )


def with_absolute_locations(statement: DdlStatement, lookup: TableLookup, database: str) -> DdlStatement:
    """The statement with locations that do not depend on the process's working directory."""
    match statement:
        case s.CreateDatabase():
            places = (statement.location, statement.managed_location)
            location, managed = (None if place is None else absolute(place) for place in places)
            return replace(statement, location=location, managed_location=managed)
        case s.AlterDatabase(action=s.SetDatabaseLocation() as move):
            return replace(statement, action=replace(move, location=absolute(move.location)))
        case s.CreateTable() if statement.location is not None:
            return replace(statement, location=absolute(statement.location))
        case s.AlterTable(action=s.SetLocation() as action):
            return replace(statement, action=replace(action, location=absolute(action.location)))
        case s.AlterTable(action=s.AddPartitions() as action) if any(location for _, location in action.partitions):
            table = lookup.target(statement.table, database, Condition.ALTER_COMMAND_FOR_VIEWS)
            partitions = tuple(
                (items, None if location is None else _below(table, location)) for items, location in action.partitions
            )
            return replace(statement, action=replace(action, partitions=partitions))
        case _:
            return statement


def _below(table: Table, location: str) -> str:
    """The location of a partition: as in Hive, a relative one is below the table's."""
    return absolute(f"{table.location}/{location}" if is_relative(location) else location)


def _relations(
    statement: DdlStatement, lookup: TableLookup, database: str, settings: Mapping[str, str]
) -> Iterator[Relation]:
    match statement:
        case s.CreateDatabase() | s.AlterDatabase() | s.DropDatabase():
            return
        case s.CreateTable():
            found = _find_unsettled(lookup, statement.table, database) if statement.if_not_exists else None
            if found is not None:
                yield found
            elif statement.like is not None:
                yield lookup.relation(statement.like, database)
        case s.DropTable():
            may_lack = statement.if_exists or ignores_missing(settings)
            if not may_lack or lookup.exists(statement.table, database):
                yield lookup.relation(statement.table, database)
        case s.TruncateTable():
            yield lookup.target(statement.table, database, Condition.TRUNCATE_EXTERNAL)
        case s.LoadData():
            yield lookup.target(statement.target, database, Condition.INSERT_INTO_VIEW)
        case s.AnalyzeTable():
            yield lookup.target(statement.table, database, Condition.ANALYZE_VIEW)
        case s.AlterTable() | s.RepairTable():
            yield lookup.target(statement.table, database, Condition.ALTER_COMMAND_FOR_VIEWS)
            if isinstance(statement, s.AlterTable):
                yield from _renamed(statement.action, lookup, database)
            if isinstance(statement, s.AlterTable) and isinstance(statement.action, s.ExchangePartition):
                yield lookup.target(statement.action.other, database, Condition.ALTER_COMMAND_FOR_VIEWS)
        case s.CreateView():
            found = _find_unsettled(lookup, statement.view, database)
            if found is not None:
                yield found
        case s.AlterView():
            yield altered_view(statement, lookup, database)
            yield from _renamed(statement.action, lookup, database)
        case s.DropView():
            may_lack = statement.if_exists or ignores_missing(settings)
            if not may_lack or lookup.exists(statement.view, database):
                yield lookup.relation(statement.view, database)
        case _:
            assert_never(statement)


def altered_view(statement: s.AlterView, lookup: TableLookup, database: str) -> View:
    """The view of an ALTER VIEW. Raises ALTERED_VIEW_NOT_FOUND, NOT_A_VIEW, ALTER_COMMAND_FOR_TABLES,
    TABLE_NOT_FOUND."""
    if not isinstance(statement.action, s.ViewQuery):
        return lookup.view(statement.view, database, Condition.ALTER_COMMAND_FOR_TABLES)
    if not lookup.exists(statement.view, database):
        raise AcidSqlError(Condition.ALTERED_VIEW_NOT_FOUND, span=statement.view.span, view=statement.view)
    return lookup.view(statement.view, database, Condition.NOT_A_VIEW)


def _renamed(action: s.AlterAction | s.AlterViewAction, lookup: TableLookup, database: str) -> Iterator[Relation]:
    """What already has the name that RENAME TO gives."""
    if isinstance(action, s.RenameTable):
        found = _find_unsettled(lookup, action.new_name, database)
        if found is not None:
            yield found


def _contents(statement: DdlStatement, lookup: TableLookup) -> Iterator[Relation]:
    """What DROP DATABASE .. CASCADE drops. Leaves out a table or view that another session drops meanwhile."""
    if isinstance(statement, s.DropDatabase) and statement.cascade and _is_there(lookup, statement.database):
        metastore, database = lookup.metastore, statement.database.value
        found = (metastore.find(database, name) for name in metastore.tables(database))
        yield from (relation for relation in found if relation is not None)
        yield from metastore.hidden(database)


def _find_unsettled(lookup: TableLookup, name: s.TableName, database: str) -> Relation | None:
    """The table or view of this name. The statement needs its name only, so this does not wait for the end of a
    move of its directory."""
    return lookup.metastore.find(name.database or database, name.name)


def _databases(statement: DdlStatement, lookup: TableLookup, database: str) -> Iterator[Database]:
    match statement:
        case s.CreateDatabase():
            if statement.if_not_exists and _is_there(lookup, statement.database):
                yield lookup.database(statement.database)
        case s.AlterDatabase():
            yield lookup.database(statement.database)
        case s.DropDatabase():
            if not statement.if_exists or _is_there(lookup, statement.database):
                yield lookup.database(statement.database)
        case s.CreateTable():
            if not statement.if_not_exists or _find_unsettled(lookup, statement.table, database) is None:
                yield lookup.database_of(statement.table, database)
        case s.AlterTable(action=s.RenameTable() as action):
            yield lookup.database_of(action.new_name, database)
            yield lookup.database_of(statement.table, database)
        case s.CreateView():
            if not statement.if_not_exists or _find_unsettled(lookup, statement.view, database) is None:
                yield lookup.database_of(statement.view, database)
        case s.AlterView(action=s.RenameTable() as action):
            yield lookup.database_of(action.new_name, database)
        case s.RepairTable() | s.AnalyzeTable():
            return
        case s.AlterTable() | s.DropTable() | s.TruncateTable() | s.LoadData() | s.AlterView() | s.DropView():
            return
        case _:
            assert_never(statement)


def _is_there(lookup: TableLookup, name: s.Name) -> bool:
    return any(d.name == name.value for d in lookup.metastore.databases())


def _partitions(statement: DdlStatement, lookup: TableLookup, tables: Iterable[Table]) -> Sequence[Partition]:
    if isinstance(statement, s.LoadData) and statement.partition:
        return [p for table in tables if table.partition_columns for p in lookup.metastore.partitions(table)]
    return ()
