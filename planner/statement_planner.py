"""One statement to its plan: which planner takes which statement."""

from __future__ import annotations

from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.statements import Delete, Insert, Merge, MultiInsert, Query, RestoreTable, RowStatement, Update
from acidsql.planner.dml.delete import plan_delete
from acidsql.planner.dml.insert import plan_insert
from acidsql.planner.dml.multi_insert import plan_multi_insert
from acidsql.planner.dml.restore import plan_restore
from acidsql.planner.dml.schema_evolution import check_no_evolution
from acidsql.planner.dml.update import plan_update
from acidsql.planner.merge.merge_planner import plan_merge
from acidsql.planner.plan import Evolution, Facts, Plan
from acidsql.planner.queries.query import plan_query


def plan_statement(statement: RowStatement, facts: Facts, evolution: Evolution | None = None) -> Plan:
    """The plan of a query or a DML statement. `evolution` is what its clause WITH SCHEMA EVOLUTION means.

    Raises the AcidSqlError of the first rule that the statement breaks."""
    with depth_limited():
        return _plan(statement, facts, evolution)


def _plan(statement: RowStatement, facts: Facts, evolution: Evolution | None) -> Plan:
    match statement:
        case Query():
            return plan_query(statement, facts)
        case Insert():
            return plan_insert(statement, facts, evolution=evolution)
        case MultiInsert():
            check_no_evolution(statement)
            return plan_multi_insert(statement, facts)
        case Update():
            return plan_update(statement, facts)
        case Delete():
            return plan_delete(statement, facts)
        case Merge():
            return plan_merge(statement, facts, evolution)
        case RestoreTable():
            return plan_restore(statement, facts)
