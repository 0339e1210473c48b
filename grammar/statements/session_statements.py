"""Transactions, SHOW, DESCRIBE and SET: the statements that change no table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from acidsql.grammar.statements.statement_parts import Name, PartitionItem, TableName


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
class SetAutocommit:
    """SET AUTOCOMMIT TRUE or FALSE."""

    source: str
    on: bool


@dataclass(frozen=True, slots=True)
class AbortTransactions:
    source: str
    txn_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AbortCompactions:
    source: str
    compaction_ids: tuple[int, ...]


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
    STREAMS = "STREAMS"
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
class DescribeHistory:
    """DESCRIBE HISTORY table [LIMIT n]."""

    source: str
    table: TableName
    limit: int | None = None


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


@dataclass(frozen=True, slots=True)
class ResetSettings:
    """RESET [key ..]: without keys, all settings."""

    source: str
    keys: tuple[str, ...] = ()
