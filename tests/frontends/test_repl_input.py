"""When Enter runs what is typed, when it begins a new line, and what is a command of the prompt."""

from __future__ import annotations

import pytest

from acidsql.frontends.prompt_commands import (
    Command,
    EditStatement,
    Help,
    Leave,
    Refused,
    RunFile,
    RunProgram,
    RunStatement,
    SetFormat,
    Switch,
    parse_command,
    typed_command,
)
from acidsql.frontends.render import Format
from acidsql.frontends.shell import is_done
from acidsql.frontends.statement_help import statement_help


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
        "SELECT 1\\G\n",
        "help me",
        ".tables",
        "\\d t",
        "!ls -l",
        "source f.sql",
        "\\nothing",
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
        "SELECT source",
    ],
)
def test_enter_goes_on_inside_a_statement(text: str) -> None:
    assert not is_done(text)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("\\q", Leave()),
        ("!quit;", Leave()),
        (".help", Help()),
        ("\\?", Help()),
        ("help", Help()),
        ("help update", Help("update")),
        ("\\d employee", RunStatement("DESCRIBE employee")),
        ("\\d", RunStatement("SHOW TABLES")),
        ("\\d+ db.`odd`;", RunStatement("DESCRIBE FORMATTED db.`odd`")),
        (".tables", RunStatement("SHOW TABLES")),
        ("!tables", RunStatement("SHOW TABLES")),
        (".tables emp*", RunStatement("SHOW TABLES 'emp*'")),
        (".schema t", RunStatement("SHOW CREATE TABLE t")),
        ("\\l", RunStatement("SHOW DATABASES")),
        ("\\c sales", RunStatement("USE sales")),
        ("source 'a b.sql';", RunFile("a b.sql")),
        ("\\i f.sql", RunFile("f.sql")),
        ("!run f.sql", RunFile("f.sql")),
        ("!ls -l /tmp", RunProgram("ls -l /tmp")),
        ("\\! date", RunProgram("date")),
        ("\\e", EditStatement()),
        (".mode csv", SetFormat(Format.CSV)),
        ("!outputformat vertical", SetFormat(Format.VERTICAL)),
        ("\\pset format csv", SetFormat(Format.CSV)),
        (".mode", SetFormat(None)),
        ("\\x", Switch("vertical", None)),
        ("\\timing off", Switch("timing", False)),
        (".headers on", Switch("header", True)),
        ("SELECT 1;", None),
        ("sources f;", None),
        (".5 + 1", None),
        ("", None),
    ],
)
def test_what_is_no_sql_is_a_command_in_the_spelling_of_any_shell(text: str, command: Command | None) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("SELECT 1\nquit", ("SELECT 1", Leave())),
        ("SELECT 1\n  exit;\n", ("SELECT 1", Leave())),
        ("SELECT 1,\n\n\\q", ("SELECT 1,\n", Leave())),
        ("SELECT 1\nhelp", ("SELECT 1", Help())),
        ("SELECT * FROM\n\\d t", ("SELECT * FROM", RunStatement("DESCRIBE t"))),
        ("SELECT 'it''s' -- it's\n\\?", ("SELECT 'it''s' -- it's", Help())),
        ("quit", ("", Leave())),
        ("SELECT 'a\nquit", None),
        ("SELECT `a\nquit", None),
        ("SELECT 1 /* a\n\\q", None),
        ("SELECT 1\n\\G", None),
        ("SELECT a\n!= b", None),
        ("SELECT a\n.tables", None),
        ("SELECT a,\nquit\nFROM t", None),
        ("SELECT quit", None),
    ],
)
def test_a_command_in_a_later_line_leaves_the_statement_before_it(text: str, typed: object) -> None:
    assert typed_command(text) == typed


@pytest.mark.parametrize(
    ("topic", "begins", "has"),
    [
        ("merge", "[WITH ..] MERGE ", "WHEN NOT MATCHED BY SOURCE"),
        ("Drop Table;", "DROP TABLE [IF EXISTS] table [PURGE]", "PURGE"),
        ("alter table add columns", "ALTER TABLE table ADD COLUMNS", "COMMENT"),
        ("show locks", "SHOW TRANSACTIONS | LOCKS", "SHOW LOCKS [table"),
        ("compact", "ALTER TABLE table [PARTITION", "COMPACT 'minor'"),
        ("mrge", "There is no help for mrge.", "Did you mean help MERGE?"),
    ],
)
def test_help_shows_the_syntax_of_a_statement(topic: str, begins: str, has: str) -> None:
    shown = statement_help(topic)
    assert shown.startswith(begins)
    assert has in shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\\timng", "Did you mean \\timing?"),
        (".import a b", "lists the commands"),
        ("!connect jdbc:hive2://host", "takes a name"),
        ("!record f", "beeline"),
        (".mode xml", ".mode takes table, vertical, csv, tsv, json, jsonl, markdown"),
        ("\\timing maybe", "on or off"),
        ("\\d a; DROP TABLE b", "takes a name"),
        ("source", "name of a file"),
        ("!", "!ls"),
    ],
)
def test_another_command_gets_one_line_that_says_what_to_type(text: str, says: str) -> None:
    command = parse_command(text)
    assert isinstance(command, Refused)
    assert says in command.message
    assert "\n" not in command.message
