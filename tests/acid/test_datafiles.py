"""The facts of each selected file: bucket, statement ID, kind and flush length."""

from __future__ import annotations

import pytest

from acidsql.acid.data_files import flushed_length
from acidsql.acid.snapshot_selection import DataFile, File, FileKind, Snapshot, select_snapshot
from acidsql.acid.write_ids import StatementId, TxnId, ValidTxnList, ValidWriteIdList, WriteId


def select(*paths: str, insert_only: bool = False) -> Snapshot:
    return select_snapshot(
        [File(path, 500) for path in paths],
        ValidWriteIdList("d.t", WriteId(100)),
        ValidTxnList(TxnId(100)),
        insert_only=insert_only,
    )


def data(path: str, bucket: int, statement: int, kind: FileKind, flush_length: str | None = None) -> DataFile:
    return DataFile(File(path, 500), bucket, StatementId(statement), kind, flush_length)


def test_a_data_file_has_the_bucket_in_its_name_and_the_statement_id_of_its_directory() -> None:
    snapshot = select("delta_1_1_3/bucket_00007_1", "delete_delta_2_2_12/bucket_00000")
    assert snapshot.deltas[0].files == (data("delta_1_1_3/bucket_00007_1", 7, 3, FileKind.ACID),)
    assert snapshot.delete_deltas[0].files == (data("delete_delta_2_2_12/bucket_00000", 0, 12, FileKind.ACID),)


def test_a_directory_without_a_statement_id_has_statement_zero() -> None:
    snapshot = select("base_4_v9/bucket_00001", "delta_5_6_v10/bucket_00002")
    assert snapshot.base is not None
    assert snapshot.base.files == (data("base_4_v9/bucket_00001", 1, 0, FileKind.ACID),)
    assert snapshot.deltas[0].files == (data("delta_5_6_v10/bucket_00002", 2, 0, FileKind.ACID),)


def test_loaded_files_are_plain() -> None:
    snapshot = select("base_4/000000_0", "delta_5_5_1/000002_0", "delta_5_5_1/000002_0_copy_1")
    assert snapshot.base is not None
    assert snapshot.base.files == (data("base_4/000000_0", 0, 0, FileKind.PLAIN),)
    assert snapshot.deltas[0].files == (
        data("delta_5_5_1/000002_0", 2, 1, FileKind.PLAIN),
        data("delta_5_5_1/000002_0_copy_1", 2, 1, FileKind.PLAIN),
    )


def test_a_flush_length_is_attached_to_its_bucket_file_and_is_no_data() -> None:
    snapshot = select("delta_5_14/bucket_00000", "delta_5_14/bucket_00000_flush_length", "delta_5_14/bucket_00001")
    assert snapshot.deltas[0].files == (
        data("delta_5_14/bucket_00000", 0, 0, FileKind.ACID, "delta_5_14/bucket_00000_flush_length"),
        data("delta_5_14/bucket_00001", 1, 0, FileKind.ACID),
    )


@pytest.mark.parametrize("unfinished", [b"", b"\0", b"\0\0\0\0\0\0\7"])
def test_the_last_complete_number_of_a_side_file_is_the_flush_length(unfinished: bytes) -> None:
    lengths = b"".join(length.to_bytes(8, "big") for length in (300, 1 << 33))
    assert flushed_length("delta_5_14/bucket_00000_flush_length", lengths + unfinished) == 1 << 33


def test_a_flush_length_may_be_there_before_its_bucket_file() -> None:
    snapshot = select("delta_5_14/bucket_00000", "delta_5_14/bucket_00001_flush_length")
    assert snapshot.deltas[0].files == (data("delta_5_14/bucket_00000", 0, 0, FileKind.ACID),)


def test_files_in_subdirectories_keep_their_path() -> None:
    snapshot = select("delta_1_1_1/HIVE_UNION_SUBDIR_1/000000_0", "base_0/delta_0000001_0000001_0000/bucket_00004")
    assert snapshot.base is not None
    assert [file.bucket for file in snapshot.base.files] == [4]
    assert snapshot.deltas[0].files == (data("delta_1_1_1/HIVE_UNION_SUBDIR_1/000000_0", 0, 1, FileKind.PLAIN),)


def test_the_version_file_is_seen_but_is_no_data() -> None:
    with_file, without = select(
        "delta_1_1_0/_orc_acid_version", "delta_1_1_0/bucket_00000", "delta_2_2_0/000000_0"
    ).deltas
    assert (with_file.has_version_file, len(with_file.files)) == (True, 1)
    assert (without.has_version_file, len(without.files)) == (False, 1)


def test_a_truncated_base_has_no_data_file() -> None:
    snapshot = select("base_2/_metadata_acid", "delta_1_1_0/bucket_00000")
    assert snapshot.base is not None
    assert snapshot.base.files == ()


def test_original_files_have_the_bucket_of_their_name_and_statement_zero() -> None:
    snapshot = select("000001_0", "000000_0_copy_1", "000000_0", "HIVE_UNION_SUBDIR_1/000001_0")
    assert [(d.file.path, d.bucket, d.statement_id, d.kind) for d in snapshot.original_files] == [
        ("000000_0", 0, 0, FileKind.PLAIN),
        ("000000_0_copy_1", 0, 0, FileKind.PLAIN),
        ("000001_0", 1, 0, FileKind.PLAIN),
        ("HIVE_UNION_SUBDIR_1/000001_0", 1, 0, FileKind.PLAIN),
    ]


def test_an_original_file_of_no_bytes_has_no_rows() -> None:
    snapshot = select_snapshot(
        [File("000000_0", 0), File("000001_0", 10)], ValidWriteIdList("d.t", WriteId(0)), ValidTxnList(TxnId(0))
    )
    assert snapshot.originals == (File("000001_0", 10),)


def test_every_file_of_an_insert_only_table_is_plain() -> None:
    snapshot = select("delta_1_1_0/000003_0", "delta_1_1_0/x.parquet", "000001_0", "old.txt", insert_only=True)
    assert snapshot.deltas[0].files == (
        data("delta_1_1_0/000003_0", 3, 0, FileKind.PLAIN),
        data("delta_1_1_0/x.parquet", 0, 0, FileKind.PLAIN),
    )
    assert [file.path for file in snapshot.originals] == ["000001_0", "old.txt"]


def test_a_file_listed_twice_is_read_once() -> None:
    assert len(select("delta_1_1_0/bucket_00000", "delta_1_1_0/bucket_00000").deltas[0].files) == 1
