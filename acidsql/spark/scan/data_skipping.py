"""Data skipping: the conditions of a query on a table's columns, compared with ORC's statistics.

A file in which no row can satisfy the conditions is not read (acidsql.snapshot.file_skipping). In the other files ORC
skips stripes and row groups, by a search argument.

Spark's own push-down of filters is off (engine.py). It names a leaf of `row` as `row.id`, while ORC looks for the
columns of an ACID file inside `row` (RecordReaderImpl.mapSargColumnsToOrcInternalColIdx over
SchemaEvolution.getReaderBaseSchema), so it would find only a table's column that is called `bucket`. On plain files it
fails if a scalar subquery of the condition gives NULL. So the search argument is an option of the reader. Spark's own
classes make it, with Spark's casts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal as PythonDecimal
from functools import partial, reduce
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import types as t
from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import to_spark
from acidsql.planner.conditions.value_ranges import FLIPPED
from acidsql.planner.plan import Scan
from acidsql.snapshot.file_skipping import has_column, is_compared
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.catalyst.gateway import Jvm, jvm
from acidsql.spark.catalyst.source_filters import (
    can_make_search_arguments,
    search_argument,
    source_filter,
    translated_filters,
)
from acidsql.spark.spark_types import query_type
from acidsql.values.literals import value_of

_WORTH: Final = 4 * 1024 * 1024
"""Bytes of files from which on a search argument is worth the milliseconds that it takes to make."""
_SOURCE_FILTERS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "EqualTo",
    exp.LT: "LessThan",
    exp.LTE: "LessThanOrEqual",
    exp.GT: "GreaterThan",
    exp.GTE: "GreaterThanOrEqual",
}
"""Names of Spark's source filters."""
_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
"""A column name that Spark does not quote in a filter."""
_MOST_IN: Final = 8
_RECENT: Final = re.compile(r"(1[6-9]|[2-9]\d)\d\d-")
"""A date that is the same in all calendars, and so in files of writers that use different ones."""


def search_options(spark: SparkSession, scan: Scan, files: Sequence[SourceFile]) -> dict[str, str]:
    """Options that make Spark's ORC reader skip row groups; empty if no condition of the query can be used."""
    if not scan.row_filter or sum(f.size for f in files) < _WORTH:
        return {}
    columns = _columns(scan.table, files)
    conditions = [c for c in scan.row_filter if _is_comparable(c, columns)]
    if not conditions or not can_make_search_arguments(spark):
        return {}
    java, kinds = jvm(spark), {name: parse_type(c.type) for name, c in columns.items()}
    schema = java.data_type(t.StructType([t.StructField(name, query_type(k)) for name, k in kinds.items()]).json())
    try:
        filters = [_source_filter(java, c, kinds) for c in conditions]
        if None in filters:
            filters = translated_filters(spark, schema, " AND ".join(f"({to_spark(c)})" for c in conditions))
        return search_argument(spark, schema, filters) if filters else {}
    except (PySparkException, Py4JError):  # the query itself reports an invalid condition, with its place
        return {}


def _is_comparable(condition: exp.Expr, columns: Mapping[str, Column]) -> bool:
    names = {c.name.lower() for c in condition.find_all(exp.Column)}
    if not names <= columns.keys():
        return False
    has_dates = any(columns[name].type == "date" for name in names)
    return not has_dates or all(_RECENT.match(str(literal.this)) for literal in condition.find_all(exp.Literal))


def _columns(table: Table, files: Sequence[SourceFile]) -> dict[str, Column]:
    """The columns that all files have under their current names and types, and whose order ORC knows."""
    if not all(f.has_hives_names or not f.is_acid for f in files):
        return {}
    return {
        column.name: column
        for position, column in enumerate(table.columns)
        if is_compared(column) and all(has_column(table, f, position, column.name) for f in files)
    }


def _source_filter(java: Jvm, condition: exp.Expr, kinds: Mapping[str, HiveType]) -> Any | None:
    """The condition as a source filter; None unless its literals have the columns' types."""

    def of_parts(name: str, *parts: exp.Expr) -> Any | None:
        found = [_source_filter(java, part, kinds) for part in parts]
        return None if None in found else reduce(partial(source_filter, java, name), found)

    def compared(kind: type[exp.Expr], column: exp.Expr, literal: exp.Expr) -> Any | None:
        name = column.name.lower()
        value = _value(literal, kinds[name]) if isinstance(column, exp.Column) and _PLAIN_NAME.fullmatch(name) else None
        return None if value is None else source_filter(java, _SOURCE_FILTERS[kind], name, value)

    match condition:
        case exp.Paren():
            return _source_filter(java, condition.this, kinds)
        case exp.And() | exp.Or():
            return of_parts(type(condition).__name__, condition.this, condition.expression)
        case exp.In() if 0 < len(condition.expressions) <= _MOST_IN:
            return of_parts(
                "Or", *(exp.EQ(this=condition.this.copy(), expression=e.copy()) for e in condition.expressions)
            )
        case exp.Between():
            column, low, high = (condition.args[key] for key in ("this", "low", "high"))
            least = exp.GTE(this=column.copy(), expression=low.copy())
            return of_parts("And", least, exp.LTE(this=column.copy(), expression=high.copy()))
        case _ if type(condition) in _SOURCE_FILTERS and isinstance(condition.this, exp.Column):
            return compared(type(condition), condition.this, condition.expression)
        case _ if type(condition) in _SOURCE_FILTERS:
            return compared(FLIPPED[type(condition)], condition.expression, condition.this)
        case _:
            return None


def _value(literal: exp.Expr, kind: HiveType) -> object:
    """The literal as a value for a source filter on a column of this type; None if comparing them takes a cast."""
    match value_of(literal, {}), kind:
        case PythonDecimal() as number, Primitive("tinyint" | "smallint" | "int" | "bigint"):
            return int(number) if number == int(number) and -(2**63) <= number < 2**63 else None
        case PythonDecimal() as number, Decimal():
            return number if _is_hive_decimal(number) else None
        case str() as text, Primitive("string") | Varchar():
            return text
        case _:
            return None


def _is_hive_decimal(number: PythonDecimal) -> bool:
    """Whether HiveDecimal represents the number without change."""
    _, digits, exponent = number.as_tuple()
    return isinstance(exponent, int) and -MOST_DIGITS <= exponent <= 0 and max(len(digits), -exponent) <= MOST_DIGITS
