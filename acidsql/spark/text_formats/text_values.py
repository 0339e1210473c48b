"""Values in texts, with the rules that the SerDes of text tables share. A text that is not a value of its type is
NULL.

Each rule that differs from Spark's CAST was seen in Hive 4.0.1 (tests/golden/insert_only_text_dirty,
tests/interop/test_hive_text_formats.py).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

WHOLE: Final = r"^([+-]?\d+)(\.\d*)?$"
_BELOW_ONE: Final = r"^[+-]?\.\d+$"
_PATTERNS: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), WHOLE),
    "date": r"^\s*(-?\d{4}-\d{1,2}-\d{1,2})(\D.*)?$",
    "timestamp": (
        r"^\s*(-?\d{4}-(?:\d{1,2}-\d{1,2} \d{1,2}:\d{1,2}:\d{1,2}|\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?)\s*$"
    ),
}
"""Patterns of the texts that Hive accepts, of those that Spark's CAST accepts, and of the part that is the value."""


def taken(text: Column, kind: str) -> Column:
    """The part of a text that the primitive type `kind` reads; NULL if the text is not a value of the type."""
    pattern = _PATTERNS.get(kind)
    if pattern is None:
        return text
    part = F.when(text.rlike(pattern), F.regexp_extract(text, pattern, 1))
    return F.when(text.rlike(_BELOW_ONE), "0").otherwise(part) if pattern == WHOLE else part
