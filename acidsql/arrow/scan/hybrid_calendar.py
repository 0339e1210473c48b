"""Dates of Hive's hybrid calendar, which is Julian before 1582-10-15, as dates of the Gregorian one."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FIRST_GREGORIAN: Final = -141427
"""1582-10-15, in days since 1970."""
_EPOCH: Final = 719468
"""1970-01-01 in days since 0000-03-01 of the Gregorian calendar."""
_FOUR_YEARS: Final = 1461


def gregorian_days(days: NDArray[np.int64]) -> NDArray[np.int64]:
    """The days by which the Gregorian calendar numbers the dates with the same year, month and day.

    A day that the Gregorian calendar lacks, such as 1500-02-29, becomes the next one, as in Java.

    >>> gregorian_days(np.array([-719164, -141428, 0])).tolist()
    [-719162, -141438, 0]
    """
    old = days < FIRST_GREGORIAN
    return np.where(old, _of_julian(days), days) if old.any() else days


def _of_julian(days: NDArray[np.int64]) -> NDArray[np.int64]:
    """Years begin in March here, so that the leap day is the last of its year. 0000-03-01 is two days earlier in the
    Julian calendar."""
    shifted = days + _EPOCH + 2
    cycle = shifted // _FOUR_YEARS
    of_cycle = shifted - cycle * _FOUR_YEARS
    year_of_cycle = np.minimum(of_cycle // 365, 3)
    of_year = of_cycle - year_of_cycle * 365
    year = cycle * 4 + year_of_cycle
    return np.asarray(year * 365 + year // 4 - year // 100 + year // 400 + of_year - _EPOCH, np.int64)
