"""Bounds of values from the statistics of an ORC column (orc_proto.ColumnStatistics)."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal as Number
from decimal import InvalidOperation
from typing import Final

from acidsql.acid.hive_types import Decimal, HiveType, Primitive, Varchar
from acidsql.acid.value_range import Range
from acidsql.storage.orc.protobuf import VARINT, decode

# orc_proto.ColumnStatistics
_VALUES: Final = 1
_INTEGERS: Final = 2
_TEXTS: Final = 4
_DECIMALS: Final = 6
_DATES: Final = 7
_TIMES: Final = 9
# orc_proto.IntegerStatistics and its like; StringStatistics has bounds in place of long texts
_MINIMUM: Final = 1
_MAXIMUM: Final = 2
_MINIMUM_UTC: Final = 3
_MAXIMUM_UTC: Final = 4
_LOWER_BOUND: Final = 4
_UPPER_BOUND: Final = 5
_EPOCH: Final = date(1970, 1, 1)


def value_count(statistics: bytes) -> int | None:
    """The number of values that are not NULL."""
    return next((f.int for f in decode(statistics) if f.number == _VALUES and f.wire == VARINT), None)


def integer_range(statistics: bytes) -> tuple[int, int] | None:
    return _numbers(statistics, _INTEGERS)


def time_range(statistics: bytes) -> tuple[int, int] | None:
    """The first and the last time of a column, in milliseconds since 1970 of the writer's time zone or of UTC."""
    return _numbers(statistics, _TIMES) or _numbers(statistics, _TIMES, _MINIMUM_UTC, _MAXIMUM_UTC)


def value_range(statistics: bytes, hive_type: HiveType) -> Range | None:
    """Bounds of a column's values from a ColumnStatistics message. None without statistics, and for types that are
    ordered in another way than their statistics."""
    match hive_type:
        case Primitive("tinyint" | "smallint" | "int" | "bigint"):
            found = _numbers(statistics, _INTEGERS)
            return None if found is None else (Number(found[0]), Number(found[1]))
        case Primitive("date"):
            return _dates(_numbers(statistics, _DATES))
        case Decimal():
            return _decimals(_bytes(statistics, _DECIMALS))
        case Primitive("string") | Varchar():
            texts = _bytes(statistics, _TEXTS)
            low, high = (texts.get(a, texts.get(b)) for a, b in ((_MINIMUM, _LOWER_BOUND), (_MAXIMUM, _UPPER_BOUND)))
            return None if low is None or high is None else (low, high)
        case _:
            return None


def _numbers(statistics: bytes, kind: int, minimum: int = _MINIMUM, maximum: int = _MAXIMUM) -> tuple[int, int] | None:
    """Minimum and maximum, zigzag-encoded."""
    inner = _of_kind(statistics, kind)
    numbers = {f.number: f.int for f in decode(inner) if f.wire == VARINT}
    if minimum not in numbers or maximum not in numbers:
        return None
    return _unzigzag(numbers[minimum]), _unzigzag(numbers[maximum])


def _bytes(statistics: bytes, kind: int) -> dict[int, bytes]:
    return {f.number: f.bytes for f in decode(_of_kind(statistics, kind)) if f.wire != VARINT}


def _of_kind(statistics: bytes, kind: int) -> bytes:
    return next((f.bytes for f in decode(statistics) if f.number == kind), b"")


def _dates(days: tuple[int, int] | None) -> Range | None:
    if days is None:
        return None
    try:
        return _EPOCH + timedelta(days[0]), _EPOCH + timedelta(days[1])
    except OverflowError:
        return None


def _decimals(texts: dict[int, bytes]) -> Range | None:
    if _MINIMUM not in texts or _MAXIMUM not in texts:
        return None
    try:
        return Number(texts[_MINIMUM].decode()), Number(texts[_MAXIMUM].decode())
    except (InvalidOperation, UnicodeDecodeError):
        return None


def _unzigzag(value: int) -> int:
    return value >> 1 ^ -(value & 1)
