"""Hive's bucket of a row, in both bucketing versions (ObjectInspectorUtils.getBucketHashCode and getBucketHashCodeOld).

Spark's hash is another one. Version 2 is a Murmur3 of its own (see `_murmur3`), version 1 is like Java's hashCode.
acidsql.spark.write.bucket_expression says the same in Spark SQL. What Hive 4.0.1 answers stands in
tests/acid/cases/hive_hashes.jsonl.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from enum import IntEnum
from functools import reduce
from typing import Final, TypeAlias

from acidsql.acid import hive_types as t
from acidsql.errors import AcidSqlError, Condition

BucketValue: TypeAlias = (
    "bool | int | float | Decimal | str | bytes | date | datetime | Sequence[BucketValue]"
    " | Mapping[BucketValue, BucketValue] | None"
)
"""A value of a column: a list for ARRAY, a list of the fields for STRUCT, a `datetime` for TIMESTAMP (without a zone,
wall-clock time) and for TIMESTAMP WITH LOCAL TIME ZONE (with its zone, or without one in UTC).

A date may also be given as days since 1970.
"""

MURMUR_SEED: Final = 104729
_MASK: Final = 0xFFFFFFFF
_MAX_INT: Final = 0x7FFFFFFF
_EPOCH: Final = date(1970, 1, 1).toordinal()
_FIRST_GREGORIAN_DAY: Final = date(1582, 10, 15)
_WIDTHS: Final = {"smallint": ">h", "int": ">i", "date": ">i", "bigint": ">q"}
_EXACT: Final = Context(prec=80)


class BucketingVersion(IntEnum):
    """The table property `bucketing_version`; a table without it has version 1."""

    JAVA = 1
    MURMUR = 2


def bucket_number(
    types: Sequence[str], values: Sequence[BucketValue], bucket_count: int, version: BucketingVersion
) -> int:
    """The bucket, from 0, of a row with these values in its bucketing columns, whose Hive types these are.

    Version 1 of a TIMESTAMP depends on the time zone of Hive's JVM (java.sql.Timestamp is in it): this is UTC's.
    Raises NOT_YET_SUPPORTED for version 2 of a BINARY.

    >>> bucket_number(["int"], [5], 4, BucketingVersion.MURMUR)
    3
    """
    hashes = (_hash(t.parse_type(type_), value, version) for type_, value in zip(types, values, strict=True))
    return (_combined(hashes) & _MAX_INT) % bucket_count


def no_rule_for_binary() -> AcidSqlError:
    """Version 2 of a BINARY: Hive hashes a buffer that it fills again and again, with what is left of longer values.

    So rows of one value have different buckets (hashCodeMurmur takes BytesWritable.getBytes without its length;
    tests/interop/test_hive_buckets.py sees it in Hive 4.0.1).
    """
    feature = "Bucketing by a BINARY in bucketing version 2 (Hive's hash depends on the rows before)"
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _combined(hashes: Iterable[int], start: int = 0) -> int:
    return reduce(lambda seen, field: (31 * seen + field) & _MASK, hashes, start)


def _hash(type_: t.HiveType, value: BucketValue, version: BucketingVersion) -> int:
    """32 bits, unsigned; NULL is 0."""
    match type_, value:
        case _, None:
            return 0
        case t.Array(element), list() | tuple():
            return _combined(_hash(element, v, version) for v in value)
        case t.Struct(fields), list() | tuple():
            return _combined(_hash(f, v, version) for (_, f), v in zip(fields, value, strict=True))
        case t.Map(key, of), Mapping():
            # Hive 4.0.1 hashes the values of a map by version 1 in both versions.
            pairs = ((_hash(key, k, version), _hash(of, v, BucketingVersion.JAVA)) for k, v in value.items())
            return sum(k ^ v for k, v in pairs) & _MASK
        case t.Primitive("boolean" | "tinyint"), int():
            return int(value) & _MASK
        case _:
            return _murmur3(_bytes(type_, value)) if version is BucketingVersion.MURMUR else _java_hash(type_, value)


# -- version 2


def _bytes(type_: t.HiveType, value: BucketValue) -> bytes:
    """What version 2 feeds to Murmur3 (ObjectInspectorUtils.hashCodeMurmur)."""
    match type_, value:
        case t.Primitive("smallint" | "int" | "bigint" | "date" as name), int() | date():
            return struct.pack(_WIDTHS[name], _days(value) if isinstance(value, date) else value)
        case t.Primitive("float"), int() | float():
            # ByteBuffer.putFloat is given the bits as a number, so Hive hashes the bits of the bits.
            return struct.pack(">f", _float_bits(value))
        case t.Primitive("double"), int() | float():
            return struct.pack(">d", _double_bits(value))
        case t.Primitive("string") | t.Varchar(), str():
            return value.encode()
        case t.Char(), str():
            return value.rstrip(" ").encode()
        case t.Primitive("binary"), bytes() | bytearray():
            raise no_rule_for_binary()
        case t.Primitive("timestamp" | "timestamp with local time zone"), datetime():
            return _timestamp_bytes(*_seconds(value))
        case t.Decimal(), Decimal() | int():
            return _big_integer_bytes(_unscaled(Decimal(value))[0])
        case _:
            raise TypeError(f"{value!r} is no value of {type_}")


def _timestamp_bytes(seconds: int, nanos: int) -> bytes:
    """TimestampWritableV2.getBytes: 31 bits of the seconds, then the fraction's digits backwards, then the other bits.

    The top bit says that more than the seconds follows; a fraction below zero, that the other bits do.
    """
    fraction = int(f"{nanos:09}"[::-1])
    if 0 <= seconds <= _MAX_INT:
        return struct.pack(">I", seconds) if not fraction else struct.pack(">I", seconds | 1 << 31) + _vlong(fraction)
    return struct.pack(">I", seconds & _MAX_INT | 1 << 31) + _vlong(-fraction - 1) + _vlong(seconds >> 31)


def _vlong(number: int) -> bytes:
    """Hadoop's WritableUtils.writeVLong."""
    if -112 <= number <= 127:
        return struct.pack("b", number)
    magnitude = ~number if number < 0 else number
    width = (magnitude.bit_length() + 7) // 8
    return struct.pack("b", (-120 if number < 0 else -112) - width) + magnitude.to_bytes(width, "big")


def _big_integer_bytes(number: int) -> bytes:
    """Java's BigInteger.toByteArray: two's complement, no byte more than it takes."""
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def _murmur3(data: bytes, seed: int = MURMUR_SEED) -> int:
    """Murmur3, 32 bits, but for the last `len % 4` bytes, which Hive extends with their sign.

    tests/golden/bucketed_string shows it: the bucket of a text that is not ASCII.
    """
    whole = len(data) // 4 * 4
    blocks = struct.unpack(f"<{whole // 4}I", data[:whole])
    state = reduce(lambda seen, block: (_rotate(seen ^ _scramble(block), 13) * 5 + 0xE6546B64) & _MASK, blocks, seed)
    tail = reduce(lambda seen, at: seen ^ _signed(data[whole + at]) << 8 * at, range(len(data) - whole), 0)
    return _finish(state ^ _scramble(tail & _MASK) ^ len(data))


def _scramble(block: int) -> int:
    return _rotate(block * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _MASK


def _finish(word: int) -> int:
    word = (word ^ word >> 16) * 0x85EBCA6B & _MASK
    word = (word ^ word >> 13) * 0xC2B2AE35 & _MASK
    return word ^ word >> 16


# -- version 1


def _java_hash(type_: t.HiveType, value: BucketValue) -> int:
    """ObjectInspectorUtils.hashCode of a primitive that is no BOOLEAN or TINYINT."""
    match type_, value:
        case t.Primitive("smallint" | "int" | "date"), int() | date():
            return (_days(value) if isinstance(value, date) else value) & _MASK
        case t.Primitive("bigint"), int():
            return _folded(value)
        case t.Primitive("float"), int() | float():
            return _float_bits(value) & _MASK
        case t.Primitive("double"), int() | float():
            return _folded(_double_bits(value))
        case t.Primitive("string"), str():
            # String.hashCode of ASCII text; of other text the same over its UTF-8 bytes, as signed numbers.
            return _combined_bytes(value.encode(), 0)
        case t.Varchar(), str():
            return _combined_bytes(value.encode(), 1)
        case t.Char(), str():
            return _combined_bytes(value.rstrip(" ").encode(), 1)
        case t.Primitive("binary"), bytes() | bytearray():
            return _combined_bytes(bytes(value), 1)
        case t.Primitive("timestamp"), datetime():
            seconds, nanos = _seconds(value)
            return _folded((seconds + 86400 * _calendar_shift(value)) << 30 | nanos)
        case t.Primitive("timestamp with local time zone"), datetime():
            seconds, nanos = _seconds(value)  # Instant.hashCode
            return (_folded(seconds) + 51 * nanos) & _MASK
        case t.Decimal(), Decimal() | int():
            return _decimal_hash(*_unscaled(Decimal(value)))
        case _:
            raise TypeError(f"{value!r} is no value of {type_}")


def _combined_bytes(data: bytes, start: int) -> int:
    """Hadoop's WritableComparator.hashBytes starts at 1, Hive's hash of a STRING at 0."""
    return _combined(map(_signed, data), start)


def _folded(number: int) -> int:
    """Long.hashCode: the upper half of 64 bits folded in."""
    return (number ^ number >> 32) & _MASK


def _decimal_hash(unscaled: int, scale: int) -> int:
    """BigDecimal.hashCode: that of the unscaled BigInteger (its 32-bit digits by 31, with its sign), and the scale."""
    magnitude = abs(unscaled)
    digits = ((magnitude >> shift) & _MASK for shift in (96, 64, 32, 0))
    hashed = _combined(digits)
    return (31 * (hashed if unscaled >= 0 else -hashed) + scale) & _MASK


# -- values


def _days(value: date) -> int:
    return value.toordinal() - _EPOCH


def _seconds(value: datetime) -> tuple[int, int]:
    """Seconds since 1970, and nanoseconds; in UTC where it has a zone, else of the wall clock."""
    value = value.astimezone(UTC) if value.tzinfo else value
    return _days(value) * 86400 + value.hour * 3600 + value.minute * 60 + value.second, value.microsecond * 1000


def _calendar_shift(value: datetime) -> int:
    """Days by which the day of this name lies later in java.sql.Timestamp's calendar, Julian before 1582-10-15."""
    if value.date() >= _FIRST_GREGORIAN_DAY:
        return 0
    years = value.year - (value.month <= 2)
    return years // 100 - years // 400 - 2


def _unscaled(value: Decimal) -> tuple[int, int]:
    """The digits as a number, and the scale, both without trailing zeros: HiveDecimal drops them."""
    if not value:
        return 0, 0
    normal = value.normalize(_EXACT)
    exponent = int(normal.as_tuple().exponent)
    # A HiveDecimal's scale is not below 0: 100 is 100, not 1E+2.
    return int(normal.scaleb(max(-exponent, 0), _EXACT)), max(-exponent, 0)


def _float_bits(value: float) -> int:
    """Float.floatToIntBits, which knows one NaN only."""
    return int(struct.unpack(">i", struct.pack(">f", math.nan if math.isnan(value) else value))[0])


def _double_bits(value: float) -> int:
    """Double.doubleToLongBits, which knows one NaN only."""
    return int(struct.unpack(">q", struct.pack(">d", math.nan if math.isnan(value) else value))[0])


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
