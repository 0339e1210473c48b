"""Major compactions without Spark leave the same files as those by Spark."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from acidsql.arrow import compaction, streamed_compaction
from acidsql.session import Session
from tests.answers import rows
from tests.arrow.two_ways import ACID, both, drop_on_both, files
from tests.compactor.layout import compact
from tests.selection import core

DONE = ("succeeded", "ready for cleaning")
VISIBILITY = re.compile(r"_v\d{7,}")
BASE = re.compile(r"base_\d+")
COLUMNS = "(id int, v string, d decimal(6,2), c char(4), k date, a double, at timestamp)"
KINDS = {
    "flat": ACID,
    "parted": f"PARTITIONED BY (p int) {ACID}",
    "bucketed": f"CLUSTERED BY (id) INTO 3 BUCKETS {ACID}",
}
ROWS = """SELECT CAST(id AS INT), CONCAT('v', id), id / 4, CONCAT('c', id),
 DATE_ADD(DATE '2024-01-01', CAST(id AS INT)),
 id * 1.5, CAST(DATE_ADD(DATE '2024-01-01', CAST(id AS INT)) AS TIMESTAMP){p} FROM range({first}, {last}, 1, 2)"""


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Lets compactions stream their rows. For each from now on that might, whether it did."""
    found: list[bool] = []
    stage = compaction._streamed

    def noted(*arguments: Any) -> Any:
        staged = stage(*arguments)
        found.append(staged is not None)
        return staged

    monkeypatch.setattr(compaction, "_MOST_BYTES", 0)
    monkeypatch.setattr(compaction, "_streamed", noted)
    return found


@pytest.fixture
def compactions(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each compaction from now on that may run without Spark, whether it did."""
    found: list[bool] = []
    merged = compaction._rows_by_bucket

    def noted(*arguments: Any) -> Any:
        buckets = merged(*arguments)
        found.append(buckets is not None)
        return buckets

    monkeypatch.setattr(compaction, "_rows_by_bucket", noted)
    return found


def compacted(pair: tuple[Session, Session], table: str, rest: str = "") -> None:
    """Compacts the table in both ways, and compares the files."""
    before = [rows(session, f"SELECT row__id, * FROM {table} ORDER BY 1") for session in pair]
    assert before[0] == before[1]
    for session, most in zip(pair, (1 << 26, 0), strict=True):
        session.execute(f"SET acidsql.driver.write.max.bytes={most}")
        assert compact(session, table, "major", rest)[0] in DONE
        session.execute(f"SET acidsql.driver.write.max.bytes={1 << 26}")
    of_direct, of_spark = (newest_base(session, table, rest) for session in pair)
    assert with_last_keys(of_direct) == with_last_keys(of_spark)
    assert [rows(session, f"SELECT row__id, * FROM {table} ORDER BY 1") for session in pair] == before


def with_last_keys(found: dict[str, Any]) -> dict[str, Any]:
    """The files with the last entry of their key index only. The others are those of stripes, which may differ."""
    index = b"hive.acid.key.index"

    def shortened(content: Any) -> Any:
        if isinstance(content, bytes):
            return content
        rows, metadata, *rest = content
        keys = metadata.get(index, b"").split(b";")[-2:]
        return rows, {**metadata, index: keys}, *rest

    return {path: shortened(content) for path, content in found.items()}


def newest_base(session: Session, table: str, rest: str) -> dict[str, Any]:
    """The files of the newest base in a partition's directory. Older ones are there until nobody reads them."""
    partition = rest.removeprefix("PARTITION (").removesuffix(")")
    bases = {p: content for p, content in files(session, table).items() if p.startswith(partition) and BASE.search(p)}
    newest = max(VISIBILITY.sub("", path.rpartition("/")[0]) for path in bases)
    return {VISIBILITY.sub("", path): content for path, content in bases.items() if path.startswith(newest)}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind == "parted"))
def test_major_compactions_leave_the_same_files(
    pair: tuple[Session, Session], compactions: list[bool], kind: str
) -> None:
    p = ", CAST(id % 2 AS INT)" if kind == "parted" else ""
    drop_on_both(pair, "t")
    both(pair, f"CREATE TABLE t {COLUMNS} {KINDS[kind]}")
    for first in (0, 30):
        both(pair, f"INSERT INTO t {ROWS.format(p=p, first=first, last=first + 30)}")
    both(pair, "UPDATE t SET v = 'x', d = NULL WHERE id BETWEEN 20 AND 40")
    both(pair, "DELETE FROM t WHERE id % 7 = 3")
    for rest in ("PARTITION (p=0)", "PARTITION (p=1)") if p else ("",):
        compacted(pair, "t", rest)
    both(pair, "DELETE FROM t WHERE id < 50")
    both(pair, f"INSERT INTO t {ROWS.format(p=p, first=90, last=95)}")
    for rest in ("PARTITION (p=0)", "PARTITION (p=1)") if p else ("",):
        compacted(pair, "t", rest)
    both(pair, "DELETE FROM t")
    for rest in ("PARTITION (p=0)", "PARTITION (p=1)") if p else ("",):
        compacted(pair, "t", rest)  # a base without rows
    assert compactions == [True] * (6 if p else 3)


@pytest.mark.nightly
def test_what_pyarrow_cannot_write_is_left_to_spark(
    pair: tuple[Session, Session], compactions: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(pair, f"CREATE TABLE old (k date) {ACID}")
    both(pair, f"CREATE TABLE nested (a array<int>) {ACID}")
    both(pair, f"CREATE TABLE many (id int) {ACID}")
    for _ in range(2):
        both(pair, "INSERT INTO old SELECT DATE '1400-01-01'")  # pyarrow would write it in another calendar
        both(pair, "INSERT INTO nested SELECT array(1, 2)")
        both(pair, "INSERT INTO many SELECT explode(array(1, 2))")
    compacted(pair, "old")
    compacted(pair, "nested")
    with monkeypatch.context() as patched:
        patched.setattr(compaction, "_MOST_ROWS", 1)
        compacted(pair, "many")
    both(pair, "INSERT INTO many VALUES (3)")
    monkeypatch.setattr(compaction, "_MOST_MEMORY", 1)
    compacted(pair, "many")
    assert compactions == [False, False, False]


def test_rows_that_lie_among_those_of_another_file_are_sorted(
    pair: tuple[Session, Session], compactions: list[bool]
) -> None:
    both(pair, f"CREATE TABLE s (id int, v int) {ACID}")
    both(pair, "START TRANSACTION")
    both(pair, "INSERT INTO s VALUES (1, 1), (2, 2)")
    both(pair, "INSERT INTO s VALUES (3, 3), (4, 4)")
    both(pair, "UPDATE s SET v = 9 WHERE id IN (1, 4)")
    both(pair, "COMMIT")
    compacted(pair, "s")
    assert compactions == [True]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "cores"),
    [
        ("flat", 5),
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in (("flat", 1), ("parted", 2), ("bucketed", 5))),
    ],
)
def test_streamed_compactions_leave_the_same_files(
    pair: tuple[Session, Session], streamed: list[bool], monkeypatch: pytest.MonkeyPatch, kind: str, cores: int
) -> None:
    """With several cores, the files of a bucket are written in parts, whose stripes become one file."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    p = ", CAST(id % 2 AS INT)" if kind == "parted" else ""
    drop_on_both(pair, "t")
    both(pair, f"CREATE TABLE t {COLUMNS} {KINDS[kind]}")
    for first in (0, 30, 60, 90):
        both(pair, f"INSERT INTO t {ROWS.format(p=p, first=first, last=first + 30)}")
    both(pair, "UPDATE t SET v = 'x', d = NULL WHERE id BETWEEN 20 AND 40")
    both(pair, "DELETE FROM t WHERE id % 7 = 3 OR id BETWEEN 60 AND 89")
    places = ("PARTITION (p=0)", "PARTITION (p=1)") if p else ("",)
    for rest in places:
        compacted(pair, "t", rest)
    both(pair, "DELETE FROM t WHERE id < 50")
    both(pair, f"INSERT INTO t {ROWS.format(p=p, first=120, last=125)}")
    for rest in places:
        compacted(pair, "t", rest)
    both(pair, "DELETE FROM t")
    for rest in places:
        compacted(pair, "t", rest)  # a base without rows
    assert streamed == [True] * 3 * len(places)


@pytest.mark.nightly
def test_rows_out_of_order_and_values_that_pyarrow_cannot_write_are_not_streamed(
    pair: tuple[Session, Session], streamed: list[bool]
) -> None:
    both(pair, f"CREATE TABLE among (id int, v int) {ACID}")
    both(pair, "START TRANSACTION")
    both(pair, "INSERT INTO among VALUES (1, 1), (2, 2)")
    both(pair, "INSERT INTO among VALUES (3, 3), (4, 4)")
    both(pair, "UPDATE among SET v = 9 WHERE id IN (1, 4)")
    both(pair, "COMMIT")
    compacted(pair, "among")
    both(pair, "INSERT INTO among VALUES (5, 5)")
    compacted(pair, "among")
    both(pair, f"CREATE TABLE older (k date) {ACID}")
    both(pair, "INSERT INTO older VALUES (DATE '2024-01-01')")
    both(pair, "INSERT INTO older SELECT DATE '1400-01-01'")
    compacted(pair, "older")
    assert streamed == [True, True, False]


def test_a_streamed_compaction_that_is_given_back_leaves_nothing(
    pair: tuple[Session, Session], streamed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is told to stop while rows are written."""
    session = pair[0]
    session.execute(f"CREATE TABLE given (id int) {ACID}")
    session.execute("INSERT INTO given VALUES (1)")
    session.execute("INSERT INTO given VALUES (2)")
    before = files(session, "given")
    in_order = streamed_compaction.staged_in_order

    def stopped(job: Any, prepared: Any, check: Any) -> Any:
        def stop() -> None:
            raise RuntimeError("stopped")

        return in_order(job, prepared, stop)

    with monkeypatch.context() as patched:
        patched.setattr(compaction, "staged_in_order", stopped)
        session.execute("SET acidsql.driver.write.max.bytes=67108864")
        with pytest.raises(RuntimeError, match="stopped"):
            compact(session, "given", "major")
    assert files(session, "given") == before
    assert compact(session, "given", "major")[0] in DONE
    assert rows(session, "SELECT * FROM given ORDER BY id") == [(1,), (2,)]
    assert streamed == [True]
