"""The service: housekeeper, initiator, workers and cleaner, in rounds.

On a Hive Metastore the service has workers only: the metastore has the other three.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from acidsql.compactor.cleaner import Cleaned, Cleaner
from acidsql.compactor.compactor_settings import CHECK_INTERVAL, CLEAN_INTERVAL, CLEANER_ON, WORKER_TIMEOUT, WORKERS
from acidsql.compactor.health import Health
from acidsql.compactor.housekeeper import keep_house
from acidsql.compactor.initiator import Initiated, Initiator
from acidsql.compactor.worker import Outcome, Worker
from acidsql.durations import seconds
from acidsql.engines.compaction_engines import CompactionEngines
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import (
    DEFAULT_POOL,
    Compaction,
    CompactionQueue,
    CompactionRequest,
    CompactionState,
)
from acidsql.metastore.process_identity import process_name
from acidsql.metastore.transactions import Transactions
from acidsql.writing.compaction_files import Amount

_T = TypeVar("_T")

_UNFINISHED: Final = (CompactionState.INITIATED, CompactionState.WORKING)
_POLL: Final = 0.5
"""Seconds between two polls of the queue."""
_POLLS_PER_CHECK: Final = 20
"""How often AND WAIT looks at an entry before it asks whether the worker of the entry is alive."""


@dataclass(slots=True)
class Cycle:
    """How often a part of the service has run, and for how long."""

    runs: int = 0
    failures: int = 0
    last_seconds: float = 0.0
    total_seconds: float = 0.0

    def count(self, taken: float, *, failed: bool = False) -> None:
        """Counts a run that took `taken` seconds."""
        self.runs += 1
        self.failures += failed
        self.last_seconds = taken
        self.total_seconds += taken

    def timed(self, run: Callable[[], _T]) -> _T:
        started = time.monotonic()
        failed = True
        try:
            result = run()
            failed = False
            return result
        finally:
            self.count(time.monotonic() - started, failed=failed)


@dataclass(slots=True)
class Cycles:
    """The cycles of all parts, for the metrics."""

    initiator: Cycle = field(default_factory=Cycle)
    worker: Cycle = field(default_factory=Cycle)
    cleaner: Cycle = field(default_factory=Cycle)


@dataclass(frozen=True, slots=True)
class Requested:
    """The result of a request: its state, and a line that describes it."""

    id: int
    state: CompactionState
    message: str


class Compactor:
    """Compactions of a metastore: those that a session runs itself, and the service.

    The initiator, the cleaner and the housekeeper run only where the metastore has a `compaction_keeper`.
    """

    def __init__(self, engines: CompactionEngines, transactions: Transactions, settings: Mapping[str, str]) -> None:
        """`settings` are read at each use, so that SET takes effect."""
        self.cycles = Cycles()
        self.health = Health()
        self.giving_back = threading.Event()
        """Set it to make the workers return what they work on to the queue, instead of finishing it."""
        self.tell: Callable[[str], None] = lambda line: None
        """Progress callback: receives one line for each finished step."""
        self.pools: tuple[str, ...] = (DEFAULT_POOL,)
        """The pools that its workers serve (ALTER TABLE .. COMPACT .. POOL)."""
        self._engines = engines
        self._metastore: Metastore = transactions.metastore
        self._transactions = Transactions(self._metastore, transactions.patience)
        self._queue: CompactionQueue = self._metastore
        self._keeper = keeper = self._metastore.compaction_keeper
        self._settings = settings
        name = f"{platform.node()}-{os.getpid()}"
        self.initiator = None if keeper is None else Initiator(engines.files, self._metastore, keeper, settings, name)

    def worker(self, number: int = 0, pool: str | None = None) -> Worker:
        """A worker for the requests of `pools`, or of one `pool`. Its name tells others whether its process has ended
        (`is_named_gone`)."""
        name = f"{process_name()}.{threading.get_ident()}.{number}"
        pools = self.pools if pool is None else (pool,)
        return Worker(self._engines, self._transactions, self._queue, self._settings, name, pools, self.giving_back)

    # -- requests

    def request(self, requests: Sequence[CompactionRequest], *, wait: bool) -> list[Requested]:
        """Queues requests, all before the first one runs. With `wait`, runs queued compactions, unless other workers
        do, until these have finished, and cleans up after them.

        Raises COMPACTION_FAILED.
        """
        queued = [self._enqueue(request, wait=wait) for request in requests]
        if not wait:
            return queued
        return [self._wait(q.id, q.message, request.pool) for q, request in zip(queued, requests, strict=True)]

    def _enqueue(self, request: CompactionRequest, *, wait: bool) -> Requested:
        entry = self._queue.enqueue_compaction(request)
        if entry.state is CompactionState.WORKING and self._revoke_dead():
            entry = self._queue.enqueue_compaction(request)
        if not entry.accepted:
            message = f"Compaction already enqueued with id {entry.id}; State is {entry.state.value}"
        else:
            message = f"Compaction enqueued with id {entry.id}"
            if self._keeper is not None and not wait:
                message += ": `acidsql compactor` does it, AND WAIT does it here"
        return Requested(entry.id, entry.state, message)

    def _wait(self, number: int, message: str, pool: str | None) -> Requested:
        worker = self.worker(pool=pool)
        polls = 0
        while True:
            entry = next((c for c in self._queue.compactions() if c.id == number), None)
            if entry is None:
                return Requested(number, CompactionState.SUCCEEDED, message)
            if entry.state not in _UNFINISHED:
                break
            started = time.monotonic()
            outcome = self.work_next(worker) if entry.state is CompactionState.INITIATED else None
            if outcome is not None and outcome.compaction.id == number:
                message = outcome_text(outcome, time.monotonic() - started)
            elif outcome is None:
                polls += 1
                if polls % _POLLS_PER_CHECK == 0:
                    self._revoke_dead()  # the worker that has taken it
                time.sleep(_POLL)
        if entry.state in (CompactionState.FAILED, CompactionState.ABORTED):
            raise AcidSqlError(
                Condition.COMPACTION_FAILED,
                id=number,
                resource=entry.request.place.text,
                state=entry.state.value,
                reason=entry.error,
            )
        if entry.state is CompactionState.REFUSED:
            return Requested(number, entry.state, entry.error)
        cleaned = {c.source.id for c in self.clean() if isinstance(c.source, Compaction) and not c.error}
        return Requested(number, CompactionState.SUCCEEDED if number in cleaned else entry.state, message)

    # -- rounds

    def run_once(self) -> None:
        """Runs one round of housekeeper, initiator, workers and cleaner."""
        self.keep_house()
        self.initiate()
        self.work()
        self.clean()

    def keep_house(self) -> None:
        if self._keeper is None:
            self._revoke_dead()
            return
        done = keep_house(self._engines.files, self._metastore, self._keeper, self._settings)
        for txn in done.aborted:
            self.tell(f"aborted transaction {txn}: no heartbeat, or its process has ended")
        self._tell_revoked(done.revoked)

    def _revoke_dead(self) -> Sequence[int]:
        revoked = self._queue.revoke_dead_workers(seconds(self._settings[WORKER_TIMEOUT]))
        self._tell_revoked(revoked)
        return revoked

    def _tell_revoked(self, revoked: Sequence[int]) -> None:
        states = {c.id: c.state for c in self._queue.compactions()} if revoked else {}
        for number in revoked:  # what the queue does not list any more has been cleaned up after
            state = states.get(number, CompactionState.SUCCEEDED).value
            self.tell(f"compaction {number} is {state} now: its worker has ended or lost its transaction")

    def initiate(self) -> None:
        if self.initiator is None:
            return
        for one in self.cycles.initiator.timed(self.initiator.run):
            self.tell(_initiated_text(one))

    def work(self) -> int:
        """Runs all queued compactions with the configured number of workers; returns how many there were."""
        count = max(1, int(self._settings[WORKERS]))
        if count == 1:
            return self._work_off(0)
        with ThreadPoolExecutor(count) as pool:
            return sum(pool.map(self._work_off, range(count)))

    def _work_off(self, number: int) -> int:
        worker = self.worker(number)
        done = 0
        while self.work_next(worker) is not None:
            done += 1
        return done

    def work_next(self, worker: Worker) -> Outcome | None:
        """Runs the compaction that has waited longest; None if none waits."""
        started = time.monotonic()
        outcome = worker.run_next()
        taken = time.monotonic() - started
        if outcome is None:
            return None
        self.cycles.worker.count(taken, failed=outcome.state is CompactionState.FAILED)
        self.tell(outcome_text(outcome, taken))
        return outcome

    def clean(self) -> list[Cleaned]:
        if self._keeper is None or self._settings[CLEANER_ON] == "false":
            return []
        cleaner = Cleaner(self._engines.files, self._metastore, self._keeper, self._settings)
        found = self.cycles.cleaner.timed(cleaner.run)
        for one in found:
            if one.error or one.removed:
                self.tell(_cleaned_text(one))
        return found

    # -- the service

    def serve(self, stop: threading.Event, drain_seconds: float | None = None) -> None:
        """Runs until `stop` is set: each worker in a thread, each other part at its interval. Keeps trying if the
        metastore cannot be reached.

        After `stop` workers finish what they work on. After `drain_seconds`, or when `giving_back` is set, they return
        it to the queue.
        """
        workers = [
            threading.Thread(
                target=self._keep_working, args=(number, stop), name=f"acidsql-worker-{number}", daemon=True
            )
            for number in range(max(1, int(self._settings[WORKERS])))
        ]
        self.giving_back.clear()
        for thread in workers:
            thread.start()
        self.health.begin(workers)
        due_check = due_clean = 0.0
        while not stop.is_set():
            now = time.monotonic()
            if now >= due_check:
                self._guarded(self.keep_house)
                self._guarded(self.initiate)
                due_check = now + seconds(self._settings[CHECK_INTERVAL])
            if now >= due_clean:
                self._guarded(self.clean)
                due_clean = now + seconds(self._settings[CLEAN_INTERVAL])
            stop.wait(min(max(0.05, min(due_check, due_clean) - time.monotonic()), 1.0))
        self.health.drain()
        self._drain(workers, drain_seconds)

    def _drain(self, workers: Sequence[threading.Thread], drain_seconds: float | None) -> None:
        """Waits for the workers to end."""
        until = None if drain_seconds is None else time.monotonic() + drain_seconds
        while running := [thread for thread in workers if thread.is_alive()]:
            if until is not None and time.monotonic() >= until:
                self.giving_back.set()
            if self.giving_back.is_set():
                self._engines.cancel()
            running[0].join(_POLL)

    def _keep_working(self, number: int, stop: threading.Event) -> None:
        worker = self.worker(number)
        while not stop.is_set():
            if self._guarded(partial(self.work_next, worker)) is None:
                stop.wait(_POLL)

    def _guarded(self, part: Callable[[], _T]) -> _T | None:
        """Runs a part; reports an error and returns None if it fails."""
        try:
            result = part()
            self.health.succeeded()
            return result
        except (AcidSqlError, OSError) as error:
            self.health.failed(error)
            self.tell(f"error: {error}")
            return None


# ------------------------------------------------------------------------------------------------ lines


def outcome_text(outcome: Outcome, seconds_taken: float) -> str:
    """Describes a compaction in one line."""
    request = outcome.compaction.request
    what = f"{request.type.value.lower()} compaction {outcome.compaction.id} of {request.place.text}"
    if outcome.merged is None:
        return f"{what} {outcome.state.value}: {outcome.reason}"
    before, after = outcome.merged.before, outcome.merged.after
    names = " and ".join(after.directories) or "nothing"
    return f"{what}: {_amount_text(before)} -> {names}, {_amount_text(after)} in {seconds_taken:.1f} s"


def _amount_text(amount: Amount) -> str:
    count = len(amount.directories)
    directories = f"{count} director{'y' if count == 1 else 'ies'}" if count else "original files"
    return f"{directories} ({amount.files} file{'' if amount.files == 1 else 's'}, {_size(amount.bytes)})"


def _size(count: float) -> str:
    """
    >>> _size(1234567)
    '1.2 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _initiated_text(one: Initiated) -> str:
    what = f"{one.request.type.value.lower()} compaction of {one.request.place.text}"
    return f"{what} not initiated: {one.reason}" if one.id is None else f"{what} initiated as {one.id}: {one.reason}"


def _name(compaction: Compaction) -> str:
    return f"compaction {compaction.id} of {compaction.request.place.text}"


def _cleaned_text(one: Cleaned) -> str:
    source = one.source
    behind = f"the drop of {source}" if isinstance(source, str) else _name(source)
    what = f"cleaning up behind {behind}"
    return f"{what} failed: {one.error}" if one.error else f"{what}: {len(one.removed)} directories removed"
