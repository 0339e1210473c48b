"""CREATE TABLE: the table that a statement defines, and the rules for its columns, properties and format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import parse_type
from acidsql.acid.object_names import check_column_name, check_table_name, without_case
from acidsql.acid.table import (
    MOVING,
    TRANSACTIONAL,
    TRANSACTIONAL_PROPERTIES,
    Check,
    Column,
    ConstraintName,
    Constraints,
    Table,
)
from acidsql.acid.text_serdes import OTHER_SERDES, check_serde
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.dialect import span_of, to_spark
from acidsql.grammar.parameter_literals import first_parameter
from acidsql.grammar.statements import ColumnDefinition, CreateTable, Name, NamedConstraint
from acidsql.metastore.catalog import Database
from acidsql.metastore.history_retention import RETENTION, is_retention
from acidsql.planner.expressions.function_names import check_functions

ADOPT_WRITE_IDS: Final = "acidsql.adopt.writeids"
"""Property of CREATE TABLE .. LOCATION: the write IDs of the files that the table adopts. The catalog does not
keep it."""
_LONGEST_DEFAULT: Final = 255
"""ConstraintsUtils.DEFAULT_MAX_LEN."""


def check_supported(statement: CreateTable) -> None:
    """Raises NOT_YET_SUPPORTED for what acidsql cannot create: the write IDs of a directory are not those of the
    session that a temporary table belongs to."""
    transactional = {key.lower(): value.lower() for key, value in statement.properties}.get(TRANSACTIONAL) == "true"
    if statement.temporary and statement.location is not None and (transactional or statement.transactional):
        feature = "A transactional temporary table with LOCATION"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=statement.table.span, feature=feature)


def with_columns(statement: CreateTable, columns: Sequence[tuple[str, str]]) -> CreateTable:
    """CREATE TABLE .. AS with the columns of its query: names and Hive's types. PARTITIONED BY (p) says which of them
    are partition columns. Raises COLUMN_NOT_FOUND where the query lacks one of these."""
    partitions = {c.name.value: c for c in statement.partition_columns}
    types = dict(columns)
    for name, definition in partitions.items():
        if name not in types:
            near = suggestion(name, list(types))
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=definition.name.span, column=name, suggestion=near)
    span = statement.table.span
    regular = (ColumnDefinition(Name(n, span), kind) for n, kind in columns if n not in partitions)
    keys = (replace(definition, type=types[name]) for name, definition in partitions.items())
    return replace(statement, columns=tuple(regular), partition_columns=tuple(keys), query=None)


def defined_table(statement: CreateTable, database: Database) -> Table:
    """The table, whose location is the statement's or the default one in `database`. `created` is 0. A temporary table
    without LOCATION has no location yet: its session has a directory for it.

    Raises INVALID_TABLE_NAME, INVALID_COLUMN_NAME, DUPLICATE_COLUMN, COLUMN_NOT_FOUND, INVALID_TYPE, INVALID_DEFAULT,
    INVALID_TABLE_PROPERTIES, SORTED_TABLE.
    """
    check_table_name(statement.table.name, statement.table.span)
    columns = tuple(_column(c) for c in statement.columns)
    partition_columns = tuple(_column(c) for c in statement.partition_columns)
    _check_columns(statement)
    properties = _properties(statement)
    transactional = properties.get(TRANSACTIONAL, "").lower() == "true"
    place = f"{database.location_of(transactional=transactional)}/{statement.table.name}"
    default_location = "" if statement.temporary else place
    table = Table(
        database=database.name,
        name=statement.table.name,
        columns=columns,
        partition_columns=partition_columns,
        location=statement.location or default_location,
        bucket_columns=tuple(c.value for c in statement.bucket_columns),
        bucket_count=statement.bucket_count,
        sort_columns=tuple(c.value for c in statement.sort_columns),
        file_format=statement.file_format or "orc",
        row_format=dict(statement.row_format) if statement.file_format == "textfile" else {},
        serde=statement.serde if statement.serde in OTHER_SERDES else None,
        properties=properties,
        constraints=_constraints(statement, database.name),
        external=statement.external,
        comment=statement.comment,
        temporary=statement.temporary,
    )
    _check_transactional(table, statement)
    _check_serde(table, statement.table.span)
    return table


def _check_serde(table: Table, span: Span | None) -> None:
    try:
        check_serde(table)
    except AcidSqlError as error:
        raise (error.with_span(span) if span is not None else error) from None


def _column(definition: ColumnDefinition) -> Column:
    parse_type(definition.type)
    return Column(definition.name.value, definition.type, definition.comment)


def _check_columns(statement: CreateTable) -> None:
    """Checks that the names of columns are valid and unique, and that the columns of buckets and sorting exist."""
    seen: set[str] = set()
    for definition in (*statement.columns, *statement.partition_columns):
        name = definition.name
        check_column_name(name.value, name.span)
        if without_case(name.value) in seen:
            raise AcidSqlError(Condition.DUPLICATE_COLUMN, span=name.span, column=name.value)
        seen.add(without_case(name.value))
    regular = [c.name.value for c in statement.columns]
    if not regular:
        message = "A table needs at least one column that is not a partition column"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=statement.table.span, message=message)
    for name in (*statement.bucket_columns, *statement.sort_columns):
        if name.value not in regular:
            near = suggestion(name.value, regular)
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=name.value, suggestion=near)


def _properties(statement: CreateTable) -> dict[str, str]:
    """The table's properties, with those that Hive adds to a transactional table (TransactionalValidationListener)."""
    properties = {k: v for k, v in statement.properties if k != ADOPT_WRITE_IDS}
    if MOVING in properties:
        message = f"{MOVING} is acidsql's own: it tells which directory a rename is moving"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=statement.table.span, message=message)
    if statement.transactional:
        properties[TRANSACTIONAL] = "true"
    # Hive accepts `transactional` in any case and stores it in lower case.
    for key in [k for k in properties if k.lower() in (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, RETENTION)]:
        properties[key.lower()] = properties.pop(key)
    check_retention(properties, statement.table.span)
    if properties.get(TRANSACTIONAL, "").lower() == "true":
        properties.setdefault(TRANSACTIONAL_PROPERTIES, "default")
    properties.setdefault("bucketing_version", "2")
    return properties


def check_retention(properties: Mapping[str, str], span: Span | None) -> None:
    """Raises INVALID_TABLE_PROPERTIES for a retention that is no duration."""
    value = properties.get(RETENTION)
    if value is not None and not is_retention(value):
        message = f"'{RETENTION}'='{value}' is not a duration"
        hint = "Write a number and ms, s, min, h or d, such as '12h' or '30d'; 0 keeps nothing."
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message, hint=hint)


def _check_transactional(table: Table, statement: CreateTable) -> None:
    if not table.is_transactional:
        return
    span = statement.table.span
    if table.external:
        message = f"{table.qualified} cannot be declared transactional because it's an external table"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message)
    if table.is_full_acid and table.file_format != "orc":
        message = (
            f"The table must be stored using an ACID compliant format (such as ORC): {table.qualified}"
            f" is stored as {table.file_format}"
        )
        hint = "Store it as ORC, or set 'transactional_properties'='insert_only'."
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message, hint=hint)
    if table.is_full_acid and table.sort_columns:
        raise AcidSqlError(Condition.SORTED_TABLE, span=span, table=table.qualified)


def _constraints(statement: CreateTable, database: str) -> Constraints:
    """Raises INVALID_FUNCTION for a constraint that could never be computed, and INVALID_CONSTRAINT for a CHECK with a
    parameter, whose value belongs to this call only."""
    written = [c.condition for c in statement.checks]
    written += [tree for c in statement.columns for tree in (c.check, c.default) if tree is not None]
    for tree in written:
        check_functions(tree)
    for condition in (*(c.condition for c in statement.checks), *(c.check for c in statement.columns)):
        parameter = None if condition is None else first_parameter(condition)
        if parameter is not None:
            reason = "Invalid CHECK constraint expression: a constraint keeps no values of parameters"
            raise AcidSqlError(Condition.INVALID_CONSTRAINT, span=span_of(parameter), reason=reason)
    checks = [Check(c.name, to_spark(c.condition)) for c in statement.checks]
    checks += [Check(c.check_name, to_spark(c.check)) for c in statement.columns if c.check is not None]
    named = (*statement.names, *(name for c in statement.columns for name in c.names))
    return Constraints(
        not_null=frozenset(c.name.value for c in statement.columns if c.not_null),
        defaults={c.name.value: default_text(c.default, c.name) for c in statement.columns if c.default is not None},
        checks=tuple(checks),
        names=tuple(constraint_name(name, database) for name in named),
    )


def constraint_name(named: NamedConstraint, database: str) -> ConstraintName:
    """What the catalog keeps of a named constraint; `database` is the database of table names that have none."""
    parent = None if named.parent is None else f"{named.parent.database or database}.{named.parent.name}"
    return ConstraintName(
        named.name.value,
        named.kind,
        tuple(name.value for name in named.columns),
        parent,
        tuple(name.value for name in named.parent_columns),
        None if named.condition is None else to_spark(named.condition),
    )


def default_text(value: exp.Expr, column: Name) -> str:
    """The SQL of a DEFAULT, by the rules of Hive's ConstraintsUtils.getDefaultValue. Hive also requires the column's
    type; acidsql casts the value when it stores it."""
    text = to_spark(value)
    refused = value.find(exp.Column, exp.Query, exp.Star, exp.Window) or first_parameter(value)
    if refused is not None:
        reason, span = "DEFAULT only allows constant or function expressions", span_of(refused)
    elif len(text) > _LONGEST_DEFAULT:
        reason, span = f"Maximum character length allowed is {_LONGEST_DEFAULT}", column.span
    else:
        return text
    raise AcidSqlError(Condition.INVALID_DEFAULT, span=span or column.span, value=text, reason=reason)
