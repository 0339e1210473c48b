"""The statements about databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from acidsql.grammar.statements.alter_actions import SetOwner
from acidsql.grammar.statements.statement_parts import Name


@dataclass(frozen=True, slots=True)
class CreateDatabase:
    source: str
    database: Name
    if_not_exists: bool = False
    comment: str | None = None
    location: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    managed_location: str | None = None


@dataclass(frozen=True, slots=True)
class SetDatabaseProperties:
    """SET DBPROPERTIES."""

    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SetDatabaseLocation:
    """SET LOCATION, or SET MANAGEDLOCATION with `managed`: the directory of tables that are created later."""

    location: str
    managed: bool = False


AlterDatabaseAction: TypeAlias = SetDatabaseProperties | SetDatabaseLocation | SetOwner


@dataclass(frozen=True, slots=True)
class AlterDatabase:
    source: str
    database: Name
    action: AlterDatabaseAction


@dataclass(frozen=True, slots=True)
class DropDatabase:
    source: str
    database: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class UseDatabase:
    source: str
    database: Name
