"""The files of acidsql, read with pyorc: directories, events and metadata, field by field (hive-acid-v2.md)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from acidsql.acid.row_id import decode_bucket
from acidsql.session import Session
from tests.support.acid_files import Event, EventFile, check_file, event_files, key_of, read_events, visible_paths
from tests.support.employee import STATEMENTS

SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int,name:string,salary:int>>"
)
BUCKET_0 = 536870912
"""The bucket property of bucket 0, statement 0; statement 1 is one more."""


@pytest.fixture
def warehouse(session: Session, tmp_path: Path) -> Path:
    """The warehouse after the story."""
    for statement in STATEMENTS:
        session.execute(statement)
    return tmp_path / "warehouse"


EMPLOYEE: dict[str, list[Event]] = {
    "delta_0000001_0000001_0000": [
        (0, 1, BUCKET_0, 0, 1, (1, "Jerry", 5000)),
        (0, 1, BUCKET_0, 1, 1, (2, "Tom", 8000)),
        (0, 1, BUCKET_0, 2, 1, (3, "Kate", 6000)),
    ],
    "delete_delta_0000002_0000002_0000": [(2, 1, BUCKET_0, 1, 2, None)],
    "delta_0000002_0000002_0000": [(0, 2, BUCKET_0, 0, 2, (2, "Tom", 7000))],
    "delta_0000003_0000003_0000": [(0, 3, BUCKET_0, 0, 3, (4, "Mary", 9000))],
    "delete_delta_0000003_0000003_0001": [(2, 2, BUCKET_0, 0, 3, None)],
    "delta_0000003_0000003_0001": [(0, 3, BUCKET_0 + 1, 1, 3, (2, "Tom", 7500))],
    "delete_delta_0000004_0000004_0000": [(2, 1, BUCKET_0, 0, 4, None)],
}
"""Row IDs of one MERGE count over all its new rows of a task: holes are allowed there."""
EMPLOYEE_UPDATE: dict[str, list[Event]] = {
    "delta_0000001_0000001_0000": [
        (0, 1, BUCKET_0, 0, 1, (2, "Tom", 7500)),
        (0, 1, BUCKET_0, 1, 1, (4, "Mary", 9000)),
    ]
}
STORY = {"employee": EMPLOYEE, "employee_update": EMPLOYEE_UPDATE}


def test_the_story_leaves_these_files_and_no_others(warehouse: Path) -> None:
    for table, directories in STORY.items():
        expected = [f"{d}/{name}" for d in directories for name in ("_orc_acid_version", "bucket_00000")]
        assert visible_paths(warehouse / table) == sorted(expected)
    assert sorted(p.name for p in warehouse.iterdir()) == ["employee", "employee_update"]


def test_every_directory_has_acid_version_2(warehouse: Path) -> None:
    found = [path.read_bytes() for path in warehouse.rglob("_orc_acid_version")]
    assert found == [b"2"] * 8


def test_every_event_of_the_story_is_as_hive_writes_it(warehouse: Path) -> None:
    for table, directories in STORY.items():
        found = {file.directory: file for file in event_files(warehouse / table)}
        assert {name: file.events for name, file in found.items()} == directories
        for file in found.values():
            check_file(file, SCHEMA)


def test_the_metadata_of_the_story_is_what_hive_would_write(warehouse: Path) -> None:
    def metadata(directory: str) -> dict[str, str]:
        return read_events(warehouse / "employee" / directory / "bucket_00000").metadata

    assert metadata("delta_0000001_0000001_0000") == {
        "hive.acid.key.index": "1,536870912,2;",
        "hive.acid.stats": "3,0,0",
        "hive.acid.version": "2",
    }
    assert metadata("delete_delta_0000003_0000003_0001") == {
        "hive.acid.key.index": "2,536870912,0;",
        "hive.acid.stats": "0,0,1",
        "hive.acid.version": "2",
    }


def test_a_branch_without_rows_makes_no_directory(session: Session, tmp_path: Path) -> None:
    session.execute(STATEMENTS[0])
    session.execute(STATEMENTS[1])
    session.execute(
        "MERGE INTO employee t USING (VALUES (9)) AS s(k) ON t.id = s.k WHEN MATCHED AND t.salary > 0 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET salary = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'New', 1)"
    )
    session.execute("UPDATE employee SET salary = 1 WHERE id = 77")
    session.execute("DELETE FROM employee WHERE id = 77")
    session.execute("INSERT INTO employee SELECT * FROM employee WHERE id = 77")
    assert {path.split("/")[0] for path in visible_paths(tmp_path / "warehouse" / "employee")} == {
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
    }
    assert session.last_result is not None
    assert session.last_result.write_ids == {"default.employee": 5}


# ------------------------------------------------------------------------------------------------ larger data

ROWS = 200_000
WIDE_SCHEMA = SCHEMA.replace("id:int,name:string,salary:int", "id:bigint,v:int,name:string,code:char(4)")


@pytest.fixture
def wide(session: Session) -> Session:
    """A table of 200,000 rows in four buckets, of small stripes; names that do not compress, so that it is large."""
    session.execute(
        "CREATE TABLE wide (id bigint, v int, name string, code char(4)) STORED AS ORC"
        " TBLPROPERTIES ('transactional'='true', 'orc.stripe.size'='65536')"
    )
    columns = ("id", "CAST(id % 100 AS INT) AS v", "sha2(CAST(id AS STRING), 512) AS name", "'ab' AS code")
    rows = session.spark.range(0, ROWS, 1, 4).selectExpr(*columns)
    session.sql("INSERT INTO wide SELECT * FROM {rows}", rows=rows)
    return session


@pytest.mark.nightly
def test_every_file_of_large_statements_keeps_the_rules(wide: Session, tmp_path: Path) -> None:
    table = tmp_path / "warehouse" / "wide"
    check_insert(event_files(table))

    wide.execute("UPDATE wide SET v = v + 1000 WHERE id % 4 = 1")
    source = wide.spark.range(ROWS - 20_000, ROWS + 20_000, 1, 3).withColumnRenamed("id", "k")
    wide.sql(
        "MERGE INTO wide t USING {source} s ON t.id = s.k"
        " WHEN MATCHED AND k % 10 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -1"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.k, -2, sha2(CAST(s.k AS STRING), 512), 'new')",
        source=source,
    )
    wide.execute("DELETE FROM wide WHERE id % 3 = 0")

    files = event_files(table)
    for file in files:
        check_file(file, WIDE_SCHEMA)
    check_deletes_name_live_rows(files)
    check_spread(files)
    assert {path.split("/")[0] for path in visible_paths(table)} == {
        "delta_0000001_0000001_0000",
        "delta_0000002_0000002_0000",
        "delete_delta_0000002_0000002_0000",
        "delta_0000003_0000003_0000",
        "delete_delta_0000003_0000003_0001",
        "delta_0000003_0000003_0002",
        "delete_delta_0000003_0000003_0002",
        "delete_delta_0000004_0000004_0000",
    }
    check_rows(wide, files)


def check_insert(files: list[EventFile]) -> None:
    """A plain INSERT: row IDs from 0 without holes in each file."""
    assert [(file.directory, file.bucket) for file in files] == [("delta_0000001_0000001_0000", n) for n in range(4)]
    for file in files:
        check_file(file, WIDE_SCHEMA)
        assert [event[3] for event in file.events] == list(range(ROWS // 4))
        assert len(file.stripes) > 3


def check_deletes_name_live_rows(files: list[EventFile]) -> None:
    """Each delete event names a row that was there, once, and in the file of that row's bucket."""
    born = Counter(key_of(event) for file in files if not file.is_delete for event in file.events)
    died = Counter(key_of(event) for file in files if file.is_delete for event in file.events)
    assert set(born.values()) == set(died.values()) == {1}
    assert set(died) <= set(born)


def check_spread(files: list[EventFile]) -> None:
    """What the rules are tested on: deletes of several write IDs and statements in one stripe, several stripes in
    delete files, new rows of an UPDATE from several tasks."""
    deletes = [file for file in files if file.is_delete]
    assert any(len({event[1] for event in stripe}) > 1 for file in deletes for stripe in file.stripes)
    assert any(
        len({decode_bucket(event[2]).statement_id for event in stripe}) > 1
        for file in deletes
        for stripe in file.stripes
    )
    assert any(len(file.stripes) > 1 for file in deletes)
    assert len({file.bucket for file in files if file.directory == "delta_0000002_0000002_0000"}) > 1
    assert {file.bucket for file in files if file.directory == "delete_delta_0000002_0000002_0000"} == {0, 1, 2, 3}


def check_rows(session: Session, files: list[EventFile]) -> None:
    """The live rows by pyorc are those that the statements mean, and those that acidsql reads."""
    died = {key_of(event) for file in files if file.is_delete for event in file.events}
    born = [event for file in files if not file.is_delete for event in file.events]
    rows = [event[5] for event in born if event[5] is not None and key_of(event) not in died]
    live = {i: (v, code) for i, v, _, code in rows}
    assert live == {i: (value_of(i), "ab  " if i < ROWS else "new ") for i in range(ROWS + 20_000) if is_left(i)}
    (told,) = session.sql("SELECT count(*), sum(id), sum(v), count(DISTINCT row__id) FROM wide").collect()
    assert tuple(told) == (len(live), sum(live), sum(v for v, _ in live.values()), len(live))


def is_left(i: int) -> bool:
    merged_away = ROWS - 20_000 <= i < ROWS and i % 10 == 0
    return i % 3 != 0 and not merged_away


def value_of(i: int) -> int:
    if i >= ROWS - 20_000:
        return -1 if i < ROWS else -2
    return i % 100 + (1000 if i % 4 == 1 else 0)
