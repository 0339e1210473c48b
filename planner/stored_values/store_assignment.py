"""Store assignment: the conversion of a value to the type of the column that stores it.

Hive converts as its CAST does (TypeCheckProcFactory.createConversionCast). `conversion` makes a value of which Spark's
CAST, which `stored_sql.stored` writes, gives Hive's result.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from acidsql.acid.hive_types import Array, Decimal, HiveType, Map, Struct, is_complex, parse_type
from acidsql.acid.table import Column
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.quoting import name_sql
from acidsql.planner.expressions.typed_rules.casts import converted
from acidsql.planner.stored_values.integer_casts import exact_sql, is_integer
from acidsql.planner.stored_values.stored_sql import does_not_fit, is_strict, refused_value, spark_type
from acidsql.values.common_types import DATE, STRING, TIMESTAMP, is_text


def conversion(name: str, source: HiveType, target: Column, settings: Mapping[str, str]) -> str | None:
    """SQL that converts the column `name` of the rows, of the type `source`, as Hive does before it stores it in
    `target`; None where Spark's CAST does the same.

    Where store assignment is strict, the SQL raises INVALID_STORE_VALUE for a text that Spark's CAST and Hive's read as
    different values, and for a DECIMAL that does not fit an integer column. Any other value that does not fit stays as
    it is, and `stored` refuses it.

    >>> conversion("b", parse_type("boolean"), Column("c", "string"), {})
    'UPPER(CAST(`b` AS STRING))'
    >>> conversion("i", parse_type("int"), Column("c", "string"), {})
    """
    kind, value = parse_type(target.type), to_spark(_column(name))
    strict = is_strict(settings)
    if is_complex(kind):
        lacking = lacks(value, source, kind) if strict else None
        return None if lacking is None else _unless(lacking, value, value, target)
    if isinstance(source, Decimal) and is_integer(target):
        number = exact_sql(value, target)
        return _unless(f"{number} IS NULL", number, value, target) if strict else number
    found = converted(_column(name), source, STRING if is_text(kind) else kind)
    if found is None or not strict or not is_text(source):
        return None if found is None else to_spark(found)
    in_spark, in_hive = f"TRY_CAST({value} AS {spark_type(kind)})", f"CAST({to_spark(found)} AS {spark_type(kind)})"
    return _unless(f"NOT ({in_spark} <=> {in_hive})", value, value, target)


def lacks(value: str, source: HiveType, target: HiveType, depth: int = 0) -> str | None:
    """SQL for whether a value inside of a value of the type `source` does not fit its type in `target`; None if every
    value fits. Fields of structs are stored by their places."""
    item = f"i{depth}"
    match source, target:
        case Array(of), Array(wanted):
            inside = lacks(item, of, wanted, depth + 1)
            return None if inside is None else f"EXISTS({value}, {item} -> {inside})"
        case Map(key, of), Map(wanted_key, wanted):
            keys = lacks(f"MAP_KEYS({value})", Array(key), Array(wanted_key), depth)
            return _any(keys, lacks(f"MAP_VALUES({value})", Array(of), Array(wanted), depth))
        case Struct(fields), Struct(others):
            pairs = zip(fields, others, strict=False)
            return _any(*(lacks(f"{value}.{name_sql(name)}", of, wanted, depth) for (name, of), (_, wanted) in pairs))
        case _ if source == target and target not in (DATE, TIMESTAMP):
            return None
        case _:
            return f"({value} IS NOT NULL AND {does_not_fit(value, target)})"


def _any(*conditions: str | None) -> str | None:
    """A condition that is true where one of the conditions is true, also beside a NULL."""
    known = [condition for condition in conditions if condition is not None]
    return f"({' OR '.join(known)})" if known else None


def _unless(condition: str, stored: str, value: str, target: Column) -> str:
    """SQL for what the column stores, which raises INVALID_STORE_VALUE where a condition is true of a value."""
    return f"CASE WHEN {value} IS NOT NULL AND {condition} THEN {refused_value(value, target)} ELSE {stored} END"


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
