"""SQL of what a column stores of a value: Hive's store assignment as Spark computes it, and CHAR's padding.

`store_assignment.py` says which values need a conversion before it, because Spark's CAST gives another result than
Hive's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar, is_complex, parse_type
from acidsql.acid.table import Column
from acidsql.errors import Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.sql_errors import raise_sql
from acidsql.planner.stored_values.sized_text import cut

STORE_ASSIGNMENT: Final = "acidsql.store.assignment"
STRICT: Final = "ansi"
"""The value of `acidsql.store.assignment` with which a value that does not fit its column is an error."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def stored(value: str, target: Column, settings: Mapping[str, str]) -> str:
    """SQL that converts `value` to the type of its column by Hive's store assignment (semantics.md, "Expressions").

    >>> stored("x", Column("c", "int"), {})
    'CAST(x AS INT)'
    >>> stored("x", Column("c", "varchar(3)"), {})
    'IF(LENGTH(CAST(x AS STRING)) <= 3, CAST(x AS STRING), SUBSTRING(CAST(x AS STRING), 1, 3))'
    """
    hive_type = parse_type(target.type)
    if is_strict(settings) and not is_complex(hive_type):
        return _strictly(value, target, hive_type)
    return fitted(f"CAST({value} AS {spark_type(hive_type)})", hive_type)


def is_strict(settings: Mapping[str, str]) -> bool:
    """Whether a value that does not fit its column is an error. Otherwise it becomes NULL or is cut."""
    return settings.get(STORE_ASSIGNMENT, "hive") == STRICT


def spark_type(hive_type: HiveType) -> str:
    """The type's name in the Spark SQL of a plan, where TIMESTAMP has no time zone, as in Hive."""
    match hive_type:
        case Char() | Varchar():
            return "STRING"
        case _:
            text = _spark_type(hive_type)
            return text.upper() if text.isalnum() else text


def _spark_type(hive_type: HiveType) -> str:
    match hive_type:
        case Array(element):
            return f"array<{_spark_type(element)}>"
        case Map(key, value):
            return f"map<{_spark_type(key)},{_spark_type(value)}>"
        case Struct(fields):
            inside = ",".join(f"{_field_sql(name)}:{_spark_type(of)}" for name, of in fields)
            return f"struct<{inside}>"
        case Primitive("timestamp with local time zone"):
            return "TIMESTAMP_LTZ"
        case _:
            return str(hive_type)


def _field_sql(name: str) -> str:
    """The name of a struct field in Spark SQL, quoted if it is not a plain name."""
    return name if _PLAIN_NAME.fullmatch(name) else name_sql(name)


def fitted(text: str, hive_type: HiveType) -> str:
    """SQL that cuts CHAR and VARCHAR to their length and pads CHAR, as Hive writes them, also inside nested types."""
    return inside(text, hive_type, _fitted)


def _fitted(text: str, hive_type: HiveType) -> str:
    match hive_type:
        case Char(length):
            return f"IF(LENGTH({text}) < {length}, RPAD({text}, {length}), {cut(text, length)})"
        case Varchar(length):
            return cut(text, length)
        case _:
            return text


def inside(text: str, hive_type: HiveType, change: Callable[[str, HiveType], str], depth: int = 0) -> str:
    """SQL that applies `change`, which makes SQL from SQL and a type, to each value in `text` that is no array, map or
    struct.

    >>> inside("a", parse_type("array<char(2)>"), lambda text, kind: f"f({text})")
    'TRANSFORM(a, i0 -> f(i0))'
    """
    item, other = f"i{depth}", f"o{depth}"
    match hive_type:
        case Array(element):
            changed = inside(item, element, change, depth + 1)
            return text if changed == item else f"TRANSFORM({text}, {item} -> {changed})"
        case Map(key, value):
            new_key, new_value = (inside(item, of, change, depth + 1) for of in (key, value))
            keys = text if new_key == item else f"TRANSFORM_KEYS({text}, ({item}, {other}) -> {new_key})"
            return keys if new_value == item else f"TRANSFORM_VALUES({keys}, ({other}, {item}) -> {new_value})"
        case Struct(fields):
            old = {name: f"{text}.{name_sql(name)}" for name, _ in fields}
            new = {name: inside(old[name], of, change, depth + 1) for name, of in fields}
            if new == old:
                return text
            named = ", ".join(f"{sql_string(name)}, {value}" for name, value in new.items())
            return f"CASE WHEN {text} IS NOT NULL THEN named_struct({named}) END"
        case _:
            return change(text, hive_type)


def refused_value(value: str, target: Column) -> str:
    """SQL that raises INVALID_STORE_VALUE for a value that its column cannot store."""
    return raise_sql(
        Condition.INVALID_STORE_VALUE,
        value=f"CAST({value} AS STRING)",
        column=sql_string(target.name),
        type=sql_string(target.type),
    )


def _strictly(value: str, target: Column, hive_type: HiveType) -> str:
    cast = f"TRY_CAST({value} AS {spark_type(hive_type)})"
    fails = f"{value} IS NOT NULL AND {does_not_fit(value, hive_type)}"
    return f"CASE WHEN {fails} THEN {refused_value(value, target)} ELSE {fitted(cast, hive_type)} END"


def does_not_fit(value: str, hive_type: HiveType) -> str:
    """SQL for whether a type that is not complex lacks a value, which is not NULL."""
    cast = f"TRY_CAST({value} AS {spark_type(hive_type)})"
    match hive_type:
        case Char(length) | Varchar(length):  # as in standard SQL, blanks at the end may be cut
            return f"LENGTH(RTRIM({cast})) > {length}"
        case Primitive("float"):
            is_infinite = "ABS({}) = CAST('Infinity' AS DOUBLE)"
            was_finite = f"NOT {is_infinite.format(f'TRY_CAST({value} AS DOUBLE)')}"
            return f"({cast} IS NULL OR {is_infinite.format(cast)} AND {was_finite})"
        case Primitive("date" | "timestamp"):  # the calendar of Hive's files has no days between these
            return f"({cast} IS NULL OR {cast} >= DATE '1582-10-05' AND {cast} < DATE '1582-10-15')"
        case _:
            return f"{cast} IS NULL"
