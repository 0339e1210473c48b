"""Names and texts as Spark SQL writes them."""

from __future__ import annotations


def name_sql(name: str) -> str:
    """A quoted identifier.

    >>> name_sql(":row_id")
    '`:row_id`'
    """
    return "`" + name.replace("`", "``") + "`"


def sql_string(text: str) -> str:
    """A Spark SQL string literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"
