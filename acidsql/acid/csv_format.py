"""The format of the lines of a table with OpenCSVSerde, from its SerDe properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.errors import AcidSqlError, Condition

CSV_SERDE: Final = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
_SEPARATOR: Final = "separatorChar"
_QUOTE: Final = "quoteChar"
_ESCAPE: Final = "escapeChar"
_IGNORED: Final = "serialization.format"
_READER_ESCAPE: Final = "\\"
"""The escape character of opencsv's parser. OpenCSVSerde leaves it as it is where `escapeChar` is a double quote."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """The characters of a line. With `doubles_quotes`, a written quote is doubled and nothing else is escaped."""

    separator: str
    quote: str
    escape: str
    doubles_quotes: bool


def csv_format(row_format: Mapping[str, str]) -> CsvFormat:
    """Raises NOT_YET_SUPPORTED for other properties, and for characters that are not different from each other.

    >>> csv_format({"separatorChar": "\\t"}).quote
    '"'
    """
    for name in row_format:
        if name not in (_SEPARATOR, _QUOTE, _ESCAPE, _IGNORED):
            feature = f"The SerDe property {name} of OpenCSVSerde"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    separator, quote, escape = (
        (row_format.get(name) or default)[0] for name, default in ((_SEPARATOR, ","), (_QUOTE, '"'), (_ESCAPE, '"'))
    )
    form = CsvFormat(separator, quote, _READER_ESCAPE if escape == '"' else escape, escape == '"')
    signs = (form.separator, form.quote, form.escape)
    if len(set(signs)) < len(signs) or any(ord(sign) > 127 or sign in "\0\r\n" for sign in signs):
        feature = f"OpenCSVSerde with the characters {', '.join(map(repr, signs))}"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    return form
