"""What transactions have written and left, in the embedded metastore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.acid.written_directories import WrittenDirectory
from acidsql.metastore.catalog import PartitionValues
from acidsql.metastore.sqlite import catalog_rows, transaction_rows, written_rows
from acidsql.metastore.sqlite.database_file import SqliteFile
from acidsql.metastore.written_files import Leftover


class SqliteWrittenFiles:
    """A `WrittenFiles` (metastore/written_files.py, which documents the methods)."""

    _file: SqliteFile

    def last_write_id(self, table: Table) -> WriteId | None:
        with self._file.reading() as db:
            return transaction_rows.last_write_id(db, catalog_rows.same_table_id(db, table))

    def is_unchecked(self, table: Table) -> bool:
        with self._file.reading() as db:
            return written_rows.is_unchecked(db, catalog_rows.same_table_id(db, table))

    def note_checked(self, table: Table) -> None:
        with self._file.writing() as db:
            written_rows.note_checked(db, catalog_rows.same_table_id(db, table))

    def note_foreign(self, table: Table, path: str, reason: str) -> None:
        with self._file.writing() as db:
            written_rows.note_foreign(db, catalog_rows.same_table_id(db, table), path, reason)

    def note_written(self, txn: TxnId, table: Table, made: Sequence[WrittenDirectory]) -> None:
        with self._file.reading() as db:
            if written_rows.are_noted(db, catalog_rows.same_table_id(db, table), made):
                return
        with self._file.writing(durable=False) as db:
            transaction_rows.require_open(db, txn)
            written_rows.note(db, txn, catalog_rows.same_table_id(db, table), made)

    def written_directories(
        self, table: Table, partitions: Sequence[PartitionValues]
    ) -> Mapping[PartitionValues, Sequence[WrittenDirectory]]:
        with self._file.reading() as db:
            key = catalog_rows.same_table_id(db, table)
            written_rows.require_no_foreign(db, key)
            return written_rows.known(db, key, partitions)

    @property
    def knows_leftovers(self) -> bool:
        return True

    def leftovers(self) -> Sequence[Leftover]:
        """Empty where the tables may be another catalog's, whose files would be removed."""
        if self._file.is_read_only or not self._file.is_own:
            return ()
        with self._file.reading() as db:
            return catalog_rows.leftovers(db)

    def forget_leftovers(self, txn: TxnId) -> None:
        with self._file.writing() as db:
            transaction_rows.forget_leftovers(db, txn)
