"""The claims to streams in a Hive Metastore: locks without a transaction, which heartbeats keep.

The claim to a stream is an EXCLUSIVE lock on a partition of the stream's table. The partition does not exist; locks are
names. The agent of the lock names the writer's process, so that others of its machine notice when it has ended.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_locks import AGENT, component_to_hive
from acidsql.metastore.hive.thrift_stream_tables import STREAMS
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.process_identity import is_named_gone, named_pid, process_name

_CLAIM, _COMMIT = "claim=1", "commit=1"
"""The partitions: of the claim, and of the transactions of the stream."""
_PAUSES: Final = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts while others that came first withdraw their requests."""
_NO_LOCK: Final = (t.NoSuchLockException, t.NoSuchTxnException, t.TxnAbortedException)


def commit_lock(name: str) -> LockComponent:
    """The lock that each transaction of a stream holds: one of them at a time compares and commits the offset."""
    return _exclusive(name, _COMMIT)


def _exclusive(name: str, partition: str) -> LockComponent:
    return LockComponent(STREAMS, name, LockType.EXCLUSIVE, Operation.NO_TXN, partition)


class ClaimLocks:
    """Each method takes the name of a stream's table, or the lock of a claim. `timeout` is that of transactions."""

    def __init__(self, hive: HiveConnections, timeout: Callable[[], float]) -> None:
        self._hive = hive
        self._timeout = timeout

    def acquire(self, name: str) -> int | str:
        """Gives the lock, or the description of the writer that has it. Does not wait for that one.

        Takes the claim of a process of this machine that has ended, and of a writer without a heartbeat for the
        timeout: their locks are released.
        """
        agent = f"{AGENT} stream {process_name()} {uuid.uuid4().hex}"
        request = t.LockRequest(
            component=[component_to_hive(_exclusive(name, _CLAIM))],
            txnid=0,
            user=self._hive.user,
            hostname=self._hive.host,
            agentInfo=agent,
        )
        try:
            return self._acquire(name, request)
        except BaseException:
            with suppress(AcidSqlError):  # otherwise the request ends without a heartbeat
                for element in self._shown(name):
                    if element.agentInfo == agent:
                        self.release(element.lockid)
            raise

    def _acquire(self, name: str, request: Any) -> int | str:
        """Asks again after the requests before it have ended: a waiting request would be granted by check_lock only.
        On Derby that call stops all others for twenty seconds where it meets another one that looks at locks. It
        changes the row of the lock before it takes the mutex of the metastore (TxnHandler.checkLock), under which the
        other one waits for the row."""
        waiting = ""
        for pause in _PAUSES:
            time.sleep(pause)
            answer = self._hive.tell(lambda c: c.lock(request))
            lock: int = answer.lockid
            if answer.state == t.LockState.ACQUIRED:
                return lock
            shown = self._shown(name)
            before = self._before(lock, shown)
            holder = next((e for e in before if e.state == t.LockState.ACQUIRED), None)
            if not before and any(e.lockid > lock for e in shown) and self._is_granted(lock):
                return lock  # others wait behind it, and would come first if it were withdrawn
            self.release(lock)
            if holder is not None:
                return _writer(holder)
            waiting = _writer(before[0]) if before else waiting
        return waiting or "another one that asked for the stream at the same time"

    def _before(self, lock: int, shown: Sequence[Any]) -> Sequence[Any]:
        """The live requests that come before a request, in order. Those of writers that have ended are released."""
        now = max((e.lastheartbeat or 0 for e in shown if e.lockid == lock), default=0)
        earlier = [e for e in shown if e.lockid < lock]
        for dead in (e for e in earlier if self._is_dead(e, now)):
            self.release(dead.lockid)
        return [e for e in earlier if not self._is_dead(e, now)]

    def _is_dead(self, element: Any, now: int) -> bool:
        """`now` is the last heartbeat of another lock: both are times of the metastore's clock."""
        silent = now - (element.lastheartbeat or now)
        return is_named_gone(element.agentInfo or "") or silent > self._timeout() * 1000

    def _is_granted(self, lock: int) -> bool:
        try:
            answer = self._hive.ask(lambda c: c.check_lock(t.CheckLockRequest(lockid=lock)), *_NO_LOCK)
        except t.NoSuchLockException:
            return False
        return bool(answer.state == t.LockState.ACQUIRED)

    def keep(self, lock: int) -> bool:
        """Sends a heartbeat. Returns whether the lock is still held."""
        try:
            self._hive.ask(lambda c: c.heartbeat(t.HeartbeatRequest(lockid=lock)), *_NO_LOCK)
        except t.NoSuchLockException:
            return False
        return True

    def release(self, lock: int) -> None:
        """No error where the lock is gone."""
        with suppress(t.NoSuchLockException, t.TxnOpenException):
            self._hive.ask(lambda c: c.unlock(t.UnlockRequest(lock)), t.NoSuchLockException, t.TxnOpenException)

    def writers(self) -> Mapping[str, str]:
        """The descriptions of the live writers, by the names of the streams' tables."""
        held = (e for e in self._shown() if e.state == t.LockState.ACQUIRED)
        return {e.tablename: _writer(e) for e in held if not is_named_gone(e.agentInfo or "")}

    def _shown(self, name: str | None = None) -> Sequence[Any]:
        request = t.ShowLocksRequest(dbname=STREAMS, tablename=name)
        found = self._hive.ask(lambda c: c.show_locks(request)).locks or ()
        return sorted((e for e in found if e.partname == _CLAIM), key=lambda e: e.lockid)


def _writer(element: Any) -> str:
    pid = named_pid(element.agentInfo or "")
    return f"{element.user}@{element.hostname}" + ("" if pid is None else f", process {pid}")
