"""The columns of an ORC file as Hive's types, from its footer (orc_proto.Type)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar, parse_type
from acidsql.acid.schema_evolution import is_widening
from acidsql.acid.table import Column, Table
from acidsql.storage.orc.footer_messages import OrcType, orc_type
from acidsql.storage.orc.tail import Tail

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
    """Names and types of the root's columns. The type is None if tables cannot have it (UNION)."""
    types = [orc_type(m) for m in tail.type_messages]
    return _fields(types, types[0])


def row_types(tail: Tail) -> tuple[HiveType | None, ...]:
    """Types of the table's columns in the file."""
    return _row_types(tail.type_messages, tail.is_acid)


@lru_cache(maxsize=256)
def _row_types(messages: tuple[bytes, ...], is_acid: bool) -> tuple[HiveType | None, ...]:
    """Cached: most files of a table have the same types."""
    types = [orc_type(m) for m in messages]
    owner = types[types[0].subtypes[-1]] if is_acid else types[0]
    return tuple(kind for _, kind in _fields(types, owner))


def narrower_types(tail: Tail, table: Table) -> tuple[HiveType | None, ...]:
    """For each column of the table in the file: its type there if the table's type was widened since, else None."""
    return _narrower(tail.type_messages, tail.is_acid, table.columns)


@lru_cache(maxsize=256)
def _narrower(messages: tuple[bytes, ...], is_acid: bool, columns: tuple[Column, ...]) -> tuple[HiveType | None, ...]:
    wanted = (parse_type(c.type) for c in columns)
    found = _row_types(messages, is_acid)
    return tuple(old if _is_widened(old, new) else None for old, new in zip(found, wanted, strict=False))


def orders_as(tail: Tail, table: Table) -> tuple[bool, ...]:
    """For each column of the table in the file: whether its statistics order values as the table's type does."""
    return _alike(tail.type_messages, tail.is_acid, table.columns)


@lru_cache(maxsize=256)
def _alike(messages: tuple[bytes, ...], is_acid: bool, columns: tuple[Column, ...]) -> tuple[bool, ...]:
    wanted = (parse_type(c.type) for c in columns)
    found = _row_types(messages, is_acid)
    return tuple(old == new or (_is_text(old) and _is_text(new)) for old, new in zip(found, wanted, strict=False))


def _is_text(hive_type: HiveType | None) -> bool:
    return hive_type == Primitive("string") or isinstance(hive_type, Varchar)


def _is_widened(old: HiveType | None, new: HiveType) -> bool:
    """Whether the table's type was widened. Text of another length is the same to a reader."""
    return old is not None and old != new and not isinstance(old, Char | Varchar) and is_widening(old, new)


def _fields(types: Sequence[OrcType], owner: OrcType) -> tuple[tuple[str, HiveType | None], ...]:
    return tuple((n, _hive_type(types, s)) for n, s in zip(owner.names, owner.subtypes, strict=True))


def _hive_type(types: Sequence[OrcType], number: int) -> HiveType | None:
    of = types[number]
    if of.kind in _PRIMITIVES:
        return Primitive(_PRIMITIVES[of.kind])
    found = [_hive_type(types, s) for s in of.subtypes]
    inner = [t for t in found if t is not None]
    if len(inner) < len(found):
        return None
    match of.kind:
        case k if k == _DECIMAL:
            return Decimal(of.precision, of.scale)
        case k if k == _VARCHAR:
            return Varchar(of.length)
        case k if k == _CHAR:
            return Char(of.length)
        case k if k == _LIST:
            return Array(inner[0])
        case k if k == _MAP:
            return Map(inner[0], inner[1])
        case k if k == _STRUCT:
            return Struct(tuple(zip((n.lower() for n in of.names), inner, strict=True)))
        case _:
            return None
