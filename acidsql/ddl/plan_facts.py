"""What a DDL plan needs to know: the tables and databases that a statement names, read from the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from acidsql.acid.table import Table
from acidsql.ddl.ownership import absolute
from acidsql.ddl.table_lookup import TableLookup
from acidsql.grammar import statements as s
from acidsql.metastore.client import Database, Partition
from acidsql.planner.ddl_plan import DdlFacts, DdlStatement
from acidsql.storage.file_systems import is_local


def plan_facts(statement: DdlStatement, lookup: TableLookup, database: str, warehouse: str) -> DdlFacts:
    """`database` is the current one. Raises TABLE_NOT_FOUND, DATABASE_NOT_FOUND for what the statement needs."""
    tables = {t.qualified: t for t in _tables(statement, lookup, database)}
    databases = {d.name: d for d in _databases(statement, lookup, database)}
    partitions = _partitions(statement, lookup, tables.values())
    return DdlFacts(database, absolute(warehouse), tables, databases, tuple(partitions))


def with_absolute_locations(statement: DdlStatement, lookup: TableLookup, database: str) -> DdlStatement:
    """The statement with locations that do not depend on the process's working directory."""
    match statement:
        case s.CreateDatabase() | s.CreateTable() if statement.location is not None:
            return replace(statement, location=absolute(statement.location))
        case s.AlterTable(action=s.SetLocation() as action):
            return replace(statement, action=replace(action, location=absolute(action.location)))
        case s.AlterTable(action=s.AddPartitions() as action) if any(location for _, location in action.partitions):
            table = lookup.table(statement.table, database)
            partitions = tuple(
                (items, None if location is None else _below(table, location)) for items, location in action.partitions
            )
            return replace(statement, action=replace(action, partitions=partitions))
        case _:
            return statement


def _below(table: Table, location: str) -> str:
    """The location of a partition: as in Hive, a relative one is below the table's."""
    is_relative = is_local(location) and not location.startswith(("/", "file:"))
    return absolute(f"{table.location}/{location}" if is_relative else location)


def _tables(statement: DdlStatement, lookup: TableLookup, database: str) -> Iterator[Table]:
    match statement:
        case s.CreateDatabase():
            return
        case s.DropDatabase():
            if statement.cascade and _is_there(lookup, statement.database):
                yield from _tables_of(lookup, statement.database.value)
        case s.CreateTable():
            found = _find_unsettled(lookup, statement.table, database) if statement.if_not_exists else None
            if found is not None:
                yield found
            elif statement.like is not None:
                yield lookup.table(statement.like, database)
        case s.DropTable():
            if not statement.if_exists or _find_unsettled(lookup, statement.table, database) is not None:
                yield lookup.table(statement.table, database)
        case s.TruncateTable():
            yield lookup.table(statement.table, database)
        case s.LoadData():
            yield lookup.table(statement.target, database)
        case s.AlterTable():
            yield lookup.table(statement.table, database)
            if isinstance(statement.action, s.RenameTable):
                found = _find_unsettled(lookup, statement.action.new_name, database)
                if found is not None:
                    yield found
        case _:
            assert_never(statement)


def _tables_of(lookup: TableLookup, database: str) -> Iterator[Table]:
    """A table that somebody drops meanwhile is left out."""
    for name in lookup.metastore.tables(database):
        table = lookup.metastore.find_table(database, name)
        if table is not None:
            yield table


def _find_unsettled(lookup: TableLookup, name: s.TableName, database: str) -> Table | None:
    """A table of which only the name counts, so that the statement does not wait for a move of its directory."""
    return lookup.metastore.find_table(name.database or database, name.name)


def _databases(statement: DdlStatement, lookup: TableLookup, database: str) -> Iterator[Database]:
    match statement:
        case s.CreateDatabase():
            if statement.if_not_exists and _is_there(lookup, statement.database):
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
        case s.AlterTable() | s.DropTable() | s.TruncateTable() | s.LoadData():
            return
        case _:
            assert_never(statement)


def _is_there(lookup: TableLookup, name: s.Name) -> bool:
    return any(d.name == name.value for d in lookup.metastore.databases())


def _partitions(statement: DdlStatement, lookup: TableLookup, tables: Iterable[Table]) -> Sequence[Partition]:
    if isinstance(statement, s.LoadData) and statement.partition:
        return [p for table in tables if table.partition_columns for p in lookup.metastore.partitions(table)]
    return ()
