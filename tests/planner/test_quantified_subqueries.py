"""Comparisons with ANY and ALL of a subquery that are the left side of one another."""

from __future__ import annotations

import pytest

from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.statement_planner import plan_statement
from tests.answers import fails
from tests.planner.test_planner_cases import Stage

STAGE = Stage()
STAGE.set("CREATE TRANSACTIONAL TABLE t (a int);")


def plan(condition: str) -> None:
    statement = parse(f"SELECT a FROM t WHERE {condition}")
    assert isinstance(statement, s.Query)
    plan_statement(statement, STAGE.facts(statement))


@pytest.mark.parametrize("count", [7, 60])
def test_a_long_chain_is_refused_before_its_text_has_doubled_too_often(count: int) -> None:
    fails("LIMIT_EXCEEDED", lambda: plan("a <> ALL (SELECT 3)" + " <> ALL (SELECT 3)" * count))


def test_a_short_chain_and_many_comparisons_beside_one_another_are_planned() -> None:
    plan("a > ALL (SELECT 1) = ANY (SELECT 2)")
    plan(" AND ".join(["a > ALL (SELECT 1)"] * 30))
