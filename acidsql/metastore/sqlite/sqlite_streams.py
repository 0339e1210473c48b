"""The claims to streams in the embedded metastore, and what is committed of streams."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.process_identity import is_gone, now
from acidsql.metastore.sqlite import process_rows, stream_rows, transaction_rows
from acidsql.metastore.sqlite.database_file import SqliteFile
from acidsql.metastore.streams import StreamClaim, StreamState, require_stream_id


class SqliteStreams:
    """A `StreamKeeper` (streams.py, which documents the methods)."""

    _file: SqliteFile
    _timeout_millis: int

    def claim_stream(self, table: Table, stream_id: str) -> StreamClaim:
        require_stream_id(stream_id)
        opener, token = process_rows.this_opener(), uuid.uuid4().hex
        with self._file.writing() as db:
            moment = now()
            transaction_rows.abort_dead(db, is_gone, moment, self._timeout_millis)
            found = stream_rows.claim(db, table, stream_id, token, opener, moment, self._timeout_millis)
        if isinstance(found, AcidSqlError):  # raised outside the SQLite transaction, which keeps the aborts
            raise found
        return found

    def keep_claim(self, claim: StreamClaim) -> None:
        with self._file.writing(durable=False) as db:
            stream_rows.keep(db, claim, now())

    def release_claim(self, claim: StreamClaim) -> None:
        with self._file.writing() as db:
            stream_rows.release(db, claim)

    def stream_locks(self, claim: StreamClaim) -> Sequence[LockComponent]:
        """Empty: `commit` compares and commits in one SQLite transaction."""
        return ()

    def stream(self, table: Table, stream_id: str) -> StreamState | None:
        with self._file.reading() as db:
            return stream_rows.stream(db, table, stream_id, now(), self._timeout_millis)

    def committed(self, table: Table, stream_id: str) -> StreamState | None:
        found = self.stream(table, stream_id)
        return None if found is None else replace(found, writer="")

    def streams(self) -> Sequence[StreamState]:
        with self._file.reading() as db:
            return stream_rows.streams(db, now(), self._timeout_millis)
