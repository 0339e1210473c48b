"""The bounds of a file's columns exclude the file only if none of its rows fulfils the condition."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from acidsql.acid.value_range import Range
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query
from acidsql.planner.conditions.value_ranges import can_hold

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBERS: Final = st.one_of(st.integers(-6, 6).map(Decimal), st.decimals(-6, 6, places=1))
_DATES: Final = st.integers(-4, 4).map(lambda days: date(2000, 1, 1) + timedelta(days))
_TEXTS: Final = st.text("abé\U0001f600", max_size=2)
_VALUES: Final = {"n": _NUMBERS, "d": _DATES, "s": _TEXTS}


def literal(value: object) -> str:
    if isinstance(value, Decimal):
        return f"({value})" if value < 0 else str(value)
    return f"DATE'{value}'" if isinstance(value, date) else f"'{value}'"


def order(value: object) -> Any:
    """A key that orders values as Spark does: texts by their UTF-8 bytes."""
    return value.encode() if isinstance(value, str) else value


@dataclass(frozen=True)
class Condition:
    """A condition in SQL, and a function that evaluates it on a row of values by name."""

    sql: str
    holds: Callable[[dict[str, object]], bool]


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from("nds"))
    value = draw(_VALUES[column])
    sign, compare = draw(st.sampled_from(sorted(_OPERATORS.items(), key=lambda item: item[0])))
    if draw(st.booleans()):
        return Condition(f"{literal(value)} {sign} {column}", lambda row: compare(order(value), order(row[column])))
    return Condition(f"{column} {sign} {literal(value)}", lambda row: compare(order(row[column]), order(value)))


@st.composite
def choices(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from("nds"))
    values = draw(st.lists(_VALUES[column], min_size=1, max_size=3))
    return Condition(f"{column} IN ({', '.join(map(literal, values))})", lambda row: row[column] in values)


@st.composite
def betweens(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from("nds"))
    low, high = draw(_VALUES[column]), draw(_VALUES[column])
    return Condition(
        f"{column} BETWEEN {literal(low)} AND {literal(high)}",
        lambda row: order(low) <= order(row[column]) <= order(high),
    )


def joined(word: str, of: Callable[[Any], bool]) -> Callable[[tuple[Condition, Condition]], Condition]:
    return lambda both: Condition(f"({both[0].sql} {word} {both[1].sql})", lambda row: of(c.holds(row) for c in both))


CONDITIONS: Final = st.recursive(
    st.one_of(comparisons(), choices(), betweens()),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(joined("AND", all)), st.tuples(inner, inner).map(joined("OR", any))
    ),
    max_leaves=5,
)


def ranges(rows: Sequence[dict[str, object]]) -> dict[str, Range]:
    of = {name: sorted(order(row[name]) for row in rows) for name in _VALUES}
    return {name: (values[0], values[-1]) for name, values in of.items()}


def tree(sql: str) -> exp.Expr:
    statement = parse(f"SELECT 1 FROM t WHERE {sql}")
    assert isinstance(statement, Query)
    where = statement.tree.args["where"]
    condition = where.this if isinstance(where, exp.Where) else None
    assert isinstance(condition, exp.Expr)
    return condition


@given(st.lists(st.fixed_dictionaries(_VALUES), min_size=1, max_size=3), st.lists(CONDITIONS, min_size=1, max_size=2))
def test_a_skipped_file_has_no_row_that_fulfils_the_condition(
    rows: list[dict[str, object]], conditions: list[Condition]
) -> None:
    has_some = any(all(c.holds(row) for c in conditions) for row in rows)
    assert can_hold([tree(c.sql) for c in conditions], ranges(rows).get) or not has_some
    assert can_hold([tree(c.sql) for c in conditions], lambda name: None)


@given(st.fixed_dictionaries(_VALUES), CONDITIONS)
def test_a_file_with_one_row_is_skipped_exactly_if_the_row_does_not_fulfil_the_condition(
    row: dict[str, object], condition: Condition
) -> None:
    assert can_hold([tree(condition.sql)], ranges([row]).get) == condition.holds(row)


BOUNDS: Final[dict[str, Range]] = {
    "n": (Decimal(10), Decimal(20)),
    "d": (date(2001, 1, 1), date(2001, 12, 31)),
    "s": (b"k", b"m"),
    "big": (Decimal(2**53 + 1), Decimal(2**53 + 1)),
    "long": (Decimal("-12345678901234567890123456789012345678"), Decimal("-12345678901234567890123456789012345678")),
}


@pytest.mark.parametrize(
    "sql",
    [
        "n = 9",
        "n = 20.5BD",
        "n IN (1, 2L)",
        "CAST(30 AS INT) <= n",
        "d = '2002-01-01'",
        "d < CAST('2001-01-01' AS DATE)",
        "s = 'a'",
        "s > 'ma'",
    ],
)
def test_a_literal_of_the_kind_of_the_column_excludes_a_file(sql: str) -> None:
    assert not can_hold([tree(sql)], BOUNDS.get)


@pytest.mark.parametrize(
    "sql",
    [
        "big = 9007199254740992e0",  # a DOUBLE, and as such the same number
        "n = 1D",
        "n = '9'",
        "n = 4 + 5",
        "n = NULL",
        "s = 5",
        "d = '2002'",
        "d < '1400-01-01'",  # before the calendars agree
        "d = 'today'",
        "n <=> 1",
        "NOT (n = 15)",
        "n = s",
        "unheard_of = 1",
        "long = -12345678901234567890123456789012345678",  # all digits count
    ],
)
def test_a_condition_that_may_be_true_excludes_no_file(sql: str) -> None:
    assert can_hold([tree(sql)], BOUNDS.get)
