"""A stream: a client that writes rows all the time, in small transactions, without Spark and Java.

Rows are kept in memory until their commit (stream_writer.py). So an idle stream holds no lock, and after an idle time
no open transaction: compactions and cleaners can go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.stream_options import StreamCounts, StreamOptions
from acidsql.ingest.stream_writer import UNCHANGED, StreamWriter, Unchanged
from acidsql.metastore.client import Metastore
from acidsql.metastore.heartbeat import interval_of
from acidsql.metastore.locks import Patience
from acidsql.metastore.streams import Offset
from acidsql.storage.file_systems import FileSystem

_JOIN_SECONDS = 2.0


class Stream:
    """Writes rows to a transactional table; `Session.stream` opens one. A context manager: the end of the block commits
    what was written, an exception drops it.

    Other threads may call the methods, too. After an error of a commit the stream takes no more rows: close it, open it
    again, and go on from `committed_offset`.
    """

    def __init__(
        self,
        metastore: Metastore,
        table: Table,
        files: FileSystem,
        *,
        stream_id: str | None = None,
        partition: Mapping[str, object] | None = None,
        options: StreamOptions | None = None,
        patience: Callable[[], Patience] = Patience,
        on_close: Callable[[Stream], None] = lambda stream: None,
    ) -> None:
        """Opens the stream. Raises STREAM_IN_USE, and the errors of a table that takes no streams."""
        self._writer = StreamWriter(
            metastore,
            table,
            files,
            stream_id=stream_id,
            partition=partition,
            options=options or StreamOptions(),
            patience=patience,
        )
        self._on_close = on_close
        self._closed = False
        self._changed = threading.Condition(threading.RLock())
        self._stopped = threading.Event()
        self._heartbeat_seconds = interval_of(metastore)
        name = f"stream of {table.qualified}"
        self._threads = [
            threading.Thread(target=self._commit_in_time, name=f"commits of a {name}", daemon=True),
            threading.Thread(target=self._beat, name=f"heartbeat of a {name}", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    # -- what is committed

    @property
    def id(self) -> str | None:
        """The ID under which offsets are committed, or None.

        >>> stream.id
        'orders'
        """
        return self._writer.claim.id if self._writer.claim else None

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that records may have: those of the table but for the partition columns that are given.

        >>> [column.name for column in stream.columns]
        ['id', 'name', 'salary']
        """
        return self._writer.columns

    @property
    def committed_offset(self) -> Offset:
        """The offset of the last commit under the stream's ID, also of an earlier process; None if there is none.

        >>> stream.write([{"id": 9}], offset=17)
        >>> stream.committed_offset is None
        True
        >>> stream.commit()
        >>> stream.committed_offset
        17
        """
        return self._writer.offset

    @property
    def counts(self) -> StreamCounts:
        """What this object has committed.

        >>> stream.write([{"id": 9}, {"id": 10}])
        >>> stream.commit()
        >>> stream.counts.rows
        2
        """
        return self._writer.counts

    # -- writing

    def write(self, records: object, offset: Offset | Unchanged = UNCHANGED) -> None:
        """Adds rows, which the next commit makes visible; commits at once if `commit_rows` rows are waiting.

        Args:
            records: A dict or a tuple, a list or an iterator of them, an Arrow table, batch or reader, or a frame of
                pandas or polars. Columns of dicts, Arrow and frames go by name, those of tuples by position.
            offset: The place in the source behind these rows, a value that JSON can hold. It is committed with them.

        Raises:
            AcidSqlError: For a record that does not fit the table; nothing of this call is added then. And the error of
                a commit that has failed.

        >>> stream.write([{"id": 9, "name": "Ann"}, {"id": 10}], offset={"file": "a.csv", "line": 2})
        >>> stream.write((11, "Bob", 5000))
        """
        with self._changed:
            self._require_usable()
            self._writer.write(records, offset)
            self._changed.notify_all()

    def commit(self) -> None:
        """Commits all rows that were written: readers see them when this returns.

        Raises LOCK_TIMEOUT, TABLE_CHANGED, STREAM_LOST, COMMIT_UNKNOWN, METASTORE_UNAVAILABLE; the rows are then
        dropped, except after COMMIT_UNKNOWN, when only `committed_offset` of a new stream tells.

        >>> stream.write({"id": 9})
        >>> stream.commit()
        >>> session.read_arrow("employee", where="id = 9").read_all().num_rows
        1
        """
        with self._changed:
            self._require_usable()
            self._writer.commit()
            self._changed.notify_all()

    def abort(self) -> None:
        """Drops the rows that were written and are not committed. The stream can be used further.

        >>> stream.write({"id": 9})
        >>> stream.abort()
        >>> stream.commit()
        >>> session.read_arrow("employee", where="id = 9").read_all().num_rows
        0
        """
        with self._changed:
            self._require_usable()
            self._writer.drop()

    def close(self) -> None:
        """Commits what was written and ends the stream; closing twice is no error.

        Raises the errors of `commit`, and STREAM_CLOSED where an earlier commit has failed and nobody was told.

        >>> stream.close()
        """
        try:
            with self._changed:
                if not self._closed:
                    self._require_usable()
                    self._writer.commit()
        finally:
            self._end()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.drop_and_close()

    def drop_and_close(self) -> None:
        """Drops the rows that are not committed and ends the stream.

        >>> stream.drop_and_close()
        """
        try:
            with self._changed, suppress(AcidSqlError):
                self._writer.drop()
        finally:
            self._end()

    def _end(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._stopped.set()
            self._changed.notify_all()
            try:
                self._writer.end()
            finally:
                self._on_close(self)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=_JOIN_SECONDS)

    def _require_usable(self) -> None:
        table, failure = self._writer.table.qualified, self._writer.failure
        if self._closed:
            raise AcidSqlError(Condition.STREAM_CLOSED, table=table, reason="it was closed")
        if failure is not None:
            hint = "Open the stream again, and go on from its committed offset."
            reason = f"a commit has failed ({failure})"
            raise AcidSqlError(Condition.STREAM_CLOSED, hint=hint, table=table, reason=reason) from failure
        if self._writer.lost is not None:
            raise self._writer.lost

    # -- threads

    def _commit_in_time(self) -> None:
        """Commits rows that have waited for `commit_seconds`, and ends the batch of an idle stream."""
        writer = self._writer
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                due, idle = writer.due_at, writer.idle_at
                if due is not None and due <= now:
                    with suppress(BaseException):  # the next call of the user's raises it
                        writer.commit()
                elif idle is not None and idle <= now:
                    with suppress(AcidSqlError, OSError):
                        writer.end_batch()
                else:
                    moments = [moment for moment in (due, idle) if moment is not None]
                    self._changed.wait(min(moments) - now if moments else None)

    def _beat(self) -> None:
        while not self._stopped.wait(self._heartbeat_seconds):
            self._writer.heartbeat()
