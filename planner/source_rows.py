"""The rows of a MERGE's source as values, if they need no computation (merge/arrow_source.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from acidsql.acid.table import Column
from acidsql.planner.conditions.row_predicates import RowPredicate, columns_of

Actions: TypeAlias = tuple[tuple[RowPredicate, int], ...]
"""Clauses by number, each with its condition, in their order: the first whose condition is true acts."""


@dataclass(frozen=True, slots=True)
class SourceRows:
    """Rows of one relation: a table, a frame of the call, or rows that the statement writes out.

    The columns of the rows are those of the query `ArrowMerge.source`: two with the numbers of clauses, and `outputs`,
    each of which is a column of the relation or an expression without columns.
    """

    view: str | None
    """The view of the scan or of the frame that has the rows; None for those that the statement writes out."""
    columns: Mapping[str, Column]
    """The columns of the relation that are read, with their types, by the names that `outputs` and conditions use."""
    literals: tuple[tuple[exp.Expr, ...], ...]
    """The rows that the statement writes out, with an expression for each of `columns`, in this order."""
    predicate: RowPredicate | None
    """The condition of the rows, on columns of the relation; None if all are given."""
    outputs: Mapping[str, str | exp.Expr]
    if_matched: Actions
    if_not_matched: Actions

    @property
    def tested(self) -> frozenset[str]:
        """The columns that conditions read."""
        conditions = [condition for condition, _ in (*self.if_matched, *self.if_not_matched)]
        conditions += [] if self.predicate is None else [self.predicate]
        return frozenset[str]().union(*map(columns_of, conditions))
