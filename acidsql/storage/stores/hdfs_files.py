"""Files in HDFS by the library hdfs-native, without a JVM."""

from __future__ import annotations

import atexit
import errno
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import time
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File
from acidsql.storage.file_systems import (
    PIECE,
    SCRATCH,
    Extent,
    FileSystem,
    Listing,
    NewEnd,
    Piece,
    SizedFile,
    assembled,
    copied_and_placed,
    listing_of,
    require_no_directory,
)
from acidsql.storage.range_file import RangeFile
from acidsql.storage.stores.hdfs_requests import LostAnswerError, ask, is_open, os_errors
from acidsql.storage.stores.hdfs_streams import Content
from acidsql.storage.stores.store_paths import canonical_path, normal_path

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus
    from hdfs_native._internal import RawFileWriter

T = TypeVar("T")

_LISTED_TOGETHER: Final = 8
"""How many directories are listed at the same time. The library releases Python's lock while it waits."""
_TRASH: Final = ".Trash/Current"
"""In the home directory of the user, which the library puts before a path that is not absolute."""
_TRASHED: Final = "/.Trash/"
_PATIENCE: Final = 60.0
_OPENED_IN: Final[list[int]] = []
"""The process that has used the library first."""


class HdfsFiles:
    """The files of one HDFS, a name node or a name service.

    It differs from Hadoop's client (acidsql.storage.hadoop_files) in what the library does not give:

    - A file has no identity, as its status has no number of the inode. It is told from a later one of the same path by
      its size and the milliseconds of its modification time, which is the moment when it was closed last, and which a
      rename keeps. What was listed by Hadoop's client must not be compared with what is found here.
    - What a writer has flushed into a block that is still open cannot be read: the files of a streaming client of Hive
      that has a batch open. Hadoop's client reads them, where it is given; else an error says so.
    - Where a directory has default ACLs, new files and directories get no more permissions than `umask` leaves.
    - The trash of an encryption zone is not known. A path in such a zone is not moved to the trash, nor deleted.

    All methods may be called by several threads. A process that is forked from one that has used HDFS cannot use it:
    the library keeps connections and threads for the whole process. Its methods raise OSError there.

    A name node that cannot be reached is awaited as `dfs.client.failover.max.attempts` and its neighbours say in the
    settings of the client (two to three minutes by default), and one that has just been started as `patience` says. If
    an answer is lost, the request is repeated where that does no harm; an append or a new file is not, and raises
    OSError.
    """

    reads_opened = True

    def __init__(
        self,
        client: Client,
        authority: str,
        hadoop: Callable[[], FileSystem] | None = None,
        *,
        scheme: str = "hdfs",
        umask: int = 0o022,
        replication: int | None = None,
        block_size: int | None = None,
        trash_minutes: float = 0,
        patience: float = _PATIENCE,
    ) -> None:
        """`client` is that of the name node, the name service or the mount table `authority`, and paths are
        URIs `hdfs://authority/path` (or of the other `scheme`, `viewfs`), without escapes. `hadoop` gives the
        files of Hadoop's client. `umask`, `replication` and `block_size` are those of new files
        (fs.permissions.umask-mode, dfs.replication, dfs.blocksize); the server gives the last two by default.
        `trash_minutes` is the client's fs.trash.interval, which counts if the server has none. `patience` is in
        seconds."""
        self._root = f"{scheme}://{authority}"
        self._opened = client
        self._hadoop = hadoop
        self._umask = umask
        self._replication, self._block_size = replication, block_size
        self._keeps_trash = trash_minutes > 0
        self._patience = patience
        self._scratch: list[str] = []
        if not _OPENED_IN:
            _OPENED_IN.append(os.getpid())

    def new_end(self, path: str) -> NewEnd:
        return NewEnd.BEHIND

    def resolve(self, location: str) -> str:
        return location

    def canonical(self, path: str, beside: str) -> str:
        """Does not open the file system of `path`: this machine may not know it."""
        return canonical_path(path, self._root)

    def list_below(self, directory: str) -> Listing:
        """Lists level by level, the directories of a level at the same time."""
        root = self._name(directory)
        files: list[File] = []
        directories: list[str] = []
        _walk(root, "", self._statuses_below(root), files, directories)
        return listing_of(files, directories)

    def _statuses_below(self, root: str) -> dict[str, list[FileStatus]]:
        """The entries of a directory and of all below that are not hidden, by the path of the directory."""
        found = {root: self._statuses(root)}
        level = _visible(found[root], root)
        if not level:
            return found
        with ThreadPoolExecutor(min(_LISTED_TOGETHER, len(level) * 4)) as pool:
            while level:
                found |= (listed := dict(zip(level, pool.map(self._statuses, level), strict=True)))
                level = [path for where, entries in listed.items() for path in _visible(entries, where)]
        return found

    def _statuses(self, where: str) -> list[FileStatus]:
        """The entries of a directory; none if it is missing, or was removed since it was listed."""
        try:
            return self._ask(where, lambda: list(self._client.list_status(where)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        entries = self._statuses(self._name(directory))
        names = [entry.path.rpartition("/")[2] for entry in entries if entry.isdir]
        return [name for name in names if name.startswith(prefix)]

    def exists(self, path: str) -> bool:
        return self._status(path) is not None

    def _status(self, path: str) -> FileStatus | None:
        name = self._name(path)
        try:
            return self._ask(path, lambda: self._client.get_file_info(name))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def make_directories(self, path: str) -> None:
        name = self._name(path)
        self._ask(path, lambda: self._client.mkdirs(name, 0o777 & ~self._umask, create_parent=True), repeats=True)

    def make_new_directory(self, path: str, siblings: Collection[str] | None = None) -> None:
        require_no_directory(self, path, siblings)
        self.make_directories(path)

    def rename(self, old: str, new: str) -> None:
        """If the answer is lost, it is repeated. If the file has gone then and `new` is there, the first request has
        moved it."""
        source, target = self._name(old), self._name(new)
        try:
            self._ask(old, lambda: self._client.rename(source, target))
        except LostAnswerError:
            try:
                self._ask(old, lambda: self._client.rename(source, target), repeats=True)
            except FileNotFoundError:
                if not self.exists(new):
                    raise

    def place(self, old: str, new: str) -> bool:
        try:
            self.rename(old, new)
        except FileExistsError:
            return False
        except OSError:
            if self._is_directory(new):  # HDFS has no error of its own for this
                return False
            raise
        return True

    def _is_directory(self, path: str) -> bool:
        with suppress(OSError):
            status = self._status(path)
            return status is not None and status.isdir
        return False

    def place_pieces(self, pieces: Sequence[Piece], new: str) -> bool:
        return assembled(self, pieces, new)

    def copy(self, source: str, target: str) -> None:
        content = self._content(source)
        self._write(target, (content.pieces(0, content.size),))

    def link(self, source: str, target: str) -> None:
        self.copy(source, target)

    def place_local(self, source: str, new: str) -> bool:
        return copied_and_placed(self, source, new)

    def take_local(self, source: str, target: str) -> None:
        with open(source, "rb") as local:
            self._write(target, (iter(lambda: local.read(PIECE), b""),))

    def file_size(self, path: str) -> int | None:
        status = self._status(path)
        return None if status is None or status.isdir else status.length

    def find_file(self, path: str) -> File | None:
        status = self._status(path)
        return None if status is None or status.isdir else _listed(path, status)

    def delete(self, path: str) -> None:
        name = self._name(path)
        self._ask(path, lambda: self._client.delete(name, recursive=True), repeats=True)

    def delete_empty(self, directory: str) -> None:
        name = self._name(directory)
        with suppress(OSError):
            self._ask(directory, lambda: self._client.delete(name, recursive=False))

    def move_to_trash(self, path: str) -> bool:
        """The trash is that of the server's or client's `fs.trash.interval` (org.apache.hadoop.fs.Trash). Also False if
        the trash refuses the file, for example because the user has no home directory: as in Hive, the file is deleted
        then. The rows of an overwritten table must not stay beside the new ones. Raises OSError if the answer of HDFS
        is lost, or for a path in an encryption zone."""
        from hdfs_native import TrashNotEnabledError

        name = self._name(path)
        try:
            try:
                return self._ask(path, lambda: self._client.trash(name)) is not None
            except TrashNotEnabledError:
                return self._keeps_trash and self._trash(path, name)
        except LostAnswerError:
            raise
        except OSError as error:
            if "encryption zone" in (error.strerror or ""):
                raise
            return False

    def _trash(self, path: str, name: str) -> bool:
        """Moves a path to the trash of a client whose server has none (org.apache.hadoop.fs.TrashPolicyDefault)."""
        if _TRASHED in f"{name}/" or not self.exists(path):
            return False
        parent, _, last = name.rpartition("/")
        try:
            place = self._trash_place(path, f"{_TRASH}{parent}")
        except (FileExistsError, NotADirectoryError):  # a file is there that was called as a parent of this path
            place = self._trash_place(path, f"{_TRASH}/{int(time() * 1000)}{parent}")
        try:
            self._ask(path, lambda: self._client.rename(name, f"{place}/{last}"))
        except FileExistsError:
            self._ask(path, lambda: self._client.rename(name, f"{place}/{last}{int(time() * 1000)}"))
        return True

    def _trash_place(self, path: str, place: str) -> str:
        self._ask(path, lambda: self._client.mkdirs(place, 0o700, create_parent=True), repeats=True)
        return place

    def write(self, path: str, content: bytes) -> None:
        try:
            self._write(path, (_pieces(content),))
        except LostAnswerError:
            self._write(path, (_pieces(content),))

    def _write(self, path: str, contents: Iterable[Iterable[bytes]], *, overwrites: bool = True) -> None:
        """Writes pieces of at most PIECE bytes, which no block is smaller than. If that fails, the new file stays open
        and is nobody's until it is removed or a minute has passed, as if the process had ended."""
        out = self._create(path, overwrites=overwrites)
        is_first = True
        for content in contents:
            for piece in content:
                if is_first:  # there may be no data node yet behind a start of HDFS
                    self._ask(path, partial(out.write, piece))
                    is_first = False
                    continue
                with os_errors(path):
                    out.write(piece)
        with os_errors(path):
            out.close()

    def _create(self, path: str, *, overwrites: bool) -> RawFileWriter:
        """The library's own FileWriter closes the file when Python forgets it, also behind a failure in the middle of
        the file, and waits for minutes if the name node has gone. What it wraps does not."""
        from hdfs_native import WriteOptions

        name = self._name(path)
        options = WriteOptions(
            block_size=self._block_size,
            replication=self._replication,
            permission=0o666 & ~self._umask,
            overwrite=overwrites,
            create_parent=True,
        )
        return self._ask(path, lambda: self._client.inner.create(name, options))

    def read(self, path: str) -> bytes:
        size = self.file_size(path)
        content = self._content(path)
        return content.read(0, content.size if size is None else size)

    def read_if_there(self, path: str) -> bytes | None:
        try:
            content = self._content(path)
        except FileNotFoundError:
            return None
        if not content.size and self._hadoop is not None:  # all of it may lie in an open block
            return self._hadoop().read_if_there(path)
        return content.read(0, content.size)

    def _content(self, path: str) -> Content:
        name = self._name(path)
        return Content(path, lambda: self._ask(path, lambda: self._client.read(name)))

    def read_end(self, path: str, size: int, count: int) -> bytes:
        length = min(size, count)
        content = self._content(path)
        if content.size < size and self._hadoop is not None:
            return self._hadoop().read_end(path, size, count)
        return content.read(size - length, length)

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        self.assemble(to, (Extent(path, 0, count), end))

    def assemble(self, path: str, pieces: Iterable[Piece]) -> None:
        """Raises FileExistsError."""
        contents = [self._pieces(piece) for piece in pieces]  # opens what is read, before there is a new file
        self._write(path, contents, overwrites=False)

    def _pieces(self, piece: Piece) -> Iterable[bytes]:
        if isinstance(piece, bytes):
            return _pieces(piece)
        content, end = self._content(piece.path), piece.start + piece.length
        if content.size < end and self._hadoop is not None:
            return (self._hadoop().read_end(piece.path, end, piece.length),)
        return content.pieces(piece.start, piece.length)

    def scratch_directory(self, path: str) -> str:
        """Makes it in /tmp, where Hive has its scratch directories (hive.exec.scratchdir)."""
        directory = f"{self._root}/tmp/{SCRATCH}{uuid.uuid4()}"
        self.make_directories(directory)
        if not self._scratch:
            atexit.register(self._remove_scratch, os.getpid())
        self._scratch.append(directory)
        return directory

    def _remove_scratch(self, process: int) -> None:
        """Does not wait for a name node that has gone, as a process that ends must not."""
        if os.getpid() != process or not is_open(self._root):
            return
        with suppress(OSError):
            for directory in self._scratch:
                self.delete(directory)

    def open(self, path: str) -> BinaryIO:
        content = self._content(path)
        return _opened(content, content.size)

    def open_listed(self, file: SizedFile) -> BinaryIO:
        """Compares the file behind the request for the places of its blocks, which are those of one file."""
        content = self._content(file.path)
        if content.size < file.size and self._hadoop is not None:
            return self._hadoop().open_listed(file)
        found = self.find_file(file.path)
        if found is None or not (file.may_grow or (found.length, found.modified) == (file.size, file.modified)):
            raise OSError(errno.ESTALE, "it is another file than the one that was listed", file.path)
        return _opened(content, file.size)

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        raise OSError(errno.ENOTSUP, "the end of a file cannot be rewritten on this file system", path)

    def append(self, path: str, content: bytes) -> None:
        """Raises OSError if another client has the file open. One that has ended without closing it counts as such for
        a minute; then this takes the file from it. Just behind a restart of HDFS it also fails, where no data node has
        reported the last block, and the file is open then: who reads the file before waits for that."""
        name = self._name(path)
        try:
            out = self._ask(path, lambda: self._client.inner.append(name))
        except FileExistsError as error:
            raise OSError(errno.EBUSY, error.strerror, path) from error
        with os_errors(path):
            out.write(content)
            out.close()

    def _ask(self, path: str, request: Callable[[], T], *, repeats: bool = False) -> T:
        return ask(path, request, self._patience, repeats=repeats)

    @property
    def _client(self) -> Client:
        if os.getpid() != _OPENED_IN[0]:
            reason = f"process {_OPENED_IN[0]} has used it, and this one is forked from it: start a new process instead"
            raise OSError(errno.ENOTCONN, f"HDFS cannot be used here, because {reason}", self._root)
        return self._opened

    def _name(self, path: str) -> str:
        """The path without scheme and authority, as the library takes it."""
        if path != self._root and not path.startswith(f"{self._root}/"):
            raise OSError(errno.EINVAL, f"the path does not lie in {self._root}", path)
        return normal_path(path[len(self._root) :])


def _visible(entries: Iterable[FileStatus], where: str) -> list[str]:
    """The paths of the directories that are not hidden, of those in the directory `where`."""
    names = (entry.path.rpartition("/")[2] for entry in entries if entry.isdir)
    return [f"{where.rstrip('/')}/{name}" for name in names if not is_hidden(name)]


def _walk(
    where: str, prefix: str, found: dict[str, list[FileStatus]], files: list[File], directories: list[str]
) -> None:
    """Adds what was found below a directory, in the order of Hadoop's listing."""
    for entry in found.get(where, ()):
        name = entry.path.rpartition("/")[2]
        path = f"{prefix}/{name}" if prefix else name
        if not entry.isdir:
            files.append(_listed(path, entry))
            continue
        directories.append(path)
        if not is_hidden(name):
            _walk(f"{where.rstrip('/')}/{name}", path, found, files, directories)


def _opened(content: Content, size: int) -> BinaryIO:
    """The first `size` bytes of a file for random access."""
    opened = RangeFile(size, lambda ranges: [content.read(start, end - start) for start, end in ranges])
    return cast(BinaryIO, opened)


def _listed(path: str, status: FileStatus) -> File:
    return File(path, status.length, status.modification_time)


def _pieces(content: bytes) -> Iterable[bytes]:
    return (content[start : start + PIECE] for start in range(0, len(content), PIECE))
