"""Files of an object store, by obstore in this process: few requests, and those that can be are made at once.

A store has no directories: they are what the keys of files have in common. Hadoop's client marks a directory by an
empty object whose key ends with `/`. obstore gives that key without the slash, so that a listing looks again where an
empty object may be a marker.
"""

from __future__ import annotations

import atexit
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from errno import EINVAL, ENOENT
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import obstore
from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File
from acidsql.storage.file_systems import (
    SCRATCH,
    Extent,
    FileSystem,
    Listing,
    NewEnd,
    Piece,
    SizedFile,
    assembled,
    file_exists,
    listing_of,
    require_no_directory,
)
from acidsql.storage.range_file import Range, RangeFile
from acidsql.storage.s3_multipart import WRITE_METADATA
from acidsql.storage.stores.kept_ends import KeptEnds
from acidsql.storage.stores.object_store_errors import os_errors
from acidsql.storage.stores.store_paths import canonical_path

_THREADS: Final = 32
"""Requests of this process at a time."""
_WHOLE: Final = 1024 * 1024
"""Bytes of a file that is read whole where its end is wanted: the time of a request counts, not its bytes."""
_END: Final = 128 * 1024
"""Bytes that are read from the end of a larger file, at least."""
_ONE_REQUEST: Final = 32 * 1024 * 1024
"""Bytes that are sent in one request, which the store refuses if the object exists. More are sent in parts."""
_MOST_HELD: Final = 16 * 1024 * 1024
"""Bytes of other objects that this process reads to write a new one. Hadoop's client lets the store copy them."""
_PAGE: Final = 1000
_LIKE_DIRECTORIES: Final = re.compile(r"(base|delta|delete_delta)_\d+|_temporary$|\.acidsql_staging")
"""The beginning of names that only directories of a table have."""


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="acidsql-store")


os.register_at_fork(after_in_child=_pool.cache_clear)


class ObjectStoreFiles:
    """The files of a bucket. It may be used by several threads."""

    reads_opened = True
    """Each request asks for the object with the entity tag that was listed."""

    def __init__(
        self,
        store: Any,
        root: str,
        hadoop: Callable[[], FileSystem],
        delete_markers: Callable[[str], None] = lambda _: None,
        *,
        has_trash: bool = False,
    ) -> None:
        """`store` is one of obstore.store, `root` the scheme and the bucket of its paths, as in `s3a://bucket`.
        `hadoop` gives the files of Hadoop's client, for what obstore cannot do. `delete_markers` removes the markers of
        a directory, and of those below it, by its key. `has_trash` tells that Hadoop's client moves removed files to a
        trash."""
        self._store = store
        self._root = root.rstrip("/")
        self._hadoop = hadoop
        self._delete_markers = delete_markers
        self._has_trash = has_trash
        self._ends = KeptEnds()
        self._takes_conditions = True
        """Whether the store, as far as is known, writes an object only if it is missing."""

    # -- names

    def _key(self, path: str) -> str:
        if path != self._root and not path.startswith(f"{self._root}/"):
            raise OSError(EINVAL, f"the path does not lie in {self._root}", path)
        return re.sub("/+", "/", path[len(self._root) :]).strip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def new_end(self, path: str) -> NewEnd:
        return NewEnd.IN_A_COPY

    def resolve(self, location: str) -> str:
        return location

    def canonical(self, path: str, beside: str) -> str:
        return canonical_path(path, self._root)

    # -- listings

    def list_below(self, directory: str) -> Listing:
        root = self._key(directory)
        found = [meta for meta in self._objects(root) if meta["path"] != root]
        is_parent = {parent for meta in found for parent in _parents(meta["path"])}
        files: list[File] = []
        directories: dict[str, None] = {}
        empty: dict[str, set[str]] = {}
        for meta in found:
            path = meta["path"][len(root) + 1 :] if root else meta["path"]
            parents = path.split("/")[:-1]
            hidden = next((depth for depth, name in enumerate(parents) if is_hidden(name)), None)
            shown = parents if hidden is None else parents[: hidden + 1]
            directories |= dict.fromkeys("/".join(shown[: depth + 1]) for depth in range(len(shown)))
            if hidden is None and not self._is_marker(meta, is_parent, empty):
                files.append(_listed(path, meta))
            elif hidden is None:
                directories[path] = None
        return listing_of(files, list(directories))

    def _is_marker(self, meta: Any, parents: Collection[str], known: dict[str, set[str]]) -> bool:
        """Whether an object marks a directory. `parents` are the keys of directories with files, `known` the keys of
        directories by the directory they lie in, as far as the store was asked."""
        if meta["size"]:
            return False
        key = str(meta["path"])
        above, _, name = key.rpartition("/")
        if key in parents or _LIKE_DIRECTORIES.match(name):
            return True
        if above not in known:
            with self._errors(above):
                known[above] = set(obstore.list_with_delimiter(self._store, above or None)["common_prefixes"])
        return key in known[above]

    def _objects(self, prefix: str) -> Iterator[Any]:
        """The objects below a key."""
        with self._errors(prefix):
            for chunk in obstore.list(self._store, prefix or None, chunk_size=_PAGE):
                yield from chunk

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        """Looks at all keys below the directory, unless hidden directories are wanted: some stores (SeaweedFS) go on
        naming a directory when all its files are gone."""
        key = self._key(directory)
        if is_hidden(prefix):
            with self._errors(key):
                found = obstore.list_with_delimiter(self._store, key or None)["common_prefixes"]
            names = [path.rpartition("/")[2] for path in found]
        else:
            start = len(key) + 1 if key else 0
            below = (meta["path"][start:].partition("/") for meta in self._objects(key) if meta["path"] != key)
            names = list(dict.fromkeys(name for name, slash, _ in below if slash or _LIKE_DIRECTORIES.match(name)))
        return [name for name in names if name.startswith(prefix)]

    def exists(self, path: str) -> bool:
        key = self._key(path)
        return any(True for _ in islice(self._objects(key), 1)) or self._head(key) is not None

    def file_size(self, path: str) -> int | None:
        found = self._head(self._key(path))
        return None if found is None else int(found["size"])

    def find_file(self, path: str) -> File | None:
        found = self._head(self._key(path))
        return None if found is None else _listed(path, found)

    def _head(self, key: str) -> Any | None:
        try:
            with self._errors(key):
                return obstore.head(self._store, key)
        except FileNotFoundError:
            return None

    # -- directories

    def make_directories(self, path: str) -> None:
        """Does nothing: a directory is what its files have in common."""

    def make_new_directory(self, path: str, siblings: Collection[str] | None = None) -> None:
        require_no_directory(self, path, siblings)

    def delete(self, path: str) -> None:
        """Refuses to remove a whole bucket, as S3A does."""
        key = self._key(path)
        if not key:
            raise OSError(EINVAL, "a whole bucket is not removed", path)
        below = list(self._objects(key))
        keys = [meta["path"] for meta in below if meta["path"] != key]
        if any(not meta["size"] for meta in below):
            self._delete_markers(key)
        with self._errors(key), suppress(FileNotFoundError):
            obstore.delete(self._store, keys or key)

    def delete_empty(self, directory: str) -> None:
        """Removes the marker of the directory, if it has one and no files."""
        key = self._key(directory)
        with suppress(OSError):
            below = list(islice(self._objects(key), 2))
            if [meta["path"] for meta in below] == [key] and not below[0]["size"]:
                self._delete_markers(key)

    def move_to_trash(self, path: str) -> bool:
        return self._has_trash and self._hadoop().move_to_trash(path)

    def scratch_directory(self, path: str) -> str:
        directory = f"{self._root}/tmp/{SCRATCH}{uuid.uuid4()}"
        atexit.register(self._clean, directory)
        return directory

    def _clean(self, directory: str) -> None:
        with suppress(OSError):
            self.delete(directory)

    # -- new files

    def rename(self, old: str, new: str) -> None:
        """A directory moves file by file."""
        key = self._key(old)
        found = list(self._objects(key))
        parents, known = {parent for meta in found for parent in _parents(meta["path"])}, dict[str, set[str]]()
        below = [meta["path"][len(key) :] for meta in found if not self._is_marker(meta, parents, known)]
        if not found:
            if not self.place(old, new):
                raise file_exists(new)
            return
        if self.exists(new):
            raise file_exists(new)
        list(_pool().map(lambda path: self.copy(old + path, new + path), below))
        self.delete(old)

    def place(self, old: str, new: str) -> bool:
        """A store cannot rename: the object is copied, and the old one removed. A small one is read and written, which
        takes as many requests, and no other writer of the same moment is lost."""
        with self._errors(old):
            found = obstore.get(self._store, self._key(old))
            content = bytes(found.bytes()) if found.meta["size"] <= _ONE_REQUEST else None
        if content is not None:
            try:
                self._create(new, content)
            except FileExistsError:
                return False
        elif self._head(self._key(new)) is not None:
            return False
        else:
            self.copy(old, new)
        with self._errors(old):
            obstore.delete(self._store, self._key(old))
        return True

    def place_pieces(self, pieces: Sequence[Piece], new: str) -> bool:
        return assembled(self, pieces, new)

    def copy(self, source: str, target: str) -> None:
        with self._errors(source):
            obstore.copy(self._store, self._key(source), self._key(target))

    def link(self, source: str, target: str) -> None:
        self.copy(source, target)

    def take_local(self, source: str, target: str) -> None:
        size = os.path.getsize(source)
        with self._errors(target):
            obstore.put(self._store, self._key(target), Path(source), use_multipart=size > _ONE_REQUEST)

    def place_local(self, source: str, new: str) -> bool:
        if os.path.getsize(source) <= _ONE_REQUEST:
            return self.place_pieces((Path(source).read_bytes(),), new)
        if self._head(self._key(new)) is not None:
            return False
        self.take_local(source, new)
        return True

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        self.assemble(to, (Extent(path, 0, count), end))

    def assemble(self, path: str, pieces: Iterable[Piece]) -> None:
        """Raises FileExistsError. Of an object that is sent in parts, the store does not notice another writer of the
        same moment."""
        pieces = list(pieces)
        copied = sum(piece.length for piece in pieces if isinstance(piece, Extent))
        if copied > _MOST_HELD:
            self._hadoop().assemble(path, pieces)
            return
        content = b"".join(piece if isinstance(piece, bytes) else self._extent(piece) for piece in pieces)
        if len(content) > _ONE_REQUEST:
            self._require_missing(path)
            with self._errors(path):
                obstore.put(self._store, self._key(path), content, use_multipart=True)
            return
        self._create(path, content)

    def _create(self, path: str, content: bytes) -> None:
        """Makes an object that must not exist. obstore sends a request again if its answer was lost: the object is then
        there, with the metadata of this write. Its content would not tell, as two INSERTs of equal rows write equal
        files."""
        key, write = self._key(path), uuid.uuid4().hex
        if not self._takes_conditions:
            self._create_if_missing(path, content)
            return
        try:
            with self._errors(key):
                attributes = {WRITE_METADATA: write}
                obstore.put(
                    self._store, key, content, mode="create", use_multipart=False, attributes=cast(Any, attributes)
                )
        except OSError as error:
            if self._write_of(key) == write:
                return
            if isinstance(error.__cause__, AlreadyExistsError | PreconditionError):
                raise file_exists(path) from error
            if not isinstance(error.__cause__, NotSupportedError):
                raise
            self._takes_conditions = False
            self._create_if_missing(path, content)

    def _create_if_missing(self, path: str, content: bytes) -> None:
        """Makes an object in a store that takes no conditions."""
        self._require_missing(path)
        self.write(path, content)

    def _require_missing(self, path: str) -> None:
        """Raises FileExistsError. The store may get the object from another writer behind this."""
        if self._head(self._key(path)) is not None:
            raise file_exists(path)

    def _write_of(self, key: str) -> str | None:
        """The write that has made an object."""
        try:
            with self._errors(key):
                found = obstore.get(self._store, key, options={"head": True})
                return found.attributes.get(WRITE_METADATA)
        except OSError:
            return None

    def write(self, path: str, content: bytes) -> None:
        with self._errors(path):
            obstore.put(self._store, self._key(path), content, use_multipart=len(content) > _ONE_REQUEST)

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        raise OSError(f"the end of {path} cannot be rewritten in an object store")

    def append(self, path: str, content: bytes) -> None:
        raise OSError(f"{path} cannot grow: it lies in an object store")

    # -- reading

    def read(self, path: str) -> bytes:
        with self._errors(path):
            return bytes(obstore.get(self._store, self._key(path)).bytes())

    def read_if_there(self, path: str) -> bytes | None:
        try:
            return self.read(path)
        except FileNotFoundError:
            return None

    def read_end(self, path: str, size: int, count: int) -> bytes:
        """Reads more than is wanted where a reader of the file will want that too (`open_listed`)."""
        count = min(size, count)
        start = 0 if size <= _WHOLE else min(size - count, size - _END)
        if count == 0:
            return b""
        key = self._key(path)
        with self._errors(path):
            found = obstore.get(self._store, key, options={"range": (start, size)})
            content = bytes(found.bytes())
            self._ends.keep(path, str(found.meta["e_tag"] or ""), start, content)
        return content[-count:] if len(content) == size - start else content[size - count - start :]

    def _extent(self, extent: Extent) -> bytes:
        content = b"".join(self._ranges(extent.path, "", [(extent.start, extent.start + extent.length)]))
        if len(content) != extent.length:
            missing = extent.length - len(content)
            raise OSError(f"{extent.path} ends {missing} bytes before the end of the extent that is copied")
        return content

    def open(self, path: str) -> BinaryIO:
        found = self.find_file(path)
        if found is None:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)
        return self.open_listed(SizedFile(path, found.length, found.modified, found.identity))

    def open_listed(self, file: SizedFile) -> BinaryIO:
        tag = f'"{file.identity}"' if file.identity else ""
        known = self._ends.of(file.path, tag)
        opened = RangeFile(file.size, lambda r: self._ranges(file.path, tag, r), () if known is None else (known,))
        return cast(BinaryIO, opened)

    def _ranges(self, path: str, tag: str, ranges: Sequence[Range]) -> list[bytes]:
        """Ranges of an object, of the one with the entity tag if there is a tag."""
        key = self._key(path)
        if len(ranges) == 1:
            return [self._range(path, key, tag, ranges[0])]
        return list(_pool().map(lambda one: self._range(path, key, tag, one), ranges))

    def _range(self, path: str, key: str, tag: str, wanted: Range) -> bytes:
        if wanted[0] == wanted[1]:
            return b""
        options: dict[str, Any] = {"range": wanted}
        if tag:
            options["if_match"] = tag
        with self._errors(path):
            return bytes(obstore.get(self._store, key, options=cast(Any, options)).bytes())

    def _errors(self, path: str) -> AbstractContextManager[None]:
        return os_errors(self._shown(path))

    def _shown(self, path: str) -> str:
        return path if path.startswith(self._root) else self._path(path)


def _parents(key: str) -> Iterator[str]:
    above = key.rpartition("/")[0]
    while above:
        yield above
        above = above.rpartition("/")[0]


def _listed(path: str, meta: Any) -> File:
    """A file as Hadoop's client lists it: its modification time counts whole seconds, because a listing of S3 may tell
    more of it than a request for the object."""
    tag = str(meta["e_tag"] or "").strip('"')
    seconds = int(meta["last_modified"].timestamp())
    return File(path, int(meta["size"]), seconds * 1000, tag)
