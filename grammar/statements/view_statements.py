"""The statements about views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from acidsql.errors import Span
from acidsql.grammar.statements.alter_actions import RenameTable, SetTableProperties, UnsetTableProperties
from acidsql.grammar.statements.statement_parts import Name, TableName


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column in the column list of CREATE VIEW."""

    name: Name
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE [OR REPLACE] [TEMPORARY] VIEW. `text` is the place of the query, whose text the catalog keeps."""

    source: str
    view: TableName
    query: exp.Query
    text: Span = field(compare=False)
    columns: tuple[ViewColumn, ...] = ()
    comment: str | None = None
    partition_columns: tuple[Name, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False
    replace: bool = False
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """ALTER VIEW .. AS query. `text` is the place of the query, whose text the catalog keeps."""

    query: exp.Query
    text: Span = field(compare=False)


AlterViewAction: TypeAlias = ViewQuery | RenameTable | SetTableProperties | UnsetTableProperties


@dataclass(frozen=True, slots=True)
class AlterView:
    source: str
    view: TableName
    action: AlterViewAction


@dataclass(frozen=True, slots=True)
class DropView:
    source: str
    view: TableName
    if_exists: bool = False
