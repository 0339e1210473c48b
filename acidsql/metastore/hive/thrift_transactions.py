"""The transactions of a Hive Metastore: the methods of `TransactionClient` (client.py) without `commit_created`."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import (
    DEFAULT_PATIENCE,
    TXN_TIMEOUT,
    Conflict,
    Leftover,
    Lock,
    LockComponent,
    LockType,
    Operation,
    Patience,
    Transaction,
)
from acidsql.metastore.compactions import CompactionType
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.thrift_connection import AnswerLostError, HiveConnections, Request
from acidsql.metastore.hive.thrift_errors import txn_errors
from acidsql.metastore.hive.thrift_locks import AGENT, HiveLocks, Owner, operation_to_hive
from acidsql.metastore.hive.thrift_write_ids import WriteIds
from acidsql.metastore.lock_rules import Resource, resource

_TXN_EXCEPTIONS: Final = (t.NoSuchTxnException, t.TxnAbortedException)
_WRITE_LOCKS: Final = (LockType.SHARED_WRITE, LockType.EXCL_WRITE, LockType.EXCLUSIVE)
_EXCLUSIVE: Final = (LockType.EXCL_WRITE, LockType.EXCLUSIVE)
_TXN_TIMEOUT: Final = "metastore.txn.timeout"
_MAX_OPEN_TXNS: Final = "metastore.max.open.txns"
_WRITES: Final = (Operation.UPDATE, Operation.DELETE)
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
        self._held: dict[TxnId, frozenset[Resource]] = {}
        """The resources that a transaction writes under exclusive locks, if its first request took all of them before
        the snapshot. No other transaction can have committed there since, so the commit skips the search for
        conflicts. For an empty or missing entry the commit searches."""

    @cached_property
    def txn_timeout(self) -> float:
        """The metastore's setting: `300s`, or a number with another one of Hive's units."""
        setting = str(self._hive.ask(lambda c: c.get_config_value(_TXN_TIMEOUT, "")) or "")
        return _seconds(setting, TXN_TIMEOUT)

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        txn = self._open(idl.READ_ONLY if read_only else None)
        if read_only:
            with self._readers_lock:
                self._readers[txn] = ()
        return txn

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        """The commit of a compaction's transaction sets CQ_NEXT_TXN_ID in the queue and starts no other compaction."""
        return self._open(idl.REBALANCE_COMPACTION if kind is CompactionType.REBALANCE else idl.COMPACTION)

    def _open(self, txn_type: int | None) -> TxnId:
        request = idl.OpenTxnRequest(num_txns=1, user=self._hive.user, hostname=self._hive.host, agentInfo=AGENT)
        request.txn_type = txn_type
        try:
            return TxnId(self._hive.tell(lambda c: c.open_txns(request), TApplicationException).txn_ids[0])
        except TApplicationException as error:
            raise self._too_many() or self._hive.failed(error) from error

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
        answer = self._in_txn(txn, lambda c: c.allocate_table_write_ids(request))
        return WriteId(answer.txnToWriteIds[0].writeId)

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

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        """Asks for each transaction again: get_open_txns leaves out some kinds of open transactions."""
        return frozenset(filter(self._has_ended, self.valid_txns().ended(txns))) if txns else frozenset()

    def _has_ended(self, txn: TxnId) -> bool:
        request = t.HeartbeatTxnRangeRequest(txn, txn)
        answer = self._hive.ask(lambda c: c.heartbeat_txn_range(request))
        return txn in answer.aborted or txn in answer.nosuch

    @property
    def knows_leftovers(self) -> bool:
        return False

    def leftovers(self) -> Sequence[Leftover]:
        """Empty: Hive's compactor removes them."""
        return ()

    def forget_leftovers(self, txn: TxnId) -> None:
        """Does nothing: the metastore keeps no leftovers."""

    def commit(self, txn: TxnId, *, compatible: Collection[TxnId] | None = None) -> None:
        """With exclWriteEnabled the metastore does not search for conflicts. Hive sets it where its locks exclude
        them."""
        if compatible is not None:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="Conflicts by row on a Hive Metastore")
        request = idl.CommitTxnRequest(txnid=txn, exclWriteEnabled=bool(self._held.get(txn)))
        try:
            self._in_txn(txn, lambda c: c.commit_txn(request))
        except AnswerLostError as lost:
            self._settle(txn, lambda c: c.commit_txn(request), lost)
        self._forget(txn)

    def _settle(self, txn: TxnId, commit: Request, lost: AnswerLostError) -> None:
        """Settles a commit without an answer: aborts the transaction unless it has committed.

        Raises `lost` where it is aborted now, and COMMIT_UNKNOWN where the metastore does not answer.
        """
        try:
            self.abort(txn)
        except AcidSqlError as error:
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                hint = "Look for its rows before you run the statement again"
                raise AcidSqlError(
                    Condition.COMMIT_UNKNOWN, txn_id=f"txnid:{txn}", reason=lost.message, hint=hint
                ) from lost
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


def _seconds(text: str, default: float) -> float:
    """A time of Hive's settings (HiveConf.toTime); bare numbers are seconds.

    >>> _seconds("5min", 1), _seconds("1500ms", 1), _seconds("", 7)
    (300.0, 1.5, 7)
    """
    found = _TIME.fullmatch(text.strip().lower())
    if found is None:
        return default
    unit = next((seconds for prefix, seconds in _UNITS.items() if found[2].startswith(prefix)), 1.0)
    return float(found[1]) * unit


_TIME: Final = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS: Final = {"ms": 1e-3, "msec": 1e-3, "us": 1e-6, "ns": 1e-9, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _transaction(info: Any) -> Transaction:
    is_open = info.state == t.TxnState.OPEN
    return Transaction(TxnId(info.id), is_open, info.startedTime, info.lastHeartbeatTime, info.user, info.hostname)
