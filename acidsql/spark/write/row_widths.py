"""SQL of the bytes that a row takes in memory. The driver bounds what it collects by these bytes: the number of rows
tells little, and a compressed file may be a thousandth of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar
from acidsql.grammar.quoting import name_sql

_FIXED: Final = 16
"""Bytes of a value of fixed length, with its overhead."""


def row_width(columns: Sequence[tuple[str, HiveType]]) -> str:
    """SQL of the bytes of a row, from the SQL and the type of each column. It is never NULL."""
    return " + ".join((f"{_FIXED}L", *(_width(value, kind, 0) for value, kind in columns)))


def _width(value: str, kind: HiveType, depth: int) -> str:
    """SQL of the bytes of a value. `depth` is the number of lists around it; each level needs its own item name."""
    match kind:
        case Primitive("string" | "binary") | Char() | Varchar():
            return f"{_FIXED} + coalesce(octet_length({value}), 0)"
        case Primitive() | Decimal():
            return f"{_FIXED}"
        case Array(element) if _is_fixed(element):
            return f"{_FIXED} + {_FIXED} * coalesce(size({value}), 0)"
        case Array(element):
            item = f"item_{depth}"
            total = f"(total_{depth}, {item}) -> total_{depth} + {_width(item, element, depth + 1)}"
            return f"{_FIXED} + coalesce(aggregate({value}, 0L, {total}), 0)"
        case Map(key, of):
            keys = _width(f"map_keys({value})", Array(key), depth)
            return f"{keys} + {_width(f'map_values({value})', Array(of), depth)}"
        case Struct(fields):
            return " + ".join(_width(f"{value}.{name_sql(name)}", of, depth) for name, of in fields)
        case _:
            assert_never(kind)


def _is_fixed(kind: HiveType) -> bool:
    return isinstance(kind, Decimal) or (isinstance(kind, Primitive) and kind.name not in ("string", "binary"))
