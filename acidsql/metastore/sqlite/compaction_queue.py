"""The compaction queue of the embedded metastore, with the methods of initiator, cleaner and housekeeper."""

from __future__ import annotations

import platform
from collections.abc import Collection, Sequence

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.metastore.compactions import (
    DEFAULT_POOL,
    AbortedCompaction,
    Changed,
    Compaction,
    CompactionRequest,
    CompactionState,
    Enqueued,
    PlaceName,
    Retention,
)
from acidsql.metastore.partition_changes import DroppedPartition
from acidsql.metastore.process_identity import is_gone, now, this_process
from acidsql.metastore.sqlite import (
    catalog_rows,
    commit_rows,
    compaction_rows,
    dropped_partition_rows,
    transaction_rows,
)
from acidsql.metastore.sqlite.database_file import SqliteFile


class SqliteQueue:
    """A `CompactionKeeper` without the methods for transactions, which SqliteMetastore adds. compactions.py documents
    the methods."""

    _file: SqliteFile

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        with self._file.writing() as db:
            catalog_rows.table(db, request.database, request.table)
            return compaction_rows.enqueue(db, request, platform.node(), _now())

    def compactions(self) -> Sequence[Compaction]:
        with self._file.reading() as db:
            return compaction_rows.compactions(db)

    def abort_compactions(self, ids: Collection[int]) -> Sequence[AbortedCompaction]:
        with self._file.writing() as db:
            return compaction_rows.abort(db, ids, _now())

    def take_compaction(self, worker: str, pools: Collection[str] = (DEFAULT_POOL,)) -> Compaction | None:
        with self._file.writing() as db:
            return compaction_rows.take(db, worker, platform.node(), this_process(), pools, _now())

    def begin_compaction(self, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
        with self._file.writing() as db:
            return compaction_rows.begin(db, compaction, txn, highest_write_id)

    def commit_compaction(self, compaction: Compaction) -> None:
        with self._file.writing() as db:
            conflict = compaction_rows.commit(db, compaction, _now())
        if conflict is not None:  # raised here, so that the abort is kept
            raise conflict

    def fail_compaction(self, compaction: Compaction, error: str) -> None:
        with self._file.writing() as db:
            compaction_rows.end(db, compaction, CompactionState.FAILED, error, _now())

    def give_back_compaction(self, compaction: Compaction, reason: str) -> None:
        with self._file.writing() as db:
            compaction_rows.give_back(db, compaction)

    def refuse_compaction(self, compaction: Compaction, reason: str) -> None:
        with self._file.writing() as db:
            compaction_rows.end(db, compaction, CompactionState.REFUSED, reason, _now())

    # -- initiator

    def changed_places(self) -> Sequence[Changed]:
        with self._file.reading() as db:
            return compaction_rows.changed(db)

    def forget_changed(self, seen: Changed) -> None:
        with self._file.writing() as db:
            compaction_rows.forget_changed(db, seen)

    def failures_in_a_row(self, place: PlaceName) -> tuple[int, int]:
        with self._file.reading() as db:
            return compaction_rows.failures_in_a_row(db, place)

    def did_not_initiate(self, request: CompactionRequest, reason: str) -> None:
        with self._file.writing() as db:
            compaction_rows.did_not_initiate(db, request, reason, platform.node(), _now())

    # -- cleaner and housekeeper

    def enqueue_cleaning(self, request: CompactionRequest, highest_write_id: WriteId) -> None:
        with self._file.writing() as db:
            key = catalog_rows.table_id(db, catalog_rows.table(db, request.database, request.table))
            known = commit_rows.committed(db, key, highest_write_id)
            replaced = commit_rows.latest(db, _now()) if known is None else known
            compaction_rows.enqueue_cleaning(db, request, highest_write_id, platform.node(), replaced)

    def ready_for_cleaning(self, retention: float = 0) -> Sequence[Compaction]:
        self._file.require_changeable()
        with self._file.reading() as db:
            return compaction_rows.ready_for_cleaning(db, _now(), int(retention * 1000))

    def unread_drops(self) -> Sequence[tuple[Table, DroppedPartition]]:
        with self._file.reading() as db:
            return [(catalog_rows.table_with_id(db, key), found) for key, found in dropped_partition_rows.unread(db)]

    def expire_drop(self, table: Table, partition: DroppedPartition) -> None:
        with self._file.writing() as db:
            dropped_partition_rows.expire(db, catalog_rows.same_table_id(db, table), partition)

    def forget_drop(self, table: Table, partition: DroppedPartition) -> None:
        with self._file.writing() as db:
            dropped_partition_rows.forget(db, catalog_rows.same_table_id(db, table), partition)

    def compaction_cleaned(self, compaction: Compaction) -> None:
        with self._file.writing() as db:
            compaction_rows.cleaned(db, compaction, _now())

    def cleaning_failed(self, compaction: Compaction, message: str, pause: float) -> None:
        with self._file.writing() as db:
            compaction_rows.cleaning_failed(db, compaction, message, _now() + int(pause * 1000))

    def revoke_dead_workers(self, timeout: float) -> Sequence[int]:
        with self._file.writing() as db:
            return compaction_rows.revoke_dead(db, is_gone, _now(), int(timeout * 1000))

    def purge_compactions(self, keep: Retention) -> None:
        with self._file.writing() as db:
            compaction_rows.purge_history(db, keep)

    def forget_aborted(self) -> Sequence[TxnId]:
        with self._file.writing() as db:
            return transaction_rows.forget_aborted(db, is_gone)


def _now() -> int:
    return now().wall
