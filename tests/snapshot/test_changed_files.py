"""Which directories have the changes of a range of writes, and which of them are halves of updates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acidsql.acid.data_files import File
from acidsql.acid.snapshot_selection import select_snapshot
from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.planner.plan import Scan
from acidsql.snapshot.changed_files import ChangedFiles, changing_writes, require_told
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.snapshot.version import Version
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.local_files import LocalFiles
from tests.answers import fails

TABLE = Table("default", "t", (Column("id", "int"),), "/t", properties={"transactional": "true"})
ONLY_INSERTS = replace(TABLE, properties={**TABLE.properties, "transactional_properties": "insert_only"})
WRITES = ValidWriteIdList("default.t", WriteId(9), frozenset({WriteId(8)}), frozenset({WriteId(5)}))


def part(*directories: str, file: str = "bucket_00000", writes: ValidWriteIdList = WRITES) -> BoundPart:
    files = [File(f"{directory}/{file}", 1) for directory in directories]
    snapshot = select_snapshot(files, writes, ValidTxnList(TxnId(99)), insert_only=file != "bucket_00000")
    return BoundPart((), "/t", snapshot)


def deltas(found: BoundScan) -> list[str]:
    return [directory.name for each in found.parts for directory in each.snapshot.deltas]


def changed(first: int, *parts: BoundPart) -> ChangedFiles:
    return ChangedFiles(BoundScan(Scan("t@1", TABLE), LocalFiles(), parts), Version(WriteId(first - 1)), FooterCache())


def test_inserted_rows_are_those_of_later_deltas_and_those_of_updates_have_a_delete_delta_beside_them() -> None:
    files = changed(
        4,
        part(
            "base_0000002",
            "delta_0000003_0000003_0000",
            "delta_0000004_0000004_0000",
            "delta_0000004_0000004_0001",
            "delete_delta_0000004_0000004_0001",
            "delete_delta_0000004_0000004_0002",
            "delta_0000006_0000006_0001",
            "delete_delta_0000006_0000006_0000",
            "delta_0000007_0000007_0000",
        ),
        part("delete_delta_0000007_0000007_0000"),
    )
    inserted, updated = (files.inserted(by_updates=by_updates) for by_updates in (False, True))
    # Write 6 is an UPDATE of Hive 4, and write 7 has moved rows to another partition.
    assert deltas(inserted) == [f"delta_{name}" for name in ("0000004_0000004_0000", "0000006_0000006_0001")] + [
        "delta_0000007_0000007_0000"
    ]
    assert deltas(updated) == ["delta_0000004_0000004_0001"]
    assert all(each.snapshot.base is None and not each.snapshot.delete_deltas for each in inserted.parts)


def test_a_compacted_directory_does_not_tell_updates() -> None:
    files = changed(6, part("delta_0000006_0000006_v0000009", "delete_delta_0000006_0000006_v0000009"))
    assert deltas(files.inserted(by_updates=False)) == ["delta_0000006_0000006_v0000009"]
    assert deltas(files.inserted(by_updates=True)) == []


def test_the_writes_with_changes_are_those_that_are_committed() -> None:
    parts = [
        part("base_0000002", "delta_0000003_0000006_v0000009", "delete_delta_0000003_0000006_v0000009"),
        part("delta_0000007_0000007_0000", "delete_delta_0000009_0000009_0001"),
    ]
    assert changing_writes(parts, Version(WriteId(3)), WRITES) == {4, 6, 7, 9}
    assert changing_writes(parts, Version(WriteId(7)), WRITES) == {9}
    assert changing_writes([], Version(WriteId(0)), WRITES) == frozenset()


@pytest.mark.parametrize(
    ("table", "directory", "file", "first", "is_told"),
    [
        (TABLE, "delta_0000001_0000003_v0000009", "bucket_00000", 1, True),
        (TABLE, "delta_0000001_0000003_v0000009", "000000_0", 1, False),
        (TABLE, "delta_0000003_0000003_0000", "000000_0", 1, True),
        (ONLY_INSERTS, "delta_0000001_0000003_v0000009", "000000_0", 1, False),
        (ONLY_INSERTS, "delta_0000001_0000003_v0000009", "000000_0", 3, False),
        (ONLY_INSERTS, "delta_0000001_0000003_v0000009", "000000_0", 4, True),
        (ONLY_INSERTS, "delta_0000003_0000003_v0000009", "000000_0", 1, True),
    ],
)
def test_rows_of_several_writes_are_refused_where_they_do_not_tell_theirs(
    table: Table, directory: str, file: str, first: int, is_told: bool
) -> None:
    found = [part(directory, file=file)]
    if is_told:
        require_told(table, found, Version(WriteId(first - 1)), None)
    else:
        fails("NOT_ENOUGH_HISTORY", lambda: require_told(table, found, Version(WriteId(first - 1)), None))
