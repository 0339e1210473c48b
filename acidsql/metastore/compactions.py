"""Compactions in a metastore: requests, states, and the queue that workers take requests from.

The queue is Hive's COMPACTION_QUEUE and COMPLETED_COMPACTIONS (CompactionTxnHandler, TxnStore):

    initiated -> working -> ready for cleaning -> succeeded
        |           +-> failed, refused (nothing to compact), initiated again (its worker died)
        +-> aborted
    did not initiate: a compaction was due, but the initiator made no request because earlier ones failed
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.partition_changes import DroppedPartition

DEFAULT_POOL = "default"


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
    """The place of one compaction: a table, or a partition (`p=a/q=b`) of it."""

    database: str
    table: str
    partition: str | None

    @property
    def text(self) -> str:
        return ".".join((self.database, self.table, *([self.partition] if self.partition is not None else [])))


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """A request to compact a table, or one partition (`p=a/q=b`) of it.

    `properties` are those of WITH OVERWRITE TBLPROPERTIES. `order_by`, the text after ORDER BY, and `buckets` belong to
    a rebalance. `initiator` made the request: `manual` for a statement, or the initiator's name.
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
    """An entry of the queue or of its history. Times are milliseconds since 1970, or 0.

    `highest_write_id` is the highest write ID that was compacted. `txn` is the worker's transaction. `next_txn` is the
    next free transaction ID at its commit: transactions from this ID on do not read the compacted directories.
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
    """The answer to a request (CompactionResponse).

    `accepted` is false where another entry for the same place is waiting or working; `id` and `state` are then those
    of that entry. A Hive Metastore also refuses a request that would compact up to the same write ID as an entry that
    is ready for cleaning.
    """

    id: int
    state: CompactionState
    accepted: bool


@dataclass(frozen=True, slots=True)
class AbortedCompaction:
    """The outcome of ABORT COMPACTIONS for one ID (AbortCompactionResponseElement)."""

    id: int
    aborted: bool
    message: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A place that transactions have written to, and the last of these transactions."""

    place: PlaceName
    txn: TxnId


@dataclass(frozen=True, slots=True)
class Retention:
    """The numbers of history entries to keep for each place, by state (hive.compactor.history.retention.*)."""

    succeeded: int = 3
    failed: int = 3
    did_not_initiate: int = 2


class CompactionQueue(Protocol):
    """The methods that ALTER TABLE .. COMPACT, SHOW COMPACTIONS, ABORT COMPACTIONS and workers need."""

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        """Raises TABLE_NOT_FOUND."""
        ...

    def compactions(self) -> Sequence[Compaction]:
        """The compactions of the queue and of the history, the latest first."""
        ...

    def abort_compactions(self, ids: Collection[int]) -> Sequence[AbortedCompaction]:
        """Aborts requests that no worker has taken yet, as in Hive. Returns an outcome for each ID."""
        ...

    def take_compaction(self, worker: str, pools: Collection[str] = (DEFAULT_POOL,)) -> Compaction | None:
        """Gives the oldest waiting request to `worker`, in state working. Returns None where none waits.

        A request without a pool is in DEFAULT_POOL.
        """
        ...

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        """Opens a worker's transaction. It takes no write ID. A rebalance locks as an UPDATE, and conflicts with
        concurrent writers as one. The worker aborts the transaction where the compaction fails."""
        ...

    def begin_compaction(self, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
        """Notes the worker's transaction and its highest write ID before any file is written (updateCompactorState).

        Raises COMPACTION_LOST where the entry does not belong to this worker any more.
        """
        ...

    def commit_compaction(self, compaction: Compaction) -> None:
        """Commits the transaction and makes the entry ready for cleaning. On a Hive Metastore these are two calls:
        where a worker dies between them, `revoke_dead_workers` makes the entry ready for cleaning.

        Raises COMPACTION_LOST, without a commit, where the entry does not belong to this worker any more. Raises
        TRANSACTION_ABORTED, NO_SUCH_TRANSACTION.
        """
        ...

    def fail_compaction(self, compaction: Compaction, error: str) -> None:
        """Moves the entry to the history as failed. No error where it does not belong to this worker any more.

        On a Hive Metastore, an entry whose transaction has committed becomes ready for cleaning instead."""
        ...

    def give_back_compaction(self, compaction: Compaction, reason: str) -> None:
        """Returns the entry to the queue for another worker, after its transaction was aborted. On a Hive Metastore,
        which has no call for it, the entry fails with the reason. No error where it does not belong to this worker."""
        ...

    def refuse_compaction(self, compaction: Compaction, reason: str) -> None:
        """Moves the entry to the history as refused: there is nothing to compact, or it is not allowed."""
        ...

    def revoke_dead_workers(self, timeout: float) -> Sequence[int]:
        """Returns requests to the queue whose worker has ended, has lost its transaction, or takes longer than
        `timeout` seconds. On a Hive Metastore such requests fail instead, or become ready for cleaning if their
        transaction has committed, and its own timeout applies. Returns their IDs."""
        ...


class CompactionKeeper(CompactionQueue, Protocol):
    """A queue that acidsql keeps itself: the methods that its initiator, cleaner and housekeeper need. A Hive Metastore
    runs its own."""

    def changed_places(self) -> Sequence[Changed]:
        """The places with writes since their last compaction, as far as the queue knows."""
        ...

    def forget_changed(self, seen: Changed) -> None:
        """Forgets a place without anything to compact, unless a later transaction has written there."""
        ...

    def failures_in_a_row(self, place: PlaceName) -> tuple[int, int]:
        """The number of consecutive failures of the place's last compactions, and the time of the last failure in
        milliseconds since 1970."""
        ...

    def did_not_initiate(self, request: CompactionRequest, reason: str) -> None:
        """Adds a request that was not made to the history, with the reason."""
        ...

    def enqueue_cleaning(self, request: CompactionRequest, highest_write_id: WriteId) -> None:
        """Asks the cleaner to remove the directories that the base of this write ID made obsolete when it committed, or
        now if nobody has recorded when that was."""
        ...

    def ready_for_cleaning(self, retention: float = 0) -> Sequence[Compaction]:
        """Compactions whose sources no open transaction reads and that committed at least `retention` seconds ago."""
        ...

    def unread_drops(self) -> Sequence[tuple[Table, DroppedPartition]]:
        """The dropped partitions whose files are kept (`dropped_partitions`), without those that an open transaction
        may know as partitions of the table."""
        ...

    def expire_drop(self, table: Table, partition: DroppedPartition) -> None:
        """Ends the versions that need the files of a dropped partition, before these are removed."""
        ...

    def forget_drop(self, table: Table, partition: DroppedPartition) -> None:
        """Forgets a dropped partition whose files are removed."""
        ...

    def compaction_cleaned(self, compaction: Compaction) -> None:
        """Notes that the compaction is cleaned and has succeeded."""
        ...

    def cleaning_failed(self, compaction: Compaction, message: str, pause: float) -> None:
        """Notes an error of the cleaner, which tries again after `pause` seconds."""
        ...

    def purge_compactions(self, keep: Retention) -> None:
        """Removes old entries from the history."""
        ...

    def forget_commits(self) -> None:
        """Forgets the commits of versions that nobody can read any more, but for the last 10,000 of each table."""
        ...

    def abort_timed_out(self) -> Sequence[TxnId]:
        """Aborts open transactions whose process has ended or whose last heartbeat is older than the timeout."""
        ...

    def forget_aborted(self) -> Sequence[TxnId]:
        """Forgets aborted transactions whose process has ended and whose files are removed."""
        ...
