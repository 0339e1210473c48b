"""A metastore that hands every call to another one, as the base of those that change some of the calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from acidsql.acid.compaction_scope import CompactionType
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, WriteId
from acidsql.metastore.catalog import Database
from acidsql.metastore.client import Metastore
from acidsql.metastore.commit_history import CommittedWrite
from acidsql.metastore.compactions import (
    DEFAULT_POOL,
    AbortedCompaction,
    Compaction,
    CompactionKeeper,
    CompactionRequest,
    Enqueued,
)
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.streams import StreamClaim, StreamProgress, StreamState
from acidsql.metastore.transaction_client import Conflict, Transaction


class ForwardingMetastore:
    """Methods of a `Metastore` (client.py names their protocols) that `shared` answers."""

    shared: Metastore

    @property
    def compaction_keeper(self) -> CompactionKeeper | None:
        return self.shared.compaction_keeper

    @property
    def detects_row_conflicts(self) -> bool:
        return self.shared.detects_row_conflicts

    @property
    def absent(self) -> str | None:
        return self.shared.absent

    def limit_open_txns(self, limit: int) -> None:
        self.shared.limit_open_txns(limit)

    def require_changeable(self) -> None:
        self.shared.require_changeable()

    def claim_tables(self, *, forgets: bool = False, warehouse: str | None = None) -> Sequence[str]:
        return self.shared.claim_tables(forgets=forgets, warehouse=warehouse)

    def close(self) -> None:
        self.shared.close()

    def databases(self) -> Sequence[Database]:
        return self.shared.databases()

    def database(self, name: str) -> Database:
        return self.shared.database(name)

    def create_database(self, database: Database) -> None:
        self.shared.create_database(database)

    def alter_database(self, database: Database) -> None:
        self.shared.alter_database(database)

    @property
    def txn_timeout(self) -> float:
        return self.shared.txn_timeout

    def open_txn(self, *, read_only: bool = False) -> TxnId:
        return self.shared.open_txn(read_only=read_only)

    def open_txns(self, count: int) -> Sequence[TxnId]:
        return self.shared.open_txns(count)

    def transactions(self) -> Sequence[Transaction]:
        return self.shared.transactions()

    def valid_txns(self, txn: TxnId | None = None) -> ValidTxnList:
        return self.shared.valid_txns(txn)

    def release_locks(self, txn: TxnId) -> None:
        self.shared.release_locks(txn)

    def note_checked(self, table: Table) -> None:
        self.shared.note_checked(table)

    def note_foreign(self, table: Table, path: str, reason: str) -> None:
        self.shared.note_foreign(table, path, reason)

    def heartbeat(self, txn: TxnId) -> None:
        self.shared.heartbeat(txn)

    def heartbeats(self, txns: Sequence[TxnId]) -> frozenset[TxnId]:
        return self.shared.heartbeats(txns)

    def conflicts(self, txn: TxnId) -> Sequence[Conflict]:
        return self.shared.conflicts(txn)

    def commit(
        self,
        txn: TxnId,
        *,
        compatible: Collection[TxnId] | None = None,
        progress: StreamProgress | None = None,
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        self.shared.commit(txn, compatible=compatible, progress=progress, writes=writes)

    def ended(self, txns: Collection[TxnId]) -> frozenset[TxnId]:
        return self.shared.ended(txns)

    @property
    def knows_leftovers(self) -> bool:
        return self.shared.knows_leftovers

    def forget_leftovers(self, txn: TxnId) -> None:
        self.shared.forget_leftovers(txn)

    def keep_claim(self, claim: StreamClaim) -> None:
        self.shared.keep_claim(claim)

    def release_claim(self, claim: StreamClaim) -> None:
        self.shared.release_claim(claim)

    def stream_locks(self, claim: StreamClaim) -> Sequence[LockComponent]:
        return self.shared.stream_locks(claim)

    def streams(self) -> Sequence[StreamState]:
        return self.shared.streams()

    def enqueue_compaction(self, request: CompactionRequest) -> Enqueued:
        return self.shared.enqueue_compaction(request)

    def compactions(self) -> Sequence[Compaction]:
        return self.shared.compactions()

    def abort_compactions(self, ids: Collection[int]) -> Sequence[AbortedCompaction]:
        return self.shared.abort_compactions(ids)

    def take_compaction(self, worker: str, pools: Collection[str] = (DEFAULT_POOL,)) -> Compaction | None:
        return self.shared.take_compaction(worker, pools)

    def open_compaction_txn(self, kind: CompactionType) -> TxnId:
        return self.shared.open_compaction_txn(kind)

    def begin_compaction(self, compaction: Compaction, txn: TxnId, highest_write_id: WriteId) -> Compaction:
        return self.shared.begin_compaction(compaction, txn, highest_write_id)

    def commit_compaction(self, compaction: Compaction) -> None:
        self.shared.commit_compaction(compaction)

    def fail_compaction(self, compaction: Compaction, error: str) -> None:
        self.shared.fail_compaction(compaction, error)

    def give_back_compaction(self, compaction: Compaction, reason: str) -> None:
        self.shared.give_back_compaction(compaction, reason)

    def refuse_compaction(self, compaction: Compaction, reason: str) -> None:
        self.shared.refuse_compaction(compaction, reason)

    def revoke_dead_workers(self, timeout: float) -> Sequence[int]:
        return self.shared.revoke_dead_workers(timeout)
