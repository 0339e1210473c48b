"""The columns of an ORC file as Hive's types, from its footer (orc_proto.Type)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from acidsql.acid.types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar
from acidsql.spark.orc import Field, Tail, subtypes

_PRIMITIVES: Final = {
    0: "boolean",
    1: "tinyint",
    2: "smallint",
    3: "int",
    4: "bigint",
    5: "float",
    6: "double",
    7: "string",
    8: "binary",
    9: "timestamp",
    15: "date",
    18: "timestamp with local time zone",
}
"""orc_proto.Type.Kind."""
_LIST, _MAP, _STRUCT, _DECIMAL, _VARCHAR, _CHAR = 10, 11, 12, 14, 16, 17


def hive_columns(tail: Tail) -> tuple[tuple[str, HiveType | None], ...]:
    """Names and types of the root's columns; None for a type that Hive's tables here do not have (UNION)."""
    types = tail.types
    return tuple((n, _hive_type(types, s)) for n, s in zip(_names(types[0]), subtypes(types[0]), strict=True))


def _hive_type(types: Sequence[Sequence[Field]], number: int) -> HiveType | None:
    fields = types[number]
    kind = _number(fields, 1)
    if kind in _PRIMITIVES:
        return Primitive(_PRIMITIVES[kind])
    found = [_hive_type(types, s) for s in subtypes(fields)]
    inner = [t for t in found if t is not None]
    if len(inner) < len(found):
        return None
    match kind:
        case k if k == _DECIMAL:
            return Decimal(_number(fields, 5), _number(fields, 6))
        case k if k == _VARCHAR:
            return Varchar(_number(fields, 4))
        case k if k == _CHAR:
            return Char(_number(fields, 4))
        case k if k == _LIST:
            return Array(inner[0])
        case k if k == _MAP:
            return Map(inner[0], inner[1])
        case k if k == _STRUCT:
            return Struct(tuple(zip((n.lower() for n in _names(fields)), inner, strict=True)))
        case _:
            return None


def _names(fields: Sequence[Field]) -> list[str]:
    return [f.bytes.decode() for f in fields if f.number == 3]


def _number(fields: Sequence[Field], number: int) -> int:
    return next((f.int for f in fields if f.number == number), 0)
