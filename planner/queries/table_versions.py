"""AS OF behind the tables of a query: which tables may have it, and what it names."""

from __future__ import annotations

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import frame_of
from acidsql.grammar.table_names import table_name, table_nodes
from acidsql.planner.as_of import ASSUME_NO_DROPS, AsOf, as_of, invalid
from acidsql.planner.plan import Facts

_AS_OF = "as_of"


def take_versions(tree: exp.Query, facts: Facts, source: str) -> None:
    """Takes the clauses from the tree, so that a table with one is a table like others for all that follows.
    `as_of_table` gives them back.

    Raises INVALID_PARAMETER where the clause is behind something that has no versions or names none, and
    NOT_YET_SUPPORTED behind a view.
    """
    versions = [node for node in tree.find_all(exp.Version) if isinstance(node.parent, exp.Table)]
    named = {id(node) for node in table_nodes(tree)} if versions else set()
    assumes = facts.settings.get(ASSUME_NO_DROPS) == "true"
    for version in versions:
        table = version.parent
        assert isinstance(table, exp.Table)
        found = as_of(version, source, facts.zone, assumes_no_drops=assumes)
        _check(table, found.span, facts, is_named=id(table) in named)
        version.pop()
        table.meta[_AS_OF] = found


def as_of_table(node: exp.Table) -> AsOf | None:
    """The version of a table that the query reads; None for the latest one."""
    found = node.meta.get(_AS_OF)
    return found if isinstance(found, AsOf) else None


def _check(node: exp.Table, span: Span | None, facts: Facts, *, is_named: bool) -> None:
    if frame_of(node) is not None:
        raise invalid(f"{{{frame_of(node)}}} is a frame of the call, and only tables have versions", span)
    name = table_name(node)
    if name is None:
        raise invalid("a table function has no versions", span)
    if not is_named:
        raise invalid(f"{name.name} is a common table expression, and only tables have versions", span)
    found = facts.relation(name)
    is_view = found is None and name.database is None and name.name in facts.views
    if is_view or (found is not None and not isinstance(found, Table)):
        feature = f"Reading an earlier version of the view {name}"
        hint = "Write the query of the view with AS OF behind its tables."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=feature, hint=hint)
    if isinstance(found, Table) and not found.is_transactional:
        raise invalid(f"{found.qualified} is not transactional, so that its writes have no IDs", span)
