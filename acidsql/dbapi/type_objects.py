"""The type objects and constructors of PEP 249. The type code of a column is the text of its Hive type."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date as Date
from datetime import datetime as Timestamp
from datetime import time as Time
from typing import Final

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Date",
    "DateFromTicks",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "TypeObject",
    "type_head",
]

Binary = bytes


def DateFromTicks(ticks: float) -> Date:
    """The date of a time in seconds since 1970, in the time zone of the process."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> Time:
    """The time of day of a time in seconds since 1970, in the time zone of the process."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> Timestamp:
    """A time in seconds since 1970 as wall-clock time in the time zone of the process."""
    return Timestamp(*time.localtime(ticks)[:6])


@dataclass(frozen=True, slots=True, eq=False)
class TypeObject:
    """Equals the type codes of all columns that have one of its Hive types.

    >>> "decimal(10,2)" == NUMBER, "decimal(10,2)" == STRING
    (True, False)
    """

    name: str
    heads: frozenset[str]
    """The names of the types without their parameters."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return type_head(other) in self.heads
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)


def type_head(type_code: str) -> str:
    """The name of a Hive type without its parameters.

    >>> type_head("decimal(10,2)"), type_head("array<int>"), type_head("timestamp with local time zone")
    ('decimal', 'array', 'timestamp with local time zone')
    """
    return type_code.partition("(")[0].partition("<")[0].strip().lower()


STRING: Final = TypeObject("STRING", frozenset({"string", "varchar", "char"}))
BINARY: Final = TypeObject("BINARY", frozenset({"binary"}))
NUMBER: Final = TypeObject(
    "NUMBER", frozenset({"tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"})
)
DATETIME: Final = TypeObject("DATETIME", frozenset({"date", "timestamp", "timestamp with local time zone"}))
ROWID: Final = TypeObject("ROWID", frozenset())
"""Equals no type: `row__id` is a struct."""
