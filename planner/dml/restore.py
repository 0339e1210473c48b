"""RESTORE TABLE: an INSERT OVERWRITE of the whole table by the rows of one of its versions."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from acidsql.acid.table import Table, View
from acidsql.grammar.statements import Insert, RestoreTable
from acidsql.planner.as_of import invalid
from acidsql.planner.dml.insert import DYNAMIC_PARTITION_MODE, plan_insert
from acidsql.planner.plan import Facts, Overwrite, WritePlan
from acidsql.planner.queries.name_resolution import column, find_table, quoted


def plan_restore(statement: RestoreTable, facts: Facts) -> WritePlan:
    """Raises INVALID_PARAMETER for a view and for a plain table, TABLE_NOT_FOUND, and what `plan_insert` raises."""
    name = statement.table
    is_temporary_view = name.database is None and name.name in facts.views
    if is_temporary_view or isinstance(facts.relation(name), View):
        raise invalid(f"{name} is a view, and only tables have versions", name.span)
    table = find_table(name, facts)
    if not table.is_transactional:
        raise invalid(f"{table.qualified} is not transactional, so that its writes have no IDs", name.span)
    insert = Insert(statement.source, name, _rows(statement, table), overwrite=True)
    # The setting protects from replacing more partitions than were meant. All of them are meant here.
    settings = {**facts.settings, DYNAMIC_PARTITION_MODE: "nonstrict"}
    plan = plan_insert(insert, replace(facts, settings=settings))
    branches = tuple(replace(branch, clause="the rows of the version") for branch in plan.branches)
    return replace(plan, operation="RESTORE", mode=Overwrite(whole=True), branches=branches)


def _rows(statement: RestoreTable, table: Table) -> exp.Query:
    """The query of the version's rows, with the columns that the table has now."""
    source = exp.Table(this=quoted(table.name), db=quoted(table.database), version=statement.version.copy())
    return exp.select(*(column(c.name) for c in table.all_columns), copy=False).from_(source, copy=False)
