"""Partition pruning: whether a partition may hold a row that a query needs, and whether a PARTITION clause names it.

The driver evaluates the query's conditions on partition columns (row_conditions.py) before it lists directories. It
keeps a partition for which it cannot decide a condition: Spark applies the whole condition again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import value_as_read
from acidsql.acid.partition_values import normal_value
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.statements import PartitionItem
from acidsql.planner.conditions.row_conditions import COMPARISONS
from acidsql.values.literals import UNKNOWN, day_of, integer_of, typed, value_of

_MANY: Final = 16
"""A value is looked up in a list of at least so many items."""
_MOST_READ: Final = 4096
"""How many texts of a partition column are kept with their values."""
_Values: TypeAlias = Mapping[str, object]
"""The values of a partition by column, as literals.py has them."""
_Test: TypeAlias = Callable[[_Values], bool | None]
"""Whether a condition is true for a partition; None if that cannot be decided."""


def keeps(conjuncts: Sequence[exp.Expr], table: Table) -> Callable[[Sequence[str | None]], bool]:
    """A function that tells whether a partition with these values can hold a row for which all conjuncts are true.

    A table may have very many partitions. What does not depend on a partition's values is therefore computed here.
    """
    tests = [_test(c) for c in conjuncts]
    named = {column.name.lower() for c in conjuncts for column in c.find_all(exp.Column)}
    read = [(at, c.name, _reader(c.type)) for at, c in enumerate(table.partition_columns) if c.name in named]

    def keeps_partition(values: Sequence[str | None]) -> bool:
        known = {name: value_read(values[at]) for at, name, value_read in read}
        return all(test(known) is not False for test in tests)

    return keeps_partition


def _reader(kind: str) -> Callable[[str | None], object]:
    """Reads the texts of a partition column as values. Many partitions of a table with several partition columns have
    a value in common."""
    return lru_cache(maxsize=_MOST_READ)(lambda value: typed(value_as_read(value, kind), kind))


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
    return value is not None and _test(equal)({column.name: typed(value, column.type)}) is True


def _test(condition: exp.Expr) -> _Test:
    """The test of a condition. It gives None, which keeps the partition, where it cannot decide. A comparison with NULL
    counts as false, which is safe because conditions contain no NOT."""
    match condition:
        case exp.Paren():
            return _test(condition.this)
        case exp.And():
            return _both(_test(condition.this), _test(condition.expression))
        case exp.Or():
            left, right = _test(condition.this), _test(condition.expression)
            return lambda values: _or(left(values), right(values))
        case exp.Boolean():
            is_true = bool(condition.this)
            return lambda _: is_true
        case exp.In() if condition.expressions and not condition.args.get("query"):
            return _is_listed(condition)
        case exp.Between():
            low = _comparison(exp.GTE, condition.this, condition.args["low"])
            return _both(low, _comparison(exp.LTE, condition.this, condition.args["high"]))
        case _ if type(condition) in COMPARISONS:
            return _comparison(type(condition), condition.this, condition.expression)
        case _:
            return lambda _: None


def _is_listed(condition: exp.In) -> _Test:
    """The test of an IN list. In a long list of literals of one type, a value of that type is looked up."""
    value = _operand(condition.this)
    compared = [_comparison(exp.EQ, condition.this, e) for e in condition.expressions]

    def equals_any(values: _Values) -> bool | None:
        found = [test(values) for test in compared]
        return True if True in found else None if None in found else False

    listed = frozenset(value_of(e, {}) for e in condition.expressions)
    kinds = set(map(type, listed))
    if len(compared) < _MANY or len(kinds) > 1 or UNKNOWN in listed or None in listed:
        return equals_any
    (kind,) = kinds

    def is_listed(values: _Values) -> bool | None:
        found = value(values)
        return found in listed if type(found) is kind else equals_any(values)

    return is_listed


def _operand(node: exp.Expr) -> Callable[[_Values], object]:
    """A function that gives what `value_of` gives for a node. A constant is computed once."""
    if isinstance(node, exp.Column):
        name = node.name.lower()
        return lambda values: values.get(name, UNKNOWN)
    if node.find(exp.Column) is not None:
        return lambda values: value_of(node, values)
    constant = value_of(node, {})
    return lambda _: constant


def _comparison(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> _Test:
    a, b = _operand(left), _operand(right)
    return lambda values: _compare(kind, a(values), b(values))


def _both(left: _Test, right: _Test) -> _Test:
    return lambda values: _and(left(values), right(values))


def _and(left: bool | None, right: bool | None) -> bool | None:
    return False if left is False or right is False else True if left and right else None


def _or(left: bool | None, right: bool | None) -> bool | None:
    return True if left or right else False if left is False and right is False else None


def _compare(kind: type[exp.Expr], a: object, b: object) -> bool | None:
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
