"""Store assignment: the conversion of a value to the type of the column that stores it.

Hive converts as its CAST does (TypeCheckProcFactory.createConversionCast). `conversion` makes a value of which Spark's
CAST, which `event_queries.stored` writes, gives Hive's result.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from acidsql.acid.hive_types import Decimal, HiveType, parse_type
from acidsql.acid.table import Column
from acidsql.grammar.dialect import to_spark
from acidsql.planner.common_types import STRING, is_text
from acidsql.planner.event_queries import is_strict
from acidsql.planner.integer_casts import exact_sql, is_integer
from acidsql.planner.typed_rules.casts import converted


def conversion(name: str, source: HiveType, target: Column, settings: Mapping[str, str]) -> str | None:
    """SQL that converts the column `name` of the rows, of the type `source`, as Hive does before it stores it in
    `target`; None where Spark's CAST does the same.

    Where store assignment is strict, a text or a DECIMAL that does not fit stays as it is: it is an error later.

    >>> conversion("b", parse_type("boolean"), Column("c", "string"), {})
    'UPPER(CAST(`b` AS STRING))'
    >>> conversion("i", parse_type("int"), Column("c", "string"), {})
    """
    kind = parse_type(target.type)
    if is_strict(settings) and (is_text(source) or is_integer(target)):
        return None
    if isinstance(source, Decimal) and is_integer(target):
        return exact_sql(to_spark(_column(name)), target)
    found = converted(_column(name), source, STRING if is_text(kind) else kind)
    return None if found is None else to_spark(found)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
