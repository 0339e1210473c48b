"""The compaction queue of a Hive Metastore: the methods of `CompactionQueue` (compactions.py).

The metastore checks neither state nor worker when a worker changes an entry (CompactionTxnHandler.updateCompactorState,
markCompacted, markFailed). Therefore this module reads both before each change. It does not notice an entry that
changes owner between the two calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.compactions import (
    DEFAULT_POOL,
    AbortedCompaction,
    Compaction,
    CompactionRequest,
    CompactionState,
    Enqueued,
)
from acidsql.metastore.heartbeat import is_lost
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive.thrift_connection import Request
from acidsql.metastore.hive.thrift_locks import AGENT
from acidsql.metastore.hive.thrift_transactions import HiveTransactions
from acidsql.metastore.process_identity import is_named_gone

_TYPES: Final = {
    CompactionType.MINOR: t.CompactionType.MINOR,
    CompactionType.MAJOR: t.CompactionType.MAJOR,
    CompactionType.REBALANCE: idl.REBALANCE,
}
_TYPES_FROM_HIVE: Final = {number: kind for kind, number in _TYPES.items()}
_ALREADY: Final = re.compile(r"Compaction is already scheduled with state='(?P<state>[^']+)' and id=(?P<id>\d+)")
"""CompactFunction: the answer's own ID is -1, its state `refused`."""
_INITIATED, _WORKING = "i", "w"
"""TxnStore.INITIATED_STATE, WORKING_STATE."""
_ABORTED: Final = "Success"
_RUN_AS: Final = "metastore.compactor.run.as.user"


class HiveCompactions(HiveTransactions):
    """A call that the metastore does not know (Hive 3) raises NOT_YET_SUPPORTED."""

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        """Also refused where the same write ID was compacted already and is not clean yet."""
        new = _request_to_hive(request, self._hive.host)
        answer = self._queue("compact2", lambda c: idl.compact(c, new), self._hive.tell)
        if answer.accepted:
            return Enqueued(answer.id, CompactionState(answer.state), True)
        other = _ALREADY.search(answer.errormessage or "")
        if other is None:  # Hive 3 returns the ID, Hive 4 only names it in the message
            return Enqueued(answer.id, CompactionState(answer.state), False)
        return Enqueued(int(other["id"]), CompactionState(other["state"]), False)

    def compactions(self) -> Sequence[Compaction]:
        """Without properties, ORDER BY and buckets, which the metastore does not list."""
        found = (_compaction(e) for e in self._show() if e.type in _TYPES_FROM_HIVE)  # others are a cleaner's
        return sorted(found, key=lambda compaction: compaction.id, reverse=True)

    def abort_compactions(self, ids: Collection[int]) -> Sequence[AbortedCompaction]:
        if not ids:
            return ()
        wanted = list(dict.fromkeys(ids))
        found = self._queue("abort_Compactions", lambda c: idl.abort_compactions(c, wanted), self._hive.tell)
        return [AbortedCompaction(n, found[n].status == _ABORTED, found[n].message or "") for n in wanted]

    # -- workers

    def take_compaction(self, worker: str, pools: Collection[str] = (DEFAULT_POOL,)) -> Compaction | None:
        """The metastore splits `<host>-<worker>` at the `-`, so a worker's name must not contain one. Workers of the
        default pool also get requests of other pools after a timeout (metastore.compactor.worker.pool.timeout)."""
        for pool in self._oldest_first(pools):
            taken = self._take_from(pool, worker)
            # An entry that is not listed belongs to a table that was dropped just now.
            if taken is not None and (shown := self._shown(taken.id)) is not None:
                return replace(_taken(taken, _compaction(shown)), worker_host=self._hive.host, worker=worker)
        return None

    def _take_from(self, pool: str, worker: str) -> Any:
        request = idl.FindNextCompactRequest(
            workerId=f"{self._hive.host}-{worker}", workerVersion=AGENT, poolName=_pool_to_hive(pool)
        )
        return self._queue("find_next_compact2", lambda c: idl.find_next_compaction(c, request), self._hive.tell)

    def _oldest_first(self, pools: Collection[str]) -> Sequence[str]:
        """The pools, that with the oldest request first: a call looks into one pool only."""
        if len(pools) < 2:
            return tuple(pools)
        oldest: dict[str, int] = {}
        for element in self._show(state=_INITIATED):
            pool = element.poolName or DEFAULT_POOL
            oldest[pool] = min(element.id, oldest.get(pool, element.id))
        return sorted(pools, key=lambda pool: (pool not in oldest, oldest.get(pool, 0)))

    def begin_compaction(self, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
        """Also notes the user for Hive's cleaner, which fails without one (CompactorUtil.runJobAsSelf)."""
        run_as = self._owned(compaction).runAs or self._compactor_user()
        changed = replace(compaction, txn=txn, highest_write_id=highest_write_id)
        struct = _struct(changed)
        struct.runas = run_as
        self._queue("update_compactor_state", lambda c: idl.update_compactor_state(c, struct, txn), self._hive.tell)
        return changed

    def _compactor_user(self) -> str:
        """The configured user, else this process's, who owns the files. Hive's workers take the directory's owner."""
        return str(self._hive.ask(lambda c: c.get_config_value(_RUN_AS, "")) or self._hive.user)

    def commit_compaction(self, compaction: Compaction) -> None:
        """Commits before it marks the entry, as Hive's workers do (HIVE-29571). An entry that is marked, and whose
        transaction is then aborted, ends as a success without a compaction, and can block later ones (HIVE-29572).

        A worker that dies between the two calls leaves an entry in state working, which the cleaner ignores:
        `revoke_dead_workers` marks it. So a failure to mark it is no error.
        """
        assert compaction.txn is not None, "begin_compaction comes first"
        self._owned(compaction)
        self.heartbeat(compaction.txn)  # the entry stays in state working after the transaction's end
        self.commit_with(compaction.txn, None)
        with suppress(AcidSqlError):
            self._mark_compacted(compaction)

    def fail_compaction(self, compaction: Compaction, error: str) -> None:
        """Makes the entry ready for cleaning instead where its transaction has committed: as a failed entry it would
        leave the directories that it replaced to a later compaction."""
        if self._has_committed(compaction):
            self._mark_compacted(compaction)
        else:
            self._end("mark_failed", idl.mark_failed, compaction, error)

    def _has_committed(self, compaction: Compaction) -> bool:
        if compaction.txn is None:
            return False
        try:
            self.heartbeat(compaction.txn)
        except AcidSqlError as error:
            if not is_lost(error):
                raise
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                return False
            # It has committed, or it was aborted and the metastore has forgotten it, which it does only when its files
            # are removed. Hive 4.0.1 notes no commit of a rebalance in the queue; to clean up after none does no harm.
            shown = self._shown(compaction.id)
            return compaction.request.type is CompactionType.REBALANCE or bool(shown is not None and shown.commitTime)
        return False

    def _mark_compacted(self, compaction: Compaction) -> None:
        self._end("mark_compacted", idl.mark_compacted, compaction, "")

    def give_back_compaction(self, compaction: Compaction, reason: str) -> None:
        """Ends the entry as failed: the metastore has no call to return it to the queue, and its initiator asks again
        while the table needs the compaction."""
        self.fail_compaction(compaction, reason)

    def refuse_compaction(self, compaction: Compaction, reason: str) -> None:
        """No error where the entry does not belong to this worker any more."""
        self._end("mark_refused", idl.mark_refused, compaction, reason)

    def _end(self, call: str, mark: Callable[[Any, Any], None], compaction: Compaction, message: str) -> None:
        if self._look(compaction)[1]:
            return
        struct = _struct(compaction)
        struct.errorMessage = message
        try:
            self._queue(call, lambda c: mark(c, struct), self._hive.tell)
        except AcidSqlError:
            if not self._look(compaction)[1]:  # otherwise the call failed because the entry has just been removed
                raise

    def revoke_dead_workers(self, timeout: float) -> Sequence[int]:
        """Ends the entries of dead acidsql workers: as ready for cleaning where the transaction has committed, else as
        failed. The metastore has no call to return an entry to the queue. It does so itself after a day
        (metastore.compactor.worker.timeout), and refuses requests for the place until then."""
        working = [e for e in self._show(state=_WORKING) if e.workerVersion == AGENT]
        lost = self.ended({TxnId(e.txnId) for e in working if e.txnId})
        dead = [_compaction(e) for e in working if e.txnId in lost or is_named_gone(e.workerid or "")]
        for compaction in dead:
            if compaction.txn is not None and compaction.txn not in lost:
                try:
                    self.abort(compaction.txn)
                except AcidSqlError as error:
                    if not is_lost(error):  # otherwise it has ended just now
                        raise
            self.fail_compaction(compaction, "its worker has ended or lost its transaction")
        return [compaction.id for compaction in dead]

    # -- ownership of entries

    def _owned(self, compaction: Compaction) -> Any:
        """The listed entry. Raises COMPACTION_LOST where it does not belong to this worker."""
        shown, reason = self._look(compaction)
        if reason:
            resource = compaction.request.place.text
            raise AcidSqlError(Condition.COMPACTION_LOST, id=compaction.id, resource=resource, reason=reason)
        return shown

    def _look(self, compaction: Compaction) -> tuple[Any, str]:
        """The listed entry, and the reason why it does not belong to this worker any more ("" if it does)."""
        shown = self._shown(compaction.id)
        if shown is None:
            return None, "it is not in the queue"
        if shown.state != CompactionState.WORKING.value:
            return shown, f"it is in state {shown.state}"
        if shown.workerid != _worker_id(compaction):
            return shown, f"it is {shown.workerid}'s"
        return shown, "it was taken again since" if shown.start != compaction.started else ""

    # -- calls

    def _show(self, **wanted: Any) -> Sequence[Any]:
        """The entries, one for each ID. Hive 3 ignores the filter. The metastore may list an entry twice while it moves
        to the history."""
        request = idl.ShowCompactRequest(**wanted)
        found = self._queue("show_compact", lambda c: idl.show_compactions(c, request), self._hive.ask) or ()
        return list({e.id: e for e in sorted(found, key=lambda e: e.endTime or 0)}.values())

    def _shown(self, number: int) -> Any:
        return next((e for e in self._show(id=number) if e.id == number), None)

    def _queue(self, name: str, request: Request, send: Callable[..., Any]) -> Any:
        """Calls through `send`, one of the connections' `ask` and `tell`."""
        try:
            return send(request, TApplicationException)
        except TApplicationException as error:
            if error.type == TApplicationException.UNKNOWN_METHOD:
                feature = f"A Hive Metastore without the call {name}"
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature) from error
            raise self._hive.failed(error) from error


def _request_to_hive(request: CompactionRequest, host: str) -> Any:
    return idl.CompactionRequest(
        dbname=request.database,
        tablename=request.table,
        partitionname=request.partition,
        type=_TYPES[request.type],
        properties=dict(request.properties) or None,
        initiatorId=f"{host}-{request.initiator}",
        initiatorVersion=AGENT,
        poolName=_pool_to_hive(request.pool),
        numberOfBuckets=request.buckets,
        orderByClause=request.order_by,
    )


def _compaction(element: Any) -> Compaction:
    worker_host, _, worker = (element.workerid or "").rpartition("-")
    initiator_host, _, initiator = (element.initiatorId or "").rpartition("-")
    request = CompactionRequest(
        element.dbname,
        element.tablename,
        element.partitionname or None,
        _TYPES_FROM_HIVE[element.type],
        pool=None if element.poolName in (None, DEFAULT_POOL) else element.poolName,
        initiator=initiator,
    )
    # Hive 4.0.1: CQ_NEXT_TXN_ID is the highest transaction ID that was given when it committed, not the next, and a
    # rebalance has none. ShowCompactHandler puts the highest write ID into the field of the highest transaction.
    highest = element.hightestWriteId or element.hightestTxnId
    return Compaction(
        element.id,
        request,
        CompactionState(element.state),
        enqueued=element.enqueueTime or 0,
        started=element.start or 0,
        ended=element.endTime or 0,
        worker_host=worker_host,
        worker=worker,
        initiator_host=initiator_host,
        txn=TxnId(element.txnId) if element.txnId else None,
        next_txn=TxnId(element.nextTxnId + 1) if element.nextTxnId else None,
        committed=element.commitTime or 0,
        highest_write_id=WriteId(highest) if highest else None,
        error=element.errorMessage or "",
    )


def _taken(struct: Any, compaction: Compaction) -> Compaction:
    """What is taken comes with all of the request, and without the times that are shown."""
    request = replace(
        compaction.request,
        properties=_properties(struct.properties or ""),
        order_by=struct.orderByClause,
        buckets=struct.numberOfBuckets or None,
    )
    return replace(compaction, request=request)


def _struct(compaction: Compaction) -> Any:
    request = compaction.request
    return idl.CompactionInfoStruct(
        id=compaction.id,
        dbname=request.database,
        tablename=request.table,
        partitionname=request.partition,
        type=_TYPES[request.type],
        properties=_properties_text(request.properties) if request.properties else None,
        toomanyaborts=False,
        state=_WORKING,
        workerId=_worker_id(compaction),
        start=compaction.started,
        highestWriteId=compaction.highest_write_id or 0,
        hasoldabort=False,
        enqueueTime=compaction.enqueued,
        retryRetention=0,
        poolname=_pool_to_hive(request.pool),
        numberOfBuckets=request.buckets or 0,
        orderByClause=request.order_by,
    )


def _worker_id(compaction: Compaction) -> str:
    return f"{compaction.worker_host}-{compaction.worker}"


def _pool_to_hive(pool: str | None) -> str | None:
    return None if pool == DEFAULT_POOL else pool


def _properties_text(properties: Mapping[str, str]) -> str:
    """As org.apache.hadoop.hive.metastore.utils.StringableMap: lengths are Java's, in units of UTF-16.

    >>> _properties_text({"a": "b:c", "x": ""})
    '2:1:a3:b:c1:x0:'
    """
    words = (word for pair in properties.items() for word in pair)
    return f"{len(properties)}:" + "".join(f"{len(word.encode('utf-16-le')) // 2}:{word}" for word in words)


def _properties(text: str) -> Mapping[str, str]:
    """
    >>> _properties("2:1:a3:b:c1:x0:"), _properties("")
    ({'a': 'b:c', 'x': ''}, {})
    """
    count, _, rest = text.partition(":")
    words: list[str] = []
    for _ in range(2 * int(count or 0)):
        length, _, rest = rest.partition(":")
        word = rest.encode("utf-16-le")[: 2 * int(length)].decode("utf-16-le")
        words.append(word)
        rest = rest[len(word) :]
    return dict(zip(words[::2], words[1::2], strict=True))
