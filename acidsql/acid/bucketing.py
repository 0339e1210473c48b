"""Hive's bucket of a row (ObjectInspectorUtils.getBucketHashCode and .hashCode), for both bucketing versions.

Spark's hash is another one. Version 2 is a Murmur3 of its own (see `_murmur3`), version 1 is like Java's hashCode.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date
from enum import IntEnum
from functools import reduce

from acidsql.errors import AcidSqlError, Condition

BucketValue = bool | int | str | date | None
"""A date may also be given as days since 1970."""

_MASK = 0xFFFFFFFF
_MAX_INT = 0x7FFFFFFF
_SEED = 104729
_EPOCH = date(1970, 1, 1).toordinal()
_WIDTHS = {"smallint": ">h", "int": ">i", "date": ">i", "bigint": ">q"}


class BucketingVersion(IntEnum):
    """The table property `bucketing_version`; a table without it has version 1."""

    JAVA = 1
    MURMUR = 2


def bucket_number(
    types: Sequence[str], values: Sequence[BucketValue], bucket_count: int, version: BucketingVersion
) -> int:
    """The bucket, from 0, of a row with these values in its bucketing columns, whose Hive types these are.

    Raises NOT_YET_SUPPORTED for types other than boolean, tinyint, smallint, int, bigint, date and string.

    >>> bucket_number(["int"], [5], 4, BucketingVersion.MURMUR)
    3
    """
    hashes = (_hash(type_, value, version) for type_, value in zip(types, values, strict=True))
    combined = reduce(lambda seen, field: (31 * seen + field) & _MASK, hashes, 0)
    return (combined & _MAX_INT) % bucket_count


def _hash(type_: str, value: BucketValue, version: BucketingVersion) -> int:
    """32 bits, unsigned; NULL is 0."""
    if value is None:
        return 0
    match type_, value:
        case "boolean" | "tinyint", int():
            return int(value) & _MASK
        case "string", str():
            text = value.encode()
            return _murmur3(text) if version is BucketingVersion.MURMUR else _java_hash(text)
        case "smallint" | "int" | "bigint" | "date", int() | date():
            number = value.toordinal() - _EPOCH if isinstance(value, date) else value
            if version is BucketingVersion.MURMUR:
                return _murmur3(struct.pack(_WIDTHS[type_], number))
            # A Java long folds its upper half in; the others are themselves.
            return (number ^ number >> 32 if type_ == "bigint" else number) & _MASK
        case _:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"Bucketing by a column of type {type_}")


def _java_hash(text: bytes) -> int:
    """String.hashCode of ASCII text; of other text the same over its UTF-8 bytes, as signed numbers."""
    return reduce(lambda seen, byte: (31 * seen + _signed(byte)) & _MASK, text, 0)


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _murmur3(data: bytes, seed: int = _SEED) -> int:
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
