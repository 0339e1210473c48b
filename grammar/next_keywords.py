"""The keywords that may follow the beginning of a statement, from the tables of the grammar and of sqlglot's parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from acidsql.errors import AcidSqlError
from acidsql.grammar.dialect import AcidSqlParser
from acidsql.grammar.lexer import keywords_of, lex
from acidsql.grammar.nesting_depth import depth_limited
from acidsql.grammar.statement_reader import QUERY_STARTS, RESERVED, Choices, read_beginning

_ISLANDS: Final = frozenset({"EXPR", "OPERAND", "RELATION"})
_STARTS: Final = {"QUERY": QUERY_STARTS, "CTES": {"WITH"}, "ROWS": {"VALUES"}, "FROM_SOURCE": {"FROM"}}
_NO_KEYWORDS: Final = frozenset(
    {"ID", "STRING", "NUMBER", "OPERATOR", "COLUMN_TYPE", "SETTING", "$END"}
    | {"COMMA", "LPAR", "RPAR", "EQUAL", "DOT", "STAR"}
)
# sqlglot's parser has tables for the clauses, joins, operators and predicates of a query. The keywords that its code
# matches by name are added here; those of other systems, which the grammar refuses, are left out.
_MATCHED_BY_NAME: Final = frozenset(
    {TokenType.SELECT, TokenType.FROM, TokenType.WITH, TokenType.VALUES, TokenType.DISTINCT, TokenType.ALL}
    | {TokenType.ALIAS, TokenType.JOIN, TokenType.ON, TokenType.LATERAL, TokenType.NOT, TokenType.ASC, TokenType.DESC}
    | {TokenType.CASE, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.OVER}
    | {TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.INTERVAL, TokenType.PARTITION_BY}
)
_REFUSED: Final = frozenset(
    {TokenType.FETCH, TokenType.FOR, TokenType.LOCK, TokenType.OPERATOR, TokenType.OVERLAPS, TokenType.STRAIGHT_JOIN}
)
_LONGEST: Final = 10_000
"""Characters. The beginning of a longer statement is not read: completion must answer while the user types."""


@cache
def query_keywords() -> frozenset[str]:
    """The keywords of queries and expressions, upper case; some are two words (GROUP BY)."""
    parser = AcidSqlParser
    tables: tuple[Iterable[TokenType], ...] = (
        parser.QUERY_MODIFIER_PARSERS, parser.JOIN_SIDES, parser.JOIN_KINDS, parser.SET_OPERATIONS,
        parser.RANGE_PARSERS, parser.CONJUNCTION, parser.DISJUNCTION, parser.SUBQUERY_PREDICATES, _MATCHED_BY_NAME,
    )  # fmt: skip
    return keywords_of({kind for table in tables for kind in table} - _REFUSED)


NEVER_AN_ALIAS: Final = RESERVED | frozenset(word for phrase in query_keywords() for word in phrase.split())
"""Words that do not name a table or an alias without backquotes."""


@dataclass(frozen=True, slots=True)
class Following:
    """What may follow the beginning of a statement. `is_known` is false inside a query or an expression, where the
    keywords are all those of queries."""

    keywords: Sequence[str]
    is_known: bool = False
    takes_name: bool = False
    takes_type: bool = False


def following(beginning: str) -> Following:
    """What may follow `beginning`.

    >>> following("CREATE TABLE t (id ").takes_type, following("UPDATE t SET ").takes_name
    (True, True)
    """
    try:
        kinds = _kinds(beginning)
    except AcidSqlError:
        kinds = frozenset()
    is_known = bool(kinds) and not kinds & _ISLANDS and kinds != {"$END"}
    return Following(next_keywords(beginning), is_known, "ID" in kinds, "COLUMN_TYPE" in kinds)


def _kinds(beginning: str) -> frozenset[str]:
    """The terminals that may follow. Raises PARSE_SYNTAX_ERROR inside a query or an expression."""
    if len(beginning) > _LONGEST:
        return frozenset()
    with depth_limited():
        choices, _ = read_beginning(lex(beginning, 0, len(beginning)))
        return frozenset(choices.all())


def next_keywords(beginning: str) -> list[str]:
    """The keywords that may follow `beginning`, sorted: exactly where the grammar knows, else those of queries.

    A keyword that only one other may follow comes with it.

    >>> next_keywords("MERGE INTO t USING s ON t.id = s.id WHEN NOT")
    ['MATCHED']
    >>> next_keywords("START"), "MERGE INTO" in next_keywords("")
    (['TRANSACTION'], True)
    """
    try:
        return sorted(set(_following(beginning)))
    except AcidSqlError:  # the beginning ends within a query, or is no statement
        return sorted(query_keywords())


def _following(beginning: str) -> Iterator[str]:
    if len(beginning) > _LONGEST:
        yield from query_keywords()
        return
    lexed = lex(beginning, 0, len(beginning))
    with depth_limited():
        choices, last = read_beginning(lexed)
    kinds = choices.all()
    if kinds & _ISLANDS or (last is not None and isinstance(last.island, exp.Expr)):
        yield from query_keywords()
    for kind in kinds:
        yield from _STARTS.get(kind, ())
        if kind not in _ISLANDS | _STARTS.keys() | _NO_KEYWORDS:
            yield _phrase(kind, choices)


def _phrase(kind: str, choices: Choices) -> str:
    """The keyword of a terminal, with the one keyword that must follow it."""
    text = kind.lstrip("_").replace("_", " ")
    following = choices.after(kind)
    if len(following) == 1 and not following & (_ISLANDS | _STARTS.keys() | _NO_KEYWORDS):
        return f"{text} {following.pop()}"
    return text
