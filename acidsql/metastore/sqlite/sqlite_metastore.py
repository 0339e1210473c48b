"""The embedded metastore: catalog and transactions in one SQLite file, for several processes at once."""

from __future__ import annotations

import getpass
import os
import platform
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from acidsql.acid.table import Relation, Table, View
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import (
    DEFAULT_PATIENCE,
    MAX_OPEN_TXNS,
    TXN_TIMEOUT,
    AdoptedWriteIds,
    Conflict,
    Database,
    Leftover,
    Lock,
    LockComponent,
    Operation,
    Partition,
    PartitionValues,
    Patience,
    Place,
    Transaction,
)
from acidsql.metastore.compactions import CompactionKeeper, CompactionType
from acidsql.metastore.heartbeat import Heartbeat
from acidsql.metastore.process_identity import is_gone, now, this_process
from acidsql.metastore.sqlite import catalog_rows, lock_rows, statistics_rows, transaction_rows
from acidsql.metastore.sqlite.compaction_queue import SqliteQueue
from acidsql.metastore.sqlite.database_file import SqliteFile

_SCHEME = "sqlite:///"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1


def open_sqlite(uri_or_path: str | Path, warehouse: str) -> SqliteMetastore:
    """Opens `sqlite:///PATH` or a path; `sqlite:////tmp/m.db` and `/tmp/m.db` are the same absolute one.

    Raises METASTORE_UNAVAILABLE.
    """
    text = str(uri_or_path)
    if text.startswith(_SCHEME) and text != _SCHEME:
        return SqliteMetastore(Path(text.removeprefix(_SCHEME)).expanduser(), warehouse)
    if text.startswith("sqlite:") or "://" in text:
        raise AcidSqlError(
            Condition.METASTORE_UNAVAILABLE, uri=text, reason="the embedded metastore is named sqlite:///PATH"
        )
    return SqliteMetastore(text, warehouse)


class SqliteMetastore(SqliteQueue):
    """A `Metastore` in a SQLite file; also a context manager. client.py documents the methods.

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
    ) -> None:
        """Opens or creates the file. `warehouse` becomes the location of the database `default` in a new file.

        Opening a transaction aborts transactions without a heartbeat for `txn_timeout` seconds.
        """
        self._max_open_txns = max_open_txns
        self._file = SqliteFile(path, warehouse)
        self._readers: set[TxnId] = set()
        """Read-only transactions: a crash may lose their ends, so these need not be durable."""
        self._timeout_millis = int(txn_timeout * 1000)

    @property
    def compaction_keeper(self) -> CompactionKeeper:
        return self

    @property
    def detects_row_conflicts(self) -> bool:
        return True

    def limit_open_txns(self, limit: int) -> None:
        self._max_open_txns = limit

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> SqliteMetastore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- catalog
    def databases(self) -> Sequence[Database]:
        with self._file.reading() as db:
            return catalog_rows.databases(db)

    def database(self, name: str) -> Database:
        with self._file.reading() as db:
            return catalog_rows.database(db, name)

    def create_database(self, database: Database) -> None:
        with self._file.writing() as db:
            catalog_rows.create_database(db, database)

    def alter_database(self, database: Database) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_database(db, database)

    def drop_database(self, name: str) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_database(db, name)

    def tables(self, database: str) -> Sequence[str]:
        with self._file.reading() as db:
            return catalog_rows.tables(db, database)

    def views(self, database: str) -> Sequence[str]:
        with self._file.reading() as db:
            return catalog_rows.views(db, database)

    def table(self, database: str, name: str) -> Table:
        with self._file.reading() as db:
            return catalog_rows.table(db, database, name)

    def find_table(self, database: str, name: str) -> Table | None:
        with self._file.reading() as db:
            return catalog_rows.find_table(db, database, name)

    def find(self, database: str, name: str) -> Relation | None:
        with self._file.reading() as db:
            return catalog_rows.find(db, database, name)

    def create_view(self, view: View) -> None:
        with self._file.writing() as db:
            catalog_rows.create_view(db, view)

    def alter_view(self, old: View, new: View) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_view(db, old, new)

    def drop_view(self, view: View) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_view(db, view)

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        with self._file.writing() as db:
            catalog_rows.create_table(db, table, adopted, partitions)

    def places(self) -> Sequence[Place]:
        with self._file.reading() as db:
            return [Place(str(self._file.path), None), *catalog_rows.places(db)]

    def drop_table(self, database: str, name: str, *, with_files: bool = True) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_table(db, database, name)

    def alter_table(
        self,
        old: Table,
        new: Table,
        *,
        partitions: Mapping[PartitionValues, Partition] | None = None,
        committed_up_to: WriteId | None = None,
    ) -> None:
        with self._file.writing() as db:
            catalog_rows.alter_table(db, old, new)
            catalog_rows.replace_partitions(db, new, partitions or {})
            if committed_up_to is not None:
                catalog_rows.seed_write_ids(db, new, committed_up_to)

    def partitions(self, table: Table) -> Sequence[Partition]:
        with self._file.reading() as db:
            return catalog_rows.partitions(db, table)

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        with self._file.reading() as db:
            return catalog_rows.partitions_named(db, table, values)

    def add_partitions(self, table: Table, partitions: Sequence[Partition]) -> None:
        with self._file.writing() as db:
            catalog_rows.add_partitions(db, table, partitions)

    def drop_partitions(self, table: Table, values: Sequence[tuple[str | None, ...]]) -> None:
        with self._file.writing() as db:
            catalog_rows.drop_partitions(db, table, values)

    # -- transactions
    @property
    def txn_timeout(self) -> float:
        return self._timeout_millis / 1000

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        txn = self._open_txn(durable=False)
        if read_only:
            self._readers.add(txn)
        return txn

    def _open_txn(self, *, durable: bool) -> TxnId:
        """What is named after a write ID waits for that to be durable, and this is with it; not so what is named after
        a transaction alone."""
        opener = transaction_rows.Opener(_user(), platform.node(), this_process())
        with self._file.writing(durable=durable) as db:
            opened = now()
            transaction_rows.abort_dead(db, is_gone, opened, self._timeout_millis)
            transaction_rows.require_room(db, self._max_open_txns)
            return transaction_rows.open_txn(db, opener, opened)

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        return self._open_txn(durable=True)

    def abort_timed_out(self) -> Sequence[TxnId]:
        """Aborts open transactions whose process has ended or whose last heartbeat is older than the timeout."""
        with self._file.writing() as db:
            return transaction_rows.abort_dead(db, is_gone, now(), self._timeout_millis)

    def transactions(self) -> Sequence[Transaction]:
        with self._file.reading() as db:
            return transaction_rows.transactions(db)

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        with self._file.reading() as db:
            return transaction_rows.valid_txns(db)

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        try:
            self._wait_for_locks(txn, components, patience.seconds)
        except BaseException:
            # If the file is out of reach, the request ends with its transaction.
            with suppress(AcidSqlError), self._file.writing() as db:
                lock_rows.withdraw(db, txn)
            raise
        return True

    def _wait_for_locks(self, txn: TxnId, components: Sequence[LockComponent], timeout: float) -> None:
        with self._file.writing(durable=False) as db:
            lock_rows.request(db, txn, components)
            blocker = lock_rows.acquire(db, txn, components, now().wall)
        if blocker is None:
            return
        with Heartbeat(self, txn, interval=self._timeout_millis / 5000):
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
        with self._file.writing(durable=False) as db:
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
        with self._file.writing() as db:
            transaction_rows.abort(db, txn, error.message)
        return error

    def _is_dead(self, blocker: lock_rows.Blocker) -> bool:
        silent = transaction_rows.silent_millis(blocker.process, blocker.last_heartbeat, blocker.ticks, now())
        return is_gone(blocker.process) or silent > self._timeout_millis

    def release_locks(self, txn: TxnId) -> None:
        with self._file.writing(durable=False) as db:
            lock_rows.release(db, txn)

    def locks(self) -> Sequence[Lock]:
        with self._file.reading() as db:
            return lock_rows.locks(db)

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        with self._file.writing() as db:
            transaction_rows.add_dynamic_partitions(db, txn, table, partitions, operation)

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        with self._file.reading() as db:
            if not statistics_rows.are_known(db, table):
                return
        with self._file.writing() as db:
            statistics_rows.forget(db, table, partitions)

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        with self._file.reading() as db:
            return statistics_rows.statistics(db, table, partition)

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        with self._file.writing() as db:
            statistics_rows.store(db, table, statistics, accurate=accurate)

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        with self._file.writing() as db:
            return transaction_rows.allocate_write_id(db, txn, catalog_rows.table_id(db, table))

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        with self._file.reading() as db:
            return transaction_rows.writer(db, catalog_rows.table_id(db, table), write_id)

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        with self._file.reading() as db:
            return transaction_rows.valid_write_ids(db, table, catalog_rows.table_id(db, table), txns)

    def heartbeat(self, txn: TxnId) -> None:
        with self._file.writing(durable=False) as db:
            transaction_rows.heartbeat(db, txn, now())

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        with self._file.reading() as db:
            return list(transaction_rows.find_conflicts(db, txn))

    def commit(self, txn: TxnId, *, compatible: Collection[TxnId] | None = None) -> None:
        with self._file.writing(durable=txn not in self._readers) as db:
            conflict = transaction_rows.commit(db, txn, compatible)
        self._readers.discard(txn)
        if conflict is not None:  # raised outside the SQLite transaction, which keeps the abort
            raise conflict

    def commit_created(self, txn: TxnId, table: Table, partitions: Sequence[Partition]) -> None:
        with self._file.writing() as db:
            catalog_rows.create_table(db, table, None, partitions)
            if table.is_transactional:
                transaction_rows.allocate_write_id(db, txn, catalog_rows.table_id(db, table))
            conflict = transaction_rows.commit(db, txn)
            if conflict is not None:  # raised inside the SQLite transaction, which is rolled back
                raise conflict

    def abort(self, txn: TxnId) -> None:
        with self._file.writing() as db:
            transaction_rows.abort(db, txn)

    @property
    def knows_leftovers(self) -> bool:
        return True

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        return self.valid_txns().ended(txns)

    def leftovers(self) -> Sequence[Leftover]:
        with self._file.reading() as db:
            return catalog_rows.leftovers(db)

    def forget_leftovers(self, txn: TxnId) -> None:
        with self._file.writing() as db:
            transaction_rows.forget_leftovers(db, txn)


def _attempts(seconds: float) -> Iterator[None]:
    """Yields at each moment for an attempt: at once, after growing pauses, and when the time is over."""
    end = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    yield
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
        yield


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in a container's /etc/passwd: KeyError, from Python 3.13 on OSError
        return str(os.getuid())
