"""The text after SET: `key=value`, `key` or `-v`. The value is raw text, as in Hive: it may hold anything."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.lexer import Lexed

_SETTING = re.compile(r"(?:([^\s=;][^=;]*?)\s*)?(?:(=)\s*(.*?)\s*)?", re.DOTALL)
_SHOW_ALL = "-v"


@dataclass(frozen=True, slots=True)
class Setting:
    """`key` is None where all settings are shown, `value` where one or all are shown."""

    key: str | None
    value: str | None


def read_setting(lexed: Lexed, index: int) -> Setting:
    """Reads everything from the token `index` to the statement's end. Raises PARSE_SYNTAX_ERROR."""
    match = _SETTING.fullmatch(lexed.source[lexed.tokens[index].start : lexed.end])
    if match is None or (match[1] is None and match[2]):
        raise _not_a_setting(lexed.span(index))
    key = match[1]
    if key is not None and any(character.isspace() for character in key):
        raise _not_a_setting(lexed.span(index + 1))
    return Setting(None if key == _SHOW_ALL else key, match[3] if match[2] else None)


def _not_a_setting(place: Span) -> AcidSqlError:
    message = f"Syntax error near '{place.text}': expected SET name=value"
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=place, message=message)
