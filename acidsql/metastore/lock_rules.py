"""The rules of locks: which lock types are compatible, and which resources overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from acidsql.metastore.lock_components import LockType

COMPATIBLE: Mapping[LockType, frozenset[LockType]] = {
    LockType.SHARED_READ: frozenset((LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCL_WRITE)),
    LockType.SHARED_WRITE: frozenset((LockType.SHARED_READ, LockType.SHARED_WRITE)),
    LockType.EXCL_WRITE: frozenset((LockType.SHARED_READ,)),
    LockType.EXCLUSIVE: frozenset(),
}
"""For each lock type, the lock types that another transaction may hold at the same time (Hive 4's
TxnHandler.checkLock)."""


Resource: TypeAlias = tuple[str, ...]
"""A database, a table or a partition: `("default", "t", "p=a", "q=1")`. A resource overlaps every resource that it is a
prefix of."""


@dataclass(frozen=True, slots=True)
class LockedResource:
    """A lock without its owner."""

    lock_type: LockType
    resource: Resource


def must_wait(mine: LockType, resource: Resource, theirs: LockedResource) -> bool:
    """Whether a request for `mine` on a resource waits while another transaction holds `theirs`, which overlaps it.

    A SHARED_READ of a database is compatible with any lock of its tables, as in Hive: CREATE TABLE takes it only to
    keep the database from being dropped.
    """
    if theirs.lock_type in COMPATIBLE[mine]:
        return False
    pair = ((mine, resource), (theirs.lock_type, theirs.resource))
    shared_database = any(kind is LockType.SHARED_READ and len(place) == 1 for kind, place in pair)
    return not (shared_database and any(len(place) > 1 for _, place in pair))


def resource(database: str, table: str | None, partition: str | None) -> Resource:
    """
    >>> resource("default", "t", "p=a/q=1")
    ('default', 't', 'p=a', 'q=1')
    """
    steps = partition.split("/") if partition is not None else []  # a slash in a value is written %2F
    return (database, *((table,) if table is not None else ()), *steps)


class Resources:
    """A set of resources with a fast test for overlap: a statement may lock 2,000 partitions."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._all = frozenset(resources)
        self._within = {one[:length]: one for one in sorted(self._all, reverse=True) for length in range(1, len(one))}

    def overlapping(self, other: Resource) -> Resource | None:
        """A resource of the set that contains `other` or lies in it; None without one."""
        wider = (other[:length] for length in range(1, len(other) + 1))
        return next((w for w in wider if w in self._all), self._within.get(other))
