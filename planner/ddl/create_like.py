"""CREATE TABLE .. LIKE: an equivalent CREATE TABLE statement with columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from acidsql.acid.table import TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, Column, Relation, Table, View
from acidsql.grammar.statements import ColumnDefinition, CreateTable, Name

_KIND: Final = (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES)
_COPIED: Final = (*_KIND, "bucketing_version")


def with_columns_of(statement: CreateTable, source: Relation) -> CreateTable:
    """CREATE TABLE .. LIKE as a statement with columns. As in Hive, a table that is made like a view has the view's
    columns and partition columns, and nothing else of it."""
    if not isinstance(source, View):
        return _like_table(statement, source)
    return replace(
        statement,
        like=None,
        columns=tuple(_definition(c, statement) for c in source.columns),
        partition_columns=tuple(_definition(c, statement) for c in source.partition_columns),
    )


def _like_table(statement: CreateTable, source: Table) -> CreateTable:
    """CREATE TABLE .. LIKE with the columns, partition columns, buckets, sorting and format of its source.

    It copies the properties that determine the kind of the table and how ORC files are written, unless the statement's
    TBLPROPERTIES set them. It copies no other properties, no constraints and no rows, as in Hive. Hive 4 does not copy
    the former either (HIVE-25813): there a copy is transactional if the metastore makes every table transactional.
    """
    return replace(
        statement,
        like=None,
        columns=tuple(_definition(c, statement) for c in source.columns),
        partition_columns=tuple(_definition(c, statement) for c in source.partition_columns),
        bucket_columns=tuple(Name(n, statement.table.span) for n in source.bucket_columns),
        bucket_count=source.bucket_count,
        sort_columns=tuple(Name(n, statement.table.span) for n in source.sort_columns),
        file_format=statement.file_format or source.file_format,
        row_format=tuple(source.row_format.items()) if statement.file_format is None else (),
        serde=source.serde if statement.file_format is None else statement.serde,
        properties=_properties(statement, source),
    )


def _definition(column: Column, statement: CreateTable) -> ColumnDefinition:
    return ColumnDefinition(Name(column.name, statement.table.span), column.type, column.comment)


def _properties(statement: CreateTable, source: Table) -> tuple[tuple[str, str], ...]:
    given = {key.lower(): value for key, value in statement.properties}
    copied = {k: v for k, v in source.properties.items() if k in _COPIED or k.lower().startswith("orc.")}
    if statement.external or given.get(TRANSACTIONAL, "true").lower() == "false":
        copied = {k: v for k, v in copied.items() if k not in _KIND}
    kept = tuple((k, v) for k, v in copied.items() if k.lower() not in given)
    return (*kept, *statement.properties)
