"""EXPLAIN of statements that need no query: the locks they take, and what they do to catalog and directories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Table
from acidsql.ddl.catalog_changes import Ddl
from acidsql.grammar.statements import (
    AlterTable,
    Compact,
    CreateDatabase,
    CreateTable,
    DropDatabase,
    DropTable,
    LoadData,
    TruncateTable,
)
from acidsql.metastore.client import LockComponent, LockType, Operation
from acidsql.planner.explain import explain_locks
from acidsql.planner.lock_requests import database_lock, insert_locks, overwrite_locks
from acidsql.planner.partition_spec import partition_values

DdlStatement: TypeAlias = (
    AlterTable | CreateDatabase | CreateTable | DropDatabase | DropTable | LoadData | TruncateTable
)
DDL_STATEMENTS = (AlterTable, CreateDatabase, CreateTable, DropDatabase, DropTable, LoadData, TruncateTable)


@dataclass(frozen=True, slots=True)
class DdlPlan:
    """What a statement will do, in words."""

    title: str
    locks: tuple[LockComponent, ...] = ()
    does: tuple[str, ...] = ()

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield self.title
        if self.locks:
            yield "locks"
            yield from (f"  {line}" for line in explain_locks(self.locks).splitlines()[1:])
        yield "does"
        yield from (f"  {line}" for line in self.does or ("nothing",))


def plan_ddl(statement: DdlStatement, ddl: Ddl, database: str) -> DdlPlan:
    """Raises TABLE_NOT_FOUND, DATABASE_NOT_FOUND; nothing else is looked at."""
    match statement:
        case CreateTable():
            return _create_table(statement, ddl, database)
        case DropTable():
            return _drop_table(statement, ddl, database)
        case TruncateTable():
            table = ddl.lookup(statement.table, database)
            writes = f"writes an empty base_W in {'its partitions' if table.partition_columns else table.location}"
            return DdlPlan(f"TRUNCATE TABLE {table.qualified}", overwrite_locks(table, ()), (writes,))
        case LoadData():
            return _load(statement, ddl.lookup(statement.target, database))
        case AlterTable(action=Compact() as action):
            table = ddl.lookup(statement.table, database)
            return DdlPlan(f"ALTER TABLE {table.qualified} COMPACT", (), (f"queues a {action.type} compaction",))
        case AlterTable():
            table = ddl.lookup(statement.table, database)
            locks = (_exclusive(table.database, table.name),) if table.is_transactional else ()
            return DdlPlan(f"ALTER TABLE {table.qualified}", locks, ("changes the catalog",))
        case CreateDatabase():
            name = statement.database.value
            location = statement.location or f"{ddl.warehouse}/{name}.db"
            return DdlPlan(f"CREATE DATABASE {name}", (), (f"adds it to the catalog, at {location}",))
        case DropDatabase():
            name = statement.database.value
            if statement.if_exists and all(d.name != name for d in ddl.metastore.databases()):
                return DdlPlan(f"DROP DATABASE {name}")
            gone = ddl.database(statement.database).location
            done = f"removes it, and {gone} if no other files lie there"
            return DdlPlan(f"DROP DATABASE {name}", (_exclusive(name, None),), (done,))


def _create_table(statement: CreateTable, ddl: Ddl, database: str) -> DdlPlan:
    owner = statement.table.database or database
    title = f"CREATE TABLE {owner}.{statement.table.name}"
    if ddl.exists(statement, database):
        return DdlPlan(title)
    ddl.database_of(statement.table, database)
    done = "adopts what lies at" if statement.location else "makes"
    place = statement.location or "a directory in the database's"
    return DdlPlan(title, (database_lock(owner),), ("adds it to the catalog", f"{done} {place}"))


def _drop_table(statement: DropTable, ddl: Ddl, database: str) -> DdlPlan:
    found = ddl.find(statement.table, database)
    if found is None and statement.if_exists:
        return DdlPlan(f"DROP TABLE {statement.table.database or database}.{statement.table.name}")
    table = ddl.lookup(statement.table, database)
    locks = (_exclusive(table.database, table.name),) if table.is_transactional else ()
    files = f"leaves {table.location}, for it is external" if table.external else f"removes {table.location}"
    return DdlPlan(f"DROP TABLE {table.qualified}", locks, ("removes it from the catalog", files))


def _load(statement: LoadData, table: Table) -> DdlPlan:
    place = table.location
    locks = (overwrite_locks if statement.overwrite else insert_locks)(table, ())
    if table.partition_columns:
        values = partition_values(statement.partition, table, statement.target.span)
        name = partition_name([c.name for c in table.partition_columns], values)
        place, locks = f"{place}/{name}", tuple(replace(lock, partition=name) for lock in locks)
    to = "" if not table.is_transactional else "/base_W" if statement.overwrite else "/delta_W_W_0000"
    verb = "copies" if statement.local else "moves"
    does = f"{verb} the files of {statement.path} to {place}{to}"
    return DdlPlan(f"LOAD DATA INTO {table.qualified}", locks if table.is_transactional else (), (does,))


def _exclusive(database: str, table: str | None) -> LockComponent:
    return LockComponent(database, table, LockType.EXCLUSIVE, Operation.NO_TXN)
