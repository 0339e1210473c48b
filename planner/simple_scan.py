"""What a query gives that is nothing but the scan of one table (queries/simple_scans.py)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

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


SUM_DIGITS: Final = 10
"""How many digits more than its column a sum of DECIMALs has (Hive's GenericUDAFSum, Spark's Sum)."""


class Function(Enum):
    """The aggregate functions that this process and Spark answer alike."""

    COUNT_ROWS = "count(*)"
    COUNT = "count"
    MIN = "min"
    MAX = "max"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A column of a query's result: the function over the values of a column of the scan. COUNT_ROWS has no column."""

    name: str
    function: Function
    column: str | None


@dataclass(frozen=True, slots=True)
class SimpleScan:
    """What a query gives of its only scan: columns of rows for which the predicate is true, sorted by `order` if it has
    keys, at most `limit`. If it has aggregates, it gives one row of these, and no columns."""

    outputs: tuple[OutputColumn, ...]
    predicate: RowPredicate | None
    limit: int | None
    order: tuple[SortKey, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
