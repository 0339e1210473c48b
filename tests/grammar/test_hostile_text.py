"""Statements that nobody writes by hand: deep, long, and of characters that are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.parser import parse
from acidsql.grammar.script_splitter import split_script
from tests.fuzz.statements import limited, planned

PATIENCE = 60.0
"""Seconds. What doubles with each level takes years of the depths below."""

Text = Callable[[int], str]


def nested(before: str, inner: str, after: str, head: str = "SELECT ", tail: str = "") -> Text:
    return lambda depth: head + before * depth + inner + after * depth + tail


DEEP: dict[str, Text] = {
    "parentheses": nested("(", "1", ")"),
    "open parentheses": nested("(", "1", ""),
    "closed parentheses": nested("", "1", ")"),
    "parentheses of a query": nested("(", "SELECT 1", ")", head=""),
    "parentheses of a table": nested("(", "t", ")", head="SELECT * FROM "),
    "parentheses of a row": nested("(", "1", ")", head="INSERT INTO t VALUES "),
    "subqueries": nested("(SELECT * FROM ", "t", ") x", head="SELECT * FROM "),
    "values": nested("(SELECT ", "1", ")"),
    "IN": nested("a IN (SELECT a FROM t WHERE ", "true", ")", head="DELETE FROM t WHERE "),
    "WITH": nested("WITH c AS (", "SELECT 1", ") SELECT * FROM c", head=""),
    "calls": nested("f(", "1", ")"),
    "calls of a type": nested("struct(", "1", ")"),
    "casts": nested("CAST(", "1", " AS int)"),
    "types": nested("array<", "int", ">", head="SELECT CAST(1 AS ", tail=")"),
    "structs": nested("struct<a:", "int", ">", head="SELECT CAST(1 AS ", tail=")"),
    "types of a column": nested("array<", "int", ">", head="CREATE TABLE x (a ", tail=")"),
    "CASE": nested("CASE WHEN true THEN ", "1", " END"),
    "NOT": nested("NOT ", "true", ""),
    "minus": nested("- ", "1", ""),
    "subscripts": nested("a[", "1", "]"),
    "fields": nested("", "a", ".b"),
    "lambdas": nested("f(x -> ", "1", ")"),
    "windows": nested("sum(", "1", ") OVER (ORDER BY 1)"),
    "EXPLAIN": nested("EXPLAIN ", "SELECT 1", "", head=""),
    "joins in parentheses": nested("(", "t", " JOIN t)", head="SELECT * FROM "),
    "comments": nested("/*", "", "*/", tail="1"),
}
LONG: dict[str, Text] = {
    "OR": nested("a = 1 OR ", "a = 2", "", head="SELECT 1 FROM t WHERE "),
    "AND": nested("a = 1 AND ", "a = 2", "", head="DELETE FROM t WHERE "),
    "sums": nested("1 + ", "1", ""),
    "texts": nested("'a' || ", "'b'", ""),
    "IN of literals": nested("1, ", "2", "", head="DELETE FROM t WHERE a IN (", tail=")"),
    "WHEN": nested("WHEN a = 1 THEN 2 ", "", "", head="SELECT CASE ", tail="END FROM t"),
    "columns": nested("a, ", "a", "", tail=" FROM t"),
    "rows": nested("(1, 2, 'x'), ", "(1, 2, 'x')", "", head="VALUES "),
    "rows of an INSERT": nested("(DEFAULT), ", "(NULL)", "", head="INSERT INTO emp (id) VALUES "),
}
DOUBLING: dict[str, Text] = {
    "JOIN without ON": nested("JOIN t ", "", "", head="SELECT 1 FROM t "),
    "JOIN and LEFT JOIN": nested("JOIN t LEFT JOIN t ", "", "", head="SELECT 1 FROM t "),
    "DECIMAL": nested("decimal(", "1", ")"),
    "STRUCT": nested("struct(", "1", ")"),
    "DATE": nested("date(", "a", ")", tail=" FROM t"),
    "TIMESTAMP": nested("timestamp(", "a", ")", tail=" FROM t"),
}


def outcome(text: str) -> str:
    """`ok`, or the condition of the error that planning the statement raises."""
    try:
        with limited(PATIENCE):
            for piece in split_script(text):
                parse(piece.text, piece)
            planned(text)
    except AcidSqlError as error:
        return error.condition if len(str(error)) < 6000 else f"{error.condition}, at too great length"
    return "ok"


@pytest.mark.ci
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_statements_have_a_plan_or_an_error(text: Text) -> None:
    assert outcome(text(3)) in ("ok", "PARSE_SYNTAX_ERROR", "AMBIGUOUS_TABLE_ALIAS", "INSERT_COLUMN_COUNT")
    for depth in (100, 500, 10_000):
        assert outcome(text(depth)) in ("ok", "PARSE_SYNTAX_ERROR", "AMBIGUOUS_TABLE_ALIAS")


@pytest.mark.nightly
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_statements_have_a_plan(text: Text) -> None:
    assert outcome(text(2_000)) == "ok"


@pytest.mark.parametrize("text", DOUBLING.values(), ids=DOUBLING)
def test_no_part_of_a_statement_doubles_the_time_to_read_it(text: Text) -> None:
    assert outcome(text(40)) in ("ok", "PARSE_SYNTAX_ERROR", "AMBIGUOUS_TABLE_ALIAS")


def test_a_join_has_its_on_behind_the_joins_that_follow_it() -> None:
    _, plan = planned("SELECT 1 FROM emp a JOIN emp b JOIN emp c ON b.id = c.id ON a.id = b.id")
    assert plan is not None
    assert "JOIN `emp@2` AS b JOIN `emp@3` AS c ON b.id = c.id ON a.id = b.id" in plan.sql  # type: ignore[union-attr]


def test_a_long_chain_is_written_in_its_order() -> None:
    conditions = [f"id = {number}" for number in range(500)]
    for word in (" OR ", " AND "):
        _, plan = planned("SELECT 1 FROM emp WHERE " + word.join(conditions))
        assert plan is not None
        assert word.join(conditions) in plan.sql  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT '\ud800'", "\ud800"),
        ("SELECT 1 -- \udfff", "\udfff"),
        (r"SELECT '\ud800'", r"'\ud800'"),
        ("SET a=\ud800", "\ud800"),
        ("\ufeffSELECT 1", "\ufeff"),
        ("SELECT\u200b1", "\u200b"),
        ("SELECT 1\0", "\0"),
        ("SELECT " + "1" * 1001, "1" * 1001),
        ("ABORT TRANSACTIONS " + "9" * 30, "9" * 30),
        ("CREATE TABLE x (a int) CLUSTERED BY (a) INTO 2147483648 BUCKETS", "2147483648"),
        ("CREATE TABLE x (a char(٣))", "٣"),
        ("SELECT * FROM emp, LATERAL .", "SELECT"),
    ],
)
def test_what_is_no_text_or_no_number_is_refused_at_its_place(text: str, place: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        planned(text)
    assert raised.value.condition == "PARSE_SYNTAX_ERROR"
    assert raised.value.span is not None
    assert raised.value.span.text.startswith(place)


def test_two_halves_of_a_character_make_one() -> None:
    _, plan = planned(r"SELECT '\ud83d\ude00'")
    assert plan is not None
    assert plan.sql == "SELECT '😀'"  # type: ignore[union-attr]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2028", "\x85", "\r\n", "\x0c", "\t"])
def test_unusual_blanks_are_blanks(blank: str) -> None:
    _, plan = planned(f"SELECT{blank}1{blank}")
    assert plan is not None
    assert plan.sql == "SELECT 1"  # type: ignore[union-attr]


def test_an_error_in_a_long_line_shows_what_is_around_it() -> None:
    text = "SELECT " + "1, " * 500_000 + "oops oops oops" + ", 2" * 500_000
    start = text.index("oops")
    line, carets = Span(text, start, start + 4).caret_block().splitlines()
    assert len(line) < 450
    assert line[carets.index("^") : len(carets)] == "oops"
    shown = str(AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=Span(text, start, len(text)), message="x" * 1_000_000))
    assert len(shown) < 6000


def test_an_error_holds_nothing_that_a_terminal_obeys_or_cannot_show() -> None:
    name = "a\x1b]0;owned\x07\x9b31m\x00\r\u202eb\ud800\tc"
    error = AcidSqlError(Condition.TABLE_NOT_FOUND, span=Span(f"SELECT {name}", 7, 9), table=name, suggestion="")
    shown = str(error.with_hint(f"Not {name}."))
    assert shown.isprintable() or all(c.isprintable() or c == "\n" or c == "\t" for c in shown)
    assert r"a\x1b]0;owned\x07\x9b31m\x00" in shown
    assert error.getMessageParameters()["table"] == name
    shown.encode()
