"""One statement to its plan: which planner takes which statement."""

from __future__ import annotations

from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.statements import Delete, Insert, Merge, MultiInsert, Query, Update
from acidsql.planner.delete import plan_delete
from acidsql.planner.insert import plan_insert
from acidsql.planner.merge import plan_merge
from acidsql.planner.multi_insert import plan_multi_insert
from acidsql.planner.plan import Facts, Plan
from acidsql.planner.query import plan_query
from acidsql.planner.update import plan_update


def plan_statement(statement: Query | Insert | MultiInsert | Update | Delete | Merge, facts: Facts) -> Plan:
    """The plan of a query or a DML statement. Raises the AcidSqlError of the first rule it breaks."""
    with depth_limited():
        return _plan(statement, facts)


def _plan(statement: Query | Insert | MultiInsert | Update | Delete | Merge, facts: Facts) -> Plan:
    match statement:
        case Query():
            return plan_query(statement, facts)
        case Insert():
            return plan_insert(statement, facts)
        case MultiInsert():
            return plan_multi_insert(statement, facts)
        case Update():
            return plan_update(statement, facts)
        case Delete():
            return plan_delete(statement, facts)
        case Merge():
            return plan_merge(statement, facts)
