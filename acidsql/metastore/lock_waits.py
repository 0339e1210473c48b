"""What the lock requests of a session wait for, in words for the user who waits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, visible
from acidsql.metastore.client import Metastore
from acidsql.metastore.lock_rules import Resource, Resources, resource
from acidsql.metastore.locks import Lock

_TOLD_AFTER: Final = 1.0
_ASKED_EVERY: Final = 1.0
"""Seconds until a wait is told, and between two questions to the metastore."""


@dataclass(slots=True)
class LockWaits:
    """The requests that wait now. Any thread may ask for them while others wait."""

    metastore: Metastore
    told_after: float = _TOLD_AFTER
    asked_every: float = _ASKED_EVERY
    _since: dict[TxnId, float] = field(default_factory=dict)
    _answer: str = ""
    _asked: float = 0.0

    @contextmanager
    def waiting(self, txn: TxnId) -> Iterator[None]:
        """The block requests locks for a transaction."""
        self._since[txn] = time.monotonic()
        try:
            yield
        finally:
            self._since.pop(txn, None)

    def told(self) -> str:
        """`waits for default.t, on which transaction 7 of ann@host holds EXCLUSIVE since 14:03:22`, for the request
        that has waited longest; empty where none has waited for a second or so."""
        now = time.monotonic()
        long = [txn for txn, since in self._since.copy().items() if now - since >= self.told_after]
        if not long:
            self._answer = ""
        elif not self._answer or now - self._asked >= self.asked_every:
            self._asked = now
            try:
                self._answer = wait_in_words(long[0], self.metastore.locks())
            except AcidSqlError:  # the statement that waits reports it
                self._answer = ""
        return self._answer


def wait_in_words(txn: TxnId, locks: Sequence[Lock]) -> str:
    """What a transaction waits for and who has it; empty if it does not wait."""
    waiting = [lock for lock in locks if lock.txn == txn and lock.waiting]
    known = {(lock.lock_id, lock.number): lock for lock in locks}
    found = (known.get(lock.blocked_by) for lock in waiting if lock.blocked_by is not None)
    blocker = next((lock for lock in found if lock is not None), None)
    if blocker is None:
        return ""
    theirs = _resource(blocker)
    mine = Resources(map(_resource, waiting)).overlapping(theirs) or theirs
    where = _shown(max(mine, theirs, key=len))
    owner = f"transaction {blocker.txn}" if blocker.txn else f"lock {blocker.lock_id}"
    kind = blocker.component.lock_type.value
    has = f"came first and waits for {kind}" if blocker.waiting else f"holds {kind}{_since(blocker.acquired)}"
    return visible(f"waits for {where}, on which {owner} of {blocker.user}@{blocker.host} {has}")


def _resource(lock: Lock) -> Resource:
    return resource(lock.component.database, lock.component.table, lock.component.partition)


def _shown(place: Resource) -> str:
    return "/".join((".".join(place[:2]), *place[2:]))


def _since(millis: int) -> str:
    """The local time of a moment, with its day if that is not today."""
    if not millis:
        return ""
    moment, today = time.localtime(millis / 1000), time.localtime()
    form = "%H:%M:%S" if moment[:3] == today[:3] else "%Y-%m-%d %H:%M:%S"
    return f" since {time.strftime(form, moment)}"
