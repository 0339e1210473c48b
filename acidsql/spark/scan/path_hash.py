"""XXH64 of many texts at once, as Spark's xxhash64 has it: of a path, some twenty times cheaper a row than CRC-32s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Words: TypeAlias = NDArray[np.uint64]

_SEED: Final = 42
"""Of Spark's function (XxHash64)."""
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


def xxhash64(texts: Sequence[str]) -> NDArray[np.int64]:
    """The hash of each text's UTF-8 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).

    >>> xxhash64(["Spark", ""]).tolist()
    [-4294468057691064905, -7444071767201028348]
    """
    contents = [text.encode() for text in texts]
    hashes = np.zeros(len(contents), np.uint64)
    lengths = np.array([len(content) for content in contents], np.int64)
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        joined = b"".join(contents[number] for number in chosen)
        hashes[chosen] = _of_one_length(np.frombuffer(joined, np.uint8).reshape(len(chosen), length))
    return hashes.view(np.int64)


def _of_one_length(texts: NDArray[np.uint8]) -> _Words:
    count, length = texts.shape
    with np.errstate(over="ignore"):
        blocks, words = length // 32 * 4, length // 8
        eights = np.ascontiguousarray(texts[:, : words * 8]).view("<u8").astype(np.uint64)
        hashed = _mixed(eights[:, :blocks]) if blocks else np.full(count, np.uint64(_SEED) + _P5)
        hashed = hashed + np.uint64(length)
        for number in range(blocks, words):
            hashed = _rotated(hashed ^ _round(np.zeros(count, np.uint64), eights[:, number]), 27) * _P1 + _P4
        rest = texts[:, words * 8 :]
        if rest.shape[1] >= 4:
            four = np.ascontiguousarray(rest[:, :4]).view("<u4")[:, 0].astype(np.uint64)
            hashed = _rotated(hashed ^ four * _P1, 23) * _P2 + _P3
            rest = rest[:, 4:]
        for number in range(rest.shape[1]):
            hashed = _rotated(hashed ^ rest[:, number].astype(np.uint64) * _P5, 11) * _P1
        return _avalanched(hashed)


def _mixed(words: _Words) -> _Words:
    """Blocks of four words, a lane each."""
    seed = np.uint64(_SEED)
    starts = (seed + _P1 + _P2, seed + _P2, seed, seed - _P1)
    lanes = [np.full(len(words), start) for start in starts]
    for first in range(0, words.shape[1], 4):
        lanes = [_round(lane, words[:, first + number]) for number, lane in enumerate(lanes)]
    hashed = sum((_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)), np.uint64(0))
    for lane in lanes:
        hashed = (hashed ^ _round(np.zeros(len(words), np.uint64), lane)) * _P1 + _P4
    return np.asarray(hashed, np.uint64)


def _round(lane: _Words, words: _Words) -> _Words:
    return _rotated(lane + words * _P2, 31) * _P1


def _rotated(words: _Words, by: int) -> _Words:
    return words << np.uint64(by) | words >> np.uint64(64 - by)


def _avalanched(hashed: _Words) -> _Words:
    hashed = (hashed ^ hashed >> np.uint64(33)) * _P2
    hashed = (hashed ^ hashed >> np.uint64(29)) * _P3
    return hashed ^ hashed >> np.uint64(32)
