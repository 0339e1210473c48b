"""Small files of a scan, read from fewer copies that have the stripes of several.

Streams and DML leave many small files behind until a compaction merges them. Spark opens each of them, which takes
longer than a copy of its bytes (acidsql.storage.orc.copies). Files of several partitions stay apart: a row gets its
partition from its file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from pyspark import SparkContext

from acidsql.snapshot.scan_binding import BoundScan, SourceFile
from acidsql.storage.local_files import LocalFiles
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
    if not isinstance(bound.files, LocalFiles) or bound.scan.row_id or bound.scan.file_name:
        return list(files)
    room = _OF_SCAN
    alike: dict[Hashable, list[tuple[SourceFile, Tail]]] = {}
    for file in files:
        kind = None if file.tail is None or file.size > min(_SMALL, room) else _kind(file.tail)
        if file.tail is not None and kind is not None:
            room -= file.size
            alike.setdefault((file.part, kind), []).append((file, file.tail))
    replaced: dict[str, SourceFile | None] = {}
    for group in (g for of_kind in alike.values() for g in _groups(of_kind) if len(g) >= _LEAST):
        with suppress(OSError):  # without room for a copy, Spark reads the files
            copy = copies.joined(bound.files, [(f.sized, t) for f, t in group])
            if copy is not None:
                replaced |= dict.fromkeys((f.path for f, _ in group), None)
                first = group[0][0]
                replaced[first.path] = replace(first, path=copy.path, size=copy.size, tail=None, copy_of=first.origin)
    read = (replaced.get(f.path, f) for f in files)
    return [f for f in read if f is not None]


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
