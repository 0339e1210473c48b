"""The text after SET: `key=value`, `key`, `-v` or `AUTOCOMMIT TRUE`. A value may hold anything, as in Hive."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.lexer import Lexed

_SETTING = re.compile(r"(?:([^\s=;][^=;]*?)\s*)?(?:(=)\s*(.*?)\s*)?", re.DOTALL)
_AUTOCOMMIT = re.compile(r"autocommit\s+(\S+)", re.IGNORECASE)
_SHOW_ALL = "-v"
_NAME_AND_VALUE = "SET name=value"


@dataclass(frozen=True, slots=True)
class Setting:
    """`key` is None where all settings are shown, `value` where one or all are shown."""

    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Autocommit:
    """The end of SET AUTOCOMMIT TRUE or FALSE."""

    on: bool


def read_setting(lexed: Lexed, index: int) -> Setting | Autocommit:
    """Reads everything from the token `index` to the statement's end. Raises PARSE_SYNTAX_ERROR."""
    text = lexed.source[lexed.tokens[index].start : lexed.end]
    autocommit = _AUTOCOMMIT.fullmatch(text.strip())
    if autocommit is not None:
        if autocommit[1].upper() not in ("TRUE", "FALSE"):
            raise _wrong(lexed.span(index + 1), "SET AUTOCOMMIT TRUE or SET AUTOCOMMIT FALSE")
        return Autocommit(autocommit[1].upper() == "TRUE")
    match = _SETTING.fullmatch(text)
    if match is None or (match[1] is None and match[2]):
        raise _wrong(lexed.span(index), _NAME_AND_VALUE)
    key = match[1]
    if key is not None and any(character.isspace() for character in key):
        raise _wrong(lexed.span(index + 1), _NAME_AND_VALUE)
    return Setting(None if key == _SHOW_ALL else key, match[3] if match[2] else None)


def _wrong(place: Span, expected: str) -> AcidSqlError:
    message = f"Syntax error near '{place.text}': expected {expected}"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=place, message=message)
