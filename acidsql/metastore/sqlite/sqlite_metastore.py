"""The embedded metastore: catalog and transactions in one SQLite file, for several processes at once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.compactions import CompactionKeeper
from acidsql.metastore.heartbeat import Heartbeat, interval_of
from acidsql.metastore.lock_components import LockComponent, Operation
from acidsql.metastore.locks import DEFAULT_PATIENCE, Lock, Patience
from acidsql.metastore.process_identity import is_gone, now
from acidsql.metastore.sqlite import (
    catalog_home,
    catalog_rows,
    dropped_partition_rows,
    lock_rows,
    process_rows,
    stream_rows,
    transaction_rows,
    written_rows,
)
from acidsql.metastore.sqlite.compaction_queue import SqliteQueue
from acidsql.metastore.sqlite.database_file import SqliteFile
from acidsql.metastore.sqlite.issued_transactions import highest_issued, note_issued
from acidsql.metastore.sqlite.sqlite_catalog import SqliteCatalog
from acidsql.metastore.sqlite.sqlite_commit_history import SqliteCommitHistory
from acidsql.metastore.sqlite.sqlite_streams import SqliteStreams
from acidsql.metastore.sqlite.sqlite_written_files import SqliteWrittenFiles
from acidsql.metastore.streams import StreamProgress
from acidsql.metastore.transaction_client import MAX_OPEN_TXNS, TXN_TIMEOUT, Conflict, Transaction

_SCHEME = "sqlite:///"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1


def open_sqlite(uri_or_path: str | Path, warehouse: str) -> SqliteMetastore:
    """Opens `sqlite:///PATH` or a path; `sqlite:////tmp/m.db` and `/tmp/m.db` are the same absolute one.

    Where there is no file, the first write makes it. Raises METASTORE_UNAVAILABLE.
    """
    text = str(uri_or_path)
    if text.startswith(_SCHEME) and text != _SCHEME:
        return SqliteMetastore(Path(text.removeprefix(_SCHEME)).expanduser(), warehouse, make=False)
    if text.startswith("sqlite:") or "://" in text:
        raise AcidSqlError(
            Condition.METASTORE_UNAVAILABLE, uri=text, reason="the embedded metastore is named sqlite:///PATH"
        )
    return SqliteMetastore(text, warehouse, make=False)


class SqliteMetastore(SqliteCatalog, SqliteQueue, SqliteStreams, SqliteWrittenFiles, SqliteCommitHistory):
    """A `Metastore` (client.py) in a SQLite file; also a context manager.

    Every call is one SQLite transaction and durable when it returns, so that a process may be killed at any moment.
    Any call raises METASTORE_UNAVAILABLE if the file cannot be read or written, or stays locked for a minute.
    """

    def __init__(
        self,
        path: str | Path,
        warehouse: str,
        *,
        txn_timeout: float = TXN_TIMEOUT,
        max_open_txns: int = MAX_OPEN_TXNS,
        make: bool = True,
    ) -> None:
        """Opens or makes the file; without `make`, the first write makes it. `warehouse` becomes the location of the
        database `default` in a new file.

        Opening a transaction aborts transactions without a heartbeat for `txn_timeout` seconds.
        """
        self._max_open_txns = max_open_txns
        self._file = SqliteFile(path, warehouse, make=make)
        self._readers: set[TxnId] = set()
        """Read-only transactions: a crash may lose their ends, so these need not be durable."""
        self._unknown_readers = count(1)
        self._timeout_millis = int(txn_timeout * 1000)

    @property
    def compaction_keeper(self) -> CompactionKeeper:
        return self

    @property
    def detects_row_conflicts(self) -> bool:
        return True

    @property
    def absent(self) -> str | None:
        return f"sqlite:///{self._file.path}" if self._file.is_absent else None

    def limit_open_txns(self, limit: int) -> None:
        self._max_open_txns = limit

    def require_changeable(self) -> None:
        self._file.require_changeable()

    def claim_tables(self, *, forgets: bool = False, warehouse: str | None = None) -> Sequence[str]:
        return self._file.claim(forgets=forgets, warehouse=warehouse)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> SqliteMetastore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- transactions
    @property
    def txn_timeout(self) -> float:
        return self._timeout_millis / 1000

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        """In a file that this process must not write, a read-only transaction is one that no other process knows, with
        an ID below 0: nobody waits for its locks, and no cleaner keeps the files that it reads."""
        if read_only and self._file.is_read_only:
            return TxnId(-next(self._unknown_readers))
        (txn,) = self._open_txns(1, durable=False, may_write=not read_only)
        if read_only:
            self._readers.add(txn)
        return txn

    def open_txns(self, count: int) -> Sequence[TxnId]:
        return self._open_txns(count, durable=False)

    def _open_txns(self, count: int, *, durable: bool, may_write: bool = True) -> Sequence[TxnId]:
        """What is named after a write ID waits for that to be durable, and this is with it; not so what is named after
        a transaction alone."""
        opener = process_rows.this_opener()
        with self._file.writing(durable=durable, is_change=False) as db:
            opened = now()
            transaction_rows.abort_dead(db, is_gone, opened, self._timeout_millis)
            transaction_rows.require_room(db, self._max_open_txns, count)
            txns = [transaction_rows.open_txn(db, opener, opened) for _ in range(count)]
            if may_write and highest_issued(self._file.path) >= txns[0]:  # the file was restored from a backup
                catalog_home.uncheck(db)
        if may_write:  # not before the commit, which keeps the tables unchecked
            note_issued(self._file.path, txns[-1])
        return txns

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        (txn,) = self._open_txns(1, durable=True)
        return txn

    def abort_timed_out(self) -> Sequence[TxnId]:
        """Aborts open transactions whose process has ended or whose last heartbeat is older than the timeout."""
        with self._file.writing(is_change=False) as db:
            return transaction_rows.abort_dead(db, is_gone, now(), self._timeout_millis)

    def transactions(self) -> Sequence[Transaction]:
        with self._file.reading() as db:
            return transaction_rows.transactions(db)

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        with self._file.reading() as db:
            return transaction_rows.valid_txns(db)

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        if _is_unknown(txn):
            if any(map(_is_of_change, components)):
                raise self._file.read_only_error()
            return True
        try:
            self._wait_for_locks(txn, components, patience.seconds)
        except BaseException:
            # If the file is out of reach, the request ends with its transaction.
            with suppress(AcidSqlError), self._file.writing(is_change=False) as db:
                lock_rows.withdraw(db, txn)
            raise
        return True

    def _wait_for_locks(self, txn: TxnId, components: Sequence[LockComponent], timeout: float) -> None:
        changes = any(map(_is_of_change, components))
        with self._file.writing(durable=False, is_change=changes) as db:
            lock_rows.request(db, txn, components)
            blocker = lock_rows.acquire(db, txn, components, now().wall)
        if blocker is None:
            return
        with Heartbeat(self, txn, interval=interval_of(self)):
            for _ in _attempts(timeout):
                blocker = self._try_locks(txn, components)
                if blocker is None:
                    return
        raise lock_rows.timed_out(blocker, timeout)

    def _try_locks(self, txn: TxnId, components: Sequence[LockComponent]) -> lock_rows.Blocker | None:
        """Tries to lock. Reads first, so that a request that must wait does not delay writers of the file.

        Raises DEADLOCK.
        """
        with self._file.reading() as db:
            blocker = lock_rows.find_blocker(db, txn)
            ring = lock_rows.deadlock(db, txn) if blocker is not None else ()
        if blocker is not None:
            if ring and txn == max(ring):
                raise self._out_of_deadlock(ring, blocker)
            if not self._is_dead(blocker):
                return blocker
            self.abort_timed_out()
        with self._file.writing(durable=False, is_change=False) as db:
            return lock_rows.acquire(db, txn, components, now().wall)

    def _out_of_deadlock(self, ring: Sequence[TxnId], blocker: lock_rows.Blocker) -> AcidSqlError:
        """Aborts the first transaction of a ring in which each one waits for the next."""
        txn, *others = ring
        error = AcidSqlError(
            Condition.DEADLOCK,
            hint="Run the transaction again: the other one can end now.",
            txn_id=f"txnid:{txn}",
            resource=blocker.resource,
            others=", ".join(f"txnid:{other}" for other in others),
        )
        with self._file.writing(is_change=False) as db:
            transaction_rows.abort(db, txn, error.message)
        return error

    def _is_dead(self, blocker: lock_rows.Blocker) -> bool:
        silent = process_rows.silent_millis(blocker.process, blocker.last_heartbeat, blocker.ticks, now())
        return is_gone(blocker.process) or silent > self._timeout_millis

    def release_locks(self, txn: TxnId) -> None:
        if _is_unknown(txn):
            return
        with self._file.writing(durable=False, is_change=False) as db:
            lock_rows.release(db, txn)

    def locks(self) -> Sequence[Lock]:
        with self._file.reading() as db:
            return lock_rows.locks(db)

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        with self._file.writing() as db:
            transaction_rows.add_dynamic_partitions(db, txn, table, partitions, operation)

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        with self._file.writing() as db:
            return transaction_rows.allocate_write_id(db, txn, catalog_rows.table_id(db, table))

    def allocate_write_ids(self, txns: Sequence[TxnId], table: Table) -> Sequence[WriteId]:
        with self._file.writing() as db:
            key = catalog_rows.table_id(db, table)
            return [transaction_rows.allocate_write_id(db, txn, key) for txn in txns]

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        with self._file.reading() as db:
            return transaction_rows.writer(db, catalog_rows.table_id(db, table), write_id)

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        with self._file.reading() as db:
            return transaction_rows.valid_write_ids(db, table, catalog_rows.table_id(db, table), txns)

    def heartbeat(self, txn: TxnId) -> None:
        if _is_unknown(txn):
            return
        with self._file.writing(durable=False, is_change=False) as db:
            transaction_rows.heartbeat(db, txn, now())

    def heartbeats(self, txns: Sequence[TxnId]) -> frozenset[TxnId]:
        known = [txn for txn in txns if not _is_unknown(txn)]
        if not known:
            return frozenset()
        with self._file.writing(durable=False, is_change=False) as db:
            return transaction_rows.heartbeats(db, known, now())

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        with self._file.reading() as db:
            return list(transaction_rows.find_conflicts(db, txn))

    def commit(
        self,
        txn: TxnId,
        *,
        compatible: Collection[TxnId] | None = None,
        progress: StreamProgress | None = None,
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        if _is_unknown(txn):
            return
        with self._file.writing(durable=txn not in self._readers, is_change=False) as db:
            if progress is None:
                conflict = transaction_rows.commit(db, txn, now().wall, writes, compatible)
            else:
                conflict = stream_rows.commit(db, txn, compatible, progress, writes, now())
        self._readers.discard(txn)
        if conflict is not None:  # raised outside the SQLite transaction, which keeps the abort
            raise conflict

    def commit_created(
        self,
        txn: TxnId,
        table: Table,
        partitions: Sequence[Partition],
        written: Sequence[WrittenDirectory] = (),
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        with self._file.writing() as db:
            catalog_rows.create_table(db, table, None, partitions)
            if table.is_transactional:
                key = catalog_rows.table_id(db, table)
                transaction_rows.allocate_write_id(db, txn, key)
                written_rows.note(db, txn, key, written)
            _commit_or_roll_back(db, txn, writes)

    def commit_dropped(
        self, txn: TxnId, table: Table, values: Sequence[PartitionValues], kept: Sequence[Partition] = ()
    ) -> None:
        with self._file.writing() as db:
            transaction_rows.require_open(db, txn)
            key = catalog_rows.same_table_id(db, table)
            catalog_rows.drop_partitions(db, table, values, txn, {p.values for p in kept})
            _commit_or_roll_back(db, txn, [CommittedWrite(table.database, table.name, "DROP PARTITION")])
            dropped_partition_rows.add(db, key, kept, txn, now().wall)

    def abort(self, txn: TxnId) -> None:
        if _is_unknown(txn):
            return
        with self._file.writing(is_change=False) as db:
            transaction_rows.abort(db, txn)

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        return self.valid_txns().ended(txns)


def _commit_or_roll_back(db: sqlite3.Connection, txn: TxnId, writes: Sequence[CommittedWrite]) -> None:
    """Commits a transaction whose changes of the catalog are in the same SQLite transaction. WRITE_CONFLICT is raised
    inside of it, which rolls them back."""
    conflict = transaction_rows.commit(db, txn, now().wall, writes)
    if conflict is not None:
        raise conflict


def _is_of_change(component: LockComponent) -> bool:
    """Whether a statement with this lock changes files or the catalog."""
    return component.operation is not Operation.SELECT


def _is_unknown(txn: TxnId) -> bool:
    """Whether this is the transaction of a reader that could not tell the file of itself."""
    return txn < 0


def _attempts(seconds: float) -> Iterator[None]:
    """Yields at each moment for an attempt: at once, after growing pauses, and when the time is over."""
    end = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    yield
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
        yield
