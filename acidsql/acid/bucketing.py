"""Hive's bucket of a row, in both bucketing versions (ObjectInspectorUtils.getBucketHashCode and getBucketHashCodeOld).

Spark's hash is different. Version 2 is Hive's variant of Murmur3 (see `_murmur3`), version 1 follows Java's hashCode.
acidsql.spark.write.bucket_expression computes the same in Spark SQL. tests/acid/cases/hive_hashes.jsonl has the hashes
that Hive 4.0.1 computes.
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
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition

BucketValue: TypeAlias = (
    "bool | int | float | Decimal | str | bytes | date | datetime | Sequence[BucketValue]"
    " | Mapping[BucketValue, BucketValue] | None"
)
"""A value of a column: a list for ARRAY, a list of the fields for STRUCT, a `datetime` without a zone for TIMESTAMP,
and a `datetime` for TIMESTAMP WITH LOCAL TIME ZONE, which is in UTC if it has no zone. A date may also be the number of
days since 1970.
"""

MURMUR_SEED: Final = 104729
_MASK: Final = 0xFFFFFFFF
_MAX_INT: Final = 0x7FFFFFFF
_EPOCH: Final = date(1970, 1, 1).toordinal()
_WIDTHS: Final = {"smallint": ">h", "int": ">i", "date": ">i", "bigint": ">q"}
_EXACT: Final = Context(prec=80)


class BucketingVersion(IntEnum):
    """The table property `bucketing_version`; a table without it has version 1."""

    JAVA = 1
    MURMUR = 2


def bucket_number(
    types: Sequence[str], values: Sequence[BucketValue], bucket_count: int, version: BucketingVersion
) -> int:
    """The bucket, from 0, of a row with these values in its bucketing columns, which have these Hive types.

    In version 1 Hive's bucket of a TIMESTAMP depends on the time zone of its JVM. This function uses UTC.
    Raises NOT_YET_SUPPORTED for version 2 of a BINARY.

    >>> bucket_number(["int"], [5], 4, BucketingVersion.MURMUR)
    3
    """
    hashes = (value_hash(t.parse_type(type_), value, version) for type_, value in zip(types, values, strict=True))
    return (_combined(hashes) & _MAX_INT) % bucket_count


def bucketing_version(table: Table) -> BucketingVersion:
    """The version of a table's hash. Hive assumes 1 if the property is missing."""
    return BucketingVersion(int(table.properties.get("bucketing_version", "1")))


def no_rule_for_binary() -> AcidSqlError:
    """The error for version 2 of a BINARY column, for which Hive has no fixed bucket.

    Hive reuses a buffer for the values and hashes all of it, including bytes of longer values before. Equal values get
    different buckets (hashCodeMurmur ignores the length of BytesWritable; tests/interop/test_hive_buckets.py shows it
    on Hive 4.0.1).
    """
    feature = "Bucketing by a BINARY in bucketing version 2 (Hive's hash depends on the rows before)"
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _combined(hashes: Iterable[int], start: int = 0) -> int:
    return reduce(lambda seen, field: (31 * seen + field) & _MASK, hashes, start)


def value_hash(type_: t.HiveType, value: BucketValue, version: BucketingVersion) -> int:
    """The unsigned 32-bit hash of a value, which `bucket_number` combines with those of other columns. NULL has 0."""
    match type_, value:
        case _, None:
            return 0
        case t.Array(element), list() | tuple():
            return _combined(value_hash(element, v, version) for v in value)
        case t.Struct(fields), list() | tuple():
            return _combined(value_hash(f, v, version) for (_, f), v in zip(fields, value, strict=True))
        case t.Map(key, of), Mapping():
            # Hive 4.0.1 hashes the values of a map by version 1 in both versions.
            pairs = ((value_hash(key, k, version), value_hash(of, v, BucketingVersion.JAVA)) for k, v in value.items())
            return sum(k ^ v for k, v in pairs) & _MASK
        case t.Primitive("boolean" | "tinyint"), int():
            return int(value) & _MASK
        case _:
            return _murmur3(_bytes(type_, value)) if version is BucketingVersion.MURMUR else _java_hash(type_, value)


# -- version 2


def _bytes(type_: t.HiveType, value: BucketValue) -> bytes:
    """The bytes that version 2 hashes (ObjectInspectorUtils.hashCodeMurmur)."""
    match type_, value:
        case t.Primitive("smallint" | "int" | "bigint" | "date" as name), int() | date():
            return struct.pack(_WIDTHS[name], _days(value) if isinstance(value, date) else value)
        case t.Primitive("float"), int() | float():
            # Hive passes the bits to ByteBuffer.putFloat as a number, so it hashes the bits of that number.
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
            raise TypeError(f"{value!r} is not a value of {type_}")


def _timestamp_bytes(seconds: int, nanos: int) -> bytes:
    """TimestampWritableV2.getBytes: 31 bits of the seconds, the reversed digits of the fraction, the other bits.

    The top bit is set if a fraction or other bits follow. A negative fraction means that the other bits follow.
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
    """Java's BigInteger.toByteArray: two's complement in as few bytes as possible."""
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def _murmur3(data: bytes, seed: int = MURMUR_SEED) -> int:
    """32-bit Murmur3, except that Hive sign-extends the last `len % 4` bytes.

    tests/golden/bucketed_string shows this with text that is not ASCII.
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
    """ObjectInspectorUtils.hashCode of all primitive types but BOOLEAN and TINYINT."""
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
            # The formula of String.hashCode over the UTF-8 bytes as signed numbers. For ASCII it is String.hashCode.
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
            raise TypeError(f"{value!r} is not a value of {type_}")


def _combined_bytes(data: bytes, start: int) -> int:
    """Combines signed bytes. Hadoop's WritableComparator.hashBytes starts at 1, Hive's hash of a STRING at 0."""
    return _combined(map(_signed, data), start)


def _folded(number: int) -> int:
    """Long.hashCode: the upper 32 bits XOR the lower 32 bits."""
    return (number ^ number >> 32) & _MASK


def _decimal_hash(unscaled: int, scale: int) -> int:
    """BigDecimal.hashCode: combines the hash of the unscaled BigInteger (32-bit digits and sign) with the scale."""
    magnitude = abs(unscaled)
    digits = ((magnitude >> shift) & _MASK for shift in (96, 64, 32, 0))
    hashed = _combined(digits)
    return (31 * (hashed if unscaled >= 0 else -hashed) + scale) & _MASK


# -- values


def _days(value: date) -> int:
    return value.toordinal() - _EPOCH


def _seconds(value: datetime) -> tuple[int, int]:
    """Seconds since 1970 and nanoseconds: in UTC if the value has a zone, else of the wall clock."""
    value = value.astimezone(UTC) if value.tzinfo else value
    return _days(value) * 86400 + value.hour * 3600 + value.minute * 60 + value.second, value.microsecond * 1000


def _calendar_shift(value: datetime) -> int:
    """How many days later the same date is in java.sql.Timestamp's calendar, which is Julian before 1582-10-15."""
    if value.date() >= t.FIRST_GREGORIAN_DAY:
        return 0
    years = value.year - (value.month <= 2)
    return years // 100 - years // 400 - 2


def _unscaled(value: Decimal) -> tuple[int, int]:
    """The unscaled digits and the scale, without trailing zeros, which HiveDecimal drops."""
    if not value:
        return 0, 0
    normal = value.normalize(_EXACT)
    exponent = int(normal.as_tuple().exponent)
    # The scale of a HiveDecimal is never negative: 100 is 100, not 1E+2.
    return int(normal.scaleb(max(-exponent, 0), _EXACT)), max(-exponent, 0)


def _float_bits(value: float) -> int:
    """Float.floatToIntBits, which has one NaN only."""
    return int(struct.unpack(">i", struct.pack(">f", math.nan if math.isnan(value) else value))[0])


def _double_bits(value: float) -> int:
    """Double.doubleToLongBits, which has one NaN only."""
    return int(struct.unpack(">q", struct.pack(">d", math.nan if math.isnan(value) else value))[0])


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
