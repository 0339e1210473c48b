"""Small files of a scan, read from fewer copies on this machine's disk that have the stripes of several.

Streams and DML leave many small files behind until a compaction merges them. Spark opens each of them, which takes
longer than a copy of its bytes (acidsql.storage.orc.copies). From an object store Spark reads a file with five requests
one behind the other, where a copy takes one, and files are copied side by side. Files of several partitions stay apart:
a row gets its partition from its file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pyspark import SparkContext

from acidsql.snapshot.scan_binding import BoundScan, SourceFile
from acidsql.storage.file_systems import FileSystem, NewEnd
from acidsql.storage.hadoop_files import HadoopFiles
from acidsql.storage.orc.copies import ReadableFiles, needs_another_end
from acidsql.storage.orc.stripe_appending import movable
from acidsql.storage.orc.tail import Tail

_SMALL: Final = 512 * 1024
"""The largest file that is copied, in bytes: its copy takes less than half a millisecond."""
_LEAST: Final = 4
"""Files that a copy has at least: fewer do not slow a query down much."""
_OF_COPY: Final = 8 * 1024 * 1024
"""About the largest size of a copy. A new file only makes the last copy out of date."""
_OF_SCAN: Final = 32 * 1024 * 1024
"""Bytes that a scan copies at most."""
_SMALL_IN_STORE: Final = 8 * 1024 * 1024
"""The largest file of an object store that is copied. Spark could read fewer columns, and would wait longer."""
_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class _Limits:
    """Which files a scan copies: up to `largest` bytes, and at least `least` files into one copy. `at_once` copies are
    made side by side."""

    largest: int
    least: int
    at_once: int


def runs_in_one_process(context: SparkContext) -> bool:
    """Whether all tasks run in the driver. Executors elsewhere may not see the driver's directory of temporary files,
    where copies lie, and open the small files themselves."""
    master = str(context.master)
    return master == "local" or master.startswith("local[")


def joined(bound: BoundScan, files: Sequence[SourceFile], copies: ReadableFiles) -> list[SourceFile]:
    """The files of ACID rows, with copies in the place of small ones. The copies have no tail.

    A scan that asks for row IDs or the names of files gets the files themselves: a write in place takes the rows of
    each file in their order.
    """
    limits = _limits(bound.files, files)
    if limits is None or bound.scan.row_id or bound.scan.file_name:
        return list(files)
    room = _OF_SCAN
    alike: dict[Hashable, list[tuple[SourceFile, Tail]]] = {}
    for file in files:
        kind = None if file.tail is None or file.size > min(limits.largest, room) else _kind(file.tail)
        if file.tail is not None and kind is not None:
            room -= file.size
            alike.setdefault((file.part, kind), []).append((file, file.tail))
    replaced: dict[str, SourceFile | None] = {}
    groups = [g for of_kind in alike.values() for g in _groups(of_kind) if len(g) >= limits.least]
    with ThreadPoolExecutor(limits.at_once) as pool:
        made = pool.map(lambda group: _copy(bound.files, group, copies), groups)
        for group, copy in zip(groups, made, strict=True):
            if copy is not None:
                replaced |= dict.fromkeys((f.path for f, _ in group), None)
                replaced[group[0][0].path] = copy
    read = (replaced.get(f.path, f) for f in files)
    return [f for f in read if f is not None]


def _limits(store: FileSystem, files: Sequence[SourceFile]) -> _Limits | None:
    """None where Hadoop's client would pass the content of each file through the JVM."""
    if isinstance(store, HadoopFiles):
        return None
    if files and store.new_end(files[0].path) is NewEnd.IN_A_COPY:
        return _Limits(_SMALL_IN_STORE, 1, _THREADS)
    return _Limits(_SMALL, _LEAST, 1)


def _copy(store: FileSystem, group: Sequence[tuple[SourceFile, Tail]], copies: ReadableFiles) -> SourceFile | None:
    """One file in the place of a group; None where there is no room for a copy, and Spark reads the files."""
    first = group[0][0]
    with suppress(OSError):
        copy = copies.joined(store, [(f.sized, t) for f, t in group])
        if copy is not None:
            return replace(first, path=copy.path, size=copy.size, tail=None, copy_of=first.origin)
    return None


def _kind(tail: Tail) -> Hashable | None:
    """What files have in common that one copy can hold; None for a file whose stripes cannot be moved."""
    return None if needs_another_end(tail) else movable(tail)


def _groups(files: Sequence[tuple[SourceFile, Tail]]) -> Iterator[list[tuple[SourceFile, Tail]]]:
    group: list[tuple[SourceFile, Tail]] = []
    size = 0
    for file, tail in files:
        if group and size + file.size > _OF_COPY:
            yield group
            group, size = [], 0
        group.append((file, tail))
        size += file.size
    if group:
        yield group
