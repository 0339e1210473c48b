"""The protocol of transactions, locks and write IDs, and the values that its methods take and return."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.lock_components import LockComponent, Operation
from acidsql.metastore.streams import StreamProgress

TXN_TIMEOUT = 300.0
"""Seconds without a heartbeat after which a transaction is aborted (hive.txn.timeout)."""


MAX_OPEN_TXNS = 100_000
"""How many transactions may be open at once (hive.max.open.txns)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a statement waits for its locks, as in Hive's DbLockManager.

    There are `retries` pauses (hive.lock.numretries). The first lasts 100 ms, and each is twice as long as the one
    before, up to `longest_pause` seconds (hive.lock.sleep.between.retries).
    """

    retries: int = 105
    longest_pause: float = 6.0

    def pauses(self) -> Iterator[float]:
        """The pauses in seconds."""
        pause = 0.1
        for _ in range(self.retries):
            yield min(pause, self.longest_pause)
            pause *= 2

    @property
    def seconds(self) -> float:
        """The sum of the pauses: about 10 minutes with the defaults."""
        return sum(self.pauses())


DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Lock:
    """A component that an open transaction has locked or, if `waiting`, waits for (ShowLocksResponseElement).

    All components of one lock() call have the same `lock_id`; a later call has a higher one. `number` counts the
    components of a call. `txn` is 0 for a lock that belongs to no transaction. `blocked_by` is the lock_id and number
    of the lock that this one waits for, if the metastore tells. `last_heartbeat` and `acquired` are milliseconds since
    1970, or 0. `user` and `host` are those of the transaction. `component.dynamic_partition_write` is always false.
    """

    lock_id: int
    number: int
    txn: TxnId
    component: LockComponent
    waiting: bool
    user: str
    host: str
    last_heartbeat: int = 0
    acquired: int = 0
    blocked_by: tuple[int, int] | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open or aborted transaction (TxnInfo). Both times are milliseconds since 1970."""

    id: TxnId
    is_open: bool
    started: int
    last_heartbeat: int
    user: str
    host: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A transaction that updated or deleted in the same place meanwhile, its write ID of the table, and the
    WRITE_CONFLICT error that it causes."""

    txn: TxnId
    database: str
    table: str
    write_id: WriteId | None
    error: AcidSqlError


class TransactionClient(Protocol):
    """Hive's transactions, locks and write IDs (org.apache.hadoop.hive.metastore.txn.TxnHandler)."""

    @property
    def txn_timeout(self) -> float:
        """Seconds without a heartbeat after which a transaction is aborted (hive.txn.timeout)."""
        ...

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        """Opens a transaction. Also aborts transactions whose last heartbeat is older than the timeout.

        A `read_only` transaction takes only SHARED_READ locks, and can release them early (`release_locks`).
        Raises TOO_MANY_TRANSACTIONS (hive.max.open.txns).
        """
        ...

    def open_txns(self, count: int) -> Sequence[TxnId]:
        """Opens several transactions at once, in ascending order, for a client that will use them one after another
        (Hive: open_txns of a streaming client). Raises TOO_MANY_TRANSACTIONS."""
        ...

    def transactions(self) -> Sequence[Transaction]:
        """The open and aborted transactions that the metastore remembers, ordered by ID."""
        ...

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        """The snapshot of committed transactions for `txn`, or for a reader without a transaction.

        An open `txn` is in the list of open transactions, as in Hive's get_open_txns. So its own write IDs are invalid
        in a list made from this one; a transaction reads its own writes because it knows their IDs. A writer must open
        its transaction before it takes its snapshot: only then `commit` notices every write that the snapshot misses.
        """
        ...

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        """Locks what `txn` reads and writes until it ends. The UPDATE and DELETE components are its write set.

        Either all `components` are locked or none. lock_rules.py holds Hive's rules of which lock waits for which. A
        database overlaps its tables, a table overlaps its partitions, and `p=a` overlaps `p=a/q=b`.

        Requests are granted in the order of their arrival: an EXCLUSIVE that waits delays later INSERTs. A request of
        a transaction that holds locks already goes ahead of the queue. The locks of a process that has ended, and of a
        transaction without heartbeat, end with their transaction. The call keeps `txn` alive while it waits, and a
        KeyboardInterrupt withdraws the request.

        After the call, take write IDs and the snapshot, and read the table's definition again. Then every earlier
        writer that was excluded has committed and is visible, or was aborted, and every later one gets a higher
        write ID.

        Returns whether `txn` can commit on a snapshot taken now. It cannot where the metastore counts commits since
        the opening of `txn` as conflicts although they came before its locks; Hive's Driver then opens another
        transaction.

        Raises LOCK_TIMEOUT with the resource and its holder when `patience` is over; without retries it does not wait.
        `txn` then stays open and keeps its earlier locks. Raises DEADLOCK where transactions wait for each other and
        `txn` is the youngest of them; `txn` is then aborted. Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def release_locks(self, txn: TxnId) -> None:
        """Releases the locks of a read-only transaction. It stays open: cleaners keep the files that it reads."""
        ...

    def locks(self) -> Sequence[Lock]:
        """All locks of open transactions, acquired and waiting, in the order of their requests."""
        ...

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        """Narrows the write set of a dynamic-partition write to the partitions (`p=a/q=b`) that it touched.

        They replace the components of `operation` on the table that have `dynamic_partition_write` and no partition.
        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        """Marks the statistics of the table, or of these partitions, as out of date, so that Hive does not answer
        queries from them. `txn` is None for a plain table. Allocates the write ID of `txn` if it has none yet.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        """Stores statistics of an unpartitioned table (under `()`) or of partitions; other statistics stay.

        `accurate` tells whether they are true of what `txn` sees, so that Hive may answer queries from them. With None,
        what the metastore knows of that stays. `txn` is None for a plain table. The caller keeps writers out.
        Raises TABLE_NOT_FOUND, NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        """The write ID of `txn` for the table. Later calls return the same one.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, CATALOG_BEHIND.
        """
        ...

    def allocate_write_ids(self, txns: Sequence[TxnId], table: Table) -> Sequence[WriteId]:
        """The write IDs of several transactions for the table, in the order of `txns`: ascending numbers without a gap.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        """The transaction of a write ID. None where it is unknown: on a Hive Metastore, and for the write IDs that an
        adopted table came with."""
        ...

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        """The write IDs of the table that are valid in the snapshot `txns`.

        No transaction that opens, commits or takes a write ID after the snapshot is valid, whenever this is called.
        Raises TABLE_NOT_FOUND.
        """
        ...

    def heartbeat(self, txn: TxnId) -> None:
        """Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED."""
        ...

    def heartbeats(self, txns: Sequence[TxnId]) -> frozenset[TxnId]:
        """Sends a heartbeat for each transaction and returns those that are not open any more."""
        ...

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        """The conflicts for which `commit` would raise WRITE_CONFLICT now, if the metastore can tell in advance."""
        ...

    def commit(
        self,
        txn: TxnId,
        *,
        compatible: Collection[TxnId] | None = None,
        progress: StreamProgress | None = None,
    ) -> None:
        """Makes the writes of `txn` visible, and in the same step, with `progress`, the offset of a stream committed.

        Raises WRITE_CONFLICT and aborts when another transaction that committed after the opening of `txn` updated or
        deleted in the same table or partition: the first committer wins. With `compatible`, which needs
        `detects_row_conflicts`, the transactions in it are no conflict, and a conflict leaves `txn` open. Raises
        STREAM_LOST, and commits nothing, where the claim of `progress` is another writer's now, or where something else
        than `progress.before` is committed of the stream; `txn` then stays open. Raises
        NO_SUCH_TRANSACTION, TRANSACTION_ABORTED. A second commit of the same transaction is no error, as in Hive.
        """
        ...

    def commit_created(
        self,
        txn: TxnId,
        table: Table,
        partitions: Sequence[Partition],
        written: Sequence[WrittenDirectory] = (),
    ) -> None:
        """Creates the table that `txn` has written under write ID 1 and commits, atomically. `written` is for
        `written_directories`.

        Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND and the errors of `commit`; `txn` then stays open.
        """
        ...

    def commit_dropped(self, txn: TxnId, table: Table, values: Sequence[PartitionValues]) -> None:
        """Forgets partitions whose rows `txn` has hidden, and commits, atomically.

        Raises TABLE_CHANGED and the errors of `commit`; the partitions are then still there.
        """
        ...

    def abort(self, txn: TxnId) -> None:
        """Aborts a transaction. An aborted one is no error.

        Raises NO_SUCH_TRANSACTION also for a committed transaction, so remove its files only after this has returned.
        """
        ...

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        """The transactions of `txns` that have committed or were aborted: not open ones, and not IDs of the future."""
        ...
