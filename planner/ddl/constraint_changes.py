"""ADD and DROP CONSTRAINT, and the constraints in CHANGE COLUMN: the table with the changed constraints.

As in Hive, no existing row is checked. Keys, and CHECKs with DISABLE, are informational: the catalog keeps their names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from acidsql.acid.table import Check, Column, ConstraintKind, ConstraintName, Table
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.parameter_literals import first_parameter
from acidsql.grammar.statements import ColumnDefinition, Name, NamedConstraint
from acidsql.planner.ddl.table_definition import constraint_name, default_text
from acidsql.planner.expressions.function_names import check_functions


def with_constraint(table: Table, constraint: NamedConstraint, database: str) -> Table:
    """The table with one more constraint. `database` is the database of table names that have none.

    Raises CONSTRAINT_ALREADY_EXISTS, INVALID_CONSTRAINT, COLUMN_NOT_FOUND.
    """
    _check_new(constraint, table)
    for name in constraint.columns:
        _check_column(name.value, name.span, table.columns)
    if constraint.condition is not None:
        _check_condition(constraint.condition, table.all_columns, constraint.name.span)
    constraints = table.constraints
    if constraint.condition is not None and constraint.enabled:
        check = Check(constraint.name.value, to_spark(constraint.condition))
        return replace(table, constraints=replace(constraints, checks=(*constraints.checks, check)))
    named = constraint_name(constraint, database)
    return replace(table, constraints=replace(constraints, names=(*constraints.names, named)))


def with_constraints_of_column(table: Table, definition: ColumnDefinition, database: str) -> Table:
    """The table with the constraints of a column that CHANGE COLUMN defines; `table` has the column's new name already.
    Other constraints of the column stay, and a DEFAULT replaces the one before it.

    Raises what `with_constraint` raises, and INVALID_DEFAULT.
    """
    column = definition.name.value
    constraints = table.constraints
    if definition.not_null:
        constraints = replace(constraints, not_null=constraints.not_null | {column})
    if definition.default is not None:
        text = default_text(definition.default, definition.name)
        constraints = replace(constraints, defaults={**constraints.defaults, column: text})
    if definition.check is not None:
        _check_condition(definition.check, table.all_columns, definition.name.span)
        check = Check(definition.check_name, to_spark(definition.check))
        if check.name is not None:
            _check_free(check.name, definition.name.span, table)
        constraints = replace(constraints, checks=(*constraints.checks, check))
    changed = replace(table, constraints=constraints)
    for named in definition.names:
        changed = with_constraint(changed, named, database)
    return changed


def without_constraint(table: Table, name: Name) -> Table:
    """Raises CONSTRAINT_NOT_FOUND."""
    constraints, wanted = table.constraints, name.value
    known = list(_names(table))
    if wanted not in known:
        near = suggestion(wanted, known)
        raise AcidSqlError(
            Condition.CONSTRAINT_NOT_FOUND, span=name.span, constraint=wanted, table=table.qualified, suggestion=near
        )
    dropped = [n for n in constraints.names if n.name.lower() == wanted]
    kept = [n for n in constraints.names if n not in dropped]
    no_longer_null = _columns(dropped, ConstraintKind.NOT_NULL) - _columns(kept, ConstraintKind.NOT_NULL)
    without_default = _columns(dropped, ConstraintKind.DEFAULT) - _columns(kept, ConstraintKind.DEFAULT)
    return replace(
        table,
        constraints=replace(
            constraints,
            not_null=constraints.not_null - no_longer_null,
            defaults={c: text for c, text in constraints.defaults.items() if c not in without_default},
            checks=tuple(c for c in constraints.checks if (c.name or "").lower() != wanted),
            names=tuple(kept),
        ),
    )


def _columns(names: Sequence[ConstraintName], kind: ConstraintKind) -> set[str]:
    """The columns of the constraints of a kind: one column may have several with the same meaning."""
    return {column for name in names if name.kind is kind for column in name.columns}


def _names(table: Table) -> Iterator[str]:
    yield from (named.name.lower() for named in table.constraints.names)
    yield from (check.name.lower() for check in table.constraints.checks if check.name is not None)


def _check_new(constraint: NamedConstraint, table: Table) -> None:
    _check_free(constraint.name.value, constraint.name.span, table)
    kinds = {named.kind for named in table.constraints.names}
    if constraint.kind is ConstraintKind.PRIMARY_KEY and constraint.kind in kinds:
        reason = f"Primary key already exists for: {table.qualified}"
        raise AcidSqlError(Condition.INVALID_CONSTRAINT, span=constraint.name.span, reason=reason)


def _check_free(name: str, span: Span | None, table: Table) -> None:
    if name in _names(table):
        raise AcidSqlError(Condition.CONSTRAINT_ALREADY_EXISTS, span=span, constraint=name, table=table.qualified)


def _check_column(name: str, span: Span | None, columns: Sequence[Column]) -> None:
    known = [c.name for c in columns]
    if name.lower() not in known:
        near = suggestion(name, known)
        raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column=name, suggestion=near)


def _check_condition(condition: exp.Expression, columns: Collection[Column], span: Span | None) -> None:
    """Refuses a condition that cannot be evaluated for a row. Hive accepts it and fails when it writes a row."""
    check_functions(condition)
    refused = condition.find(exp.Query, exp.AggFunc, exp.Window, exp.Star) or first_parameter(condition)
    if refused is not None:
        reason = f"Invalid CHECK constraint expression: {to_spark(refused)} is not a value of one row"
        raise AcidSqlError(Condition.INVALID_CONSTRAINT, span=span_of(refused) or span, reason=reason)
    for column in condition.find_all(exp.Column):
        if not column.table:  # `s.a` may be a field of a struct
            _check_column(column.name, span_of(column) or span, tuple(columns))
