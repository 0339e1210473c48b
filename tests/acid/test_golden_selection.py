"""Tables that Hive 4.0.1 wrote: the selected files, read with pyorc, have the row IDs that Hive read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from pathlib import Path

import pyorc
import pytest

from acidsql.acid.layout import (
    ACID_FIELDS,
    ACID_VERSION_CONTENT,
    ACID_VERSION_FILE,
    METADATA_FILE,
    OPERATION_DELETE,
    OPERATION_INSERT,
    TRUNCATED_METADATA,
    adopted_write_ids,
    bucket_name,
    delta_name,
)
from acidsql.acid.row_id import RowId, decode_bucket, encode_bucket
from acidsql.acid.snapshot_selection import DataFile, File, FileKind, SelectedDirectory, Snapshot, select_snapshot
from acidsql.acid.write_ids import StatementId, ValidWriteIdList, WriteId, parse_valid_txns

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = [
    "aborted_open",
    "bucketed",
    "load_data",
    "major_compacted",
    "minor_compacted.before_clean",
    "originals.changed",
    "partitioned_ops",
    "truncate",
    "union_all",
]


@pytest.mark.parametrize("case", CASES)
def test_the_selected_files_hold_the_row_ids_that_hive_reads(case: str) -> None:
    expected = [json.loads(line) for line in (GOLDEN / case / "expected_rowid.jsonl").read_text().splitlines()]
    wanted = sorted((folder_of(row["file"]), row_id(row["rowid"])) for row in expected)
    assert wanted or case == "truncate"
    table = GOLDEN / case / "warehouse" / "t"
    found = [(part, row) for part in partitions(table) for row in live_rows(table / part, snapshot(case, part))]
    assert sorted(found) == wanted


@pytest.mark.parametrize("case", CASES)
def test_the_bucket_property_of_every_event_is_its_file_and_statement(case: str) -> None:
    table = GOLDEN / case / "warehouse" / "t"
    for part in partitions(table):
        chosen = snapshot(case, part)
        for directory in chosen.deltas:
            if directory.parsed.visibility_txn is None:
                for data in directory.files:
                    assert {row.bucket_property for _, row, _ in events(table / part, directory, data)} <= {
                        encode_bucket(data.bucket, data.statement_id)
                    }
        for directory in chosen.delete_deltas:
            for data in directory.files:
                # A delete event lies in the file of its row's bucket, whatever statement wrote that row.
                buckets = {
                    decode_bucket(row.bucket_property).bucket for _, row, _ in events(table / part, directory, data)
                }
                assert buckets == {data.bucket}


def test_an_acid_file_has_the_six_fields_and_the_operations() -> None:
    table = GOLDEN / "aborted_open" / "warehouse" / "t"
    inserted = read(table / delta_name(WriteId(1), StatementId(0)) / "bucket_00000_0")
    deleted = read(table / "delete_delta_0000003_0000003_0000" / "bucket_00000_0")
    for file in (inserted, deleted):
        assert isinstance(file.schema, pyorc.Struct)
        assert tuple(file.schema.fields) == ACID_FIELDS
    assert {row[0] for row in inserted} == {OPERATION_INSERT}
    assert {row[0] for row in deleted} == {OPERATION_DELETE}


def test_the_version_file_and_the_metadata_of_truncate_are_hives() -> None:
    versions = [path for case in CASES for path in (GOLDEN / case).rglob(ACID_VERSION_FILE)]
    assert {path.read_bytes() for path in versions} == {ACID_VERSION_CONTENT}
    truncated = GOLDEN / "truncate" / "warehouse" / "t" / "base_0000002" / METADATA_FILE
    assert truncated.read_bytes() == TRUNCATED_METADATA


def test_a_compactor_names_bucket_files_as_acidsql_does() -> None:
    assert (
        GOLDEN / "minor_compacted.before_clean/warehouse/t/delta_0000001_0000004_v0000699" / bucket_name(0)
    ).exists()


@pytest.mark.parametrize("case", CASES)
def test_an_adopted_high_watermark_is_the_highest_write_id_that_left_a_directory(case: str) -> None:
    table = GOLDEN / case / "warehouse" / "t"
    high, visible = adopted_write_ids(str(path.relative_to(table)) for path in table.rglob("*") if path.is_file())
    facts = json.loads((GOLDEN / case / "writeids.json").read_text())
    assert high == facts["tables"]["t"]["high_watermark"]
    assert all(parse_valid_txns(facts["valid_txns"]).is_valid(txn) for txn in visible)


# -- a reader of a few lines


def snapshot(case: str, partition: str) -> Snapshot:
    facts = json.loads((GOLDEN / case / "writeids.json").read_text())
    ids = facts["tables"]["t"]
    root = GOLDEN / case / "warehouse" / "t" / partition
    return select_snapshot(
        [
            File(str(path.relative_to(root)), path.stat().st_size)
            for path in root.rglob("*")
            if path.is_file() and "=" not in str(path.relative_to(root))
        ],
        ValidWriteIdList(
            ids["table"], WriteId(ids["high_watermark"]), frozenset(ids["open"]), frozenset(ids["aborted"])
        ),
        parse_valid_txns(facts["valid_txns"]),
    )


def partitions(table: Path) -> list[str]:
    return sorted(path.name for path in table.iterdir() if "=" in path.name) or [""]


def folder_of(path: str) -> str:
    return path.partition("/")[0] if "=" in path else ""


def live_rows(root: Path, chosen: Snapshot) -> Iterator[RowId]:
    deleted = {
        row
        for directory in chosen.delete_deltas
        for data in directory.files
        for operation, row, _ in visible(directory, events(root, directory, data))
        if operation == OPERATION_DELETE
    }
    for directory in (*((chosen.base,) if chosen.base else ()), *chosen.deltas):
        for data in directory.files:
            yield from (row for _, row, _ in visible(directory, events(root, directory, data)) if row not in deleted)
    counters = {data.bucket: count() for data in chosen.original_files}
    for data in chosen.original_files:
        for _ in read(root / data.file.path):
            row = RowId(WriteId(0), encode_bucket(data.bucket, 0), next(counters[data.bucket]))
            if row not in deleted:
                yield row


Event = tuple[int, RowId, int]
"""Operation, row ID, current transaction."""


def events(root: Path, directory: SelectedDirectory, data: DataFile) -> Iterator[Event]:
    for number, row in enumerate(read(root / data.file.path)):
        match data.kind:
            case FileKind.ACID:
                operation, original, bucket, row_number, current, _ = row
                yield operation, RowId(original, bucket, row_number), current
            case FileKind.PLAIN:
                write_id, _ = adopted_write_ids([], [directory.name])
                yield OPERATION_INSERT, RowId(write_id, encode_bucket(data.bucket, data.statement_id), number), write_id


def visible(directory: SelectedDirectory, found: Iterator[Event]) -> Iterator[Event]:
    return (event for event in found if event[2] not in directory.invalid_write_ids)


def read(path: Path) -> pyorc.Reader:
    return pyorc.Reader(BytesIO(path.read_bytes()))


def row_id(fields: dict[str, int]) -> RowId:
    return RowId(WriteId(fields["writeid"]), fields["bucketid"], fields["rowid"])
