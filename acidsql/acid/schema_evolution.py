"""Which new types of a column can read the existing files."""

from __future__ import annotations

from typing import Final

from acidsql.acid.hive_types import Char, Decimal, HiveType, Primitive, Varchar

_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
"""From narrow to wide (org.apache.hadoop.hive.metastore.ColumnType.NumericCastOrder)."""
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_EXACT_DIGITS: Final = {"float": 7, "double": 15}
"""How many decimal digits of an integer the type always keeps (float has 24 bits, double 53)."""


def is_widening(old: HiveType, new: HiveType) -> bool:
    """Whether the new type can read all values of the old type without loss.

    Hive's metastore (ColumnType.areColTypesCompatible) and ORC's SchemaEvolution must allow the change. In addition,
    and unlike Hive, which compares only the names of the types, a change must not cut values: to a shorter VARCHAR, a
    smaller DECIMAL, or from STRING to VARCHAR. Complex types cannot change.

    >>> is_widening(Primitive("int"), Primitive("bigint")), is_widening(Primitive("bigint"), Primitive("int"))
    (True, False)
    """
    if old == new:
        return True
    match old, new:
        case (Char(before), Char(after)) | (Varchar(before), Varchar(after)) | (Char(before), Varchar(after)):
            return before <= after
        case Char() | Varchar(), Primitive("string"):
            return True
        case Decimal(), Decimal():
            return old.scale <= new.scale and old.precision - old.scale <= new.precision - new.scale
        case Primitive(name), Decimal() if name in _DIGITS:
            return _DIGITS[name] <= new.precision - new.scale
        case _, Decimal():
            return False
        case Primitive("date"), Primitive("string"):
            return True
        case ((Primitive() | Decimal()), Primitive("string")):
            return _rank(old) is not None
        case _:
            before_rank, after_rank = _rank(old), _rank(new)
            return before_rank is not None and after_rank is not None and before_rank < after_rank


def is_widening_unattended(old: HiveType, new: HiveType) -> bool:
    """Whether a statement may widen a type although nobody has named the new one (WITH SCHEMA EVOLUTION).

    ALTER TABLE also follows Hive where a number gets fewer exact digits, from BIGINT to DOUBLE or from INT to FLOAT,
    and where a number or a date becomes text. There a single wrong value in a source would change a column for all its
    readers, who would find that 10 comes before 9.

    >>> is_widening(Primitive("bigint"), Primitive("double"))
    True
    >>> is_widening_unattended(Primitive("bigint"), Primitive("double"))
    False
    >>> is_widening_unattended(Primitive("int"), Primitive("string"))
    False
    """
    if new == Primitive("string") and not isinstance(old, Char | Varchar):
        return old == new
    if isinstance(new, Primitive) and new.name in _EXACT_DIGITS and old not in (new, Primitive("float")):
        digits = _DIGITS.get(old.name) if isinstance(old, Primitive) else None
        return digits is not None and digits <= _EXACT_DIGITS[new.name]
    return is_widening(old, new)


def is_widening_in_parquet(old: HiveType, new: HiveType) -> bool:
    """Like is_widening for Parquet files, whose readers convert only integers, FLOAT to DOUBLE, decimals and text."""
    if isinstance(old, Primitive) and isinstance(new, Primitive) and old != new:
        integers = old.name in _DIGITS and new.name in _DIGITS
        return is_widening(old, new) and (integers or (old.name, new.name) == ("float", "double"))
    return is_widening(old, new) and isinstance(old, Decimal) == isinstance(new, Decimal)


def _rank(hive_type: HiveType) -> int | None:
    match hive_type:
        case Primitive(name) if name in _NUMBERS:
            return _NUMBERS.index(name)
        case Decimal():
            return _NUMBERS.index("decimal")
        case _:
            return None
