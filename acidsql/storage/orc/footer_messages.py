"""The messages in the footer of an ORC file: field numbers, types and names of columns.

This is code of our own because pyorc and pyarrow read these messages and cannot change them in a file that exists.
Source: the ORC v1 specification, "File Tail"; orc_proto.proto for the field numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from acidsql.storage.orc.protobuf import BYTES, VARINT, Field, decode, read_varint

KIND_INT: Final = 3
KIND_LONG: Final = 4
KIND_TIMESTAMP: Final = 9
KIND_VARCHAR: Final = 16
KIND_CHAR: Final = 17
KIND_STRUCT: Final = 12
KIND_TIMESTAMP_INSTANT: Final = 18
_QUOTED: Final = re.compile(r"`((?:[^`]|``)+)`(?!`)")
"""A name in backticks, and text behind it that ORC's readers ignore."""

# orc_proto.PostScript
PS_FOOTER_LENGTH: Final = 1
PS_COMPRESSION: Final = 2
PS_BLOCK_SIZE: Final = 3
PS_METADATA_LENGTH: Final = 5
# orc_proto.Footer
FOOTER_CONTENT_LENGTH: Final = 2
FOOTER_STRIPES: Final = 3
FOOTER_TYPES: Final = 4
FOOTER_METADATA: Final = 5
FOOTER_ROWS: Final = 6
FOOTER_STATISTICS: Final = 7
FOOTER_INDEX_STRIDE: Final = 8
FOOTER_ENCRYPTION: Final = 10
FOOTER_CALENDAR: Final = 11
# orc_proto.StripeInformation
STRIPE_OFFSET: Final = 1
STRIPE_INDEX_LENGTH: Final = 2
STRIPE_DATA_LENGTH: Final = 3
STRIPE_FOOTER_LENGTH: Final = 4
STRIPE_ROWS: Final = 5
# orc_proto.Type
TYPE_KIND: Final = 1
TYPE_SUBTYPES: Final = 2
TYPE_FIELD_NAMES: Final = 3
TYPE_MAXIMUM_LENGTH: Final = 4
TYPE_PRECISION: Final = 5
TYPE_SCALE: Final = 6
TYPE_ATTRIBUTES: Final = 7

SPARK_TYPE: Final = Field(TYPE_ATTRIBUTES, BYTES, b"\x0a\x17spark.sql.catalyst.type\x12\x0dtimestamp_ltz")
"""The attribute by which Spark knows a type, a StringPair of key (1) and value (2). The value is not `timestamp`, which
is another type in a session with spark.sql.timestampType=TIMESTAMP_NTZ."""


@dataclass(frozen=True, slots=True)
class OrcType:
    """orc_proto.Type. `subtypes` are numbers of columns, `names` are the fields of a struct."""

    kind: int
    subtypes: tuple[int, ...]
    names: tuple[str, ...]
    length: int
    precision: int
    scale: int


@lru_cache(maxsize=4096)
def orc_type(message: bytes) -> OrcType:
    """Cached: most files of a table have the same columns."""
    fields = decode(message)
    numbers = {f.number: f.value for f in fields}
    names = tuple(f.bytes.decode() for f in fields if f.number == TYPE_FIELD_NAMES)
    length, precision, scale = (number_of(numbers, n) for n in (TYPE_MAXIMUM_LENGTH, TYPE_PRECISION, TYPE_SCALE))
    return OrcType(number_of(numbers, TYPE_KIND), tuple(subtypes(fields)), names, length, precision, scale)


def number_of(numbers: Mapping[int, int | bytes], key: int) -> int:
    value = numbers.get(key, 0)
    return value if isinstance(value, int) else 0


def field_names(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(f.bytes.decode() for f in fields if f.number == TYPE_FIELD_NAMES)


def subtypes(fields: Sequence[Field]) -> list[int]:
    """The numbers of the child columns: packed in one field, or one field each in old files."""
    found: list[int] = []
    for f in fields:
        if f.number == TYPE_SUBTYPES:
            found += _packed(f.value) if isinstance(f.value, bytes) else [f.value]
    return found


def _packed(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        found.append(value)
    return found


def is_instant(fields: tuple[Field, ...]) -> bool:
    return Field(TYPE_KIND, VARINT, KIND_TIMESTAMP_INSTANT) in fields


def name_as_written(name: str) -> str:
    """The name of a field as a footer must have it for ORC's readers to give it again (OrcUtils.convertTypeFromProtobuf
    puts backticks around a name, if it has none, and ParserUtils.parseName ends it at the first single one).

    >>> name_as_written("a b"), name_as_written("a`b")
    ('a b', '`a``b`')
    """
    return "`" + name.replace("`", "``") + "`" if "`" in name else name


def name_as_read(written: str) -> str:
    """The name that ORC's readers give a field of a footer; '' if they fail.

    >>> name_as_read("a b"), name_as_read("`a``b`"), name_as_read("a`b"), name_as_read("`")
    ('a b', 'a`b', 'a', '')
    """
    quoted = written if written.startswith("`") else f"`{written}`"
    found = _QUOTED.match(quoted)
    return found.group(1).replace("``", "`") if found else ""
