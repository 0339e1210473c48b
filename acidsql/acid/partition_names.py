"""Partition names: `p=a/q=b`, escaped as Hive escapes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from acidsql.acid.hive_types import Char, HiveType, Primitive, Varchar, parse_type

DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
"""The directory name for NULL and for the empty string (hive.exec.default.partition.name)."""

ESCAPED: Final = frozenset("\"#%'*/:=?\\{[]^\x7f") | {chr(c) for c in range(1, 0x20)}
"""org.apache.hadoop.hive.common.FileUtils.charToEscape."""
_HEX: Final = re.compile(r"%([0-9A-Fa-f]{2})")


def escape(text: str) -> str:
    """Escapes a column name or value for use in a path.

    >>> escape("a/b=c d")
    'a%2Fb%3Dc d'
    """
    return "".join(f"%{ord(c):02X}" if c in ESCAPED else c for c in text)


def unescape(text: str) -> str:
    """Reverses `escape`.

    >>> unescape("a%2Fb")
    'a/b'
    """
    return _HEX.sub(lambda found: chr(int(found.group(1), 16)), text)


def partition_name(names: Sequence[str], values: Sequence[str | None]) -> str:
    """The path of a partition relative to the directory of its table.

    >>> partition_name(["p", "q"], ["a", None])
    'p=a/q=__HIVE_DEFAULT_PARTITION__'
    """
    return "/".join(f"{escape(n)}={escape(v) if v else DEFAULT_PARTITION}" for n, v in zip(names, values, strict=True))


def parse_partition_name(path: str, names: Sequence[str]) -> tuple[str | None, ...] | None:
    """The values in the path of a partition, or None if the path does not belong to these partition columns."""
    parts = [part.partition("=") for part in path.split("/")]
    if [unescape(name).lower() for name, _, _ in parts] != list(names) or not all(sign for _, sign, _ in parts):
        return None
    return tuple(None if value == DEFAULT_PARTITION else unescape(value) for _, _, value in parts)


def value_as_read(value: str | None, hive_type: str) -> str | None:
    """The value of a partition column as queries see it.

    The default partition of a STRING column reads as its name, and that of other columns as NULL, as in Hive 4.0.1
    (tests/golden/partitioned_dynamic). For a VARCHAR or CHAR that is too short for the name, Hive shows the beginning
    of the name, and an INSERT OVERWRITE of the partition with its own rows then doubles them (into `c=__H`). acidsql
    reads NULL there. The name of a partition contains the padding of a CHAR, but the value is read without it, like a
    CHAR in a file (spark/scan/file_columns.py).

    >>> value_as_read(None, "string"), value_as_read(None, "int"), value_as_read(None, "varchar(3)")
    ('__HIVE_DEFAULT_PARTITION__', None, None)
    >>> value_as_read("ab  ", "char(4)")
    'ab'
    """
    if value is None:
        return DEFAULT_PARTITION if _holds_name(parse_type(hive_type)) else None
    return value.rstrip(" ") if hive_type.startswith("char") else value


def _holds_name(hive_type: HiveType) -> bool:
    match hive_type:
        case Char(length) | Varchar(length):
            return length >= len(DEFAULT_PARTITION)
        case _:
            return hive_type == Primitive("string")
