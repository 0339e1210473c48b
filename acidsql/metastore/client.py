"""The protocols of a metastore (catalog, transactions), and the values that their methods take and return."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from acidsql.acid.table import PrincipalKind, Relation, Table, View
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.compactions import CompactionKeeper, CompactionQueue
from acidsql.metastore.lock_components import LockComponent as LockComponent
from acidsql.metastore.lock_components import LockType as LockType
from acidsql.metastore.lock_components import Operation as Operation
from acidsql.metastore.streams import StreamKeeper, StreamProgress

DEFAULT_DATABASE = "default"

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


@dataclass(frozen=True, slots=True)
class Database:
    name: str
    location: str
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    managed_location: str | None = None
    """The directory of transactional tables, where it is not `location`."""
    owner: str | None = field(default=None, compare=False)
    owner_kind: PrincipalKind = field(default=PrincipalKind.USER, compare=False)

    def location_of(self, *, transactional: bool) -> str:
        """The directory for tables that have no LOCATION of their own."""
        return self.managed_location if transactional and self.managed_location is not None else self.location


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition. `values` has the order of the table's partition columns; None is the NULL partition."""

    values: tuple[str | None, ...]
    location: str


PartitionValues: TypeAlias = tuple[str | None, ...]
"""In the order of the table's partition columns."""


@dataclass(frozen=True, slots=True)
class Place:
    """A location that is in use: of `table` (database and name), or with None of the metastore's own file."""

    location: str
    table: tuple[str, str] | None
    external: bool = False
    temporary: bool = False
    """Whether the table is a temporary one of this session."""


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
class AdoptedWriteIds:
    """The write IDs of a table that another program wrote: found in its directories, or listed by the user.

    Every write ID up to `high_watermark` counts as committed, except those in `open` and `aborted`. The transactions
    in `committed_txns` (the `_v` suffixes of directories) count as committed, and new transaction IDs are higher.
    """

    high_watermark: WriteId
    open: frozenset[WriteId] = frozenset()
    aborted: frozenset[WriteId] = frozenset()
    committed_txns: frozenset[TxnId] = frozenset()


DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Leftover:
    """Files that an aborted transaction may have left under a write ID. A compaction has none: its directories are
    named after its transaction."""

    txn: TxnId
    table: Table
    write_id: WriteId | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A transaction that updated or deleted in the same place meanwhile, its write ID of the table, and the
    WRITE_CONFLICT error that it causes."""

    txn: TxnId
    database: str
    table: str
    write_id: WriteId | None
    error: AcidSqlError


def catalog_behind(path: str, reason: str) -> AcidSqlError:
    """CATALOG_BEHIND for a directory that the metastore knows nothing of."""
    hint = "docs/operations/backup.md tells how to go on. Until then, nobody reads or writes the table."
    return AcidSqlError(Condition.CATALOG_BEHIND, hint=hint, path=path, reason=reason)


Redefinition: TypeAlias = tuple[Table, Table]
"""A table's definition before and after a change; twice the same where it does not change."""


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

    def alter_database(self, database: Database) -> None:
        """Replaces the properties, the owner and the directories of the database of this name.

        Raises DATABASE_NOT_FOUND.
        """
        ...

    def drop_database(self, name: str) -> None:
        """Drops an empty database; raises DATABASE_NOT_EMPTY, DATABASE_NOT_FOUND, CANNOT_DROP_DEFAULT_DATABASE."""
        ...

    def tables(self, database: str) -> Sequence[str]:
        """Names of the tables and views of a database, sorted. Raises DATABASE_NOT_FOUND."""
        ...

    def views(self, database: str) -> Sequence[str]:
        """Names of the views of a database, sorted. Raises DATABASE_NOT_FOUND."""
        ...

    def table(self, database: str, name: str) -> Table:
        """Raises DATABASE_NOT_FOUND, NOT_A_TABLE for a view, TABLE_NOT_FOUND with a suggestion."""
        ...

    def find_table(self, database: str, name: str) -> Table | None:
        """The table, or None, also for the name of a view."""
        ...

    def find(self, database: str, name: str) -> Relation | None:
        """The table or the view, or None. A table and a view of one database never have the same name."""
        ...

    def hidden(self, database: str) -> Sequence[Relation]:
        """The tables and views that are hidden by temporary ones of the session with the same names."""
        ...

    def create_view(self, view: View) -> None:
        """Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND."""
        ...

    def alter_view(self, old: View, new: View) -> None:
        """Replaces the definition of `old` atomically. A new name renames the view.

        Raises TABLE_NOT_FOUND and TABLE_ALREADY_EXISTS. The embedded metastore raises TABLE_CHANGED where the
        definition is not `old` any more.
        """
        ...

    def drop_view(self, view: View) -> None:
        """Raises TABLE_NOT_FOUND."""
        ...

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        """Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND."""
        ...

    def places(self) -> Sequence[Place]:
        """The locations of all tables. The embedded metastore adds its own file and the partitions outside their
        tables' directories; a Hive Metastore is not asked for the partitions of every table."""
        ...

    def drop_table(self, database: str, name: str, *, with_files: bool = True, skips_trash: bool = False) -> None:
        """Forgets the table, its partitions and its write IDs. Raises TABLE_NOT_FOUND.

        The embedded metastore touches no files. A Hive Metastore removes the files of a managed table, unless
        `with_files` is false; it moves them to the trash of their file system, if there is one, unless `skips_trash` is
        set. A later table of the same name starts with write ID 1. The embedded metastore aborts open transactions with
        a write ID of the table: they could commit into a new table of the same name.
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
        """Replaces the definition of `old` atomically. A new name renames the table and keeps its write IDs.

        `partitions` maps the values of existing partitions to the partitions that replace them. With `committed_up_to`
        all write IDs up to it count as committed and later ones are higher. A Hive Metastore does this itself when a
        table becomes full ACID (seedWriteIdOnAcidConversion).

        Raises TABLE_NOT_FOUND, TABLE_ALREADY_EXISTS, PARTITION_ALREADY_EXISTS, and TABLE_CHANGED where the name is that
        of another table now (Hive 3 does not tell). The embedded metastore raises it also where the definition is not
        `old` any more.
        """
        ...

    def partitions(self, table: Table) -> Sequence[Partition]:
        """The partitions of a table, by values."""
        ...

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        """The values of all partitions of a table, in the order of `partitions`. A Hive Metastore gives them much
        faster than the partitions: in 0.02 s instead of 0.9 s for 10,000 of them. For an unknown table it gives none.
        """
        ...

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        """Those of these partitions that the catalog has, in any order. Values have the spelling of the catalog."""
        ...

    def add_partitions(self, table: Table, partitions: Sequence[Partition]) -> None:
        """Adds partitions. Partitions that exist already do not change."""
        ...

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        """The statistics of an unpartitioned table or of a partition, with Hive's names: numRows, numFiles, totalSize,
        and COLUMN_STATS_ACCURATE while they are true. Empty if there are none."""
        ...

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        """Forgets partitions. Unknown partitions are no error."""
        ...

    def exchange_partition(self, partition: Partition, source: Redefinition, target: Redefinition) -> None:
        """Takes a partition, with its location, from `source` to `target`, and gives both their new definitions. The
        embedded metastore does it atomically, and raises TABLE_CHANGED as `alter_table` does."""
        ...


class TransactionClient(Protocol):
    """Hive's transactions (org.apache.hadoop.hive.metastore.txn.TxnHandler)."""

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

    def last_write_id(self, table: Table) -> WriteId | None:
        """The highest write ID that was ever given out for the table, or that it came with; 0 for none. None where the
        metastore does not tell: a Hive Metastore, and for temporary tables. Raises TABLE_NOT_FOUND."""
        ...

    def is_unchecked(self, table: Table) -> bool:
        """Whether the metastore may be older than the table's directories, because its file was copied or restored, and
        nobody has looked at all of them yet. A writer looks before it takes a write ID, and calls `note_checked`. False
        for a Hive Metastore."""
        ...

    def note_checked(self, table: Table) -> None:
        """Notes that no directory of the table has an ID that was not given out."""
        ...

    def note_foreign(self, table: Table, path: str, reason: str) -> None:
        """Remembers a directory with IDs that this metastore has not given out: `allocate_write_id` and
        `written_directories` then raise CATALOG_BEHIND until somebody claims the table. A Hive Metastore does nothing.
        """
        ...

    def note_written(self, txn: TxnId, table: Table, made: Sequence[WrittenDirectory]) -> None:
        """Remembers the directories that `txn` has made, if it commits, so that readers notice the loss of one. A Hive
        Metastore does nothing.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def written_directories(
        self, table: Table, partitions: Sequence[PartitionValues]
    ) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
        """What `note_written` knows of these partitions, or of a table without partitions (`()`): not what was written
        by older versions, nor what a compaction or an overwrite has replaced. Some belong to open transactions. Others
        may be among them.

        Raises CATALOG_BEHIND, TABLE_NOT_FOUND.
        """
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

    @property
    def knows_leftovers(self) -> bool:
        """Whether `leftovers` is complete. Otherwise Hive's compactor removes deltas, and each writer looks for the
        staging directories of others (storage/leftovers.py)."""
        ...

    def leftovers(self) -> Sequence[Leftover]:
        """The files that aborted transactions may have left. Empty where another program cleans (Hive's compactor)."""
        ...

    def forget_leftovers(self, txn: TxnId) -> None:
        """Notes that the files of an aborted transaction are removed."""
        ...


class Metastore(Catalog, TransactionClient, CompactionQueue, StreamKeeper, Protocol):
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

    @property
    def absent(self) -> str | None:
        """The URI of the file of an embedded metastore that nobody has made yet, and that the first write makes. None
        where there is a metastore."""
        ...

    def limit_open_txns(self, limit: int) -> None:
        """Sets how many transactions this connection lets be open at once (hive.max.open.txns). A Hive Metastore has
        its own limit and ignores this one."""
        ...

    def require_changeable(self) -> None:
        """Raises METASTORE_READ_ONLY and CATALOG_MOVED where each change of the catalog would, before anything is done
        for one."""
        ...

    def claim_tables(self, *, forgets: bool = False, warehouse: str | None = None) -> Sequence[str]:
        """Ends the refusal of CATALOG_MOVED and CATALOG_BEHIND: the tables that did not move with the catalog, and
        those with foreign directories, are this catalog's, or are forgotten with `forgets`, and no file is touched.
        With `warehouse`, what lay below the old warehouse lies below that directory now. Returns their names. A Hive
        Metastore does nothing.

        Raises METASTORE_READ_ONLY.
        """
        ...

    def close(self) -> None: ...
