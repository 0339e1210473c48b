"""Which columns of a query are CHAR(n) or VARCHAR(n).

Spark knows no such type while it computes: a scan's columns have the length as metadata, which goes with a column as
long as no expression is made of it. A UNION keeps that of its first branch, whatever the others are: here it is of the
common type, as in Hive (FunctionRegistry.getCommonClassForUnionAll), the longest length or, beside a STRING, none.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame

from acidsql.spark.catalyst.gateway import items
from acidsql.spark.catalyst.logical_plans import plan_of

CHAR_LENGTH: Final = "acidsql.char"
"""Metadata of a CHAR(n) column, the length. ORC's reader strips the padding, and Hive's expressions see the value
without it (HiveChar.getStrippedValue); only what a query finally gives is padded."""
VARCHAR_LENGTH: Final = "acidsql.varchar"
"""Metadata of a VARCHAR(n) column, the length; only where a query is asked for its types (CREATE TABLE .. AS)."""


def lengths(frame: DataFrame, kind: str) -> list[int | None]:
    """The length of each column that is of the kind, CHAR_LENGTH or VARCHAR_LENGTH."""
    said = [field.metadata.get(kind) for field in frame.schema.fields]
    if not any(said):
        return said
    plan = plan_of(frame)
    if plan.collectLeaves().size() == 1:  # no UNION
        return said
    columns = zip(said, items(plan.output()), strict=True)
    return [None if length is None else _length(plan, column, kind) for length, column in columns]


def _length(plan: Any, column: Any, kind: str) -> int | None:
    """Of a column of the plan's output, found again where it comes from."""
    if not column.metadata().contains(kind):
        return None
    branches = list(items(plan.children()))
    if plan.nodeName() == "Union":
        place = _place(plan, column)
        found = [_length(branch, branch.output().apply(place), kind) for branch in branches]
        return None if None in found else max(length for length in found if length is not None)
    for branch in branches:
        place = _place(branch, column)
        if place >= 0:
            return _length(branch, branch.output().apply(place), kind)
    if plan.nodeName() == "Project":
        named = next((e for e in items(plan.projectList()) if e.exprId().equals(column.exprId())), None)
        source = named.child() if named is not None and named.nodeName() == "Alias" else None
        if source is not None and source.nodeName() == "AttributeReference" and source.metadata().contains(kind):
            return _length(branches[0], source, kind)
    return int(column.metadata().getLong(kind))


def _place(plan: Any, column: Any) -> int:
    """Of the column in the plan's output, or -1."""
    wanted = column.exprId()
    places = (place for place, one in enumerate(items(plan.output())) if one.exprId().equals(wanted))
    return next(places, -1)
