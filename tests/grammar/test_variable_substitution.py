"""Variables in the text of a statement: what they are replaced by, and where errors then point."""

from __future__ import annotations

import pytest

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import SetSetting
from acidsql.grammar.variable_substitution import substitute

VALUES = {
    "day": "7",
    "hivevar:day": "7",
    "twice": "${day}${hivevar:day}",
    "key": "conf.key",
    "hiveconf:conf.key": "found",
    "empty": "",
    "long": "a_very_long_name",
    "chain": "<${long}>",
    "a": "{day}",
    "loop": "${loop}",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ${hivevar:day}", "SELECT 7"),
        ("SELECT '${day}', `${day}` -- ${day}", "SELECT '7', `7` -- 7"),
        ("SELECT ${twice}", "SELECT 77"),
        ("SELECT ${hiveconf:${key}}", "SELECT found"),
        ("SELECT '${unknown} ${hiveconf:day} {day} $day ${}'", "SELECT '${unknown} ${hiveconf:day} {day} $day ${}'"),
        ("${unknown ${day}", "${unknown 7"),
        ("${ day} ${day }", "${ day} ${day }"),
        ("a${empty}b${empty}", "ab"),
        ("$${a}", "7"),
        ("pay ${Day} now", "pay ${Day} now"),
    ],
)
def test_known_variables_are_replaced_and_all_other_text_stays(text: str, expected: str) -> None:
    """`$${a}` becomes `${day}` in the first pass, which the second pass replaces, as in SystemVariables.substitute."""
    assert substitute(text, VALUES.get, 40).text == expected


def test_a_variable_that_names_itself_is_an_error() -> None:
    with pytest.raises(AcidSqlError) as raised:
        substitute("SELECT ${loop}", VALUES.get, 40)
    assert raised.value.condition == "VARIABLE_DEPTH"
    assert raised.value.message == "Variable substitution depth is deeper than 40 for expression SELECT ${loop}"


def test_the_depth_is_the_number_of_passes_that_may_find_a_variable() -> None:
    assert substitute("${twice}", VALUES.get, 2).text == "77"
    with pytest.raises(AcidSqlError, match="deeper than 1"):
        substitute("${twice}", VALUES.get, 1)


@pytest.mark.ci
def test_variables_that_double_the_text_do_not_fill_the_memory() -> None:
    values = {f"v{i}": f"${{v{i + 1}}}${{v{i + 1}}}" for i in range(40)} | {"v40": "x"}
    with pytest.raises(AcidSqlError) as raised:
        substitute("SELECT ${v0}", values.get, 1000)
    assert raised.value.condition == "LIMIT_EXCEEDED"
    with pytest.raises(AcidSqlError, match="The length of the statement"):
        substitute("${long}" * 65, {"long": "x" * (1 << 20)}.get, 1000)


@pytest.mark.parametrize(
    ("text", "wrong", "shown"),
    [
        ("SELECT ${long}, wrong FROM t", "wrong", "wrong"),
        ("wrong, ${long}", "wrong", "wrong"),
        ("SELECT ${chain}, wrong ${day}", "wrong", "wrong"),
        ("SELECT ${chain} FROM t", "a_very_long_name", "${chain}"),
        ("SELECT x${day}y FROM t", "x7y", "x${day}y"),
        ("SELECT ${day}.${day} FROM t", "7.7", "${day}.${day}"),
        ("SELECT a${empty}b FROM t", "ab", "a${empty}b"),
        ("${hiveconf:${key}} wrong", "found", "${hiveconf:${key}}"),
        ("${hiveconf:${key}} wrong", "wrong", "wrong"),
    ],
)
def test_the_place_of_an_error_is_in_the_text_that_the_user_wrote(text: str, wrong: str, shown: str) -> None:
    substituted = substitute(text, VALUES.get, 40)
    start = substituted.text.index(wrong)
    span = Span(substituted.text, start, start + len(wrong))
    moved = substituted.original_error(AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message="Syntax error"))
    assert moved.span is not None
    assert (moved.span.source, moved.span.text) == (text, shown)
    assert moved.hint == ("" if shown == wrong else f"With its variables replaced, this place reads: {wrong}")


def test_the_end_of_the_text_stays_the_end_of_the_text() -> None:
    substituted = substitute("SELECT ${chain}", VALUES.get, 40)
    end = len(substituted.text)
    error = AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=Span(substituted.text, end, end), message="Syntax error")
    assert substituted.original_error(error).span == Span("SELECT ${chain}", 15, 15)


def test_an_error_in_another_text_keeps_its_place() -> None:
    substituted = substitute("SELECT ${day}", VALUES.get, 40)
    error = AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=Span("other", 0, 1), message="Syntax error")
    assert substituted.original_error(error) is error


@pytest.mark.parametrize("value", ["${later}", "$x", "a${b", "100 %", "#!@"])
def test_the_value_of_a_setting_is_raw_text(value: str) -> None:
    assert parse(f"SET hivevar:x={value}") == SetSetting(f"SET hivevar:x={value}", "hivevar:x", value)
