"""The widths of a table's columns on a screen, and values that are cut to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size

CUT: Final = "…"
"""Ends a value that is cut."""
_TEXT: Final = 8
"""The least width that a column of text keeps."""


@dataclass(slots=True)
class Screen:
    """The width that a table may have, and what was done to fit it in. Rendering sets the two flags."""

    width: int
    has_cut: bool = False
    """Whether a value was cut."""
    is_vertical: bool = False
    """Whether the rows stand one below the other, because the screen is too narrow for the columns side by side."""


def fitted(natural: Sequence[int], numbers: Sequence[bool], width: int) -> list[int] | None:
    """The widths that columns of these natural widths get on a screen, or None if it is too narrow for them.

    The widest columns of text give way first. Numbers are never cut: the beginning of a number is a wrong number.

    >>> fitted([2, 40, 60], [True, False, False], 60)
    [2, 24, 24]
    """
    room = width - 3 * len(natural) - 1
    if sum(natural) <= room:
        return list(natural)
    least = [size if number else min(size, _TEXT) for size, number in zip(natural, numbers, strict=True)]
    if sum(least) > room:
        return None
    low, high = 0, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_capped(natural, least, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    widths = _capped(natural, least, low)
    for place, size in enumerate(natural):
        if widths[place] == low < size and sum(widths) < room:
            widths[place] += 1
    return widths


def _capped(natural: Sequence[int], least: Sequence[int], cap: int) -> list[int]:
    return [max(small, min(size, cap)) for size, small in zip(natural, least, strict=True)]


def cut(cell: str, width: int) -> str:
    """The cell with each line cut to the width.

    >>> cut("a long value", 6), cut("short", 6)
    ('a lon…', 'short')
    """
    return "\n".join(
        line if cell_len(line) <= width else set_cell_size(line, width - 1) + CUT for line in cell.split("\n")
    )
