"""CREATE TABLE .. AS: the plan of the query, and the plan that writes its rows into the new table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId
from acidsql.errors import Span
from acidsql.grammar.dialect import span_of
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import CreateTable, Query
from acidsql.planner.dml.insert import check_serializes, insert_events
from acidsql.planner.expressions.hive_expressions import sized_length
from acidsql.planner.lock_requests import LockRules, create_locks
from acidsql.planner.plan import Branch, Create, Effect, EventKind, Facts, QueryPlan, StoredValue, WritePlan
from acidsql.planner.queries.name_resolution import quoted
from acidsql.planner.queries.query import plan_query

_UNNAMED: Final = ":_c"


def plan_create_query(query: Query, facts: Facts) -> QueryPlan:
    """Plans the query of CREATE TABLE .. AS or CREATE VIEW, whose columns `column_names` names. Raises what
    `plan_query` raises."""
    tree = query.tree.copy()
    for item in tree.selects:
        if not isinstance(item, exp.Alias | exp.Column | exp.Dot | exp.Star):
            item.replace(exp.alias_(item.copy(), quoted(_UNNAMED)))
    return plan_query(Query(query.source, tree), facts)


def column_names(names: Sequence[str]) -> list[str]:
    """Hive's names for the columns: an unnamed expression in the second place is `_c1`.

    >>> column_names(["Id", ":_c"])
    ['id', '_c1']
    """
    return [f"_c{i}" if name == _UNNAMED else name.lower() for i, name in enumerate(names)]


def place_of_column(query: Query, name: str) -> Span | None:
    """The place of a column, named as `column_names` does, in a SELECT list without a star before it."""
    items = list(takewhile(lambda item: not item.is_star, query.tree.selects))
    names = column_names([item.alias_or_name or _UNNAMED for item in items])
    return span_of(items[names.index(name)], query.source) if name in names else None


def column_types(query: exp.Query, types: Sequence[str]) -> list[str]:
    """The Hive types of the columns, given Spark's types of the query. Spark's type of a CAST to VARCHAR(n) or CHAR(n)
    is STRING, but the column has the type of the CAST if the CAST is the whole item, in a SELECT or in all parts of a
    UNION."""
    casts = _casts(query, len(types))
    return [kind if cast is None else cast.to_hive() for kind, cast in zip(types, casts, strict=True)]


@dataclass(frozen=True, slots=True)
class _Sized:
    """CHAR(length) or VARCHAR(length)."""

    is_char: bool
    length: int

    def to_hive(self) -> str:
        return f"{'char' if self.is_char else 'varchar'}({self.length})"

    def common(self, other: _Sized) -> _Sized | None:
        """The common type in a UNION. CHAR and VARCHAR have none and become STRING (Hive 4.0.1)."""
        return _Sized(self.is_char, max(self.length, other.length)) if self.is_char is other.is_char else None


def _casts(query: exp.Expr, count: int) -> list[_Sized | None]:
    """The type to which each of the query's columns is CAST; None for other columns and for those of a star."""
    if isinstance(query, exp.Subquery):
        return _casts(query.this, count)
    if isinstance(query, exp.SetOperation):
        pairs = zip(_casts(query.left, count), _casts(query.right, count), strict=True)
        return [one.common(other) if one is not None and other is not None else None for one, other in pairs]
    if not isinstance(query, exp.Select):
        return [None] * count
    items = [_cast(item) for item in query.selects]
    stars = [place for place, item in enumerate(query.selects) if item.is_star]
    if not stars:
        return items if len(items) == count else [None] * count
    before, after = items[: stars[0]], items[stars[-1] + 1 :]
    return [*before, *[None] * (count - len(before) - len(after)), *after]


def _cast(item: exp.Expr) -> _Sized | None:
    cast = item.unalias()
    if not isinstance(cast, exp.Cast):
        return None
    length = sized_length(cast.to)
    return None if length is None else _Sized(cast.to.this == exp.DataType.Type.CHAR, int(length))


def plan_create_as(
    statement: CreateTable, table: Table, query: QueryPlan, names: Sequence[str], facts: Facts
) -> WritePlan:
    """Plans the write of the query's rows, with the columns `names`, into `table`, which the catalog lacks until the
    commit."""
    check_serializes(table, statement.table.span)
    given = {name: name_sql(f":{name}") for name in names}
    columns = {c.name: c for c in table.all_columns}
    spans = _spans(statement, len(names))
    return WritePlan(
        operation="CREATE TABLE AS SELECT",
        target=table,
        rows=query.sql,
        events=insert_events(table, given, facts),
        branches=(Branch(StatementId(0), EventKind.INSERT, Effect.INSERTED, "INSERT", by_columns=True),),
        values=tuple(StoredValue(f":{name}", columns[name], spans[i]) for i, name in enumerate(names)),
        scans=query.scans,
        frames=query.frames,
        views=query.views,
        locks=create_locks(table, query.scans, LockRules.of(facts)),
        positional=tuple(f":{name}" for name in names),
        mode=Create(),
        source_span=statement.table.span,
    )


def _spans(statement: CreateTable, count: int) -> Sequence[Span | None]:
    """The spans of the columns: those of the SELECT list if it has no star, else that of the table's name."""
    assert statement.query is not None
    items = statement.query.selects
    spans = [span_of(item, statement.source) for item in items]
    return spans if len(items) == count and not any(item.is_star for item in items) else [statement.table.span] * count
