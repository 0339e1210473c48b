"""File systems: one contract for the operating system's files and for Hadoop's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from acidsql.spark.catalyst.sessions import hadoop_files
from acidsql.storage.file_systems import Extent, FileSystem, NewEnd, end_of_pieces, is_local
from acidsql.storage.local_files import LocalFiles


@pytest.fixture(params=["local", "hadoop"])
def files(request: pytest.FixtureRequest) -> FileSystem:
    if request.param == "local":
        return LocalFiles()
    spark: SparkSession = request.getfixturevalue("spark")
    return hadoop_files(spark)


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(path.encode())


def test_a_listing_has_files_and_directories_at_every_depth(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "a", "p=1/delta_1/bucket_0", "p=1/delta_1/_orc_acid_version")
    (tmp_path / "empty").mkdir()
    listing = files.list_below(str(tmp_path))
    assert {f.path: f.length for f in listing.files} == {
        "a": 1,
        "p=1/delta_1/bucket_0": len("p=1/delta_1/bucket_0"),
        "p=1/delta_1/_orc_acid_version": len("p=1/delta_1/_orc_acid_version"),
    }
    assert sorted(listing.directories) == ["empty", "p=1", "p=1/delta_1"]


def test_a_listing_leaves_out_what_lies_in_hidden_directories(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "_staging/delta_1/bucket_0", ".tmp/x", "p=1/_impala/x", "p=1/y")
    listing = files.list_below(str(tmp_path))
    assert [f.path for f in listing.files] == ["p=1/y"]
    assert listing.directories == ("p=1",)


def test_directories_are_found_by_the_beginning_of_their_names(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, ".staged_1_2/x", ".staged_2/x", "p=1/.staged_3/x", ".other/x", ".staged_file", "[p={1}]/.staged_4/x")
    assert sorted(files.directories_named(str(tmp_path), ".staged_")) == [".staged_1_2", ".staged_2"]
    assert list(files.directories_named(f"{tmp_path}/[p={{1}}]", ".staged_")) == [".staged_4"]
    assert list(files.directories_named(f"{tmp_path}/missing", ".staged_")) == []


def test_check_sum_files_of_hadoop_are_not_listed(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "bucket_0", ".bucket_0.crc")
    assert [f.path for f in files.list_below(str(tmp_path)).files] == ["bucket_0"]


def test_a_listing_has_the_times_at_which_files_were_changed(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "a")
    (found,) = files.list_below(str(tmp_path)).files
    assert abs(found.modified - (tmp_path / "a").stat().st_mtime_ns // 1_000_000) <= 1000


def test_a_file_that_is_looked_up_is_what_a_listing_shows(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "p=1/a b%20")
    (found,) = files.list_below(str(tmp_path)).files
    path = f"{tmp_path}/{found.path}"
    assert files.find_file(path) == replace(found, path=path)
    assert files.find_file(f"{tmp_path}/p=1") is None
    assert files.find_file(f"{tmp_path}/p=1/missing") is None
    assert files.find_file(f"{path}/below") is None


def test_a_missing_directory_lists_as_empty(files: FileSystem, tmp_path: Path) -> None:
    listing = files.list_below(str(tmp_path / "missing"))
    assert (listing.files, listing.directories) == ((), ())


def test_names_with_blanks_and_percent_signs_do_not_change(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "p=a%3Db%2Fc d/x y")
    listing = files.list_below(str(tmp_path))
    assert [f.path for f in listing.files] == ["p=a%3Db%2Fc d/x y"]
    assert files.read(f"{tmp_path}/p=a%3Db%2Fc d/x y") == b"p=a%3Db%2Fc d/x y"


def test_what_is_written_is_read_back(files: FileSystem, tmp_path: Path) -> None:
    directory = f"{tmp_path}/made/below"
    files.make_directories(directory)
    files.make_directories(directory)
    content = bytes(range(256)) * 40
    files.write(f"{directory}/x", content)
    assert files.exists(f"{directory}/x")
    assert files.read(f"{directory}/x") == content
    assert files.read_end(f"{directory}/x", len(content), 100) == content[-100:]
    assert files.read_end(f"{directory}/x", len(content), len(content) + 1) == content


def test_the_start_of_a_file_is_read_and_copied_without_the_rest(files: FileSystem, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40
    (tmp_path / "x").write_bytes(content)
    assert files.read_end(f"{tmp_path}/x", 1000, 100) == content[900:1000]
    scratch = files.scratch_directory(str(tmp_path))
    assert files.exists(scratch)
    files.copy_start(f"{tmp_path}/x", 1000, b"end", f"{scratch}/y")
    assert files.read(f"{scratch}/y") == content[:1000] + b"end"
    assert (tmp_path / "x").read_bytes() == content


def test_a_file_is_made_of_pieces_unless_there_is_one(files: FileSystem, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40
    (tmp_path / "x").write_bytes(content)
    pieces = (b"start", Extent(f"{tmp_path}/x", 100, 5000), b"", b"end")
    assert files.place_pieces(pieces, f"{tmp_path}/y")
    whole = b"start" + content[100:5100] + b"end"
    assert files.read(f"{tmp_path}/y") == whole
    assert [end_of_pieces(files, pieces, count) for count in (0, 2, 3, 10, 5008, 9999)] == [
        b"",
        *(whole[-count:] for count in (2, 3, 10, 5008, 9999)),
    ]
    assert not files.place_pieces((b"other",), f"{tmp_path}/y")
    assert files.read(f"{tmp_path}/y") == whole


def test_a_file_that_is_shorter_than_its_extent_is_an_error(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "x")
    with pytest.raises(OSError, match="ends 2 bytes before the end"):
        files.assemble(f"{tmp_path}/y", (Extent(f"{tmp_path}/x", 0, 3), b"end"))


def test_a_renamed_file_is_in_its_new_place_only(files: FileSystem, tmp_path: Path) -> None:
    put(tmp_path, "old/x")
    (tmp_path / "new").mkdir()
    files.rename(f"{tmp_path}/old/x", f"{tmp_path}/new/y")
    assert (tmp_path / "new/y").read_bytes() == b"old/x"
    assert not files.exists(f"{tmp_path}/old/x")


def test_a_rename_that_fails_is_an_error(files: FileSystem, tmp_path: Path) -> None:
    with pytest.raises((OSError, Py4JJavaError), match="missing"):
        files.rename(f"{tmp_path}/missing", f"{tmp_path}/y")


def test_deleting_removes_a_directory_with_its_files_and_a_missing_one_is_no_error(
    files: FileSystem, tmp_path: Path
) -> None:
    put(tmp_path, "d/e/x", "f")
    for name in ("d", "f", "missing"):
        files.delete(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_a_local_file_is_replaced_by_a_shorter_or_a_longer_one(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for end in (b"", b"ab", b"a longer end than before"):
        path.write_bytes(b"0123456789")
        LocalFiles().replace_end(str(path), 4, end)
        assert path.read_bytes() == b"0123" + end


def test_ranges_of_a_file_are_read(files: FileSystem, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(256)) * 100)
    with files.open(f"{tmp_path}/x") as file:
        assert file.seek(-2, 2) == 25598
        assert file.read() == b"\xfe\xff"
        assert file.read(1) == b""
        file.seek(300)
        assert file.read(3) == bytes([44, 45, 46])
        assert file.tell() == 303


def test_data_is_appended_to_a_local_file(tmp_path: Path) -> None:
    put(tmp_path, "x")
    LocalFiles().append(f"{tmp_path}/x", b" and more")
    assert (tmp_path / "x").read_bytes() == b"x and more"


def test_a_file_system_that_cannot_rewrite_files_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop's local files have check sums beside them, and cannot be appended to either."""
    hadoop = hadoop_files(spark)
    assert hadoop.new_end(f"file://{tmp_path}/x") is NewEnd.IN_A_COPY
    put(tmp_path, "x")
    with pytest.raises(OSError, match="cannot be rewritten"):
        hadoop.replace_end(f"{tmp_path}/x", 0, b"")


def test_a_file_that_is_removed_during_a_listing_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "a")
    (tmp_path / "gone").symlink_to(tmp_path / "missing")
    assert [f.path for f in LocalFiles().list_below(str(tmp_path)).files] == ["a"]


@pytest.mark.parametrize(
    ("location", "path"),
    [("/a/b c", "/a/b c"), ("file:/a/b%20c", "/a/b c"), ("file:///a/b", "/a/b"), ("/a%20b", "/a%20b")],
)
def test_a_local_location_becomes_a_path(location: str, path: str) -> None:
    assert is_local(location)
    assert LocalFiles().resolve(location) == path


@pytest.mark.parametrize("location", ["hdfs://nn/a", "s3a://bucket/a"])
def test_other_schemes_are_not_local(location: str) -> None:
    assert not is_local(location)
