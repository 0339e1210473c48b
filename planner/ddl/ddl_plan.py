"""DDL plans: the locks that a statement takes and the steps that it runs, as frozen values.

`acidsql/ddl/` runs a plan and EXPLAIN prints it (ddl_explain.py). A step says what it changes. Its run checks, under
the plan's locks, what only the catalog and the files can tell: which partitions there are, whether a directory is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from acidsql.acid.table import Column, Relation, Table, View
from acidsql.acid.write_ids import WriteId
from acidsql.errors import Span
from acidsql.grammar.statements import (
    AddColumns,
    AlterDatabase,
    AlterTable,
    AlterView,
    AnalyzeTable,
    ChangeColumn,
    Compact,
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    DropView,
    LoadData,
    PartitionItem,
    RepairTable,
    ReplaceColumns,
    TableName,
    TruncateTable,
)
from acidsql.metastore.catalog import Database, Partition, PartitionValues
from acidsql.metastore.lock_components import LockComponent

DdlStatement: TypeAlias = (
    AlterDatabase
    | AlterTable
    | AlterView
    | AnalyzeTable
    | CreateDatabase
    | CreateTable
    | CreateView
    | DropDatabase
    | DropTable
    | DropView
    | LoadData
    | RepairTable
    | TruncateTable
)
DDL_STATEMENTS = (
    AlterDatabase,
    AlterTable,
    AlterView,
    AnalyzeTable,
    CreateDatabase,
    CreateTable,
    CreateView,
    DropDatabase,
    DropTable,
    DropView,
    LoadData,
    RepairTable,
    TruncateTable,
)

ColumnAction: TypeAlias = AddColumns | ChangeColumn | ReplaceColumns


# ------------------------------------------------------------------------------------------------ databases and tables


@dataclass(frozen=True, slots=True)
class RegisterDatabase:
    """Adds a database to the catalog and makes its directory."""

    database: Database
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RedefineDatabase:
    """Gives a database other properties, another owner or another directory for new tables; no file moves."""

    database: Database
    new: Database
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RemoveDatabase:
    """Removes a database that has no tables from the catalog, and its directories if no file lies in them."""

    database: Database


@dataclass(frozen=True, slots=True)
class RegisterTable:
    """Adds a table to the catalog and makes its directory.

    `table.created` is 0: the run sets it. A table that `adopts` takes over the files at its location; `write_ids` is
    the text of the property acidsql.adopt.writeids, which describes the write IDs of these files.
    """

    table: Table
    adopts: bool = False
    write_ids: str | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RemoveTable:
    """Removes a table from the catalog, and the directory of a managed table if nothing of another table lies in it.

    With `skips_trash` the directory is deleted where it would be moved to the trash of its file system.
    """

    table: Table
    skips_trash: bool = False


@dataclass(frozen=True, slots=True)
class EmptyTable:
    """Hides or removes the rows of a table, or of the partitions that `partition` names."""

    table: Table
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadFiles:
    """Adds the files at `path` to a table. `partition` is the partition that gets them, `is_new` whether the catalog
    lacks it."""

    table: Table
    path: str
    copies: bool
    overwrites: bool
    partition: Partition | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class CollectStatistics:
    """Counts the files, and with `scans` the rows, of a table or of the partitions that `partition` names, and stores
    the numbers in the catalog."""

    table: Table
    partition: tuple[PartitionItem, ...] = ()
    scans: bool = True
    span: Span | None = field(default=None, compare=False)


# ------------------------------------------------------------------------------------------------ ALTER TABLE


@dataclass(frozen=True, slots=True)
class Move:
    """A directory and the one that it becomes."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class MoveTable:
    """Renames a table. `move` is the move of its directory; None leaves the directory where it is."""

    table: Table
    renamed: Table
    move: Move | None = None


@dataclass(frozen=True, slots=True)
class RedefineColumns:
    """Changes the columns of a table; its files stay as they are."""

    table: Table
    action: ColumnAction
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RedefineTable:
    """Replaces the definition of a table in the catalog; its files stay as they are. `change` says what changes, for
    EXPLAIN."""

    table: Table
    new: Table
    change: str


@dataclass(frozen=True, slots=True)
class RedefineStorage:
    """Replaces the file format, the SerDe, its properties or the buckets of a table, or checks that `partition` has
    them already. Its files stay as they are. `change` says what changes, for EXPLAIN."""

    table: Table
    new: Table
    change: str
    partition: PartitionValues | None = None
    span: Span | None = field(default=None, compare=False)
    partition_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """Stores numbers that a statement gives as statistics of a table or of the partitions that `partition` names. They
    are never marked as true."""

    table: Table
    statistics: Mapping[str, str]
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """Checks that a table, or partitions of it, exist; changes nothing."""

    table: Table
    partitions: tuple[PartitionValues, ...] = ()
    span: Span | None = field(default=None, compare=False)


FIRST_INSERT_ONLY: Final = WriteId(1)
"""The write ID of the delta to which the files of a plain table move when it becomes insert-only, as in Hive."""


class Conversion(Enum):
    """What a table becomes by its properties."""

    FULL_ACID = "full ACID"
    INSERT_ONLY = "insert-only"


@dataclass(frozen=True, slots=True)
class UpdateProperties:
    """Sets properties of a table, and converts it where they make another kind of table of it."""

    table: Table
    properties: Mapping[str, str]
    conversion: Conversion | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RemoveProperties:
    """Removes properties of a table."""

    table: Table
    keys: tuple[str, ...]
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AssignLocation:
    """Gives a plain table, or its partition `partition`, another directory; no file moves."""

    table: Table
    location: str
    partition: PartitionValues | None = None
    span: Span | None = field(default=None, compare=False)
    partition_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RegisterPartitions:
    """Adds partitions to the catalog and makes their directories: all of them or none."""

    table: Table
    partitions: tuple[Partition, ...]
    if_not_exists: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RemovePartitions:
    """Removes the partitions that any of the clauses names, and those directories of a managed table in which nothing
    else lies.

    With `skips_trash` the directories are deleted where they would be moved to the trash of their file system.
    """

    table: Table
    clauses: tuple[tuple[PartitionItem, ...], ...]
    if_exists: bool = False
    skips_trash: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RepairPartitions:
    """Compares the partitions of the catalog with the directories of a table.

    With `adds`, directories that have the name of a partition become partitions. With `drops`, partitions without a
    directory are removed. Where `reports_only` is set, the differences are reported and nothing changes.
    """

    table: Table
    adds: bool
    drops: bool
    reports_only: bool
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MovePartition:
    """Gives a partition other values. Its directory moves if it is the default one and the table is managed."""

    table: Table
    old: PartitionValues
    new: PartitionValues
    old_span: Span | None = field(default=None, compare=False)
    new_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TakePartitions:
    """Moves the partitions of the plain table `source` that `partition` names to `table`."""

    table: Table
    source: Table
    partition: tuple[PartitionItem, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RequestCompaction:
    """Queues a compaction, which is a transaction of its own."""

    table: Table
    action: Compact


# ------------------------------------------------------------------------------------------------ views


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """What the query of a view determines: the columns, the text as written, and the text that readers run."""

    columns: tuple[Column, ...]
    original: str
    expanded: str


@dataclass(frozen=True, slots=True)
class RegisterView:
    """Adds a view to the catalog. `view.created` is 0: the run sets it."""

    view: View
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ReplaceView:
    """Gives a view another definition, other properties or another name."""

    view: View
    new: View
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RemoveView:
    """Removes a view from the catalog."""

    view: View


Step: TypeAlias = (
    RegisterDatabase
    | RedefineDatabase
    | RemoveDatabase
    | RegisterTable
    | RemoveTable
    | EmptyTable
    | LoadFiles
    | CollectStatistics
    | MoveTable
    | RedefineColumns
    | RedefineTable
    | RedefineStorage
    | StoreStatistics
    | Touch
    | UpdateProperties
    | RemoveProperties
    | AssignLocation
    | RegisterPartitions
    | RemovePartitions
    | RepairPartitions
    | MovePartition
    | TakePartitions
    | RequestCompaction
    | RegisterView
    | ReplaceView
    | RemoveView
)


# ------------------------------------------------------------------------------------------------ plans


@dataclass(frozen=True, slots=True)
class DdlPlan:
    """A DDL statement: one transaction that takes all `locks` and then runs the `steps` in order.

    A plan without locks opens no transaction. A plan without steps does nothing (IF EXISTS, IF NOT EXISTS).
    """

    title: str
    locks: tuple[LockComponent, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class DdlFacts:
    """What a DDL planner may know of the catalog.

    `database` is the current one. `tables` and `views` (by qualified name) and `databases` are those that the statement
    names and the catalog has. `partitions` are those of the target of LOAD DATA. `definition` is that of the view which
    the statement defines. `settings` are the session's. `contents` are all tables and views of the database that DROP
    DATABASE .. CASCADE drops; a temporary one comes before the one that it hides. The locations of the statement, and
    `warehouse`, are absolute.
    """

    database: str
    warehouse: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    databases: Mapping[str, Database] = field(default_factory=dict)
    partitions: tuple[Partition, ...] = ()
    views: Mapping[str, View] = field(default_factory=dict)
    definition: ViewDefinition | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    contents: tuple[Relation, ...] = ()

    def qualified(self, name: TableName) -> str:
        return f"{name.database or self.database}.{name.name}"

    def find(self, name: TableName) -> Table | None:
        return self.tables.get(self.qualified(name))

    def table(self, name: TableName) -> Table:
        return self.tables[self.qualified(name)]

    def view(self, name: TableName) -> View:
        return self.views[self.qualified(name)]

    def relation(self, name: TableName) -> Relation | None:
        """The table or the view of this name, or None."""
        return self.find(name) or self.views.get(self.qualified(name))

    def database_of(self, name: TableName) -> Database:
        return self.databases[name.database or self.database]
