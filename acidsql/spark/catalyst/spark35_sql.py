"""SQL for Spark 3.5: functions of Spark 4 that acidsql's own SQL calls, as expressions that Spark 3.5 has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`"
_CALL: Final = re.compile(rf"{_QUOTED}|\b(is_valid_utf8|make_valid_utf8|quote)\(", re.DOTALL)
_BRACKETS: Final = re.compile(rf"{_QUOTED}|[()]", re.DOTALL)

# A text that Java's String has replaced malformed bytes in. Spark 4's functions give the same.
_FORMED: Final = "format_string('%s', {0})"
_INSTEAD: Final[Mapping[str, Callable[[str], str]]] = {
    "is_valid_utf8": lambda text: f"({text} = {_FORMED.format(text)})",
    "make_valid_utf8": lambda text: f"(CASE WHEN {text} IS NOT NULL THEN {_FORMED.format(text)} END)",
    "quote": lambda text: rf"concat('\'', replace({text}, '\'', '\\\''), '\'')",
}


def in_spark35(sql: str) -> str:
    """The SQL without the functions that Spark 3.5 lacks. Texts in quotes stay as they are.

    >>> in_spark35("is_valid_utf8(f(a, ')')) OR b = 'is_valid_utf8('")
    "(f(a, ')') = format_string('%s', f(a, ')'))) OR b = 'is_valid_utf8('"
    """
    found = next((call for call in _CALL.finditer(sql) if call[1]), None)
    if found is None:
        return sql
    end = _end_of_call(sql, found.end())
    argument = in_spark35(sql[found.end() : end])
    return sql[: found.start()] + _INSTEAD[found[1]](argument) + in_spark35(sql[end + 1 :])


def _end_of_call(sql: str, start: int) -> int:
    """The place of the bracket that closes a call, whose argument begins at `start`."""
    depth = 1
    for found in _BRACKETS.finditer(sql, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return len(sql)
