"""Files that are not local, through Hadoop's FileSystem in the JVM of Spark."""

from __future__ import annotations

import io
import uuid
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, BinaryIO, Final

from py4j.protocol import Py4JError, Py4JJavaError

from acidsql.acid.directories import is_hidden
from acidsql.acid.snapshot_selection import File
from acidsql.storage import s3_multipart
from acidsql.storage.file_systems import (
    PIECE,
    SCRATCH,
    Extent,
    Listing,
    NewEnd,
    Piece,
    SizedFile,
    assembled,
    copied_and_placed,
    file_exists,
    listing_of,
    require_no_directory,
)
from acidsql.storage.s3_multipart import WRITE_METADATA, S3Bucket

_APPENDS: Final = "fs.capability.paths.append"
FILE_ERRORS: Final = (OSError, Py4JError)
"""The errors that an operation of any file system may raise."""
_EXISTS: Final = "org.apache.hadoop.fs.FileAlreadyExistsException"
_CONDITIONAL: Final = "fs.option.create.conditional.overwrite"
"""Option of a new file: the store refuses it if the file exists (org.apache.hadoop.fs.Options.CreateFileOptionKeys)."""
_NO_CHECKS: Final = "fs.s3a.create.performance"
"""Option of a new file in S3: Hadoop does not ask whether its name is that of a directory."""
_METADATA_OF_NEW_FILE: Final = "fs.s3a.create.header."
"""Options of a new file in S3 that begin so are metadata of the object (org.apache.hadoop.fs.s3a.Constants)."""
_METADATA: Final = "header."
"""The beginning of the names of extended attributes that are metadata of an object
(org.apache.hadoop.fs.s3a.impl.HeaderProcessing)."""
_ENTITY_TAG: Final = "getEtag"
"""Of org.apache.hadoop.fs.EtagSource."""
_IDENTITY_METHODS: Final = {
    "hdfs": "getFileId",  # org.apache.hadoop.hdfs.protocol.HdfsFileStatus: the inode
    "s3a": _ENTITY_TAG,
}


class HadoopFiles:
    """The file systems that Spark's Hadoop client knows, through the driver's JVM."""

    reads_opened = False
    """Each piece of a file is read from its path."""

    def __init__(self, java: Any, conf: Any) -> None:
        """`java` is Py4J's view of the JVM, `conf` an org.apache.hadoop.conf.Configuration in it."""
        self._java = java
        self._conf = conf
        self._appenders: dict[str, Any] = {}
        self._buckets: dict[str, S3Bucket | None] = {}

    def new_end(self, path: str) -> NewEnd:
        """HDFS can append, object stores cannot (org.apache.hadoop.fs.CommonPathCapabilities)."""
        fs = self._fs(path)
        appends = has_capability(fs, self._path(path), _APPENDS)
        if appends is None:
            appends = str(fs.getScheme()) == "hdfs"
        return NewEnd.BEHIND if appends else NewEnd.IN_A_COPY

    def resolve(self, location: str) -> str:
        return location

    def canonical(self, path: str, beside: str) -> str:
        """Does not open the file system of `path`: this machine may not know it."""
        files = self._fs(beside)
        return str(self._path(path).makeQualified(files.getUri(), files.getWorkingDirectory()).toUri().normalize())

    def list_below(self, directory: str) -> Listing:
        if s3_multipart.is_s3a(self._fs(directory)):
            return self._list_keys(directory)
        files: list[File] = []
        directories: list[str] = []
        if self.exists(directory):
            self._walk(self._path(directory), "", files, directories)
        return listing_of(files, directories)

    def _list_keys(self, directory: str) -> Listing:
        """Lists a directory of S3 as the store does, by the beginning of keys: that takes a request for a thousand
        files, and not one for each directory. Directories without files are found at the first level only."""
        root = self._path(directory)
        start = len(str(root.toString())) + 1
        first = list(self._statuses(root))
        top = [status.getPath().getName() for status in first if status.isDirectory()]
        files: list[File] = []
        directories = dict.fromkeys(top)
        for status in self._statuses_below(root) if top else first:
            path = str(status.getPath().toString())[start:]
            parents = path.split("/")[:-1]
            hidden = next((depth for depth, name in enumerate(parents) if is_hidden(name)), None)
            known = parents if hidden is None else parents[: hidden + 1]
            directories |= dict.fromkeys("/".join(known[: depth + 1]) for depth in range(len(known)))
            if hidden is None:
                files.append(_listed(path, status, _ENTITY_TAG))
        return listing_of(files, list(directories))

    def _statuses_below(self, root: Any) -> Iterable[Any]:
        """Those of all files below a directory."""
        try:
            found = root.getFileSystem(self._conf).listFiles(root, True)
            while found.hasNext():
                yield found.next()
        except Py4JJavaError as error:
            if not _is_missing(error):
                raise

    def _walk(self, root: Any, prefix: str, files: list[File], directories: list[str]) -> None:
        where = self._paths(root, prefix) if prefix else root
        identity = self._identity_method(where)
        for status in self._statuses(where):
            name = status.getPath().getName()
            path = f"{prefix}/{name}" if prefix else name
            if not status.isDirectory():
                files.append(_listed(path, status, identity))
                continue
            directories.append(path)
            if not is_hidden(name):
                self._walk(root, path, files, directories)

    def _statuses(self, where: Any) -> Iterable[Any]:
        try:
            return list(where.getFileSystem(self._conf).listStatus(where))
        except Py4JJavaError as error:
            if not _is_missing(error):
                raise
            return ()  # removed since it was listed

    def directories_named(self, directory: str, prefix: str) -> Sequence[str]:
        """Filters in the JVM: a table may have thousands of partitions."""
        name_filter = self._java.org.apache.hadoop.fs.GlobFilter(f"{prefix}*")
        try:
            found = self._fs(directory).listStatus(self._path(directory), name_filter)
        except Py4JJavaError as error:
            if not _is_missing(error):
                raise
            return []
        return [str(status.getPath().getName()) for status in found if status.isDirectory()]

    def exists(self, path: str) -> bool:
        return bool(self._fs(path).exists(self._path(path)))

    def make_directories(self, path: str) -> None:
        self._fs(path).mkdirs(self._path(path))

    def make_new_directory(self, path: str, siblings: Collection[str] | None = None) -> None:
        require_no_directory(self, path, siblings)
        if not s3_multipart.is_s3a(self._fs(path)):  # there, a directory is what its files have in common
            self.make_directories(path)

    def rename(self, old: str, new: str) -> None:
        if not self._fs(old).rename(self._path(old), self._path(new)):
            raise OSError(f"cannot move {old} to {new}")

    def place(self, old: str, new: str) -> bool:
        try:
            return bool(self._fs(old).rename(self._path(old), self._path(new)))
        except Py4JJavaError as error:
            if _class_name(error) == _EXISTS:  # S3A; others return False
                return False
            raise

    def place_pieces(self, pieces: Sequence[Piece], new: str) -> bool:
        return assembled(self, pieces, new)

    def copy(self, source: str, target: str) -> None:
        util = self._java.org.apache.hadoop.fs.FileUtil
        fs_of = self._fs
        util.copy(fs_of(source), self._path(source), fs_of(target), self._path(target), False, self._conf)

    def link(self, source: str, target: str) -> None:
        self.copy(source, target)

    def take_local(self, source: str, target: str) -> None:
        self._fs(target).copyFromLocalFile(self._path(f"file://{source}"), self._path(target))

    def place_local(self, source: str, new: str) -> bool:
        return copied_and_placed(self, source, new)

    def file_size(self, path: str) -> int | None:
        if not self.exists(path):
            return None
        status = self._fs(path).getFileStatus(self._path(path))
        return None if status.isDirectory() else int(status.getLen())

    def find_file(self, path: str) -> File | None:
        where = self._path(path)
        try:
            status = where.getFileSystem(self._conf).getFileStatus(where)
        except Py4JJavaError as error:
            if not _is_missing(error):
                raise
            return None
        return None if status.isDirectory() else _listed(path, status, self._identity_method(where))

    def _identity_method(self, where: Any) -> str | None:
        """The method of a file's status that gives its identity; None if its file system has no such method."""
        return _IDENTITY_METHODS.get(str(where.getFileSystem(self._conf).getUri().getScheme()))

    def delete(self, path: str) -> None:
        self._fs(path).delete(self._path(path), True)

    def delete_empty(self, directory: str) -> None:
        with suppress(Py4JJavaError):
            self._fs(directory).delete(self._path(directory), False)

    def move_to_trash(self, path: str) -> bool:
        """The trash is that of the server's or client's `fs.trash.interval` (org.apache.hadoop.fs.Trash). Also False if
        the trash refuses the file, for example because the user has no home directory: as in Hive, the file is deleted
        then. The rows of an overwritten table must not stay beside the new ones."""
        if not self.exists(path):
            return False
        trash = self._java.org.apache.hadoop.fs.Trash
        try:
            return bool(trash.moveToAppropriateTrash(self._fs(path), self._path(path), self._conf))
        except Py4JJavaError:
            return False

    def write(self, path: str, content: bytes) -> None:
        builder = self._fs(path).createFile(self._path(path)).overwrite(True).recursive()
        out = builder.opt(_NO_CHECKS, "true").build()
        out.write(content)
        out.close()

    def read(self, path: str) -> bytes:
        size = self._fs(path).getFileStatus(self._path(path)).getLen()
        return self.read_end(path, size, size)

    def read_if_there(self, path: str) -> bytes | None:
        """Reads to the end of the stream: the status of a file that is being written may have an older length."""
        try:
            stream = self._fs(path).open(self._path(path))
        except Py4JJavaError as error:
            if not _is_missing(error):
                raise
            return None
        content = bytes(self._streams.toByteArray(stream))
        stream.close()
        return content

    def read_end(self, path: str, size: int, count: int) -> bytes:
        stream = self._fs(path).open(self._path(path))
        stream.seek(max(0, size - count))
        content = bytes(self._streams.toByteArray(stream, min(size, count)))
        stream.close()
        return content

    def copy_start(self, path: str, count: int, end: bytes, to: str) -> None:
        self.assemble(to, (Extent(path, 0, count), end))

    def assemble(self, path: str, pieces: Iterable[Piece]) -> None:
        """Raises FileExistsError. A store that takes no conditional requests may not notice another writer of the same
        moment."""
        write = uuid.uuid4().hex
        try:
            self._assemble(path, list(pieces), write)
        except Py4JJavaError as error:
            if self._is_of(path, write):
                return  # the store did it, and its answer was lost
            if _class_name(error) == _EXISTS or self.exists(path):
                raise file_exists(path) from error
            raise

    def _assemble(self, path: str, pieces: Sequence[Piece], write: str) -> None:
        parts = list(s3_multipart.parts(pieces))
        bucket = self._bucket(path) if any(isinstance(part, Extent) for part in parts) else None
        if bucket is not None:
            if self.exists(path):  # not every store heeds the condition of an upload in parts
                raise file_exists(path)
            bucket.assemble(path, parts, self._content, write)
            return
        out = self._new_file(path, write)
        for piece in pieces:
            if isinstance(piece, bytes):
                out.write(piece)
            else:
                source = self._fs(piece.path).open(self._path(piece.path))
                copied = self._streams.copyLarge(source, out, piece.start, piece.length)
                source.close()
                if copied != piece.length:  # S3 gets no object of a stream that is not closed
                    missing = piece.length - copied
                    raise OSError(f"{piece.path} ends {missing} bytes before the end of the extent that is copied")
        out.close()

    def _new_file(self, path: str, write: str) -> Any:
        """A stream to a file that must not exist. Where S3A can make the request conditional (Hadoop 3.4.2 and later),
        the store says so when the stream is closed; elsewhere Hadoop looks before it opens the stream."""
        fs, where = self._fs(path), self._path(path)
        if not has_capability(fs, where, _CONDITIONAL):
            return fs.create(where, False)
        builder = fs.createFile(where).overwrite(True).recursive()
        builder = builder.opt(_CONDITIONAL, "true").opt(_NO_CHECKS, "true")
        return builder.opt(f"{_METADATA_OF_NEW_FILE}{WRITE_METADATA}", write).build()

    def _is_of(self, path: str, write: str) -> bool:
        """Whether the object at a path is that of a write, by its metadata. Its content does not tell: two INSERTs of
        equal rows write equal files."""
        fs = self._fs(path)
        if not s3_multipart.is_s3a(fs):
            return False
        try:
            found = fs.getXAttrs(self._path(path)).get(f"{_METADATA}{WRITE_METADATA}")
        except Py4JJavaError:
            return False
        return found is not None and bytes(found).decode() == write

    def _content(self, piece: Piece) -> bytes:
        if isinstance(piece, bytes):
            return piece
        return self.read_end(piece.path, piece.start + piece.length, piece.length)

    def _bucket(self, path: str) -> S3Bucket | None:
        """The bucket of S3 whose store can copy parts of objects."""
        fs = self._fs(path)
        uri = str(fs.getUri())
        if uri not in self._buckets:
            self._buckets[uri] = S3Bucket.of(self._java, fs)
        return self._buckets[uri]

    def scratch_directory(self, path: str) -> str:
        """Makes it in /tmp, where Hive has its scratch directories (hive.exec.scratchdir)."""
        fs = self._fs(path)
        directory = fs.makeQualified(self._path(f"/tmp/{SCRATCH}{uuid.uuid4()}"))
        fs.mkdirs(directory)
        fs.deleteOnExit(directory)
        return str(directory.toString())

    def open(self, path: str) -> BinaryIO:
        return io.BufferedReader(_Stream(self, path, self.file_size(path) or 0), PIECE)

    def open_listed(self, file: SizedFile) -> BinaryIO:
        return io.BufferedReader(_Stream(self, file.path, file.size), PIECE)

    def replace_end(self, path: str, at: int, end: bytes) -> None:
        raise OSError(f"the end of {path} cannot be rewritten on this file system")

    def append(self, path: str, content: bytes) -> None:
        out = self._appender(path).append(self._path(path))
        out.write(content)
        out.close()

    def _appender(self, path: str) -> Any:
        """The file system with a client that accepts fewer replicas for a while. By default an append fails in a
        cluster that has no more data nodes than replicas."""
        uri = self._fs(path).getUri()
        known = self._appenders.get(str(uri))
        if known is None:
            conf = self._java.org.apache.hadoop.conf.Configuration(self._conf)
            conf.set("dfs.client.block.write.replace-datanode-on-failure.best-effort", "true")
            known = self._java.org.apache.hadoop.fs.FileSystem.newInstance(uri, conf)
            self._appenders[str(uri)] = known
        return known

    def _path(self, path: str) -> Any:
        return self._paths(path)

    @cached_property
    def _paths(self) -> Any:
        """The class Path, looked up once. Every dot of its name costs a round trip, and a search of all jars."""
        return self._java.org.apache.hadoop.fs.Path

    @cached_property
    def _streams(self) -> Any:
        return self._java.org.apache.commons.io.IOUtils

    def _fs(self, path: str) -> Any:
        return self._path(path).getFileSystem(self._conf)


def _listed(path: str, status: Any, identity: str | None) -> File:
    """A file by its org.apache.hadoop.fs.FileStatus. The modification time of a file with an entity tag counts whole
    seconds: a listing of S3 may tell more of it than a request for the file's own status."""
    modified = status.getModificationTime()
    if identity is None:
        return File(path, status.getLen(), modified)
    found = str(getattr(status, identity)() or "").strip('"')
    is_tagged = identity == _ENTITY_TAG and bool(found)
    return File(path, status.getLen(), modified // 1000 * 1000 if is_tagged else modified, found)


def has_capability(files: Any, path: Any, capability: str) -> bool | None:
    """Whether a Hadoop file system can do something at a path (org.apache.hadoop.fs.CommonPathCapabilities). None where
    it does not tell: Hadoop has the question since 3.3."""
    try:
        return bool(files.hasPathCapability(path, capability))
    except Py4JJavaError:
        raise
    except Py4JError as error:
        if "hasPathCapability" in str(error) and "does not exist" in str(error):
            return None
        raise


def _is_missing(error: Py4JJavaError) -> bool:
    return _class_name(error) == "java.io.FileNotFoundException"


def _class_name(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getName())


class _Stream(io.RawIOBase):
    """Random access to a file of Hadoop."""

    def __init__(self, files: HadoopFiles, path: str, size: int) -> None:
        self._files, self._path, self._size = files, path, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._size - self._at))
        buffer[:count] = self._files.read_end(self._path, self._at + count, count)
        self._at += count
        return count
