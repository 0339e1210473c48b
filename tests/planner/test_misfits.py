"""Which conversions of a value to its column's type are tested for values that do not fit, and for what."""

from __future__ import annotations

import pytest

from acidsql.acid.hive_types import parse_type
from acidsql.acid.table import Column
from acidsql.planner.plan import StoredValue
from acidsql.planner.stored_values.misfits import Misfit, Outcome, combined, misfit_tests, note_of

NULL, CHANGED, CUT = Outcome.NULL, Outcome.CHANGED, Outcome.CUT
OUTCOMES = {
    ("int", "bigint"): [],
    ("int", "int"): [],
    ("int", "double"): [],
    ("int", "string"): [],
    ("date", "timestamp"): [],
    ("varchar(3)", "string"): [],
    ("varchar(3)", "varchar(5)"): [],
    ("decimal(5,1)", "decimal(12,2)"): [],
    ("int", "decimal(10,0)"): [],
    ("array<int>", "array<int>"): [],
    ("array<struct<a:int>>", "array<struct<b:int>>"): [],
    ("array<bigint>", "array<int>"): [CHANGED],
    ("map<string,double>", "map<string,float>"): [CHANGED],
    ("bigint", "int"): [CHANGED],
    ("double", "bigint"): [NULL, CHANGED],
    ("timestamp", "tinyint"): [NULL, CHANGED],
    ("double", "float"): [NULL, CHANGED],
    ("int", "decimal(9,0)"): [NULL],
    ("decimal(12,2)", "decimal(5,1)"): [NULL],
    ("decimal(12,2)", "int"): [NULL],
    ("string", "int"): [NULL],
    ("string", "date"): [NULL],
    ("string", "boolean"): [NULL],
    ("string", "varchar(3)"): [CUT],
    ("varchar(5)", "char(3)"): [CUT],
    ("int", "char(3)"): [CUT],
}


@pytest.mark.parametrize(("source", "target"), OUTCOMES)
def test_a_conversion_is_tested_for_what_can_happen(source: str, target: str) -> None:
    tests = misfit_tests(StoredValue(":c", Column("c", target)), parse_type(source), "r", {})
    assert [test.outcome for test in tests] == OUTCOMES[source, target]


def test_strict_assignment_and_rows_of_other_clauses_are_not_tested() -> None:
    value = StoredValue(":c", Column("c", "int"), condition="`:action` = 2")
    assert misfit_tests(value, parse_type("bigint"), "r", {"acidsql.store.assignment": "ansi"}) == ()
    (test,) = misfit_tests(value, parse_type("bigint"), "r", {})
    assert test.misfit.startswith("CASE WHEN `:action` = 2 AND ")


def test_misfits_of_a_column_are_told_once() -> None:
    one, other = Misfit("d.t", "c", CUT, 1, "abc"), Misfit("d.t", "c", CUT, 2, "x")
    assert combined([one, other]) == (Misfit("d.t", "c", CUT, 3, "abc"),)
    assert note_of(combined([one, other])) == "Values that do not fit: 3 in column c became shorter ('abc')."
    assert note_of(()) == ""
