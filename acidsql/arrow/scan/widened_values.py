"""Values of a column whose type in the file is another than the table's."""

from __future__ import annotations

from typing import Any, Final

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar
from acidsql.acid.schema_evolution import is_widening
from acidsql.arrow.scan.orc_columns import WAY_OUT
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.arrow.scan.stored_arrays import Calendar, column_values
from acidsql.errors import AcidSqlError, Condition

_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")


def stored_values(array: Any, stored: HiveType | None, kind: HiveType, calendar: Calendar) -> Any:
    """The values, which have the type `stored` in the file, as values of the type `kind`. `check_readable` has passed
    the types."""
    if isinstance(stored, Char) or (stored is not None and not _is_alike(stored, kind)):
        array = column_values(array, stored, calendar)
        return array if array.type == column_type(kind) else array.cast(column_type(kind), safe=False)
    return column_values(array, kind, calendar)


def check_readable(stored: HiveType | None, kind: HiveType, column: str) -> None:
    """Raises NOT_YET_SUPPORTED for a type in a file that pyarrow does not read as Spark reads it."""
    if stored is None or not (_is_alike(stored, kind) or _is_exactly_widened(stored, kind)):
        feature = f"Reading {'an unknown type' if stored is None else stored} as {kind} (column {column}) without Spark"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=WAY_OUT)


def _is_alike(stored: HiveType, kind: HiveType) -> bool:
    """Whether the types differ in nothing but the lengths of text, and the fields of structs, which have names."""
    match stored, kind:
        case ((Char() | Varchar() | Primitive("string")), (Char() | Varchar() | Primitive("string"))):
            return True
        case Array(a), Array(b):
            return _is_alike_inside(a, b)
        case Map(a, c), Map(b, d):
            return _is_alike_inside(a, b) and _is_alike_inside(c, d)
        case Struct(fields), Struct(wanted):
            known = dict(fields)
            return all(name not in known or _is_alike_inside(known[name], of) for name, of in wanted)
        case _:
            return stored == kind


def _is_alike_inside(stored: HiveType, kind: HiveType) -> bool:
    """The same for a type inside of another one, whose CHAR has its blanks: they would stay in other text."""
    return _is_alike(stored, kind) and (isinstance(kind, Char) or not isinstance(stored, Char))


def _is_exactly_widened(stored: HiveType, kind: HiveType) -> bool:
    """Whether pyarrow converts the values as Spark does. It writes FLOAT, DOUBLE, DECIMAL and DATE as other text."""
    match stored, kind:
        case Primitive(name), Primitive("string"):
            return name in _INTEGERS
        case Primitive("float" | "double"), Decimal():
            return False
        case Decimal(), Primitive():
            return False
        case _:
            return is_widening(stored, kind)
