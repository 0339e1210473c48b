"""The locks of a statement, Hive's defaults (AcidUtils.makeLockComponents with hive.txn.xlock.write=true)."""

from __future__ import annotations

from collections.abc import Sequence

from acidsql.acid.table import Table
from acidsql.metastore.client import LockComponent, LockType, Operation
from acidsql.planner.plan import Scan


def read_locks(scans: Sequence[Scan]) -> tuple[LockComponent, ...]:
    """SHARED_READ on every table read, once each; the target of a write is not among them."""
    tables = {s.table.qualified: s.table for s in scans if not s.is_target}
    return tuple(_lock(t, LockType.SHARED_READ, Operation.SELECT) for t in tables.values())


def insert_locks(table: Table, scans: Sequence[Scan]) -> tuple[LockComponent, ...]:
    return (_lock(table, LockType.SHARED_READ, Operation.INSERT), *read_locks(scans))


def overwrite_locks(table: Table, scans: Sequence[Scan]) -> tuple[LockComponent, ...]:
    """INSERT OVERWRITE: EXCLUSIVE (hive.txn.xlock.iow), so that no insert is hidden by the new base."""
    return (_lock(table, LockType.EXCLUSIVE, Operation.INSERT), *read_locks(scans))


def create_locks(table: Table, scans: Sequence[Scan]) -> tuple[LockComponent, ...]:
    """CREATE TABLE .. AS: EXCLUSIVE, so that of two that make one table the second finds it there. (Hive's EXCL_WRITE
    does that too, where writers of one table take turns.)"""
    return overwrite_locks(table, scans)


def write_locks(table: Table, operation: Operation, scans: Sequence[Scan]) -> tuple[LockComponent, ...]:
    """UPDATE, DELETE and MERGE: EXCL_WRITE, so that writers of old rows take turns while inserts and readers go on."""
    return (_lock(table, LockType.EXCL_WRITE, operation), *read_locks(scans))


def _lock(table: Table, lock_type: LockType, operation: Operation) -> LockComponent:
    return LockComponent(table.database, table.name, lock_type, operation)
