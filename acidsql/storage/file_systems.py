"""The protocol of a file system, and what its implementations have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from errno import EEXIST
from typing import BinaryIO, Final, Protocol, TypeAlias
from urllib.parse import urlparse

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File
from acidsql.errors import AcidSqlError, Condition

_LOCAL_SCHEMES: Final = ("", "file")
SCRATCH: Final = "acidsql-read-"
PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class SizedFile:
    """An absolute path with the file's size in bytes, its times and its identity, as in File. They tell a file from a
    later one of the same name (acidsql.storage.file_identity).

    If a streaming client still writes to the file, the size is that of the committed part.
    """

    path: str
    size: int
    modified: int
    identity: str = ""
    changed: int = 0
    may_grow: bool = False
    """Whether a streaming client may have written to the file since it was listed, so that its size and modification
    time may be later ones."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of a directory at every depth, except that of hidden directories. Paths are relative to it."""

    files: tuple[File, ...]
    directories: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """The hidden directories."""


@dataclass(frozen=True, slots=True)
class Extent:
    """`length` bytes of a file, from the offset `start`."""

    path: str
    start: int
    length: int


Piece: TypeAlias = "bytes | Extent"
"""A piece of a new file."""


def length_of(piece: Piece) -> int:
    return piece.length if isinstance(piece, Extent) else len(piece)


class NewEnd(Enum):
    """How a file gets another end than its writer gave it."""

    IN_PLACE = auto()
    BEHIND = auto()
    """Behind the old end, as on HDFS, whose files can only grow."""
    IN_A_COPY = auto()
    """As in object stores, whose files never change: the file that is moved to its place is made of pieces instead."""


class FileSystem(Protocol):
    """The operations on files. Paths are absolute, as `resolve` gives them."""

    @property
    def reads_opened(self) -> bool:
        """Whether `open_listed` gives the listed file itself, however long it is read, or raises an OSError if another
        one lies at its path. Else the caller compares the files with each piece (acidsql.storage.file_identity)."""
        ...

    def new_end(self, path: str) -> NewEnd:
        """How the file of a path gets another end."""
        ...

    def resolve(self, location: str) -> str:
        """The path of a location in the catalog."""
        ...

    def canonical(self, path: str, beside: str) -> str:
        """The one canonical name of a directory: links and `..` are resolved, and `beside` gives a missing scheme."""
        ...

    def list_below(self, directory: str) -> Listing:
        """Lists a directory; an empty listing if it is missing."""
        ...

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        """The names of subdirectories, hidden or not, that begin with `prefix`; none if the directory is missing."""
        ...

    def exists(self, path: str) -> bool: ...

    def make_directories(self, path: str) -> None: ...

    def make_new_directory(self, path: str, siblings: Collection[str] | None = None) -> None:
        """Makes a directory and its parents. `siblings` are the names of the directories beside it, if they were listed
        just now. Raises FileExistsError if it exists."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Moves a file; `new` must not exist."""
        ...

    def place(self, old: str, new: str) -> bool:
        """Moves a file, unless `new` exists: then it returns False and does nothing."""
        ...

    def place_pieces(self, pieces: Sequence[Piece], new: str) -> bool:
        """Writes the pieces into a new file, unless `new` exists: then it returns False and does nothing."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copies a file of this file system."""
        ...

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name, for a source that will be removed. Copies it where links are not possible."""
        ...

    def take_local(self, source: str, target: str) -> None:
        """Copies a file of this machine to this file system."""
        ...

    def place_local(self, source: str, new: str) -> bool:
        """Copies a complete file of this machine to a place where it appears whole, unless `new` exists: then it
        returns False and does nothing."""
        ...

    def file_size(self, path: str) -> int | None:
        """The size of a file in bytes; None for a directory, and if nothing is there."""
        ...

    def find_file(self, path: str) -> File | None:
        """The file at a path, as a listing shows it; None for a directory, and if nothing is there."""
        ...

    def delete(self, path: str) -> None:
        """Removes a file, or a directory with its content. A missing path is no error."""
        ...

    def delete_empty(self, directory: str) -> None:
        """Removes a directory if it is empty."""
        ...

    def move_to_trash(self, path: str) -> bool:
        """Moves a file or directory to the trash of its file system; False, and nothing has happened, if there is none
        or if it refuses the path. A missing path is no error."""
        ...

    def write(self, path: str, content: bytes) -> None: ...

    def read(self, path: str) -> bytes: ...

    def read_if_there(self, path: str) -> bytes | None:
        """The content of a file that another process may make, append to and remove; None if nothing is there."""
        ...

    def read_end(self, path: str, size: int, count: int) -> bytes:
        """The last `count` of the first `size` bytes of a file, or fewer if `size` is less."""
        ...

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        """Writes the first `count` bytes of a file, followed by `end`, into a new file."""
        ...

    def assemble(self, path: str, pieces: Iterable[Piece]) -> None:
        """Writes the pieces, one behind the other, into a new file."""
        ...

    def scratch_directory(self, path: str) -> str:
        """Makes a directory on the file system of `path`. It is removed when the process ends."""
        ...

    def open(self, path: str) -> BinaryIO:
        """Opens a file for random access."""
        ...

    def open_listed(self, file: SizedFile) -> BinaryIO:
        """Opens a file of a listing for random access, without a request for its length. It may be a RangeFile, whose
        reader can say beforehand what it will read."""
        ...

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        """Cuts the file at offset `at` and writes `end` there."""
        ...

    def append(self, path: str, content: bytes) -> None:
        """Appends to a file."""
        ...


FilesOf: TypeAlias = Callable[[str], FileSystem]
"""What gives the file system of a location."""


def remove_all(files: FileSystem, paths: Iterable[str]) -> bool:
    """Removes files and directories; whether all are gone. The metastore must not forget an aborted transaction before
    its files are gone: its write ID would count as committed."""
    paths = list(paths)
    for path in paths:
        files.delete(path)
    return not any(map(files.exists, paths))


def discard(files: FileSystem, path: str, *, skips_trash: bool) -> None:
    """Removes what a user may want back: a file or directory goes to the trash of its file system, as in Hive (class
    org.apache.hadoop.hive.common.FileUtils), and is deleted if there is none or it shall be skipped."""
    if skips_trash or not files.move_to_trash(path):
        files.delete(path)


def placed(files: FileSystem, old: str, new: str, pieces: Sequence[Piece] = ()) -> bool:
    """Moves a file, or makes the new one of its `pieces`; False, and nothing has happened, if `new` exists."""
    return files.place_pieces(pieces, new) if pieces else files.place(old, new)


def file_exists(path: str) -> FileExistsError:
    """The error of an operation that makes a file or directory which must not exist."""
    return FileExistsError(EEXIST, os.strerror(EEXIST), path)


def assembled(files: FileSystem, pieces: Sequence[Piece], new: str) -> bool:
    """`place_pieces` of a file system whose `assemble` refuses a file that exists."""
    try:
        files.assemble(new, pieces)
    except FileExistsError:
        return False
    return True


def require_no_directory(files: FileSystem, path: str, siblings: Collection[str] | None) -> None:
    """The check of `make_new_directory` for a file system that has no operation which fails if the directory exists.
    Raises FileExistsError."""
    there = files.exists(path) if siblings is None else path.rpartition("/")[2] in siblings
    if there:
        raise file_exists(path)


def copied_and_placed(files: FileSystem, source: str, new: str) -> bool:
    """`place_local` of a file system that can move files: the copy is hidden until it is complete."""
    directory, _, name = new.rpartition("/")
    hidden = f"{directory}/.{name}"
    files.take_local(source, hidden)
    is_placed = files.place(hidden, new)
    if not is_placed:
        files.delete(hidden)
    return is_placed


def place_new(files: FileSystem, old: str, new: str, pieces: Sequence[Piece] = ()) -> None:
    """`placed`, for a place that no other file may have. Raises MALFORMED_LAYOUT."""
    if not placed(files, old, new, pieces):
        raise is_taken(new)


def is_taken(path: str) -> AcidSqlError:
    """MALFORMED_LAYOUT, for a place that no other file may have."""
    reason = "a file lies there already, and another one was to be moved to its place"
    return AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=reason)


def end_of_pieces(files: FileSystem, pieces: Sequence[Piece], count: int) -> bytes:
    """The last `count` bytes of the pieces, or all if they have fewer."""
    end = b""
    for piece in reversed(pieces):
        missing = count - len(end)
        if missing <= 0:
            break
        if isinstance(piece, Extent):
            end = files.read_end(piece.path, piece.start + piece.length, min(missing, piece.length)) + end
        else:
            end = piece[-missing:] + end
    return end


def is_local(location: str) -> bool:
    return urlparse(location).scheme in _LOCAL_SCHEMES


def listing_of(files: Sequence[File], directories: Sequence[str]) -> Listing:
    hidden = [d for d in directories if is_hidden(d.rpartition("/")[2])]
    seen = [d for d in directories if not is_hidden(d.rpartition("/")[2])]
    return Listing(tuple(files), tuple(seen), tuple(hidden))
