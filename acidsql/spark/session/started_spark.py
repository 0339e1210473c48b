"""The Spark that acidsql has started in this process, and the sessions that use it: the last one stops it."""

from __future__ import annotations

import threading

from pyspark import SparkContext

_lock = threading.Lock()
_users: dict[SparkContext, set[int]] = {}


def join(context: SparkContext, user: int, *, started: bool) -> bool:
    """Counts a user of a Spark that acidsql has started, now (`started`) or before. Returns False for another Spark."""
    with _lock:
        if started:
            _users[context] = set()
        if context not in _users:
            return False
        _users[context].add(user)
        return True


def leave(context: SparkContext, user: int) -> bool:
    """Ends the use. Returns whether nobody else uses this Spark any more, so that the caller must stop it."""
    with _lock:
        users = _users.get(context, set())
        users.discard(user)
        if not users:
            _users.pop(context, None)
        return not users
