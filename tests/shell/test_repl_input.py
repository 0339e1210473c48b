"""When Enter runs what is typed, and when it begins a new line."""

from __future__ import annotations

import pytest

from acidsql.frontends.shell import is_done


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "SELECT 1;",
        "SELECT ';';  ",
        "SELECT 1; -- done",
        "SELECT 1; SELECT 2;",
        "SELECT\n1\\G",
        "SELECT 'a\nb;';",
        "help",
        "exit",
        "QUIT;",
        "-- only a comment",
    ],
)
def test_enter_runs_complete_statements_and_commands(text: str) -> None:
    assert is_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT ';",
        "SELECT `a;",
        "SELECT 1 -- ;",
        "SELECT /* ; */ 1",
        "SELECT 1; SELECT 2",
        "SELECT '\\G",
        "SELECT 1\\g",
        "help me",
    ],
)
def test_enter_goes_on_inside_a_statement(text: str) -> None:
    assert not is_done(text)
