"""The statements of acidsql as frozen values: the output of `parse` and the input of the planner.

Names are lower case (Hive ignores case); expressions and queries are sqlglot trees that nobody changes in place
(copy before rewriting).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from acidsql.grammar.statements.alter_actions import (
    AddColumns,
    AddConstraint,
    AddPartitions,
    AlterAction,
    AlterTable,
    ChangeColumn,
    Clustering,
    Compact,
    DropConstraint,
    DropPartitions,
    ExchangePartition,
    NotSorted,
    RenamePartition,
    RenameTable,
    ReplaceColumns,
    SetBucketCount,
    SetClustering,
    SetFileFormat,
    SetLocation,
    SetOwner,
    SetSerde,
    SetSerdeProperties,
    SetTableProperties,
    Touch,
    UnsetSerdeProperties,
    UnsetTableProperties,
    UpdateColumnStatistics,
    UpdateStatistics,
)
from acidsql.grammar.statements.database_statements import (
    AlterDatabase,
    AlterDatabaseAction,
    CreateDatabase,
    DropDatabase,
    SetDatabaseLocation,
    SetDatabaseProperties,
    UseDatabase,
)
from acidsql.grammar.statements.macro_statements import (
    CreateFunction,
    CreateMacro,
    DropFunction,
    DropMacro,
    MacroParameter,
)
from acidsql.grammar.statements.row_statements import (
    Assignment,
    Delete,
    Insert,
    InsertDirectory,
    LoadData,
    Merge,
    MergeAction,
    MergeClause,
    MergeDelete,
    MergeInsert,
    MergeUpdate,
    MultiInsert,
    Query,
    RestoreTable,
    Update,
    Values,
    When,
)
from acidsql.grammar.statements.session_statements import (
    AbortCompactions,
    AbortTransactions,
    Cache,
    Commit,
    CompactionClause,
    CompactionFilter,
    CompactionId,
    CompactionLimit,
    CompactionOrder,
    Describe,
    DescribeHistory,
    NoEffect,
    ResetSettings,
    Rollback,
    SetAutocommit,
    SetSetting,
    Show,
    Shown,
    StartTransaction,
)
from acidsql.grammar.statements.statement_parts import Default, Frame, Name, OrderItem, PartitionItem, TableName, Value
from acidsql.grammar.statements.table_statements import (
    AnalyzeTable,
    CheckConstraint,
    ColumnDefinition,
    CreateTable,
    DropTable,
    NamedConstraint,
    RepairTable,
    TruncateTable,
)
from acidsql.grammar.statements.view_statements import (
    AlterView,
    AlterViewAction,
    CreateView,
    DropView,
    ViewColumn,
    ViewQuery,
)

__all__ = [
    "AbortCompactions",
    "AbortTransactions",
    "AddColumns",
    "AddConstraint",
    "AddPartitions",
    "AlterAction",
    "AlterDatabase",
    "AlterDatabaseAction",
    "AlterTable",
    "AlterView",
    "AlterViewAction",
    "AnalyzeTable",
    "Assignment",
    "Cache",
    "ChangeColumn",
    "CheckConstraint",
    "Clustering",
    "ColumnDefinition",
    "Commit",
    "Compact",
    "CompactionClause",
    "CompactionFilter",
    "CompactionId",
    "CompactionLimit",
    "CompactionOrder",
    "CreateDatabase",
    "CreateFunction",
    "CreateMacro",
    "CreateTable",
    "CreateView",
    "Default",
    "Delete",
    "Describe",
    "DescribeHistory",
    "DropConstraint",
    "DropDatabase",
    "DropFunction",
    "DropMacro",
    "DropPartitions",
    "DropTable",
    "DropView",
    "ExchangePartition",
    "Explain",
    "Frame",
    "Insert",
    "InsertDirectory",
    "LoadData",
    "MacroParameter",
    "Merge",
    "MergeAction",
    "MergeClause",
    "MergeDelete",
    "MergeInsert",
    "MergeUpdate",
    "MultiInsert",
    "Name",
    "NamedConstraint",
    "NoEffect",
    "NotSorted",
    "OrderItem",
    "PartitionItem",
    "Query",
    "RenamePartition",
    "RenameTable",
    "RepairTable",
    "ReplaceColumns",
    "ResetSettings",
    "RestoreTable",
    "Rollback",
    "RowStatement",
    "SetAutocommit",
    "SetBucketCount",
    "SetClustering",
    "SetDatabaseLocation",
    "SetDatabaseProperties",
    "SetFileFormat",
    "SetLocation",
    "SetOwner",
    "SetSerde",
    "SetSerdeProperties",
    "SetSetting",
    "SetTableProperties",
    "Show",
    "Shown",
    "StartTransaction",
    "Statement",
    "TableName",
    "Touch",
    "TruncateTable",
    "UnsetSerdeProperties",
    "UnsetTableProperties",
    "Update",
    "UpdateColumnStatistics",
    "UpdateStatistics",
    "UseDatabase",
    "Value",
    "Values",
    "ViewColumn",
    "ViewQuery",
    "When",
]


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN statement; EXPLAIN LOCKS statement has `locks` set; `detail` holds the other words
    of EXPLAIN, such as EXTENDED or VECTORIZATION DETAIL."""

    source: str
    statement: Statement
    locks: bool = False
    detail: str | None = None


RowStatement: TypeAlias = Query | Insert | MultiInsert | Update | Delete | Merge | RestoreTable
"""Queries and DML, which run inside START TRANSACTION and begin a transaction where autocommit is off."""

Statement: TypeAlias = (
    Query
    | Insert
    | InsertDirectory
    | MultiInsert
    | Update
    | Delete
    | Merge
    | LoadData
    | RestoreTable
    | CreateTable
    | DropTable
    | RepairTable
    | AnalyzeTable
    | TruncateTable
    | AlterTable
    | CreateDatabase
    | AlterDatabase
    | DropDatabase
    | UseDatabase
    | CreateView
    | AlterView
    | DropView
    | CreateMacro
    | DropMacro
    | CreateFunction
    | DropFunction
    | StartTransaction
    | Commit
    | Rollback
    | SetAutocommit
    | AbortTransactions
    | AbortCompactions
    | Show
    | Describe
    | DescribeHistory
    | Explain
    | NoEffect
    | SetSetting
    | ResetSettings
)
