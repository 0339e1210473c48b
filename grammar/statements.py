"""The statements of acidsql as frozen values: the output of `parse` and the input of the planner.

Names are lower case (Hive ignores case); expressions and queries are sqlglot trees that nobody changes in place
(copy before rewriting).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from acidsql.acid.table import ConstraintKind, PrincipalKind
from acidsql.errors import Span


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier, lower case, with its place."""

    value: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TableName:
    """`database.name`; `database` is None where the text names none."""

    database: str | None
    name: str
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True, slots=True)
class Frame:
    """A table that the text names as `{name}`: a Spark, pandas or Arrow frame of the call."""

    name: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Default:
    """The word DEFAULT in the place of a value."""

    span: Span | None = field(default=None, compare=False)


Value: TypeAlias = "exp.Expression | Default"


@dataclass(frozen=True, slots=True)
class PartitionItem:
    """`column = value` (static) or `column` alone (dynamic, value None) of a PARTITION clause."""

    column: Name
    value: exp.Expression | None
    operator: str = "="


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One item of ORDER BY, and its text. `nulls_first` is None where the text says nothing of NULLs."""

    source: str
    value: exp.Expression
    descending: bool = False
    nulls_first: bool | None = None


# ------------------------------------------------------------------------------------------------ queries and DML


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
    """INSERT INTO/OVERWRITE [TABLE] target [PARTITION (..)] [(columns)] VALUES .. | query.

    CTEs written before INSERT are part of the query.
    """

    source: str
    target: TableName
    rows: Values | exp.Query
    columns: tuple[Name, ...] | None = None
    partition: tuple[PartitionItem, ...] = ()
    overwrite: bool = False
    if_not_exists: bool = False


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
    """MERGE INTO target [alias] USING using ON on WHEN ..

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


# ------------------------------------------------------------------------------------------------ tables


@dataclass(frozen=True, slots=True)
class NamedConstraint:
    """CONSTRAINT name .., with what it says. `parent` and `parent_columns` belong to a FOREIGN KEY."""

    name: Name
    kind: ConstraintKind
    columns: tuple[Name, ...] = ()
    condition: exp.Expression | None = None
    parent: TableName | None = None
    parent_columns: tuple[Name, ...] = ()
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`type` is Hive's own spelling, lower case, without spaces: `decimal(10,2)`, `array<struct<a:int>>`.

    `names` are the names of its constraints, apart from that of an enforced CHECK, which is `check_name`.
    """

    name: Name
    type: str
    comment: str | None = None
    not_null: bool = False
    default: exp.Expression | None = None
    check: exp.Expression | None = None
    check_name: str | None = None
    names: tuple[NamedConstraint, ...] = ()
    type_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CheckConstraint:
    name: str | None
    condition: exp.Expression


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE [TRANSACTIONAL | EXTERNAL | TEMPORARY] TABLE: columns, LIKE another table, or AS a query (CTAS).

    `file_format` is lower case (orc, parquet, textfile ..) or None; CREATE TRANSACTIONAL TABLE has
    `transactional` set and no property of that name. `names` are the named constraints of the table that nothing
    enforces: keys (PRIMARY, FOREIGN, UNIQUE), and CHECKs with DISABLE. Those without a name are read and dropped.
    """

    source: str
    table: TableName
    columns: tuple[ColumnDefinition, ...] = ()
    partition_columns: tuple[ColumnDefinition, ...] = ()
    bucket_columns: tuple[Name, ...] = ()
    bucket_count: int | None = None
    sort_columns: tuple[Name, ...] = ()
    file_format: str | None = None
    storage_class: str | None = None
    """The input format of STORED AS INPUTFORMAT .. OUTPUTFORMAT .."""
    delimited: bool = False
    """Whether the statement has ROW FORMAT DELIMITED."""
    serde: str | None = None
    row_format: tuple[tuple[str, str], ...] = ()
    location: str | None = None
    comment: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    checks: tuple[CheckConstraint, ...] = ()
    names: tuple[NamedConstraint, ...] = ()
    if_not_exists: bool = False
    external: bool = False
    transactional: bool = False
    temporary: bool = False
    like: TableName | None = None
    query: exp.Query | None = None


@dataclass(frozen=True, slots=True)
class DropTable:
    source: str
    table: TableName
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True)
class RepairTable:
    """MSCK [REPAIR] TABLE t [ADD | DROP | SYNC PARTITIONS]. Without REPAIR it reports and changes nothing."""

    source: str
    table: TableName
    repairs: bool = False
    adds: bool = True
    drops: bool = False


@dataclass(frozen=True, slots=True)
class TruncateTable:
    source: str
    table: TableName
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class RenameTable:
    new_name: TableName


@dataclass(frozen=True, slots=True)
class SetTableProperties:
    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class UnsetTableProperties:
    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AddColumns:
    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True)
class ReplaceColumns:
    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE [COLUMN] old new type; `position` is "first", "after <column>" or None."""

    column: Name
    definition: ColumnDefinition
    position: str | None = None


@dataclass(frozen=True, slots=True)
class AddConstraint:
    constraint: NamedConstraint


@dataclass(frozen=True, slots=True)
class DropConstraint:
    name: Name


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """Each partition is its items and its LOCATION or None."""

    partitions: tuple[tuple[tuple[PartitionItem, ...], str | None], ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitions:
    partitions: tuple[tuple[PartitionItem, ...], ...]
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True)
class RenamePartition:
    partition: tuple[PartitionItem, ...]
    new_partition: tuple[PartitionItem, ...]


@dataclass(frozen=True, slots=True)
class SetLocation:
    location: str
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class SetFileFormat:
    """SET FILEFORMAT: the name of a format, or the class of its input format and its SerDe."""

    format: str | None
    partition: tuple[PartitionItem, ...] = ()
    input_class: str | None = None
    serde: str | None = None


@dataclass(frozen=True, slots=True)
class SetSerde:
    """SET SERDE 'class' [WITH SERDEPROPERTIES (..)]."""

    serde: str
    properties: tuple[tuple[str, str], ...] = ()
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class SetSerdeProperties:
    properties: tuple[tuple[str, str], ...]
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class UnsetSerdeProperties:
    keys: tuple[str, ...]
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Clustering:
    """CLUSTERED BY (..) [SORTED BY (..)] INTO n BUCKETS, of CREATE TABLE and ALTER TABLE."""

    columns: tuple[Name, ...]
    count: int
    sort_columns: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class SetClustering:
    """CLUSTERED BY .., and NOT CLUSTERED with None."""

    clustering: Clustering | None
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class NotSorted:
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class SetBucketCount:
    """INTO n BUCKETS."""

    count: int
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """TOUCH [PARTITION (..) ..]."""

    partitions: tuple[tuple[PartitionItem, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SetOwner:
    """SET OWNER USER | ROLE | GROUP name, of a table or a database."""

    owner: str
    kind: PrincipalKind


@dataclass(frozen=True, slots=True)
class ExchangePartition:
    """EXCHANGE PARTITION (..) WITH TABLE other: moves partitions of `other` to the altered table."""

    partition: tuple[PartitionItem, ...]
    other: TableName


@dataclass(frozen=True, slots=True)
class Compact:
    """COMPACT 'major' [AND WAIT] [CLUSTERED INTO n BUCKETS] [ORDER BY ..] [POOL 'p'] [WITH OVERWRITE TBLPROPERTIES ..]

    `type` is as written: the executor checks it (error 10282).
    """

    type: str
    type_span: Span | None = field(default=None, compare=False)
    partition: tuple[PartitionItem, ...] = ()
    wait: bool = False
    buckets: int | None = None
    order_by: tuple[OrderItem, ...] = ()
    pool: str | None = None
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AnalyzeTable:
    """ANALYZE TABLE .. COMPUTE STATISTICS [NOSCAN | FOR COLUMNS [..]].

    `columns` are those of FOR COLUMNS: empty for all of them, None without the clause.
    """

    source: str
    table: TableName
    partition: tuple[PartitionItem, ...] = ()
    columns: tuple[Name, ...] | None = None
    scans: bool = True


AlterAction: TypeAlias = (
    RenameTable
    | SetTableProperties
    | UnsetTableProperties
    | AddColumns
    | ReplaceColumns
    | ChangeColumn
    | AddConstraint
    | DropConstraint
    | AddPartitions
    | DropPartitions
    | RenamePartition
    | SetLocation
    | SetFileFormat
    | SetSerde
    | SetSerdeProperties
    | UnsetSerdeProperties
    | SetClustering
    | NotSorted
    | SetBucketCount
    | Touch
    | SetOwner
    | ExchangePartition
    | Compact
)


@dataclass(frozen=True, slots=True)
class AlterTable:
    source: str
    table: TableName
    action: AlterAction


# ------------------------------------------------------------------------------------------------ databases, views


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    source: str
    database: Name
    if_not_exists: bool = False
    comment: str | None = None
    location: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    managed_location: str | None = None


@dataclass(frozen=True, slots=True)
class SetDatabaseProperties:
    """SET DBPROPERTIES."""

    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SetDatabaseLocation:
    """SET LOCATION, or SET MANAGEDLOCATION with `managed`: the directory of tables that are created later."""

    location: str
    managed: bool = False


AlterDatabaseAction: TypeAlias = SetDatabaseProperties | SetDatabaseLocation | SetOwner


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    source: str
    database: Name
    action: AlterDatabaseAction


@dataclass(frozen=True, slots=True)
class DropDatabase:
    source: str
    database: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class UseDatabase:
    source: str
    database: Name


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column in the column list of CREATE VIEW."""

    name: Name
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE [OR REPLACE] [TEMPORARY] VIEW. `text` is the place of the query, whose text the catalog keeps."""

    source: str
    view: TableName
    query: exp.Query
    text: Span = field(compare=False)
    columns: tuple[ViewColumn, ...] = ()
    comment: str | None = None
    partition_columns: tuple[Name, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False
    replace: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class MacroParameter:
    """A parameter of a macro, with its Hive type."""

    name: Name
    type: str


@dataclass(frozen=True, slots=True)
class CreateMacro:
    """CREATE TEMPORARY MACRO m(x int, ..) expression."""

    source: str
    macro: TableName
    parameters: tuple[MacroParameter, ...]
    body: exp.Expr


@dataclass(frozen=True, slots=True)
class DropMacro:
    source: str
    macro: TableName
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropFunction:
    """DROP TEMPORARY FUNCTION."""

    source: str
    function: TableName
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """ALTER VIEW .. AS query. `text` is the place of the query, whose text the catalog keeps."""

    query: exp.Query
    text: Span = field(compare=False)


AlterViewAction: TypeAlias = ViewQuery | RenameTable | SetTableProperties | UnsetTableProperties


@dataclass(frozen=True, slots=True)
class AlterView:
    source: str
    view: TableName
    action: AlterViewAction


@dataclass(frozen=True, slots=True)
class DropView:
    source: str
    view: TableName
    if_exists: bool = False


# ------------------------------------------------------------------------------------------------ transactions


@dataclass(frozen=True, slots=True)
class StartTransaction:
    source: str


@dataclass(frozen=True, slots=True)
class Commit:
    source: str


@dataclass(frozen=True, slots=True)
class Rollback:
    source: str


@dataclass(frozen=True, slots=True)
class AbortTransactions:
    source: str
    txn_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AbortCompactions:
    source: str
    compaction_ids: tuple[int, ...]


# ------------------------------------------------------------------------------------------------ SHOW and friends


class Shown(Enum):
    TABLES = "TABLES"
    TABLE_EXTENDED = "TABLE EXTENDED"
    FUNCTIONS = "FUNCTIONS"
    DATABASES = "DATABASES"
    VIEWS = "VIEWS"
    PARTITIONS = "PARTITIONS"
    COLUMNS = "COLUMNS"
    CREATE_DATABASE = "CREATE DATABASE"
    CREATE_TABLE = "CREATE TABLE"
    TBLPROPERTIES = "TBLPROPERTIES"
    TRANSACTIONS = "TRANSACTIONS"
    LOCKS = "LOCKS"
    COMPACTIONS = "COMPACTIONS"
    METRICS = "METRICS"


@dataclass(frozen=True, slots=True)
class CompactionId:
    """SHOW COMPACTIONS .. 7: the compaction with this ID."""

    id: int


@dataclass(frozen=True, slots=True)
class CompactionFilter:
    """SHOW COMPACTIONS .. POOL | TYPE | STATE 'value': the compactions with this value in Hive's column `column`."""

    column: str
    value: str


@dataclass(frozen=True, slots=True)
class CompactionOrder:
    """SHOW COMPACTIONS .. ORDER BY: each column, and whether it is descending."""

    columns: tuple[tuple[Name, bool], ...]


@dataclass(frozen=True, slots=True)
class CompactionLimit:
    """SHOW COMPACTIONS .. LIMIT n."""

    rows: int


CompactionClause: TypeAlias = CompactionId | CompactionFilter | CompactionOrder | CompactionLimit


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW <what> [table] [IN database] [PARTITION (..)] [LIKE 'pattern'] [EXTENDED].

    `property_key` belongs to SHOW TBLPROPERTIES t("key"), `clauses` to SHOW COMPACTIONS, in the order of the text.
    """

    source: str
    what: Shown
    table: TableName | None = None
    database: Name | None = None
    pattern: str | None = None
    partition: tuple[PartitionItem, ...] = ()
    extended: bool = False
    property_key: str | None = None
    clauses: tuple[CompactionClause, ...] = ()


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE [EXTENDED | FORMATTED] table [column] [PARTITION (..)], DESCRIBE DATABASE name, DESCRIBE FUNCTION
    name."""

    source: str
    table: TableName | None = None
    database: Name | None = None
    column: Name | None = None
    partition: tuple[PartitionItem, ...] = ()
    detail: str | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN statement; EXPLAIN LOCKS statement has `locks` set; `detail` holds the other words
    of EXPLAIN, such as EXTENDED or VECTORIZATION DETAIL. All of them show the plan of acidsql."""

    source: str
    statement: Statement
    locks: bool = False
    detail: str | None = None


class Cache(Enum):
    """The caches of other systems that have a statement, and what REFRESH, CACHE, UNCACHE or RELOAD means here."""

    TABLES = (
        "Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one."
    )
    FUNCTIONS = "Nothing was done: acidsql loads no functions from the metastore."


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A statement about a cache that acidsql does not have. It succeeds. `operation` is its name."""

    source: str
    operation: str
    cache: Cache


@dataclass(frozen=True, slots=True)
class SetSetting:
    """SET key=value; SET key (value None: show one); SET alone (key None: show all)."""

    source: str
    key: str | None = None
    value: str | None = None


Statement: TypeAlias = (
    Query
    | Insert
    | InsertDirectory
    | MultiInsert
    | Update
    | Delete
    | Merge
    | LoadData
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
    | DropFunction
    | StartTransaction
    | Commit
    | Rollback
    | AbortTransactions
    | AbortCompactions
    | Show
    | Describe
    | Explain
    | NoEffect
    | SetSetting
)
