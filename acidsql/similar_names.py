"""Names that are like one that was not found, nearest first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_CANDIDATES: Final = 20


def similar_names(wrong: str, known: Iterable[str], most: int = 3, cutoff: float = 0.5) -> list[str]:
    """At most `most` of the known names that are like the wrong one, nearest first, without those that are farther away
    than the nearest by more than one edit. `cutoff` is the least ratio of difflib.

    Of names that are equally near, one with the same letters comes first, and then those that difflib prefers. difflib
    alone ranks by what two names have in common, and prefers `mae` to `name` for `nmae`.

    >>> similar_names("nmae", ["id", "mae", "name", "nature"])
    ['name', 'mae']
    """
    from difflib import get_close_matches  # `import acidsql` does without it

    found = get_close_matches(wrong, list(known), n=_CANDIDATES, cutoff=cutoff)
    distances = {name: edits(wrong, name) for name in found}
    nearest = sorted(found, key=lambda name: (distances[name], sorted(name) != sorted(wrong)))
    return [name for name in nearest if distances[name] <= distances[nearest[0]] + 1][:most]


def edits(one: str, other: str) -> int:
    """How many letters must be added, removed, replaced, or swapped with their neighbour, to make one name the other.

    >>> edits("nmae", "name"), edits("salry", "salary"), edits("id", "name")
    (1, 1, 4)
    """
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        rows.append([i])
        for j, wanted in enumerate(other, 1):
            steps = [rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (letter != wanted)]
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], wanted):
                steps.append(rows[i - 2][j - 2] + 1)
            rows[i].append(min(steps))
    return rows[-1][-1]
