"""The choice of a write strategy from the plan and from facts, and its description in EXPLAIN."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.planner.plan import Branch, Effect, EventKind, RowSource, WritePlan
from acidsql.planner.write_strategy import (
    MOST_DELETES_BY_DRIVER,
    MUCH,
    ByDriver,
    InEachTask,
    InPlace,
    Plain,
    Shuffled,
    StrategyKind,
    WriteFacts,
    WriteStrategy,
    choose_for_deletes,
    choose_strategy,
    explain_strategy,
    possible_strategies,
)

MIB = 1 << 20
ACID = {"transactional": "true"}
TABLE = Table("default", "t", (Column("id", "int"),), "/t", properties=ACID)
BUCKETED = replace(TABLE, bucket_count=2)
PARTED = replace(TABLE, partition_columns=(Column("p", "int"),))
DELETED = Branch(StatementId(0), EventKind.DELETE, Effect.DELETED, "DELETE")
INSERTED = Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT")
MOVED = replace(INSERTED, by_columns=True)

FEW = WriteFacts(
    size=1000,
    knows_size=True,
    driver_bytes=MIB,
    driver_can_write=True,
    file_sizes=(500, 500),
    delete_files=2,
    places=1,
    keeps_order=True,
    cores=4,
    shuffle_tasks=200,
)
LARGE = replace(FEW, size=MUCH, file_sizes=(200 * MIB,))
NO_DRIVER = replace(FEW, driver_can_write=False)


def plan(*branches: Branch, table: Table = TABLE, rows: RowSource = RowSource.QUERY) -> WritePlan:
    return WritePlan("W", table, "", "", branches, (), (), (), (), row_source=rows)


UPDATE = plan(DELETED, INSERTED, rows=RowSource.TARGET)
MERGE = plan(DELETED, INSERTED)
DELETE = plan(DELETED, rows=RowSource.TARGET)
INSERT = plan(INSERTED)
VALUES = plan(INSERTED, rows=RowSource.TEXT)
OF_PLAIN = plan(INSERTED, table=replace(TABLE, properties={}))
EACH = InEachTask(4096, deletes_follow=True)
ROWS = InEachTask(4096, deletes_follow=False)


@pytest.mark.parametrize(
    ("write", "facts", "expected"),
    [
        # The driver: what it reads is little, and known.
        (UPDATE, FEW, ByDriver(1)),
        (MERGE, FEW, ByDriver(1)),
        (UPDATE, replace(FEW, knows_size=False), InPlace()),
        (UPDATE, replace(FEW, driver_bytes=999), InPlace()),
        (UPDATE, NO_DRIVER, InPlace()),
        (UPDATE, replace(FEW, size=20 * MIB, driver_bytes=64 * MIB), ByDriver(4)),
        (INSERT, FEW, ByDriver(1)),
        (INSERT, replace(FEW, size=2 * MIB, driver_bytes=4 * MIB), ROWS),
        # In place: a task for each file, none of them too large.
        (DELETE, NO_DRIVER, InPlace()),
        (DELETE, replace(NO_DRIVER, places=2), InPlace()),
        (UPDATE, replace(NO_DRIVER, places=2), Shuffled(1)),
        (UPDATE, replace(NO_DRIVER, keeps_order=False), Shuffled(1)),
        (MERGE, NO_DRIVER, Shuffled(1)),
        (plan(DELETED, MOVED, table=PARTED, rows=RowSource.TARGET), NO_DRIVER, Shuffled(1)),
        (UPDATE, replace(LARGE, file_sizes=(10 * MIB,)), EACH),
        (UPDATE, replace(LARGE, file_sizes=(10 * MIB,), cores=1), InPlace()),
        (UPDATE, replace(LARGE, file_sizes=(129 * MIB,) * 4), EACH),
        # In each task: much data, and few files for a task.
        (UPDATE, LARGE, EACH),
        (MERGE, LARGE, EACH),
        (MERGE, replace(LARGE, size=MUCH - 1), Shuffled(4)),
        (replace(MERGE, target=BUCKETED), LARGE, Shuffled(4)),
        (plan(DELETED, INSERTED, table=PARTED), replace(LARGE, places=8), EACH),
        (plan(DELETED, INSERTED, table=PARTED), replace(LARGE, places=9), Shuffled(4)),
        (INSERT, NO_DRIVER, ROWS),
        (VALUES, NO_DRIVER, InEachTask(1, deletes_follow=False)),
        # Shuffled: one task for little data unless many files are written, as many as there are bytes for much.
        (plan(INSERTED, table=BUCKETED), NO_DRIVER, Shuffled(1)),
        (MERGE, replace(NO_DRIVER, delete_files=24), Shuffled(3)),
        (MERGE, replace(NO_DRIVER, delete_files=240), Shuffled(4)),
        (replace(MERGE, target=BUCKETED), replace(LARGE, size=6400 * MIB), Shuffled(100)),
        (replace(MERGE, target=BUCKETED), replace(LARGE, size=6400 * MIB, shuffle_tasks=20), Shuffled(20)),
        (plan(INSERTED, table=BUCKETED, rows=RowSource.TEXT), replace(LARGE, size=6400 * MIB), Shuffled(1)),
        # A plain table.
        (OF_PLAIN, FEW, Plain(4096)),
        (replace(OF_PLAIN, row_source=RowSource.TEXT), FEW, Plain(1)),
    ],
)
def test_the_first_strategy_that_is_possible_and_worthwhile_is_chosen(
    write: WritePlan, facts: WriteFacts, expected: WriteStrategy
) -> None:
    assert choose_strategy(write, facts) == expected


@pytest.mark.parametrize(
    ("write", "facts", "expected"),
    [
        (UPDATE, FEW, "by the driver, in place, in each task, shuffled"),
        (UPDATE, replace(FEW, places=2), "by the driver, in each task, shuffled"),
        (replace(UPDATE, target=BUCKETED), FEW, "by the driver, in place, shuffled"),
        (DELETE, NO_DRIVER, "in place, shuffled"),
        (INSERT, NO_DRIVER, "in each task"),
        (OF_PLAIN, FEW, "plain files"),
    ],
)
def test_a_strategy_that_would_leave_the_wrong_table_is_not_possible(
    write: WritePlan, facts: WriteFacts, expected: str
) -> None:
    assert ", ".join(s.label for s in possible_strategies(write, facts)) == expected


@pytest.mark.parametrize(
    ("write", "preferred", "expected"),
    [
        (UPDATE, InEachTask, EACH),
        (UPDATE, Shuffled, Shuffled(1)),
        (MERGE, InPlace, ByDriver(1)),
        (INSERT, Plain, ByDriver(1)),
    ],
)
def test_a_preferred_strategy_is_taken_only_where_it_is_possible(
    write: WritePlan, preferred: StrategyKind, expected: WriteStrategy
) -> None:
    assert choose_strategy(write, FEW, preferred) == expected


@pytest.mark.parametrize(
    ("count", "facts", "expected"),
    [
        (MOST_DELETES_BY_DRIVER, FEW, ByDriver(1)),
        (MOST_DELETES_BY_DRIVER + 1, FEW, Shuffled(1)),
        (1, NO_DRIVER, Shuffled(1)),
        (1, replace(LARGE, driver_can_write=False), Shuffled(4)),
    ],
)
def test_the_driver_writes_the_delete_events_of_tasks_unless_there_are_millions(
    count: int, facts: WriteFacts, expected: WriteStrategy
) -> None:
    assert choose_for_deletes(count, facts) == expected


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (
            UPDATE,
            "by the driver (up to acidsql.driver.write.max.bytes), in place (one file per bucket, up to 128 MiB each),"
            " in each task (from 32 MiB), else shuffled",
        ),
        (INSERT, "by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task"),
        (OF_PLAIN, "plain files"),
    ],
)
def test_explain_names_the_strategies_that_the_plan_allows_with_their_rules(write: WritePlan, expected: str) -> None:
    assert explain_strategy(write) == expected
