"""The format of the lines of a table with RegexSerDe: a column for each group of a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acidsql.acid.hive_types import Primitive, has_instant, is_complex, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition

REGEX_SERDE: Final = "org.apache.hadoop.hive.serde2.RegexSerDe"
_REGEX: Final = "input.regex"
_ANY_CASE: Final = "input.regex.case.insensitive"
_IGNORED: Final = ("serialization.format", "output.format.string")
"""Hive does not read them."""


def line_pattern(row_format: Mapping[str, str], properties: Mapping[str, str]) -> str:
    r"""A regular expression of Java that matches whole lines, with the groups of the table's. Hive's SerDe sees the
    table properties too.

    Raises INVALID_TABLE_PROPERTIES without one, and NOT_YET_SUPPORTED for other SerDe properties.

    >>> line_pattern({"input.regex": "(a|b)-(.*)"}, {})
    '(?s)\\A(?:(a|b)-(.*))\\z'
    """
    for name, value in row_format.items():
        if name not in (_REGEX, _ANY_CASE, *_IGNORED):
            raise AcidSqlError(
                Condition.NOT_YET_SUPPORTED, feature=f"The SerDe property {name}={value!r} of RegexSerDe"
            )
    given = {**properties, **row_format}
    if _REGEX not in given:
        message = 'This table does not have serde property "input.regex"!'
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, message=message)
    flags = "si" if given.get(_ANY_CASE, "").lower() == "true" else "s"
    return rf"(?{flags})\A(?:{given[_REGEX]})\z"


def check_regex(table: Table) -> None:
    """Raises INVALID_TABLE_PROPERTIES for what RegexSerDe refuses, and what `line_pattern` raises."""
    line_pattern(table.row_format, table.properties)
    for place, column in enumerate(table.columns):
        hive_type = parse_type(column.type)
        if is_complex(hive_type) or has_instant(hive_type) or hive_type == Primitive("binary"):
            message = f"{REGEX_SERDE} doesn't allow column [{place}] named {column.name} with type {column.type}"
            raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, message=message)
