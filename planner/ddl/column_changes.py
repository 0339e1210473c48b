"""ADD, CHANGE and REPLACE COLUMNS: computes the changed definition of a table, or raises the rule that the change
breaks.

ALTER TABLE never rewrites files. ORC and text files identify columns by position, Parquet files by name. A change is
allowed if the existing files still yield the same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.hive_types import parse_type
from acidsql.acid.object_names import check_column_name, without_case
from acidsql.acid.schema_evolution import is_widening, is_widening_in_parquet
from acidsql.acid.table import Check, Column, Constraints, Table
from acidsql.acid.text_serdes import check_serde
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import AddColumns, ChangeColumn, ColumnDefinition, Name, Query, ReplaceColumns
from acidsql.planner.ddl.constraint_changes import with_constraints_of_column
from acidsql.planner.ddl.ddl_plan import ColumnAction


def redefined(table: Table, action: ColumnAction, span: Span | None) -> Table:
    """The table after a change of its columns; `span` is the table's name. Raises what the three functions below
    raise, and ALTER_REFUSED for a column that the SerDe of the table cannot have."""
    match action:
        case AddColumns():
            changed = _with_added(table, action)
        case ChangeColumn():
            changed = _with_changed(table, action)
        case ReplaceColumns():
            changed = _with_replaced(table, action, span)
        case _:
            assert_never(action)
    if table.serde == CSV_SERDE and any(column.type != "string" for column in changed.columns):
        message = f"The columns of {table.qualified} are of type STRING: OpenCSVSerde reads no other type"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
    check_serde(changed)
    return changed


def _with_added(table: Table, action: AddColumns) -> Table:
    """Adds columns after the regular ones. They are NULL in existing rows. Raises INVALID_COLUMN_NAME,
    DUPLICATE_COLUMN, INVALID_TYPE."""
    added = tuple(_unconstrained_column(d, "ADD COLUMNS") for d in action.columns)
    names = list(table.column_names)
    for definition in action.columns:
        _check_new_name(definition.name, names)
        names.append(definition.name.value)
    return replace(table, columns=(*table.columns, *added))


def _with_changed(table: Table, action: ChangeColumn) -> Table:
    """Gives a column another name, type, comment or position, and constraints.

    Raises COLUMN_NOT_FOUND, DUPLICATE_COLUMN, CANNOT_REORDER_COLUMNS, INCOMPATIBLE_COLUMN_CHANGE, ALTER_REFUSED, and
    what its constraints break.
    """
    old = _regular_column(table, action.column)
    new = _column(action.definition)
    new = new if action.definition.comment is not None else replace(new, comment=old.comment)
    if new.name != old.name:
        _check_new_name(action.definition.name, [n for n in table.column_names if n != old.name])
        _check_rename(table, old, action.definition.name.span)
    _check_type(table, old, new, action.definition)
    columns = [new if c is old else c for c in table.columns]
    if action.position is not None:
        columns = _reordered(table, columns, new, action)
    changed = replace(_renamed(table, {old.name: new.name}), columns=tuple(columns))
    return with_constraints_of_column(changed, action.definition, table.database)


def _with_replaced(table: Table, action: ReplaceColumns, span: Span | None) -> Table:
    """Replaces all regular columns. Files that identify columns by position keep their types.

    Raises DUPLICATE_COLUMN, REPLACE_CANNOT_DROP_COLUMNS, INCOMPATIBLE_COLUMN_CHANGE, ALTER_REFUSED.
    """
    names = [c.name for c in table.partition_columns]
    for definition in action.columns:
        _check_new_name(definition.name, names)
        names.append(definition.name.value)
    new = tuple(_unconstrained_column(d, "REPLACE COLUMNS") for d in action.columns)
    if table.file_format == "orc" and len(new) < len(table.columns):
        kept = ", ".join(f"{c.name} {c.type}" for c in table.columns)
        hint = f"ORC files have their columns by position: name all that are there ({kept}), then new ones."
        raise AcidSqlError(Condition.REPLACE_CANNOT_DROP_COLUMNS, span=span, table=table.qualified, hint=hint)
    pairs = list(_same_values(table, new))
    for old, column in pairs:
        _check_type(table, old, column, action.columns[new.index(column)])
    renamed = _renamed(table, {old.name: column.name for old, column in pairs})
    kept_names = {c.name for c in new}
    for name in (*renamed.bucket_columns, *renamed.sort_columns):
        if name not in kept_names:
            message = f"{table.qualified} is bucketed or sorted by {name}: it cannot be left out"
            raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
    return replace(renamed, columns=new, constraints=_only(renamed.constraints, kept_names))


def _same_values(table: Table, new: Sequence[Column]) -> Iterator[tuple[Column, Column]]:
    """Pairs of an old and a new column that are the same column in the files."""
    if table.file_format == "parquet":
        by_name = {c.name: c for c in table.columns}
        return ((by_name[c.name], c) for c in new if c.name in by_name)
    return zip(table.columns, new, strict=False)


def _unconstrained_column(definition: ColumnDefinition, clause: str) -> Column:
    """Hive's grammar has no constraints there."""
    if definition.not_null or definition.default is not None or definition.check is not None or definition.names:
        feature = f"A constraint in ALTER TABLE .. {clause}"
        hint = "Add the column, then give it the constraint with ALTER TABLE .. CHANGE COLUMN."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=definition.name.span, feature=feature, hint=hint)
    return _column(definition)


def _column(definition: ColumnDefinition) -> Column:
    parse_type(definition.type)
    return Column(definition.name.value, definition.type, definition.comment)


def _check_new_name(name: Name, taken: Sequence[str]) -> None:
    check_column_name(name.value, name.span)
    if without_case(name.value) in map(without_case, taken):
        raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)


def _regular_column(table: Table, name: Name) -> Column:
    names = [c.name for c in table.columns]
    if name.value in names:
        return table.columns[names.index(name.value)]
    if name.value in table.column_names:
        message = f"{name.value} is a partition column of {table.qualified}: it is in the names of directories"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=name.span, message=message)
    near = suggestion(name.value, names)
    raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=name.value, suggestion=near)


def _check_rename(table: Table, old: Column, span: Span | None) -> None:
    if table.file_format == "parquet":
        message = f"Parquet files have their columns by name: the values of {old.name} would be NULL under another name"
        hint = "Add a column and fill it, or make a new table."
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)


def _check_type(table: Table, old: Column, new: Column, definition: ColumnDefinition) -> None:
    before, after = parse_type(old.type), parse_type(new.type)
    if before == after:
        return
    span = definition.type_span or definition.name.span
    if old.name in table.bucket_columns:
        message = f"{table.qualified} is bucketed by {old.name}: under another type its rows belong to other buckets"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
    follows = is_widening_in_parquet if table.file_format == "parquet" else is_widening
    if not follows(before, after):
        raise AcidSqlError(
            Condition.INCOMPATIBLE_COLUMN_CHANGE,
            span=span,
            column=new.name,
            old=old.type,
            new=new.type,
            hint="The files that are there keep their type, so only wider ones can follow (int to bigint, varchar(10)"
            " to varchar(20), a number to string ..). Add a column and fill it, or make a new table.",
        )


def _reordered(table: Table, columns: Sequence[Column], moved: Column, action: ChangeColumn) -> list[Column]:
    assert action.position is not None
    if table.file_format != "parquet":
        hint = "Its files have their columns by position. Name the columns in the order that you want in SELECT."
        span = action.column.span
        raise AcidSqlError(Condition.CANNOT_REORDER_COLUMNS, span=span, table=table.qualified, hint=hint)
    others = [c for c in columns if c is not moved]
    if action.position == "first":
        return [moved, *others]
    after = action.position.removeprefix("after ")
    names = [c.name for c in others]
    if after not in names:
        near = suggestion(after, names)
        raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=action.column.span, column=after, suggestion=near)
    at = names.index(after) + 1
    return [*others[:at], moved, *others[at:]]


# ------------------------------------------------------------------------------------------------ what names columns


def _renamed(table: Table, names: dict[str, str]) -> Table:
    """The table with new names of columns in its buckets, sorting and constraints."""
    if all(old == new for old, new in names.items()):
        return table
    constraints = table.constraints
    return replace(
        table,
        bucket_columns=tuple(names.get(n, n) for n in table.bucket_columns),
        sort_columns=tuple(names.get(n, n) for n in table.sort_columns),
        constraints=Constraints(
            not_null=frozenset(names.get(n, n) for n in constraints.not_null),
            defaults={names.get(n, n): text for n, text in constraints.defaults.items()},
            checks=tuple(Check(c.name, _condition(c.condition, names)) for c in constraints.checks),
            names=tuple(replace(c, columns=tuple(names.get(n, n) for n in c.columns)) for c in constraints.names),
        ),
    )


def _condition(text: str, names: dict[str, str]) -> str:
    def rename(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name.lower() in names and not node.table:
            return exp.column(names[node.name.lower()], quoted=True)
        return node

    return to_spark(_tree(text).transform(rename))


def _only(constraints: Constraints, kept: set[str]) -> Constraints:
    """The constraints without those on columns that are not kept."""
    return Constraints(
        not_null=constraints.not_null & kept,
        defaults={n: text for n, text in constraints.defaults.items() if n in kept},
        checks=tuple(c for c in constraints.checks if _column_names(c.condition) <= kept),
        names=tuple(c for c in constraints.names if kept.issuperset(c.columns)),
    )


def _column_names(condition: str) -> set[str]:
    return {c.name.lower() for c in _tree(condition).find_all(exp.Column)}


def _tree(condition: str) -> exp.Expr:
    query = parse(f"SELECT {condition}")
    assert isinstance(query, Query)
    return query.tree.selects[0]
