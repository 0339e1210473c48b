"""Conditions on the columns of one table as values, which a program without Spark can evaluate row by row.

`row_predicate` reads a condition after the Binder has made Hive's meaning explicit (planner/typed_rules), so that it
means what the same condition means to Spark. It understands comparisons of a column with a literal of the column's
type, and of an integer column's remainder (`id % 10 = 3`), IS [NOT] NULL, IN, BETWEEN, LIKE, AND, OR, NOT, and BOOLEAN
columns. Everything else is a leaf `Undecided`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal as Number
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.acid.hive_types import MOST_DIGITS, Char, Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.table import Column
from acidsql.planner.conditions.row_conditions import decimal_digits, has_only, is_exact
from acidsql.planner.conditions.value_ranges import FLIPPED
from acidsql.planner.expressions.typed_rules.casts import text_of_timestamp
from acidsql.values.literals import number_digits, value_of

Value: TypeAlias = int | float | str | bool
"""What a column is compared with: a number in units of the column's scale, days or microseconds since 1970, a FLOAT or
DOUBLE, a text, or a BOOLEAN."""
ColumnOf: TypeAlias = Callable[[exp.Column], Column | None]


class Operator(Enum):
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, NULL where the column is NULL. NaN is greater than every other number, as in Spark."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class CompareRemainder:
    """A comparison of an integer column's remainder by a positive number, which has the sign of the column; NULL where
    the column is NULL."""

    column: str
    divisor: int
    operator: Operator
    value: int


@dataclass(frozen=True, slots=True)
class IsOneOf:
    """Whether the column has one of the values; NULL where the column is NULL."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    column: str


@dataclass(frozen=True, slots=True)
class IsTrue:
    """A BOOLEAN column as a condition."""

    column: str


@dataclass(frozen=True, slots=True)
class Like:
    """LIKE with a pattern without a backslash: `%` is any text, `_` any character."""

    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class And:
    left: RowPredicate
    right: RowPredicate


@dataclass(frozen=True, slots=True)
class Or:
    left: RowPredicate
    right: RowPredicate


@dataclass(frozen=True, slots=True)
class Not:
    inner: RowPredicate


@dataclass(frozen=True, slots=True)
class Constant:
    """TRUE, FALSE or NULL."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Undecided:
    """A condition that only Spark can evaluate."""

    node: exp.Expr


RowPredicate: TypeAlias = (
    Compare | CompareRemainder | IsOneOf | IsNull | IsTrue | Like | And | Or | Not | Constant | Undecided
)

_OPERATORS: Final[dict[type[exp.Expr], Operator]] = {
    exp.EQ: Operator.EQ,
    exp.NEQ: Operator.NE,
    exp.LT: Operator.LT,
    exp.LTE: Operator.LE,
    exp.GT: Operator.GT,
    exp.GTE: Operator.GE,
}
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)
_WALL_CLOCK: Final = tuple(exp.DataType.Type[name] for name in ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "DATE"))
"""The types by which sqlglot knows DATE and Hive's TIMESTAMP."""
_PLAIN_NUMBER: Final = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?([dDlL]|[bB][dD])?", re.ASCII)
_SMALL_INTEGER: Final = re.compile(r"\d{1,9}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1)
_HALF_BITS: Final = (1 << 29) - 1
_FLOAT_INTEGERS: Final = 1 << 24
"""The integers up to which FLOAT has all."""


def row_predicate(condition: exp.Expr, column_of: ColumnOf) -> RowPredicate:
    """The condition; `column_of` gives the table's column to which a name refers."""
    match condition:
        case exp.Paren():
            return row_predicate(condition.this, column_of)
        case exp.And():
            return And(row_predicate(condition.this, column_of), row_predicate(condition.expression, column_of))
        case exp.Or():
            return Or(row_predicate(condition.this, column_of), row_predicate(condition.expression, column_of))
        case exp.Not():
            return Not(row_predicate(condition.this, column_of))
        case exp.Boolean():
            return Constant(bool(condition.this))
        case exp.Null():
            return Constant(None)
        case exp.Column():
            column = column_of(condition)
            return IsTrue(column.name) if column is not None and column.type == "boolean" else Undecided(condition)
        case exp.Is() if isinstance(condition.expression, exp.Null) and has_only(condition, ("this", "expression")):
            column = _column(condition.this, column_of)
            return Undecided(condition) if column is None else IsNull(column.name)
        case exp.In() if condition.expressions and has_only(condition, ("this", "expressions")):
            return _one_of(condition, column_of)
        case exp.Between() if has_only(condition, ("this", "low", "high")):
            low = _comparison(condition, Operator.GE, condition.this, condition.args["low"], column_of)
            high = _comparison(condition, Operator.LE, condition.this, condition.args["high"], column_of)
            return And(low, high)
        case exp.Like() if has_only(condition, ("this", "expression", "negate")):
            return Not(_like(condition, column_of)) if condition.args.get("negate") else _like(condition, column_of)
        case exp.NullSafeEQ():
            return _null_safe(condition, column_of)
        case _ if type(condition) in _OPERATORS:
            left, right = condition.this, condition.expression
            if isinstance(left.unnest(), exp.Column | exp.Mod):
                return _comparison(condition, _OPERATORS[type(condition)], left, right, column_of)
            return _comparison(condition, _OPERATORS[FLIPPED[type(condition)]], right, left, column_of)
        case _:
            return Undecided(condition)


def undecided(predicate: RowPredicate) -> exp.Expr | None:
    """The first condition in it that only Spark can evaluate."""
    match predicate:
        case Undecided(node):
            return node
        case And(left, right) | Or(left, right):
            return undecided(left) or undecided(right)
        case Not(inner):
            return undecided(inner)
        case _:
            return None


def columns_of(predicate: RowPredicate) -> frozenset[str]:
    """The names of the columns that the predicate reads."""
    match predicate:
        case And(left, right) | Or(left, right):
            return columns_of(left) | columns_of(right)
        case Not(inner):
            return columns_of(inner)
        case Constant() | Undecided():
            return frozenset()
        case _:
            return frozenset({predicate.column})


# ------------------------------------------------------------------------------------------------ comparisons


def _column(node: exp.Expr, column_of: ColumnOf) -> Column | None:
    inner = node.unnest()
    return column_of(inner) if isinstance(inner, exp.Column) else None


def _comparison(
    whole: exp.Expr, operator: Operator, left: exp.Expr, right: exp.Expr, column_of: ColumnOf
) -> RowPredicate:
    if isinstance(inner := left.unnest(), exp.Mod):
        return _remainder(whole, operator, inner, right, column_of)
    column = _column(left, column_of)
    if column is None:
        return Undecided(whole)
    if isinstance(right.unnest(), exp.Null):
        return Constant(None)
    kind = parse_type(column.type)
    exact = _exact_number(right, column, kind)
    if exact is not None:
        return _compare_exactly(column.name, operator, Fraction(exact) * 10 ** _scale(kind))
    value = _literal(right, kind)
    return Undecided(whole) if value is None else Compare(column.name, operator, value)


def _remainder(
    whole: exp.Expr, operator: Operator, left: exp.Mod, right: exp.Expr, column_of: ColumnOf
) -> RowPredicate:
    column = _column(left.this, column_of)
    divisor, value = (_small_integer(node.unnest()) for node in (left.expression, right))
    if column is None or column.type not in _INTEGERS or not divisor or value is None:
        return Undecided(whole)
    return CompareRemainder(column.name, divisor, operator, value)


def _small_integer(node: exp.Expr) -> int | None:
    """The value of a literal such as 10, which has the type INT."""
    is_small = isinstance(node, exp.Literal) and not node.is_string and _SMALL_INTEGER.fullmatch(str(node.this))
    return int(str(node.this)) if is_small else None


def _compare_exactly(column: str, operator: Operator, units: Fraction) -> RowPredicate:
    """A comparison of a number that has whole units, with a number that may have others."""
    below, above = floor(units), ceil(units)
    if below == above:
        return Compare(column, operator, below)
    match operator:
        case Operator.EQ:
            return _never(column)
        case Operator.NE:
            return Not(_never(column))
        case Operator.LT | Operator.LE:
            return Compare(column, Operator.LE, below)
        case _:
            return Compare(column, Operator.GE, above)


def _never(column: str) -> RowPredicate:
    """False, or NULL where the column is NULL."""
    return IsOneOf(column, ())


def _one_of(condition: exp.In, column_of: ColumnOf) -> RowPredicate:
    if not _has_common_decimal(condition, column_of):
        return Undecided(condition)
    items = [_comparison(condition, Operator.EQ, condition.this, item, column_of) for item in condition.expressions]
    if any(isinstance(item, Undecided) for item in items):
        return Undecided(condition)
    compared = [item for item in items if isinstance(item, Compare)]
    others = list(dict.fromkeys(item for item in items if not isinstance(item, Compare)))
    known = [IsOneOf(compared[0].column, tuple(item.value for item in compared))] if compared else []
    return _any_of([*known, *others])


def _any_of(predicates: Sequence[RowPredicate]) -> RowPredicate:
    """A balanced tree: a program that walks through it needs no deep recursion, however long a list is."""
    if len(predicates) == 1:
        return predicates[0]
    middle = len(predicates) // 2
    return Or(_any_of(predicates[:middle]), _any_of(predicates[middle:]))


def _has_common_decimal(condition: exp.In, column_of: ColumnOf) -> bool:
    """Whether Spark compares numbers without rounding: it converts them all to one DECIMAL."""
    column = _column(condition.this, column_of)
    digits = None if column is None else decimal_digits(parse_type(column.type))
    if digits is None:
        return True
    found = [value_of(item, {}) for item in condition.expressions]
    parts = [digits, *(number_digits(n) for n in found if isinstance(n, Number))]
    return max(whole for whole, _ in parts) + max(fraction for _, fraction in parts) <= MOST_DIGITS


def _null_safe(condition: exp.NullSafeEQ, column_of: ColumnOf) -> RowPredicate:
    left, right = condition.this, condition.expression
    if not isinstance(left.unnest(), exp.Column):
        left, right = right, left
    column = _column(left, column_of)
    if column is None:
        return Undecided(condition)
    if isinstance(right.unnest(), exp.Null):
        return IsNull(column.name)
    return And(Not(IsNull(column.name)), _comparison(condition, Operator.EQ, left, right, column_of))


def _like(condition: exp.Like, column_of: ColumnOf) -> RowPredicate:
    column, pattern = _column(condition.this, column_of), condition.expression.unnest()
    is_text = column is not None and _is_text(parse_type(column.type))
    if column is None or not is_text or not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return Undecided(condition)
    text = str(pattern.this)
    return Undecided(condition) if "\\" in text else Like(column.name, text)


# ------------------------------------------------------------------------------------------------ literals


def _is_text(kind: HiveType) -> bool:
    return kind == Primitive("string") or isinstance(kind, Char | Varchar)


def _scale(kind: HiveType) -> int:
    return kind.scale if isinstance(kind, Decimal) else 0


def _exact_number(node: exp.Expr, column: Column, kind: HiveType) -> Number | None:
    """The number of a literal that Spark compares with the column without rounding."""
    is_integer = isinstance(kind, Primitive) and kind.name in _INTEGERS
    if not is_integer and not isinstance(kind, Decimal):
        return None
    inner = node.unnest()
    has_cast = isinstance(kind, Decimal) and inner.find(exp.Cast) is not None
    value = None if has_cast else value_of(inner, {})
    return value if isinstance(value, Number) and is_exact(inner, column) else None


def _literal(node: exp.Expr, kind: HiveType) -> Value | None:
    """The value of a literal that has the column's type, or a type that Spark makes the column's."""
    inner = node.unnest()
    match kind:
        case Primitive("double"):
            return _double(inner, "double")
        case Primitive("float"):
            return _single(inner)
        case Primitive("boolean"):
            return bool(inner.this) if isinstance(inner, exp.Boolean) else None
        case Primitive("date"):
            day = value_of(inner, {})
            return (day - _EPOCH.date()).days if type(day) is date else None
        case Primitive("timestamp"):
            return _micros(inner)
        case _ if _is_text(kind):
            return str(inner.this) if isinstance(inner, exp.Literal) and inner.is_string else None
        case _:
            return None


def _double(node: exp.Expr, cast: str) -> float | None:
    match node:
        case exp.Paren():
            return _double(node.this, cast)
        case exp.Neg():
            value = _double(node.this, cast)
            return None if value is None else -value
        case exp.Cast() if node.to.sql().lower() == cast and isinstance(node.this, exp.Literal):
            text = str(node.this.this)
            return float(text) if _PLAIN_NUMBER.fullmatch(text.removeprefix("-")) and text[-1].isdigit() else None
        case exp.Literal() if not node.is_string:
            found = _PLAIN_NUMBER.fullmatch(str(node.this))
            return float(str(node.this).rstrip("dDlLbB")) if found is not None else None
        case _:
            return None


def _single(node: exp.Expr) -> float | None:
    """A FLOAT: of a cast, or of an integer that FLOAT has."""
    if isinstance(node.find(exp.Cast), exp.Cast):
        value = _double(node, "float")
        return None if value is None or _is_tie(value) else value
    number = value_of(node, {})
    is_small = isinstance(number, Number) and number == int(number) and abs(number) <= _FLOAT_INTEGERS
    return float(number) if is_small and isinstance(number, Number) and number.as_tuple().exponent == 0 else None


def _is_tie(value: float) -> bool:
    """Whether a DOUBLE lies in the middle between two FLOATs, so that rounding twice may differ from rounding once."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bool(bits & _HALF_BITS == (_HALF_BITS + 1) // 2)


def _micros(node: exp.Expr) -> int | None:
    text = text_of_timestamp(node)
    if text is None and isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
        text = str(node.this.this) if node.to.this in _WALL_CLOCK else None
        if node.to.this == exp.DataType.Type.DATE and text is not None and len(text) > len("2000-01-01"):
            return None
    if text is None or not _TIMESTAMP.fullmatch(text):
        return None
    try:
        since = datetime.fromisoformat(text) - _EPOCH
    except ValueError:
        return None
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
