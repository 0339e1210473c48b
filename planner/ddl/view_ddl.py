"""CREATE VIEW, ALTER VIEW and DROP VIEW: the plan of each statement. view_definition.py makes the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, assert_never

from acidsql.acid.object_names import check_table_name
from acidsql.acid.table import Relation, View, in_the_way
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import statements as s
from acidsql.planner.ddl.ddl_plan import DdlFacts, DdlPlan, RegisterView, RemoveView, ReplaceView, ViewDefinition
from acidsql.planner.lock_requests import database_lock, exclusive_lock

_COMMENT: Final = "comment"


def plan_view_statement(statement: s.CreateView | s.AlterView | s.DropView, facts: DdlFacts) -> DdlPlan:
    """Raises the AcidSqlError of the first rule that the statement breaks."""
    match statement:
        case s.CreateView():
            return _create(statement, facts)
        case s.AlterView():
            return _alter(statement, facts)
        case s.DropView():
            return _drop(statement, facts)
        case _:
            assert_never(statement)


def _create(statement: s.CreateView, facts: DdlFacts) -> DdlPlan:
    """The lock on the database keeps it from being dropped. The lock on the view makes replacements take turns."""
    title = f"CREATE {'TEMPORARY ' if statement.temporary else ''}VIEW {facts.qualified(statement.view)}"
    existing = in_the_way(facts.relation(statement.view), temporary=statement.temporary)
    if statement.if_not_exists and (existing is not None or facts.definition is None):
        return DdlPlan(title)  # without a definition, the view existed when the statement began
    database, span = facts.database_of(statement.view).name, statement.view.span
    check_table_name(statement.view.name, span)
    check_free(statement, existing)
    assert facts.definition is not None, "a CREATE VIEW is planned with the definition of its view"
    # As in Hive, a replaced view keeps its owner, and a comment and properties that the statement does not set.
    old = (
        existing
        if isinstance(existing, View)
        else View(database, statement.view.name, (), "", "", temporary=statement.temporary)
    )
    new = _partitioned(_with_definition(old, facts.definition), statement.partition_columns)
    comment = old.comment if statement.comment is None else statement.comment
    new = replace(new, properties={**old.properties, **dict(statement.properties)}, comment=comment)
    step = RegisterView(new, span) if existing is None else ReplaceView(old, new, span)
    replacing = (exclusive_lock(database, statement.view.name),) if statement.replace and not new.temporary else ()
    return DdlPlan(title, (database_lock(database), *replacing), (step,))


def check_free(statement: s.CreateView, existing: Relation | None) -> None:
    """Raises TABLE_ALREADY_EXISTS, and NOT_A_VIEW where OR REPLACE names a table. `existing` is what is in the way."""
    if existing is None:
        return
    is_same_kind = existing.temporary == statement.temporary
    if statement.replace and is_same_kind and isinstance(existing, View):
        return
    condition = Condition.NOT_A_VIEW if statement.replace and is_same_kind else Condition.TABLE_ALREADY_EXISTS
    raise AcidSqlError(condition, span=statement.view.span, table=statement.view)


def _alter(statement: s.AlterView, facts: DdlFacts) -> DdlPlan:
    title = f"ALTER VIEW {facts.qualified(statement.view)}"
    view, span, action = facts.view(statement.view), statement.view.span, statement.action
    locks = [exclusive_lock(view.database, view.name)]
    match action:
        case s.ViewQuery():
            assert facts.definition is not None, "an ALTER VIEW .. AS is planned with the new definition"
            keys = tuple(s.Name(c.name, span) for c in view.partition_columns)
            new = _partitioned(_with_definition(view, facts.definition), keys)
        case s.RenameTable(new_name):
            check_table_name(new_name.name, new_name.span)
            if facts.relation(new_name) is not None:
                raise AcidSqlError(Condition.TABLE_ALREADY_EXISTS, span=new_name.span, table=facts.qualified(new_name))
            new = replace(view, database=facts.database_of(new_name).name, name=new_name.name)
            locks.append(database_lock(new.database))
        case s.SetTableProperties(properties):
            new = _with_properties(view, dict(properties))
        case s.UnsetTableProperties(keys_to_remove, if_exists):
            new = _without_properties(view, keys_to_remove, span, if_exists=if_exists)
        case _:
            assert_never(action)
    return DdlPlan(title, tuple(locks), (ReplaceView(view, new, span),))


def _drop(statement: s.DropView, facts: DdlFacts) -> DdlPlan:
    """As in Hive, DROP VIEW IF EXISTS of a table does nothing."""
    title = f"DROP VIEW {facts.qualified(statement.view)}"
    existing = facts.relation(statement.view)
    if isinstance(existing, View):
        return DdlPlan(title, (exclusive_lock(existing.database, existing.name),), (RemoveView(existing),))
    if existing is not None and not statement.if_exists:
        raise AcidSqlError(Condition.WRONG_DROP, span=statement.view.span, kind="base table", statement="DROP VIEW")
    return DdlPlan(title)


# ------------------------------------------------------------------------------------------------ definitions


def _with_definition(view: View, definition: ViewDefinition) -> View:
    return replace(
        view,
        columns=definition.columns,
        partition_columns=(),
        original=definition.original,
        expanded=definition.expanded,
    )


def _partitioned(view: View, names: Sequence[s.Name]) -> View:
    """The view with the partition columns of PARTITIONED ON, which are the last columns of its query.

    Raises VIEW_PARTITION_MISMATCH, VIEW_PARTITION_TOTAL.
    """
    if not names:
        return view
    regular = len(view.columns) - len(names)
    last = view.columns[max(0, regular) :]
    if regular < 0 or [c.name for c in last] != [name.value for name in names]:
        raise AcidSqlError(Condition.VIEW_PARTITION_MISMATCH, span=names[0].span)
    if regular == 0:
        raise AcidSqlError(Condition.VIEW_PARTITION_TOTAL, span=names[0].span)
    return replace(view, columns=view.columns[:regular], partition_columns=last)


def _with_properties(view: View, properties: dict[str, str]) -> View:
    comments = [value for key, value in properties.items() if key.lower() == _COMMENT]
    kept = {key: value for key, value in properties.items() if key.lower() != _COMMENT}
    return replace(view, properties={**view.properties, **kept}, comment=[view.comment, *comments][-1])


def _without_properties(view: View, keys: Sequence[str], span: Span | None, *, if_exists: bool) -> View:
    """Raises UNKNOWN_PROPERTY."""
    known = {**view.properties, **({} if view.comment is None else {_COMMENT: view.comment})}
    for key in keys:
        if key not in known and not if_exists:
            raise AcidSqlError(Condition.UNKNOWN_PROPERTY, span=span, property=key, table=view.qualified)
    left = {key: value for key, value in view.properties.items() if key not in keys}
    return replace(view, properties=left, comment=None if _COMMENT in keys else view.comment)
