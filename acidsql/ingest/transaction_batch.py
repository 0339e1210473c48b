"""A batch of transactions that a stream reserves at once, and the transactions that it uses one after another.

A batch spares files: the rows of its transactions lie in one delta directory, `delta_MIN_MAX`, in one file for each
bucket (Hive: TransactionBatch of hive-streaming). Its write IDs are older than the locks of its transactions. So each
transaction, once it has its locks, looks whether an INSERT OVERWRITE or a DDL statement came between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from acidsql.acid.partition_names import partition_name
from acidsql.acid.partition_values import by_normal_values, check_own_place
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.delta_files import BatchFiles
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.lock_components import LockComponent, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.streams import StreamProgress
from acidsql.metastore.transactions import report_writes
from acidsql.snapshot.foreign_directories import Siblings, check_whole
from acidsql.storage.file_systems import FileSystem
from acidsql.writing.row_placement import Rows


class BatchOutdatedError(Exception):
    """The transactions that a batch has reserved are no use any more; another batch is."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """A transaction of a batch, and its write ID of the table."""

    txn: TxnId
    write_id: WriteId


@dataclass(frozen=True, slots=True)
class KnownPartitions:
    """The partitions that a stream has heard of: their locations, and the spellings that the catalog has of their
    values, by the normal ones. Others may have added or moved partitions since."""

    locations: dict[PartitionValues, str]
    spellings: dict[PartitionValues, PartitionValues]

    @staticmethod
    def of(metastore: Metastore, table: Table) -> KnownPartitions:
        known = KnownPartitions({}, {})
        known.refresh(metastore, table)
        return known

    def refresh(self, metastore: Metastore, table: Table) -> None:
        """Asks the catalog for the partitions of now."""
        found = metastore.partitions(table) if table.partition_columns else ()
        self.locations.clear()
        self.locations.update({each.values: each.location for each in found})
        self.spellings.clear()
        self.spellings.update(by_normal_values(self.locations.keys(), table.partition_columns))


class TransactionBatch:
    """Open transactions with ascending write IDs of one table, and the files that they share."""

    def __init__(
        self,
        metastore: Metastore,
        table: Table,
        files: FileSystem,
        size: int,
        partitions: KnownPartitions,
    ) -> None:
        """Opens the transactions. Raises TOO_MANY_TRANSACTIONS, TABLE_NOT_FOUND."""
        self._metastore = metastore
        self.table = table
        self.file_system = files
        self.partitions = partitions
        check_whole(metastore, table, lambda _: files)
        txns = metastore.open_txns(size)
        try:
            write_ids = metastore.allocate_write_ids(txns, table)
        except BaseException:
            _end_all(metastore.abort, txns)
            raise
        self._unused = deque(Reserved(txn, write_id) for txn, write_id in zip(txns, write_ids, strict=True))
        self._taken: TxnId | None = None
        self._last_txn = txns[-1]
        self._gone: set[TxnId] = set()
        """Transactions that a heartbeat has found ended. The thread of the heartbeat changes nothing else."""
        self.files = BatchFiles(table, files, write_ids, self._check_siblings, self._require_open)

    def _check_siblings(self, directory: str, names: Sequence[str], first: WriteId, last: WriteId) -> None:
        """Raises CATALOG_BEHIND."""
        Siblings(self._metastore, self.table, first, last, self._last_txn).check(directory, names)

    def _require_open(self) -> None:
        """Raises TRANSACTION_ABORTED where the transaction that was taken has ended, and with it its locks."""
        if (taken := self._taken) is not None:
            self._metastore.heartbeat(taken)

    @property
    def is_used_up(self) -> bool:
        return not self._unused

    def take(self) -> Reserved:
        """The next transaction. Raises BatchOutdatedError where none is left, or where the files are gone."""
        while self._unused and self._unused[0].txn in self._gone:
            self._unused.popleft()
        if not self._unused or not self.files.is_intact():
            raise BatchOutdatedError
        reserved = self._unused.popleft()
        self._taken = reserved.txn
        return reserved

    def heartbeat(self) -> None:
        """Keeps the transactions open."""
        open_txns = {r.txn for r in self._unused.copy()}
        if (taken := self._taken) is not None:
            open_txns.add(taken)
        if waiting := sorted(open_txns - self._gone):
            self._gone |= self._metastore.heartbeats(waiting)

    def ended(self) -> None:
        """Notes that the transaction that was taken last has committed or was aborted."""
        self._taken = None

    def close(self) -> None:
        """Ends the batch: its files get no more rows, and its unused transactions commit without any."""
        unused, self._unused = self._unused, deque()
        self.files.close()
        writes = [_stream_write(self.table, 0)]
        commit = partial(self._metastore.commit, writes=writes)
        _end_all(commit, [r.txn for r in unused if r.txn not in self._gone])


@dataclass(slots=True)
class StreamTransaction:
    """A transaction of a batch from its locks to its commit. `places` are the partitions that it writes to, with their
    directories; the rows of a table without partitions have the values `()`."""

    metastore: Metastore
    batch: TransactionBatch
    reserved: Reserved
    rows: int = 0
    places: dict[PartitionValues, str] = field(default_factory=dict)
    _new: list[Partition] = field(default_factory=list)

    @staticmethod
    def begin(
        metastore: Metastore, batch: TransactionBatch, locks: Sequence[LockComponent], patience: Patience
    ) -> StreamTransaction:
        """Takes the next transaction of the batch and waits for its locks.

        Raises BatchOutdatedError, LOCK_TIMEOUT, DEADLOCK; TABLE_CHANGED where the table is not the one that the batch
        was opened for.
        """
        transaction = StreamTransaction(metastore, batch, batch.take())
        try:
            metastore.lock(transaction.reserved.txn, locks, patience=patience)
            require_same(batch.table, metastore.find_table(batch.table.database, batch.table.name))
            if not batch.files.is_intact():
                raise BatchOutdatedError
        except BaseException:
            transaction.abort()
            raise
        return transaction

    def append(self, rows: Sequence[Rows]) -> None:
        """Writes rows to the files of the batch; nobody sees them before the commit.

        Raises BatchOutdatedError before it has written anything of `rows`.
        """
        placed: dict[tuple[PartitionValues, int], list[pa.Table]] = {}
        for some in rows:
            for part in some.placed():
                placed.setdefault((part.values, part.bucket), []).append(part.rows)
        directories = self._directories(list(dict.fromkeys(values for values, _ in placed)))
        if any(map(self.batch.files.is_hidden, directories.values())):
            raise BatchOutdatedError
        for (values, bucket), tables in placed.items():
            together = pa.concat_tables(tables) if len(tables) > 1 else tables[0]
            self.batch.files.append(self.reserved.write_id, directories[values], bucket, together)
        self.rows += sum(some.num_rows for some in rows)

    def commit(self, progress: StreamProgress | None) -> None:
        """Makes the rows visible, and commits the offset of the stream with them.

        Raises TRANSACTION_ABORTED, NO_SUCH_TRANSACTION, STREAM_LOST, COMMIT_UNKNOWN.
        """
        table, txn = self.batch.table, self.reserved.txn
        if self.rows:
            self.batch.files.flush(self.reserved.write_id)
            columns = [c.name for c in table.partition_columns]
            names = [partition_name(columns, values) for values in self.places] if columns else []
            report_writes(
                self.metastore,
                txn,
                table,
                added=self._new,
                touched={Operation.INSERT: names} if columns else {},
                written=list(self.places),
                made=[
                    WrittenDirectory(values, name, count)
                    for values, place in self.places.items()
                    for name, count in self.batch.files.made(self.reserved.write_id, place)
                ],
            )
        self.metastore.commit(txn, progress=progress, writes=[_stream_write(table, self.rows)])
        self.batch.ended()

    def abort(self) -> None:
        """Aborts the transaction, and only then takes its rows out of the files: until then it may have committed."""
        try:
            self.metastore.abort(self.reserved.txn)
        finally:
            self.batch.ended()
        self.batch.files.drop(self.reserved.write_id)
        if not self.batch.files.has_flushed(self.reserved.write_id):  # those are removed by acidsql.storage.leftovers
            self.metastore.forget_leftovers(self.reserved.txn)

    def _directories(self, values: Sequence[PartitionValues]) -> Mapping[PartitionValues, str]:
        """The directories of partitions. Those that the catalog does not have yet are added to it by the commit.

        Raises LOCATION_NOT_EMPTY.
        """
        table, resolve = self.batch.table, self.batch.file_system.resolve
        if not table.partition_columns:
            self.places[()] = resolve(table.location)
            return self.places
        known = self.batch.partitions
        spelled, unseen, found = self._looked_up(values)
        if any(each not in found for each in unseen):
            known.refresh(self.metastore, table)  # others may have added them since, with other spellings
            spelled, unseen, found = self._looked_up(values)
        if new := [each for each in unseen if each not in found]:
            found |= self._new_partitions(new)
        for each in unseen:
            known.locations[each] = found[each]
            self.places[each] = resolve(found[each])
        return {each: self.places[spelled[each]] for each in values}

    def _looked_up(
        self, values: Sequence[PartitionValues]
    ) -> tuple[dict[PartitionValues, PartitionValues], list[PartitionValues], dict[PartitionValues, str]]:
        """The spellings of values, those whose directory this transaction does not know yet, and where the catalog has
        these."""
        spellings = self.batch.partitions.spellings
        spelled = {each: spellings.get(each, each) for each in values}
        unseen = [each for each in spelled.values() if each not in self.places]
        found = {p.values: p.location for p in self.metastore.partitions_named(self.batch.table, unseen)}
        return spelled, unseen, found

    def _new_partitions(self, new: Sequence[PartitionValues]) -> Mapping[PartitionValues, str]:
        table = self.batch.table
        names = [c.name for c in table.partition_columns]
        added = [Partition(each, f"{table.location}/{partition_name(names, each)}") for each in new]
        others = {place: each for each, place in self.batch.partitions.locations.items() if each not in new}
        for partition in added:
            check_own_place(partition.location, table.partition_columns, others)
        self._new += added
        return {partition.values: partition.location for partition in added}


def require_same(table: Table, found: Table | None) -> None:
    """Raises TABLE_CHANGED where the rows of a stream to `table` would not fit `found` (`Table.stores_alike`)."""
    if found is None or not found.stores_alike(table):
        hint = "Open the stream again, and go on from its committed offset."
        raise AcidSqlError(Condition.TABLE_CHANGED, hint=hint, table=table.qualified)


def _end_all(end: Callable[[TxnId], None], txns: Iterable[TxnId]) -> None:
    for txn in txns:
        with suppress(AcidSqlError):  # without a heartbeat the transaction ends by itself
            end(txn)


def _stream_write(table: Table, rows: int) -> CommittedWrite:
    return CommittedWrite(table.database, table.name, "STREAM", inserted=rows, updated=0, deleted=0)
