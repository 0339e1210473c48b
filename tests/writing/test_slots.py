"""Slots of a write: codes that send the events of each file to the task that writes it."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.acid.write_ids import StatementId
from acidsql.planner.plan import Branch, Effect, EventKind
from acidsql.writing.file_slots import Slot, assign_slots, spark_hash

MOST_TASKS = MAX_BUCKET + 1


def branch(kind: EventKind) -> Branch:
    return Branch(StatementId(0), kind, Effect.HALF, "")


branches = st.lists(st.sampled_from(EventKind).map(branch), min_size=1, max_size=6)
buckets = st.frozensets(st.integers(0, MAX_BUCKET), max_size=40)
tasks = st.one_of(st.integers(1, 9), st.integers(1, 300))


def test_the_hash_is_sparks_own(spark: SparkSession) -> None:
    numbers = [*range(3000), *random.Random(3).choices(range(-(2**31), 2**31), k=3000), -1, 2**31 - 1, -(2**31)]
    frame = spark.createDataFrame([(n,) for n in numbers], "n int")
    assert [row[0] for row in frame.select(f.hash("n")).collect()] == [spark_hash(n) for n in numbers]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_spark_sends_every_code_to_its_task(spark: SparkSession, count: int) -> None:
    kinds = [branch(EventKind.INSERT), branch(EventKind.DELETE)]
    slots = assign_slots(kinds, range(5), count)
    frame = spark.createDataFrame([(code,) for code in slots.codes.values()], "slot int").coalesce(1)
    landed = frame.repartition(count, "slot").select("slot", f.spark_partition_id()).collect()
    by_code = {row[0]: row[1] for row in landed}
    assert {slot.bucket: by_code[code] for slot, code in slots.codes.items() if slot.branch == 0} == {
        task: task for task in range(count)
    }
    deletes = Counter(by_code[code] for slot, code in slots.codes.items() if slot.branch == 1)
    assert max(deletes.values()) == -(-5 // count)


@given(branches, buckets, tasks)
def test_every_file_that_can_be_needed_has_one_code(of: list[Branch], numbers: frozenset[int], count: int) -> None:
    slots = assign_slots(of, numbers, count)
    wanted = {
        Slot(i, bucket)
        for i, b in enumerate(of)
        for bucket in (range(count) if b.kind is EventKind.INSERT else numbers)
    }
    assert set(slots.codes) == wanted
    assert slots.tasks == count
    assert slots.by_code() == {code: slot for slot, code in slots.codes.items()}
    assert len(slots.by_code()) == len(wanted)


@given(branches, buckets, tasks)
def test_a_new_row_is_written_by_the_task_of_its_bucket(of: list[Branch], numbers: frozenset[int], count: int) -> None:
    for slot, code in assign_slots(of, numbers, count).codes.items():
        if of[slot.branch].kind is EventKind.INSERT:
            assert spark_hash(code) % count == slot.bucket


@given(branches, buckets, tasks)
def test_delete_events_are_spread_evenly_over_the_tasks(of: list[Branch], numbers: frozenset[int], count: int) -> None:
    codes = assign_slots(of, numbers, count).codes
    for i, b in enumerate(of):
        if b.kind is not EventKind.INSERT and numbers:
            landed = Counter(spark_hash(code) % count for slot, code in codes.items() if slot.branch == i)
            assert max(landed.values()) == -(-len(numbers) // count)


@given(branches, buckets, tasks)
def test_insert_events_sort_before_all_others(of: list[Branch], numbers: frozenset[int], count: int) -> None:
    codes = assign_slots(of, numbers, count).codes
    inserts = [code for slot, code in codes.items() if of[slot.branch].kind is EventKind.INSERT]
    others = [code for slot, code in codes.items() if of[slot.branch].kind is not EventKind.INSERT]
    assert max(inserts, default=-1) < min(others, default=2**31)


def test_the_most_tasks_and_buckets_get_their_codes() -> None:
    slots = assign_slots([branch(EventKind.INSERT), branch(EventKind.DELETE)], range(MOST_TASKS), MOST_TASKS)
    assert len(slots.codes) == 2 * MOST_TASKS
    assert max(slots.codes.values()) < 2**31
