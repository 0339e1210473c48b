"""MERGE's cardinality check: what the plan adds for it, and how the driver evaluates it."""

from __future__ import annotations

import numpy as np
import pytest

from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError
from acidsql.planner.merge.cardinality import CARDINALITY_CHECK, cardinality_branch, check_branches, check_sorted
from acidsql.planner.plan import Branch, Effect, EventKind

UPDATED = Branch(StatementId(0), EventKind.INSERT, Effect.UPDATED, "the new rows")
OLD = Branch(StatementId(0), EventKind.DELETE, Effect.HALF, "the old rows")
DELETED = Branch(StatementId(1), EventKind.DELETE, Effect.DELETED, "the deleted rows")


@pytest.mark.parametrize(
    ("branches", "matched", "enabled", "expected"),
    [
        ([UPDATED, OLD], [0], "true", OLD),
        ([UPDATED, OLD, DELETED], [0], "true", OLD),
        ([UPDATED, OLD, DELETED], [1], "true", DELETED),
        ([UPDATED, OLD, DELETED], [0, 1], "true", "cardinality check"),
        ([OLD], [], "true", None),
        ([UPDATED, OLD], [0], "false", None),
        ([UPDATED, OLD, DELETED], [0, 1], "FALSE", None),
    ],
)
def test_the_check_of_one_matched_clause_uses_its_delete_events_and_the_check_of_several_has_its_own_events(
    branches: list[Branch], matched: list[int], enabled: str, expected: Branch | str | None
) -> None:
    settings = {CARDINALITY_CHECK: enabled}
    every = (*branches, *check_branches(len(matched), settings))
    number = cardinality_branch(every, [StatementId(m) for m in matched], settings)
    found = None if number is None else every[number]
    assert found == expected if not isinstance(expected, str) else found is not None and found.clause == expected


@pytest.mark.parametrize(
    ("rows", "repeated"),
    [
        ([], None),
        ([(0, 1, 536870912, 0)], None),
        ([(0, 1, 536870912, 0), (0, 1, 536870912, 1), (0, 1, 536870913, 1), (0, 2, 536870912, 1)], None),
        ([(0, 1, 536870912, 7), (1, 1, 536870912, 7)], None),
        (
            [(0, 1, 536870912, 0), (0, 1, 536870912, 7), (0, 1, 536870912, 7)],
            '{"writeid":1,"bucketid":536870912,"rowid":7}',
        ),
    ],
    ids=["none", "one", "rows that differ in one number", "rows of two partitions", "a row twice"],
)
def test_the_driver_refuses_two_events_of_one_row(rows: list[tuple[int, int, int, int]], repeated: str | None) -> None:
    columns = list(np.array(rows, np.int64).reshape(-1, 4).T)
    if repeated is None:
        check_sorted(columns)
        return
    with pytest.raises(AcidSqlError, match="Cardinality Violation in Merge statement") as raised:
        check_sorted(columns)
    assert repeated in raised.value.message
