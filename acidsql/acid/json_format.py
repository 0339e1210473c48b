"""The format of the lines of a table with JsonSerDe: one JSON object a row, with a key for each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.hive_types import Array, HiveType, Map, Struct, has_instant, is_complex, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition

JSON_SERDE: Final = "org.apache.hadoop.hive.serde2.JsonSerDe"
"""The SerDe of STORED AS JSONFILE."""
JSON_SERDES: Final = (JSON_SERDE, "org.apache.hive.hcatalog.data.JsonSerDe")
"""In Hive 4 the second class delegates to the first one."""
_NULL_EMPTY_LINES: Final = "text.null.empty.line"
_FIXED: Final = {
    "json.stringify.complex.fields": "true",
    "text.ignore.extra.fields": "true",
    "json.binary.format": "base64",
}
"""The other properties of JsonSerDe, with their defaults. acidsql knows no other values of them."""
_IGNORED: Final = "serialization.format"


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """`null_empty_lines`: whether an empty line is a row of NULLs. Otherwise it is an error."""

    null_empty_lines: bool = False


def json_format(row_format: Mapping[str, str], properties: Mapping[str, str]) -> JsonFormat:
    """The format that the SerDe properties and the table properties describe. Hive's SerDe sees both.

    Raises NOT_YET_SUPPORTED for other SerDe properties, and for values that acidsql does not know.

    >>> json_format({}, {"text.null.empty.line": "true"}).null_empty_lines
    True
    """
    given = {key: properties[key] for key in (_NULL_EMPTY_LINES, *_FIXED) if key in properties} | dict(row_format)
    for name, value in given.items():
        if name not in (_NULL_EMPTY_LINES, _IGNORED) and value.lower() != _FIXED.get(name):
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"The property {name}={value!r} of JsonSerDe")
    return JsonFormat(given.get(_NULL_EMPTY_LINES, "false").lower() == "true")


def check_json(table: Table) -> None:
    """Raises NOT_YET_SUPPORTED for properties and types of columns that acidsql cannot read or write as JSON."""
    json_format(table.row_format, table.properties)
    for column in table.columns:
        hive_type = parse_type(column.type)
        if has_instant(hive_type) or _has_complex_key(hive_type):
            feature = f"{column.type} ({column.name}) in a table with JsonSerDe ({table.qualified})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _has_complex_key(hive_type: HiveType) -> bool:
    match hive_type:
        case Array(element):
            return _has_complex_key(element)
        case Map(key, value):
            return is_complex(key) or _has_complex_key(value)
        case Struct(fields):
            return any(_has_complex_key(kind) for _, kind in fields)
        case _:
            return False
