"""Partition pruning: whether a partition may hold a row that a query needs, and whether a PARTITION clause names it.

The driver evaluates the query's conditions on partition columns (row_conditions.py) before it lists directories. It
keeps a partition for which it cannot decide a condition: Spark applies the whole condition again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import value_as_read
from acidsql.acid.partition_values import normal_value
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem
from acidsql.planner.literals import UNKNOWN, day_of, integer_of, typed, value_of
from acidsql.planner.row_conditions import COMPARISONS

_MANY: Final = 16
_VALUES: Final = "acidsql.values"
"""The key of an IN list's values among what sqlglot keeps beside a node."""


def keeps(conjuncts: Sequence[exp.Expr], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a partition with these values can hold a row for which all conjuncts are true."""
    known = {
        c.name: typed(value_as_read(value, c.type), c.type)
        for c, value in zip(table.partition_columns, values, strict=True)
    }
    return all(_evaluate(c, known) is not False for c in conjuncts)


def has_values(items: Sequence[PartitionItem], table: Table, values: Sequence[str | None]) -> bool:
    """Whether a partition has the values that a PARTITION clause names: as text, or as values of their types.

    Raises PARTITION_COLUMN_UNKNOWN.
    """
    of = {c.name: (c, value) for c, value in zip(table.partition_columns, values, strict=True)}
    for item in items:
        if item.column.value not in of:
            raise AcidSqlError(Condition.PARTITION_COLUMN_UNKNOWN, span=item.column.span, column=item.column.value)
        column, value = of[item.column.value]
        if item.value is not None and not _is_value(item.value, column, value):
            return False
    return True


def _is_value(wanted: exp.Expr, column: Column, value: str | None) -> bool:
    if isinstance(wanted, exp.Null):
        return value is None
    if isinstance(wanted, exp.Boolean):
        return value is not None and value.lower() == str(bool(wanted.this)).lower()
    text = to_spark(wanted) if not isinstance(wanted, exp.Literal) else str(wanted.this)
    kind = parse_type(column.type)
    if normal_value(text, kind) == normal_value(value, kind):
        return True
    equal = exp.EQ(this=exp.column(column.name), expression=wanted.copy())
    return value is not None and _evaluate(equal, {column.name: typed(value, column.type)}) is True


def _evaluate(condition: exp.Expr, values: dict[str, object]) -> bool | None:
    """Whether a condition is true; None if that cannot be decided, which keeps the partition. A comparison with NULL
    counts as false, which is safe because conditions contain no NOT."""
    match condition:
        case exp.Paren():
            return _evaluate(condition.this, values)
        case exp.And():
            return _and(_evaluate(condition.this, values), _evaluate(condition.expression, values))
        case exp.Or():
            return _or(_evaluate(condition.this, values), _evaluate(condition.expression, values))
        case exp.Boolean():
            return bool(condition.this)
        case exp.In() if condition.expressions and not condition.args.get("query"):
            value, known = value_of(condition.this, values), _listed(condition)
            if known is not None and type(value) is known[0]:
                return value in known[1]
            compared = [_compare(exp.EQ, condition.this, e, values) for e in condition.expressions]
            return True if True in compared else None if None in compared else False
        case exp.Between():
            low = _compare(exp.GTE, condition.this, condition.args["low"], values)
            return _and(low, _compare(exp.LTE, condition.this, condition.args["high"], values))
        case _ if type(condition) in COMPARISONS:
            return _compare(type(condition), condition.this, condition.expression, values)
        case _:
            return None


def _listed(condition: exp.In) -> tuple[type, frozenset[object]] | None:
    """The values of a long list of literals, and their common type; None for other lists. Each partition is compared
    with all of them, so they are kept at the condition."""
    if len(condition.expressions) < _MANY:
        return None
    if _VALUES not in condition.meta:
        listed = frozenset(value_of(e, {}) for e in condition.expressions)
        kinds = set(map(type, listed))
        has_one_type = len(kinds) == 1 and UNKNOWN not in listed and None not in listed
        condition.meta[_VALUES] = (kinds.pop(), listed) if has_one_type else None
    found: tuple[type, frozenset[object]] | None = condition.meta[_VALUES]
    return found


def _and(left: bool | None, right: bool | None) -> bool | None:
    return False if left is False or right is False else True if left and right else None


def _or(left: bool | None, right: bool | None) -> bool | None:
    return True if left or right else False if left is False and right is False else None


def _compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr, values: dict[str, object]) -> bool | None:
    a, b = value_of(left, values), value_of(right, values)
    if a is UNKNOWN or b is UNKNOWN:
        return None
    if a is None or b is None:
        return False  # the comparison is NULL for each row of the partition
    if isinstance(a, Decimal) and isinstance(b, str):
        b = integer_of(b) if a == a.to_integral_value() else UNKNOWN
    elif isinstance(b, Decimal) and isinstance(a, str):
        return None  # Spark casts a string column that is compared with a number
    elif isinstance(a, date) and isinstance(b, str):
        b = day_of(b)
    elif isinstance(b, date) and isinstance(a, str):
        a = day_of(a)
    if type(a) is not type(b):
        return None
    return _ordered(kind, a, b)


def _ordered(kind: type[exp.Expr], a: object, b: object) -> bool | None:
    if kind is exp.EQ:
        return a == b
    if kind is exp.NEQ:
        return a != b
    if isinstance(a, str):
        return None  # Spark decides the order of strings
    assert isinstance(a, Decimal | date)
    below, equal = a < b, a == b  # type: ignore[operator]
    if kind is exp.LT:
        return bool(below)
    if kind is exp.LTE:
        return bool(below or equal)
    return not below and not equal if kind is exp.GT else not below
