"""What a statement locks: the components of a lock request, with Hive's lock types and operations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LockType(Enum):
    """Hive 4's lock types (org.apache.hadoop.hive.metastore.api.LockType), weakest first."""

    SHARED_READ = "SHARED_READ"
    SHARED_WRITE = "SHARED_WRITE"
    EXCL_WRITE = "EXCL_WRITE"
    EXCLUSIVE = "EXCLUSIVE"


class Operation(Enum):
    """The kind of access of a transaction to a table (org.apache.hadoop.hive.metastore.api.DataOperationType)."""

    SELECT = "s"
    INSERT = "i"
    UPDATE = "u"
    DELETE = "d"
    NO_TXN = "n"


@dataclass(frozen=True, slots=True)
class LockComponent:
    """One table or partition that a statement locks. `partition` is `p=a/q=b`, None for the whole table."""

    database: str
    table: str | None
    lock_type: LockType
    operation: Operation
    partition: str | None = None
    dynamic_partition_write: bool = False
