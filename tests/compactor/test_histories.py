"""Random histories of DML while compactions of all kinds come in between, or at the same time: rows never change by a
compaction, row IDs never by a minor or major one."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from tests.compactor.layout import as_streamed, as_with_large_files
from tests.dml.test_histories import plain, shown
from tests.selection import core
from tests.support.histories import Model, Row, random_schema


@pytest.fixture
def opened(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[], Session]]:
    sessions: list[Session] = []

    def one() -> Session:
        sessions.append(connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/metastore.db", spark=spark))
        return sessions[-1]

    yield one
    for session in sessions:
        session.close()


def read(session: Session, model: Model) -> dict[int, tuple[Row, Row]]:
    """Row IDs and rows, by key."""
    result = session.execute(f"SELECT row__id, * FROM {model.table}")
    found = list(result.rows())
    result.close()
    by_key: dict[Any, tuple[Row, Row]] = {row[1]: (plain(row[0]), plain(tuple(row[2:]))) for row in found}
    assert len(by_key) == len(found)
    return by_key


def assert_rows(session: Session, model: Model, history: list[str]) -> dict[int, Row]:
    found = read(session, model)
    assert {k: row for k, (_, row) in found.items()} == {k: shown(r, model) for k, r in model.rows.items()}, history
    return {k: row_id for k, (row_id, _) in found.items()}


def compaction(session: Session, model: Model, r: random.Random) -> tuple[str, str]:
    """A statement that compacts the table or one of its partitions, and its kind."""
    kinds = ["minor", "major"] if model.schema.buckets else ["minor", "major", "rebalance"]
    kind = r.choice(kinds)
    partition = ""
    if model.schema.keys:
        listed = [str(row[0]) for row in session.execute(f"SHOW PARTITIONS {model.table}").rows()]
        if not listed:
            return "", kind
        items = (item.partition("=") for item in r.choice(listed).split("/"))
        partition = f"PARTITION ({', '.join(f'''{name}='{value}' ''' for name, _, value in items)})"
        if "%" in partition or "__HIVE" in partition:
            return "", kind
    buckets = f"CLUSTERED INTO {r.randint(1, 3)} BUCKETS" if kind == "rebalance" else ""
    return f"ALTER TABLE {model.table} {partition} COMPACT '{kind}' {buckets} AND WAIT", kind


def run(session: Session, seed: int, statements: int) -> None:
    r = random.Random(seed)
    model = Model(random_schema(r), r, f"h{seed}")
    session.execute(f"CREATE TABLE {model.table} {model.schema.ddl}")
    history = [model.schema.ddl]
    for _ in range(statements):
        step = model.step()
        history.append(step.sql)
        session.execute(step.sql)
        if r.random() < 0.4:
            before = assert_rows(session, model, history)
            statement, kind = compaction(session, model, r)
            if not statement:
                continue
            history.append(statement)
            with r.choice((as_with_large_files, as_streamed, nullcontext))():
                (done,) = session.execute(statement).rows()
            assert done[1] in ("succeeded", "refused"), (done, history)
            after = assert_rows(session, model, history)
            assert after == before or kind == "rebalance", history
    assert_rows(session, model, history)


@pytest.mark.parametrize("seed", core(range(2), lambda _: False))
def test_compactions_in_a_history_change_nothing(seed: int, opened: Callable[[], Session]) -> None:
    run(opened(), seed, 14)


@pytest.mark.soak
@pytest.mark.timeout(36000)
def test_compactions_in_many_histories_change_nothing(opened: Callable[[], Session]) -> None:
    session = opened()
    for seed in range(100, 200):
        run(session, seed, 40)


def beside(opened: Callable[[], Session], seed: int, statements: int) -> int:
    """A history, while another session compacts and cleans up whenever something is there to; how often it did."""
    writer, other, reader = opened(), opened(), opened()
    r = random.Random(seed)
    model = Model(random_schema(r), r, f"c{seed}")
    writer.execute(f"CREATE TABLE {model.table} {model.schema.ddl}")
    history = [model.schema.ddl]
    lines: list[str] = []
    errors: list[BaseException] = []
    other.compactor.tell = lines.append
    other.execute("SET hive.compactor.delta.num.threshold=1")
    stop = threading.Event()

    def compacting() -> None:
        try:
            while not stop.is_set():
                other.compactor.run_once()
                stop.wait(0.05)
        except BaseException as error:  # noqa: BLE001  # on another thread
            errors.append(error)

    def reading() -> None:
        """Whatever it sees is one snapshot: no key twice."""
        try:
            while not stop.is_set():
                read(reader, model)
        except BaseException as error:  # noqa: BLE001  # on another thread
            errors.append(error)

    threads = [threading.Thread(target=run_beside) for run_beside in (compacting, reading)]
    for thread in threads:
        thread.start()
    try:
        ids: dict[int, Row] = {}
        for _ in range(statements):
            step = model.step()
            history.append(step.sql)
            writer.execute(step.sql)
            now = assert_rows(writer, model, [*history, *lines])
            kept = ids.keys() & now.keys() - step.touched
            assert {k: now[k] for k in kept} == {k: ids[k] for k in kept}, [*history, *lines]
            ids = now
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors, (errors, history, lines)
    assert not any("failed" in line or "error" in line for line in lines), lines
    assert_rows(writer, model, [*history, *lines])
    return sum(" -> " in line for line in lines)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_service_and_a_reader_beside_a_history_change_nothing(opened: Callable[[], Session]) -> None:
    assert beside(opened, 7, 14) > 1


@pytest.mark.soak
@pytest.mark.timeout(36000)
def test_a_service_and_a_reader_beside_many_histories_change_nothing(opened: Callable[[], Session]) -> None:
    assert sum(beside(opened, seed, 40) for seed in range(200, 240)) > 100
