"""The hash that Spark SQL's `xxhash64` gives for a text: XXH64 of its UTF-8 with Spark's seed (XxHash64Function)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import xxhash
from numpy.typing import NDArray

_SEED: Final = 42


def xxhash64(texts: Sequence[str]) -> NDArray[np.int64]:
    """The hash of each text as a signed number.

    >>> xxhash64(["Spark", ""]).tolist()
    [-4294468057691064905, -7444071767201028348]
    """
    hashes = [xxhash.xxh64_intdigest(text.encode(), seed=_SEED) for text in texts]
    return np.array(hashes, np.uint64).view(np.int64)
