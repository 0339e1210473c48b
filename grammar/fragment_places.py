"""Places in a statement of the user's for fragments of the query that acidsql made of it.

Spark reports a place in the query that it gets. That query has the statement's words in their order, in one line, with
backquotes and without comments, and with parts that acidsql has added or rewritten.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from acidsql.errors import AcidSqlError, Span
from acidsql.grammar.lexer import Lexed, lex


def place_of_fragment(before: str, fragment: str, statement: str) -> Span | None:
    """The place in `statement` of a fragment of the query; None if the statement does not have its words.

    `before` is the text in front of the fragment in the query. Of several places, the one with the most equal words in
    front of it is the fragment's; of equal ones, the first.
    """
    wanted, front, typed = _words(fragment), _words(before), _lexed(statement)
    if not wanted or typed is None:
        return None
    words = _comparable(typed)
    found = _occurrences(typed, wanted)
    if not found:
        return None
    first = max(found, key=lambda index: _common_end(words[:index], front))
    return typed.span(first, first + len(wanted) - 1)


def _common_end(left: list[str], right: list[str]) -> int:
    pairs = zip(reversed(left), reversed(right), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def place_of_call(name: str, statement: str) -> Span | None:
    """The place of the first call of a function in `statement`, its name only."""
    typed = _lexed(statement)
    parts = name.lower().split(".")
    wanted = [*[word for part in parts for word in (part, ".")][:-1], "("]
    found = _occurrences(typed, wanted) if typed is not None else []
    return typed.span(found[0], found[0] + len(wanted) - 2) if typed is not None and found else None


def _lexed(text: str) -> Lexed | None:
    try:
        return lex(text, 0, len(text))
    except AcidSqlError:
        return None  # the query has text that only Spark's lexer knows


def _words(text: str) -> list[str]:
    lexed = _lexed(text)
    return [] if lexed is None else _comparable(lexed)


def _comparable(lexed: Lexed) -> list[str]:
    """The tokens as texts that are equal where the tokens mean the same."""
    return [f"'{t.text}" if t.token_type is TokenType.STRING else t.text.lower() for t in lexed.tokens]


def _occurrences(lexed: Lexed, wanted: list[str]) -> list[int]:
    words = _comparable(lexed)
    return [i for i in range(len(words) - len(wanted) + 1) if words[i : i + len(wanted)] == wanted]
