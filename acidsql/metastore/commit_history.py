"""What a metastore remembers of the commits of a table: when each write ID committed, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidWriteIdList, WriteId

UNKNOWN: Final = "UNKNOWN"
"""The operation of a write of which nobody tells what it was."""
KEPT_COMMITS: Final = 10_000
"""How many of a table's last commits the housekeeper leaves, however few of their versions can be read."""


@dataclass(frozen=True, slots=True)
class CommittedWrite:
    """What a transaction did to one table. A number is None where it is not known."""

    database: str
    table: str
    operation: str
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedCommit:
    """The commit of one write ID of a table. `committed` is milliseconds since 1970."""

    write_id: WriteId
    txn: TxnId
    committed: int
    operation: str
    inserted: int | None
    updated: int | None
    deleted: int | None
    user: str


@dataclass(frozen=True, slots=True)
class WriteIdsAt:
    """The write IDs of a table, and which of them committed after an instant. Times are milliseconds since 1970.

    `now` are the write IDs of now. `later` are those of them that committed after the instant. The commits up to the
    moment `recorded_since` need not be recorded, and `latest` is the last moment that a commit may have had.
    """

    now: ValidWriteIdList
    later: frozenset[WriteId]
    recorded_since: int
    latest: int


class CommitHistory(Protocol):
    """The times of commits, which only the embedded metastore keeps. A commit and its time are stored together, so that
    a crash leaves both or neither.

    Each commit that has write IDs gets a time of its own: the time of day, or one millisecond more than the last commit
    of the metastore, if that is later. So the times are in the order of the commits, whatever the clock does.
    """

    def commits(self, table: Table, limit: int | None = None) -> Sequence[RecordedCommit]:
        """The recorded commits by falling write IDs, or the `limit` first of them. Empty on a Hive Metastore and for a
        temporary table. Raises TABLE_NOT_FOUND, TABLE_CHANGED."""
        ...

    def write_ids_at(self, table: Table, instant: int) -> WriteIdsAt | None:
        """The write IDs that had committed at an instant. No commit that is under way gets a time up to the instant
        once this has returned, unless the instant is in the future.

        None where the metastore does not know it: on a Hive Metastore, and for a temporary table. Raises
        TABLE_NOT_FOUND, TABLE_CHANGED."""
        ...
