"""Read transactions, which stay open with their locks as long as a frame exists that reads their files.

All frames that derive from a query share its file indexes (HadoopFsRelation.location): frames in Python, temporary
views, caches and plans in the JVM. Each read transaction holds weak references to its file indexes, in the JVM. When
all of them are cleared, nothing can read the files any more.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.interrupts import holding
from acidsql.metastore.client import LockComponent
from acidsql.metastore.heartbeat import interval_of, is_lost
from acidsql.metastore.transactions import Transactions
from acidsql.spark.catalyst.file_relations import file_index_references, make_unreadable
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.read_files import ReadFiles
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.tracing import current

_FIRST_PAUSE: Final = 1.0
"""Seconds from the end of a frame in Python to the first check whether the JVM has released it too. The pauses between
the checks double."""
_IDLE_PAUSE: Final = 8.0
"""From this pause on, a check first collects the garbage of Python and of the JVM: no frame has ended for a while, so
this delays no statement. An earlier check does so if somebody waits for a lock. When many statements run, ordinary
garbage collections clear the references."""
_PY4J_SECONDS: Final = 1.2
"""Seconds until the JVM learns which objects Python has released (DEFAULT_WORKER_SLEEP_TIME of Py4J's
FinalizerWorker)."""
_LONGEST_PAUSE: Final = 60.0


@dataclass(slots=True, eq=False)
class Reader:
    """A read transaction. `indexes` are java.lang.ref.WeakReferences to the file indexes of its frames."""

    txn: TxnId
    indexes: list[Any] = field(default_factory=list)
    reads: list[ReadFiles] = field(default_factory=list)
    """The files that its frames read."""
    pinned: bool = False
    """Whether it stays open without frames, to guard a write transaction that is under way."""
    on_end: list[Callable[[], None]] = field(default_factory=list)
    """What to do when nothing reads in it any more."""
    held: int = 0
    """How many readers without Spark read in it, which say when they end (`Readers.hold`)."""


class Readers:
    """The read transactions of a session, and the thread that keeps them alive and ends them."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._kept: dict[TxnId, Reader] = {}
        self._lock = threading.Lock()
        # Not an Event: a finalizer may run while its own thread holds the Event's lock.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._spark: SparkSession | None = None

    def open(self, locks: Sequence[LockComponent], *, pinned: bool = False) -> Reader:
        """Opens a transaction that holds `locks`. The caller must `end` or `keep` it.

        Raises LOCK_TIMEOUT.
        """
        reader: Reader | None = None
        try:
            with holding():  # an interrupt here would leave a transaction open that nobody ends
                reader = Reader(self._transactions.metastore.open_txn(read_only=True), pinned=pinned)
                self._transactions.readers[reader.txn] = tuple(locks)
            if (trace := current()) is not None:
                trace.txn_id = reader.txn
            if locks:
                self._transactions.lock(reader.txn, locks)
        except BaseException:
            if reader is not None:
                self.end(reader)
            raise
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_after, name="acidsql-readers", daemon=True)
                self._thread.start()
        return reader

    def reading(self, reader: Reader, files: Sequence[tuple[FileSystem, SizedFile]]) -> ReadFiles:
        """The files of a query whose frames read in the transaction; more may be added to the list."""
        read = ReadFiles(files, lambda: bool(self._transactions.readers.get(reader.txn)))
        reader.reads.append(read)
        return read

    def keep(self, reader: Reader, frame: DataFrame, read: ReadFiles) -> None:
        """Keeps the transaction open as long as `frame`, or a frame that derives from it, exists."""
        found = file_index_references(frame)
        read.indexes += found
        if not found and not reader.pinned:
            self.end(reader)
            return
        with self._lock:
            reader.indexes += found
            self._kept[reader.txn] = reader
            self._spark = frame.sparkSession
        weakref.finalize(frame, self._wake.put, None).atexit = False

    def hold(self, reader: Reader) -> Callable[[], None]:
        """Keeps the transaction open until the function that it returns is called, which may happen several times and
        on any thread."""
        with self._lock:
            reader.held += 1
            self._kept[reader.txn] = reader
        waiting = [reader]

        def release() -> None:
            with self._lock:
                if not waiting:
                    return
                waiting.clear()
                reader.held -= 1
            self._end_idle(reader)

        return release

    def look_after_statement(self) -> None:
        """Called behind each statement of the session but queries. Frames whose files the statement has removed become
        unreadable, wherever they are used, and the other readers get the locks back that they had given up for it."""
        transactions = self._transactions
        for reader in list(self._kept.values()):
            gave_up = reader.txn in transactions.given_up
            if transactions.readers.get(reader.txn) or reader.pinned or not reader.reads:
                continue
            for read in reader.reads:
                if read.lost is None and (gave_up or read.are_local):
                    with suppress(*FILE_ERRORS):  # the check of a frame raises it
                        self._look(read)
            if gave_up and not any(read.lost for read in reader.reads):
                transactions.lock_again(reader.txn)

    def _look(self, read: ReadFiles) -> None:
        read.look()
        if read.lost is not None and self._spark is not None:
            path, change = read.lost
            for index in read.indexes:
                make_unreadable(self._spark, index, path, change)

    def unpin(self, reader: Reader) -> None:
        """Called at the end of the guarded transaction: the reader ends when nothing reads in it any more."""
        reader.pinned = False
        self._end_idle(reader)

    def _end_idle(self, reader: Reader) -> None:
        """Ends a reader that nobody reads in; if it has frames, the thread looks whether they still exist."""
        if reader.pinned or reader.held:
            return
        if reader.indexes:
            self._wake.put(None)
        else:
            self.end(reader)

    def end(self, reader: Reader) -> None:
        """Ends the transaction. A second call does nothing."""
        with holding():
            with self._lock:
                self._kept.pop(reader.txn, None)
            self._transactions.given_up.pop(reader.txn, None)
            if self._transactions.readers.pop(reader.txn, None) is not None:
                with suppress(AcidSqlError):  # it timed out, or the metastore is away: nothing depends on its commit
                    self._transactions.metastore.commit(reader.txn)
            while reader.on_end:
                reader.on_end.pop()()

    def close(self) -> None:
        """Ends all read transactions."""
        self._closed = True
        self._wake.put(None)
        for reader in list(self._kept.values()):
            self.end(reader)

    # -- the thread

    def _look_after(self) -> None:
        beat = interval_of(self._transactions.metastore)
        pause, next_beat = _FIRST_PAUSE, time.monotonic() + beat
        while not self._closed:
            woken = self._is_woken(max(0.0, min(pause, next_beat - time.monotonic())))
            if time.monotonic() >= next_beat:
                self._heartbeat()
                next_beat = time.monotonic() + beat
            if woken:  # a frame was released in Python
                pause = _FIRST_PAUSE
            elif self._kept:
                self._end_unread(collect=pause >= _IDLE_PAUSE or self._is_waited_for())
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _is_woken(self, seconds: float) -> bool:
        """Waits up to `seconds` for a wake-up, takes all that have come by then, and tells whether there was one."""
        try:
            self._wake.get(timeout=seconds)
        except Empty:
            return False
        with suppress(Empty):
            while True:
                self._wake.get_nowait()
        return True

    def _heartbeat(self) -> None:
        for txn in list(self._transactions.readers):
            try:
                self._transactions.metastore.heartbeat(txn)
            except AcidSqlError as error:
                if is_lost(error) and txn in self._transactions.readers:
                    self._transactions.readers[txn] = ()  # its locks have ended with it

    def _is_waited_for(self) -> bool:
        """Whether somebody waits for a lock of a kept transaction."""
        try:
            locks = self._transactions.metastore.locks()
        except AcidSqlError:
            return False
        mine = {lock.lock_id for lock in locks if lock.txn in self._kept}
        return any(lock.blocked_by is not None and lock.blocked_by[0] in mine for lock in locks)

    def _end_unread(self, *, collect: bool) -> None:
        for reader in self._unread(collect=collect):
            self.end(reader)

    def _unread(self, *, collect: bool) -> list[Reader]:
        readers = [r for r in list(self._kept.values()) if not r.pinned and not r.held]
        if not readers:
            return []
        try:
            assert self._spark is not None
            if collect:
                gc.collect()  # Py4J's objects are reference cycles that keep objects of the JVM alive
                time.sleep(_PY4J_SECONDS)
                jvm(self._spark).collect_garbage()
            return [r for r in readers if all(index.get() is None for index in r.indexes)]
        except (Py4JError, OSError, AttributeError):
            return readers  # the JVM is gone, and all its frames with it
