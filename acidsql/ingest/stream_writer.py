"""The commits of a stream: rows that wait, the batch whose transactions they go to, and the offset behind them.

A commit takes the next transaction of the batch, waits for its locks, writes the rows, and commits them together with
the offset. A transaction that is lost before it has committed is replaced by another one, as long as its rows are in
memory. Any other error fails the stream: its rows are dropped, and it takes no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.records import RecordConverter
from acidsql.ingest.stream_options import StreamCounts, StreamOptions
from acidsql.ingest.transaction_batch import (
    BatchOutdatedError,
    KnownPartitions,
    StreamTransaction,
    TransactionBatch,
    require_same,
)
from acidsql.metastore.client import Metastore
from acidsql.metastore.heartbeat import is_lost
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.locks import Patience
from acidsql.metastore.streams import Offset, StreamClaim, StreamProgress, StreamState
from acidsql.planner.written_databases import check_writable
from acidsql.storage.file_systems import FileSystem
from acidsql.values.record_shapes import pieces
from acidsql.writing.row_placement import Rows

MOST_BYTES: Final = 64 << 20
"""Bytes of rows that a stream keeps in memory. What is beyond goes to the files before the commit."""

_ATTEMPTS: Final = 4
_CHUNK: Final = 10_000
"""Records of an iterator that are converted at once."""


class Unchanged:
    """The offset of a `write` that gives none."""


UNCHANGED: Final = Unchanged()


@dataclass(slots=True)
class _Pending:
    """Rows that were written and not committed, with the offset behind them. `since` is the time of the first."""

    rows: list[Rows] = field(default_factory=list)
    count: int = 0
    bytes: int = 0
    offset: Offset | Unchanged = UNCHANGED
    since: float | None = None

    @property
    def is_empty(self) -> bool:
        return not self.count and isinstance(self.offset, Unchanged)


class StreamWriter:
    """Writes the rows of one stream. One thread at a time may use it, except for `heartbeat`."""

    def __init__(
        self,
        metastore: Metastore,
        table: Table,
        files: FileSystem,
        *,
        stream_id: str | None,
        partition: Mapping[str, object] | None,
        options: StreamOptions,
        patience: Callable[[], Patience],
    ) -> None:
        """Claims the stream. Raises READ_ONLY_DATABASE, METASTORE_READ_ONLY, CATALOG_MOVED, STREAM_IN_USE, and the
        errors of a table that takes no streams."""
        check_writable(metastore.database(table.database))
        metastore.require_changeable()
        self.table = table
        self.counts = StreamCounts()
        self.failure: BaseException | None = None
        """The error of a commit, after which the stream takes no more rows."""
        self.lost: AcidSqlError | None = None
        """The answer to a heartbeat of the claim that another writer has now."""
        self._metastore = metastore
        self._files = files
        self._options = options
        self._patience = patience
        self._converter = RecordConverter(table, partition)
        self._partitions = KnownPartitions.of(metastore, table)
        self.claim: StreamClaim | None = metastore.claim_stream(table, stream_id) if stream_id is not None else None
        self._state: StreamState | None = self.claim.state if self.claim else None
        self._pending = _Pending()
        self._batch: TransactionBatch | None = None
        self._open: StreamTransaction | None = None
        self._spills = 0
        self._last_commit = time.monotonic()

    @property
    def columns(self) -> Sequence[Column]:
        return self._converter.columns

    @property
    def offset(self) -> Offset:
        return self._state.offset if self._state else None

    @property
    def due_at(self) -> float | None:
        """When the rows that wait are to be committed, by the monotonic clock in seconds; None without any."""
        seconds, since = self._options.commit_seconds, self._pending.since
        return None if seconds is None or since is None or self.failure is not None else since + seconds

    @property
    def idle_at(self) -> float | None:
        """When the open batch is to end unless there is another commit; None without a batch."""
        if self._batch is None or self._open is not None:
            return None
        return self._last_commit + self._options.idle_seconds

    def write(self, records: object, offset: Offset | Unchanged) -> None:
        """Adds records, and commits if enough rows wait."""
        if not isinstance(offset, Unchanged) and self.claim is None:
            raise ValueError("an offset needs a stream with an id")
        self._add_all(records)
        if not isinstance(offset, Unchanged):
            self._pending.offset = offset
            self._pending.since = self._pending.since or time.monotonic()
        limit = self._options.commit_rows
        if limit is not None and self._pending.count >= limit:
            self.commit()

    def heartbeat(self) -> None:
        """Keeps the reserved transactions and the claim."""
        with suppress(AcidSqlError):
            if (batch := self._batch) is not None:
                batch.heartbeat()
        try:
            if self.claim is not None:
                self._metastore.keep_claim(self.claim)
        except AcidSqlError as error:
            if error.condition == Condition.STREAM_LOST.name:
                self.lost = error

    def end(self) -> None:
        """Ends the open transaction, the batch and the claim."""
        try:
            self._abort_open()
            self.end_batch()
        finally:
            if self.claim is not None:
                with suppress(AcidSqlError):
                    self._metastore.release_claim(self.claim)

    def _add_all(self, records: object) -> None:
        """Converts and adds records. Those of an iterator are converted piece by piece; an error takes back the pieces
        before it, which the files may have already: then the stream fails."""
        before = replace(self._pending, rows=list(self._pending.rows))
        spills = self._spills
        try:
            for some in pieces(records, _CHUNK) if isinstance(records, Iterator) else (records,):
                self._add(self._converter.convert(some))
        except BaseException as error:
            if self.failure is None and self._spills != spills:
                self.failure = error
                self.drop()
            elif self.failure is None:
                self._pending = before
            raise

    def _add(self, rows: Rows) -> None:
        if not rows.num_rows:
            return
        pending = self._pending
        pending.rows.append(rows)
        pending.count += rows.num_rows
        pending.bytes += rows.nbytes
        pending.since = pending.since or time.monotonic()
        if pending.bytes >= MOST_BYTES:
            self._failing(self._spill)

    def commit(self) -> None:
        """Commits the rows and the offset that wait, if there are any."""
        if self._pending.is_empty:
            return
        self._failing(self._commit_pending)

    def _failing(self, action: Callable[[], None]) -> None:
        """Runs a part of a commit. Any error drops the rows, and the stream takes no more."""
        try:
            action()
        except BaseException as error:
            self.failure = error
            unknown = isinstance(error, AcidSqlError) and error.condition == Condition.COMMIT_UNKNOWN.name
            with suppress(AcidSqlError, OSError):
                self.drop(undo=not unknown)
            raise

    def _commit_pending(self) -> None:
        started = time.perf_counter()
        pending = self._pending
        self._retry(self._write_and_commit)
        self._pending = _Pending()
        seconds = time.perf_counter() - started
        counts = self.counts
        self.counts = StreamCounts(counts.rows + pending.count, counts.commits + 1, seconds, time.time())
        self._last_commit = time.monotonic()
        if self._batch is not None and self._batch.is_used_up:
            self.end_batch()

    def _write_and_commit(self) -> None:
        self._write_pending()
        self._commit_open()

    def _retry(self, action: Callable[[], None]) -> None:
        """Runs an action in a transaction of the open batch. Runs it again with another batch where this one is of no
        use any more, or the transaction is lost."""
        for attempt in range(_ATTEMPTS):
            spilled = self._open is not None
            try:
                action()
                return
            except BatchOutdatedError:
                self._renew(spilled, attempt)
            except AcidSqlError as error:
                if not is_lost(error):
                    raise
                self._renew(spilled, attempt, error)

    def _commit_open(self) -> None:
        assert self._open is not None
        progress, state = None, self._state
        if self.claim is not None and state is not None:
            given = self._pending.offset
            offset = state.offset if isinstance(given, Unchanged) else given
            progress = StreamProgress(self.claim, state, offset, self._open.rows)
        txn = self._open.reserved.txn
        try:
            self._open.commit(progress)
        except AcidSqlError as error:
            if not is_lost(error) or not self._has_committed(txn):
                raise
            self._open.batch.ended()
        self._open = None
        if progress is not None:
            self._state = progress.committed(txn, int(time.time() * 1000))

    def _has_committed(self, txn: TxnId) -> bool:
        """Whether the offset of the stream was committed by this transaction. A metastore that has forgotten a
        committed transaction answers as if it had never known it, and its rows must not be written again."""
        if self.claim is None:
            return False
        found = self._metastore.committed(self.claim.table, self.claim.id)
        return found is not None and found.txn == txn

    def _spill(self) -> None:
        """Writes waiting rows to the files before their commit, so that memory does not grow with a transaction."""
        self._retry(self._write_pending)
        self._pending.rows.clear()
        self._pending.bytes = 0
        self._spills += 1

    def _write_pending(self) -> None:
        """Begins the transaction if it has not begun, and writes the rows that wait. They stay in memory until the
        commit: a lost transaction can then be replaced by another one."""
        if self._open is None:
            self._open = self._begin()
        self._open.append(self._pending.rows)

    def _begin(self) -> StreamTransaction:
        if self._batch is None:
            self._refresh_table()
            self._batch = TransactionBatch(
                self._metastore, self.table, self._files, self._options.batch_size, self._partitions
            )
        return StreamTransaction.begin(self._metastore, self._batch, self._locks(), self._patience())

    def _refresh_table(self) -> None:
        found = self._metastore.find_table(self.table.database, self.table.name)
        require_same(self.table, found)
        assert found is not None
        check_writable(self._metastore.database(self.table.database))
        self.table = found

    def _renew(self, spilled: bool, attempt: int, error: AcidSqlError | None = None) -> None:
        """Ends a batch that is no use any more, so that the next attempt opens another one. Raises an error where the
        files hold rows of the lost transaction already, or where it is the last attempt."""
        self._abort_open()
        self.end_batch()
        if spilled or attempt == _ATTEMPTS - 1:
            hint = "Open the stream again, and go on from its committed offset."
            raise error or AcidSqlError(Condition.TABLE_CHANGED, hint=hint, table=self.table.qualified)

    def _locks(self) -> Sequence[LockComponent]:
        table = self.table
        kind = LockType.SHARED_READ if self._options.exclusive_write else LockType.SHARED_WRITE
        static = self._converter.static_partition
        values = self._partitions.spellings.get(static, static)
        insert = LockComponent(
            table.database,
            table.name,
            kind,
            Operation.INSERT,
            partition_name([c.name for c in table.partition_columns], values) if values else None,
            dynamic_partition_write=bool(table.partition_columns) and not values,
        )
        return (insert, *(self._metastore.stream_locks(self.claim) if self.claim else ()))

    def drop(self, *, undo: bool = True) -> None:
        """Drops the rows and the offset that wait. Without `undo`, the transaction may have committed."""
        self._pending = _Pending()
        if undo:
            self._abort_open()
        self._open = None

    def _abort_open(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            with suppress(AcidSqlError):  # it has ended, or ends without a heartbeat
                opened.abort()

    def end_batch(self) -> None:
        """Ends the open batch, if there is one."""
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.close()
