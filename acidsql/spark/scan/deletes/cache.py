"""A cache of delete events that the driver has read, and of the bitmaps of the last scans. Files of an ACID table never
change, so entries stay valid."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column

from acidsql.acid.layout import OPERATION_DELETE
from acidsql.errors import AcidSqlError, Condition
from acidsql.snapshot.delete_applicability import visible_mask
from acidsql.spark.catalyst.gateway import Jvm
from acidsql.spark.catalyst.logical_plans import ResolvedCondition
from acidsql.spark.scan.deletes.array_lookup import Longs
from acidsql.spark.scan.deletes.bitmap import DeleteBitmap, DeleteKeys, concatenated, delete_bitmap
from acidsql.storage.file_identity import same_file
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.hadoop_files import FILE_ERRORS, HadoopFiles
from acidsql.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from acidsql.snapshot.scan_binding import SourceFile

_READ_HERE: Final = 4_000_000
"""The largest number of delete events that the driver reads."""
_READ_REMOTE: Final = 8 * 1024 * 1024
"""The largest size, in bytes, of delete files that the driver reads through the JVM."""
_KEPT_EVENTS: Final = 4_000_000
"""Delete events that the cache keeps, at 24 bytes each."""
_KEPT_SCANS: Final = 8
_KEPT_CONDITIONS: Final = 8
_THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class DeleteBits:
    """A bitmap of deleted rows, the literal, an array of arrays, that contains its bits, and the conditions of the last
    scans, by their SQL: what is known of the rows changes with the data files."""

    bitmap: DeleteBitmap
    masks: Column
    _conditions: dict[str, ResolvedCondition] = field(default_factory=dict, compare=False)

    def condition(self, sql: str, resolve: Callable[[str], ResolvedCondition]) -> ResolvedCondition:
        found = self._conditions.get(sql)
        if found is None:
            found = resolve(sql)
            if len(self._conditions) >= _KEPT_CONDITIONS:
                self._conditions.clear()
            self._conditions[sql] = found
        return found


@dataclass(slots=True)
class DeleteCache:
    """Delete events by file, and the bitmaps of the last scans. Threads that miss an entry at once both compute it."""

    _keys: dict[Hashable, DeleteKeys] = field(default_factory=dict)
    _scans: dict[Hashable, DeleteBits | None] = field(default_factory=dict)

    def bits(self, java: Jvm, files: FileSystem, deletes: Sequence[SourceFile]) -> DeleteBits | None:
        """The deleted rows of a scan; None if no bitmap can represent them. Raises MALFORMED_LAYOUT."""
        if not _may_be_read_here(files, deletes):
            return None
        wanted = (java, *((f.part, _name(f)) for f in deletes))
        if wanted not in self._scans:
            found = self._bits(java, files, deletes)
            while len(self._scans) >= _KEPT_SCANS:
                self._scans.pop(next(iter(self._scans)))
            self._scans[wanted] = found
        return self._scans[wanted]

    def _bits(self, java: Jvm, files: FileSystem, deletes: Sequence[SourceFile]) -> DeleteBits | None:
        keys = self._read(files, deletes)
        bitmap = delete_bitmap(concatenated(keys)) if keys else None
        if bitmap is None:
            return None
        return DeleteBits(bitmap, java.long_arrays(bitmap.masks))

    def _read(self, files: FileSystem, deletes: Sequence[SourceFile]) -> list[DeleteKeys] | None:
        """The events of each file; None if pyarrow cannot read one of the files."""
        known = dict(self._keys)
        missing = [f for f in deletes if _name(f) not in known]
        if missing:
            with ThreadPoolExecutor(min(_THREADS, len(missing))) as pool:
                found = list(pool.map(lambda f: _read_file(files, f), missing))
            known.update({_name(f): keys for f, keys in zip(missing, found, strict=True) if keys is not None})
            self._keep(known)
        try:
            of_files = [known[_name(f)] for f in deletes]
        except KeyError:
            return None
        pairs = zip(deletes, of_files, strict=True)
        return [DeleteKeys(np.full(len(k.row), f.part), k.write_id, k.bucket, k.row) for f, k in pairs]

    def _keep(self, known: dict[Hashable, DeleteKeys]) -> None:
        """Keeps the newest entries that fit."""
        room = _KEPT_EVENTS
        kept: dict[Hashable, DeleteKeys] = {}
        for name, keys in reversed(known.items()):
            room -= len(keys.row)
            if room < 0:
                break
            kept[name] = keys
        self._keys = dict(reversed(kept.items()))


def _may_be_read_here(files: FileSystem, deletes: Sequence[SourceFile]) -> bool:
    events = sum(f.tail.rows for f in deletes if f.tail is not None)
    return events <= _READ_HERE and (not isinstance(files, HadoopFiles) or sum(f.size for f in deletes) <= _READ_REMOTE)


def _name(file: SourceFile) -> Hashable:
    return file.sized, file.hidden


def _read_file(files: FileSystem, file: SourceFile) -> DeleteKeys | None:
    """The delete events of a file, without their partition."""
    from pyarrow import orc

    try:
        # Right after the listing, with the locks of the statement: a remote file system is not asked again.
        with same_file(files, file.sized, *FILE_ERRORS, only_errors=not isinstance(files, LocalFiles)):
            stored = files.read(file.path)
        content = orc.ORCFile(pa.BufferReader(stored))
        columns = content.read(columns=content.schema.names[:5])
        operation, write_id, bucket, row, deleter = (_longs(c) for c in columns.columns)
    except (pa.ArrowException, ValueError):
        return None
    seen = visible_mask(deleter, file.hidden)
    if (operation[seen] != OPERATION_DELETE).any():
        reason = "a delete_delta holds an event that is not a delete"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=file.origin, reason=reason)
    return DeleteKeys(row[:0], write_id[seen], bucket[seen], row[seen])


def _longs(column: Any) -> Longs:
    if column.null_count:
        raise ValueError("no row ID")
    return np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)
