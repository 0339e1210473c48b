"""A statement's transaction: locks before snapshots and write IDs, files published before the commit, and all of them
removed when anything fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from acidsql.acid.table import Table
from acidsql.acid.writeids import TxnId, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import LockComponent, Metastore, Partition, PartitionValues
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.spark.interrupts import hold
from acidsql.spark.jobs import JobGroup
from acidsql.spark.publish import StagedFile, WriteTarget, remove

FIRST_WRITE_ID = WriteId(1)
"""The write ID of the statement that creates a table."""


@dataclass(frozen=True, slots=True)
class TableWrite:
    """What a transaction has written to one table so far; `emptied` are directories with an empty base."""

    target: WriteTarget
    staged: list[StagedFile] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)

    @property
    def partition_directories(self) -> set[str]:
        """The directories in which it has published, or may have."""
        return {f.partition_directory for f in self.staged}.union(self.emptied)

    @property
    def new_partitions(self) -> list[Partition]:
        found = {f.new_partition: f.partition_directory for f in self.staged if f.new_partition is not None}
        return [Partition(values, directory) for values, directory in found.items()]

    @property
    def written_partitions(self) -> list[PartitionValues]:
        """The partitions in which it has published, or may have: new ones, and those that were there."""
        there = [values for values, place in self.target.partitions.items() if place in self.partition_directories]
        return [*there, *(p.values for p in self.new_partitions)]


@dataclass(frozen=True, slots=True)
class WriteTransaction:
    """An open transaction that holds its locks; `writes` tells what there is to register or to undo.

    `creates` is the table that it creates, which the catalog does not know before the commit.
    """

    metastore: Metastore
    id: TxnId
    writes: list[TableWrite] = field(default_factory=list)
    creates: Table | None = None

    def write_id(self, table: Table) -> WriteId:
        return FIRST_WRITE_ID if table is self.creates else self.metastore.allocate_write_id(self.id, table)

    def begin(self, target: WriteTarget) -> TableWrite:
        """From here on the files of `target` are this transaction's to remove."""
        write = TableWrite(target)
        self.writes.append(write)
        return write

    def check_unchanged(self, table: Table) -> None:
        """The statement was planned before it had its locks. Raises TABLE_CHANGED, TABLE_ALREADY_EXISTS."""
        found = self.metastore.find_table(table.database, table.name)
        if table is self.creates:
            if found is not None:
                raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=table.qualified)
        elif found != table:
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)

    def commit(self) -> None:
        """Makes the writes visible; new partitions come into the catalog before, empty, should the commit fail."""
        if self.creates is not None:
            self.metastore.commit_created(self.id, self.creates, [p for w in self.writes for p in w.new_partitions])
            return
        for write in self.writes:
            if write.new_partitions:
                self.metastore.add_partitions(write.target.table, write.new_partitions)
            if write.staged or write.emptied:
                self.metastore.forget_statistics(self.id, write.target.table, write.written_partitions)
        self.metastore.commit(self.id)

    def undo(self) -> None:
        """Aborts; the files go only once the transaction is known not to be committed."""
        self.metastore.abort(self.id)
        for write in self.writes:
            remove(write.target, write.partition_directories)
            if self.creates is not None:
                write.target.files.delete(write.target.directory)


@contextmanager
def transaction(
    metastore: Metastore, locks: Sequence[LockComponent], jobs: JobGroup | None = None, creates: Table | None = None
) -> Iterator[WriteTransaction]:
    """Opens a transaction, waits for its locks, and commits behind the block; on any failure ends the statement's
    `jobs`, aborts and leaves no file.

    Raises LOCK_TIMEOUT, WRITE_CONFLICT, TRANSACTION_ABORTED (a heartbeat came too late).
    """
    txn = WriteTransaction(metastore, metastore.open_txn(), creates=creates)
    try:
        with Heartbeat(metastore, txn.id) as heartbeat:
            metastore.lock(txn.id, locks)
            yield txn
            heartbeat.check()
        if hold():
            raise KeyboardInterrupt
        txn.commit()
    except BaseException:
        hold()
        if jobs is not None:
            jobs.end()
        txn.undo()
        raise
