"""Hive's bucket of many rows at once: the rules of acidsql.acid.bucketing for Arrow arrays.

Numbers, dates and short texts are hashed by numpy. Of other types each different value is hashed once, by
acidsql.acid.bucketing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from acidsql.acid import hive_types as t
from acidsql.acid.bucketing import MURMUR_SEED, BucketingVersion, value_hash

_Words = npt.NDArray[np.uint32]

_FEW: Final = 256
"""The longest text, in bytes, that numpy hashes: it takes a step for each four bytes of the longest one."""


def buckets(
    columns: Sequence[tuple[t.HiveType, pa.Array]], bucket_count: int, version: BucketingVersion
) -> npt.NDArray[np.int64]:
    """The bucket, from 0, of each row. `columns` are the bucketing columns, with the types of the table's files."""
    combined = np.zeros(len(columns[0][1]), np.uint32)
    for hive_type, array in columns:
        combined = combined * np.uint32(31) + _hashes(array, hive_type, version)
    return (combined & np.uint32(0x7FFFFFFF)).astype(np.int64) % bucket_count


def _hashes(array: pa.Array, hive_type: t.HiveType, version: BucketingVersion) -> _Words:
    found = _fast_hashes(array, hive_type, version)
    if found is None:
        return _distinct_hashes(array, hive_type, version)
    return np.where(array.is_null().to_numpy(zero_copy_only=False), np.uint32(0), found)


def _fast_hashes(array: pa.Array, hive_type: t.HiveType, version: BucketingVersion) -> _Words | None:
    """The hashes of an array, anything at NULLs; None for values that numpy does not hash."""
    is_murmur = version is BucketingVersion.MURMUR
    match hive_type:
        case t.Primitive("boolean" | "tinyint"):
            return _numbers(array.cast(pa.int8())).astype(np.uint32)
        case t.Primitive("int" | "date"):
            words = _numbers(array.view(pa.int32())).view(np.uint32)
            return _murmur3([words.byteswap()], 4) if is_murmur else words
        case t.Primitive("bigint"):
            words = _numbers(array).view(np.uint64)
            high, low = (words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)
            return _murmur3([high.byteswap(), low.byteswap()], 8) if is_murmur else high ^ low
        case t.Primitive("string") | t.Varchar() | t.Char() if is_murmur:
            return _text_hashes(pc.ascii_rtrim(array, " ") if isinstance(hive_type, t.Char) else array)
        case _:
            return None


def _numbers(array: pa.Array) -> npt.NDArray[Any]:
    filled: npt.NDArray[Any] = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    return filled


def _distinct_hashes(array: pa.Array, hive_type: t.HiveType, version: BucketingVersion) -> _Words:
    if t.is_complex(hive_type):
        return _hashed((_as_hashed(value, hive_type) for value in array.to_pylist()), hive_type, version)
    encoded = pc.dictionary_encode(array, null_encoding="encode")
    found = _hashed(encoded.dictionary.to_pylist(), hive_type, version)
    places: npt.NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
    return found[places]


def _hashed(values: Iterable[Any], hive_type: t.HiveType, version: BucketingVersion) -> _Words:
    return np.array([value_hash(hive_type, value, version) for value in values], np.uint32)


def _as_hashed(value: Any, hive_type: t.HiveType) -> Any:
    """A nested value as acidsql.acid.bucketing takes it: the fields of a STRUCT as a list, a MAP as a dict."""
    match hive_type:
        case _ if value is None:
            return None
        case t.Array(element):
            return [_as_hashed(item, element) for item in value]
        case t.Map(key, of):
            return {_as_hashed(k, key): _as_hashed(v, of) for k, v in value}
        case t.Struct(fields):
            return [_as_hashed(value[name], of) for name, of in fields]
        case _:
            return value


# ------------------------------------------------------------------------------------------------ Murmur3


def _text_hashes(array: pa.Array) -> _Words | None:
    data = pc.fill_null(array, "").cast(pa.binary())
    lengths = pc.binary_length(data).to_numpy(zero_copy_only=False).astype(np.int64)
    longest = int(lengths.max(initial=0))
    if longest > _FEW:
        return None
    _, offsets, content = data.buffers()
    starts = np.frombuffer(offsets, np.int32)[data.offset : data.offset + len(data)].astype(np.int64)
    text = np.frombuffer(content or b"", np.uint8)
    text = np.concatenate((text, np.zeros(longest + 8, np.uint8)))  # a step may look behind the end of the last text
    state = np.full(len(data), MURMUR_SEED, np.uint32)
    for block in range(longest // 4):
        parts = (text[starts + 4 * block + at].astype(np.uint32) << np.uint32(8 * at) for at in range(4))
        state = np.where(lengths // 4 > block, _mixed(state, reduce(np.bitwise_or, parts)), state)
    tail = np.zeros(len(data), np.uint32)
    for at in range(3):
        signed = text[starts + lengths // 4 * 4 + at].view(np.int8).astype(np.int32).view(np.uint32)
        tail = np.where(lengths % 4 > at, tail ^ (signed << np.uint32(8 * at)), tail)
    return _finished(state ^ _scrambled(tail) ^ lengths.astype(np.uint32))


def _murmur3(blocks: Sequence[_Words], length: int) -> _Words:
    """The hash of values of `length` bytes, whose four-byte blocks are little-endian numbers."""
    state = np.full(len(blocks[0]), MURMUR_SEED, np.uint32)
    for block in blocks:
        state = _mixed(state, block)
    return _finished(state ^ np.uint32(length))


def _mixed(state: _Words, block: _Words) -> _Words:
    return _rotated(state ^ _scrambled(block), 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _scrambled(block: _Words) -> _Words:
    return _rotated(block * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)


def _rotated(words: _Words, bits: int) -> _Words:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))


def _finished(words: _Words) -> _Words:
    words = (words ^ words >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    words = (words ^ words >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return words ^ words >> np.uint32(16)
