"""CREATE TABLE, and the statements about whole tables apart from ALTER TABLE."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from acidsql.acid.table import ConstraintKind
from acidsql.errors import Span
from acidsql.grammar.statements.statement_parts import Name, PartitionItem, TableName


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
class AnalyzeTable:
    """ANALYZE TABLE .. COMPUTE STATISTICS [NOSCAN | FOR COLUMNS [..]].

    `columns` are those of FOR COLUMNS: empty for all of them, None without the clause.
    """

    source: str
    table: TableName
    partition: tuple[PartitionItem, ...] = ()
    columns: tuple[Name, ...] | None = None
    scans: bool = True
