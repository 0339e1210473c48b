"""The format of the lines of a text table, from the properties of LazySimpleSerDe (LazySerDeParameters)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar, is_complex, parse_type
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition

SERDES: Final = {
    "orc": "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    "parquet": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    "textfile": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
}
"""Hive's SerDe for each file format."""
LEVELS: Final = 8
"""The number of nested levels: fields, items, keys, and deeper ones."""
HEADER_LINES: Final = "skip.header.line.count"
FOOTER_LINES: Final = "skip.footer.line.count"
_NULL: Final = "serialization.null.format"
_ESCAPE: Final = "escape.delim"
_LINE: Final = "line.delim"
_FIELDS: Final = ("field.delim", "serialization.format")
_ITEMS: Final = ("collection.delim", "colelction.delim")
"""The spelling of Hive 4, and the misspelling of earlier versions."""
_KEYS: Final = ("mapkey.delim",)
_KNOWN: Final = frozenset((_NULL, _ESCAPE, _LINE, *_FIELDS, *_ITEMS, *_KEYS))


@dataclass(frozen=True, slots=True)
class TextFormat:
    """`separators` has one character for each level of nesting, beginning with the one between columns."""

    separators: tuple[str, ...]
    null: str = "\\N"
    escape: str | None = None


def text_format(row_format: Mapping[str, str]) -> TextFormat:
    r"""The format that the SerDe properties describe.

    Raises NOT_YET_SUPPORTED for properties that ROW FORMAT DELIMITED cannot set.

    >>> text_format({"field.delim": ",", "escape.delim": "\\"}).separators[:2]
    (',', '\x02')
    """
    for name, value in row_format.items():
        if name not in _KNOWN or (name == _LINE and value not in ("\n", "10")):
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"The SerDe property {name}={value!r}")
    given = (_FIELDS, _ITEMS, _KEYS)
    first = tuple(_sign(_first(row_format, names), chr(level + 1)) for level, names in enumerate(given))
    deeper = tuple(chr(level + 1) for level in range(len(first), LEVELS))
    escape = _sign(row_format[_ESCAPE], "\\") if _ESCAPE in row_format else None
    return TextFormat((*first, *deeper), row_format.get(_NULL, "\\N"), escape)


def _first(row_format: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((row_format[name] for name in names if name in row_format), None)


def _sign(text: str | None, default: str) -> str:
    """The separator that a property means: the byte of a number, else the first character (LazyUtils.getByte)."""
    if not text:
        return default
    number = text.removeprefix("-")
    sign = chr(int(text)) if number.isdecimal() and 0 <= int(text) < 128 else text[0]
    if ord(sign) > 127 or (number.isdecimal() and not 0 <= int(text) < 128 and len(text) > 1):
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"The separator {text!r}")
    return sign


def check_types(table: Table) -> None:
    """Raises NOT_YET_SUPPORTED if acidsql cannot read or write the text files of the table."""
    text_format(table.row_format)
    for column in table.columns:
        if not _is_known(parse_type(column.type), 1):
            feature = f"{column.type} ({column.name}) in a table stored as textfile ({table.qualified})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def header_lines(table: Table) -> int:
    """The number of header lines at the beginning of each file."""
    return _lines(table, HEADER_LINES)


def footer_lines(table: Table) -> int:
    """The number of footer lines at the end of each file."""
    return _lines(table, FOOTER_LINES)


def _lines(table: Table, name: str) -> int:
    count = table.properties.get(name, "0")
    return int(count) if count.isdecimal() else 0


def _is_known(hive_type: HiveType, level: int) -> bool:
    match hive_type:
        case Array(element):
            return _is_known(element, level + 1)
        case Map(key, value):
            return not is_complex(key) and _is_known(key, level + 2) and _is_known(value, level + 2)
        case Struct(fields):
            return all(_is_known(kind, level + 1) for _, kind in fields)
        case _:
            return level <= LEVELS and hive_type != Primitive("timestamp with local time zone")


def is_text(hive_type: HiveType) -> bool:
    return isinstance(hive_type, Char | Varchar) or hive_type == Primitive("string")


def sign_class(signs: Sequence[str]) -> str:
    """A regular expression that matches one of the characters."""
    return "[" + "".join(f"\\x{{{ord(sign):x}}}" for sign in signs) + "]"
