"""SQL for the text of a row's partition value, by the same rule as acid/partition_values.py.

Each query that sends rows to partitions computes it before it sorts, counts or places them.
"""

from __future__ import annotations

from typing import Final

from acidsql.acid.hive_types import Char, Decimal, HiveType, Primitive, Varchar, parse_type
from acidsql.acid.partition_names import DEFAULT_PARTITION, ESCAPED, escape
from acidsql.acid.partition_values import HAS_NUL, NAME_BYTES, NOT_UTF8, SHOWN, TOO_LONG
from acidsql.acid.table import Column
from acidsql.errors import Condition
from acidsql.grammar.quoting import sql_string
from acidsql.planner.sql_errors import raise_sql
from acidsql.planner.stored_values.sized_text import padded

_ESCAPED_CLASS: Final = "[" + "".join(f"\\x{ord(c):02X}" for c in sorted(ESCAPED)) + "]"
"""A Java regular expression for the characters that are escaped in names of directories."""
_NUL: Final = "chr(0)"


def partition_text(value: str, column: Column) -> str:
    """The text for `value`, SQL of the column's type; NULL for the default partition.

    The SQL raises INVALID_PARTITION_VALUE for a value that cannot be part of a directory's name.
    """
    kind = parse_type(column.type)
    text = _text(value, kind)
    if not _is_text(kind):
        return text
    bare = f"rtrim({text})" if isinstance(kind, Char) else text
    is_default = f"{bare} = {sql_string(DEFAULT_PARTITION)} OR {text} = ''"
    return f"CASE WHEN {is_default} THEN CAST(NULL AS STRING) {_checks(text, column)} ELSE {text} END"


def _text(value: str, kind: HiveType) -> str:
    match kind:
        case Char(length):
            return padded(value, length)
        case Decimal(_, scale):
            return f"format_number({value}, {sql_string('0.' + '#' * scale if scale else '0')})"
        case _:
            return f"CAST({value} AS STRING)"


def _is_text(kind: HiveType) -> bool:
    """Whether the text of a value may be long or empty."""
    return isinstance(kind, Char | Varchar) or kind in (Primitive("string"), Primitive("binary"))


def _checks(text: str, column: Column) -> str:
    """The WHEN clauses that raise the error. They do not search a text that is short enough even if every character is
    escaped."""
    most = NAME_BYTES - len(f"{escape(column.name)}=".encode())
    escaped = f"octet_length(regexp_replace({text}, {sql_string(_ESCAPED_CLASS)}, '%00'))"
    before, behind = map(sql_string, TOO_LONG)
    reason = f"concat({before}, CAST({NAME_BYTES - most} + {escaped} AS STRING), {behind})"
    return (
        f"WHEN NOT is_valid_utf8({text}) THEN {_raised(text, column, sql_string(NOT_UTF8))}"
        f" WHEN octet_length({text}) > {max(most, 0) // 3} AND {escaped} > {most} THEN {_raised(text, column, reason)}"
        f" WHEN contains({text}, {_NUL}) THEN {_raised(text, column, sql_string(HAS_NUL))}"
    )


def _raised(text: str, column: Column, reason: str) -> str:
    shown = f"regexp_replace(substring({text}, 1, {SHOWN}), {sql_string(chr(92) + 'p{Cntrl}')}, '?')"
    return raise_sql(Condition.INVALID_PARTITION_VALUE, value=shown, column=sql_string(column.name), reason=reason)
