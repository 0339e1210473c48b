"""A statement that fails while it runs: transaction aborted, no file left, the next statement works."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from acidsql.arrow import executor
from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.storage.local_files import LocalFiles
from acidsql.writing import publishing
from tests.crash.writers import Place
from tests.support.acid_files import visible_paths

pytestmark = pytest.mark.ci

ROWS = 20_000
BOOM = "CAST(raise_error('boom') AS INT)"
LATE = f"CASE WHEN id = {ROWS - 1} THEN {BOOM} ELSE id END"
"""Fails at the last row of all, when the others have been written."""

FAILING = {
    "UPDATE": (f"UPDATE t SET v = {LATE}", "boom"),
    "DELETE": (f"DELETE FROM t WHERE v <> {LATE} + 1", "boom"),
    "INSERT": (f"INSERT INTO t SELECT id, {LATE} FROM t", "boom"),
    "MERGE": (
        "MERGE INTO t USING (SELECT id AS k, v AS w FROM t) s ON t.id = s.k + 10"
        f" WHEN MATCHED THEN UPDATE SET v = {LATE}"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w)",
        "boom",
    ),
    "MERGE of two rows into one": (
        "MERGE INTO t USING (SELECT id AS k FROM t UNION ALL SELECT 5) s ON t.id = s.k WHEN MATCHED THEN DELETE",
        "Cardinality Violation",
    ),
}


@pytest.fixture
def place(session: Session, tmp_path: Path) -> Place:
    session.execute("CREATE TABLE t (id int, v int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    rows = session.spark.range(0, ROWS, 1, 4).selectExpr("CAST(id AS INT) AS id", "0 AS v")
    session.sql("INSERT INTO t SELECT * FROM {rows}", rows=rows)
    return Place(tmp_path)


@pytest.mark.parametrize("statement", FAILING)
def test_a_statement_that_fails_in_the_middle_leaves_nothing(statement: str, place: Place, session: Session) -> None:
    text, message = FAILING[statement]
    before = visible_paths(place.table)
    with pytest.raises(AcidSqlError, match=message):
        session.execute(text)
    check_nothing_left(place, session, before)


def test_a_statement_that_finds_its_directory_there_replaces_and_leaves_nothing(place: Place, session: Session) -> None:
    before = visible_paths(place.table)
    there = place.table / "delta_0000002_0000002_0000" / "bucket_00000"
    there.parent.mkdir()
    there.touch()
    with pytest.raises(AcidSqlError, match="CATALOG_BEHIND"):
        session.execute("UPDATE t SET v = 1")
    assert visible_paths(place.table) == [*before, there.relative_to(place.table).as_posix()]
    shutil.rmtree(there.parent)
    session.claim_tables()
    check_nothing_left(place, session, before)


def test_a_statement_that_fails_behind_its_publishing_leaves_nothing(
    place: Place, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = visible_paths(place.table)
    publish = publishing.publish

    def fail_late(*arguments: Any) -> None:
        publish(*arguments)
        raise OSError("boom")

    monkeypatch.setattr(executor, "publish", fail_late)
    with pytest.raises(AcidSqlError, match="boom"):
        session.execute("DELETE FROM t WHERE id = 5")
    monkeypatch.undo()
    check_nothing_left(place, session, before)


@pytest.mark.parametrize("statement", ["DELETE FROM t WHERE id = 5", "UPDATE t SET v = v + 1 WHERE id = 5"])
def test_a_directory_that_another_writer_makes_meanwhile_is_left_to_it(
    place: Place, session: Session, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """It makes the directory between the look at what lies there and the publishing."""
    before = visible_paths(place.table)
    there = place.table / "delete_delta_0000002_0000002_0000" / "bucket_00007"
    look = LocalFiles.directories_named

    def come_second(files: LocalFiles, directory: str, prefix: str) -> Sequence[str]:
        found = look(files, directory, prefix)
        if directory == str(place.table) and not prefix:
            there.parent.mkdir()
            there.touch()
        return found

    monkeypatch.setattr(LocalFiles, "directories_named", come_second)
    with pytest.raises(AcidSqlError, match=r"STORAGE_FAILED.*File exists"):
        session.execute(statement)
    monkeypatch.undo()
    assert sorted(visible_paths(place.table)) == sorted([*before, there.relative_to(place.table).as_posix()])


def test_a_statement_that_is_refused_leaves_no_file_and_no_transaction_open(place: Place, session: Session) -> None:
    before = visible_paths(place.table)
    for text in ("UPDATE t SET w = 1", "UPDATE t SET v = nowhere", "INSERT INTO t VALUES (1)", "DELETE FROM missing"):
        with pytest.raises(AcidSqlError):
            session.execute(text)
    assert visible_paths(place.table) == before
    with SqliteMetastore(place.metastore, str(place.warehouse)) as store:
        assert store.valid_txns().open == frozenset()


def check_nothing_left(place: Place, session: Session, before: list[str]) -> None:
    assert visible_paths(place.table) == before
    with SqliteMetastore(place.metastore, str(place.warehouse)) as store:
        assert len(store.valid_txns().aborted) == 1
        assert store.valid_txns().open == frozenset()
    assert tuple(session.sql("SELECT count(*), sum(v) FROM t").collect()[0]) == (ROWS, 0)
    session.execute("UPDATE t SET v = 3 WHERE id = 4")
    assert tuple(session.sql("SELECT count(*), sum(v) FROM t").collect()[0]) == (ROWS, 3)
