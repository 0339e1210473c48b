"""SQL for Spark 3.5: what acidsql's own SQL takes from Spark 4, in words that Spark 3.5 has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql

_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`"
_CALL: Final = re.compile(rf"{_QUOTED}|\b(is_valid_utf8|make_valid_utf8|quote)\(", re.DOTALL)
_QUALIFIES: Final = "__acidsql_qualifies"
_QUALIFY: Final = re.compile(rf"{_QUOTED}|(\* EXCEPT \(`{_QUALIFIES}`\)) FROM \(", re.DOTALL)
"""How a query with QUALIFY is written (grammar/dialect.py)."""
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


def with_spelled_stars(sql: str, columns_of: Callable[[str], Sequence[str]]) -> str:
    """The SQL in which each query with QUALIFY names its columns; `columns_of` gives those of a query.

    Raises NOT_YET_SUPPORTED where two columns of such a query have one name.

    >>> with_spelled_stars("SELECT * EXCEPT (`__acidsql_qualifies`) FROM (SELECT 1 AS a) AS _t", lambda query: ["a"])
    'SELECT `_t`.`a` FROM (SELECT 1 AS a) AS _t'
    """
    places = [found for found in _QUALIFY.finditer(sql) if found[1]]
    for found in reversed(places):  # a query in another one begins behind it
        inner = sql[found.end() : _end_of_call(sql, found.end())]
        names = [name for name in columns_of(inner) if name != _QUALIFIES]
        if len(Counter(map(str.lower, names))) < len(names):
            hint = "Give each column a name of its own."
            feature = "QUALIFY with two columns of one name, on Spark 3.5,"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature, hint=hint)
        spelled = ", ".join(f"`_t`.{name_sql(name)}" for name in names)
        sql = sql[: found.start(1)] + spelled + sql[found.end(1) :]
    return sql


def _end_of_call(sql: str, start: int) -> int:
    """The place of the bracket that closes a call, whose argument begins at `start`."""
    depth = 1
    for found in _BRACKETS.finditer(sql, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return len(sql)
