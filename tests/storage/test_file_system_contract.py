"""What every file system does, whichever library reads and writes it: the protocol FileSystem of acidsql.storage."""

from __future__ import annotations

import io
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from hdfs_native import Client
from pyspark.sql import SparkSession

from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.storage.file_systems import PIECE, Extent, FileSystem, NewEnd, Piece
from acidsql.storage.hadoop_files import FILE_ERRORS
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings
from acidsql.storage.stores.hdfs_files import HdfsFiles
from acidsql.storage.stores.object_store_files import ObjectStoreFiles
from acidsql.storage.stores.stores import Stores
from tests.interop.hdfs_process import Hdfs
from tests.interop.s3_proxy import S3Proxy
from tests.interop.s3_server import s3a_settings

pytestmark = [pytest.mark.timeout(900)]

ODD_NAMES: Final = (
    "a b",
    "p=a%3Ab",
    "p=100%",
    "p=50%25",
    "h#x?y",
    "b`t",
    "ünï☃😀",
    "x=1,y=2",
    "{a}[b]*",
    "q'\"q",
    "x+y&z;!",
    " lead",
    "~",
)
"""Names of files and directories that HDFS takes. It refuses a colon, which Hive writes as %3A."""
BYTES: Final = bytes(range(256)) * 41


@dataclass(frozen=True, slots=True)
class Place:
    """A file system, and an empty directory on it."""

    files: FileSystem
    root: str

    def path(self, *names: str) -> str:
        return "/".join((self.root, *names))

    def write(self, *names: str, content: bytes = b"x") -> str:
        path = self.path(*names)
        self.files.make_directories(path.rpartition("/")[0])
        self.files.write(path, content)
        return path

    def names(self, *below: str) -> list[str]:
        """The paths of the files below a directory."""
        return sorted(file.path for file in self.files.list_below(self.path(*below)).files)


@pytest.fixture
def local(tmp_path: Path) -> Place:
    return Place(LocalFiles(), str(tmp_path))


@pytest.fixture
def hadoop_on_hdfs(hdfs: Hdfs, spark: SparkSession) -> Place:
    return Place(hadoop_files(spark), _new_root(hadoop_files(spark), hdfs))


@pytest.fixture
def native_on_hdfs(hdfs: Hdfs) -> Place:
    files = native(hdfs)
    return Place(files, _new_root(files, hdfs))


@pytest.fixture
def native_on_s3(s3: S3Proxy) -> Place:
    s3.begin()
    settings = HadoopSettings(s3a_settings(s3.port))
    files = Stores(lambda: settings, LocalFiles).find(f"s3a://{s3.bucket}")
    assert isinstance(files, ObjectStoreFiles)
    return Place(files, f"s3a://{s3.bucket}/{uuid.uuid4().hex}")


def _new_root(files: FileSystem, hdfs: Hdfs) -> str:
    root = f"{hdfs.uri}/{uuid.uuid4().hex}"
    files.make_directories(root)
    return root


def native(hdfs: Hdfs, **options: Any) -> HdfsFiles:
    return HdfsFiles(Client(hdfs.uri), hdfs.uri.removeprefix("hdfs://"), **options)


PLACES: Final = (
    "local",
    pytest.param("hadoop_on_hdfs", marks=[pytest.mark.hive, pytest.mark.nightly]),
    pytest.param("native_on_hdfs", marks=[pytest.mark.hive]),
    pytest.param("native_on_s3", marks=[pytest.mark.hive]),
)
"""The fixtures that give a place. A further file system is one more fixture, and its name here."""


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=PLACES[:-1])
def tree(request: pytest.FixtureRequest) -> Place:
    """A place with directories of its own. In an object store they are what the keys of files have in common."""
    found: Place = request.getfixturevalue(request.param)
    return found


# ------------------------------------------------------------------------------------------------ writing and reading


def test_what_is_written_is_read(place: Place) -> None:
    path = place.write("f", content=BYTES)
    assert place.files.read(path) == BYTES
    assert place.files.read_if_there(path) == BYTES
    assert place.files.file_size(path) == len(BYTES)
    place.files.write(path, b"shorter")
    assert place.files.read(path) == b"shorter"
    empty = place.write("empty", content=b"")
    assert place.files.read(empty) == b""
    assert place.files.file_size(empty) == 0


def test_the_end_of_a_file_is_read_by_its_size(place: Place) -> None:
    path = place.write("f", content=BYTES)
    size = len(BYTES)
    assert place.files.read_end(path, size, 100) == BYTES[-100:]
    assert place.files.read_end(path, 1000, 100) == BYTES[900:1000]
    assert place.files.read_end(path, 50, 100) == BYTES[:50]
    assert place.files.read_end(path, size, size) == BYTES
    assert place.files.read_end(path, size, 0) == b""


def test_a_stream_has_random_access(place: Place) -> None:
    content = os.urandom(3 * PIECE + 17)
    path = place.write("f", content=content)
    with place.files.open(path) as stream:
        assert stream.seekable()
        assert stream.readable()
        assert stream.read(10) == content[:10]
        assert stream.tell() == 10
        assert stream.seek(-17, io.SEEK_END) == 3 * PIECE
        assert stream.read() == content[-17:]
        assert stream.read(1) == b""
        stream.seek(PIECE - 3)
        stream.seek(1, io.SEEK_CUR)
        assert stream.read(PIECE + 5) == content[PIECE - 2 : 2 * PIECE + 3]
        stream.seek(0)
        assert stream.read() == content
    with place.files.open(place.write("empty", content=b"")) as stream:
        assert stream.read() == b""


def test_a_missing_file_is_none_or_an_error(place: Place) -> None:
    path = place.path("missing")
    assert place.files.read_if_there(path) is None
    assert place.files.find_file(path) is None
    assert place.files.file_size(path) is None
    assert not place.files.exists(path)
    for call in (
        lambda: place.files.read(path),
        lambda: place.files.read_end(path, 10, 5),
        lambda: place.files.rename(path, place.path("new")),
        lambda: place.files.copy(path, place.path("new")),
        lambda: place.files.copy_start(path, 1, b"", place.path("new")),
    ):
        with pytest.raises(FILE_ERRORS):
            call()
    place.files.delete(path)
    place.files.delete_empty(path)


def test_a_directory_is_no_file(tree: Place) -> None:
    tree.write("d", "f")
    path = tree.path("d")
    assert tree.files.exists(path)
    assert tree.files.file_size(path) is None
    assert tree.files.find_file(path) is None
    with pytest.raises(FILE_ERRORS):
        tree.files.write(path, b"x")
    below = tree.path("d", "f", "g")
    assert not tree.files.exists(below)
    assert tree.files.find_file(below) is None
    assert tree.files.list_below(below).files == ()


def test_a_file_gets_another_end(place: Place) -> None:
    path = place.write("f", content=BYTES)
    match place.files.new_end(path):
        case NewEnd.BEHIND:
            before = place.files.find_file(path)
            place.files.append(path, b"end")
            place.files.append(path, b"")
            place.files.append(path, b"more")
            assert place.files.read(path) == BYTES + b"endmore"
            after = place.files.find_file(path)
            assert before is not None
            assert after is not None
            assert (after.length, after.identity) == (before.length + 7, before.identity)
            with pytest.raises(FILE_ERRORS):
                place.files.replace_end(path, 10, b"end")
        case NewEnd.IN_PLACE:
            place.files.replace_end(path, 10, b"end")
            assert place.files.read(path) == BYTES[:10] + b"end"
        case NewEnd.IN_A_COPY:
            with pytest.raises(FILE_ERRORS):
                place.files.replace_end(path, 10, b"end")


# ------------------------------------------------------------------------------------------------ listings


def test_a_listing_names_hidden_directories_and_does_not_descend_into_them(tree: Place) -> None:
    for names in (("a", "b", "f"), ("a", ".hidden", "g"), ("a", "_h", "deep", "g"), ("_top", "g"), ("r",)):
        tree.write(*names)
    tree.write("a", "_SUCCESS", content=b"")
    tree.files.make_directories(tree.path("empty", "below"))
    listing = tree.files.list_below(tree.root)
    assert sorted(file.path for file in listing.files) == ["a/_SUCCESS", "a/b/f", "r"]
    assert sorted(listing.directories) == ["a", "a/b", "empty", "empty/below"]
    assert sorted(listing.hidden) == ["_top", "a/.hidden", "a/_h"]
    missing = tree.files.list_below(tree.path("missing"))
    assert (missing.files, missing.directories, missing.hidden) == ((), (), ())


def test_a_listing_has_all_of_many_directories(place: Place) -> None:
    expected = [f"p={number}/q={inner}/f" for number in range(12) for inner in range(2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda path: place.write(*path.split("/")), expected))
    listing = place.files.list_below(place.root)
    assert sorted(file.path for file in listing.files) == sorted(expected)
    assert len(listing.directories) == 12 + 24


def test_a_listed_file_is_the_one_that_is_found(place: Place) -> None:
    path = place.write("d", "f", content=BYTES)
    (listed,) = place.files.list_below(place.root).files
    found = place.files.find_file(path)
    assert found is not None
    assert (listed.length, listed.modified, listed.identity) == (found.length, found.modified, found.identity)
    assert listed.length == len(BYTES)
    assert abs(listed.modified / 1000 - os.stat(__file__).st_atime) < 10 * 365 * 86400  # milliseconds
    assert place.files.find_file(path) == found


def test_another_file_of_the_same_name_is_told_from_the_first(place: Place) -> None:
    path = place.write("f", content=b"first")
    first = place.files.find_file(path)
    place.files.delete(path)
    threading.Event().wait(0.02)  # the clock of the file system counts milliseconds
    place.write("f", content=b"other")
    assert place.files.find_file(path) != first


def test_subdirectories_are_found_by_the_beginning_of_their_names(tree: Place) -> None:
    for name in ("delta_1", "delta_2", "base_1", ".delta", "_delta"):
        tree.files.make_directories(tree.path(name))
    tree.write("delta_file")
    assert sorted(tree.files.directories_named(tree.root, "delta_")) == ["delta_1", "delta_2"]
    assert sorted(tree.files.directories_named(tree.root, "")) == [".delta", "_delta", "base_1", "delta_1", "delta_2"]
    assert tree.files.directories_named(tree.path("missing"), "") == []


def test_odd_names(place: Place) -> None:
    for name in ODD_NAMES:
        path = place.write(f"d {name}", name, content=name.encode())
        assert place.files.exists(path)
        assert place.files.read(path) == name.encode()
        found = place.files.find_file(path)
        assert found is not None
        assert found.length == len(name.encode())
    assert place.names() == sorted(f"d {name}/{name}" for name in ODD_NAMES)
    assert sorted(place.files.directories_named(place.root, "d p=")) == ["d p=100%", "d p=50%25", "d p=a%3Ab"]
    for name in ODD_NAMES:
        assert place.names(f"d {name}") == [name]
        assert place.files.place(place.path(f"d {name}", name), place.path(name))
        assert place.files.read_end(place.path(name), len(name.encode()), 1) == name.encode()[-1:]
        place.files.delete(place.path(f"d {name}"))
    assert place.names() == sorted(ODD_NAMES)


# ------------------------------------------------------------------------------------------------ directories


def test_a_new_directory_must_not_exist(tree: Place) -> None:
    path = tree.path("a", "b")
    tree.files.make_new_directory(path)
    assert tree.files.exists(path)
    with pytest.raises(FileExistsError):
        tree.files.make_new_directory(path)
    with pytest.raises(FileExistsError):
        tree.files.make_new_directory(path, tree.files.directories_named(tree.path("a"), ""))
    tree.files.make_new_directory(tree.path("a", "c"), ["b"])
    tree.files.make_directories(path)
    assert sorted(tree.files.list_below(tree.root).directories) == ["a", "a/b", "a/c"]


def test_directories_are_removed_with_their_content_or_only_if_they_are_empty(tree: Place) -> None:
    tree.write("d", "e", "f")
    tree.files.make_directories(tree.path("empty"))
    tree.files.delete_empty(tree.path("d"))
    tree.files.delete_empty(tree.path("empty"))
    assert tree.files.directories_named(tree.root, "") == ["d"]
    tree.files.delete(tree.path("d", "e", "f"))
    assert tree.files.list_below(tree.root).directories == ("d", "d/e")
    tree.files.delete(tree.path("d"))
    assert not tree.files.exists(tree.path("d"))


def test_a_scratch_directory_takes_files(place: Place) -> None:
    directory = place.files.scratch_directory(place.root)
    other = place.files.scratch_directory(place.root)
    assert directory != other
    place.files.write(f"{directory}/f", b"x")
    assert [file.path for file in place.files.list_below(directory).files] == ["f"]
    assert place.files.list_below(other).files == ()
    place.files.delete(directory)
    place.files.delete(other)


def test_one_name_of_a_directory_is_the_canonical_one(place: Place) -> None:
    path = place.path("a", "b")
    place.files.make_directories(path)
    canonical = place.files.canonical(path, place.root)
    assert place.files.canonical(place.path("a", "c", "..", "b"), place.root) == canonical
    assert place.files.canonical(f"{place.root}//a/./b/", place.root).rstrip("/") == canonical
    assert place.files.canonical(place.path("a"), place.root) == canonical.rpartition("/")[0]
    assert place.files.resolve(path) == path


# ------------------------------------------------------------------------------------------------ moves and copies


def test_a_placed_file_replaces_none(place: Place) -> None:
    old, new = place.write("s", "f", content=b"new"), place.path("t", "f")
    place.files.make_directories(place.path("t"))
    assert place.files.place(old, new)
    assert (place.files.exists(old), place.files.read(new)) == (False, b"new")
    place.write("s", "f", content=b"other")
    assert not place.files.place(old, new)
    assert (place.files.read(old), place.files.read(new)) == (b"other", b"new")


def test_of_many_that_place_a_file_one_succeeds(place: Place) -> None:
    sources = [place.write("s", str(number), content=str(number).encode()) for number in range(8)]
    target = place.path("target")
    with ThreadPoolExecutor(len(sources)) as pool:
        placed = list(pool.map(lambda source: place.files.place(source, target), sources))
    assert placed.count(True) == 1
    assert place.files.read(target) == str(placed.index(True)).encode()
    assert len(place.names("s")) == len(sources) - 1


def test_files_and_directories_are_renamed(place: Place) -> None:
    place.write("d", "e", "f", content=b"1")
    place.files.rename(place.path("d"), place.path("moved"))
    assert place.names() == ["moved/e/f"]
    before = place.files.list_below(place.root).files[0]
    place.files.rename(place.path("moved", "e", "f"), place.path("moved", "g"))
    (after,) = place.files.list_below(place.root).files
    assert (after.path, after.length, after.identity) == ("moved/g", before.length, before.identity)
    is_copied = place.root.startswith("s3a:")  # and has the time of the copy
    assert before.modified <= after.modified if is_copied else before.modified == after.modified


def test_a_file_is_made_of_pieces_unless_it_exists(place: Place) -> None:
    source = place.write("s", content=BYTES)
    long = place.write("long", content=os.urandom(2 * PIECE + 5))
    pieces: list[Piece] = [
        b"ORC",
        Extent(source, 5, 300),
        Extent(long, 1, 2 * PIECE + 4),
        b"",
        Extent(source, 0, 0),
        b"end",
    ]
    expected = b"ORC" + BYTES[5:305] + place.files.read(long)[1:] + b"end"
    assert place.files.place_pieces(pieces, place.path("new"))
    assert place.files.read(place.path("new")) == expected
    assert not place.files.place_pieces([b"other"], place.path("new"))
    place.files.assemble(place.path("assembled"), iter(pieces))
    assert place.files.read(place.path("assembled")) == expected
    place.files.copy_start(source, 7, b"tail", place.path("start"))
    assert place.files.read(place.path("start")) == BYTES[:7] + b"tail"
    with pytest.raises(FILE_ERRORS):
        place.files.assemble(place.path("too long"), [Extent(source, 5, len(BYTES))])
    assert place.files.read(place.path("new")) == expected


def test_files_are_copied_linked_and_taken_from_this_machine(place: Place, tmp_path: Path) -> None:
    content = os.urandom(PIECE + 3)
    source = place.write("f", content=content)
    place.files.copy(source, place.path("copied"))
    place.files.link(source, place.path("linked"))
    place.files.delete(source)
    mine = tmp_path / "of this machine %20"
    mine.write_bytes(content)
    place.files.take_local(str(mine), place.path("taken"))
    for name in ("copied", "linked", "taken"):
        assert place.files.read(place.path(name)) == content, name
    place.files.copy(place.write("empty", content=b""), place.path("copied"))
    assert place.files.read(place.path("copied")) == b"", "a copy replaces its target"


def test_threads_share_a_file_system(place: Place) -> None:
    paths = [place.write("d", str(number), content=BYTES + bytes([number])) for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        read = list(pool.map(place.files.read, paths * 4))
    assert read == [BYTES + bytes([number]) for number in range(12)] * 4
    with place.files.open(paths[0]) as stream, ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda path: place.files.read_end(path, len(BYTES), 3), paths))
        assert stream.read() == BYTES + b"\0"
    assert set(ends) == {BYTES[-3:]}


# ------------------------------------------------------------------------------------------------ two clients of HDFS

Both = tuple[HdfsFiles, FileSystem, str]


@pytest.fixture
def both(native_on_hdfs: Place, spark: SparkSession) -> Both:
    assert isinstance(native_on_hdfs.files, HdfsFiles)
    return native_on_hdfs.files, hadoop_files(spark), native_on_hdfs.root


def _seen(files: FileSystem, root: str) -> object:
    """All that a client sees below a directory, but the identities of files."""
    listing = files.list_below(root)
    listed = [(file.path, file.length, file.modified, files.read(f"{root}/{file.path}")) for file in listing.files]
    return listed, listing.directories, listing.hidden


@pytest.mark.hive
@pytest.mark.nightly
def test_what_one_client_writes_the_other_lists_and_reads(both: Both, spark: SparkSession) -> None:
    native_files, hadoop, root = both
    for writer in (native_files, hadoop):
        where = f"{root}/{type(writer).__name__}"
        for number, name in enumerate(ODD_NAMES):
            writer.make_new_directory(f"{where}/p={number}/_{name}")
            writer.write(f"{where}/p={number}/{name}", name.encode() * 100)
        writer.assemble(f"{where}/made", [Extent(f"{where}/p=1/{ODD_NAMES[1]}", 3, 8), b"x"])
        writer.append(f"{where}/made", b"appended")
        writer.copy(f"{where}/made", f"{where}/copied")
        writer.rename(f"{where}/copied", f"{where}/renamed")
    assert _seen(native_files, root) == _seen(hadoop, root)
    mine, theirs = (_seen(native_files, f"{root}/{type(writer).__name__}") for writer in (native_files, hadoop))
    assert str(mine[0]).count("p=") == str(theirs[0]).count("p=")  # type: ignore[index]
    assert _owned(spark, f"{root}/HdfsFiles") == _owned(spark, f"{root}/HadoopFiles")


def _owned(spark: SparkSession, directory: str) -> list[tuple[str, ...]]:
    """The permissions, owners and groups below a directory."""
    java: Any = spark._jvm
    conf: Any = spark._jsc
    where = java.org.apache.hadoop.fs.Path(directory)
    fs = where.getFileSystem(conf.hadoopConfiguration())
    found = list(fs.listStatus(where))
    found += [below for entry in found if entry.isDirectory() for below in fs.listStatus(entry.getPath())]
    return [(e.getPath().getName(), e.getPermission().toString(), e.getOwner(), e.getGroup()) for e in found]


@pytest.mark.hive
@pytest.mark.nightly
def test_two_clients_give_a_path_to_one_of_them(both: Both) -> None:
    native_files, hadoop, root = both
    for number in range(10):
        sources = []
        for files in (native_files, hadoop):
            sources.append(f"{root}/{type(files).__name__}{number}")
            files.write(sources[-1], type(files).__name__.encode())
        target = f"{root}/target{number}"
        with ThreadPoolExecutor(2) as pool:
            mine, theirs = pool.map(
                lambda files, source, to: files.place(source, to), (native_files, hadoop), sources, (target, target)
            )
        assert mine is not theirs
        assert hadoop.read(target) == (b"HdfsFiles" if mine else b"HadoopFiles")


# ------------------------------------------------------------------------------------------------ HDFS without a JVM


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch, hdfs: Hdfs) -> Callable[..., HdfsFiles]:
    def of(name: str, **options: Any) -> HdfsFiles:
        monkeypatch.setenv("HADOOP_USER_NAME", name)  # the library asks for it when it connects
        files = native(hdfs, **options)
        assert files.exists(hdfs.uri)
        monkeypatch.delenv("HADOOP_USER_NAME")
        return files

    return of


@pytest.mark.hive
def test_errors_of_hdfs_are_os_errors_with_number_reason_and_path(
    native_on_hdfs: Place, as_user: Callable[..., HdfsFiles]
) -> None:
    files, root = native_on_hdfs.files, native_on_hdfs.root
    path = native_on_hdfs.write("d", "f")
    alice = as_user("alice")
    with pytest.raises(PermissionError, match="Permission denied: user=alice") as refused:
        alice.write(f"{root}/mine", b"x")
    assert refused.value.filename == f"{root}/mine"
    assert "\tat " not in str(refused.value)
    with pytest.raises(PermissionError):
        alice.delete(path)
    with pytest.raises(FileNotFoundError, match="No such file or directory") as missing:
        files.read(f"{root}/missing")
    assert missing.value.filename == f"{root}/missing"
    with pytest.raises(NotADirectoryError):
        files.write(f"{path}/below", b"x")
    with pytest.raises(FileExistsError):
        files.make_directories(path)
    with pytest.raises(OSError, match="Invalid path name"):
        files.write(f"{root}/a:b", b"x")
    with pytest.raises(OSError, match="does not lie in"):
        files.read("hdfs://elsewhere:1/f")
    with pytest.raises(OSError, match="can be read"):
        files.read_end(path, 100, 10)
    with pytest.raises(OSError, match="can be read"):
        files.assemble(f"{root}/new", [Extent(path, 0, 2)])
    assert not files.exists(f"{root}/new"), "what is read is opened before the new file"
    gone = HdfsFiles(Client("hdfs://127.0.0.1:1", {"dfs.client.failover.max.attempts": "0"}), "127.0.0.1:1")
    with pytest.raises(ConnectionRefusedError, match="cannot be reached"):
        gone.exists("hdfs://127.0.0.1:1/f")


@pytest.mark.hive
def test_new_files_and_directories_get_the_permissions_that_the_umask_leaves(hdfs: Hdfs, spark: SparkSession) -> None:
    for umask, expected in ((0o022, {"rwxr-xr-x", "rw-r--r--"}), (0o007, {"rwxrwx---", "rw-rw----"})):
        files = native(hdfs, umask=umask)
        root = _new_root(files, hdfs)
        files.make_directories(f"{root}/d")
        files.write(f"{root}/f", b"x")
        client = Client(hdfs.uri)
        found = {entry.permission for entry in client.list_status(root.removeprefix(hdfs.uri))}
        assert found == {int("".join("0" if c == "-" else "1" for c in text), 2) for text in expected}


@pytest.mark.hive
def test_the_trash_is_that_of_the_server_or_of_the_client(native_on_hdfs: Place, hdfs: Hdfs) -> None:
    path = native_on_hdfs.write("t", "p=1 %", "f", content=b"1")
    assert not native_on_hdfs.files.move_to_trash(path), "neither has one"
    assert native_on_hdfs.files.exists(path)
    files = native(hdfs, trash_minutes=60)
    assert not files.move_to_trash(f"{path}-missing")
    assert files.move_to_trash(path)
    assert not files.exists(path)
    native_on_hdfs.write("t", "p=1 %", "f", content=b"2")
    assert files.move_to_trash(path)
    native_on_hdfs.write("t", "p=1 %", "f", "below", content=b"3")
    assert files.move_to_trash(f"{path}/below"), "a file lies where its parent would"
    (home,) = native_on_hdfs.files.directories_named(f"{hdfs.uri}/user", "")
    trash = f"{hdfs.uri}/user/{home}/.Trash"
    trashed = {file.path for file in files.list_below(f"{trash}/Current").files}
    name = native_on_hdfs.root.rpartition("/")[2]
    assert f"{name}/t/p=1 %/f" in trashed
    assert len([path for path in trashed if name in path]) == 3
    assert not files.move_to_trash(f"{trash}/Current/{name}"), "it lies in the trash"
    assert not files.move_to_trash(f"{hdfs.uri}/user"), "it contains the trash"
    files.delete(trash)


@pytest.mark.hive
def test_a_user_without_a_home_has_no_trash(native_on_hdfs: Place, as_user: Callable[..., HdfsFiles]) -> None:
    path = native_on_hdfs.write("f")
    assert not as_user("bob", trash_minutes=60).move_to_trash(path)
    assert native_on_hdfs.files.exists(path)


@pytest.mark.hive
def test_a_file_that_another_client_has_open_takes_no_append(native_on_hdfs: Place, hdfs: Hdfs) -> None:
    path = native_on_hdfs.write("f", content=b"12345678")
    writer = Client(hdfs.uri).append(path.removeprefix(hdfs.uri))
    writer.write(b"90")
    writer.hsync()
    with pytest.raises(OSError, match="lease is currently owned") as refused:
        native_on_hdfs.files.append(path, b"x")
    assert not isinstance(refused.value, FileExistsError)
    with pytest.raises(OSError, match="has not closed it"):
        native_on_hdfs.files.read(path)
    writer.close()
    native_on_hdfs.files.append(path, b"x")
    assert native_on_hdfs.files.read(path) == b"1234567890x"


@pytest.mark.hive
def test_a_forked_process_is_told_that_it_cannot_use_hdfs(native_on_hdfs: Place) -> None:
    path = native_on_hdfs.write("f")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            native_on_hdfs.files.read(path)
            os.write(writing, b"read")
        except OSError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert b"forked" in os.read(reading, 1000)
    os.close(reading)
    os.close(writing)
    assert native_on_hdfs.files.read(path) == b"x"


@pytest.fixture
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """An HDFS of its own, whose name node a test may stop."""
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.mark.hive
@pytest.mark.nightly
def test_calls_wait_for_a_name_node_that_restarts(stopped: Hdfs) -> None:
    files = native(stopped)
    root = f"{stopped.uri}/d"

    def append() -> None:
        assert files.read_end(f"{root}/g", len(BYTES), 1) == BYTES[-1:], "waits for the data node"
        files.append(f"{root}/g", b"end")

    calls: list[Callable[[], object]] = [
        lambda: files.make_new_directory(root),
        lambda: files.write(f"{root}/f", BYTES),
        lambda: files.place(f"{root}/f", f"{root}/g"),
        append,
        lambda: files.assemble(f"{root}/h", [Extent(f"{root}/g", 0, 5)]),
        lambda: files.list_below(root),
        lambda: files.delete(f"{root}/h"),
    ]
    for call in calls:
        stopped.stop_name_node()
        restart = threading.Thread(target=stopped.start_name_node)
        restart.start()
        call()
        restart.join()
    assert [file.path for file in files.list_below(root).files] == ["g"]
    assert files.read(f"{root}/g") == BYTES + b"end"


@pytest.mark.hive
@pytest.mark.nightly
def test_calls_of_many_threads_survive_a_restart_and_place_each_file_once(stopped: Hdfs) -> None:
    """Those whose answer is lost may raise an OSError. A file is then at one of its two places."""
    files = native(stopped)
    root = f"{stopped.uri}/d"
    for number in range(4):
        files.write(f"{root}/{number}/0", str(number).encode())
    done = threading.Event()

    def move(number: int) -> int:
        at = 0
        while not done.is_set():
            assert files.place(f"{root}/{number}/{at}", f"{root}/{number}/{at + 1}")
            at += 1
        return at

    with ThreadPoolExecutor(4) as pool:
        moves = [pool.submit(move, number) for number in range(4)]
        for _ in range(3):
            threading.Event().wait(0.3)
            stopped.stop_name_node()
            stopped.start_name_node()
        done.set()
        reached = [one.result() for one in moves]
    assert all(at > 0 for at in reached)
    assert sorted(file.path for file in files.list_below(root).files) == sorted(
        f"{number}/{at}" for number, at in enumerate(reached)
    )


@pytest.mark.hive
@pytest.mark.nightly
def test_a_client_that_does_not_wait_gives_up_with_an_error(stopped: Hdfs) -> None:
    client = Client(stopped.uri, {"dfs.client.failover.max.attempts": "0"})
    files = HdfsFiles(client, stopped.uri.removeprefix("hdfs://"), patience=0)
    root = f"{stopped.uri}/d"
    files.write(f"{root}/f", BYTES)
    stopped.stop_name_node()
    for call in (
        lambda: files.exists(f"{root}/f"),
        lambda: files.list_below(root),
        lambda: files.read(f"{root}/f"),
        lambda: files.write(f"{root}/g", b"x"),
        lambda: files.place(f"{root}/f", f"{root}/g"),
        lambda: files.delete(f"{root}/f"),
    ):
        with pytest.raises(OSError, match="cannot be reached") as failed:
            call()
        assert not isinstance(failed.value, (FileNotFoundError, FileExistsError))
    stopped.start_name_node()
    assert [file.path for file in files.list_below(root).files] == ["f"]
    assert files.read(f"{root}/f") == BYTES
