"""What an object store does otherwise than a disk: markers of directories, and answers that are lost."""

from __future__ import annotations

import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acidsql.session import connect
from acidsql.storage.file_systems import Extent
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings
from acidsql.storage.stores.object_store_files import ObjectStoreFiles
from acidsql.storage.stores.stores import Stores
from tests.interop.s3_proxy import Fault, S3Proxy
from tests.interop.s3_server import s3a_settings, signed

pytestmark = [pytest.mark.hive, pytest.mark.timeout(300)]


@pytest.fixture
def files(s3: S3Proxy) -> ObjectStoreFiles:
    s3.begin()
    settings = HadoopSettings(s3a_settings(s3.port))
    found = Stores(lambda: settings, LocalFiles).find(f"s3a://{s3.bucket}")
    assert isinstance(found, ObjectStoreFiles)
    return found


@pytest.fixture
def root(s3: S3Proxy) -> str:
    """A directory of the bucket that no other test uses."""
    return f"s3a://{s3.bucket}/{uuid.uuid4().hex}"


def mark(s3: S3Proxy, directory: str) -> None:
    """Marks a directory as Hadoop's client does, by an empty object whose key ends with a slash."""
    path = urllib.parse.quote(directory.removeprefix("s3a:/"))
    urllib.request.urlopen(signed("PUT", f"127.0.0.1:{s3.store_port}", f"{path}/")).close()


def test_markers_are_directories_and_no_files(files: ObjectStoreFiles, root: str, s3: S3Proxy) -> None:
    files.write(f"{root}/delta_0000001_0000001_0000/bucket_00000", b"x")
    files.write(f"{root}/empty file", b"")
    for name in ("", "/delta_0000001_0000001_0000", "/delta_0000002_0000002_0000", "/p=1", "/.hidden", "/any"):
        mark(s3, root + name)
    listing = files.list_below(root)
    assert sorted(file.path for file in listing.files) == ["delta_0000001_0000001_0000/bucket_00000", "empty file"]
    marked = ["any", "delta_0000001_0000001_0000", "delta_0000002_0000002_0000", "p=1"]
    assert sorted(listing.directories) == marked
    assert listing.hidden == (".hidden",)


def test_the_bucket_itself_is_a_directory(files: ObjectStoreFiles, root: str, s3: S3Proxy) -> None:
    files.write(f"{root}/a/f", b"x")
    bucket, name = f"s3a://{s3.bucket}", root.rpartition("/")[2]
    assert f"{name}/a/f" in [file.path for file in files.list_below(bucket).files]
    assert files.directories_named(bucket, name) == [name]
    assert files.directories_named(bucket, "") != []
    assert files.exists(bucket)
    with pytest.raises(OSError, match="does not lie in"):
        files.read("s3a://another/f")
    with pytest.raises(OSError, match="a whole bucket is not removed"):
        files.delete(bucket)
    assert files.exists(f"{root}/a/f")


def test_a_directory_is_removed_with_its_markers(files: ObjectStoreFiles, root: str, s3: S3Proxy) -> None:
    files.write(f"{root}/t/delta_0000001_0000001_0000/bucket_00000", b"x")
    mark(s3, f"{root}/t")
    mark(s3, f"{root}/t/delta_0000001_0000001_0000")
    s3.begin()
    files.delete(f"{root}/t")
    assert not files.exists(f"{root}/t")
    assert files.list_below(f"{root}/t").directories == ()
    assert [r.path for r in s3.requests if r.method == "DELETE"] == [f"{root.removeprefix('s3a:/')}/t/"]


def test_a_directory_moves_with_all_its_files(files: ObjectStoreFiles, root: str, s3: S3Proxy) -> None:
    for name in ("a", "b/c", "b/.d/e"):
        files.write(f"{root}/old/{name}", name.encode())
    mark(s3, f"{root}/old/b")
    files.rename(f"{root}/old", f"{root}/new")
    assert not files.exists(f"{root}/old")
    assert [files.read(f"{root}/new/{name}") for name in ("a", "b/c", "b/.d/e")] == [b"a", b"b/c", b"b/.d/e"]
    files.write(f"{root}/other/a", b"other")
    with pytest.raises(FileExistsError):
        files.rename(f"{root}/other", f"{root}/new")
    assert files.read(f"{root}/new/a") == b"a"


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.BUSY])
def test_a_new_file_is_made_once_also_if_its_answer_is_lost(
    files: ObjectStoreFiles, root: str, s3: S3Proxy, fault: Fault
) -> None:
    s3.begin(lambda request: fault if request.number == 1 else None)
    assert files.place_pieces((b"rows",), f"{root}/f")
    s3.begin(lambda request: fault if request.number == 1 else None)
    assert not files.place_pieces((b"rows",), f"{root}/f"), "an equal file of another writer is none of its own"
    assert files.read(f"{root}/f") == b"rows"


def test_of_many_that_place_an_equal_file_one_succeeds(files: ObjectStoreFiles, root: str) -> None:
    for number in range(8):
        files.write(f"{root}/{number}", b"equal rows")
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda number: files.place(f"{root}/{number}", f"{root}/target"), range(8)))
    assert sorted(placed) == [False] * 7 + [True]
    assert sorted(file.path for file in files.list_below(root).files) == sorted(
        ["target", *(str(number) for number in range(8) if not placed[number])]
    )


def test_a_large_file_is_made_of_pieces_of_others(files: ObjectStoreFiles, root: str) -> None:
    content = bytes(range(256)) * (160 << 10)  # 40 MiB, sent in parts
    files.write(f"{root}/source", content[: 10 << 20])
    pieces = (b"head", Extent(f"{root}/source", 5, (10 << 20) - 5), content)
    assert files.place_pieces(pieces, f"{root}/made")
    assert files.read(f"{root}/made") == b"head" + content[5 : 10 << 20] + content
    assert not files.place_pieces(pieces, f"{root}/made")
    assert files.place(f"{root}/made", f"{root}/moved")
    assert files.file_size(f"{root}/moved") == len(content) + (10 << 20) - 1
    assert not files.exists(f"{root}/made")


def test_a_setting_that_changes_is_looked_at_again(s3: S3Proxy, tmp_path: Path) -> None:
    s3.begin()
    conf = {f"spark.hadoop.{key}": value for key, value in s3a_settings(s3.port).items()}
    warehouse = f"s3a://{s3.bucket}/{uuid.uuid4().hex}"
    with connect(warehouse, f"sqlite:///{tmp_path}/metastore.db", conf=conf) as session:
        assert session._files.needs_hadoop(warehouse) is None
        session.execute("SET spark.hadoop.fs.s3a.encryption.algorithm=CSE-KMS")
        reason = session._files.needs_hadoop(warehouse)
        assert reason is not None
        assert "fs.s3a.encryption.algorithm" in reason
        session.execute("SET spark.hadoop.fs.s3a.encryption.algorithm=AES256")
        assert session._files.needs_hadoop(warehouse) is None
        session.execute("SET acidsql.storage.own.clients=false")
        assert session._files.needs_hadoop(warehouse) == "the setting acidsql.storage.own.clients is false"
