"""The protocol of what a metastore knows of the files that transactions have written, and of those that they left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import PartitionValues


@dataclass(frozen=True, slots=True)
class Leftover:
    """Files that an aborted transaction may have left under a write ID. A compaction has none: its directories are
    named after its transaction."""

    txn: TxnId
    table: Table
    write_id: WriteId | None


def catalog_behind(path: str, reason: str) -> AcidSqlError:
    """CATALOG_BEHIND for a directory that the metastore knows nothing of."""
    hint = "docs/operations/backup.md tells how to go on. Until then, nobody reads or writes the table."
    return AcidSqlError(Condition.CATALOG_BEHIND, hint=hint, path=path, reason=reason)


class WrittenFiles(Protocol):
    """What transactions have written and left, so that lost, foreign and left files are noticed."""

    def last_write_id(self, table: Table) -> WriteId | None:
        """The highest write ID that was ever given out for the table, or that it came with; 0 for none. None where the
        metastore does not tell: a Hive Metastore, and for temporary tables. Raises TABLE_NOT_FOUND."""
        ...

    def is_unchecked(self, table: Table) -> bool:
        """Whether the metastore may be older than the table's directories, because its file was copied or restored, and
        nobody has looked at all of them yet. A writer looks before it takes a write ID, and calls `note_checked`. False
        for a Hive Metastore."""
        ...

    def note_checked(self, table: Table) -> None:
        """Notes that no directory of the table has an ID that was not given out."""
        ...

    def note_foreign(self, table: Table, path: str, reason: str) -> None:
        """Remembers a directory with IDs that this metastore has not given out: `allocate_write_id` and
        `written_directories` then raise CATALOG_BEHIND until somebody claims the table. A Hive Metastore does nothing.
        """
        ...

    def note_written(self, txn: TxnId, table: Table, made: Sequence[WrittenDirectory]) -> None:
        """Remembers the directories that `txn` has made, if it commits, so that readers notice the loss of one. A Hive
        Metastore does nothing.

        Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, TABLE_NOT_FOUND.
        """
        ...

    def written_directories(
        self, table: Table, partitions: Sequence[PartitionValues]
    ) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
        """What `note_written` knows of these partitions, or of a table without partitions (`()`): not what was written
        by older versions, nor what a compaction or an overwrite has replaced. Some belong to open transactions. Others
        may be among them.

        Raises CATALOG_BEHIND, TABLE_NOT_FOUND.
        """
        ...

    @property
    def knows_leftovers(self) -> bool:
        """Whether `leftovers` is complete. Otherwise Hive's compactor removes deltas, and each writer looks for the
        staging directories of others (storage/leftovers.py)."""
        ...

    def leftovers(self) -> Sequence[Leftover]:
        """The files that aborted transactions may have left. Empty where another program cleans (Hive's compactor)."""
        ...

    def forget_leftovers(self, txn: TxnId) -> None:
        """Notes that the files of an aborted transaction are removed."""
        ...
