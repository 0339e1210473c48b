"""Errors inside a Spark job: SQL that raises one, and the conversion of its message back to an AcidSqlError."""

from __future__ import annotations

import re
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import sql_string

_MARK: Final = "acidsql-error"
# The plan that Spark prints for a query which it cannot analyse contains the call of raise_error. It does not match,
# because commas separate the parts of the message there.
_MESSAGE: Final = re.compile(rf"{_MARK}\|([A-Z_0-9]+)\|((?:\w+=[^\x1f]*\x1f)*)\|{_MARK}")


def raise_sql(condition: Condition, **parameters: str) -> str:
    """SQL that fails the job with `condition`; each parameter is an SQL expression for its text."""
    parts = [sql_string(f"{_MARK}|{condition.name}|")]
    for name, expression in parameters.items():
        parts += [sql_string(f"{name}="), expression, sql_string("\x1f")]
    parts.append(sql_string(f"|{_MARK}"))
    return f"raise_error(concat({', '.join(parts)}))"


def find_raised(message: str) -> AcidSqlError | None:
    """The error of `raise_sql` in the message of a failed job; None without one."""
    found = _MESSAGE.search(message)
    if found is None:
        return None
    pairs = (item.partition("=") for item in found.group(2).split("\x1f") if item)
    parameters: dict[str, str] = {name: value for name, _, value in pairs}
    return AcidSqlError.of(Condition[found.group(1)], parameters)
