"""The PARTITION clause of an INSERT for a mapping of values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from numbers import Real

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.grammar.variable_substitution import without_variables


def partition_clause(values: Mapping[str, object], table: Table | None) -> str:
    """The clause with these values as literals. The other partition columns of the table are dynamic.

    Raises INVALID_PARAMETER for a value that no partition has.
    """
    if not values:
        return ""
    if not isinstance(values, Mapping):
        reason = f"it is a {type(values).__name__}: give a dict of partition columns and their values"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="partition", reason=reason)
    given = [f"{name_sql(name.lower())} = {_literal(name, value)}" for name, value in values.items()]
    static = {name.lower() for name in values}
    columns = () if table is None else table.partition_columns
    dynamic = [name_sql(column.name) for column in columns if column.name not in static]
    return f" PARTITION ({', '.join((*given, *dynamic))})"


def _literal(name: str, value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case Real() | Decimal():
            return _quoted(str(value))
        case datetime() if value.tzinfo is None:
            return _quoted(value.isoformat(sep=" "))
        case date() if not isinstance(value, datetime):
            return _quoted(value.isoformat())
        case _:
            reason = f"{value!r} is not a value of the partition column {name}"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="partition", reason=reason)


def _quoted(text: str) -> str:
    """A string literal in which nothing looks like a variable (`${name}`)."""
    return without_variables(sql_string(text))
