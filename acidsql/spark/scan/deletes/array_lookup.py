"""A map from longs to positions in arrays, as SQL over literal arrays. It takes no join and no job.

Keys that lie close together are places already. Others are hashed in two steps (Fredman, Komlós and Szemerédi 1984):
the first gives each key a group of some few keys, which has a modulus of its own that tells them apart, so that a
key is found or missed with three reads of memory, and all arrays together are a small multiple of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Longs: TypeAlias = NDArray[np.int64]

_DENSE: Final = 8
"""The largest number of positions for each key at which keys are used as positions directly."""
_MIX: Final = -7046029254386353131
"""The golden ratio in 64 bits: multiplying a key with it spreads keys that have many bits in common."""
_POSITIVE: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class LongLookup:
    """Where the values of each key lie: `places` by the order of the keys, in arrays of `size`.

    `tables` are the arrays that the SQL reads, by name.
    """

    places: Longs
    size: int
    low: int = 0
    groups: int = 0
    tables: dict[str, Longs] = field(default_factory=dict)

    def sql(self, key: str, prefix: str) -> str:
        """SQL of a key's position. For a value that is no key it gives NULL or any position. The names of the columns
        with the tables begin with the prefix."""
        if not self.groups:
            high = self.low + self.size - 1
            return f"CASE WHEN {key} BETWEEN {self.low} AND {high} THEN CAST({key} - {self.low} AS INT) END"
        mixed = f"({key} * {_MIX} & {_POSITIVE})"
        group = f"CAST({mixed} % {self.groups} AS INT) * 2"
        heads, keys = f"`{prefix}heads`", f"`{prefix}keys`"
        place = f"CAST({heads}[{group}] + {mixed} % {heads}[{group} + 1] AS INT)"
        return f"CASE WHEN {keys}[{place}] = {key} THEN {place} END"


def long_lookup(keys: Longs) -> LongLookup:
    """`keys` are distinct and not negative."""
    low, high = int(keys.min()), int(keys.max())
    if high - low + 1 <= _DENSE * len(keys) + 64:
        return LongLookup(keys - low, high - low + 1, low)
    groups = len(keys)
    mixed = _mixed(keys)
    members: dict[int, list[int]] = {}
    for number, group in enumerate((mixed % groups).tolist()):
        members.setdefault(group, []).append(number)
    heads = np.zeros((groups, 2), np.int64)
    heads[:, 1] = 1
    places = np.zeros(len(keys), np.int64)
    values: list[int] = mixed.tolist()
    size = 0
    for group, of_group in members.items():
        modulus = _modulus([values[n] for n in of_group])
        heads[group] = size, modulus
        for number in of_group:
            places[number] = size + values[number] % modulus
        size += modulus
    # A place that is no key's has one that lies elsewhere: it is never equal to what is looked for there.
    at = np.full(size, keys[0], np.int64)
    at[places] = keys
    return LongLookup(places, size, 0, groups, {"heads": heads.reshape(-1), "keys": at})


def _modulus(values: Sequence[int]) -> int:
    """The smallest modulus that gives all values different remainders."""
    modulus = len(values)
    while len({v % modulus for v in values}) < len(values):
        modulus += 1
    return modulus


def _mixed(keys: Longs) -> Longs:
    """The hash of each key, distinct for distinct keys: the factor is odd, and only the sign is dropped."""
    with np.errstate(over="ignore"):
        return keys * np.int64(_MIX) & np.int64(_POSITIVE)
