"""The transactions and locks of a Hive Metastore: methods of `TransactionClient` and `LockKeeper`."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.heartbeat import is_lost
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.thrift_connection import AnswerLostError, HiveConnections, Request
from acidsql.metastore.hive.thrift_errors import txn_errors
from acidsql.metastore.hive.thrift_locks import AGENT, HiveLocks, Owner, operation_to_hive
from acidsql.metastore.hive.thrift_write_ids import WriteIds
from acidsql.metastore.hive.time_settings import seconds_of
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_rules import Resource, resource
from acidsql.metastore.locks import DEFAULT_PATIENCE, Lock, Patience
from acidsql.metastore.process_identity import is_named_gone, process_name, without_process_name
from acidsql.metastore.transaction_client import TXN_TIMEOUT, Conflict, Transaction

_TXN_EXCEPTIONS: Final = (t.NoSuchTxnException, t.TxnAbortedException)
_WRITE_LOCKS: Final = (LockType.SHARED_WRITE, LockType.EXCL_WRITE, LockType.EXCLUSIVE)
_EXCLUSIVE: Final = (LockType.EXCL_WRITE, LockType.EXCLUSIVE)
_TXN_TIMEOUT: Final = "metastore.txn.timeout"
_MAX_OPEN_TXNS: Final = "metastore.max.open.txns"
_WRITES: Final = (Operation.UPDATE, Operation.DELETE)
_HOST_LENGTH: Final = 80
"""Of the 128 characters of TXNS.TXN_HOST; the name of a process takes the others."""
_LOOK_SECONDS: Final = 60.0
"""How often a client that opens transactions looks for those of ended processes."""
_PAUSES: Final = (0.2, 0.8, 2.0)
"""Seconds between attempts at a call that fails inside the metastore."""


class HiveTransactions:
    """The transactions of the metastore. This class remembers the locks of read-only transactions: there they belong to
    no transaction, so that they can be released early."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive
        self._locks = HiveLocks(hive)
        self._write_ids = WriteIds(hive)
        self._readers: dict[TxnId, tuple[int, ...]] = {}
        self._readers_lock = threading.Lock()
        self._next_look = 0.0
        self._held: dict[TxnId, frozenset[Resource]] = {}
        """The resources that a transaction writes under exclusive locks, if its first request took all of them before
        the snapshot. No other transaction can have committed there since, so the commit skips the search for
        conflicts. For an empty or missing entry the commit searches."""

    @cached_property
    def txn_timeout(self) -> float:
        """The metastore's setting: `300s`, or a number with another one of Hive's units."""
        setting = str(self._hive.ask(lambda c: c.get_config_value(_TXN_TIMEOUT, "")) or "")
        return seconds_of(setting, TXN_TIMEOUT)

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        (txn,) = self._open(1, idl.READ_ONLY if read_only else None)
        if read_only:
            with self._readers_lock:
                self._readers[txn] = ()
        return txn

    def open_txns(self, count: int) -> Sequence[TxnId]:
        """Several calls for more than the metastore opens at once (hive.txn.max.open.batch)."""
        opened: list[TxnId] = []
        while len(opened) < count:
            opened += self._open(count - len(opened), None)
        return sorted(opened)

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        """The commit of a compaction's transaction sets CQ_NEXT_TXN_ID in the queue and starts no other compaction."""
        (txn,) = self._open(1, idl.REBALANCE_COMPACTION if kind is CompactionType.REBALANCE else idl.COMPACTION)
        return txn

    def _open(self, count: int, txn_type: int | None) -> Sequence[TxnId]:
        """The host of a transaction names its process, so that others of this machine notice when it has ended."""
        if time.monotonic() > self._next_look:
            self.abort_of_ended_processes()
        host = f"{self._hive.host[:_HOST_LENGTH]} {process_name()}"
        request = idl.OpenTxnRequest(num_txns=count, user=self._hive.user, hostname=host, agentInfo=AGENT)
        request.txn_type = txn_type
        try:
            opened = self._hive.tell(lambda c: c.open_txns(request), TApplicationException)
        except TApplicationException as error:
            raise self._too_many() or self._hive.failed(error) from error
        return list(map(TxnId, opened.txn_ids))

    def abort_of_ended_processes(self) -> None:
        """Aborts the open transactions of acidsql's processes on this machine that have ended. Once it returns, none of
        them commits any more."""
        self._next_look = time.monotonic() + _LOOK_SECONDS
        ended = cache(is_named_gone)
        for info in self._hive.ask(lambda c: c.get_open_txns_info()).open_txns:
            if info.state == t.TxnState.OPEN and ended(info.hostname):
                try:
                    self.abort(TxnId(info.id))
                except AcidSqlError as error:
                    if error.condition != Condition.NO_SUCH_TRANSACTION.name:  # otherwise it has committed before
                        raise

    def _too_many(self) -> AcidSqlError | None:
        """The error for a refused open_txns, whose message Thrift drops because open_txns declares no exception. After
        one refusal, TxnHandler refuses all requests until a tenth of the transactions has ended."""
        limit = int(self._hive.ask(lambda c: c.get_config_value(_MAX_OPEN_TXNS, "")) or 0)
        count = sum(txn.is_open for txn in self.transactions())
        if not limit or count < 0.9 * limit:
            return None
        return AcidSqlError(Condition.TOO_MANY_TRANSACTIONS, limit=limit)

    def transactions(self) -> Sequence[Transaction]:
        found = self._hive.ask(lambda c: c.get_open_txns_info()).open_txns
        return sorted((_transaction(info) for info in found), key=lambda txn: txn.id)

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        return self._write_ids.valid_txns()

    # -- locks

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        self.heartbeat(txn)  # Hive 4.0.1 grants a committed transaction a lock that is never released
        if not components:
            return True
        owner = Owner(txn, txn in self._readers)
        try:
            lock_id = self._locks.acquire(owner, components, patience)
        except AcidSqlError as error:
            if error.condition == Condition.DEADLOCK.name:
                self.abort(txn)
            raise
        if owner.read_only:
            with self._readers_lock:
                self._readers[txn] = (*self._readers.get(txn, ()), lock_id)
            return True
        writes = [c for c in components if c.operation in _WRITES]
        if txn not in self._held and all(c.lock_type in _EXCLUSIVE for c in writes):
            self._held[txn] = frozenset(resource(c.database, c.table, c.partition) for c in writes)
            return True
        # Hive's Driver makes the same check after its locks (isValidTxnListState).
        self._held[txn] = frozenset()
        return not self._conflicting(txn)

    def _conflicting(self, txn: TxnId) -> TxnId:
        """The last transaction whose commit conflicts with `txn`, or 0. Hive 3 finds conflicts only at the commit."""
        try:
            return TxnId(self._hive.ask(lambda c: idl.get_latest_txnid_in_conflict(c, txn), TApplicationException))
        except TApplicationException as error:
            if error.type != TApplicationException.UNKNOWN_METHOD:
                raise self._hive.failed(error) from error
            return TxnId(0)

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        """The last conflicting transaction. The metastore does not name the place of the conflict, so the message lists
        all tables that `txn` has locked for writing."""
        other = TxnId(0) if self._held.get(txn) else self._conflicting(txn)
        return [self._conflict(txn, other)] if other else []

    def _conflict(self, txn: TxnId, other: TxnId) -> Conflict:
        mark = self.valid_txns().high_watermark
        mine = (lock.component for lock in self.locks() if lock.txn == txn and lock.component.lock_type in _WRITE_LOCKS)
        resources = sorted({f"{c.database}/{c.table}" for c in mine})
        error = AcidSqlError(
            Condition.WRITE_CONFLICT,
            txn_id=txn,
            commit_id=mark,
            resource=", ".join(resources),
            other_txn_id=other,
            other_commit_id=mark,
            operations="u/u",
        )
        database, _, table = resources[0].partition("/") if resources else ("", "", "")
        return Conflict(other, database, table, None, error)

    def release_locks(self, txn: TxnId) -> None:
        self.heartbeat(txn)
        with self._readers_lock:
            locks = self._readers.get(txn, ())
            if txn in self._readers:
                self._readers[txn] = ()
        self._unlock(locks)

    def _forget(self, txn: TxnId) -> None:
        self._held.pop(txn, None)
        with self._readers_lock:
            locks = self._readers.pop(txn, ())
        self._unlock(locks)

    def _unlock(self, locks: Iterable[int]) -> None:
        for lock_id in locks:
            with suppress(t.NoSuchLockException, t.TxnOpenException):
                self._locks.release(lock_id)

    def locks(self) -> Sequence[Lock]:
        return self._locks.all({txn.id: txn.last_heartbeat for txn in self.transactions()})

    # -- writes

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        """The partitions replace the components of all operations on the whole table (a rule of TxnHandler)."""
        request = t.AddDynamicPartitions(
            txnid=txn,
            writeid=self.allocate_write_id(txn, table),
            dbname=table.database,
            tablename=table.name,
            partitionnames=list(partitions),
            operationType=operation_to_hive(operation),
        )
        self._in_txn(txn, lambda c: c.add_dynamic_partitions(request))
        held = self._held.get(txn, frozenset())
        touched = (resource(table.database, table.name, name) for name in partitions)
        if operation in _WRITES and not all(held.intersection((one, one[:1], one[:2])) for one in touched):
            self._held[txn] = frozenset()

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        request = t.AllocateTableWriteIdsRequest(dbName=table.database, tableName=table.name, txnIds=[txn])
        try:
            answer = self._in_txn(txn, lambda c: c.allocate_table_write_ids(request))
        except AnswerLostError:
            self.heartbeat(txn)  # Hive 3 ends the connection where the transaction has ended: this raises its error
            raise
        return WriteId(answer.txnToWriteIds[0].writeId)

    def allocate_write_ids(self, txns: Sequence[TxnId], table: Table) -> Sequence[WriteId]:
        if not txns:
            return ()
        if ended := self.heartbeats(txns):
            self.heartbeat(min(ended))  # raises the error of a transaction that has ended
        request = t.AllocateTableWriteIdsRequest(dbName=table.database, tableName=table.name, txnIds=list(txns))
        answer = self._in_txn(txns[0], lambda c: c.allocate_table_write_ids(request))
        found = {one.txnId: WriteId(one.writeId) for one in answer.txnToWriteIds}
        return [found[txn] for txn in txns]

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        """None: the metastore has no call for it."""
        return None

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        return self._write_ids.valid_write_ids(table, txns)

    # -- the end

    def heartbeat(self, txn: TxnId) -> None:
        request = t.HeartbeatRequest(txnid=txn)
        self._in_txn(txn, lambda c: c.heartbeat(request))
        for lock_id in self._readers.get(txn, ()):
            try:
                self._locks.keep(Owner(txn, True), lock_id)
            except AcidSqlError:
                if lock_id in self._readers.get(txn, ()):  # otherwise the lock has just been released
                    raise

    def heartbeats(self, txns: Sequence[TxnId]) -> frozenset[TxnId]:
        """One call for each run of consecutive IDs: transactions between them belong to others."""
        ended: set[TxnId] = set()
        for txn in txns:
            if txn in self._readers:
                try:
                    self.heartbeat(txn)
                except AcidSqlError as error:
                    if not is_lost(error):
                        raise
                    ended.add(txn)
        for first, last in _runs(txn for txn in txns if txn not in self._readers):
            ended |= self._not_open(first, last)
        return frozenset(ended)

    def _not_open(self, first: TxnId, last: TxnId) -> frozenset[TxnId]:
        request = t.HeartbeatTxnRangeRequest(first, last)
        answer = self._hive.ask(lambda c: c.heartbeat_txn_range(request))
        return frozenset(map(TxnId, (*answer.aborted, *answer.nosuch)))

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        """Asks for each transaction again: get_open_txns leaves out some kinds of open transactions."""
        maybe = self.valid_txns().ended(txns) if txns else ()
        return frozenset(txn for txn in maybe if self._not_open(txn, txn))

    def commit_with(self, txn: TxnId, compatible: Collection[TxnId] | None, key_value: Any = None) -> None:
        """Commits, and sets a parameter of a table (CommitTxnKeyValue) in the same step.

        With exclWriteEnabled the metastore does not search for conflicts. Hive sets it where its locks exclude them.
        """
        if compatible is not None:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="Conflicts by row on a Hive Metastore")
        request = idl.CommitTxnRequest(txnid=txn, keyValue=key_value, exclWriteEnabled=bool(self._held.get(txn)))
        calls = 0

        def commit(client: Any) -> Any:
            nonlocal calls
            calls += 1
            return client.commit_txn(request)

        try:
            try:
                self._in_txn(txn, commit)
            except AnswerLostError as lost:
                self._settle(txn, commit, lost)
        except AcidSqlError as error:
            if calls > 1 and error.condition == Condition.NO_SUCH_TRANSACTION.name:
                # Hive forgets committed transactions after some seconds (cleanEmptyAbortedAndCommittedTxns).
                reason = f"its commit was repeated, and the metastore does not know it any more ({error.message})"
                raise _unknown(txn, reason) from error
            raise
        self._forget(txn)

    def _settle(self, txn: TxnId, commit: Request, lost: AnswerLostError) -> None:
        """Settles a commit without an answer: aborts the transaction unless it has committed.

        Raises `lost` where it is aborted now, and COMMIT_UNKNOWN where the metastore does not answer.
        """
        try:
            self.abort(txn)
        except AcidSqlError as error:
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                raise _unknown(txn, lost.message) from lost
            self._in_txn(txn, commit)  # a second commit is no error
        else:
            raise lost

    def abort(self, txn: TxnId) -> None:
        request = t.AbortTxnRequest(txnid=txn)
        try:
            self._in_txn(txn, lambda c: c.abort_txn(request))
        except AcidSqlError as error:
            if error.condition != Condition.TRANSACTION_ABORTED.name:
                raise
        self._forget(txn)

    def _in_txn(self, txn: TxnId, request: Request) -> Any:
        """Makes a call that may be repeated: a repeated call does nothing.

        Repeats a call that fails inside the metastore for some seconds while the transaction is open: Hive's database
        rolls back a call whose rows stay locked for too long.
        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, WRITE_CONFLICT.
        """
        with txn_errors(txn):
            for pause in _PAUSES:
                try:
                    return self._hive.ask(request, *_TXN_EXCEPTIONS)
                except AcidSqlError as error:
                    if error.condition != Condition.METASTORE_FAILED.name:
                        raise
                    # Some methods fail where the transaction has ended: the heartbeat tells how it ended.
                    try:
                        self._hive.ask(lambda c: c.heartbeat(t.HeartbeatRequest(txnid=txn)), *_TXN_EXCEPTIONS)
                    except t.NoSuchTxnException:
                        with suppress(AcidSqlError):  # a commit that took effect before it failed succeeds now
                            return self._hive.ask(request, *_TXN_EXCEPTIONS)
                        raise
                time.sleep(pause)
            return self._hive.ask(request, *_TXN_EXCEPTIONS)


def _transaction(info: Any) -> Transaction:
    is_open, host = info.state == t.TxnState.OPEN, without_process_name(info.hostname)
    return Transaction(TxnId(info.id), is_open, info.startedTime, info.lastHeartbeatTime, info.user, host)


def _runs(txns: Iterable[TxnId]) -> Sequence[tuple[TxnId, TxnId]]:
    """The first and the last transaction of each run of consecutive IDs.

    >>> _runs([3, 1, 2, 7])
    [(1, 3), (7, 7)]
    """
    runs: list[tuple[TxnId, TxnId]] = []
    for txn in sorted(txns):
        if runs and runs[-1][1] == txn - 1:
            runs[-1] = (runs[-1][0], txn)
        else:
            runs.append((txn, txn))
    return runs


def _unknown(txn: TxnId, reason: str) -> AcidSqlError:
    hint = "Look for its rows before you run the statement again"
    return AcidSqlError(Condition.COMMIT_UNKNOWN, txn_id=f"txnid:{txn}", reason=reason, hint=hint)
