"""Hive's transactions in a Hive Metastore: the methods of `TransactionClient` (client.py) but `commit_created`."""

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
"""Seconds between the attempts at a call that fails within the metastore."""


class HiveTransactions:
    """Transactions are the metastore's. Of a read-only one this remembers the locks, which belong to no transaction
    there, so that they can be given back before it ends."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive
        self._locks = HiveLocks(hive)
        self._write_ids = WriteIds(hive)
        self._readers: dict[TxnId, tuple[int, ...]] = {}
        self._readers_lock = threading.Lock()
        self._held: dict[TxnId, frozenset[Resource]] = {}
        """What a transaction writes to under exclusive locks, all taken by its first request and before its snapshot:
        nobody can have committed there since. Empty, or not there: its commit looks for conflicts."""

    @cached_property
    def txn_timeout(self) -> float:
        """As the metastore has it set: `300s`, or a number with another of Hive's units."""
        told = str(self._hive.ask(lambda c: c.get_config_value(_TXN_TIMEOUT, "")) or "")
        return _seconds(told, TXN_TIMEOUT)

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        txn = self._open(idl.READ_ONLY if read_only else None)
        if read_only:
            with self._readers_lock:
                self._readers[txn] = ()
        return txn

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        """The commit of such a one tells the queue when it was (CQ_NEXT_TXN_ID), and starts no other compaction."""
        return self._open(idl.REBALANCE_COMPACTION if kind is CompactionType.REBALANCE else idl.COMPACTION)

    def _open(self, txn_type: int | None) -> TxnId:
        request = idl.OpenTxnRequest(num_txns=1, user=self._hive.user, hostname=self._hive.host, agentInfo=AGENT)
        request.txn_type = txn_type
        try:
            return TxnId(self._hive.tell(lambda c: c.open_txns(request), TApplicationException).txn_ids[0])
        except TApplicationException as error:
            raise self._too_many() or self._hive.failed(error) from error

    def _too_many(self) -> AcidSqlError | None:
        """open_txns declares no exception, so that TxnHandler's text does not arrive. Where it has refused one, it
        refuses all until a tenth has ended."""
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
        self.heartbeat(txn)  # Hive 4.0.1 grants a committed transaction a lock that nothing takes back
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
        # Hive's Driver asks the same after its locks (isValidTxnListState).
        self._held[txn] = frozenset()
        return not self._conflicting(txn)

    def _conflicting(self, txn: TxnId) -> TxnId:
        """The last one that committed what will be a conflict, or 0. To Hive 3 only a commit tells."""
        try:
            return TxnId(self._hive.ask(lambda c: idl.get_latest_txnid_in_conflict(c, txn), TApplicationException))
        except TApplicationException as error:
            if error.type != TApplicationException.UNKNOWN_METHOD:
                raise self._hive.failed(error) from error
            return TxnId(0)

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        """The metastore says with whom (the last one), and not where: the message names all that `txn` has locked to
        write."""
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
        """Components of all operations on the whole table give way to the partitions (TxnHandler's rule)."""
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
        """No call tells it."""
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
                if lock_id in self._readers.get(txn, ()):  # else it was given back just now
                    raise

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        """Asked of each again: a list may leave out open ones (get_open_txns does so with some kinds)."""
        return frozenset(filter(self._has_ended, self.valid_txns().ended(txns))) if txns else frozenset()

    def _has_ended(self, txn: TxnId) -> bool:
        request = t.HeartbeatTxnRangeRequest(txn, txn)
        answer = self._hive.ask(lambda c: c.heartbeat_txn_range(request))
        return txn in answer.aborted or txn in answer.nosuch

    @property
    def knows_leftovers(self) -> bool:
        return False

    def leftovers(self) -> Sequence[Leftover]:
        """Hive's compactor looks after them."""
        return ()

    def forget_leftovers(self, txn: TxnId) -> None:
        """Nothing is kept."""

    def commit(self, txn: TxnId, *, compatible: Collection[TxnId] | None = None) -> None:
        """With exclWriteEnabled the metastore does not look for conflicts: Hive says so where its locks make sure that
        there are none."""
        if compatible is not None:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="Conflicts by row on a Hive Metastore")
        request = idl.CommitTxnRequest(txnid=txn, exclWriteEnabled=bool(self._held.get(txn)))
        try:
            self._in_txn(txn, lambda c: c.commit_txn(request))
        except AnswerLostError as lost:
            self._settle(txn, lambda c: c.commit_txn(request), lost)
        self._forget(txn)

    def _settle(self, txn: TxnId, commit: Request, lost: AnswerLostError) -> None:
        """Finds out whether a commit was done whose answer did not come: it is aborted unless it was.

        Raises `lost` where it was aborted, COMMIT_UNKNOWN where the metastore does not answer.
        """
        try:
            self.abort(txn)
        except AcidSqlError as error:
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                hint = "Look for its rows before you run the statement again"
                raise AcidSqlError(
                    Condition.COMMIT_UNKNOWN, txn_id=f"txnid:{txn}", reason=lost.message, hint=hint
                ) from lost
            self._in_txn(txn, commit)  # no error for what has committed
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
        """Calls what may be repeated: each of these finds that it was done, and says so by doing nothing.

        What fails within the metastore is asked again for some seconds while the transaction is open: Hive's database
        rolls a call back where its rows stay locked for too long.
        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, WRITE_CONFLICT.
        """
        with txn_errors(txn):
            for pause in _PAUSES:
                try:
                    return self._hive.ask(request, *_TXN_EXCEPTIONS)
                except AcidSqlError as error:
                    if error.condition != Condition.METASTORE_FAILED.name:
                        raise
                    # Some methods fail within where the transaction has ended: the heartbeat says how.
                    try:
                        self._hive.ask(lambda c: c.heartbeat(t.HeartbeatRequest(txnid=txn)), *_TXN_EXCEPTIONS)
                    except t.NoSuchTxnException:
                        with suppress(AcidSqlError):  # a commit that was done before it failed succeeds now
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
