"""ALTER TABLE and its actions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from acidsql.acid.table import PrincipalKind
from acidsql.errors import Span
from acidsql.grammar.statements.statement_parts import Name, OrderItem, PartitionItem, TableName
from acidsql.grammar.statements.table_statements import ColumnDefinition, NamedConstraint


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
class UpdateStatistics:
    """UPDATE STATISTICS SET ('numRows'='..', ..)."""

    statistics: tuple[tuple[str, str], ...]
    partition: tuple[PartitionItem, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateColumnStatistics:
    """UPDATE STATISTICS FOR COLUMN c SET (..)."""

    column: Name
    statistics: tuple[tuple[str, str], ...]
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
    | UpdateStatistics
    | UpdateColumnStatistics
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
