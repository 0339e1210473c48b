"""Errors as values: places, caret blocks, PySpark's getters, and a table of conditions that hangs together."""

from __future__ import annotations

import re
from string import Formatter

import pytest
from rich.cells import cell_len

import acidsql
from acidsql.errors import AcidSqlError, Condition, Span, suggestion


def parameters_of(condition: Condition) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(condition.value.template) if name}


@pytest.mark.parametrize("condition", Condition, ids=lambda c: c.name)
def test_every_condition_makes_an_error_that_says_all_its_parameters(condition: Condition) -> None:
    values = {name: f"<{name} given>" for name in parameters_of(condition)}
    error = AcidSqlError.of(condition, values)
    assert all(value in error.message for value in values.values())
    assert not re.search(r"\{\w+\}", error.message)
    assert str(error).startswith(f"[{condition.name}]")
    assert error.getMessageParameters() == values


@pytest.mark.parametrize("condition", Condition, ids=lambda c: c.name)
def test_every_condition_has_an_sqlstate_of_five_characters(condition: Condition) -> None:
    assert re.fullmatch(r"[0-9A-Z]{5}", condition.value.sqlstate)
    assert re.fullmatch(r"[A-Z][A-Z0-9_]+", condition.name)


def test_hives_codes_are_unlike_but_where_hive_has_one_code_for_two_details() -> None:
    codes = [c.value.hive_code for c in Condition if c.value.hive_code is not None]
    twice = {code for code in codes if codes.count(code) > 1}
    assert twice <= {10044, 10263, 10326}  # 10263: aborted, also by a deadlock; 10326: a constraint, also a DEFAULT
    assert all(10000 <= code < 50000 for code in codes)


def test_the_getters_are_those_of_pyspark() -> None:
    span = Span("SELECT x", 7, 8)
    error = AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column="x", suggestion="")
    assert error.getCondition() == error.getErrorClass() == error.condition == "COLUMN_NOT_FOUND"
    assert error.getSqlState() == error.sqlstate == "42703"
    assert error.getMessage() == error.message == "Invalid column reference 'x'"
    assert error.getMessageParameters() == {"column": "x", "suggestion": ""}
    assert error.getQueryContext() == [span]
    assert AcidSqlError(Condition.JAVA_NOT_FOUND).getQueryContext() == []


def test_the_text_of_an_error_is_its_message_place_and_hint() -> None:
    error = AcidSqlError(
        Condition.TABLE_NOT_FOUND,
        span=Span("SELECT *\nFROM tt\nWHERE x", 14, 16),
        hint="Create it.",
        table="tt",
        suggestion=" Did you mean t?",
    )
    assert str(error) == (
        "[TABLE_NOT_FOUND] [Error 10001] Table not found 'tt' Did you mean t?\n"
        "2 | FROM tt\n"
        "  |      ^^\n"
        "Hint: Create it."
    )


def test_an_error_is_caught_as_the_one_public_base() -> None:
    assert acidsql.AcidSqlError is AcidSqlError
    with pytest.raises(acidsql.AcidSqlError):
        raise AcidSqlError(Condition.JAVA_NOT_FOUND)


def test_with_span_places_an_error_once() -> None:
    first, second = Span("abc", 0, 1), Span("abc", 1, 2)
    error = AcidSqlError(Condition.UNBOUND_PARAMETER, hint="h", name=":a").with_span(first)
    assert error.span == first
    assert error.hint == "h"
    assert error.with_span(second) is error


def test_moved_points_into_the_longer_text() -> None:
    script = "SELECT 1;\nSELECT idd"
    error = AcidSqlError(Condition.UNBOUND_PARAMETER, span=Span("SELECT idd", 7, 10), name=":a").moved(script, 10)
    assert error.span is not None
    assert (error.span.text, error.span.line, error.span.column) == ("idd", 2, 8)


@pytest.mark.parametrize(
    ("source", "start", "end", "block"),
    [
        ("a b", 2, 3, "1 | a b\n  |   ^"),
        ("ab", 2, 2, "1 | ab\n  |   ^"),
        ("", 0, 0, "1 | \n  | ^"),
        ("a\n\tbc d", 4, 6, "2 | \tbc d\n  | \t ^^"),
        ("one\ntwo three", 4, 99, "2 | two three\n  | ^^^^^^^^^"),
        ("x (\n1\n)", 2, 7, "1 | x (\n  |   ^"),
        ("\n" * 9 + "abc", 10, 11, "10 | abc\n   |  ^"),
    ],
    ids=["inside", "at the end", "empty", "tab", "beyond the line", "over lines", "line 10"],
)
def test_the_carets_stand_under_the_place(source: str, start: int, end: int, block: str) -> None:
    assert Span(source, start, end).caret_block() == block


@pytest.mark.parametrize("width", [30, 40, 79, 100, 200])
@pytest.mark.parametrize("before", ["", "a, ", "a, " * 40, "名前, " * 40, "e\u0301\t, " * 40])
def test_on_a_screen_a_long_line_is_cut_around_the_place(before: str, width: int) -> None:
    source = f"SELECT {before}oops{', b' * 40} FROM t"
    start = source.index("oops")
    line, carets = Span(source, start, start + 4).caret_block(width).splitlines()
    assert cell_len(line) <= width
    assert cell_len(carets) <= width
    at = carets.index("^")
    assert carets[at:] == "^^^^"
    assert cell_len(line[: line.index("oops")]) == at
    shown = line.partition("| ")[2].removeprefix("...").removesuffix("...")
    assert shown in source.replace("\t", " ")
    assert cell_len(line) >= width - 5 or len(shown) == len(source)


def test_line_and_column_count_from_one() -> None:
    span = Span("ab\ncde", 4, 5)
    assert (span.line, span.column, span.text) == (2, 2, "d")


@pytest.mark.parametrize(
    ("wrong", "known", "tail"),
    [
        ("salry", ["id", "name", "salary"], " Did you mean salary?"),
        ("SALRY", ["id", "name", "salary"], " Did you mean salary?"),
        ("nmae", ["id", "mae", "name", "nature"], " Did you mean name or mae?"),
        ("zzz", ["id", "name"], " (there is id, name)"),
        ("zzz", [], ""),
        ("q", [f"column{i}" for i in range(12)], f" (there is {', '.join(f'column{i}' for i in range(10))}, ...)"),
    ],
)
def test_a_suggestion_names_what_is_near_else_what_there_is(wrong: str, known: list[str], tail: str) -> None:
    assert suggestion(wrong, known) == tail
