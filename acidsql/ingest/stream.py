"""A stream: a client that writes rows all the time, in small transactions, without Spark and Java.

Rows are kept in memory until their commit. A commit takes the next transaction of a batch, waits for its locks, writes
the rows and commits them together with the offset of the stream. So an idle stream holds no lock, and after an idle
time no open transaction: compactions and cleaners can go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final

from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.ingest.records import RecordConverter, Rows, pieces
from acidsql.ingest.transaction_batch import (
    BatchOutdatedError,
    KnownPartitions,
    StreamTransaction,
    TransactionBatch,
    require_same,
)
from acidsql.metastore.client import LockComponent, LockType, Metastore, Operation, Patience
from acidsql.metastore.heartbeat import is_lost
from acidsql.metastore.streams import Offset, StreamClaim, StreamProgress, StreamState
from acidsql.storage.file_systems import FileSystem

DEFAULT_COMMIT_ROWS: Final = 10_000
DEFAULT_COMMIT_SECONDS: Final = 1.0
DEFAULT_BATCH_SIZE: Final = 10
MOST_BYTES: Final = 64 << 20
"""Bytes of rows that a stream keeps in memory. What is beyond goes to the files before the commit."""

_IDLE_COMMITS: Final = 5.0
_LEAST_IDLE_SECONDS: Final = 10.0
_IDLE_BY_HAND_SECONDS: Final = 30.0
_ATTEMPTS: Final = 4
_CHUNK: Final = 10_000
"""Records of an iterator that are converted at once."""


class _Unchanged:
    """The offset of a `write` that gives none."""


_UNCHANGED: Final = _Unchanged()


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """When a stream commits, and how many transactions it reserves at once.

    It commits when `commit_rows` rows are waiting, or when the first of them has waited for `commit_seconds`; None
    leaves either to others. `exclusive_write` is the setting hive.txn.xlock.write.
    """

    commit_rows: int | None = DEFAULT_COMMIT_ROWS
    commit_seconds: float | None = DEFAULT_COMMIT_SECONDS
    batch_size: int = DEFAULT_BATCH_SIZE
    exclusive_write: bool = True

    def __post_init__(self) -> None:
        for name, value, least in (
            ("commit_rows", self.commit_rows, 1),
            ("commit_seconds", self.commit_seconds, 0),
            ("batch_size", self.batch_size, 1),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}, and must be at least {least}")

    @property
    def idle_seconds(self) -> float:
        """Seconds without a commit after which the reserved transactions end."""
        if self.commit_seconds is None:
            return _IDLE_BY_HAND_SECONDS
        return max(_LEAST_IDLE_SECONDS, _IDLE_COMMITS * self.commit_seconds)


@dataclass(frozen=True, slots=True)
class StreamCounts:
    """What a stream has committed since it was opened. `last_seconds` is the time that the last commit took, from its
    start until its rows were visible; `last_commit` is that moment, in seconds since 1970, or 0."""

    rows: int = 0
    commits: int = 0
    last_seconds: float = 0.0
    last_commit: float = 0.0


@dataclass(slots=True)
class _Pending:
    """Rows that were written and not committed, with the offset behind them. `since` is the time of the first."""

    rows: list[Rows] = field(default_factory=list)
    count: int = 0
    bytes: int = 0
    offset: Offset | _Unchanged = _UNCHANGED
    since: float | None = None

    @property
    def is_empty(self) -> bool:
        return not self.count and isinstance(self.offset, _Unchanged)


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
        self._metastore = metastore
        self._table = table
        self._files = files
        self._options = options or StreamOptions()
        self._patience = patience
        self._on_close = on_close
        self._partition = partition
        self._converter = RecordConverter(table, partition)
        self._partitions = KnownPartitions.of(metastore, table)
        self._claim: StreamClaim | None = metastore.claim_stream(table, stream_id) if stream_id is not None else None
        self._state: StreamState | None = self._claim.state if self._claim else None
        self._pending = _Pending()
        self._counts = StreamCounts()
        self._batch: TransactionBatch | None = None
        self._open: StreamTransaction | None = None
        self._failure: BaseException | None = None
        self._lost: AcidSqlError | None = None
        self._closed = False
        self._spills = 0
        self._last_use = time.monotonic()
        self._changed = threading.Condition(threading.RLock())
        self._stopped = threading.Event()
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
        return self._claim.id if self._claim else None

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that records may have: those of the table but for the partition columns that are given."""
        return self._converter.columns

    @property
    def committed_offset(self) -> Offset:
        """The offset of the last commit under the stream's ID, also of an earlier process; None if there is none."""
        return self._state.offset if self._state else None

    @property
    def counts(self) -> StreamCounts:
        """What this object has committed."""
        return self._counts

    # -- writing

    def write(self, records: object, offset: Offset | _Unchanged = _UNCHANGED) -> None:
        """Adds rows, which the next commit makes visible; commits at once if `commit_rows` rows are waiting.

        Args:
            records: A dict or a tuple, a list or an iterator of them, an Arrow table, batch or reader, or a frame of
                pandas or polars. Columns of dicts, Arrow and frames go by name, those of tuples by position.
            offset: The place in the source behind these rows, a value that JSON can hold. It is committed with them.

        Raises:
            AcidSqlError: For a record that does not fit the table; nothing of this call is added then. And the error of
                a commit that has failed.
        """
        with self._changed:
            self._require_usable()
            if not isinstance(offset, _Unchanged) and self._claim is None:
                raise ValueError("an offset needs a stream with an id")
            self._add_all(records)
            if not isinstance(offset, _Unchanged):
                self._pending.offset = offset
                self._pending.since = self._pending.since or time.monotonic()
            limit = self._options.commit_rows
            if limit is not None and self._pending.count >= limit:
                self._commit()
            self._changed.notify_all()

    def commit(self) -> None:
        """Commits all rows that were written: readers see them when this returns.

        Raises LOCK_TIMEOUT, TABLE_CHANGED, STREAM_LOST, COMMIT_UNKNOWN, METASTORE_UNAVAILABLE; the rows are then
        dropped, except after COMMIT_UNKNOWN, when only `committed_offset` of a new stream tells.
        """
        with self._changed:
            self._require_usable()
            self._commit()

    def abort(self) -> None:
        """Drops the rows that were written and are not committed. The stream can be used further."""
        with self._changed:
            self._require_usable()
            self._drop()

    def close(self) -> None:
        """Commits what was written and ends the stream; closing twice is no error.

        Raises the errors of `commit`, and STREAM_CLOSED where an earlier commit has failed and nobody was told.
        """
        try:
            with self._changed:
                if not self._closed:
                    self._require_usable()
                    self._commit()
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
        """Drops the rows that are not committed and ends the stream."""
        try:
            with self._changed, suppress(AcidSqlError):
                self._drop()
        finally:
            self._end()

    # -- a commit

    def _add_all(self, records: object) -> None:
        """Converts and adds records. Those of an iterator are converted piece by piece; an error takes back the pieces
        before it, which the files may have already: then the stream fails."""
        before = replace(self._pending, rows=list(self._pending.rows))
        spills = self._spills
        try:
            for some in pieces(records, _CHUNK) if isinstance(records, Iterator) else (records,):
                self._add(self._converter.convert(some))
        except BaseException as error:
            if self._failure is None and self._spills != spills:
                self._failure = error
                self._drop()
            elif self._failure is None:
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

    def _commit(self) -> None:
        if self._pending.is_empty:
            return
        self._failing(self._commit_pending)

    def _failing(self, action: Callable[[], None]) -> None:
        """Runs a part of a commit. Any error drops the rows, and the stream takes no more."""
        try:
            action()
        except BaseException as error:
            self._failure = error
            unknown = isinstance(error, AcidSqlError) and error.condition == Condition.COMMIT_UNKNOWN.name
            with suppress(AcidSqlError, OSError):
                self._drop(undo=not unknown)
            raise

    def _commit_pending(self) -> None:
        started = time.perf_counter()
        pending = self._pending
        for attempt in range(_ATTEMPTS):
            spilled = self._open is not None
            try:
                self._write_pending()
                self._commit_open()
                break
            except BatchOutdatedError:
                self._renew(spilled, attempt)
            except AcidSqlError as error:
                if not is_lost(error):
                    raise
                self._renew(spilled, attempt, error)
        self._pending = _Pending()
        seconds = time.perf_counter() - started
        counts = self._counts
        self._counts = StreamCounts(counts.rows + pending.count, counts.commits + 1, seconds, time.time())
        self._last_use = time.monotonic()
        if self._batch is not None and self._batch.is_used_up:
            self._close_batch()
        self._changed.notify_all()

    def _commit_open(self) -> None:
        assert self._open is not None
        progress, state = None, self._state
        if self._claim is not None and state is not None:
            given = self._pending.offset
            offset = state.offset if isinstance(given, _Unchanged) else given
            progress = StreamProgress(self._claim, state, offset, self._open.rows)
        self._open.commit(progress)
        txn = self._open.reserved.txn
        self._open = None
        if progress is not None and state is not None:
            rows = state.rows + progress.rows
            self._state = replace(state, offset=progress.offset, txn=txn, rows=rows, commits=state.commits + 1)

    def _spill(self) -> None:
        """Writes waiting rows to the files before their commit, so that memory does not grow with a transaction."""
        for attempt in range(_ATTEMPTS):
            spilled = self._open is not None
            try:
                self._write_pending()
                break
            except BatchOutdatedError:
                self._renew(spilled, attempt)
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
                self._metastore, self._table, self._files, self._options.batch_size, self._partitions
            )
        return StreamTransaction.begin(self._metastore, self._batch, self._locks(), self._patience())

    def _refresh_table(self) -> None:
        found = self._metastore.find_table(self._table.database, self._table.name)
        require_same(self._table, found)
        assert found is not None
        self._table = found

    def _renew(self, spilled: bool, attempt: int, error: AcidSqlError | None = None) -> None:
        """Ends a batch that is no use any more, so that the next attempt opens another one. Raises an error where the
        files hold rows of the lost transaction already, or where it is the last attempt."""
        self._abort_open()
        self._close_batch()
        if spilled or attempt == _ATTEMPTS - 1:
            hint = "Open the stream again, and go on from its committed offset."
            raise error or AcidSqlError(Condition.TABLE_CHANGED, hint=hint, table=self._table.qualified)

    def _locks(self) -> Sequence[LockComponent]:
        table = self._table
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
        return (insert, *(self._metastore.stream_locks(self._claim) if self._claim else ()))

    # -- the end

    def _drop(self, *, undo: bool = True) -> None:
        self._pending = _Pending()
        if undo:
            self._abort_open()
        self._open = None

    def _abort_open(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            with suppress(AcidSqlError):  # it has ended, or ends without a heartbeat
                opened.abort()

    def _close_batch(self) -> None:
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.close()

    def _end(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._stopped.set()
            self._changed.notify_all()
            try:
                self._close_batch()
            finally:
                if self._claim is not None:
                    with suppress(AcidSqlError):
                        self._metastore.release_claim(self._claim)
                self._on_close(self)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=2.0)

    def _require_usable(self) -> None:
        if self._closed:
            raise AcidSqlError(Condition.STREAM_CLOSED, table=self._table.qualified, reason="it was closed")
        if self._failure is not None:
            hint = "Open the stream again, and go on from its committed offset."
            reason = f"a commit has failed ({self._failure})"
            raise AcidSqlError(
                Condition.STREAM_CLOSED, hint=hint, table=self._table.qualified, reason=reason
            ) from self._failure
        if self._lost is not None:
            raise self._lost

    # -- threads

    def _commit_in_time(self) -> None:
        """Commits rows that have waited for `commit_seconds`, and ends the batch of an idle stream."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                due, idle = self._due(), self._idle_at()
                if self._failure is None and due is not None and due <= now:
                    with suppress(BaseException):  # the next call of the user's raises it
                        self._commit()
                elif self._batch is not None and self._open is None and idle <= now:
                    with suppress(AcidSqlError, OSError):
                        self._close_batch()
                else:
                    times = [t for t in (due, idle if self._batch is not None else None) if t is not None and t > now]
                    self._changed.wait(min(times) - now if times else None)

    def _due(self) -> float | None:
        seconds, since = self._options.commit_seconds, self._pending.since
        return None if seconds is None or since is None or self._failure is not None else since + seconds

    def _idle_at(self) -> float:
        return self._last_use + self._options.idle_seconds

    def _beat(self) -> None:
        """Sends heartbeats for the reserved transactions and for the claim."""
        while not self._stopped.wait(self._metastore.txn_timeout / 5):
            with suppress(AcidSqlError):
                if (batch := self._batch) is not None:
                    batch.heartbeat()
            try:
                if self._claim is not None:
                    self._metastore.keep_claim(self._claim)
            except AcidSqlError as error:
                if error.condition == Condition.STREAM_LOST.name:
                    self._lost = error
