"""Dates of Hive's hybrid calendar, which is Julian before 1582-10-15, and the same dates of the Gregorian one, as days
since 1970."""

from __future__ import annotations

from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from acidsql.acid.hive_types import FIRST_GREGORIAN_DAY

FIRST_GREGORIAN: Final = (FIRST_GREGORIAN_DAY - date(1970, 1, 1)).days
"""FIRST_GREGORIAN_DAY, in days since 1970."""
LAST_JULIAN: Final = FIRST_GREGORIAN - 11
"""1582-10-04. The dates between the two are not in the hybrid calendar."""
_EPOCH: Final = 719468
"""1970-01-01 in days since 0000-03-01 of the Gregorian calendar."""
_FOUR_YEARS: Final = 1461
_ERA: Final = 146097
"""Days of 400 years of the Gregorian calendar."""


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


def hybrid_days(days: NDArray[np.int64]) -> NDArray[np.int64]:
    """The days by which the hybrid calendar numbers the same dates. Both calendars agree from 1582-10-15 on."""
    old = days < FIRST_GREGORIAN
    return np.where(old, _julian_days(days), days) if old.any() else days


def _julian_days(days: NDArray[np.int64]) -> NDArray[np.int64]:
    """The days since 1970-01-01 of the Julian dates with the same year, month and day as the Gregorian ones.

    Years begin in March here, so that the leap day is the last of its year.
    """
    shifted = days + _EPOCH
    era = shifted // _ERA
    of_era = shifted - era * _ERA
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    year = year_of_era + era * 400
    # In the Julian calendar every fourth year has a leap day; 0000-03-01 is two days earlier than in the Gregorian.
    return np.asarray(year * 365 + year // 4 + of_year - _EPOCH - 2, np.int64)
