"""The order of NULLs in ORDER BY, SORT BY and windows (hive.default.nulls.last, HIVE-12994). The keys of DISTRIBUTE BY
and CLUSTER BY have none.

By default NULLs come last in ascending and first in descending order. Spark has the opposite default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from acidsql.grammar.dialect import has_explicit_null_order

NULLS_LAST: Final = "hive.default.nulls.last"


def order_nulls(tree: exp.Query, settings: Mapping[str, str]) -> None:
    """Sets the order of NULLs of each sort key for which the statement does not give one."""
    last = settings.get(NULLS_LAST, "true") == "true"
    for key in tree.find_all(exp.Ordered):
        if type(key.parent) in (exp.Order, exp.Sort) and not has_explicit_null_order(key):
            key.set("nulls_first", bool(key.args.get("desc")) == last)
