"""DELETE: each row that WHERE finds becomes a delete event with its row__id."""

from __future__ import annotations

from sqlglot import exp

from acidsql.acid.write_ids import StatementId
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Delete
from acidsql.metastore.lock_components import Operation
from acidsql.planner.dml.arrow_change import arrow_change
from acidsql.planner.dml.event_queries import nulls, old_identity, rows_view
from acidsql.planner.lock_requests import LockRules, write_locks
from acidsql.planner.plan import BRANCH, Branch, Effect, EventKind, Facts, WritePlan
from acidsql.planner.queries.name_resolution import (
    Binder,
    check_writable,
    find_table,
    identity_columns,
    row_source,
    target_table,
)
from acidsql.planner.queries.subquery_keys import subquery_keys


def plan_delete(statement: Delete, facts: Facts) -> WritePlan:
    """Raises TABLE_NOT_FOUND, NOT_TRANSACTIONAL, INSERT_ONLY, SORTED_TABLE."""
    table = find_table(statement.target, facts)
    check_writable(table, statement.target)
    alias = statement.alias.value if statement.alias else table.name
    query = exp.select(*identity_columns(table, alias)).from_(target_table(table, alias))
    if statement.where is not None:
        query = query.where(statement.where.copy())
    if statement.ctes is not None:
        query.set("with_", statement.ctes.copy())
    binder = Binder(facts, statement.source)
    rows = binder.bind(query)
    columns = "".join(f",\n  {value} AS {name_sql(name)}" for name, value in nulls(table).items())
    identity = ", ".join(old_identity(table).values())
    return WritePlan(
        operation="DELETE",
        target=table,
        rows=to_spark(rows),
        events=f"SELECT 0 AS {name_sql(BRANCH)}, {identity}{columns}\nFROM {rows_view()}",
        branches=(Branch(StatementId(0), EventKind.DELETE, Effect.DELETED, "DELETE"),),
        values=(),
        scans=binder.scans,
        frames=binder.frames,
        views=binder.views,
        row_source=row_source(rows),
        key_queries=subquery_keys(rows, table) if facts.shortcuts.keys else (),
        locks=write_locks(table, (Operation.DELETE,), binder.scans, LockRules.of(facts)),
        arrow=arrow_change(rows, binder.scans, binder.frames, {}),
    )
