"""UPDATE: each row that WHERE finds becomes a delete event of the old row and an insert event of the new one.

The expressions of SET read the old row (semantics.md), so the same query computes them. They and WHERE may contain
subqueries, also on the target, because all scans of a statement share one snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import StatementId
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Assignment, Default, Update
from acidsql.metastore.lock_components import Operation
from acidsql.planner.dml.arrow_change import arrow_change
from acidsql.planner.dml.event_queries import (
    checked_branch,
    event_identity,
    exploded,
    first_events,
    in_inserts,
    old_identity,
    rows_view,
    select_list,
)
from acidsql.planner.lock_requests import LockRules, write_locks
from acidsql.planner.plan import Branch, Condensed, Effect, EventKind, Facts, StoredValue, WritePlan
from acidsql.planner.queries.name_resolution import (
    Binder,
    check_writable,
    column,
    default_of,
    find_column,
    find_table,
    identity_columns,
    quoted,
    row_source,
    target_table,
)
from acidsql.planner.queries.subquery_keys import subquery_keys
from acidsql.planner.stored_values.stored_sql import stored


def plan_update(statement: Update, facts: Facts) -> WritePlan:
    """Raises TABLE_NOT_FOUND, NOT_TRANSACTIONAL, INSERT_ONLY, SORTED_TABLE, SET_COLUMN_NOT_FOUND, SET_COLUMN_TWICE."""
    table = find_table(statement.target, facts)
    check_writable(table, statement.target)
    alias = statement.alias.value if statement.alias else table.name
    new_values = set_clause(statement.assignments, table)
    binder = Binder(facts, statement.source)
    rows = binder.bind(_rows(statement, table, alias, new_values))
    events, condensed = _events(table, new_values, facts)
    return WritePlan(
        operation="UPDATE",
        target=table,
        rows=to_spark(rows),
        events=events,
        branches=_branches(moved=moves(table, new_values)),
        values=tuple(StoredValue(f":{c.name}", c, span_of(value, statement.source)) for c, value in new_values.items()),
        scans=binder.scans,
        frames=binder.frames,
        views=binder.views,
        row_source=row_source(rows),
        key_queries=subquery_keys(rows, table) if facts.shortcuts.keys else (),
        locks=write_locks(table, (Operation.UPDATE,), binder.scans, LockRules.of(facts)),
        arrow=arrow_change(rows, binder.scans, binder.frames, new_values),
        condensed=condensed,
    )


def _branches(*, moved: bool) -> tuple[Branch, ...]:
    """The branches of the two halves of an update, which share a statement ID as in Hive 3."""
    return (
        Branch(StatementId(0), EventKind.INSERT, Effect.UPDATED, "UPDATE, the new rows", by_columns=moved),
        Branch(StatementId(0), EventKind.DELETE, Effect.HALF, "UPDATE, the old rows"),
    )


def moves(table: Table, new_values: Iterable[Column]) -> bool:
    """Whether an update assigns a partition column, so that its rows may go to another partition."""
    return any(c in table.partition_columns for c in new_values)


def set_clause(assignments: tuple[Assignment, ...], table: Table) -> dict[Column, exp.Expr]:
    """The assigned columns and their expressions. The word DEFAULT becomes the column's default."""
    found: dict[Column, exp.Expr] = {}
    for assignment in assignments:
        name = assignment.column
        target = find_column(name, table)
        if target is None:
            raise AcidSqlError(
                Condition.SET_COLUMN_NOT_FOUND,
                span=name.span,
                column=name.value,
                table=table.qualified,
                suggestion=suggestion(name.value, table.column_names),
            )
        if target in found:
            raise AcidSqlError(Condition.SET_COLUMN_TWICE, span=name.span, column=name.value)
        value = assignment.value
        found[target] = default_of(target, table) if isinstance(value, Default) else value
    return found


def _rows(statement: Update, table: Table, alias: str, new_values: dict[Column, exp.Expr]) -> exp.Select:
    """The query for the old row__id, the new values (`:column`) and the old values of all other columns."""
    kept = [exp.alias_(column(c.name, alias), quoted(c.name)) for c in table.all_columns if c not in new_values]
    new = [exp.alias_(value.copy(), quoted(f":{c.name}")) for c, value in new_values.items()]
    query = exp.select(*identity_columns(table, alias), *kept, *new).from_(target_table(table, alias))
    if statement.where is not None:
        query = query.where(statement.where.copy())
    if statement.ctes is not None:
        query.set("with_", statement.ctes.copy())
    return query


def _events(table: Table, new_values: dict[Column, exp.Expr], facts: Facts) -> tuple[str, Condensed | None]:
    """The query for the events, and its condensed form."""
    values = {
        c.name: stored(name_sql(f":{c.name}"), c, facts.settings) if c in new_values else name_sql(c.name)
        for c in table.all_columns
    }
    moved = moves(table, new_values)
    identity = event_identity(table, {0} if moved else ())
    branch = checked_branch("0", table)
    source = rows_view()
    if branch != "0":
        # A constraint names columns of the new row, so a subquery computes them first.
        source = f"(SELECT {select_list({**old_identity(table), **values})} FROM {rows_view()})"
        values = {c.name: name_sql(c.name) for c in table.all_columns}
    of_inserts = in_inserts(1, values)
    events = exploded(f"array(1, {branch})", identity, of_inserts, source)
    condensed = None if moved else Condensed(first_events(branch, identity, of_inserts, source), {0: (1,)})
    return events, condensed
