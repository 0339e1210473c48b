"""The databases that a statement writes to, whose property `readonly` forbids it.

The rules are those of org.apache.hadoop.hive.ql.hooks.EnforceReadOnlyDatabaseHook: queries, EXPLAIN, SHOW and DESCRIBE
are let through, and ALTER DATABASE .. SET DBPROPERTIES that does not set `readonly` to true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import statements as s
from acidsql.metastore.catalog import Database

READ_ONLY: Final = "readonly"


def is_read_only(properties: Mapping[str, str]) -> bool:
    """Whether the properties of a database forbid writes."""
    return properties.get(READ_ONLY, "").lower() == "true"


def check_writable(database: Database, span: Span | None = None) -> None:
    """Raises READ_ONLY_DATABASE."""
    if is_read_only(database.properties):
        hint = f"ALTER DATABASE {database.name} SET DBPROPERTIES ('readonly'='false') allows writes."
        raise AcidSqlError(Condition.READ_ONLY_DATABASE, span=span, hint=hint)


def written_databases(statement: s.Statement, database: str) -> Iterator[s.Name]:
    """The databases, with the place that names them or their table. `database` is the current one."""
    for name in _written_tables(statement):
        yield s.Name(name.database or database, name.span)
    match statement:
        case s.DropDatabase() | s.AlterDatabase(action=s.SetOwner() | s.SetDatabaseLocation()):
            yield statement.database
        case s.AlterDatabase(action=s.SetDatabaseProperties(properties)) if is_read_only(dict(properties)):
            yield statement.database
        case _:
            return


def _written_tables(statement: s.Statement) -> Iterator[s.TableName]:
    match statement:
        case s.Insert() | s.Update() | s.Delete() | s.Merge() | s.LoadData():
            yield statement.target
        case s.MultiInsert():
            yield from (branch.target for branch in statement.branches)
        case s.RestoreTable() | s.TruncateTable() | s.RepairTable() | s.AnalyzeTable():
            yield statement.table
        case s.CreateTable() | s.DropTable():
            yield statement.table
        case s.CreateView() | s.DropView():
            yield statement.view
        case s.AlterTable():
            yield statement.table
            yield from _named_by(statement.action)
        case s.AlterView():
            yield statement.view
            yield from _named_by(statement.action)
        case s.InsertDirectory():
            return
        case s.Query() | s.Explain() | s.Show() | s.Describe() | s.DescribeHistory() | s.UseDatabase():
            return
        case s.SetSetting() | s.SetAutocommit() | s.ResetSettings() | s.NoEffect():
            return
        case s.CreateDatabase() | s.AlterDatabase() | s.DropDatabase():
            return
        case s.CreateMacro() | s.DropMacro() | s.CreateFunction() | s.DropFunction():
            return
        case s.StartTransaction() | s.Commit() | s.Rollback() | s.AbortTransactions() | s.AbortCompactions():
            return
        case _:
            assert_never(statement)


def _named_by(action: s.AlterAction | s.AlterViewAction) -> Iterator[s.TableName]:
    """The other table that an action changes."""
    match action:
        case s.RenameTable(new_name):
            yield new_name
        case s.ExchangePartition(_, other):
            yield other
        case _:
            return
