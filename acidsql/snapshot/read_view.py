"""The snapshot of a statement or transaction: one ValidTxnList, and the write IDs and partitions that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.metastore.client import Metastore, Partition


@dataclass(frozen=True, slots=True)
class ReadView:
    """A snapshot of the metastore. By qualified table name, `own` are the write IDs of the reading transaction, and
    `added` are the partitions that it has made and not committed yet."""

    metastore: Metastore
    txns: ValidTxnList
    own: Mapping[str, WriteId] = field(default_factory=dict)
    added: Mapping[str, Sequence[Partition]] = field(default_factory=dict)

    def write_ids(self, table: Table) -> ValidWriteIdList:
        """Raises TABLE_NOT_FOUND."""
        found = self.metastore.valid_write_ids(table, self.txns)
        own = self.own.get(table.qualified)
        return found if own is None else found.with_own(own)

    def partitions(self, table: Table) -> Sequence[Partition]:
        known = self.metastore.partitions(table)
        values = {p.values for p in known}
        return [*known, *(p for p in self.added.get(table.qualified, ()) if p.values not in values)]
