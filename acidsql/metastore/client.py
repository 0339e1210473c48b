"""What acidsql asks of a metastore: a catalog of tables, and Hive's transactions. Protocols and their values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.compactions import CompactionKeeper, CompactionQueue

DEFAULT_DATABASE = "default"

TXN_TIMEOUT = 300.0
"""Seconds without a heartbeat after which a transaction is aborted (hive.txn.timeout)."""

MAX_OPEN_TXNS = 100_000
"""How many transactions may be open at once (hive.max.open.txns)."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a statement waits for its locks: pauses from 100 ms, doubling up to `longest_pause` seconds
    (hive.lock.sleep.between.retries), `retries` of them (hive.lock.numretries), as DbLockManager."""

    retries: int = 105
    longest_pause: float = 6.0

    def pauses(self) -> Iterator[float]:
        """Seconds."""
        pause = 0.1
        for _ in range(self.retries):
            yield min(pause, self.longest_pause)
            pause *= 2

    @property
    def seconds(self) -> float:
        """All of them: 10 minutes, if not told otherwise."""
        return sum(self.pauses())


@dataclass(frozen=True, slots=True)
class Database:
    name: str
    location: str
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    managed_location: str | None = None
    """Where its transactional tables lie, if not in `location` (a Hive Metastore may keep them apart)."""

    def location_of(self, *, transactional: bool) -> str:
        """The directory for tables that have no LOCATION of their own."""
        return self.managed_location if transactional and self.managed_location is not None else self.location


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition: `values` in the order of the table's partition columns (None: the NULL partition)."""

    values: tuple[str | None, ...]
    location: str


PartitionValues: TypeAlias = tuple[str | None, ...]
"""In the order of the table's partition columns."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory that is in use: of the table `table` (database and name), or of None, the metastore's own file."""

    location: str
    table: tuple[str, str] | None
    external: bool = False


class LockType(Enum):
    """Hive 4's lock types (org.apache.hadoop.hive.metastore.api.LockType), weakest first."""

    SHARED_READ = "SHARED_READ"
    SHARED_WRITE = "SHARED_WRITE"
    EXCL_WRITE = "EXCL_WRITE"
    EXCLUSIVE = "EXCLUSIVE"


class Operation(Enum):
    """What a transaction does to a table (org.apache.hadoop.hive.metastore.api.DataOperationType)."""

    SELECT = "s"
    INSERT = "i"
    UPDATE = "u"
    DELETE = "d"
    NO_TXN = "n"


@dataclass(frozen=True, slots=True)
class LockComponent:
    """One table or partition that a statement locks. `partition` is `p=a/q=b`, None for the whole table."""

    database: str
    table: str | None
    lock_type: LockType
    operation: Operation
    partition: str | None = None
    dynamic_partition_write: bool = False


@dataclass(frozen=True, slots=True)
class Lock:
    """A component that an open transaction has locked or, if `waiting`, is waiting for (ShowLocksResponseElement).

    `lock_id` is the same for all components of one lock() call, and higher for a later call; `number` counts them.
    `txn` is 0 for a lock that belongs to no transaction, `blocked_by` the lock_id and number that this one waits for,
    where the metastore tells. `last_heartbeat` and `acquired` are milliseconds since 1970, 0 for none. `user` and
    `host` are the transaction's. `component.dynamic_partition_write` is not kept: it is always false here.
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
    """A transaction that is open or was aborted (TxnInfo). Both times are milliseconds since 1970."""

    id: TxnId
    is_open: bool
    started: int
    last_heartbeat: int
    user: str
    host: str


@dataclass(frozen=True, slots=True)
class AdoptedWriteIds:
    """The write IDs of a table that another program wrote, as found or as told (interface.md, "adopted").

    Every write ID up to `high_watermark` counts as committed but those in `open` and `aborted`; transactions in
    `committed_txns` (the `_v` suffixes found) count as committed, and new transaction IDs start above them.
    """

    high_watermark: WriteId
    open: frozenset[WriteId] = frozenset()
    aborted: frozenset[WriteId] = frozenset()
    committed_txns: frozenset[TxnId] = frozenset()


DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Leftover:
    """A write ID whose transaction was aborted, and whose files nobody has said to be gone; None for a compaction,
    whose directories are named after its transaction."""

    txn: TxnId
    table: Table
    write_id: WriteId | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another transaction that has updated or deleted in the same place since, the write ID it had for the table, and
    the WRITE_CONFLICT that it makes."""

    txn: TxnId
    database: str
    table: str
    write_id: WriteId | None
    error: AcidSqlError


class Catalog(Protocol):
    """Databases, tables and partitions. Names are lower case."""

    def databases(self) -> Sequence[Database]:
        """All databases, by name."""
        ...

    def database(self, name: str) -> Database:
        """Raises DATABASE_NOT_FOUND with a suggestion."""
        ...

    def create_database(self, database: Database) -> None:
        """Raises DATABASE_ALREADY_EXISTS."""
        ...

    def drop_database(self, name: str) -> None:
        """Drops an empty database; raises DATABASE_NOT_EMPTY, DATABASE_NOT_FOUND, CANNOT_DROP_DEFAULT_DATABASE."""
        ...

    def tables(self, database: str) -> Sequence[str]:
        """Names of the tables of a database, sorted. Raises DATABASE_NOT_FOUND."""
        ...

    def table(self, database: str, name: str) -> Table:
        """Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND with a suggestion."""
        ...

    def find_table(self, database: str, name: str) -> Table | None:
        """The table, or None."""
        ...

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        """Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND."""
        ...

    def places(self) -> Sequence[Place]:
        """Where all tables lie, and the embedded metastore and all its partitions that do not lie below their tables;
        a Hive Metastore is not asked for the partitions of every table."""
        ...

    def drop_table(self, database: str, name: str, *, with_files: bool = True) -> None:
        """Forgets the table, its partitions and its write IDs; files are not the catalog's, but a Hive Metastore
        removes a managed table's, unless they are to stay. Raises TABLE_NOT_FOUND.

        A table of that name made later starts its write IDs at 1. Open transactions with a write ID of the table are
        aborted by the embedded metastore: their files would fall into the new table's directory.
        """
        ...

    def alter_table(
        self,
        old: Table,
        new: Table,
        *,
        partitions: Mapping[PartitionValues, Partition] | None = None,
        committed_up_to: WriteId | None = None,
    ) -> None:
        """Replaces the definition of `old`, all at once or not at all; a new name renames, and keeps all write IDs.

        `partitions` are put in the place of those that have their keys as values now: a new location, new values.
        With `committed_up_to` all write IDs up to it count as committed and the next one is higher: a Hive Metastore
        does so by itself when a table becomes full ACID (seedWriteIdOnAcidConversion).

        Raises TABLE_NOT_FOUND, TABLE_ALREADY_EXISTS, PARTITION_ALREADY_EXISTS and, in the embedded metastore,
        TABLE_CHANGED where `old` is not the definition any more.
        """
        ...

    def partitions(self, table: Table) -> Sequence[Partition]:
        """The partitions of a table, by values."""
        ...

    def add_partitions(self, table: Table, partitions: Sequence[Partition]) -> None:
        """Adds partitions; one that is there already is left as it is."""
        ...

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        """Forgets partitions; one that is not there is no error."""
        ...


class TransactionClient(Protocol):
    """Hive's transactions (org.apache.hadoop.hive.metastore.txn.TxnHandler)."""

    @property
    def txn_timeout(self) -> float:
        """Seconds without a heartbeat after which a transaction is aborted (hive.txn.timeout)."""
        ...

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        """Opens a transaction; also aborts those whose heartbeat is older than the transaction timeout.

        One that is `read_only` takes SHARED_READ locks at most, and can give them back (`release_locks`).
        Raises TOO_MANY_TRANSACTIONS (hive.max.open.txns).
        """
        ...

    def transactions(self) -> Sequence[Transaction]:
        """The open and the aborted transactions that the metastore remembers, by ID."""
        ...

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        """The transactions that are committed now, as a snapshot for `txn` (or for a reader without one).

        An open `txn` is itself in the list of open ones, as in Hive's get_open_txns: its own write IDs are invalid
        in a list made from this one, and it reads its own writes by knowing them. A writer opens its transaction
        before it takes its snapshot: only then does `commit` notice all that the snapshot misses.
        """
        ...

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        """Locks what `txn` reads and writes until it ends (the UPDATE and DELETE components are its write set).

        All `components` are locked together, or none. Which lock waits for which is Hive's (metastore/lock_rules.py). A
        database overlaps its tables, a table its partitions, `p=a` overlaps `p=a/q=b`.

        Requests are served in the order in which they came: an EXCLUSIVE that waits holds up later INSERTs. One of a
        transaction that holds locks already goes ahead of the queue. The locks of a process that has ended, and of a
        transaction without heartbeat, go with their transaction. While it waits, this keeps `txn` alive;
        KeyboardInterrupt leaves nothing behind.

        Take write IDs and the snapshot after this has returned, and the table's definition again: then every earlier
        writer that was excluded is committed and visible, or aborted, and every later one gets a higher write ID.

        Gives whether `txn` can be committed on a snapshot taken now: not where the metastore will count what others
        committed since `txn` was opened as a conflict, although they held the locks before it (Hive's Driver opens
        another transaction then).

        Raises LOCK_TIMEOUT when `patience` is over (no retries: without waiting), naming the resource and the holder;
        `txn` stays open and keeps what it held before. Raises DEADLOCK where transactions wait for each other and
        `txn` is the youngest of them: it is aborted then. Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def release_locks(self, txn: TxnId) -> None:
        """Gives back the locks of a read-only transaction, which stays open: cleaners still spare what it reads."""
        ...

    def locks(self) -> Sequence[Lock]:
        """All locks of open transactions, acquired and waiting, in the order in which they were asked for."""
        ...

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        """Narrows the write set of a dynamic-partition write to the partitions (`p=a/q=b`) that it touched.

        Components of `operation` on the table with `dynamic_partition_write` and no partition give way to these;
        the others stay. Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        """What is counted of the rows of the table, or of those partitions, is not true once `txn` has committed (None:
        a plain table): Hive must not answer queries from it. Needs the write ID of `txn`, and takes it if it must.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        """The write ID of `txn` for the table: the same one when asked again.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED.
        """
        ...

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        """The transaction that took the write ID; None where it is not known, as on a Hive Metastore and of write IDs
        that an adopted table came with."""
        ...

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        """Which write IDs of the table the transactions of `txns` committed.

        `txns` is the snapshot: nothing that opens, commits or takes a write ID after it is valid, whenever this is
        called. Raises TABLE_NOT_FOUND.
        """
        ...

    def heartbeat(self, txn: TxnId) -> None:
        """Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED."""
        ...

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        """For which `commit` would raise WRITE_CONFLICT now, if the metastore can tell before."""
        ...

    def commit(self, txn: TxnId, *, compatible: Collection[TxnId] | None = None) -> None:
        """Makes the writes of `txn` visible.

        Raises WRITE_CONFLICT (and aborts) when another transaction that committed after `txn` was opened updated
        or deleted in the same table or partition: the first committer wins. With `compatible`, which a Hive Metastore
        does not know, those in it are no conflict, and `txn` stays open where there is one. Raises NO_SUCH_TRANSACTION,
        TRANSACTION_ABORTED. Committing again what has committed is no error, as in Hive.
        """
        ...

    def commit_created(self, txn: TxnId, table: Table, partitions: Sequence[Partition]) -> None:
        """Creates the table that `txn` has written under write ID 1, and commits: both or none.

        Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND and what `commit` raises; `txn` is open then.
        """
        ...

    def abort(self, txn: TxnId) -> None:
        """Aborts; a transaction that is already aborted is no error.

        Raises NO_SUCH_TRANSACTION, also for one that has committed: so its files may go only when this has returned.
        """
        ...

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        """Those of `txns` that have committed or were aborted; not one that is open, or that was not given out yet."""
        ...

    @property
    def knows_leftovers(self) -> bool:
        """Whether `leftovers` tells all; else Hive's compactor removes deltas, and who writes looks for the staging
        directories of others (storage/leftovers.py)."""
        ...

    def leftovers(self) -> Sequence[Leftover]:
        """What aborted transactions may have left. Empty where another program cleans (Hive's compactor)."""
        ...

    def forget_leftovers(self, txn: TxnId) -> None:
        """The files of an aborted transaction are gone."""
        ...


class Metastore(Catalog, TransactionClient, CompactionQueue, Protocol):
    """Catalog, transactions and compaction queue as one connection. Usable from several threads.

    Callers ask a metastore for what it can do by the attributes below, and never for its class. registry.py opens one.
    """

    @property
    def compaction_keeper(self) -> CompactionKeeper | None:
        """The queue for acidsql's own initiator, cleaner and housekeeper; None where the metastore has its own, as a
        Hive Metastore has."""
        ...

    @property
    def detects_row_conflicts(self) -> bool:
        """Whether `commit` accepts `compatible`, which acidsql.conflict.detection=row needs."""
        ...

    def limit_open_txns(self, limit: int) -> None:
        """Sets how many transactions this connection lets be open at once (hive.max.open.txns). A Hive Metastore has
        its own limit and ignores this one."""
        ...

    def close(self) -> None: ...
