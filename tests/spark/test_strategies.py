"""Which strategy a write takes, from its plan and from facts alone; and which queries of little data are compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.planner.plan import Branch, Effect, EventKind, WritePlan
from acidsql.spark.engine import for_little
from acidsql.spark.write import task_write
from acidsql.spark.write.strategies import Steering, Strategy, WriteFacts, strategies

_MANY_MB = 200 << 20
_TABLE = Table("default", "t", (Column("id", "int"),), "/t", properties={"transactional": "true"})
_DELETE = Branch(StatementId(0), EventKind.DELETE, Effect.DELETED, "DELETE")
_INSERT = Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT")
_FACTS = WriteFacts(
    size=1000,
    knows_size=True,
    driver_bytes=1 << 20,
    driver_can_write=True,
    file_sizes=(500, 500),
    places=1,
    keeps_order=True,
    can_change_ends=True,
    cores=4,
)


def plan(*branches: Branch, table: Table = _TABLE, row_by_row: bool = False) -> WritePlan:
    return WritePlan("W", table, "", "", branches, (), (), (), (), row_by_row=row_by_row)


UPDATE = plan(_DELETE, _INSERT, row_by_row=True)
MERGE = replace(UPDATE, row_by_row=False)
DELETE = plan(_DELETE, row_by_row=True)
INSERT = plan(_INSERT)
MUCH = replace(_FACTS, size=task_write.MUCH, file_sizes=(_MANY_MB,))


@pytest.mark.parametrize(
    ("write", "facts", "expected"),
    [
        (UPDATE, _FACTS, "BY_DRIVER IN_PLACE ARRANGED SPREAD"),
        (UPDATE, replace(_FACTS, knows_size=False), "IN_PLACE ARRANGED BY_DRIVER SPREAD"),
        (UPDATE, replace(_FACTS, driver_can_write=False), "IN_PLACE ARRANGED SPREAD"),
        (UPDATE, replace(_FACTS, driver_bytes=0), "IN_PLACE ARRANGED BY_DRIVER SPREAD"),
        (UPDATE, replace(_FACTS, places=2), "BY_DRIVER ARRANGED SPREAD"),
        (UPDATE, replace(_FACTS, keeps_order=False), "BY_DRIVER ARRANGED SPREAD"),
        (UPDATE, MUCH, "SPREAD ARRANGED BY_DRIVER IN_PLACE"),
        (UPDATE, replace(MUCH, can_change_ends=False), "ARRANGED BY_DRIVER IN_PLACE"),
        (UPDATE, replace(MUCH, file_sizes=(10 << 20,)), "SPREAD ARRANGED BY_DRIVER IN_PLACE"),
        (UPDATE, replace(MUCH, file_sizes=(10 << 20,), cores=1), "IN_PLACE SPREAD ARRANGED BY_DRIVER"),
        (MERGE, MUCH, "SPREAD ARRANGED BY_DRIVER"),
        (replace(MERGE, target=replace(_TABLE, bucket_count=2)), MUCH, "ARRANGED BY_DRIVER"),
        (DELETE, replace(_FACTS, places=2, driver_bytes=0), "IN_PLACE ARRANGED BY_DRIVER"),
        (INSERT, _FACTS, "BY_DRIVER NUMBERED"),
        (INSERT, replace(_FACTS, size=1 << 21, driver_bytes=1 << 22), "NUMBERED BY_DRIVER"),
    ],
)
def test_what_is_worth_it_comes_first_and_what_is_wrong_not_at_all(
    write: WritePlan, facts: WriteFacts, expected: str
) -> None:
    assert [s.name for s in strategies(write, facts)] == expected.split()


def test_a_preferred_strategy_is_taken_where_it_is_possible() -> None:
    possible = strategies(UPDATE, _FACTS)
    assert Steering(Strategy.SPREAD).ordered(possible)[0] is Strategy.SPREAD
    assert Steering(Strategy.NUMBERED).ordered(possible) == list(possible)


@pytest.mark.parametrize(
    ("query", "is_interpreted"),
    [
        ("SELECT 'BroadcastNestedLoopJoin, CartesianProduct' AS v, id FROM range(3)", True),
        ("SELECT * FROM range(3) a JOIN range(3) b ON a.id = b.id", True),
        ("SELECT * FROM range(3) a JOIN range(3) b ON a.id < b.id", False),
        ("SELECT * FROM range(3) a WHERE a.id < (SELECT max(b.id + c.id) FROM range(3) b, range(3) c)", False),
    ],
)
def test_only_a_query_that_joins_each_row_with_each_is_compiled(
    spark: SparkSession, query: str, is_interpreted: bool
) -> None:
    frame = spark.sql(query)
    assert (for_little(frame) is not frame) is is_interpreted
