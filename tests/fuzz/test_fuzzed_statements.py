"""Mutated statements, some of them always the same."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.statements import corpus, mutated, run, tried

FOREVER = 3600.0


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(3))
def test_a_mutated_statement_raises_an_error_of_acidsql_or_has_a_plan(seed: int) -> None:
    report = run(FOREVER, seed, count=500)
    assert not report.found, str(report)
    assert report.planned > 20


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_mutated_statements_raise_nothing_else(seed: int) -> None:
    report = run(FOREVER, seed, count=5_000)
    assert not report.found, str(report)


@pytest.mark.ci
def test_a_seed_gives_the_same_statements_again() -> None:
    first, second = random.Random(7), random.Random(7)
    assert [mutated(first) for _ in range(50)] == [mutated(second) for _ in range(50)]


@pytest.mark.ci
def test_the_statements_that_are_mutated_are_sound_for_the_most_part() -> None:
    assert len(corpus()) > 500
    assert sum(map(tried, corpus())) > len(corpus()) / 4
