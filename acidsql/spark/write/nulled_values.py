"""How many given values became NULL by store assignment: `'abc'` in an INT column.

Only the rows of an INSERT that are given as they are (GivenRows) are counted: literals, parameters, and the columns of
a frame. How many of them are NULL is known before, and the footers of the files that were written tell how many are
NULL now. So no row is read, and the query that writes the rows is the same. Rows that a query computes would have to be
counted in that query; Spark's accumulators count the rows of a task again where it runs twice, as those of a sort do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acidsql.planner.literal_values import is_null
from acidsql.planner.plan import GivenFrame, GivenRows, WritePlan
from acidsql.writing.publishing import StagedFile, WriteTarget, staged_tail


def nulled_values(
    plan: WritePlan,
    frames: Mapping[str, object],
    target: WriteTarget,
    staged: Sequence[StagedFile],
) -> Mapping[str, int] | None:
    """The number of values that became NULL, for each column that has some; None if the rows are not given as they
    are, or do not go to ORC files. Partition columns and computed values are left out."""
    if not isinstance(plan.given, GivenRows) or plan.target.file_format != "orc":
        return None
    given = _given_nulls(plan.given, frames)
    if given is None:
        return None
    stored = _stored_nulls(target, staged)
    differences = {c.name: stored.get(c.name, 0) - given[c.name] for c in plan.target.columns if c.name in given}
    return {name: count for name, count in differences.items() if count > 0}


def _given_nulls(given: GivenRows, frames: Mapping[str, object]) -> Mapping[str, int] | None:
    """The number of NULLs in each given column of which it is certain."""
    match given.rows:
        case GivenFrame(frame, columns):
            table: Any = frames.get(frame)
            names = None if not hasattr(table, "column_names") else [name.lower() for name in table.column_names]
            wanted = names if columns is None else [name.lower() for name in columns]
            if names is None or wanted is None or len(wanted) != len(given.columns):
                return None
            pairs = zip(given.columns, wanted, strict=True)
            return {c.name: table.column(names.index(name)).null_count for c, name in pairs if names.count(name) == 1}
        case rows:
            nulls = [[is_null(tree) for tree in trees] for trees in zip(*rows, strict=True)]
            known = zip(given.columns, nulls, strict=True)
            return {c.name: of.count(True) for c, of in known if None not in of}


def _stored_nulls(target: WriteTarget, staged: Sequence[StagedFile]) -> Mapping[str, int]:
    """The number of NULLs in each column of the files. A column without statistics is left out."""
    found: dict[str, int] = {}
    for file in staged:
        tail = staged_tail(target, file)
        for position, column in enumerate(target.table.columns):
            found[column.name] = found.get(column.name, 0) + (tail.nulls(position) or 0)
    return found
