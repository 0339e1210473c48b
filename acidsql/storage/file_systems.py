"""What acidsql does with files: the protocol of a file system, and local files."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol
from urllib.parse import unquote, urlparse

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File

_LOCAL_SCHEMES: Final = ("", "file")
SCRATCH: Final = "acidsql-read-"
PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class SizedFile:
    """An absolute path with the file's size in bytes and modification time, which tell a new file of the same name.

    Of a file that is still written to, the size is that of the part that is read.
    """

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything below a directory but what lies in hidden directories; paths are relative to it."""

    files: tuple[File, ...]
    directories: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """The hidden directories."""


class FileSystem(Protocol):
    """What acidsql does with files. Paths are absolute, as `resolve` gives them."""

    can_rewrite: bool
    """Whether the end of a file can be replaced in place."""

    def can_change_ends(self, path: str) -> bool:
        """Whether a file can be given another end: in place of its own, or at least behind it."""
        ...

    def resolve(self, location: str) -> str:
        """The path of a location of the catalog."""
        ...

    def canonical(self, path: str, beside: str) -> str:
        """The one name of a directory that has several: without links, `..` and what `beside` says of file systems."""
        ...

    def list_below(self, directory: str) -> Listing:
        """Nothing where the directory is missing."""
        ...

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        """The names of the directories in a directory, hidden or not, that begin so; none where it is missing."""
        ...

    def exists(self, path: str) -> bool: ...

    def make_directories(self, path: str) -> None: ...

    def make_new_directory(self, path: str) -> None:
        """And those above it. Raises FileExistsError."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Moves a file; `new` must not exist."""
        ...

    def place(self, old: str, new: str) -> bool:
        """Moves a file where nothing lies yet; False, and nothing done, where something does."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copies a file of this file system."""
        ...

    def link(self, source: str, target: str) -> None:
        """The same content under a second name, for a source that is to be removed: copied only where it must be."""
        ...

    def take_local(self, source: str, target: str) -> None:
        """Copies a file of this machine to this file system."""
        ...

    def file_size(self, path: str) -> int | None:
        """Bytes of a file; None for a directory, and where there is nothing."""
        ...

    def delete(self, path: str) -> None:
        """Removes a file, or a directory with all below it; no error where there is none."""
        ...

    def delete_empty(self, directory: str) -> None:
        """Removes a directory in which nothing lies; else nothing happens."""
        ...

    def write(self, path: str, content: bytes) -> None: ...

    def read(self, path: str) -> bytes: ...

    def read_end(self, path: str, size: int, count: int) -> bytes:
        """The last `count` of the first `size` bytes of a file, or all of them."""
        ...

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        """Writes the first `count` bytes of a file, and `end` behind them, into a new file."""
        ...

    def scratch_directory(self, path: str) -> str:
        """A new directory on the file system of `path` that is removed when the process ends."""
        ...

    def open(self, path: str) -> BinaryIO:
        """The file, to be read here and there."""
        ...

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        """Cuts the file at offset `at` and writes `end` there."""
        ...

    def append(self, path: str, content: bytes) -> None:
        """Writes behind the file's last byte."""
        ...


def remove_all(files: FileSystem, paths: Iterable[str]) -> bool:
    """Removes files and directories; whether all are gone. What an aborted transaction left must not be forgotten
    before: its write ID counts as committed then."""
    paths = list(paths)
    for path in paths:
        files.delete(path)
    return not any(map(files.exists, paths))


def is_local(location: str) -> bool:
    return urlparse(location).scheme in _LOCAL_SCHEMES


class LocalFiles:
    """The operating system's files; no check-sum files of Hadoop beside them."""

    can_rewrite = True

    def can_change_ends(self, path: str) -> bool:
        return True

    def resolve(self, location: str) -> str:
        parsed = urlparse(location)
        return unquote(parsed.path) if parsed.scheme == "file" else location

    def canonical(self, path: str, beside: str) -> str:
        return os.path.realpath(path)

    def list_below(self, directory: str) -> Listing:
        files: list[File] = []
        directories: list[str] = []
        self._walk(directory, "", files, directories)
        return listing_of(files, directories)

    def _walk(self, root: str, prefix: str, files: list[File], directories: list[str]) -> None:
        try:
            entries = list(os.scandir(os.path.join(root, prefix)))
        except (FileNotFoundError, NotADirectoryError):
            return  # missing, or removed since it was listed
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            if entry.is_dir():
                directories.append(path)
                if not is_hidden(entry.name):
                    self._walk(root, path, files, directories)
            elif not (entry.name.startswith(".") and entry.name.endswith(".crc")):
                found = _stat(entry)
                if found is not None:
                    files.append(File(path, found.st_size, found.st_mtime_ns // 1_000_000))

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        try:
            with os.scandir(directory) as entries:
                return [e.name for e in entries if e.name.startswith(prefix) and e.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def make_directories(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def make_new_directory(self, path: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def place(self, old: str, new: str) -> bool:
        try:
            os.link(old, new)  # a rename would silently replace what lies there
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if os.path.exists(new):
                return False
            os.rename(old, new)
            return True
        os.unlink(old)
        return True

    def copy(self, source: str, target: str) -> None:
        shutil.copyfile(source, target)

    def link(self, source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:  # another device, or a file system without links
            shutil.copyfile(source, target)

    def take_local(self, source: str, target: str) -> None:
        shutil.copyfile(source, target)

    def file_size(self, path: str) -> int | None:
        return os.path.getsize(path) if os.path.isfile(path) else None

    def delete(self, path: str) -> None:
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
            if os.path.isdir(path):  # a file came while it was at it
                shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink(missing_ok=True)

    def delete_empty(self, directory: str) -> None:
        with suppress(OSError):
            os.rmdir(directory)

    def write(self, path: str, content: bytes) -> None:
        Path(path).write_bytes(content)

    def read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def read_end(self, path: str, size: int, count: int) -> bytes:
        with open(path, "rb") as f:
            f.seek(max(0, size - count))
            return f.read(min(size, count))

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        with open(path, "rb") as source, open(to, "wb") as copy:
            left = count
            while left and (piece := source.read(min(left, PIECE))):
                copy.write(piece)
                left -= len(piece)
            copy.write(end)

    def scratch_directory(self, path: str) -> str:
        directory = tempfile.mkdtemp(prefix=SCRATCH)
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        return directory

    def open(self, path: str) -> BinaryIO:
        return Path(path).open("rb")

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(end)
            f.truncate()

    def append(self, path: str, content: bytes) -> None:
        with open(path, "ab") as f:
            f.write(content)


def listing_of(files: Sequence[File], directories: Sequence[str]) -> Listing:
    hidden = [d for d in directories if is_hidden(d.rpartition("/")[2])]
    seen = [d for d in directories if not is_hidden(d.rpartition("/")[2])]
    return Listing(tuple(files), tuple(seen), tuple(hidden))


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except FileNotFoundError:
        return None
