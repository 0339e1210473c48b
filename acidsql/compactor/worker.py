"""A worker: takes compactions from the queue and runs them, one after the other.

    take -> transaction, lock -> snapshot -> scope -> begin -> rows read and written, directories with _v -> commit

Before the commit the directories belong to an open transaction, so no reader sees them. If the worker dies, its
transaction is aborted, the request goes back to the queue, and the directories stay invisible until they are removed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.compaction_scope import CompactionType, Scope, scope
from acidsql.acid.directories import Delta
from acidsql.acid.snapshot_selection import SkipReason, Snapshot
from acidsql.acid.write_ids import WriteId
from acidsql.compactor.compactor_settings import INSERT_ONLY, MAX_DELTAS
from acidsql.compactor.places import Place, View, as_of, compactable, find_place
from acidsql.engines.compaction_engines import CompactionEngines
from acidsql.errors import AcidSqlError
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse_order
from acidsql.grammar.statements import OrderItem
from acidsql.metastore.compactions import DEFAULT_POOL, Compaction, CompactionQueue, CompactionRequest, CompactionState
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.transactions import OpenTransaction, Transactions
from acidsql.snapshot.scan_binding import BoundPart
from acidsql.storage.leftovers import tidy_up_at
from acidsql.writing.compaction_files import Job, Merged, undo
from acidsql.writing.statement_transactions import LateWork

_HIGHEST: Final = WriteId((1 << 63) - 1)
_TABLE_PROPERTY: Final = "tblprops."
_JOB_PROPERTY: Final = "compactor."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a compaction: `merged` if it has merged something, else the reason why not."""

    compaction: Compaction
    state: CompactionState
    merged: Merged | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _OnlyCleaning:
    """There is nothing to merge, but the metastore's cleaner has to remove directories up to the write ID `high`."""

    high: WriteId
    reason: str


class _RefusedError(Exception):
    """There is nothing to compact, or the compaction is not allowed; the message gives the reason."""


class _GivenBackError(Exception):
    """The compaction is to be given back to the queue."""


class Worker:
    """Runs compactions, one at a time. Several workers may run at once, in this process and in others."""

    def __init__(
        self,
        engines: CompactionEngines,
        transactions: Transactions,
        queue: CompactionQueue,
        settings: Mapping[str, str],
        name: str,
        pools: Collection[str] = (DEFAULT_POOL,),
        giving_back: threading.Event | None = None,
    ) -> None:
        """`giving_back` is set when the worker must return what it works on to the queue and end."""
        self._engines = engines
        self._transactions = transactions
        self._queue = queue
        self._settings = settings
        self._name = name
        self._pools = pools
        self._giving_back = giving_back or threading.Event()

    def run_next(self) -> Outcome | None:
        """Takes the compaction that has waited longest and runs it; None if none waits.

        A failure is an outcome. Raises what an unreachable metastore raises, and KeyboardInterrupt.
        """
        compaction = self._queue.take_compaction(self._name, self._pools)
        return None if compaction is None else self.run(compaction)

    def run(self, compaction: Compaction) -> Outcome:
        """Runs a compaction that this worker has taken."""
        current = compaction

        def begun(known: Compaction) -> None:
            nonlocal current
            current = known

        try:
            done = self._merge(compaction, begun)
        except _RefusedError as refused:
            self._queue.refuse_compaction(current, str(refused))
            return Outcome(current, CompactionState.REFUSED, reason=str(refused))
        except _GivenBackError:
            return self._given_back(current)
        except (AcidSqlError, OSError) as error:
            if self._giving_back.is_set():
                return self._given_back(current)
            reason = str(error)
            self._queue.fail_compaction(current, reason)
            return Outcome(current, CompactionState.FAILED, reason=reason)
        except BaseException:
            self._queue.fail_compaction(current, "it was interrupted")
            raise
        if isinstance(done, _OnlyCleaning):
            return Outcome(current, CompactionState.READY_FOR_CLEANING, reason=done.reason)
        return Outcome(current, CompactionState.READY_FOR_CLEANING, done)

    def _given_back(self, compaction: Compaction) -> Outcome:
        reason = "the service was stopped"
        self._queue.give_back_compaction(compaction, reason)
        return Outcome(compaction, CompactionState.INITIATED, reason=f"given back, because {reason}")

    def _check_wanted(self) -> None:
        if self._giving_back.is_set():
            raise _GivenBackError

    def _merge(self, compaction: Compaction, begun: Callable[[Compaction], None]) -> Merged | _OnlyCleaning:
        request = compaction.request
        place = find_place(self._transactions.metastore, self._engines.files, *_names(request))
        if place is None:
            raise _RefusedError("the table or partition is gone")
        self._check_allowed(place, request)
        self._remove_staged(place)
        lock = _lock(request)
        work = LateWork()
        with self._transactions.run(
            lambda: (lock,), work.cancel, lambda: self._queue.open_compaction_txn(request.type)
        ) as txn:
            txn.undo.append(work.end)
            self._check_wanted()
            job = self._job(request, place, txn)
            high = job.high if isinstance(job, _OnlyCleaning) else WriteId(max(job.scope.high, 0))
            mine = self._queue.begin_compaction(compaction, txn.id, high)
            begun(mine)
            txn.committing = lambda: self._queue.commit_compaction(mine)
            if isinstance(job, _OnlyCleaning):
                return job
            txn.undo.insert(0, lambda: self._undo(job))

            def require_open() -> None:
                self._check_wanted()
                txn.require_open()

            description = f"compaction {compaction.id} of {place.text}"
            merged = self._engines.merge(job, description, work, require_open)
            self._transactions.metastore.note_written(txn.id, place.table, merged.made)
            return merged

    def _undo(self, job: Job) -> None:
        if undo(job):
            self._transactions.metastore.forget_leftovers(job.txn)

    def _remove_staged(self, place: Place) -> None:
        """Removes what writers of the table and workers at this place staged before they died."""
        directories = dict.fromkeys((place.files.resolve(place.table.location), place.directory))
        tidy_up_at(self._transactions.metastore, ((place.files, directory) for directory in directories))

    def _check_allowed(self, place: Place, request: CompactionRequest) -> None:
        table = place.table
        if not table.is_transactional:
            raise _RefusedError(f"{table.qualified} is not transactional")
        if table.is_insert_only and self._settings[INSERT_ONLY] == "false":
            raise _RefusedError(f"insert-only tables are not compacted ({INSERT_ONLY})")
        if request.type is CompactionType.REBALANCE and (table.is_insert_only or table.bucket_columns):
            raise _RefusedError("only full ACID tables without buckets can be rebalanced")

    def _job(self, request: CompactionRequest, place: Place, txn: OpenTransaction) -> Job | _OnlyCleaning:
        """The job for the compaction. Call it under the lock."""
        metastore = self._transactions.metastore
        found = find_place(metastore, self._engines.files, *_names(request))
        if found is None or found != place:
            raise _RefusedError("the table or partition was changed meanwhile")
        txns = metastore.valid_txns(txn.id)
        view = compactable(metastore, place, txns)
        if request.type is CompactionType.REBALANCE and not view.is_whole:
            _check_complete(view, as_of(metastore, place, txns, _HIGHEST))
        chosen = scope(
            request.type,
            view.snapshot,
            view.writes,
            insert_only=place.table.is_insert_only,
            most=int(self._settings[MAX_DELTAS]),
        )
        if not isinstance(chosen, Scope):
            return self._only_cleaning(request, view, chosen)
        properties = {**place.table.properties, **request.properties}
        return Job(
            place.table,
            BoundPart(place.values, place.directory, view.snapshot),
            chosen,
            place.files,
            txn.id,
            _of_prefix(properties, _TABLE_PROPERTY),
            _of_prefix(properties, _JOB_PROPERTY),
            _order(request.order_by),
            request.buckets,
        )

    def _only_cleaning(self, request: CompactionRequest, view: View, reason: str) -> _OnlyCleaning:
        """What is left to do where there is nothing to merge. The initiator of a Hive Metastore relies on workers to
        hand such a table over to the cleaner (AcidCompactionService.needsCleaning): after INSERT OVERWRITE, and after a
        worker that died between its commit and the change of its entry. acidsql's own initiator does it itself."""
        count = sum(skipped.reason in (SkipReason.COVERED, SkipReason.ABORTED) for skipped in view.snapshot.skipped)
        is_own_queue = self._transactions.metastore.compaction_keeper is not None
        if is_own_queue or not count or request.type is CompactionType.REBALANCE:
            raise _RefusedError(reason)
        removed = f"{count} director{'y' if count == 1 else 'ies'}"
        return _OnlyCleaning(view.writes.high_watermark, f"{reason}, but the cleaner is to remove {removed}")


def _check_complete(view: View, current: Snapshot) -> None:
    """Refuses a rebalance that would leave out delete events which readers see: they name rows by the IDs that the
    rebalance replaces. Under its lock no more of them can come."""
    for directory in current.delete_deltas:
        parsed = directory.parsed
        if isinstance(parsed, Delta) and parsed.max_write_id > view.writes.high_watermark:
            reason = f"{directory.name} has changes that were made after a write which is still open"
            raise _RefusedError(f"{reason}; rebalance when the transaction of that write has ended")


def _names(request: CompactionRequest) -> tuple[str, str, str | None]:
    return request.database, request.table, request.partition


def _lock(request: CompactionRequest) -> LockComponent:
    """The lock of a compaction. A rebalance gives rows new row IDs, so it excludes UPDATE and DELETE, and is an UPDATE
    itself to transactions with an older snapshot. Other compactions only keep the table from being dropped or
    replaced."""
    alone = request.type is CompactionType.REBALANCE
    return LockComponent(
        request.database,
        request.table,
        LockType.EXCL_WRITE if alone else LockType.SHARED_READ,
        Operation.UPDATE if alone else Operation.SELECT,
        request.partition,
    )


def _of_prefix(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The properties with a prefix, without it. `tblprops.orc.compress` overrides the table's `orc.compress`, and
    `compactor.spark.x` sets Spark's `spark.x` for the job (in Hive, a property of its MapReduce job)."""
    return {k.removeprefix(prefix): v for k, v in properties.items() if k.startswith(prefix)}


def _order(order_by: str | None) -> str | None:
    """The queue's text of ORDER BY as Spark SQL."""
    return None if order_by is None else ", ".join(_order_item(item) for item in parse_order(order_by))


def _order_item(item: OrderItem) -> str:
    nulls = "" if item.nulls_first is None else " NULLS FIRST" if item.nulls_first else " NULLS LAST"
    return f"{to_spark(item.value)}{' DESC' if item.descending else ''}{nulls}"
