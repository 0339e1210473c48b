"""Random tables, changes and queries: `make fuzz MINUTES=60` goes on with further seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.fuzz.runs import Size, run_seed

_SMALL = Size(changes=4, queries=8)
_COMPARISONS = 6
"""For every fifth seed: their tables take as long as all else."""


@pytest.mark.parametrize("seed", [0])
def test_random_changes_and_queries_do_what_their_models_say(spark: SparkSession, seed: int) -> None:
    check(spark, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 110))
def test_ten_times_as_many_random_changes_and_queries_do_what_their_models_say(spark: SparkSession, seed: int) -> None:
    check(spark, seed)


def check(spark: SparkSession, seed: int) -> None:
    world = run_seed(spark, seed, replace(_SMALL, comparisons=0 if seed % 5 else _COMPARISONS))
    assert not world.findings, "\n".join(map(str, world.findings))
    assert world.done.total() > _SMALL.queries
