"""What a query gives that is nothing but the scan of one table (queries/simple_scans.py)."""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.planner.conditions.row_predicates import RowPredicate


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a query's result, and the column of its one scan whose values it has."""

    name: str
    column: str


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of the scan by which ORDER BY sorts, and where NULL stands."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class SimpleScan:
    """What a query gives of its only scan: columns of rows for which the predicate is true, sorted by `order` if it has
    keys, at most `limit`."""

    outputs: tuple[OutputColumn, ...]
    predicate: RowPredicate | None
    limit: int | None
    order: tuple[SortKey, ...] = ()
