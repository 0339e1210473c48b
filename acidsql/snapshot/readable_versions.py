"""Which versions of a table can still be read, from the names of its directories alone (earlier_versions.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from acidsql.acid.directories import ORIGINALS_BASE, Base, Delta
from acidsql.acid.table import Table
from acidsql.acid.write_ids import ValidTxnList, ValidWriteIdList, WriteId
from acidsql.metastore.partition_changes import ChangeKind, PartitionChange


@dataclass(frozen=True, slots=True)
class ReadableVersions:
    """The versions from the write ID `lowest` on, without those from the first up to the last one of a `span`,
    exclusive: a delta of a span has rows of later writes, too, and these cannot be told apart."""

    lowest: WriteId
    spans: Sequence[tuple[WriteId, WriteId]]

    @staticmethod
    def of(
        directories: Iterable[Base | Delta],
        table: Table,
        now: ValidWriteIdList,
        txns: ValidTxnList,
        changes: Sequence[PartitionChange],
    ) -> ReadableVersions:
        """`directories` are those of all partitions. `changes` are the partitions that went or came with their files,
        as far as the metastore tells (partition_history.py)."""
        visible = [d for d in directories if d.visibility_txn is None or txns.is_valid(d.visibility_txn)]
        bases = [d for d in visible if isinstance(d, Base) and d.write_id != ORIGINALS_BASE]
        hiding = (b.write_id for b in bases if b.visibility_txn is not None or now.is_valid(b.write_id))
        spans = {
            (d.min_write_id, d.max_write_id)
            for d in visible
            if isinstance(d, Delta) and d.min_write_id < d.max_write_id and table.is_insert_only
        }
        ended = (
            WriteId(change.write_id + 1)
            for change in changes
            if change.kind is not ChangeKind.ADDED and (table.partition_columns or change.values is not None)
        )
        return ReadableVersions(max((*hiding, *ended), default=WriteId(0)), sorted(spans))

    def __contains__(self, version: WriteId) -> bool:
        return version >= self.lowest and not any(low <= version < high for low, high in self.spans)
