"""Syntax errors in plain words, with their place under the right token."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokenizer_core import Token, TokenType

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.dialect import AS_OF_WORDS, CHANGES_WORDS, MisreadError
from acidsql.grammar.lexer import Lexed, is_word
from acidsql.similar_names import similar_names

_SHOWN = {
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "EQUAL": "'='",
    "DOT": "'.'",
    "STAR": "'*'",
    "OPERATOR": "a comparison",
    "ID": "a name",
    "STRING": "a string",
    "NUMBER": "a number",
    "EXPR": "an expression",
    "OPERAND": "a value",
    "QUERY": "a query",
    "ROWS": "VALUES",
    "RELATION": "a table",
    "COLUMN_TYPE": "a type",
    "SETTING": "name=value",
    "FROM_SOURCE": "FROM",
    "CTES": "WITH",
    "$END": "the end",
}
_QUERY_WORDS = frozenset({"SELECT", "VALUES", "WITH", "FROM"})
# Words that may follow the parts of a query. A misspelt one is read as an alias, so the error is at the next token.
_CLAUSES = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "HAVING",
    "LIMIT",
    "JOIN",
    "LEFT",
    "RIGHT",
    "INNER",
    "OUTER",
    "CROSS",
    "UNION",
    "DISTINCT",
    "BETWEEN",
    "LIKE",
    "WHEN",
    "THEN",
    "ELSE",
    "VALUES",
    "EXISTS",
    "LATERAL",
    "PARTITION",
    "WINDOW",
    "CLUSTER",
    "DISTRIBUTE",
    "OFFSET",
    "INTERSECT",
    "EXCEPT",
    "INTO",
    "TABLE",
    "SET",
]
_BY_WORDS = frozenset({"GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"})
_BEFORE_NAMES = frozenset({"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "USING", ".", "AS", ",", "("})
_MOST_SHOWN = 5
_CHANGES = [(*CHANGES_WORDS, kind) for kind in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME")]


def syntax_error(lexed: Lexed, index: int, accepted: Iterable[str], previous: int) -> AcidSqlError:
    """The error for the unexpected token `index`; `accepted` are the terminals that the grammar allows there.

    `previous` is where the terminal before it began: if sqlglot read it, a misspelt keyword may hide at its end.
    """
    if (version := _misplaced_version(lexed, index)) is not None:
        return version
    terminals = {kind.lstrip("_") for kind in accepted}
    words = {kind.replace("_", " ") for kind in terminals if kind not in _SHOWN}
    if "QUERY" in terminals:
        words |= _QUERY_WORDS
    guilty = _misspelt(lexed, max(previous, 0), index, sorted(words))
    if guilty is not None:
        return _error(lexed, guilty[0], f"did you mean {guilty[1]}?")
    if index > 0 and lexed.tokens[index - 1].text.upper() in _BY_WORDS:
        return _error(lexed, index, f"expected BY after {lexed.tokens[index - 1].text}")
    return _error(lexed, index, _expected(terminals, words - _QUERY_WORDS if "QUERY" in terminals else words))


def misread_error(lexed: Lexed, error: MisreadError) -> AcidSqlError:
    """The error of sqlglot's parser, under the token where it stopped or the misspelt keyword before that."""
    if (version := _misplaced_version(lexed, error.index)) is not None:
        return version
    guilty = _misspelt(lexed, max(error.index - 2, 0), error.index, [])
    if guilty is not None:
        return _error(lexed, guilty[0], f"did you mean {guilty[1]}?")
    return _error(lexed, error.index, _plain(error.description))


def _misplaced_version(lexed: Lexed, index: int) -> AcidSqlError | None:
    """The error for a VERSION AS OF or CHANGES FROM whose words are around the unexpected token: behind the target of a
    statement, an alias or a subquery. VERSION, FOR and CHANGES may have been read as an alias."""
    words = [token.text.upper() for token in lexed.tokens[: index + 3]]
    if words[0] == "RESTORE":
        return None
    for start in range(max(index - 1, 0), index + 1):
        for phrase in (*AS_OF_WORDS, *_CHANGES):
            if tuple(words[start : start + len(phrase)]) == phrase:
                what = "a version stands" if phrase in AS_OF_WORDS else "CHANGES FROM stands"
                return _error(lexed, start, f"{what} directly behind the name of a table that is only read")
    return None


def star_alias_error(alias: Span) -> AcidSqlError:
    """The error for `* name`, which is mostly a misspelt FROM."""
    near = _near(alias.text.upper(), _CLAUSES)
    detail = f"did you mean {near}?" if near else "* has no alias"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=alias, message=f"Syntax error near '{alias.text}': {detail}")


def _misspelt(lexed: Lexed, first: int, last: int, words: list[str]) -> tuple[int, str] | None:
    """A word that is nearly a keyword: the unexpected token itself, or one just before it."""
    for index in range(min(last, len(lexed.tokens) - 1), max(first, last - 3) - 1, -1):
        token = lexed.tokens[index]
        if not is_word(token) or token.token_type is not TokenType.VAR or _names_a_table(lexed, index):
            continue
        known = [words] if index == last and words else [words, _CLAUSES]
        near = next(filter(None, (_near(token.text.upper(), some) for some in known)), None)
        if near is not None:
            return index, near
    return None


def _names_a_table(lexed: Lexed, index: int) -> bool:
    return index > 0 and lexed.tokens[index - 1].text.upper() in _BEFORE_NAMES


def _near(word: str, known: Iterable[str]) -> str | None:
    """The keyword that the word misspells: a similar one, or the same letters in another order."""
    if len(word) < 3:
        return None
    candidates = list(known)
    if word in candidates:
        return None
    swapped = [keyword for keyword in candidates if sorted(keyword) == sorted(word)]
    return next(iter(swapped or similar_names(word, candidates, most=1, cutoff=0.7)), None)


def _expected(terminals: set[str], words: set[str]) -> str:
    shown = [_SHOWN[kind] for kind in sorted(terminals & _SHOWN.keys())] + sorted(words)
    if not shown or len(shown) > _MOST_SHOWN:
        return ""
    return "expected " + (" or ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else shown[0])


def _plain(description: str) -> str:
    if description.startswith("Expecting "):
        return f"expected '{description.removeprefix('Expecting ')}'"
    if description.startswith("Expected "):
        return description[0].lower() + description[1:].split(" but got")[0]
    return "" if description[:1].isupper() else description


def _error(lexed: Lexed, index: int, detail: str) -> AcidSqlError:
    where = f" near '{_shown(lexed, lexed.tokens[index])}'" if index < len(lexed.tokens) else " at the end"
    message = f"Syntax error{where}" + (f": {detail}" if detail else "")
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=lexed.span(index), message=message)


def _shown(lexed: Lexed, token: Token) -> str:
    text = lexed.source[token.start : token.end + 1]
    return text if len(text) <= 40 else text[:37] + "..."
