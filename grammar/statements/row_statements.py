"""Queries, and the statements that write rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from acidsql.errors import Span
from acidsql.grammar.statements.statement_parts import Name, PartitionItem, TableName, Value
from acidsql.grammar.statements.table_statements import CreateTable


@dataclass(frozen=True, slots=True)
class Query:
    """SELECT, WITH, VALUES, UNION ...: anything that returns rows."""

    source: str
    tree: exp.Query


@dataclass(frozen=True, slots=True)
class Values:
    """The rows of INSERT .. VALUES. Rows may differ in length; the planner checks it."""

    rows: tuple[tuple[Value, ...], ...]
    row_spans: tuple[Span | None, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT [WITH SCHEMA EVOLUTION] INTO/OVERWRITE [TABLE] target [PARTITION (..)] [(columns)] VALUES .. | query.

    CTEs written before INSERT are part of the query. `evolves` is the clause WITH SCHEMA EVOLUTION.
    """

    source: str
    target: TableName
    rows: Values | exp.Query
    columns: tuple[Name, ...] | None = None
    partition: tuple[PartitionItem, ...] = ()
    overwrite: bool = False
    if_not_exists: bool = False
    evolves: bool = False


@dataclass(frozen=True, slots=True)
class InsertDirectory:
    """INSERT OVERWRITE [LOCAL] DIRECTORY 'path' [ROW FORMAT ..] [STORED AS ..] query.

    `output` stands for the files: a table without columns, which has the path as its name and the format of the
    clauses.
    """

    source: str
    output: CreateTable
    query: exp.Query
    local: bool = False


@dataclass(frozen=True, slots=True)
class MultiInsert:
    """FROM source INSERT .. [INSERT ..]: each branch is an Insert whose query already reads from the source.

    `scanned` is the FROM item itself, `branches` carry queries without FROM.
    """

    source: str
    scanned: exp.Expression
    branches: tuple[Insert, ...]
    ctes: exp.With | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """`column = value` of a SET clause."""

    column: Name
    value: Value


@dataclass(frozen=True, slots=True)
class Update:
    source: str
    target: TableName
    alias: Name | None
    assignments: tuple[Assignment, ...]
    where: exp.Expression | None
    ctes: exp.With | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    source: str
    target: TableName
    alias: Name | None
    where: exp.Expression | None
    ctes: exp.With | None = None


class When(Enum):
    """The rows that a WHEN clause of MERGE applies to."""

    MATCHED = "MATCHED"
    NOT_MATCHED = "NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "NOT MATCHED BY SOURCE"


@dataclass(frozen=True, slots=True)
class MergeUpdate:
    """THEN UPDATE SET ..; `assignments` None is `UPDATE SET *`."""

    assignments: tuple[Assignment, ...] | None


@dataclass(frozen=True, slots=True)
class MergeDelete:
    """THEN DELETE"""


@dataclass(frozen=True, slots=True)
class MergeInsert:
    """THEN INSERT [(columns)] VALUES (..); `values` None is `INSERT *`."""

    columns: tuple[Name, ...] | None
    values: tuple[Value, ...] | None


MergeAction: TypeAlias = MergeUpdate | MergeDelete | MergeInsert


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN clause; `condition` is the extra predicate after AND."""

    when: When
    condition: exp.Expression | None
    action: MergeAction
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Merge:
    """MERGE [WITH SCHEMA EVOLUTION] INTO target [alias] USING using ON on WHEN ..

    `using` is an exp.Table, exp.Subquery or exp.Values with its alias. The order and kinds of the clauses are as
    written: the planner checks the rules.
    """

    source: str
    target: TableName
    alias: Name | None
    using: exp.Expression
    on: exp.Expression
    clauses: tuple[MergeClause, ...]
    ctes: exp.With | None = None
    on_span: Span | None = field(default=None, compare=False)
    evolves: bool = False


@dataclass(frozen=True, slots=True)
class LoadData:
    """LOAD DATA [LOCAL] INPATH 'path' [OVERWRITE] INTO TABLE target [PARTITION (..)] [INPUTFORMAT '..' SERDE '..'].

    `input_format` and `serde` are the classes; None where the text has no such clause.
    """

    source: str
    path: str
    target: TableName
    local: bool = False
    overwrite: bool = False
    partition: tuple[PartitionItem, ...] = ()
    input_format: str | None = None
    serde: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreTable:
    """RESTORE [TABLE] t TO VERSION | TIMESTAMP AS OF point, a statement of acidsql's own.

    `version` is the node that AS OF behind the table of a query has.
    """

    source: str
    table: TableName
    version: exp.Version
