"""Misfits: values that do not fit the columns that store them. Hive makes NULL of them, wraps numbers around or cuts
texts, without a word; acidsql stores the same and tells how many there were.

A conversion that keeps every value of its type (`is_widening`) has no misfits and costs nothing. An array, map or
struct is a misfit if a value inside of it does not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from acidsql.acid.hive_types import Char, Decimal, HiveType, Primitive, Varchar, is_complex, parse_type
from acidsql.acid.schema_evolution import is_widening
from acidsql.acid.table import Column
from acidsql.grammar.quoting import name_sql
from acidsql.planner.plan import StoredValue
from acidsql.planner.stored_values.integer_casts import is_integer
from acidsql.planner.stored_values.store_assignment import conversion, lacks
from acidsql.planner.stored_values.stored_sql import does_not_fit, is_strict, stored
from acidsql.values.common_types import is_text

_SHOWN: Final = 40
"""Characters of the value that stands for all of a column."""


class Outcome(Enum):
    """What a column stores of a value that does not fit."""

    NULL = "became NULL"
    CHANGED = "became other values"
    CUT = "became shorter"


@dataclass(frozen=True, slots=True)
class Misfit:
    """How many values of a statement did not fit a column, and one of them, as text.

    Where Spark runs a task again, its values may count twice.
    """

    table: str
    column: str
    outcome: Outcome
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class MisfitTest:
    """SQL over the given value and the stored one: the text of a value that does not fit, NULL for one that does."""

    column: str
    outcome: Outcome
    misfit: str


def misfit_tests(
    value: StoredValue, source: HiveType, result: str, settings: Mapping[str, str]
) -> tuple[MisfitTest, ...]:
    """The tests of a value of the type `source`: none where each value fits, or is an error if it does not. `result` is
    SQL for what the column stores of it (`stored_sql`), or the name of a column that has it.

    >>> [test.misfit for test in misfit_tests(StoredValue(":c", Column("c", "int")), parse_type("bigint"), "r", {})]
    ['CASE WHEN CAST(r AS BIGINT) <> `:c` THEN SUBSTRING(CAST(`:c` AS STRING), 1, 40) END']
    >>> misfit_tests(StoredValue(":c", Column("c", "bigint")), parse_type("int"), "r", {})
    ()
    """
    kind = parse_type(value.column.type)
    if is_strict(settings) or _keeps_all(source, kind):
        return ()
    given = name_sql(value.name)
    conditions: dict[Outcome, str | None]
    if is_complex(kind):
        conditions = {Outcome.CHANGED: lacks(given, source, kind)}
    else:
        conditions = {
            Outcome.NULL: _becomes_null(given, value, source, result),
            Outcome.CHANGED: _becomes_other(given, value, source, result, settings),
            Outcome.CUT: _is_cut(given, value, source, kind, settings),
        }
    is_used = "" if value.condition is None else f"{value.condition} AND "
    shown = f"SUBSTRING(CAST({given} AS STRING), 1, {_SHOWN})"
    return tuple(
        MisfitTest(value.column.name, outcome, f"CASE WHEN {is_used}{condition} THEN {shown} END")
        for outcome, condition in conditions.items()
        if condition is not None
    )


def stored_sql(value: StoredValue, source: HiveType, settings: Mapping[str, str], column: Column | None = None) -> str:
    """SQL for what the column stores of a value of the type `source`, or what another `column` would store of it."""
    target = value.column if column is None else column
    return stored(conversion(value.name, source, target, settings) or name_sql(value.name), target, settings)


def note_of(misfits: Iterable[Misfit]) -> str:
    """A sentence about the misfits, or an empty text. Names of tables are in it if there are several.

    >>> note_of([Misfit("d.t", "id", Outcome.NULL, 2, "abc"), Misfit("d.t", "n", Outcome.CHANGED, 1, "300")])
    "Values that do not fit: 2 in column id became NULL ('abc'), 1 in column n became other values ('300')."
    """
    found = tuple(misfits)
    if not found:
        return ""
    of_one = len({misfit.table for misfit in found}) == 1
    parts = (
        f"{m.count} in column {m.column if of_one else f'{m.table}.{m.column}'} {m.outcome.value} ('{m.example}')"
        for m in found
    )
    return f"Values that do not fit: {', '.join(parts)}."


def combined(misfits: Iterable[Misfit]) -> tuple[Misfit, ...]:
    """One misfit for each column and outcome: several clauses of a MERGE may store values in one column."""
    found: dict[tuple[str, str, Outcome], Misfit] = {}
    for one in misfits:
        key = (one.table, one.column, one.outcome)
        other = found.get(key)
        if other is not None:
            one = replace(one, count=other.count + one.count, example=min(other.example, one.example))
        found[key] = one
    return tuple(found.values())


def nulled(misfits: Iterable[Misfit]) -> dict[str, int]:
    """How many values became NULL, by column."""
    found: dict[str, int] = {}
    for misfit in misfits:
        if misfit.outcome is Outcome.NULL:
            found[misfit.column] = found.get(misfit.column, 0) + misfit.count
    return found


def _keeps_all(source: HiveType, target: HiveType) -> bool:
    """Whether the column stores each value of the type as it is, or as the text that it has."""
    if source == target or target == Primitive("string"):
        return True
    return is_widening(source, target) or (source, target) == (Primitive("date"), Primitive("timestamp"))


def _becomes_null(given: str, value: StoredValue, source: HiveType, result: str) -> str | None:
    match source:
        case Primitive("tinyint" | "smallint" | "int" | "bigint") if is_integer(value.column):
            return None  # it wraps around
        case _ if is_text(parse_type(value.column.type)):
            return None  # it is cut
        case _:
            return f"{given} IS NOT NULL AND {result} IS NULL"


def _becomes_other(
    given: str, value: StoredValue, source: HiveType, result: str, settings: Mapping[str, str]
) -> str | None:
    match source, parse_type(value.column.type):
        case Primitive("tinyint" | "smallint" | "int" | "bigint"), _ if is_integer(value.column):
            return f"CAST({result} AS BIGINT) <> {given}"
        case Primitive("float" | "double"), _ if is_integer(value.column):
            # Fractions are cut in each column of integers; NaN is greater than 1 in Spark.
            return f"NOT (ABS(CAST({result} AS DOUBLE) - CAST({given} AS DOUBLE)) < 1)"
        case Primitive("timestamp" | "timestamp with local time zone"), _ if is_integer(value.column):
            seconds = stored_sql(value, source, settings, Column(value.column.name, "bigint"))
            return f"CAST({result} AS BIGINT) <> {seconds}"
        case Primitive("double") | Decimal(), Primitive("float"):
            infinity = "CAST('Infinity' AS DOUBLE)"
            return f"ABS({result}) = {infinity} AND ABS({given}) < {infinity}"
        case _:
            return None


def _is_cut(
    given: str, value: StoredValue, source: HiveType, target: HiveType, settings: Mapping[str, str]
) -> str | None:
    """Whether a text is longer than its CHAR or VARCHAR column."""
    if not isinstance(target, Char | Varchar):
        return None
    return does_not_fit(conversion(value.name, source, value.column, settings) or given, target)
