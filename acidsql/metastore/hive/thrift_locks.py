"""Locks in a Hive Metastore: requests, waiting, listing, and deadlock detection, which the metastore lacks."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.partition_names import escape, unescape
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_errors import txn_errors
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_rules import LockedResource, must_wait, resource
from acidsql.metastore.locks import Lock, Patience

AGENT: Final = "acidsql"
"""The agent in SHOW LOCKS. A lock without a transaction appends the transaction that requested it."""

_AGENT: Final = re.compile(rf"{AGENT} txnid:(\d+)")
_TYPES: Final = {
    LockType.SHARED_READ: t.LockType.SHARED_READ,
    LockType.SHARED_WRITE: t.LockType.SHARED_WRITE,
    LockType.EXCL_WRITE: idl.EXCL_WRITE,
    LockType.EXCLUSIVE: t.LockType.EXCLUSIVE,
}
_TYPES_OF_HIVE_3: Final = {**_TYPES, LockType.EXCL_WRITE: t.LockType.SHARED_WRITE}
"""Hive 3 has no EXCL_WRITE. Its SHARED_WRITE is as strict: one writer of a table at a time, beside any readers."""
_TYPES_FROM_HIVE: Final = {number: kind for kind, number in _TYPES.items()}
_OPERATIONS: Final = {
    Operation.SELECT: t.DataOperationType.SELECT,
    Operation.INSERT: t.DataOperationType.INSERT,
    Operation.UPDATE: t.DataOperationType.UPDATE,
    Operation.DELETE: t.DataOperationType.DELETE,
    Operation.NO_TXN: t.DataOperationType.NO_TXN,
}


def operation_to_hive(operation: Operation) -> int:
    return int(_OPERATIONS[operation])


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a lock request. A read-only transaction requests locks without a transaction: a Hive Metastore
    releases the locks of a transaction only at its end (TxnHandler.unlock)."""

    txn: TxnId
    read_only: bool

    @property
    def hive_txn(self) -> int:
        return 0 if self.read_only else self.txn

    @property
    def agent(self) -> str:
        return f"{AGENT} txnid:{self.txn}" if self.read_only else AGENT


class HiveLocks:
    """Lock requests. Waiting keeps the transaction alive, because check_lock is also a heartbeat."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    def acquire(self, owner: Owner, components: Sequence[LockComponent], patience: Patience) -> int:
        """Acquires locks and returns the ID of the request. Withdraws it and raises LOCK_TIMEOUT, DEADLOCK."""
        lock_id: int | None = None
        try:
            answer = self._request(owner, components)
            lock_id = answer.lockid
            if answer.state != t.LockState.ACQUIRED:
                self._wait(owner, lock_id, patience)
        except BaseException:
            with suppress(AcidSqlError):  # otherwise the request ends with its transaction
                self._withdraw(owner, lock_id)
            raise
        return lock_id

    def _request(self, owner: Owner, components: Sequence[LockComponent]) -> Any:
        request = t.LockRequest(
            component=[component_to_hive(c, is_hive_3=self._hive.is_hive_3) for c in dict.fromkeys(components)],
            txnid=owner.hive_txn,
            user=self._hive.user,
            hostname=self._hive.host,
            agentInfo=owner.agent,
        )
        with txn_errors(owner.txn):
            return self._hive.tell(lambda c: c.lock(request), t.NoSuchTxnException, t.TxnAbortedException)

    def _wait(self, owner: Owner, lock_id: int, patience: Patience) -> None:
        for pause in patience.pauses():
            self._check_deadlock(owner, lock_id)
            time.sleep(pause)
            if self._is_granted(owner, lock_id):
                return
        self._check_deadlock(owner, lock_id)
        blocker = _blocker(self._show(), lock_id)
        if not self._is_granted(owner, lock_id):
            raise _timed_out(blocker, patience.seconds)

    def _is_granted(self, owner: Owner, lock_id: int) -> bool:
        expected = (t.NoSuchTxnException, t.TxnAbortedException, t.NoSuchLockException)
        with txn_errors(owner.txn):
            if owner.read_only:
                self._hive.ask(lambda c: c.heartbeat(t.HeartbeatRequest(txnid=owner.txn)), *expected)
            try:
                request = t.CheckLockRequest(lockid=lock_id)
                return bool(self._hive.ask(lambda c: c.check_lock(request), *expected).state == t.LockState.ACQUIRED)
            except t.NoSuchLockException:
                # An abort releases the locks of a transaction: the heartbeat raises the error for it.
                self._hive.ask(lambda c: c.heartbeat(t.HeartbeatRequest(txnid=owner.txn)), *expected)
                raise

    def _withdraw(self, owner: Owner, lock_id: int | None) -> None:
        """Withdraws a waiting request; a granted one stays with its transaction. Without an answer, and so without an
        ID, these are all waiting requests of the owner, and all requests of a reader, whose locks have no transaction
        that would end them."""
        found = [lock_id] if lock_id is not None else self._requests(owner)
        for request in found:
            with suppress(t.TxnOpenException, t.NoSuchLockException):
                self.release(request)

    def _requests(self, owner: Owner) -> list[int]:
        locks = [e for e in self._show() if (e.txnid or 0) == owner.hive_txn and e.agentInfo == owner.agent]
        return sorted({e.lockid for e in locks if owner.read_only or e.state == t.LockState.WAITING})

    def release(self, lock_id: int) -> None:
        """Releases a lock or a request. Raises TxnOpenException for a granted lock of a transaction."""
        request = t.UnlockRequest(lock_id)
        self._hive.ask(lambda c: c.unlock(request), t.TxnOpenException, t.NoSuchLockException)

    def keep(self, owner: Owner, lock_id: int) -> None:
        """Sends a heartbeat for a lock without a transaction. Raises TRANSACTION_ABORTED where the lock is gone."""
        request = t.HeartbeatRequest(lockid=lock_id)
        with txn_errors(owner.txn):
            self._hive.ask(lambda c: c.heartbeat(request), t.NoSuchLockException)

    # -- the listing

    def all(self, heartbeats: Mapping[TxnId, int]) -> list[Lock]:
        """All locks. `heartbeats` are the last ones of open transactions, which the metastore lists separately."""
        locks = [_lock(e, heartbeats) for e in self._show()]
        return sorted(locks, key=lambda lock: (lock.lock_id, lock.number))

    def _show(self) -> Sequence[Any]:
        return list(self._hive.ask(lambda c: c.show_locks(t.ShowLocksRequest())).locks or ())

    # -- deadlocks

    def _check_deadlock(self, owner: Owner, lock_id: int) -> None:
        """Raises DEADLOCK where transactions wait for each other in a ring and this one is the youngest of acidsql's in
        the ring: Hive's transactions do not look for deadlocks.
        """
        shown = self._show()
        holders = {(e.lockid, e.lockIdInternal): e for e in shown}
        ring = _ring(owner.txn, shown, holders)
        if ring and owner.txn == max(txn for txn, agent in ring.items() if agent.startswith(AGENT)):
            others = ", ".join(f"txnid:{txn}" for txn in ring if txn != owner.txn)
            hint = "Run the transaction again: the other one can end now."
            mine = (holders.get(_blocked_by(e)) for e in shown if e.lockid == lock_id)
            where = next((_shown_resource(blocker) for blocker in mine if blocker is not None), "")
            raise AcidSqlError(
                Condition.DEADLOCK, hint=hint, txn_id=f"txnid:{owner.txn}", resource=where, others=others
            )


def _blocker(shown: Sequence[Any], lock_id: int) -> Any:
    """The lock that a request waits for, an acquired one before a waiting one, as TxnHandler.checkLock compares."""
    mine = [e for e in shown if e.lockid == lock_id]
    others = [e for e in shown if e.lockid < lock_id and any(_excludes(m, e) for m in mine)]
    return min(others, key=lambda e: (e.state == t.LockState.WAITING, e.lockid, e.lockIdInternal), default=None)


def _excludes(mine: Any, theirs: Any) -> bool:
    if _owner(mine) == _owner(theirs) or mine.dbname != theirs.dbname:
        return False
    if mine.tablename and theirs.tablename:
        parts = (mine.partname, theirs.partname)
        if mine.tablename != theirs.tablename or (all(parts) and mine.partname != theirs.partname):
            return False
    locked = LockedResource(_TYPES_FROM_HIVE[theirs.type], resource(theirs.dbname, theirs.tablename, theirs.partname))
    return must_wait(_TYPES_FROM_HIVE[mine.type], resource(mine.dbname, mine.tablename, mine.partname), locked)


def _ring(start: TxnId, shown: Sequence[Any], holders: Mapping[tuple[int, int], Any]) -> Mapping[TxnId, str]:
    """The transactions of a waiting ring with their agents, `start` first; empty where `start` is in no ring.

    A listed lock that blocks another one was not released since: its owner still holds it, or waits for it.
    """
    waits: dict[TxnId, set[TxnId]] = {}
    agents: dict[TxnId, str] = {}
    for element in shown:
        agents[_owner(element)] = element.agentInfo or ""
        blocker = holders.get(_blocked_by(element)) if element.state == t.LockState.WAITING else None
        if blocker is not None:
            waits.setdefault(_owner(element), set()).add(_owner(blocker))
    paths: list[tuple[TxnId, ...]] = [(start,)]
    seen: set[TxnId] = set()
    while paths:
        path = paths.pop()
        for other in waits.get(path[-1], ()):
            if other == start:
                return {txn: agents[txn] for txn in path}
            if other not in seen:
                seen.add(other)
                paths.append((*path, other))
    return {}


def _owner(element: Any) -> TxnId:
    """The transaction of a lock, also of a lock that a read-only transaction of acidsql requested."""
    named = _AGENT.fullmatch(element.agentInfo or "")
    return TxnId(element.txnid or (int(named.group(1)) if named else 0))


def _blocked_by(element: Any) -> tuple[int, int]:
    return (element.blockedByExtId or 0, element.blockedByIntId or 0)


def component_to_hive(component: LockComponent, *, is_hive_3: bool = False) -> Any:
    level = t.LockLevel.DB if component.table is None else t.LockLevel.TABLE
    return t.LockComponent(
        type=(_TYPES_OF_HIVE_3 if is_hive_3 else _TYPES)[component.lock_type],
        level=t.LockLevel.PARTITION if component.partition is not None else level,
        dbname=component.database,
        tablename=component.table,
        partitionname=component.partition,
        operationType=_OPERATIONS[component.operation],
        isTransactional=True,
        isDynamicPartitionWrite=component.dynamic_partition_write,
    )


def _lock(element: Any, heartbeats: Mapping[TxnId, int]) -> Lock:
    waiting = element.state == t.LockState.WAITING
    txn = _owner(element)
    component = LockComponent(
        element.dbname,
        element.tablename or None,
        _TYPES_FROM_HIVE[element.type],
        Operation.NO_TXN,  # the metastore does not keep it with the lock
        _partition_from_hive(element.partname) if element.partname else None,
    )
    return Lock(
        lock_id=element.lockid,
        number=element.lockIdInternal,
        txn=txn,
        component=component,
        waiting=waiting,
        user=element.user,
        host=element.hostname,
        last_heartbeat=element.lastheartbeat or heartbeats.get(txn, 0),
        acquired=0 if waiting else element.acquiredat or 0,
        blocked_by=_blocked_by(element) if waiting and element.blockedByExtId else None,
        agent=element.agentInfo or "",
    )


def _partition_from_hive(name: str) -> str:
    """The metastore escapes names that are escaped already (TxnHandler.normalizePartitionCase).

    >>> _partition_from_hive("p=a%252Fb")
    'p=a%2Fb'
    """
    parts = (part.partition("=") for part in name.split("/"))
    once = [(key, unescape(value)) for key, _, value in parts]
    return "/".join(f"{key}={value if escape(unescape(value)) == value else escape(value)}" for key, value in once)


def _shown_resource(element: Any) -> str:
    partition = [_partition_from_hive(element.partname)] if element.partname else []
    return "/".join((element.dbname, *([element.tablename] if element.tablename else []), *partition))


def _timed_out(blocker: Any, seconds: float) -> AcidSqlError:
    """The LOCK_TIMEOUT error, with the resource and the transaction in the way."""
    if blocker is None:
        detail, where, hint = "Its holder has just ended.", "", "Run the statement again."
    else:
        txn = _owner(blocker)
        who = f"[txnid:{txn}]" if txn else f"[lockid:{blocker.lockid}]"
        what = "came first and waits for" if blocker.state == t.LockState.WAITING else "holds"
        kind = _TYPES_FROM_HIVE[blocker.type].value
        where = _shown_resource(blocker)
        hint = f"Run the statement again when transaction {txn} has ended." if txn else ""
        detail = f"{who} of {blocker.user}@{blocker.hostname} {what} {kind}."
    return AcidSqlError(Condition.LOCK_TIMEOUT, hint=hint, resource=where, millis=round(seconds * 1000), detail=detail)
