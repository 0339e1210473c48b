"""Read transactions of frames, which stay open with their locks as long as a frame exists that reads their files.

All frames that derive from a query share its file indexes (HadoopFsRelation.location): frames in Python, temporary
views, caches and plans in the JVM. The frames of each read transaction have weak references to its file indexes, in the
JVM. When all of them are cleared, nothing can read the files any more.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.snapshot.read_transactions import Reader, ReadTransactions
from acidsql.spark.catalyst.file_relations import file_index_references, make_unreadable
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.frames.read_files import ReadFiles
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.hadoop_files import FILE_ERRORS

_IDLE_PAUSE: Final = 8.0
"""From this pause on, a check first collects the garbage of Python and of the JVM: no frame has ended for a while, so
this delays no statement. An earlier check does so if somebody waits for a lock. When many statements run, ordinary
garbage collections clear the references."""
_PY4J_SECONDS: Final = 1.2
"""Seconds until the JVM learns which objects Python has released (DEFAULT_WORKER_SLEEP_TIME of Py4J's
FinalizerWorker)."""


@dataclass(slots=True)
class _Frames:
    """The frames that read in a transaction. `indexes` are java.lang.ref.WeakReferences to their file indexes, `reads`
    the files that they read."""

    indexes: list[Any] = field(default_factory=list)
    reads: list[ReadFiles] = field(default_factory=list)


class FrameReaders:
    """The frames of a session, which read in its transactions without saying when they end (`SilentReaders`)."""

    def __init__(self, readers: ReadTransactions) -> None:
        self._readers = readers
        self._transactions = readers.transactions
        self._frames: dict[TxnId, _Frames] = {}
        self._lock = threading.Lock()
        self._spark: SparkSession | None = None
        readers.silent = self

    def reading(self, reader: Reader, files: Sequence[tuple[FileSystem, SizedFile]]) -> ReadFiles:
        """The files of a query whose frames read in the transaction; more may be added to the list."""
        read = ReadFiles(files, lambda: bool(self._transactions.readers.get(reader.txn)))
        self._frames.setdefault(reader.txn, _Frames()).reads.append(read)
        return read

    def keep(self, reader: Reader, frame: DataFrame, read: ReadFiles) -> None:
        """Keeps the transaction open as long as `frame`, or a frame that derives from it, exists."""
        found = file_index_references(frame)
        read.indexes += found
        if not found and not reader.is_guard:
            self._readers.end(reader)
            return
        with self._lock:
            self._frames.setdefault(reader.txn, _Frames()).indexes.extend(found)
            self._spark = frame.sparkSession
        self._readers.keep(reader)
        weakref.finalize(frame, self._readers.wake).atexit = False

    def _frames_of(self, reader: Reader) -> _Frames:
        return self._frames.get(reader.txn) or _Frames()

    def look_after_statement(self) -> None:
        """Called behind each statement of the session but queries. Frames whose files the statement has removed become
        unreadable, wherever they are used, and the other readers get the locks back that they had given up for it."""
        transactions = self._transactions
        for reader in self._readers.kept():
            reads = self._frames_of(reader).reads
            gave_up = reader.txn in transactions.given_up
            if transactions.readers.get(reader.txn) or reader.is_guard or not reads:
                continue
            for read in reads:
                if read.lost is None and (gave_up or read.are_local):
                    with suppress(*FILE_ERRORS):  # the check of a frame raises it
                        self._look(read)
            if gave_up and not any(read.lost for read in reads):
                transactions.lock_again(reader.txn)

    def _look(self, read: ReadFiles) -> None:
        read.look()
        if read.lost is not None and self._spark is not None:
            path, change = read.lost
            for index in read.indexes:
                make_unreadable(self._spark, index, path, change)

    # -- what ReadTransactions asks

    def read_in(self, reader: Reader) -> bool:
        """Whether frames may read in the transaction."""
        return bool(self._frames_of(reader).indexes)

    def forget(self, reader: Reader) -> None:
        """Called when the transaction has ended."""
        self._frames.pop(reader.txn, None)

    def unread(self, readers: Sequence[Reader], pause: float) -> Sequence[Reader]:
        """Those of the transactions whose frames are all gone. `pause` are the seconds since the last check."""
        if self._spark is None:
            return readers
        try:
            if pause >= _IDLE_PAUSE or self._is_waited_for():
                gc.collect()  # Py4J's objects are reference cycles that keep objects of the JVM alive
                time.sleep(_PY4J_SECONDS)
                jvm(self._spark).collect_garbage()
            return [r for r in readers if all(index.get() is None for index in self._frames_of(r).indexes)]
        except (Py4JError, OSError, AttributeError):
            return readers  # the JVM is gone, and all its frames with it

    def _is_waited_for(self) -> bool:
        """Whether somebody waits for a lock of a kept transaction."""
        try:
            locks = self._transactions.metastore.locks()
        except AcidSqlError:
            return False
        kept = {reader.txn for reader in self._readers.kept()}
        mine = {lock.lock_id for lock in locks if lock.txn in kept}
        return any(lock.blocked_by is not None and lock.blocked_by[0] in mine for lock in locks)
