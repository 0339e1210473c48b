"""The protocol of transactions and their write IDs, and the values that its methods take and return."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.streams import StreamProgress

TXN_TIMEOUT = 300.0
"""Seconds without a heartbeat after which a transaction is aborted (hive.txn.timeout)."""


MAX_OPEN_TXNS = 100_000
"""How many transactions may be open at once (hive.max.open.txns)."""


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
    """Hive's transactions and write IDs (org.apache.hadoop.hive.metastore.txn.TxnHandler)."""

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
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        """Makes the writes of `txn` visible, and in the same step, with `progress`, the offset of a stream committed.
        `writes` tell what `txn` did, for the history of its tables.

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
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        """Creates the table that `txn` has written under write ID 1 and commits, atomically. `written` is for
        `written_directories`, `writes` is that of `commit`.

        Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND and the errors of `commit`; `txn` then stays open.
        """
        ...

    def commit_dropped(
        self, txn: TxnId, table: Table, values: Sequence[PartitionValues], kept: Sequence[Partition] = ()
    ) -> None:
        """Forgets partitions whose rows `txn` has hidden, and commits, atomically. The files of those that are `kept`
        too stay for readers of earlier versions; only the embedded metastore can keep some.

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
