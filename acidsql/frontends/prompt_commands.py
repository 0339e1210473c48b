r"""The commands of the prompt: what is typed there and is no SQL, in the spellings of psql, sqlite, duckdb and beeline.

Every text that begins like a command is one, or is refused with a line that says what to type instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from acidsql.frontends.render import Format
from acidsql.grammar.script_splitter import is_complete
from acidsql.similar_names import similar_names


@dataclass(frozen=True, slots=True)
class Leave:
    """Ends the shell."""


@dataclass(frozen=True, slots=True)
class Help:
    """Lists the keys and commands, or shows the syntax of the statements that begin with the words of `topic`."""

    topic: str = ""


@dataclass(frozen=True, slots=True)
class RunStatement:
    """Runs a statement for which the command is short."""

    sql: str


@dataclass(frozen=True, slots=True)
class RunFile:
    """Runs the statements of a file."""

    path: str


@dataclass(frozen=True, slots=True)
class RunProgram:
    """Runs a command line of the operating system."""

    line: str


@dataclass(frozen=True, slots=True)
class EditStatement:
    """Opens the last statement in an editor, and puts the edited text at the prompt."""


@dataclass(frozen=True, slots=True)
class SetFormat:
    """Changes the output format, as --output does; without a format, shows it."""

    shape: Format | None


@dataclass(frozen=True, slots=True)
class Switch:
    """Turns one of the switches on or off; without a value, turns it over."""

    name: str
    on: bool | None


@dataclass(frozen=True, slots=True)
class Refused:
    """No command of this shell, or one with wrong arguments. `message` says what to type."""

    message: str


Command: TypeAlias = Leave | Help | RunStatement | RunFile | RunProgram | EditStatement | SetFormat | Switch | Refused

VERTICAL: Final = "vertical"
TIMING: Final = "timing"
HEADER: Final = "header"
PAGER: Final = "pager"

HELP_TEXT: Final = r"""A statement ends with ; or, to see its rows one below the other, with \G.
  help  \?  .help          this text;  help MERGE  the syntax of a statement
  quit  exit  \q  Ctrl-D   leave
  Ctrl-C                   clear what is typed; cancel the statement that runs
  Tab                      complete keywords, names, settings, functions and types
  Up, Ctrl-R               earlier statements
  \d  .tables  !tables     SHOW TABLES;  \d NAME describes a table, \d+ NAME with all details
  .schema NAME             SHOW CREATE TABLE
  \l  \c NAME              SHOW DATABASES; USE another database
  \i FILE  source FILE     run the statements of a file
  \e                       edit the last statement in $EDITOR
  !COMMAND                 run a command of the operating system
  .mode FORMAT             output as table, vertical, csv, tsv, json, jsonl or markdown
  \x  \timing  \t          vertical rows, seconds, column names: on or off
  \pager                   show long results in $PAGER: on or off
EXPLAIN shows what a statement would do; SHOW TABLES and DESCRIBE show what there is."""

_ASK: Final = r"\? lists the commands."
_SWITCHED: Final[Mapping[str, bool | None]] = {"": None, "on": True, "off": False}
_NAME: Final = re.compile(r"[\w.`$-]+")


def parse_command(text: str) -> Command | None:
    r"""The command that a text is, or None for SQL.

    >>> parse_command(r"\d employee"), parse_command("exit;"), parse_command("SELECT 1")
    (RunStatement(sql='DESCRIBE employee'), Leave(), None)
    """
    line = text.strip()
    if "\n" in line or not line:
        return None
    word, _, rest = line.partition(" ")
    argument = rest.strip().removesuffix(";").rstrip()
    name = word.removesuffix(";").lower()
    if not argument and name in _WORDS:
        return _WORDS[name]
    if name in _WORDS_WITH_ARGUMENT:
        return _WORDS_WITH_ARGUMENT[name](argument)
    if name[:1] not in ("\\", ".", "!") or (name[:1] == "." and name[1:2].isdigit()):
        return None
    sign, key = name[0], name[1:]
    if key in _COMMANDS:
        return _COMMANDS[key](argument)
    if sign == "!" and key in _OF_BEELINE:
        return Refused(f"{name} is a command of beeline that this shell does not need. {_ASK}")
    if sign == "!":
        return _program(line[1:])
    near = similar_names(key, _COMMANDS, most=1, cutoff=0.6)
    question = f" Did you mean {sign}{near[0]}?" if near else ""
    return Refused(f"{name} is not a command of this shell.{question} {_ASK}")


def typed_command(text: str) -> tuple[str, Command] | None:
    r"""The command that a text is, or that its last line is, with the unfinished statement before it. None for SQL.

    In a later line a command is one that begins with a backslash, and the words that leave the shell or ask for
    help: other lines may belong to the statement. No line inside a string, a quoted name or a comment is a command.

    >>> typed_command("SELECT 1
    quit"), typed_command("SELECT 'a
    quit")
        (('SELECT 1', Leave()), None)
    """
    command = parse_command(text)
    if command is not None:
        return "", command
    before, newline, last = text.rstrip().rpartition("\n")
    line = last.strip()
    is_vertical = line == "\\G"  # the end of a statement
    if not newline or is_vertical or not (line[:1] == "\\" or line.removesuffix(";").rstrip().lower() in _WORDS):
        return None
    command = parse_command(line)
    return (before, command) if command is not None and is_complete(f"{before}\n;") else None


def _statement(sql: str) -> Callable[[str], Command]:
    return lambda _: RunStatement(sql)


def _tables(argument: str) -> Command:
    pattern = argument.replace("'", "")
    return RunStatement(f"SHOW TABLES '{pattern}'" if pattern else "SHOW TABLES")


def _of_name(before: str) -> Callable[[str], Command]:
    """A statement that ends in a name, which the argument gives."""

    def command(argument: str) -> Command:
        if not _NAME.fullmatch(argument):
            return Refused(f"This command takes a name. {_ASK}")
        return RunStatement(f"{before} {argument}")

    return command


def _described(before: str) -> Callable[[str], Command]:
    of_name = _of_name(before)
    return lambda argument: of_name(argument) if argument else RunStatement("SHOW TABLES")


def _file(argument: str) -> Command:
    path = argument.strip("'\"")
    return RunFile(path) if path else Refused(r"\i takes the name of a file: \i FILE")


def _program(argument: str) -> Command:
    return RunProgram(argument.strip()) if argument.strip() else Refused("! takes a command line: !ls")


def _switch(name: str) -> Callable[[str], Command]:
    def command(argument: str) -> Command:
        if argument.lower() not in _SWITCHED:
            return Refused(f"This command takes on or off. {_ASK}")
        return Switch(name, _SWITCHED[argument.lower()])

    return command


def _format(argument: str) -> Command:
    known = {shape.value: shape for shape in Format}
    wanted = _OTHER_NAMES.get(argument.lower(), argument.lower())
    if not argument:
        return SetFormat(None)
    if wanted not in known:
        return Refused(f"{argument} is not an output format: .mode takes {', '.join(known)}")
    return SetFormat(known[wanted])


def _print_option(argument: str) -> Command:
    r"""`\pset OPTION VALUE` of psql, and `!set OPTION VALUE` of beeline."""
    option, _, value = argument.partition(" ")
    options = {"format": _format, "outputformat": _format, "pager": _switch(PAGER), "expanded": _switch(VERTICAL)}
    options |= {"x": _switch(VERTICAL), "showheader": _switch(HEADER)}
    known = options.get(option.lower())
    if known is None:
        return Refused(f".mode FORMAT changes the output format, and SET a setting of the session. {_ASK}")
    return known(value.strip())


_OTHER_NAMES: Final = {
    "table2": "table",
    "box": "table",
    "aligned": "table",
    "expanded": "vertical",
    "line": "vertical",
}
_OTHER_NAMES.update({"csv2": "csv", "tsv2": "tsv", "tabs": "tsv", "jsonlines": "jsonl", "ndjson": "jsonl"})

_WORDS: Final[Mapping[str, Command]] = {"quit": Leave(), "exit": Leave(), "help": Help(), "?": Help()}
_WORDS_WITH_ARGUMENT: Final[Mapping[str, Callable[[str], Command]]] = {"help": Help, "source": _file}

_COMMANDS: Final[Mapping[str, Callable[[str], Command]]] = {
    **dict.fromkeys(("q", "quit", "exit"), lambda _: Leave()),
    **dict.fromkeys(("?", "h", "help"), Help),
    **dict.fromkeys(("d", "describe", "columns"), _described("DESCRIBE")),
    "d+": _described("DESCRIBE FORMATTED"),
    **dict.fromkeys(("dt", "tables"), _tables),
    **dict.fromkeys(("schema", "sf"), _of_name("SHOW CREATE TABLE")),
    **dict.fromkeys(("dv", "views"), _statement("SHOW VIEWS")),
    **dict.fromkeys(("df", "functions"), _statement("SHOW FUNCTIONS")),
    **dict.fromkeys(("l", "dn", "databases", "dbs", "schemas"), _statement("SHOW DATABASES")),
    **dict.fromkeys(("c", "connect", "u", "use"), _of_name("USE")),
    **dict.fromkeys(("i", "ir", "read", "run", "source"), _file),
    **dict.fromkeys(("!", "shell", "sh", "system"), _program),
    **dict.fromkeys(("e", "edit"), lambda _: EditStatement()),
    **dict.fromkeys(("mode", "outputformat", "format"), _format),
    **dict.fromkeys(("pset", "set"), _print_option),
    **dict.fromkeys(("timing", "timer"), _switch(TIMING)),
    **dict.fromkeys(("x", "vertical"), _switch(VERTICAL)),
    **dict.fromkeys(("t", "headers", "header", "showheader"), _switch(HEADER)),
    "pager": _switch(PAGER),
}
"""The commands by their names behind the sign; each name goes with each of the signs."""
_OF_BEELINE: Final = frozenset(
    [
        "addlocaldriverjar",
        "addlocaldrivername",
        "all",
        "autocommit",
        "batch",
        "brief",
        "close",
        "closeall",
        "commit",
        "connect",
        "dbinfo",
        "delimiter",
        "dropall",
        "exportedkeys",
        "go",
        "history",
        "importedkeys",
        "indexes",
        "isolation",
        "list",
        "manual",
        "metadata",
        "nativesql",
        "nullemptystring",
        "primarykeys",
        "procedures",
        "properties",
        "reconnect",
        "record",
        "rehash",
        "rollback",
        "save",
        "scan",
        "script",
        "sql",
        "typeinfo",
        "verbose",
    ]
)
