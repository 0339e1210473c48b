"""Compactions as a metastore knows them: requests, their states, and the queue that workers take them from.

The queue is Hive's COMPACTION_QUEUE and COMPLETED_COMPACTIONS (CompactionTxnHandler, TxnStore):

    initiated -> working -> ready for cleaning -> succeeded
        |           +-> failed, refused (nothing to compact), initiated again (its worker died)
        +-> aborted
    did not initiate: the initiator saw the need, and did not ask because earlier ones failed
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from acidsql.acid.write_ids import TxnId, WriteId

DEFAULT_POOL = "default"


class CompactionType(Enum):
    """org.apache.hadoop.hive.metastore.api.CompactionType."""

    MINOR = "MINOR"
    MAJOR = "MAJOR"
    REBALANCE = "REBALANCE"


class CompactionState(Enum):
    """As SHOW COMPACTIONS names them (TxnStore.*_RESPONSE)."""

    INITIATED = "initiated"
    WORKING = "working"
    READY_FOR_CLEANING = "ready for cleaning"
    FAILED = "failed"
    SUCCEEDED = "succeeded"
    DID_NOT_INITIATE = "did not initiate"
    REFUSED = "refused"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class PlaceName:
    """A table, or a partition (`p=a/q=b`) of one: what one compaction is about."""

    database: str
    table: str
    partition: str | None

    @property
    def text(self) -> str:
        return ".".join((self.database, self.table, *([self.partition] if self.partition is not None else [])))


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What is to be compacted: a table, or one partition (`p=a/q=b`) of it.

    `properties` are those of WITH OVERWRITE TBLPROPERTIES; `order_by` (the text after ORDER BY) and `buckets` belong to
    a rebalance. `initiator` is who asked: `manual`, or the initiator's name.
    """

    database: str
    table: str
    partition: str | None
    type: CompactionType
    properties: Mapping[str, str] = field(default_factory=dict)
    pool: str | None = None
    order_by: str | None = None
    buckets: int | None = None
    initiator: str = "manual"

    @property
    def place(self) -> PlaceName:
        return PlaceName(self.database, self.table, self.partition)


@dataclass(frozen=True, slots=True)
class Compaction:
    """An entry of the queue or of its history. Times are milliseconds since 1970, 0 for none yet.

    `highest_write_id` is the highest write ID that went into it; `txn` is the worker's transaction, `next_txn` the
    first transaction ID that was free when it committed: whoever was opened from there on does not read what was
    compacted.
    """

    id: int
    request: CompactionRequest
    state: CompactionState
    enqueued: int
    started: int = 0
    ended: int = 0
    worker_host: str = ""
    worker: str = ""
    initiator_host: str = ""
    txn: TxnId | None = None
    next_txn: TxnId | None = None
    committed: int = 0
    highest_write_id: WriteId | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The answer to a request (CompactionResponse): of another entry for the same place, if one waits or works there
    already, and then `accepted` is false. A Hive Metastore also refuses what would compact up to the write ID of
    another that is ready for cleaning."""

    id: int
    state: CompactionState
    accepted: bool


@dataclass(frozen=True, slots=True)
class AbortedCompaction:
    """What became of one ID of ABORT COMPACTIONS (AbortCompactionResponseElement)."""

    id: int
    aborted: bool
    message: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A place that transactions have written to, and the last of them."""

    place: PlaceName
    txn: TxnId


@dataclass(frozen=True, slots=True)
class Retention:
    """How many entries of the history are kept for each place, by state (hive.compactor.history.retention.*)."""

    succeeded: int = 3
    failed: int = 3
    did_not_initiate: int = 2


class CompactionQueue(Protocol):
    """What ALTER TABLE .. COMPACT, SHOW and ABORT COMPACTIONS and the workers ask of a metastore."""

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        """Raises TABLE_NOT_FOUND."""
        ...

    def compactions(self) -> Sequence[Compaction]:
        """Those of the queue and of the history, the latest first."""
        ...

    def abort_compactions(self, ids: Collection[int]) -> Sequence[AbortedCompaction]:
        """Only what no worker has begun can be aborted, as in Hive; an answer for each ID."""
        ...

    def take_compaction(self, worker: str, pools: Collection[str] = (DEFAULT_POOL,)) -> Compaction | None:
        """The oldest that waits becomes `worker`'s, in state working; None where none waits.

        A request without a pool is in DEFAULT_POOL.
        """
        ...

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        """A worker's transaction. It takes no write ID; a rebalance is an update to those who write meanwhile, and
        takes its locks as one. The worker aborts it where the compaction fails."""
        ...

    def begin_compaction(self, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
        """Notes the worker's transaction and what it merges, before any file is written (updateCompactorState).

        Raises COMPACTION_LOST where the entry is no longer this worker's.
        """
        ...

    def commit_compaction(self, compaction: Compaction) -> None:
        """The entry is ready for cleaning, and its transaction commits.

        Raises COMPACTION_LOST where the entry is no longer this worker's, with nothing committed; TRANSACTION_ABORTED,
        NO_SUCH_TRANSACTION.
        """
        ...

    def fail_compaction(self, compaction: Compaction, error: str) -> None:
        """It comes into the history as failed; no error where the entry is no longer this worker's."""
        ...

    def refuse_compaction(self, compaction: Compaction, reason: str) -> None:
        """There was nothing to do (or it may not be done): it comes into the history as refused."""
        ...

    def revoke_dead_workers(self, timeout: float) -> Sequence[int]:
        """Gives back what workers have taken that have ended, lost their transaction, or take longer than `timeout`
        seconds. On a Hive Metastore these fail instead, and what takes long is left to it."""
        ...


class CompactionKeeper(CompactionQueue, Protocol):
    """A queue that is acidsql's own to keep: what its initiator, cleaner and housekeeper ask. A Hive Metastore has
    these three itself."""

    def changed_places(self) -> Sequence[Changed]:
        """Where transactions have written since what they wrote was compacted, as far as is known."""
        ...

    def forget_changed(self, seen: Changed) -> None:
        """There is nothing to compact; unless a later transaction has written there."""
        ...

    def failures_in_a_row(self, place: PlaceName) -> tuple[int, int]:
        """How many of its last compactions failed one after the other, and when the last did (milliseconds since
        1970)."""
        ...

    def did_not_initiate(self, request: CompactionRequest, reason: str) -> None:
        """Into the history."""
        ...

    def enqueue_cleaning(self, request: CompactionRequest, highest_write_id: WriteId) -> None:
        """For a cleaner alone: what the base of that write ID made obsolete."""
        ...

    def ready_for_cleaning(self, retention: float = 0) -> Sequence[Compaction]:
        """Those whose sources no open transaction can read, committed `retention` seconds ago at least."""
        ...

    def compaction_cleaned(self, compaction: Compaction) -> None:
        """It has succeeded."""
        ...

    def cleaning_failed(self, compaction: Compaction, message: str, pause: float) -> None:
        """It is tried again after `pause` seconds."""
        ...

    def purge_compactions(self, keep: Retention) -> None:
        """Shortens the history."""
        ...

    def abort_timed_out(self) -> Sequence[TxnId]:
        """Aborts the open transactions without a heartbeat for the timeout, and those whose process has ended."""
        ...

    def forget_aborted(self) -> Sequence[TxnId]:
        """Forgets aborted transactions of processes that have ended, when their files are gone."""
        ...
