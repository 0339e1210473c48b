"""Where a Hive Metastore differs from the contract, and why: each is a test that must fail on it."""

from __future__ import annotations

from typing import Final

DIFFERENCES: Final[dict[str, str]] = {}
"""By test, or test[parameters]."""
