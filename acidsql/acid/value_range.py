"""Bounds of the values that a column has in a file."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TypeAlias

Range: TypeAlias = tuple[Decimal, Decimal] | tuple[date, date] | tuple[bytes, bytes]
"""Bounds of the values of a column, both inclusive: numbers, dates, or texts in UTF-8, as Spark and ORC order them."""
