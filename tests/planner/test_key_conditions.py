"""Conditions on the target of a MERGE that follow from the keys of its source."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import to_spark
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.conditions.value_ranges import can_hold
from acidsql.planner.plan import Scan
from acidsql.planner.queries.key_conditions import Key, KeyRange, with_keys
from acidsql.snapshot.key_ranges import key_ranges, narrowed

COLUMNS = (Column("k", "bigint"), Column("s", "string"), Column("d", "date"), Column("v", "double"))
PARTITIONS = (Column("p", "int"), Column("t", "string"), Column("u", "date"), Column("c", "char(3)"))
SCAN = Scan("t@1", Table("default", "t", COLUMNS, "/t", PARTITIONS))
LONG = st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20)
DAY = st.dates(date(1970, 1, 1), date(1970, 3, 1)) | st.dates(date(1600, 1, 1))


def shown(scan: Scan) -> list[str]:
    return [*map(to_spark, scan.partition_filter), *map(to_spark, scan.row_filter)]


@pytest.mark.parametrize(
    ("keys", "conditions"),
    [
        ({"k": [(1, 1), (-3, -3)]}, ["`k` IN (1, -3)"]),
        ({"k": [(1, 1), (5, 9)]}, ["`k` IN (1) OR `k` BETWEEN 5 AND 9"]),
        ({"s": [("a'b", "a'b")], "t": [("x\\", "x\\")]}, ["`t` IN ('x\\\\')", "`s` IN ('a\\'b')"]),
        (
            {"d": [(date(2024, 1, 2), date(2024, 2, 1))]},
            ["`d` BETWEEN CAST('2024-01-02' AS DATE) AND CAST('2024-02-01' AS DATE)"],
        ),
        ({"p": [], "k": []}, ["FALSE", "FALSE"]),
        ({"s": [("a", "a"), ("b", "\uffff")]}, []),  # whose order is not the same for Spark and for ORC
    ],
)
def test_ranges_become_conditions(keys: dict[str, list[KeyRange]], conditions: list[str]) -> None:
    assert shown(with_keys(SCAN, keys)) == conditions


def test_only_keys_of_a_column_s_own_kind_are_used() -> None:
    number, text, day = pa.array([1]), pa.array(["1"]), pa.array([date(2024, 1, 1)])
    for name, usable in (("k", number), ("s", text), ("d", day), ("p", number), ("t", text), ("u", day)):
        for array in (number, text, day, pa.array([1.0]), pa.array([Decimal(1)]), pa.array([True])):
            assert bool(shown(narrowed(SCAN, {name: array}))) == (array is usable), (name, array.type)
    for name in ("v", "c"):
        assert shown(narrowed(SCAN, {name: text})) == shown(narrowed(SCAN, {name: number})) == []


@given(st.lists(st.none() | LONG, max_size=80), st.integers(0, 40))
@example([-(2**63), 2**63 - 1, 0, 1], 0)
@example([None], 0)
def test_ranges_have_all_keys_and_leave_out_the_largest_gaps(keys: list[int | None], most: int) -> None:
    ranges: list[Any] = list(key_ranges(pa.array(keys, pa.int64()), most))
    check(ranges, keys, most)
    known = sorted({key for key in keys if key is not None})
    if len(known) > most:
        gaps = sorted(b - a for a, b in pairwise(known))
        left_out = sorted(low - high for (_, high), (low, _) in pairwise(ranges))
        assert left_out == gaps[len(gaps) - len(left_out) :]


@given(st.lists(st.none() | DAY, max_size=80) | st.lists(st.none() | st.text(max_size=3), max_size=80))
def test_ranges_of_days_and_texts_have_all_keys(keys: list[Any]) -> None:
    for most in (0, 5, 100):
        kind = pa.date32() if any(isinstance(key, date) for key in keys) else pa.string()
        check(key_ranges(pa.chunked_array([pa.array(keys, kind)]), most), keys, most)


def check(ranges: list[KeyRange], keys: list[Any], most: int) -> None:
    known = {key for key in keys if key is not None}

    def order(key: Any) -> Any:
        return key.encode() if isinstance(key, str) else key

    bounds = [order(key) for one in ranges for key in one]
    assert bounds == sorted(bounds)
    assert len(set(ranges)) == len(ranges) <= max(most, 32)
    assert {key for one in ranges for key in one} <= known
    assert all(any(order(low) <= order(key) <= order(high) for low, high in ranges) for key in known)
    if len(known) <= most:
        assert ranges == [(key, key) for key in sorted(known, key=order)]


@given(st.sets(st.integers(-30, 30), max_size=40), st.integers(-31, 31))
def test_a_partition_is_kept_if_a_key_names_it(keys: set[int], value: int) -> None:
    of_numbers = narrowed(SCAN, {"p": pa.array(keys, pa.int32())})
    of_texts = narrowed(SCAN, {"t": pa.array(map(str, keys), pa.string())})
    for scan, place in ((of_numbers, 0), (of_texts, 1)):
        values: list[str | None] = ["7", "7", "2024-01-01", "a"]
        values[place] = str(value)
        assert keeps(scan.partition_filter, scan.table)(values) == (value in keys)
        values[place] = None
        assert not keeps(scan.partition_filter, scan.table)(values)
    odd = ["a number", "7", "2024-01-01", "a"]
    assert keeps(of_numbers.partition_filter, SCAN.table)(odd) == bool(keys)  # only Spark can compare it


@given(st.sets(st.integers(-300, 300), max_size=80), st.integers(-310, 310), st.integers(0, 50))
def test_a_file_is_read_if_a_range_meets_its_bounds(keys: set[int], low: int, width: int) -> None:
    scan = narrowed(SCAN, {"k": pa.array(keys, pa.int64())})
    bounds = Decimal(low), Decimal(low + width)
    is_read = can_hold(scan.row_filter, lambda name: bounds if name == "k" else None)
    assert is_read or not any(low <= key <= low + width for key in keys)
    if len(keys) <= 32:
        assert is_read == any(low <= key <= low + width for key in keys)
    assert can_hold(scan.row_filter, lambda _: None) == bool(keys)


def test_a_long_list_of_one_type_is_compared_at_once() -> None:
    days: list[Key] = [date(2024, 1, day) for day in range(1, 31)]
    scan = with_keys(SCAN, {"u": [(day, day) for day in days]})
    kept = [
        day
        for day in ("2024-01-07", "2024-01-31", "2023-01-07", "2024-1-7", None)
        if keeps(scan.partition_filter, SCAN.table)(["1", "1", day, "a"])
    ]
    assert kept == ["2024-01-07", "2024-1-7"]  # the last one may be a day for a reader that is less strict
