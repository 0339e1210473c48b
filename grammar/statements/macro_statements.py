"""The statements about macros and functions."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from acidsql.errors import Span
from acidsql.grammar.statements.statement_parts import Name, TableName


@dataclass(frozen=True, slots=True)
class MacroParameter:
    """A parameter of a macro, with its Hive type."""

    name: Name
    type: str


@dataclass(frozen=True, slots=True)
class CreateMacro:
    """CREATE TEMPORARY MACRO m(x int, ..) expression."""

    source: str
    macro: TableName
    parameters: tuple[MacroParameter, ...]
    body: exp.Expr


@dataclass(frozen=True, slots=True)
class DropMacro:
    source: str
    macro: TableName
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """CREATE TEMPORARY FUNCTION f AS 'package.module.function'."""

    source: str
    function: TableName
    python_name: str
    python_name_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DropFunction:
    """DROP TEMPORARY FUNCTION."""

    source: str
    function: TableName
    if_exists: bool = False
