"""AS OF and CHANGES behind the tables of a query: which tables may have them, and what they name."""

from __future__ import annotations

from sqlglot import exp

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import CHANGES, fetches_deleted, frame_of
from acidsql.grammar.table_names import table_name, table_nodes
from acidsql.planner.as_of import ASSUME_NO_DROPS, AsOf, as_of, invalid
from acidsql.planner.change_range import CHANGE_COLUMNS, ROW_ID, ChangeRange, change_range
from acidsql.planner.plan import Facts

_VERSION = "version"


def take_versions(tree: exp.Query, facts: Facts, source: str) -> None:
    """Takes the clauses from the tree, so that a table with one is a table like others for all that follows.
    `as_of_table` and `changes_of_table` give them back.

    Raises INVALID_PARAMETER where the clause is behind something that has no versions or names none, and
    NOT_YET_SUPPORTED behind a view.
    """
    versions = [node for node in tree.find_all(exp.Version) if isinstance(node.parent, exp.Table)]
    named = {id(node) for node in table_nodes(tree)} if versions else set()
    assumes = facts.settings.get(ASSUME_NO_DROPS) == "true"
    for version in versions:
        table = version.parent
        assert isinstance(table, exp.Table)
        if version.name == CHANGES:
            found: AsOf | ChangeRange = change_range(version, source, facts.zone, assumes_no_drops=assumes)
        else:
            found = as_of(version, source, facts.zone, assumes_no_drops=assumes)
        _check(table, found, facts, is_named=id(table) in named)
        version.pop()
        table.meta[_VERSION] = found


def as_of_table(node: exp.Table) -> AsOf | None:
    """The version of a table that the query reads; None for the latest one."""
    found = node.meta.get(_VERSION)
    return found if isinstance(found, AsOf) else None


def changes_of_table(node: exp.Table) -> ChangeRange | None:
    """The versions of a table whose changes the query reads; None if it reads rows."""
    found = node.meta.get(_VERSION)
    return found if isinstance(found, ChangeRange) else None


def _check(node: exp.Table, found: AsOf | ChangeRange, facts: Facts, *, is_named: bool) -> None:
    span = found.span
    if frame_of(node) is not None:
        raise invalid(f"{{{frame_of(node)}}} is a frame of the call, and only tables have versions", span)
    name = table_name(node)
    if name is None:
        raise invalid("a table function has no versions", span)
    if not is_named:
        raise invalid(f"{name.name} is a common table expression, and only tables have versions", span)
    relation = facts.relation(name)
    is_view = relation is None and name.database is None and name.name in facts.views
    if is_view or (relation is not None and not isinstance(relation, Table)):
        what, clause = ("the changes", "CHANGES") if isinstance(found, ChangeRange) else ("an earlier version", "AS OF")
        feature = f"Reading {what} of the view {name}"
        hint = f"Write the query of the view with {clause} behind its tables."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=feature, hint=hint)
    if not isinstance(relation, Table):
        return
    if not relation.is_transactional:
        raise invalid(f"{relation.qualified} is not transactional, so that its writes have no IDs", span)
    if isinstance(found, ChangeRange):
        _check_changes(node, relation, found)


def _check_changes(node: exp.Table, table: Table, changes: ChangeRange) -> None:
    span = changes.span
    if fetches_deleted(node):
        raise invalid("the deleted rows of a table have no changes", span)
    taken = next((name for name in table.column_names if name in CHANGE_COLUMNS), None)
    if taken is not None:
        reason = f"{table.qualified} has a column {taken}, which is the name of a column of changes"
        hint = f"ALTER TABLE {table.qualified} CHANGE COLUMN gives the column another name."
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span, name="version", reason=reason, hint=hint)
    unknown = next((name for name in changes.options.row_id if name not in table.column_names), None)
    if unknown is not None:
        reason = f"{table.qualified} has no column {unknown}"
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span, name=ROW_ID, reason=reason)
