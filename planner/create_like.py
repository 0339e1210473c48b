"""CREATE TABLE .. LIKE: the statement that makes an empty table of the same shape and kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from acidsql.acid.table import TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, Column, Table
from acidsql.grammar.statements import ColumnDefinition, CreateTable, Name

_KIND: Final = (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES)
_COPIED: Final = (*_KIND, "bucketing_version")


def spelled_out(statement: CreateTable, source: Table) -> CreateTable:
    """CREATE TABLE .. LIKE with the columns, partition columns, buckets, sorting and format of its source.

    Of the properties it has those that say what kind of table it is and how ORC files are written, unless its own
    TBLPROPERTIES say otherwise; no others, no constraints and no rows, as in Hive. Hive 4 does not copy the former
    either (HIVE-25813): there a copy is transactional if the metastore makes all tables so.
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
