"""SHOW LOCKS: Hive's columns."""

from __future__ import annotations

from typing import Final

from acidsql.metastore.locks import Lock

LOCK_COLUMNS: Final = (
    "lockid",
    "database",
    "table",
    "partition",
    "lock_state",
    "blocked_by",
    "lock_type",
    "transaction_id",
    "last_heartbeat",
    "acquired_at",
    "user",
    "hostname",
    "agent_info",
)
"""The columns of Hive's ShowLocksDesc. Times are milliseconds since 1970."""


def lock_row(lock: Lock) -> tuple[str | None, ...]:
    of = lock.component
    return (
        f"{lock.lock_id}.{lock.number}",
        of.database,
        of.table,
        of.partition,
        "WAITING" if lock.waiting else "ACQUIRED",
        None if lock.blocked_by is None else "{}.{}".format(*lock.blocked_by),
        of.lock_type.value,
        str(lock.txn) if lock.txn else None,
        str(lock.last_heartbeat),
        str(lock.acquired) if lock.acquired else None,
        lock.user,
        lock.host,
        lock.agent,
    )
