"""The metastore as one session sees it: its temporary tables and views in front of the shared metastore.

As in Hive, a temporary table or view hides the one of its name in the shared metastore, for this session alone (Hive:
SessionHiveMetaStoreClient). The shared metastore never hears of it. Its definition, its partitions and its write IDs
are in the memory of this process, and the shared metastore's transactions decide which write IDs are valid.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from acidsql.acid.table import Relation, Table, View
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import AdoptedWriteIds, Partition, PartitionValues, Place, Redefinition
from acidsql.metastore.client import Metastore
from acidsql.metastore.commit_history import CommittedWrite, RecordedCommit, WriteIdsAt
from acidsql.metastore.forwarding_metastore import ForwardingMetastore
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import DEFAULT_PATIENCE, Lock, Patience
from acidsql.metastore.partition_changes import DroppedPartition, PartitionChange
from acidsql.metastore.partition_exchange import exchange_in_steps
from acidsql.metastore.streams import StreamClaim, StreamState
from acidsql.metastore.temporary_relations import TemporaryRelations
from acidsql.metastore.written_files import Leftover

_CHANGES: Final = (Operation.UPDATE, Operation.DELETE)


class SessionMetastore(ForwardingMetastore):
    """A `Metastore` (client.py) of one session. `shared` is the metastore of all sessions.

    The names of temporary tables in locks have a part that no other session uses and that no table's name can have.
    """

    def __init__(self, shared: Metastore) -> None:
        self.shared = shared
        self._temporary = TemporaryRelations()
        self._suffix = f"@{uuid.uuid4().hex}"

    # -- databases

    def drop_database(self, name: str) -> None:
        self.shared.drop_database(name)
        self._temporary.forget_database(name)

    # -- tables and views

    def tables(self, database: str) -> Sequence[str]:
        return sorted({*self.shared.tables(database), *self._temporary.names(database)})

    def views(self, database: str) -> Sequence[str]:
        hidden = set(self._temporary.names(database))
        shown = (name for name in self.shared.views(database) if name not in hidden)
        return sorted([*shown, *self._temporary.view_names(database)])

    def table(self, database: str, name: str) -> Table:
        match self._temporary.find(database, name):
            case Table() as table:
                return table
            case View() as view:
                raise AcidSqlError(Condition.NOT_A_TABLE, view=view.qualified)
            case None:
                return self.shared.table(database, name)

    def find_table(self, database: str, name: str) -> Table | None:
        found = self.find(database, name)
        return found if isinstance(found, Table) else None

    def find(self, database: str, name: str) -> Relation | None:
        return self._temporary.find(database, name) or self.shared.find(database, name)

    def hidden(self, database: str) -> Sequence[Relation]:
        found = (self.shared.find(database, name) for name in self._temporary.names(database))
        return [relation for relation in found if relation is not None]

    def create_view(self, view: View) -> None:
        if not view.temporary:
            self.shared.create_view(view)
            return
        self.shared.database(view.database)
        self._temporary.add_view(view)

    def alter_view(self, old: View, new: View) -> None:
        (self._temporary if old.temporary else self.shared).alter_view(old, new)

    def drop_view(self, view: View) -> None:
        if view.temporary:
            self._temporary.remove_view(view)
        else:
            self.shared.drop_view(view)

    def create_table(
        self, table: Table, *, adopted: AdoptedWriteIds | None = None, partitions: Sequence[Partition] = ()
    ) -> None:
        if not table.temporary:
            self.shared.create_table(table, adopted=adopted, partitions=partitions)
            return
        self.shared.database(table.database)
        self._temporary.add_table(table, partitions)

    def places(self) -> Sequence[Place]:
        return [*self.shared.places(), *self._temporary.places()]

    def drop_table(self, database: str, name: str, *, with_files: bool = True, skips_trash: bool = False) -> None:
        if isinstance(self._temporary.find(database, name), Table):
            self._temporary.remove_table(database, name)
        else:
            self.shared.drop_table(database, name, with_files=with_files, skips_trash=skips_trash)

    def alter_table(
        self,
        old: Table,
        new: Table,
        *,
        partitions: Mapping[PartitionValues, Partition] | None = None,
        committed_up_to: WriteId | None = None,
    ) -> None:
        if old.temporary:
            self._temporary.alter_table(old, new, partitions or {}, committed_up_to)
        else:
            self.shared.alter_table(old, new, partitions=partitions, committed_up_to=committed_up_to)

    # -- partitions

    def partitions(self, table: Table) -> Sequence[Partition]:
        return self._temporary.partitions(table) if table.temporary else self.shared.partitions(table)

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        return (self._temporary if table.temporary else self.shared).partition_values(table)

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        return (self._temporary if table.temporary else self.shared).partitions_named(table, values)

    def add_partitions(self, table: Table, partitions: Sequence[Partition], *, found: bool = False) -> None:
        (self._temporary if table.temporary else self.shared).add_partitions(table, partitions, found=found)

    def dropped_partitions(self, table: Table) -> Sequence[DroppedPartition]:
        return () if table.temporary else self.shared.dropped_partitions(table)

    def partition_changes(self, table: Table) -> Sequence[PartitionChange] | None:
        return (self._temporary if table.temporary else self.shared).partition_changes(table)

    def drop_partitions(self, table: Table, values: Sequence[PartitionValues]) -> None:
        (self._temporary if table.temporary else self.shared).drop_partitions(table, values)

    def exchange_partition(self, partition: Partition, source: Redefinition, target: Redefinition) -> None:
        if source[0].temporary or target[0].temporary:
            exchange_in_steps(self, partition, source, target)
        else:
            self.shared.exchange_partition(partition, source, target)

    # -- transactions

    def lock(self, txn: TxnId, components: Sequence[LockComponent], *, patience: Patience = DEFAULT_PATIENCE) -> bool:
        return self.shared.lock(txn, [self._private(c) for c in components], patience=patience)

    def _private(self, component: LockComponent) -> LockComponent:
        """The component under a name that only this session uses, if it is one of a temporary table or view.

        It has no operation, so that the shared metastore keeps no write set of it. So it cannot find conflicts, and
        statements that update or delete always take turns.
        """
        name = component.table
        if name is None or self._temporary.find(component.database, name) is None:
            return component
        lock_type = component.lock_type
        if component.operation in _CHANGES and lock_type is LockType.SHARED_WRITE:
            lock_type = LockType.EXCL_WRITE
        operation = component.operation if component.operation is Operation.SELECT else Operation.NO_TXN
        return replace(
            component,
            table=f"{name}{self._suffix}",
            lock_type=lock_type,
            operation=operation,
            dynamic_partition_write=False,
        )

    def locks(self) -> Sequence[Lock]:
        """The locks of this session's temporary tables have the tables' names."""
        return [replace(lock, component=self._public(lock.component)) for lock in self.shared.locks()]

    def _public(self, component: LockComponent) -> LockComponent:
        name = component.table
        return component if name is None else replace(component, table=name.removesuffix(self._suffix))

    def add_dynamic_partitions(self, txn: TxnId, table: Table, partitions: Sequence[str], operation: Operation) -> None:
        if not table.temporary:
            self.shared.add_dynamic_partitions(txn, table, partitions, operation)

    def forget_statistics(self, txn: TxnId | None, table: Table, partitions: Sequence[PartitionValues]) -> None:
        if table.temporary:
            self._temporary.forget_statistics(table, partitions)
        else:
            self.shared.forget_statistics(txn, table, partitions)

    def statistics(self, table: Table, partition: PartitionValues = ()) -> Mapping[str, str]:
        return (self._temporary if table.temporary else self.shared).statistics(table, partition)

    def set_statistics(
        self,
        txn: TxnId | None,
        table: Table,
        statistics: Mapping[PartitionValues, Mapping[str, str]],
        *,
        accurate: bool | None,
    ) -> None:
        if table.temporary:
            self._temporary.set_statistics(table, statistics, accurate=accurate)
        else:
            self.shared.set_statistics(txn, table, statistics, accurate=accurate)

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        if not table.temporary:
            return self.shared.allocate_write_id(txn, table)
        self.shared.heartbeat(txn)  # raises where the transaction is not open
        return self._temporary.allocate_write_id(txn, table)

    def allocate_write_ids(self, txns: Sequence[TxnId], table: Table) -> Sequence[WriteId]:
        if not table.temporary:
            return self.shared.allocate_write_ids(txns, table)
        for txn in self.shared.heartbeats(txns):
            self.shared.heartbeat(txn)  # raises: the transaction is not open
        with self._temporary.lock:
            return [self._temporary.allocate_write_id(txn, table) for txn in txns]

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        return (self._temporary if table.temporary else self.shared).writer(table, write_id)

    def last_write_id(self, table: Table) -> WriteId | None:
        return None if table.temporary else self.shared.last_write_id(table)

    def is_unchecked(self, table: Table) -> bool:
        return not table.temporary and self.shared.is_unchecked(table)

    def note_written(self, txn: TxnId, table: Table, made: Sequence[WrittenDirectory]) -> None:
        if not table.temporary:
            self.shared.note_written(txn, table, made)

    def written_directories(
        self, table: Table, partitions: Sequence[PartitionValues]
    ) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
        return {} if table.temporary else self.shared.written_directories(table, partitions)

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        return (self._temporary if table.temporary else self.shared).valid_write_ids(table, txns)

    def commit_created(
        self,
        txn: TxnId,
        table: Table,
        partitions: Sequence[Partition],
        written: Sequence[WrittenDirectory] = (),
        writes: Sequence[CommittedWrite] = (),
    ) -> None:
        if not table.temporary:
            self.shared.commit_created(txn, table, partitions, written, writes)
            return
        with self._temporary.lock:
            self._temporary.add_table(table, partitions, txn)
            try:
                self.shared.commit(txn)
            except BaseException:
                self._temporary.remove_table(table.database, table.name)
                raise

    def commit_dropped(
        self, txn: TxnId, table: Table, values: Sequence[PartitionValues], kept: Sequence[Partition] = ()
    ) -> None:
        if not table.temporary:
            self.shared.commit_dropped(txn, table, values, kept)
            return
        self.shared.commit(txn)
        self._temporary.drop_partitions(table, values)

    def commits(self, table: Table, limit: int | None = None) -> Sequence[RecordedCommit]:
        return () if table.temporary else self.shared.commits(table, limit)

    def write_ids_at(self, table: Table, instant: int) -> WriteIdsAt | None:
        return None if table.temporary else self.shared.write_ids_at(table, instant)

    def abort(self, txn: TxnId) -> None:
        """Notes the abort also where the shared metastore is out of reach: the transaction will not commit then. A
        transaction that the shared metastore does not know may have committed."""
        try:
            self.shared.abort(txn)
        except AcidSqlError as error:
            if error.condition != Condition.NO_SUCH_TRANSACTION.name:
                self._temporary.note_aborted(txn)
            raise
        self._temporary.note_aborted(txn)

    def leftovers(self) -> Sequence[Leftover]:
        """Without those of a table that a temporary one hides. Another session removes them, or this one later."""
        found = self.shared.leftovers()
        return [left for left in found if self._temporary.find(left.table.database, left.table.name) is None]

    # -- streams, which are always those of shared tables

    def claim_stream(self, table: Table, stream_id: str) -> StreamClaim:
        """Raises INVALID_PARAMETER for a temporary table: its offsets would end with the session."""
        if table.temporary:
            reason = f"{table.qualified} is a temporary table, whose offsets would end with the session"
            hint = "Write without an ID, or into a table that is not temporary."
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="id", reason=reason, hint=hint)
        return self.shared.claim_stream(table, stream_id)

    def stream(self, table: Table, stream_id: str) -> StreamState | None:
        return None if table.temporary else self.shared.stream(table, stream_id)

    def committed(self, table: Table, stream_id: str) -> StreamState | None:
        return None if table.temporary else self.shared.committed(table, stream_id)
