"""The outcome of a DML statement: its counts and write IDs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.planner.stored_values.misfits import Misfit


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows that a DML statement touched. An updated row counts once."""

    updated: int = 0
    deleted: int = 0
    inserted: int = 0
    misfits: tuple[Misfit, ...] = ()
    """The values that did not fit their columns. Without Spark there are none: such statements are left to Spark."""

    @staticmethod
    def sum(counts: Sequence[RowCounts]) -> RowCounts:
        """The rows that several writes touched."""
        return RowCounts(
            sum(c.updated for c in counts),
            sum(c.deleted for c in counts),
            sum(c.inserted for c in counts),
            tuple(misfit for c in counts for misfit in c.misfits),
        )

    @property
    def affected(self) -> int:
        return self.updated + self.deleted + self.inserted


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a DML statement. `write_ids` are by qualified table name."""

    counts: RowCounts
    txn_id: TxnId
    write_ids: Mapping[str, WriteId]
