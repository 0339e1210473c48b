"""What a Hive Metastore knows of written files: nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.written_files import Leftover


class HiveWrittenFiles:
    """A `WrittenFiles` (metastore/written_files.py). Hive's metastore has no calls for it."""

    def last_write_id(self, table: Table) -> WriteId | None:
        """None: there is no such call."""
        return None

    def is_unchecked(self, table: Table) -> bool:
        return False

    def note_checked(self, table: Table) -> None:
        """Does nothing: no table is unchecked."""

    def note_foreign(self, table: Table, path: str, reason: str) -> None:
        """Does nothing: `last_write_id` does not tell, so that no directory is found."""

    def note_written(self, txn: TxnId, table: Table, made: Sequence[WrittenDirectory]) -> None:
        """Does nothing: Hive's metastore has no place for it."""

    def written_directories(
        self, table: Table, partitions: Sequence[PartitionValues]
    ) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
        return {}

    @property
    def knows_leftovers(self) -> bool:
        return False

    def leftovers(self) -> Sequence[Leftover]:
        """Empty: Hive's compactor removes them."""
        return ()

    def forget_leftovers(self, txn: TxnId) -> None:
        """Does nothing: the metastore keeps no leftovers."""
