"""SELECT: the query over scan views, one for each table that it names."""

from __future__ import annotations

from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import Query
from acidsql.planner.lock_requests import LockRules, read_locks
from acidsql.planner.plan import Facts, QueryPlan
from acidsql.planner.queries.name_resolution import Binder
from acidsql.planner.queries.simple_scans import simple_scan


def plan_query(statement: Query, facts: Facts) -> QueryPlan:
    """Raises TABLE_NOT_FOUND, RECURSIVE_VIEW, INVALID_VIEW, AMBIGUOUS_ROW_ID, ROW_ID_OF_PLAIN_TABLE."""
    binder = Binder(facts, statement.source)
    tree = binder.bind(statement.tree)
    locks = read_locks(binder.scans, LockRules.of(facts))
    simple = None if binder.frames or binder.views else simple_scan(tree, binder.scans)
    return QueryPlan(to_spark(tree), binder.scans, binder.frames, locks, binder.views, simple)
