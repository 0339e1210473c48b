"""New rows that each task writes itself: the table equals the one that a shuffled write leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.data_files import File
from acidsql.errors import AcidSqlError
from acidsql.planner import write_strategy
from acidsql.planner.write_strategy import InEachTask
from acidsql.session import Session, connect
from acidsql.spark.write import shuffled_write, staging
from tests.selection import core
from tests.spark.test_plan_shape import executions_after, last_execution, plan_nodes
from tests.support.acid_files import check_file, event_files

SCHEMA = (
    "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint,"
    "row:struct<id:int,v:string,at:timestamp,tags:array<string>,seen:timestamp with local time zone>>"
)
COLUMNS = "(id INT, v STRING, at TIMESTAMP, tags ARRAY<STRING>, seen TIMESTAMP WITH LOCAL TIME ZONE)"
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
TABLES = {"flat": f"t {COLUMNS}", "parted": f"t {COLUMNS} PARTITIONED BY (p INT)"}
UPDATE = "UPDATE t SET v = CONCAT(v, '!'), at = at + INTERVAL '1' DAY WHERE id % 3 = 0"
MERGE = (
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.id % 10 = 0 THEN DELETE"
    " WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET v = s.v WHEN MATCHED THEN UPDATE SET v = 'odd', tags = NULL"
)
INSERTING = f"{MERGE} WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, NULL, array('new'), NULL)"
STATEMENTS = {
    "flat": ((UPDATE, "id % 3 <> 0"), (INSERTING, "id < 200"), (UPDATE, "id % 3 <> 0"), (MERGE, "id < 200")),
    "parted": ((UPDATE, "id % 3 <> 0"), (MERGE, "id < 200"), ("UPDATE t SET v = 'x' WHERE id < 50", "id >= 50")),
}
"""Each with the rows that it does not touch."""


@pytest.fixture
def opened(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[str], Session]]:
    """Opens sessions on warehouses of their own, in which Spark writes all."""
    sessions: list[Session] = []

    def open_one(name: str) -> Session:
        sessions.append(connect(tmp_path / name, spark=spark))
        sessions[-1].execute("SET acidsql.driver.write.max.bytes=0")
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.close()


def made(session: Session, kind: str) -> Session:
    """Tables of several files, so that several tasks write; files of one bucket in two deltas."""
    session.execute(f"CREATE TABLE {TABLES[kind]} {ACID}")
    session.execute(f"CREATE TABLE s (id INT, v STRING) {ACID}")
    last = ", id % 2" if kind == "parted" else ""
    for first in (0, 300):
        rows = session.spark.range(first, first + 300, 1, 3)
        session.sql(
            "INSERT INTO t SELECT CAST(id AS INT), CONCAT('v', id), timestamp '2020-01-01 00:00:00',"
            f" array('a', 'b'), timestamp '2021-01-01 00:00:00'{last} FROM {{rows}}",
            rows=rows,
        )
    rows = session.spark.range(200, 800, 1, 3)
    session.sql("INSERT INTO s SELECT CAST(id AS INT), CONCAT('s', id) FROM {rows}", rows=rows)
    return session


def content(session: Session) -> list[tuple[object, ...]]:
    return sorted((tuple(r) for r in session.sql("SELECT * FROM t").collect()), key=str)


def row_ids(session: Session, condition: str = "true") -> dict[int, object]:
    return {r[0]: tuple(r[1]) for r in session.sql(f"SELECT id, row__id FROM t WHERE {condition}").collect()}


def location(session: Session) -> Path:
    return Path(session.catalog.table("default", "t").location)


@pytest.mark.nightly
@pytest.mark.parametrize("arranged_by_driver", core([True, False], bool))
@pytest.mark.parametrize("kind", core(TABLES, lambda kind: kind == "flat", one_of=2))
def test_the_table_equals_the_one_that_a_shuffled_write_leaves(
    kind: str, arranged_by_driver: bool, opened: Callable[[str], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    shuffled, spread_out = (made(opened(name), kind) for name in ("shuffled", "spread"))
    for statement, untouched in STATEMENTS[kind]:
        expected = shuffled.execute(statement)
        before = row_ids(spread_out, untouched)
        spread_out._engines.steering.preferred = InEachTask
        spread_out._engines.steering.taken = []
        with monkeypatch.context() as patched:
            if not arranged_by_driver:
                patched.setattr(write_strategy, "MOST_DELETES_BY_DRIVER", -1)
            assert spread_out.execute(statement).counts == expected.counts, statement
        assert spread_out._engines.steering.taken == [InEachTask(4096, deletes_follow=True)]
        assert content(spread_out) == content(shuffled), statement
        rows = len(content(spread_out))
        assert [tuple(r) for r in spread_out.sql("SELECT count(*) FROM t").collect()] == [(rows,)]
        assert len(set(row_ids(spread_out).values())) == rows, statement
        assert row_ids(spread_out, untouched) == before, statement
    root = location(spread_out)
    assert not list(root.glob("_acidsql*")), "nothing is staged any more"
    files = [f for d in {path.parent.parent for path in root.rglob("bucket_*")} for f in event_files(d)]
    for file in files:
        check_file(file, SCHEMA)
    assert len({path.name for path in root.rglob("delta_*/bucket_*")}) > 1, "several tasks wrote"
    for partition in ("PARTITION (p=0)", "PARTITION (p=1)") if kind == "parted" else ("",):
        spread_out.execute(f"ALTER TABLE t {partition} COMPACT 'major' AND WAIT")
    assert content(spread_out) == content(shuffled)


@pytest.mark.ci
def test_new_rows_are_not_shuffled(opened: Callable[[str], Session]) -> None:
    session = made(opened("one"), "flat")
    session._engines.steering.preferred = InEachTask
    before = last_execution(session.spark)
    session.execute("UPDATE t SET v = 'new' WHERE id % 2 = 0")
    names = [name for e in executions_after(session.spark, before) for name, _ in plan_nodes(e)]
    assert "Exchange" not in " ".join(names)
    assert not any(name.startswith("Sort") for name in names)
    found: dict[int, list[int]] = {}
    for _, bucket, row in (tuple(r[0]) for r in session.sql("SELECT row__id FROM t WHERE v = 'new'").collect()):
        found.setdefault(bucket, []).append(row)
    assert len(found) > 1
    assert all(sorted(numbers) == list(range(len(numbers))) for numbers in found.values())


@pytest.mark.ci
@pytest.mark.parametrize("arranged_by_driver", [True, False])
def test_a_row_that_two_of_the_source_match_fails_and_leaves_nothing(
    arranged_by_driver: bool, opened: Callable[[str], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = made(opened("one"), "flat")
    session.execute("INSERT INTO s VALUES (250, 'again')")
    before = content(session), sorted(map(str, location(session).rglob("*")))
    session._engines.steering.preferred = InEachTask
    if not arranged_by_driver:
        monkeypatch.setattr(write_strategy, "MOST_DELETES_BY_DRIVER", -1)
    with pytest.raises(AcidSqlError) as caught:
        session.execute(MERGE)
    assert caught.value.condition == "CARDINALITY_VIOLATION"
    assert (content(session), sorted(map(str, location(session).rglob("*")))) == before


@pytest.mark.ci
def test_delete_events_are_written_in_their_order_however_many_files_they_go_to(
    opened: Callable[[str], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that writes some files at once sorts by file what goes to others, in no other order."""
    session = opened("one")
    session.execute(f"CREATE TABLE {TABLES['flat']} {ACID}")
    rows = session.spark.range(0, 2000, 1, 40)
    session.sql("INSERT INTO t SELECT CAST(id AS INT), 'v', NULL, NULL, NULL FROM {rows}", rows=rows)
    session._engines.steering.preferred = InEachTask
    monkeypatch.setattr(write_strategy, "MOST_DELETES_BY_DRIVER", -1)
    at_once: list[str] = []

    def saved(frame: DataFrame, *rest: object) -> list[File]:
        at_once.append(str(frame.sparkSession.conf.get("spark.sql.maxConcurrentOutputFileWriters")))
        return staging.save(frame, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(shuffled_write, "save", saved)
    session.execute("UPDATE t SET v = 'new'")
    assert at_once == ["0"]
    deletes = [f for f in event_files(location(session)) if f.is_delete]
    assert len(deletes) == 40
    for file in deletes:
        check_file(file, SCHEMA)


def test_a_statement_that_finds_no_row_writes_nothing(opened: Callable[[str], Session]) -> None:
    session = made(opened("one"), "flat")
    before = content(session)
    session._engines.steering.preferred = InEachTask
    done = session.execute("UPDATE t SET v = 'x' WHERE id + 0 > 5000").counts
    assert done is not None
    assert done.affected == 0
    only_new = session.execute(
        "MERGE INTO t USING s ON t.id = s.id + 5000 WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id + 5000, s.v, NULL, NULL, NULL)"
    ).counts
    assert only_new is not None
    assert (only_new.updated, only_new.inserted) == (0, 600)
    assert len(content(session)) == len(before) + 600
