"""The text of a value in the name of a partition.

A partition is identified by its name, so equal values must have equal texts. `normal_value` normalizes a value that is
known as text: a literal, a directory name, or a value in the catalog. `planner/stored_values/partition_text.py` has the
same rule as SQL, for the values of rows.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal as Number
from typing import Final, TypeAlias

from acidsql.acid.hive_types import Char, Decimal, HiveType, Primitive, parse_type
from acidsql.acid.partition_names import DEFAULT_PARTITION, escape, partition_name
from acidsql.acid.table import Column
from acidsql.errors import AcidSqlError, Condition, Span

PartitionValues: TypeAlias = tuple[str | None, ...]
"""The texts of the values of a partition. None stands for the default partition."""
NAME_BYTES: Final = 255
"""The longest directory name, in bytes of UTF-8, on Linux and HDFS (dfs.namenode.fs-limits.max-component-length)."""
HAS_NUL: Final = "it has a NUL character"
NOT_UTF8: Final = "it is not UTF-8"
TOO_LONG: Final = ("its name would have ", f" bytes, and {NAME_BYTES} are possible")
"""The text before and after the size in the error."""
SHOWN: Final = 30
"""How many characters of a value an error shows."""
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?Infinity|NaN", re.ASCII)
_TIMESTAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d+)", re.ASCII)


def normal_value(value: str | None, hive_type: HiveType) -> str | None:
    """The text of a value in the names that Hive 4.0.1 gives to partitions (tests/golden/partition_types).

    A text that is not a value of the type is returned unchanged.

    >>> normal_value("1.50", Decimal(10, 2)), normal_value("007", Primitive("int")), normal_value("ab", Char(4))
    ('1.5', '7', 'ab  ')
    >>> normal_value("", Primitive("string")), normal_value(DEFAULT_PARTITION, Primitive("string"))
    (None, None)
    """
    if isinstance(hive_type, Char):
        stripped = None if value is None else value.rstrip(" ")
        return None if stripped in (None, DEFAULT_PARTITION) else stripped.ljust(hive_type.length)
    return None if not value or value == DEFAULT_PARTITION else _normal(value, hive_type)


def catalog_order(values: PartitionValues) -> list[tuple[bool, str]]:
    """The sort key by which a catalog orders its partitions: by their texts, behind the default partition."""
    return [(value is not None, value or "") for value in values]


def by_normal_values(
    known: Collection[PartitionValues], columns: Sequence[Column]
) -> dict[PartitionValues, PartitionValues]:
    """The values of known partitions by their normal texts. If one value has several spellings, the normal one wins."""
    types = [parse_type(c.type) for c in columns]
    found = {tuple(map(normal_value, values, types)): values for values in known}
    return found | {values: values for values in known}


def as_known(
    values: PartitionValues, columns: Sequence[Column], known: Collection[PartitionValues]
) -> PartitionValues | None:
    """The values in the spelling of the known partition (such as `q=01`), or None if the partition is new."""
    return values if values in known else by_normal_values(known, columns).get(values)


def check_own_place(
    location: str, columns: Sequence[Column], known: Mapping[str, PartitionValues], span: Span | None = None
) -> None:
    """Raises LOCATION_NOT_EMPTY if another partition has the directory: both would show the rows of both.

    `known` maps locations to partitions.
    """
    if location in known:
        name = partition_name([c.name for c in columns], known[location])
        reason = f"it is the directory of the partition {name}"
        hint = "Add the partition with a LOCATION of its own first."
        raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, span=span, hint=hint, path=location, reason=reason)


def check_names(values: Sequence[str | None], columns: Sequence[Column], span: Span | None) -> None:
    """Raises INVALID_PARTITION_VALUE for a value that cannot be part of a directory name."""
    for value, column in zip(values, columns, strict=True):
        if value is None:
            continue
        size = len(f"{escape(column.name)}={escape(value)}".encode(errors="replace"))
        if "\0" not in value and size <= NAME_BYTES:
            continue
        reason = HAS_NUL if "\0" in value else str(size).join(TOO_LONG)
        shown = "".join(c if c.isprintable() else "?" for c in value[:SHOWN])
        raise AcidSqlError(Condition.INVALID_PARTITION_VALUE, span=span, value=shown, column=column.name, reason=reason)


# ------------------------------------------------------------------------------------------------ types


def _normal(value: str, hive_type: HiveType) -> str:
    match hive_type:
        case Primitive(name) if name in _INTEGERS and _INTEGER.fullmatch(value):
            return str(int(value))
        case Decimal() if NUMBER.fullmatch(value) and Number(value).is_finite():
            return _plain(Number(value))
        case Primitive("double") if NUMBER.fullmatch(value):
            return _java_text(float(value), repr(float(value)))
        case Primitive("float") if NUMBER.fullmatch(value):
            return _java_text(*_as_float(float(value)))
        case Primitive("boolean"):
            return value.lower()
        case Primitive(name) if name.startswith("timestamp") and (found := _TIMESTAMP.fullmatch(value)):
            fraction = found[2].rstrip("0")
            return f"{found[1]}.{fraction}" if fraction else found[1]
        case _:
            return value


def _plain(number: Number) -> str:
    """A number without exponent and without trailing zeros."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _as_float(number: float) -> tuple[float, str]:
    """The nearest FLOAT to a number, and the shortest digits that identify it."""
    try:
        single = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        single = float("inf") if number > 0 else float("-inf")
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    return single, next((t for t in texts if struct.pack("f", float(t)) == struct.pack("f", single)), repr(single))


def _java_text(number: float, digits: str) -> str:
    """A number in the format of Java's Double.toString. `digits` are its shortest digits.

    >>> [_java_text(x, repr(x)) for x in (1e100, 1.5, 2.0, 1e7, 0.001, 1e-4, -0.0, float("-inf"))]
    ['1.0E100', '1.5', '2.0', '1.0E7', '0.001', '1.0E-4', '-0.0', '-Infinity']
    """
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    found = Number(digits)
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        text = format(found, "f")
        return text if "." in text else f"{text}.0"
    sign, figures, _ = found.normalize().as_tuple()
    first, *rest = map(str, figures)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{found.adjusted()}"
