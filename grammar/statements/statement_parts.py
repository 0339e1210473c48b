"""The parts that several statements have: names, values, items of PARTITION and ORDER BY."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from acidsql.errors import Span


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier, lower case, with its place."""

    value: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TableName:
    """`database.name`; `database` is None where the text names none."""

    database: str | None
    name: str
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True, slots=True)
class Frame:
    """A table that the text names as `{name}`: a Spark, pandas or Arrow frame of the call."""

    name: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Default:
    """The word DEFAULT in the place of a value."""

    span: Span | None = field(default=None, compare=False)


Value: TypeAlias = "exp.Expression | Default"


@dataclass(frozen=True, slots=True)
class PartitionItem:
    """`column = value` (static) or `column` alone (dynamic, value None) of a PARTITION clause."""

    column: Name
    value: exp.Expression | None
    operator: str = "="


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One item of ORDER BY, and its text. `nulls_first` is None where the text says nothing of NULLs."""

    source: str
    value: exp.Expression
    descending: bool = False
    nulls_first: bool | None = None
