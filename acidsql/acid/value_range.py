"""The minimum and the maximum of a column in a file."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TypeAlias

Range: TypeAlias = tuple[Decimal, Decimal] | tuple[date, date] | tuple[bytes, bytes]
"""Minimum and maximum, both inclusive: numbers, dates, or text as UTF-8 bytes, in the order of Spark and ORC."""
