"""Small files of a scan that are read from copies of several of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from acidsql.spark.catalyst.file_relations import orc_scan
from acidsql.spark.scan import data_skipping, exact_paths, small_files
from acidsql.storage import local_files
from acidsql.storage.orc import copies

FILES = 18
COLUMNS = "id INT, name STRING, price DECIMAL(8,2), tags ARRAY<STRING>, at TIMESTAMP, state STRUCT<a:INT,b:DOUBLE>"


@pytest.fixture
def table(session: Session) -> Session:
    """A session with a table `t` of two partitions, whose many small files have rows of all kinds."""
    session.execute(
        f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (p INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    for n in range(4):
        session.execute(
            f"INSERT INTO t PARTITION (p) SELECT id, if(id % 3 = 0, NULL, concat('n', id)), id / 4, array('a', NULL),"
            f" TIMESTAMP '2026-03-29 02:30:00', named_struct('a', id, 'b', id / 2), id % 2"
            f" FROM (SELECT explode(sequence({10 * n}, {10 * n + 9})) id)"
        )
        with session.stream("t", f"s{n % 2}") as stream:
            stream.write([{"id": 100 + n, "name": f"streamed {n}", "tags": ["x"], "p": 0}, {"id": 200 + n, "p": 1}])
    session.execute("UPDATE t SET name = 'updated' WHERE id % 5 = 1")
    session.execute("DELETE FROM t WHERE id IN (2, 13, 101)")
    return session


def read(session: Session, more: str = "") -> list[tuple[object, ...]]:
    result = session.execute(f"SELECT *{more} FROM t")
    found = sorted((tuple(map(str, row)) for row in result.rows()), key=lambda row: int(row[0]))
    result.close()
    return [tuple(row) for row in found]


def files_of(session: Session, query: str) -> Sequence[str]:
    return session.sql(query).inputFiles()


@pytest.mark.ci
def test_a_query_reads_few_copies_of_many_small_files_and_finds_the_same_rows(table: Session) -> None:
    by_file = [row[:-1] for row in read(table, ", row__id")]
    assert len(by_file) == 40 + 8 - 3
    assert read(table) == by_file
    assert len(files_of(table, "SELECT *, row__id FROM t")) == FILES
    copied = files_of(table, "SELECT * FROM t")
    assert len(copied) == 2  # one for each partition
    assert not any("delta_" in name for name in copied)
    assert len(files_of(table, "SELECT * FROM t WHERE p = 0 AND id < 20")) == 3  # too few for copies


@pytest.mark.ci
def test_row_groups_of_copies_are_skipped_by_conditions(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_skipping, "_WORTH", 0)
    conditions = (
        "id = 17",
        "id > 5 AND price < 7.5",
        "name = 'updated' OR id = 103",
        "name IS NULL",
        "price IN (0, 3)",
    )
    for condition in conditions:
        by_copy = {row[0] for row in table.sql(f"SELECT id FROM t WHERE {condition}").collect()}
        by_file = {row[0] for row in table.sql(f"SELECT id, row__id FROM t WHERE {condition}").collect()}
        assert by_copy == by_file, condition
        assert by_copy, condition
    assert not any("delta_" in name for name in files_of(table, f"SELECT * FROM t WHERE {conditions[3]}"))


@pytest.mark.ci
def test_a_copy_is_used_again_until_its_files_change(table: Session) -> None:
    query = "SELECT * FROM t"
    kept = table.sql(query)
    before = set(kept.inputFiles())
    assert set(files_of(table, query)) == before
    table.execute("INSERT INTO t PARTITION (p = 1) (id) VALUES (1000)")
    assert len(set(files_of(table, query)) & before) == 1
    assert [row[0] for row in read(table)][-1] == "1000"


@pytest.mark.ci
def test_the_names_of_files_are_those_of_the_table(table: Session) -> None:
    rows = table.sql("SELECT DISTINCT INPUT__FILE__NAME FROM t").collect()
    assert len(rows) > 10
    assert all("/t/p=" in row[0] for row in rows)


@pytest.mark.nightly
def test_large_files_and_what_is_too_much_for_one_scan_stay_where_they_are(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(table)
    monkeypatch.setattr(small_files, "_SMALL", 0)
    assert len(files_of(table, "SELECT * FROM t")) == FILES
    monkeypatch.undo()
    monkeypatch.setattr(small_files, "_OF_COPY", 8000)
    assert 2 < len(files_of(table, "SELECT * FROM t")) < FILES
    assert read(table) == expected
    monkeypatch.setattr(small_files, "_OF_SCAN", 10_000)
    assert any("delta_" in name for name in files_of(table, "SELECT * FROM t"))
    assert read(table) == expected


@pytest.mark.nightly
def test_without_room_for_a_copy_the_files_themselves_are_read(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read(table)
    table.execute("INSERT INTO t PARTITION (p = 1) (id) VALUES (1000)")

    def full(self: local_files.LocalFiles, path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(local_files.LocalFiles, "write", full)
    assert [row[0] for row in read(table)] == [*(row[0] for row in expected), "1000"]


@pytest.mark.nightly
def test_frames_that_are_kept_hold_no_more_than_some_copies(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = table.sql("SELECT * FROM t")
    monkeypatch.setattr(copies, "_MOST_JOINED", 1)
    assert set(files_of(table, "SELECT * FROM t")) == set(kept.inputFiles())
    table.execute("INSERT INTO t PARTITION (p = 1) (id) VALUES (1000)")
    frame = table.sql("SELECT * FROM t")
    assert len(frame.inputFiles()) > 2
    assert (kept.count(), frame.count()) == (45, 46)


@pytest.mark.nightly
def test_copies_that_nothing_reads_are_removed_when_there_are_many(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_KEPT_BYTES", 0)
    frame = table.sql("SELECT * FROM t")
    copied = [Path(name.removeprefix("file://")) for name in frame.inputFiles()]
    assert read(table)
    assert all(path.exists() for path in copied)
    assert frame.count() == 45


@pytest.mark.ci
def test_files_from_before_a_column_was_added_have_copies_of_their_own(table: Session) -> None:
    table.execute("ALTER TABLE t ADD COLUMNS (more INT)")
    table.execute("INSERT INTO t PARTITION (p = 0) (id, more) VALUES (1000, 7)")
    rows = read(table)
    assert len(rows) == 46
    assert [row[-2] for row in rows][-1] == "7"


@pytest.mark.ci
def test_copies_are_made_again_when_the_system_has_removed_their_directory(table: Session) -> None:
    expected = read(table)
    for name in table.sql("SELECT * FROM t").inputFiles():
        shutil.rmtree(Path(name.removeprefix("file://")).parent, ignore_errors=True)
    table.execute("INSERT INTO t PARTITION (p = 1) (id) VALUES (1000)")
    assert [row[0] for row in read(table)] == [*(row[0] for row in expected), "1000"]


@pytest.mark.ci
def test_a_file_that_vanishes_in_mid_statement_is_an_error(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "_SMALL", 0)

    def without_one(spark: SparkSession, uris: Sequence[str], *more: Any) -> DataFrame:
        Path(uris[3].removeprefix("file:")).unlink(missing_ok=True)
        return orc_scan(spark, uris, *more)

    monkeypatch.setattr(exact_paths, "orc_scan", without_one)
    with pytest.raises(AcidSqlError, match=r"STORAGE_FAILED.*/t/p=.*the file is gone"):
        read(table)
