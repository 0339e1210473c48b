"""Copies of ORC files that Spark's reader cannot read, and of many small ones that it reads slowly.

There are three kinds of such files. Spark takes the footer at the end of a file, so it cannot read the committed first
bytes of a file to which a streaming client still writes. It fails on a file with a TIMESTAMP_INSTANT, whether or not
the query needs that column (acidsql.storage.orc.rewrite.instants_named). And ORC's reader fails on some names with
backticks, or confuses two of them (acidsql.storage.orc.footer_messages.name_as_read).

Spark takes some two milliseconds of processor time to open a file, most of it to copy the Hadoop configuration twice.
So a copy may also have the stripes of several small files.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import urlparse

from acidsql.storage.file_identity import same_file, sized
from acidsql.storage.file_systems import FileSystem, SizedFile
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.rewrite import encode_end, encode_second_end, instants_named, with_clear_names
from acidsql.storage.orc.stripe_appending import HEADER, stripe_bytes, together
from acidsql.storage.orc.tail import Tail

_HERE: Final = LocalFiles()
_THREADS: Final = 8
_KEPT_BYTES: Final = 64 << 20
"""Bytes of copies of growing files and of several files that stay for the next statement although no frame reads
them."""
_MOST_JOINED: Final = 256 << 20
"""Bytes of copies of several files, with those that frames read: a program may keep any number of frames."""


@dataclass(slots=True, eq=False)
class _Copy:
    """A copy and its file system. `users` counts the leases that hold it."""

    files: FileSystem
    file: SizedFile
    of_whole: bool
    users: int = 0


@dataclass(slots=True)
class Copies:
    """The copies by their original files, held by the leases of the statements that read them.

    A copy of a file that grows is out of date after the next commit, so a session that reads a streamed table again and
    again makes many. Those that no lease holds are removed, the oldest first, when they are more than _KEPT_BYTES. The
    other copies stay until the process ends.
    """

    _made: dict[SizedFile | tuple[SizedFile, ...], _Copy] = field(default_factory=dict)
    _directories: dict[tuple[str, str], str] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def lease(self) -> CopyLease:
        """A lease for the copies that one statement needs."""
        return CopyLease(self)

    def take(self, files: FileSystem, file: SizedFile, tail: Tail, *, is_whole: bool) -> _Copy:
        """A copy for a lease, which must `give_back` it."""
        return self._take(file, lambda: _Copy(files, self._copy(files, file, tail), is_whole))

    def take_joined(self, files: FileSystem, originals: Sequence[tuple[SizedFile, Tail]]) -> _Copy | None:
        """One copy of several files, for a lease; None where there are too many such copies."""
        key = tuple(file for file, _ in originals)
        with self._lock:
            others = sum(copy.file.size for known, copy in self._made.items() if isinstance(known, tuple))
            if key in self._made:
                found = self._find(key)
                if found is not None:
                    return found
            elif others + sum(file.size for file in key) > _MOST_JOINED:
                return None
        contents = _contents(files, key)  # without the lock: others read at the same time
        return self._take(key, lambda: _Copy(_HERE, self._joined(contents, originals), of_whole=False))

    def _take(self, original: SizedFile | tuple[SizedFile, ...], make: Callable[[], _Copy]) -> _Copy:
        with self._lock:
            known = self._find(original)
            if known is not None:
                return known
            copy = self._made[original] = make()
            copy.users += 1
            return copy

    def _find(self, original: SizedFile | tuple[SizedFile, ...]) -> _Copy | None:
        """A copy that was made before, for a lease; it is the newest now. The caller has the lock."""
        known = self._made.pop(original, None)
        if known is None or not known.files.exists(known.file.path):
            return None  # the system may have cleaned its directory of temporary files
        self._made[original] = known
        known.users += 1
        return known

    def give_back(self, copies: list[_Copy]) -> None:
        """Ends the use of copies, and removes those for which there is no room."""
        with self._lock:
            for copy in copies:
                copy.users -= 1
            unused = [(original, c) for original, c in self._made.items() if not (c.of_whole or c.users)]
            room = _KEPT_BYTES
            for original, copy in reversed(unused):
                room -= copy.file.size
                if room < 0:
                    del self._made[original]
                    with suppress(*FILE_ERRORS):
                        copy.files.delete(copy.file.path)

    def _joined(self, contents: Sequence[bytes], originals: Sequence[tuple[SizedFile, Tail]]) -> SizedFile:
        """A file of this machine with the stripes of several files."""
        stripes = [stripe_bytes(content, tail) for content, (_, tail) in zip(contents, originals, strict=True)]
        tail = together([(tail, len(data)) for (_, tail), data in zip(originals, stripes, strict=True)])
        to = f"{self._directory(_HERE, '')}/{uuid.uuid4().hex}"
        _HERE.write(to, b"".join((HEADER, *stripes, encode_second_end(tail))))
        return _sized(_HERE, to)

    def _copy(self, files: FileSystem, file: SizedFile, tail: Tail) -> SizedFile:
        to = f"{self._directory(files, file.path)}/{uuid.uuid4().hex}"
        if not needs_another_end(tail):
            with same_file(files, file, *FILE_ERRORS):
                files.copy_start(file.path, file.size, b"", to)
            return _sized(files, to)
        end = encode_end(instants_named(tail if tail.has_clear_names else with_clear_names(tail, tail.row_names)))
        with same_file(files, file, *FILE_ERRORS):
            files.copy_start(file.path, tail.footer_start, end, to)
        return _sized(files, to)

    def _directory(self, files: FileSystem, path: str) -> str:
        parsed = urlparse(path)
        where = (parsed.scheme, parsed.netloc)
        known = self._directories.get(where)
        if known is None or not files.exists(known):  # the system may have cleaned its directory of temporary files
            self._directories[where] = files.scratch_directory(path)
        return self._directories[where]


@dataclass(slots=True)
class CopyLease:
    """The copies that one statement reads, until `end`: when its job has run, or when no frame reads them any more."""

    _copies: Copies
    _held: list[_Copy] = field(default_factory=list)

    def readable(self, files: FileSystem, file: SizedFile, tail: Tail, *, is_whole: bool) -> SizedFile:
        """The file itself, or a copy that Spark can read. `is_whole` tells that the file has no more bytes than those
        of `file`, and will have no more: Spark looks for its end when it reads it."""
        if is_whole and not needs_another_end(tail):
            return file
        copy = self._copies.take(files, file, tail, is_whole=is_whole)
        self._held.append(copy)
        return copy.file

    def joined(self, files: FileSystem, originals: Sequence[tuple[SizedFile, Tail]]) -> SizedFile | None:
        """One file with the stripes of several, which Spark can read as they are and whose tails are `movable`
        alike; None where there are too many such files. Raises OSError where there is no room for it."""
        copy = self._copies.take_joined(files, originals)
        if copy is None:
            return None
        self._held.append(copy)
        return copy.file

    def end(self) -> None:
        """Ends the use of the copies. A second call does nothing."""
        held, self._held = self._held, []
        if held:
            self._copies.give_back(held)


@dataclass(frozen=True, slots=True)
class OriginalFiles:
    """In the place of a lease, for a reader that reads the committed part of any file without a copy."""

    def readable(self, files: FileSystem, file: SizedFile, tail: Tail, *, is_whole: bool) -> SizedFile:
        """The file itself."""
        return file

    def joined(self, files: FileSystem, originals: Sequence[tuple[SizedFile, Tail]]) -> None:
        """No copy."""

    def end(self) -> None:
        """Does nothing."""


ReadableFiles: TypeAlias = CopyLease | OriginalFiles
"""What gives the files that a reader opens in the place of a table's."""


def _contents(files: FileSystem, listed: Sequence[SizedFile]) -> list[bytes]:
    def content(file: SizedFile) -> bytes:
        checked = same_file(files, file, *FILE_ERRORS, only_errors=files.reads_opened)
        with checked, files.open_listed(file) as opened:
            return opened.read()

    if isinstance(files, LocalFiles):
        return [content(file) for file in listed]
    with ThreadPoolExecutor(min(_THREADS, len(listed))) as pool:
        return list(pool.map(content, listed))


def _sized(files: FileSystem, path: str) -> SizedFile:
    """A copy that was just made."""
    found = files.find_file(path)
    if found is None:
        raise OSError(f"{path} is gone: something removes the files of a directory of temporary files")
    return sized(path, found)


def needs_another_end(tail: Tail) -> bool:
    """Whether Spark cannot read the file with the end that it has."""
    return tail.has_unnamed_instants or not tail.has_clear_names
