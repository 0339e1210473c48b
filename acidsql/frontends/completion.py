"""Completion: the keywords, databases, tables and columns that may follow the text before the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Protocol

from acidsql.frontends.value_completion import compaction_types, file_formats, paths, setting_values

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)) | (?P<string>'(?:\\.|[^'\\])*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z))
      | `(?P<quoted>(?:[^`]|``)*)(?P<closed>`|\Z) | (?P<word>\w+) | (?P<sign>[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
_BEFORE_TABLE = frozenset(
    {"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "USING", "DESCRIBE", "DESC", "FORMATTED", "PARTITIONS", "TBLPROPERTIES"}
)
_SETTING = re.compile(r"\s*(?:SET|RESET)\s+(?P<key>[\w.:-]*)", re.IGNORECASE)
_BEFORE_EXPRESSION = frozenset({"SELECT", "WHERE", "AND", "OR", "ON", "BY", "HAVING", "NOT", "WHEN", "THEN", "ELSE"})
_SIGNS_BEFORE_EXPRESSION = frozenset("(,=<>+-*/%")
_BEFORE_DATABASE = frozenset({"USE", "DATABASE", "SCHEMA"})
_READ = frozenset({"FROM", "JOIN", "USING"})
"""The words before a table that is only read, which may have a VERSION AS OF or CHANGES FROM."""
_VERSIONS = frozenset({"VERSION", "TIMESTAMP"})
_MOST_TABLES = 50
"""Of how many tables the columns are offered where no FROM tells which ones are meant."""
_CLAUSES = frozenset({"SELECT", "FROM", "WHERE", "ON", "SET", "GROUP", "ORDER", "HAVING", "VALUES", "WHEN", "BY"})


class Names(Protocol):
    """The names of a catalog. An unknown database has no tables, and an unknown table has no columns."""

    @property
    def current_database(self) -> str: ...
    def databases(self) -> Sequence[str]: ...
    def tables(self, database: str) -> Sequence[str]: ...
    def columns(self, database: str, table: str) -> Sequence[str]: ...
    def partition_columns(self, database: str, table: str) -> Sequence[str]: ...


class Kind(Enum):
    COLUMN = "column"
    TABLE = "table"
    DATABASE = "database"
    FUNCTION = "function"
    KEYWORD = "keyword"
    TYPE = "type"
    SETTING = "setting"
    VALUE = "value"
    FORMAT = "format"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may replace the `typed` characters before the cursor."""

    text: str
    kind: Kind
    typed: int
    note: str = ""
    """The parameters of a function."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a quoted name or a sign. `text` has no backticks. `at_cursor` means that the token ends at the cursor."""

    text: str
    quoted: bool
    at_cursor: bool

    @property
    def upper(self) -> str:
        return "" if self.quoted else self.text.upper()

    @property
    def is_name(self) -> bool:
        return self.quoted or self.text[0].isalnum() or self.text[0] == "_"


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of the cursor: the tokens before the word that is being typed, its qualifier, and the word."""

    before: Sequence[_Token]
    qualifier: str | None
    word: str
    quoted: bool

    @property
    def typed(self) -> int:
        return len(self.word) + self.quoted


def complete(text: str, cursor: int, names: Names) -> list[Candidate]:
    """The candidates at `cursor` (characters from the start) of `text`, the likely ones first.

    There are none in a comment, and in a string only the names of files where a path is typed. Before the first
    character of a word there are those of a name, a type or an expression where one must follow, and keywords where the
    grammar knows them all.
    """
    start = _statement_start(text, cursor)
    for kind, found in (
        (Kind.FILE, paths(text[start:cursor])),
        (Kind.VALUE, setting_values(text[start:cursor])),
        (Kind.VALUE, compaction_types(text[start:cursor])),
        (Kind.FORMAT, file_formats(text[start:cursor])),
    ):
        if found is not None:
            typed, fitting = found
            return [Candidate(one, kind, len(typed)) for one in fitting]
    setting = _SETTING.fullmatch(text, start, cursor)
    if setting is not None:
        return _settings(setting["key"])
    here = _place(text[start:cursor])
    if here is None:
        return []
    tables = dict(_tables_in(_tokens(text[start:]), names.current_database))
    offered: dict[str, Candidate] = {}
    for name, kind in _offers(here, text[start : cursor - here.typed], tables, names):
        if name.lower().startswith(here.word.lower()):
            shown = _as_typed(name, kind, here)
            note = function_signatures()[name] if kind is Kind.FUNCTION else ""
            offered.setdefault(shown, Candidate(shown, kind, here.typed, note))
    return list(offered.values())


def _settings(typed: str) -> list[Candidate]:
    from acidsql.statements.settings import setting_names

    found = (name for name in setting_names() if name.startswith(typed.lower()))
    return [Candidate(name, Kind.SETTING, len(typed)) for name in found]


@cache
def function_signatures() -> Mapping[str, str]:
    """The functions that a query can call, each with its parameters as far as they are known (a generated file)."""
    text = files(__package__).joinpath("function_signatures.txt").read_text(encoding="utf-8")
    parts = (line.partition("(") for line in text.splitlines())
    return {name: f"{sign}{parameters}" for name, sign, parameters in parts}


def _statement_start(text: str, cursor: int) -> int:
    signs = (match for match in _TOKEN.finditer(text, 0, cursor) if match["sign"] == ";")
    return max((match.end() for match in signs), default=0)


def _place(before: str) -> _Place | None:
    """The place of the cursor; None in a string or a comment."""
    matches = list(_TOKEN.finditer(before))
    last = matches[-1] if matches else None
    if last is not None and last.end() == len(before) and _is_open(last):
        return None
    tokens = _tokens(before)
    word, quoted = "", False
    if tokens and tokens[-1].at_cursor and tokens[-1].is_name:
        *tokens, typed = tokens
        word, quoted = typed.text, typed.quoted
    if len(tokens) >= 2 and tokens[-1].text == "." and tokens[-2].is_name:
        return _Place(tokens[:-2], tokens[-2].text.lower(), word, quoted)
    return _Place(tokens, None, word, quoted)


def _is_open(match: re.Match[str]) -> bool:
    """Whether the cursor is in a string or a comment, or behind a closed quoted name: nothing completes these."""
    comment, string = match["comment"], match["string"]
    if comment is not None:
        return comment.startswith("--") or not (comment.endswith("*/") and len(comment) > 3)
    if string is not None:
        return True
    return match["quoted"] is not None and match["closed"] == "`"


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        at_cursor = match.end() == len(text)
        if match["quoted"] is not None:
            found.append(_Token(match["quoted"].replace("``", "`"), True, at_cursor))
        elif match["word"] or match["sign"]:
            found.append(_Token(match[0], False, at_cursor))
        elif match["string"]:
            found.append(_Token("'", False, at_cursor))
    return found


def _tables_in(tokens: Sequence[_Token], database: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The tables that a statement names, by name and by alias: `FROM db.t AS a` gives t and a."""
    from acidsql.grammar.next_keywords import NEVER_AN_ALIAS

    clause = ""
    for place, token in enumerate(tokens):
        clause = token.upper if token.upper in _CLAUSES else clause
        if token.upper not in _BEFORE_TABLE and not (token.text == "," and clause == "FROM"):
            continue
        rest = list(tokens[place + 1 : place + 19])
        if not rest or not rest[0].is_name or rest[0].upper in NEVER_AN_ALIAS:
            continue
        table, rest = (database, rest[0].text.lower()), rest[1:]
        if len(rest) >= 2 and rest[0].text == "." and rest[1].is_name:
            table, rest = (table[1], rest[1].text.lower()), rest[2:]
        yield table[1], table
        rest = _behind_version(rest)
        if rest and rest[0].upper == "AS":
            rest = rest[1:]
        if rest and rest[0].is_name and rest[0].upper not in NEVER_AN_ALIAS:
            yield rest[0].text.lower(), table


def _behind_version(tokens: list[_Token]) -> list[_Token]:
    """The tokens without the VERSION AS OF or CHANGES FROM that they begin with: an alias follows it."""
    words = [token.upper for token in tokens]
    if words[:2] == ["CHANGES", "FROM"]:
        rest = _behind_side(_behind_value(tokens, 3))
        rest = _behind_side(_behind_value(rest, 2)) if rest and rest[0].upper == "TO" else rest
        return _behind_options(rest)
    length = 3 if words[1:3] == ["AS", "OF"] and words[0] in _VERSIONS else 0
    length = 4 if words[:1] == ["FOR"] and words[2:4] == ["AS", "OF"] else length
    return _behind_value(tokens, length) if length else tokens


def _behind_side(tokens: list[_Token]) -> list[_Token]:
    """The tokens behind the INCLUSIVE or EXCLUSIVE that they may begin with."""
    return tokens[1:] if tokens and tokens[0].upper in ("INCLUSIVE", "EXCLUSIVE") else tokens


def _behind_options(tokens: list[_Token]) -> list[_Token]:
    """The tokens behind the options in parentheses that they may begin with."""
    if [token.upper for token in tokens[:2]] != ["WITH", "("]:
        return tokens
    end = next((n for n, token in enumerate(tokens) if token.text == ")"), len(tokens))
    return tokens[end + 1 :]


def _behind_value(tokens: list[_Token], length: int) -> list[_Token]:
    """The tokens behind `length` words and the version that follows them."""
    is_named = len(tokens) > length and tokens[length].text == ":"
    return tokens[length + 1 + is_named :]


def _offers(here: _Place, before: str, tables: dict[str, tuple[str, str]], names: Names) -> Iterable[tuple[str, Kind]]:
    wants_table = _table_follows(here.before)
    if here.qualifier is not None:
        if here.qualifier in tables and not wants_table:
            return _columns([tables[here.qualifier]], names)
        return ((name, Kind.TABLE) for name in names.tables(here.qualifier))
    if here.before and here.before[-1].upper in _BEFORE_DATABASE:
        return ((name, Kind.DATABASE) for name in names.databases())
    if wants_table:
        return _tables_and_databases(names)
    if not here.before:  # a statement begins with a keyword
        return _keywords(before) if here.typed and not here.quoted else ()
    return _anything(here, before, tables, names)


def _table_follows(before: Sequence[_Token]) -> bool:
    if not before:
        return False
    words = [token.upper for token in before[-3:]]
    if words[-1:] == ["EXISTS"] and "IF" in words:  # DROP TABLE IF EXISTS
        return any(token.upper in ("TABLE", "VIEW") for token in before)
    if words[-1] in ("IN", "FROM") and "SHOW" in words:
        return words[-2] == "COLUMNS"
    if before[-1].text == ",":
        clause = next((token.upper for token in reversed(before) if token.upper in _CLAUSES), "")
        return clause == "FROM"
    last = before[-1].upper
    return last in _BEFORE_TABLE and not (last == "UPDATE" and len(before) > 1 and before[-2].upper == "THEN")


def _columns(tables: Iterable[tuple[str, str]], names: Names) -> Iterator[tuple[str, Kind]]:
    for database, table in dict.fromkeys(tables):
        for column in names.columns(database, table):
            yield column, Kind.COLUMN


def _all_tables(names: Names) -> Iterator[tuple[str, str]]:
    return ((names.current_database, table) for table in names.tables(names.current_database)[:_MOST_TABLES])


def _partition_columns(tables: Iterable[tuple[str, str]], names: Names) -> Iterator[tuple[str, Kind]]:
    for database, table in dict.fromkeys(tables):
        for column in names.partition_columns(database, table):
            yield column, Kind.COLUMN


def _is_in_partition(before: Sequence[_Token]) -> bool:
    """Whether the name of a partition column follows: in PARTITION (..), but not behind the `=` of a value."""
    if before[-1].text not in ("(", ","):
        return False
    opened = next((n for n in range(len(before) - 1, 0, -1) if before[n].text in ("(", ")")), 0)
    return before[opened].text == "(" and before[opened - 1].upper == "PARTITION"


def _tables_and_databases(names: Names) -> Iterator[tuple[str, Kind]]:
    for table in names.tables(names.current_database):
        yield table, Kind.TABLE
    for database in names.databases():
        yield database, Kind.DATABASE


def _anything(
    here: _Place, before: str, tables: dict[str, tuple[str, str]], names: Names
) -> Iterator[tuple[str, Kind]]:
    """What may stand behind the first words of a statement."""
    from acidsql.grammar.next_keywords import following  # late: the prompt does not wait for it

    if _is_in_partition(here.before) and not here.quoted:
        yield from _partition_columns(tables.values(), names)
        return
    grammar = following(before)
    if grammar.takes_type or _is_cast_type(here.before):
        yield from ((name, Kind.TYPE) for name in _types())
        return
    is_name = grammar.is_known and grammar.takes_name and here.before[0].upper not in ("CREATE", "DROP", "USE")
    is_expression = not grammar.is_known and _expression_follows(here.before)
    is_unknown = not tables and not grammar.is_known and here.before[0].upper in ("SELECT", "WITH")
    if here.typed or is_name or is_expression:
        yield from _columns(_all_tables(names) if is_unknown else tables.values(), names)
    if here.typed:
        yield from ((name, Kind.TABLE) for name in tables)
    if here.quoted:
        return
    if here.typed and not grammar.is_known and _is_read_table(here.before):
        yield "VERSION AS OF", Kind.KEYWORD
        yield "CHANGES FROM VERSION", Kind.KEYWORD
        yield "CHANGES FROM TIMESTAMP", Kind.KEYWORD
    if here.typed or grammar.is_known:
        yield from ((keyword, Kind.KEYWORD) for keyword in grammar.keywords)
    if (here.typed or (is_expression and is_unknown)) and not grammar.is_known:
        yield from ((function, Kind.FUNCTION) for function in function_signatures())


def _is_read_table(before: Sequence[_Token]) -> bool:
    """Whether the last tokens are the name of a table that is read."""
    of_name = 3 if len(before) > 3 and before[-2].text == "." else 1
    return len(before) > of_name and before[-1].is_name and before[-1 - of_name].upper in _READ


def _keywords(before: str) -> Iterator[tuple[str, Kind]]:
    from acidsql.grammar.next_keywords import next_keywords

    return ((keyword, Kind.KEYWORD) for keyword in next_keywords(before))


def _expression_follows(before: Sequence[_Token]) -> bool:
    return before[-1].upper in _BEFORE_EXPRESSION or before[-1].text in _SIGNS_BEFORE_EXPRESSION


def _is_cast_type(before: Sequence[_Token]) -> bool:
    """Whether a type follows: behind the AS of a CAST."""
    depth = 0
    for place in range(len(before) - 1, 0, -1):
        text = before[place].text
        depth += (text == ")") - (text == "(")
        if depth < 0:
            return before[-1].upper == "AS" and before[place - 1].upper in ("CAST", "TRY_CAST")
    return False


def _types() -> Sequence[str]:
    from acidsql.acid.hive_types import PRIMITIVES

    return (*PRIMITIVES, "decimal", "varchar", "char", "array", "map", "struct")


def _as_typed(name: str, kind: Kind, here: _Place) -> str:
    """The name as the user types it: keywords in the case of the typed word, names in backticks where needed."""
    if kind is Kind.KEYWORD:
        typed = here.word or "".join(token.text for token in here.before[:1])
        return name.lower() if typed == typed.lower() else name
    if kind is Kind.TYPE:
        return name
    if here.quoted or (kind is not Kind.FUNCTION and not re.fullmatch(r"[a-z_]\w*", name, re.ASCII | re.IGNORECASE)):
        return f"`{name.replace('`', '``')}`"
    return name
