"""The files of the operating system as a file system."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlparse

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File
from acidsql.storage.file_systems import (
    PIECE,
    SCRATCH,
    Extent,
    Listing,
    NewEnd,
    Piece,
    SizedFile,
    copied_and_placed,
    listing_of,
)


class LocalFiles:
    """The files of the operating system, without Hadoop's checksum files."""

    reads_opened = True

    def new_end(self, path: str) -> NewEnd:
        return NewEnd.IN_PLACE

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
            return  # the directory is missing, or was removed since it was listed
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            if entry.is_dir():
                directories.append(path)
                if not is_hidden(entry.name):
                    self._walk(root, path, files, directories)
            elif not (entry.name.startswith(".") and entry.name.endswith(".crc")):
                found = _stat(entry)
                if found is not None:
                    files.append(_listed(path, found))

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

    def make_new_directory(self, path: str, siblings: Collection[str] | None = None) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def place(self, old: str, new: str) -> bool:
        try:
            os.link(old, new)  # a rename would silently replace an existing file
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if os.path.exists(new):
                return False
            os.rename(old, new)
            return True
        os.unlink(old)
        return True

    def place_pieces(self, pieces: Sequence[Piece], new: str) -> bool:
        if os.path.exists(new):
            return False
        self.assemble(new, pieces)
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

    def place_local(self, source: str, new: str) -> bool:
        return copied_and_placed(self, source, new)

    def file_size(self, path: str) -> int | None:
        return os.path.getsize(path) if os.path.isfile(path) else None

    def find_file(self, path: str) -> File | None:
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return None if stat.S_ISDIR(found.st_mode) else _listed(path, found)

    def delete(self, path: str) -> None:
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
            if os.path.isdir(path):  # a file was added during the removal
                shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink(missing_ok=True)

    def delete_empty(self, directory: str) -> None:
        with suppress(OSError):
            os.rmdir(directory)

    def move_to_trash(self, path: str) -> bool:
        """A local file system has no trash of Hadoop's."""
        del path
        return False

    def write(self, path: str, content: bytes) -> None:
        Path(path).write_bytes(content)

    def read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def read_if_there(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def read_end(self, path: str, size: int, count: int) -> bytes:
        with open(path, "rb") as f:
            f.seek(max(0, size - count))
            return f.read(min(size, count))

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        self.assemble(to, (Extent(path, 0, count), end))

    def assemble(self, path: str, pieces: Iterable[Piece]) -> None:
        with open(path, "wb") as out:
            for piece in pieces:
                if isinstance(piece, bytes):
                    out.write(piece)
                else:
                    _copy(piece, out)

    def scratch_directory(self, path: str) -> str:
        directory = tempfile.mkdtemp(prefix=SCRATCH)
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        return directory

    def open(self, path: str) -> BinaryIO:
        return Path(path).open("rb")

    def open_listed(self, file: SizedFile) -> BinaryIO:
        opened = self.open(file.path)
        found = _listed(file.path, os.fstat(opened.fileno()))
        if (found.identity, found.changed) != (file.identity, file.changed) and not file.may_grow:
            opened.close()
            raise OSError(f"{file.path} is another file than the one that was listed")
        return opened

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(end)
            f.truncate()

    def append(self, path: str, content: bytes) -> None:
        with open(path, "ab") as f:
            f.write(content)


def _copy(extent: Extent, out: BinaryIO) -> None:
    with open(extent.path, "rb", buffering=0) as source:
        source.seek(extent.start)
        remaining = extent.length
        while remaining and (read := source.read(min(remaining, PIECE))):
            out.write(read)
            remaining -= len(read)
    if remaining:
        raise OSError(f"{extent.path} ends {remaining} bytes before the end of the extent that is copied")


def _listed(path: str, found: os.stat_result) -> File:
    return File(path, found.st_size, found.st_mtime_ns // 1_000_000, str(found.st_ino), found.st_ctime_ns)


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except FileNotFoundError:
        return None
