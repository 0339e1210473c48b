"""The snapshot of a statement or transaction: one ValidTxnList, and the write IDs and partitions that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import Partition, PartitionValues
from acidsql.metastore.client import Metastore

_MOST_NAMED: Final = 0.25
"""The share of a table's partitions that is requested by names, at most."""


@dataclass(frozen=True, slots=True)
class ReadView:
    """A snapshot of the metastore. By qualified table name, `own` are the write IDs of the reading transaction, and
    `added` are the partitions that it has made and not committed yet. `unchanged` are the tables that are known to be
    those that the statement was planned for."""

    metastore: Metastore
    txns: ValidTxnList
    own: Mapping[str, WriteId] = field(default_factory=dict)
    added: Mapping[str, Sequence[Partition]] = field(default_factory=dict)
    unchanged: frozenset[str] = frozenset()

    def write_ids(self, table: Table) -> ValidWriteIdList:
        """Raises TABLE_NOT_FOUND."""
        found = self.metastore.valid_write_ids(table, self.txns)
        own = self.own.get(table.qualified)
        return found if own is None else found.with_own(own)

    def require_unchanged(self, table: Table) -> None:
        """Checks that the table is the one that the statement was planned for, before it had its locks: another session
        may have renamed it meanwhile, and its directory would be empty.

        Raises TABLE_CHANGED.
        """
        if table.qualified in self.unchanged or not table.is_in_catalog:
            return
        found = self.metastore.find_table(table.database, table.name)
        if found is None or not found.stores_alike(table):
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)

    def partitions(self, table: Table) -> Sequence[Partition]:
        return self._with_added(self.metastore.partitions(table), table)

    def partition_values(self, table: Table) -> Sequence[PartitionValues]:
        """The values of all partitions."""
        added = (p.values for p in self.added.get(table.qualified, ()))
        return list(dict.fromkeys((*self.metastore.partition_values(table), *added)))

    def partitions_among(
        self, table: Table, values: Sequence[PartitionValues], known: Sequence[PartitionValues]
    ) -> Sequence[Partition]:
        """The partitions with these values, in this order, as far as they still exist. `known` are the values of all
        partitions. Many of them are requested with all others, which takes less time than a request by their names."""
        found: dict[PartitionValues, Partition] = {}
        if len(values) <= _MOST_NAMED * len(known):
            some = self._with_added(self.metastore.partitions_named(table, values), table)
            found = {p.values: p for p in some}
        if not found.keys() >= set(values):  # one may have been dropped, or have another name in the metastore
            found = {p.values: p for p in self.partitions(table)}
        return [found[each] for each in values if each in found]

    def _with_added(self, known: Sequence[Partition], table: Table) -> Sequence[Partition]:
        values = {p.values for p in known}
        return [*known, *(p for p in self.added.get(table.qualified, ()) if p.values not in values)]
