"""The temporary tables and views of one session, in its memory: definitions, partitions and write IDs.

Several threads may use a session, so every method that reads or changes more than one value holds the lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from acidsql.acid.partition_names import partition_name
from acidsql.acid.partition_values import catalog_order
from acidsql.acid.table import MOVING, Relation, Table, View
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.basic_statistics import out_of_date, with_statistics
from acidsql.metastore.catalog import Partition, PartitionValues, Place
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange


@dataclass(slots=True)
class _TableState:
    """A temporary table: its partitions by their values, the transactions of its write IDs, and its statistics.

    Write IDs up to `seeded` count as committed: the table's first files were written without a transaction.
    """

    table: Table
    partitions: dict[PartitionValues, Partition] = field(default_factory=dict)
    writes: dict[WriteId, TxnId] = field(default_factory=dict)
    seeded: int = 0
    statistics: dict[PartitionValues, dict[str, str]] = field(default_factory=dict)
    changes: dict[tuple[PartitionValues, ChangeKind], PartitionChange] = field(default_factory=dict)

    def next_write_id(self) -> WriteId:
        return WriteId(max((self.seeded, *self.writes)) + 1)

    def note(self, kind: ChangeKind, partitions: Iterable[PartitionValues]) -> None:
        """Notes a change of partitions at this moment."""
        last = WriteId(self.next_write_id() - 1)
        self.changes |= {(values, kind): PartitionChange(values, kind, last) for values in partitions}


class TemporaryRelations:
    """Finds, adds, changes and removes the temporary tables and views of a session."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._tables: dict[tuple[str, str], _TableState] = {}
        self._views: dict[tuple[str, str], View] = {}
        self._aborted: set[TxnId] = set()

    # -- names

    def find(self, database: str, name: str) -> Relation | None:
        with self.lock:
            state = self._tables.get((database, name))
            return self._views.get((database, name)) if state is None else state.table

    def names(self, database: str) -> list[str]:
        """The names of the temporary tables and views of a database."""
        with self.lock:
            return [name for of, name in (*self._tables, *self._views) if of == database]

    def view_names(self, database: str) -> list[str]:
        with self.lock:
            return [name for of, name in self._views if of == database]

    def places(self) -> list[Place]:
        """The locations of the tables, and of partitions outside their tables' directories."""
        with self.lock:
            return [place for state in self._tables.values() for place in _places(state)]

    def forget_database(self, database: str) -> None:
        with self.lock:
            for key in [key for key in self._tables if key[0] == database]:
                del self._tables[key]
            for key in [key for key in self._views if key[0] == database]:
                del self._views[key]

    # -- views

    def add_view(self, view: View) -> None:
        """Raises TABLE_ALREADY_EXISTS."""
        with self.lock:
            self._require_free(view)
            self._views[view.database, view.name] = view

    def alter_view(self, old: View, new: View) -> None:
        """Raises TABLE_NOT_FOUND, TABLE_CHANGED, TABLE_ALREADY_EXISTS."""
        with self.lock:
            found = self._views.get((old.database, old.name))
            if found is None:
                raise _not_found(old)
            if found != old:
                raise AcidSqlError(Condition.TABLE_CHANGED, table=old.qualified)
            if new.qualified != old.qualified:
                self._require_free(new)
                del self._views[old.database, old.name]
            self._views[new.database, new.name] = new

    def remove_view(self, view: View) -> None:
        """Raises TABLE_NOT_FOUND."""
        with self.lock:
            if self._views.pop((view.database, view.name), None) is None:
                raise _not_found(view)

    # -- tables

    def add_table(self, table: Table, partitions: Sequence[Partition], creator: TxnId | None = None) -> None:
        """Adds a table. `creator` is the transaction that has filled it, under write ID 1 if it is transactional.

        Raises TABLE_ALREADY_EXISTS.
        """
        with self.lock:
            self._require_free(table)
            state = _TableState(table, {p.values: p for p in partitions})
            if creator is not None and table.is_transactional:
                state.writes[WriteId(1)] = creator
            self._tables[table.database, table.name] = state

    def alter_table(
        self,
        old: Table,
        new: Table,
        partitions: Mapping[PartitionValues, Partition],
        committed_up_to: WriteId | None,
    ) -> None:
        """Raises TABLE_NOT_FOUND, TABLE_CHANGED, TABLE_ALREADY_EXISTS, PARTITION_ALREADY_EXISTS."""
        with self.lock:
            state = self._state(old)
            if state.table != old:
                raise AcidSqlError(Condition.TABLE_CHANGED, table=old.qualified)
            if new.qualified != old.qualified:
                self._require_free(new)
            kept = {values: p for values, p in state.partitions.items() if values not in partitions}
            for partition in partitions.values():
                if partition.values in kept:
                    shown = partition_name([c.name for c in new.partition_columns], partition.values)
                    raise AcidSqlError(Condition.PARTITION_ALREADY_EXISTS, partition=shown)
                kept[partition.values] = partition
            if MOVING not in old.properties:
                state.note(ChangeKind.DROPPED, _moved(state, new, partitions))
            del self._tables[old.database, old.name]
            self._tables[new.database, new.name] = state
            state.table, state.partitions = new, kept
            state.seeded = max(state.seeded, committed_up_to or 0)

    def remove_table(self, database: str, name: str) -> None:
        with self.lock:
            del self._tables[database, name]

    # -- partitions

    def partitions(self, table: Table) -> Sequence[Partition]:
        with self.lock:
            found = self._state(table).partitions.values()
            return sorted(found, key=lambda p: catalog_order(p.values))

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        return [p.values for p in self.partitions(table)]

    def partitions_named(self, table: Table, values: Sequence[PartitionValues]) -> Sequence[Partition]:
        with self.lock:
            known = self._state(table).partitions
            return [known[each] for each in dict.fromkeys(values) if each in known]

    def partition_changes(self, table: Table) -> Sequence[PartitionChange] | None:
        with self.lock:
            return list(self._state(table).changes.values())

    def add_partitions(self, table: Table, partitions: Sequence[Partition], *, found: bool = False) -> None:
        with self.lock:
            state = self._state(table)
            if found:
                state.note(ChangeKind.FOUND, [p.values for p in partitions])
            known = state.partitions
            for partition in partitions:
                known.setdefault(partition.values, partition)

    def drop_partitions(self, table: Table, values: Sequence[PartitionValues]) -> None:
        with self.lock:
            state = self._state(table)
            state.note(ChangeKind.DROPPED, values)
            for each in values:
                state.partitions.pop(each, None)
                state.statistics.pop(each, None)

    # -- statistics

    def statistics(self, table: Table, partition: PartitionValues) -> Mapping[str, str]:
        with self.lock:
            return dict(self._state(table).statistics.get(partition, {}))

    def set_statistics(
        self, table: Table, new: Mapping[PartitionValues, Mapping[str, str]], *, accurate: bool | None
    ) -> None:
        with self.lock:
            known = self._state(table).statistics
            for partition, values in new.items():
                known[partition] = with_statistics(known.get(partition, {}), values, accurate=accurate)

    def forget_statistics(self, table: Table, partitions: Sequence[PartitionValues]) -> None:
        """Marks statistics as out of date."""
        with self.lock:
            known = self._state(table).statistics
            for partition in partitions if table.partition_columns else [()]:
                if partition in known:
                    known[partition] = out_of_date(known[partition])

    # -- write IDs

    def allocate_write_id(self, txn: TxnId, table: Table) -> WriteId:
        """Raises TABLE_NOT_FOUND."""
        with self.lock:
            state = self._state(table)
            for write_id, writer in state.writes.items():
                if writer == txn:
                    return write_id
            write_id = state.next_write_id()
            state.writes[write_id] = txn
            return write_id

    def writer(self, table: Table, write_id: WriteId) -> TxnId | None:
        with self.lock:
            return self._state(table).writes.get(write_id)

    def note_aborted(self, txn: TxnId) -> None:
        """Notes that a transaction is aborted: a metastore forgets aborted transactions that it knows no write of, and
        they would count as committed from then on."""
        with self.lock:
            self._aborted.add(txn)

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        """As the embedded metastore's (transaction_rows.valid_write_ids). Raises TABLE_NOT_FOUND."""
        with self.lock:
            state = self._state(table)
            seen = [write_id for write_id, txn in state.writes.items() if txn <= txns.high_watermark]
            mark = max((state.seeded, *seen))
            opened, aborted = set(), set()
            for write_id, txn in state.writes.items():
                if write_id > mark:
                    continue
                if txn in self._aborted or txn in txns.aborted:
                    aborted.add(write_id)
                elif not txns.is_valid(txn):
                    opened.add(write_id)
            return ValidWriteIdList(table.qualified, WriteId(mark), frozenset(opened), frozenset(aborted))

    # -- parts

    def _state(self, table: Table) -> _TableState:
        state = self._tables.get((table.database, table.name))
        if state is None:
            raise _not_found(table)
        return state

    def _require_free(self, new: Relation) -> None:
        if self.find(new.database, new.name) is not None:
            raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, table=new.qualified)


def _moved(
    state: _TableState, new: Table, partitions: Mapping[PartitionValues, Partition]
) -> Iterator[PartitionValues]:
    """The partitions that get another name or location, under both names; empty values for a table without partitions
    that gets another location."""
    if not new.partition_columns and state.table.location != new.location and MOVING not in new.properties:
        yield ()
    for values, after in partitions.items():
        before = state.partitions.get(values)
        if before is None or before.location != after.location or values != after.values:
            yield from (values, after.values)


def _places(state: _TableState) -> list[Place]:
    table = state.table
    locations = [p.location for p in state.partitions.values() if not p.location.startswith(f"{table.location}/")]
    name = (table.database, table.name)
    return [Place(location, name, table.external, temporary=True) for location in (table.location, *locations)]


def _not_found(relation: Relation) -> AcidSqlError:
    return AcidSqlError(Condition.TABLE_NOT_FOUND, table=relation.qualified, suggestion="")
