"""Which lock waits for which: Hive's compatibility of lock types, how much of it is enforced, what overlaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from acidsql.metastore.client import LockType, Operation

COMPATIBLE: Mapping[LockType, frozenset[LockType]] = {
    LockType.SHARED_READ: frozenset((LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCL_WRITE)),
    LockType.SHARED_WRITE: frozenset((LockType.SHARED_READ, LockType.SHARED_WRITE)),
    LockType.EXCL_WRITE: frozenset((LockType.SHARED_READ,)),
    LockType.EXCLUSIVE: frozenset(),
}
"""The lock types of others that a lock of the type can be held together with (Hive 4's TxnHandler.checkLock).

Not in it, because nobody asks for such a lock yet: a SHARED_READ of a database goes with an EXCLUSIVE of its tables.
"""

WRITES = frozenset((Operation.INSERT, Operation.UPDATE, Operation.DELETE))


@dataclass(frozen=True, slots=True)
class LockKind:
    """What decides whether two locks on one resource wait for each other."""

    lock_type: LockType
    operation: Operation


KINDS = tuple(LockKind(lock_type, operation) for lock_type in LockType for operation in Operation)


def must_wait(mine: LockKind, theirs: LockKind) -> bool:
    """Whether one who asks for `mine` waits while another transaction holds `theirs` on an overlapping resource.

    Of Hive's incompatible pairs only those with an EXCLUSIVE one: two updates may go on, and the first committer wins.
    Readers take no part. Both are a subset of COMPATIBLE's complement: to enforce all of it is to drop two conditions.
    """
    if theirs.lock_type in COMPATIBLE[mine.lock_type]:
        return False
    if LockType.EXCLUSIVE not in (mine.lock_type, theirs.lock_type):
        return False
    return _excludes(mine) and _excludes(theirs)


def _excludes(kind: LockKind) -> bool:
    """Writers, and whoever replaces or removes the whole (DROP and ALTER: EXCLUSIVE without a transaction's write)."""
    return kind.operation in WRITES or (kind.lock_type is LockType.EXCLUSIVE and kind.operation is not Operation.SELECT)


Resource: TypeAlias = tuple[str, ...]
"""A database, a table or a partition: `("default", "t", "p=a", "q=1")`. One overlaps those that it begins."""


def resource(database: str, table: str | None, partition: str | None) -> Resource:
    """
    >>> resource("default", "t", "p=a/q=1")
    ('default', 't', 'p=a', 'q=1')
    """
    steps = partition.split("/") if partition is not None else []  # a slash in a value is written %2F
    return (database, *((table,) if table is not None else ()), *steps)


class Resources:
    """Many resources, asked for overlap without comparing each with each: a statement may lock 2,000 partitions."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._all = frozenset(resources)
        self._within = {one[:length]: one for one in sorted(self._all, reverse=True) for length in range(1, len(one))}

    def overlapping(self, other: Resource) -> Resource | None:
        """One of them that contains `other` or lies in it."""
        wider = (other[:length] for length in range(1, len(other) + 1))
        return next((w for w in wider if w in self._all), self._within.get(other))
