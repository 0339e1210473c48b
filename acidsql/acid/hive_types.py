"""Hive's column types as values. Parsing a type's text and formatting the result gives the same text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, TypeAlias

from acidsql.errors import AcidSqlError, Condition

MOST_DIGITS: Final = 38
"""Digits of a DECIMAL, at most (HiveDecimal.MAX_PRECISION)."""
FIRST_GREGORIAN_DAY: Final = date(1582, 10, 15)
"""From this day on, Hive's hybrid calendar and the Gregorian one agree. Before it, Hive's is Julian, and it has no days
from 1582-10-05 to 1582-10-14."""
PRIMITIVES: Final = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "boolean",
    "binary",
    "date",
    "timestamp",
    "timestamp with local time zone",
)


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters, one of PRIMITIVES."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Char:
    length: int

    def __str__(self) -> str:
        return f"char({self.length})"


@dataclass(frozen=True, slots=True)
class Varchar:
    length: int

    def __str__(self) -> str:
        return f"varchar({self.length})"


@dataclass(frozen=True, slots=True)
class Array:
    element: HiveType

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: HiveType
    value: HiveType

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[tuple[str, HiveType], ...]

    def __str__(self) -> str:
        return f"struct<{','.join(f'{name}:{t}' for name, t in self.fields)}>"


HiveType: TypeAlias = Primitive | Decimal | Char | Varchar | Array | Map | Struct


@lru_cache(maxsize=4096)
def parse_type(text: str) -> HiveType:
    """Parses the normalized text of a Hive type. Raises INVALID_TYPE.

    >>> str(parse_type("map<string,array<decimal(10,2)>>"))
    'map<string,array<decimal(10,2)>>'
    """
    parsed, rest = _parse(text.strip().lower(), text)
    if rest:
        raise AcidSqlError(Condition.INVALID_TYPE, type=text, reason=f"'{rest}' is left over")
    return parsed


def is_complex(hive_type: HiveType) -> bool:
    return isinstance(hive_type, Array | Map | Struct)


def _parse(text: str, whole: str) -> tuple[HiveType, str]:
    head = _word(text)
    rest = text[len(head) :]
    match head:
        case "array":
            element, rest = _parse(_open(rest, whole), whole)
            return Array(element), _close(rest, whole)
        case "map":
            key, rest = _parse(_open(rest, whole), whole)
            value, rest = _parse(_comma(rest, whole), whole)
            return Map(key, value), _close(rest, whole)
        case "struct":
            return _parse_struct(_open(rest, whole), whole)
        case "decimal":
            arguments, rest = _arguments(rest, whole)
            return Decimal(*(*arguments, *(10, 0)[len(arguments) :])), rest
        case "char":
            arguments, rest = _arguments(rest, whole)
            return Char(arguments[0]), rest
        case "varchar":
            arguments, rest = _arguments(rest, whole)
            return Varchar(arguments[0]), rest
        case "timestamp" if rest.startswith(" with local time zone"):
            return Primitive("timestamp with local time zone"), rest[len(" with local time zone") :]
        case _ if head in PRIMITIVES:
            return Primitive(head), rest
        case _:
            raise AcidSqlError(Condition.INVALID_TYPE, type=whole, reason=f"'{head or text}' is unknown")


def _parse_struct(text: str, whole: str) -> tuple[Struct, str]:
    fields: list[tuple[str, HiveType]] = []
    while True:
        name, colon, rest = text.partition(":")
        if not colon:
            raise AcidSqlError(Condition.INVALID_TYPE, type=whole, reason="a struct field is name:type")
        field_type, rest = _parse(rest.lstrip(), whole)
        fields.append((name.strip().strip("`"), field_type))
        if rest.startswith(","):
            text = rest[1:].lstrip()
            continue
        return Struct(tuple(fields)), _close(rest, whole)


def _word(text: str) -> str:
    end = next((i for i, c in enumerate(text) if not c.isalnum() and c != "_"), len(text))
    return text[:end]


def _open(text: str, whole: str) -> str:
    return _expect("<", text, whole)


def _close(text: str, whole: str) -> str:
    return _expect(">", text, whole)


def _comma(text: str, whole: str) -> str:
    return _expect(",", text, whole)


def _expect(sign: str, text: str, whole: str) -> str:
    text = text.lstrip()
    if not text.startswith(sign):
        raise AcidSqlError(Condition.INVALID_TYPE, type=whole, reason=f"'{sign}' is missing")
    return text[1:].lstrip()


def _arguments(text: str, whole: str) -> tuple[list[int], str]:
    """The numbers in parentheses, as in decimal(10,2), and the rest of the text; no numbers if there are none."""
    if not text.startswith("("):
        return [], text
    inside, closing, rest = text[1:].partition(")")
    if not closing:
        raise AcidSqlError(Condition.INVALID_TYPE, type=whole, reason="')' is missing")
    return [int(a) for a in inside.split(",")], rest


def has_timestamp(hive_type: HiveType) -> bool:
    """Whether the type is or contains a TIMESTAMP without time zone."""
    return _has_primitive(hive_type, "timestamp")


def has_date(hive_type: HiveType) -> bool:
    return _has_primitive(hive_type, "date")


def has_instant(hive_type: HiveType) -> bool:
    """Whether the type is or contains a TIMESTAMP WITH LOCAL TIME ZONE."""
    return _has_primitive(hive_type, "timestamp with local time zone")


def _has_primitive(hive_type: HiveType, wanted: str) -> bool:
    match hive_type:
        case Primitive(name):
            return name == wanted
        case Array(element):
            return _has_primitive(element, wanted)
        case Map(key, value):
            return _has_primitive(key, wanted) or _has_primitive(value, wanted)
        case Struct(fields):
            return any(_has_primitive(f, wanted) for _, f in fields)
        case _:
            return False
