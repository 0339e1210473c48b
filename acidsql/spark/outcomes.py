"""The outcomes of plans that have run: rows of a query, or the counts and write IDs of a DML statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from acidsql.acid.write_ids import TxnId, WriteId


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows that a DML statement touched. An updated row counts once."""

    updated: int = 0
    deleted: int = 0
    inserted: int = 0
    nulled: Mapping[str, int] | None = None
    """How many given values became NULL by store assignment, by column; None where they were not counted."""

    @property
    def affected(self) -> int:
        return self.updated + self.deleted + self.inserted


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a DML statement. `write_ids` are by qualified table name."""

    counts: RowCounts
    txn_id: TxnId
    write_ids: Mapping[str, WriteId]


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a query: `frame` belongs to the user's session, where the user goes on with it; `private` belongs to
    the session of the statement, and runs with the statement's settings."""

    frame: DataFrame
    private: DataFrame
