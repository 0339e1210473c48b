"""Functions of Hive that Spark has under another name, or as an operator."""

from __future__ import annotations

from typing import Final

from acidsql.planner.expressions.hive_functions.template import Rule, template

CASTS: Final = {
    "udftoboolean": "BOOLEAN",
    "udftobyte": "TINYINT",
    "udftodouble": "DOUBLE",
    "udftofloat": "FLOAT",
    "udftointeger": "INT",
    "udftolong": "BIGINT",
    "udftoshort": "SMALLINT",
    "udftostring": "STRING",
}
"""Functions that are casts, which `planner/queries/query_normalization.py` writes as CAST in queries."""
RULES: Final[dict[tuple[str, int], Rule]] = {
    **{(name, 1): template("a", f"CAST(a AS {kind})") for name, kind in CASTS.items()},
    ("isfalse", 1): template("a", "(a IS NOT NULL AND NOT a)"),
    ("isnotfalse", 1): template("a", "(a IS NULL OR a)"),
    ("istrue", 1): template("a", "(a IS NOT NULL AND a)"),
    ("isnottrue", 1): template("a", "(a IS NULL OR NOT a)"),
    ("logged_in_user", 0): template("", "current_user()"),
}
