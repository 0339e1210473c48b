"""MERGE's cardinality check: two source rows must not act on one target row.

Hive checks it while `hive.merge.cardinality.check` is true and fails with "Cardinality Violation in Merge statement"
(CARDINALITY_VIOLATION). This file holds the check: what the plan adds for it, and the ways to evaluate it. The key that
the error names is found afterwards, by `acidsql.statements.repeated_keys`, or for a frame of a method by
`acidsql.frame_api.merge_builder`.

**Planned** in one of two forms, by the number of MATCHED clauses. In both, the events of one branch,
`WritePlan.cardinality_branch`, must not name a row twice.

| MATCHED clauses | branch | its events |
|---|---|---|
| none | none | there is nothing to check |
| one | its delete branch | the delete events that are written anyway: one for each action |
| several | a CHECK branch, the last | one event for each action of a MATCHED clause; checked, and never written |

The delete events of several clauses lie in several branches, so no single one of them shows all actions on a row.

**Evaluated** by whoever has the events of each row together, sorted by row ID:

- `check_condition` is SQL for Spark, over the tasks of a shuffle (acidsql/spark/write/shuffled_write.py).
- `check_sorted` looks at arrays of the driver (acidsql/writing/event_files.py) or of the Arrow engine
  (acidsql/arrow/write/merged_rows.py).

Both take the columns that name a row: its staging directory, the write ID, the bucket property and the row ID.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Final

from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql
from acidsql.planner.plan import BRANCH, Branch, Effect, EventKind, WritePlan
from acidsql.planner.sql_errors import raise_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CARDINALITY_CHECK: Final = "hive.merge.cardinality.check"
"""Setting: whether MERGE checks that no target row is updated or deleted twice."""
ACTIONS: Final = ":actions"
"""Column of `actions_sql`."""


# ------------------------------------------------------------------------------------------------ planned


def check_branches(matched: int, settings: Mapping[str, str]) -> tuple[Branch, ...]:
    """The CHECK branch of a MERGE with so many MATCHED clauses, if it needs one; it stands behind all others."""
    if matched < 2 or not _is_enabled(settings):
        return ()
    return (Branch(StatementId(0), EventKind.CHECK, Effect.HALF, "cardinality check"),)


def cardinality_branch(
    branches: Sequence[Branch], matched: Sequence[StatementId], settings: Mapping[str, str]
) -> int | None:
    """The branch whose events must not name a row twice, given the statement IDs of the MATCHED clauses."""
    if not matched or not _is_enabled(settings):
        return None
    check = check_event(branches)
    if check is not None:
        return check
    (clause,) = matched
    return next(i for i, b in enumerate(branches) if b.kind is EventKind.DELETE and b.statement_id == clause)


def check_event(branches: Sequence[Branch]) -> int | None:
    """The CHECK branch, of which every action of a MATCHED clause gives an event; None where there is none."""
    return next((i for i, b in enumerate(branches) if b.kind is EventKind.CHECK), None)


def _is_enabled(settings: Mapping[str, str]) -> bool:
    return settings.get(CARDINALITY_CHECK, "true").lower() != "false"


# ------------------------------------------------------------------------------------------------ by Spark


def actions_sql(row_columns: Sequence[str]) -> str:
    """SQL of the column ACTIONS: how many events name the row of an event. `row_columns` name a row."""
    names = ", ".join(map(name_sql, row_columns))
    return f"count(1) OVER (PARTITION BY {names}) AS {name_sql(ACTIONS)}"


def check_condition(plan: WritePlan, row_columns: Sequence[str]) -> str:
    """SQL that is true for the events to write and false for CHECK events; it raises CARDINALITY_VIOLATION for a row
    that is named twice. `row_columns` begin with the slot of the event, so that ACTIONS counts the events of one
    branch, and end with the three parts of the row ID.
    """
    write_id, bucket, row = map(name_sql, row_columns[-3:])
    row_id = f"concat('{{\"writeid\":', {write_id}, ',\"bucketid\":', {bucket}, ',\"rowid\":', {row}, '}}')"
    failure = raise_sql(Condition.CARDINALITY_VIOLATION, row_id=row_id)
    check = check_event(plan.branches)
    is_written = "true" if check is None else f"{name_sql(BRANCH)} <> {check}"
    is_repeated = f"{name_sql(BRANCH)} = {plan.cardinality_branch} AND {name_sql(ACTIONS)} > 1"
    return f"CASE WHEN {is_repeated} THEN CAST({failure} AS BOOLEAN) ELSE {is_written} END"


# ------------------------------------------------------------------------------------------------ by the driver


def check_sorted(row_columns: Sequence[NDArray[np.int64]]) -> None:
    """Raises CARDINALITY_VIOLATION if two of the sorted events of the checked branch name one row.

    `row_columns` are the values of the columns that name a row; the last three are the parts of the row ID.
    """
    repeats = reduce(and_, (column[1:] == column[:-1] for column in row_columns))
    if repeats.any():
        parts = (int(column[repeats.argmax()]) for column in row_columns[-3:])
        row_id = dict(zip(("writeid", "bucketid", "rowid"), parts, strict=True))
        raise AcidSqlError(Condition.CARDINALITY_VIOLATION, row_id=json.dumps(row_id, separators=(",", ":")))
