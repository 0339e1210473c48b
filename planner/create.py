"""CREATE TABLE .. AS: the query, and the writing of its rows into the table that is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.acid.writeids import StatementId
from acidsql.errors import Span
from acidsql.grammar.dialect import span_of
from acidsql.grammar.statements import CreateTable, Query
from acidsql.planner.events import name_sql
from acidsql.planner.insert import insert_events
from acidsql.planner.locks import LockRules, create_locks
from acidsql.planner.plan import Branch, Effect, EventKind, Facts, QueryPlan, StoredValue, WritePlan
from acidsql.planner.query import plan_query
from acidsql.planner.resolve import quoted

_UNNAMED: Final = "@_c"


def plan_create_query(statement: CreateTable, facts: Facts) -> QueryPlan:
    """The query of CREATE TABLE .. AS (`column_names` names its columns). Raises what a query raises."""
    assert statement.query is not None
    tree = statement.query.copy()
    for item in tree.selects:
        if not isinstance(item, exp.Alias | exp.Column | exp.Dot | exp.Star):
            item.replace(exp.alias_(item.copy(), quoted(_UNNAMED)))
    return plan_query(Query(statement.source, tree), facts)


def column_names(names: Sequence[str]) -> list[str]:
    """What Hive calls the columns: `_c1` the second if it is an expression without a name.

    >>> column_names(["Id", "@_c"])
    ['id', '_c1']
    """
    return [f"_c{i}" if name == _UNNAMED else name.lower() for i, name in enumerate(names)]


def plan_create_as(
    statement: CreateTable, table: Table, query: QueryPlan, names: Sequence[str], facts: Facts
) -> WritePlan:
    """Writes the rows of the query, whose columns are called `names`, into `table`, which the catalog does not know
    yet."""
    given = {name: name_sql(f"@{name}") for name in names}
    columns = {c.name: c for c in table.all_columns}
    spans = _spans(statement, len(names))
    return WritePlan(
        operation="CREATE TABLE AS SELECT",
        target=table,
        rows=query.sql,
        events=insert_events(table, given, facts),
        branches=(Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT", by_columns=True),),
        values=tuple(StoredValue(f"@{name}", columns[name], spans[i]) for i, name in enumerate(names)),
        scans=query.scans,
        frames=query.frames,
        locks=create_locks(table, query.scans, LockRules.of(facts)),
        positional=tuple(f"@{name}" for name in names),
        creates=True,
        source_span=statement.table.span,
    )


def _spans(statement: CreateTable, count: int) -> Sequence[Span | None]:
    """The places of the columns, where no star hides them."""
    assert statement.query is not None
    items = statement.query.selects
    spans = [span_of(item, statement.source) for item in items]
    return spans if len(items) == count and not any(item.is_star for item in items) else [statement.table.span] * count
