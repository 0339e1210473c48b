"""The times of commits in the embedded metastore."""

from __future__ import annotations

from collections.abc import Sequence

from acidsql.acid.table import Table
from acidsql.metastore.commit_history import KEPT_COMMITS, RecordedCommit, WriteIdsAt
from acidsql.metastore.history_retention import retention_millis
from acidsql.metastore.process_identity import now
from acidsql.metastore.sqlite import catalog_rows, commit_rows, transaction_rows
from acidsql.metastore.sqlite.database_file import SqliteFile


class SqliteCommitHistory:
    """A `CommitHistory` (commit_history.py, which documents the methods)."""

    _file: SqliteFile

    def commits(self, table: Table, limit: int | None = None) -> Sequence[RecordedCommit]:
        with self._file.reading() as db:
            return commit_rows.commits(db, catalog_rows.same_table_id(db, table), limit)

    def write_ids_at(self, table: Table, instant: int) -> WriteIdsAt | None:
        """Waits for the commit that is under way, where this process may write the file: that one may have its time
        already."""
        opened = (
            self._file.reading()
            if self._file.is_read_only or self._file.is_absent
            else self._file.writing(durable=False, is_change=False)
        )
        with opened as db:
            key = catalog_rows.same_table_id(db, table)
            return WriteIdsAt(
                transaction_rows.valid_write_ids(db, table, key, transaction_rows.valid_txns(db)),
                commit_rows.committed_after(db, key, instant),
                commit_rows.recorded_since(db, key),
                commit_rows.latest(db, now().wall),
            )

    def forget_commits(self, kept: int = KEPT_COMMITS) -> None:
        with self._file.reading() as db:
            long = commit_rows.long_histories(db, kept)
        for key in long:
            with self._file.writing(is_change=False) as db:
                retention = retention_millis(catalog_rows.table_with_id(db, key).properties)
                commit_rows.forget_unreadable(db, key, kept, commit_rows.latest(db, now().wall) - retention)
