"""The columns of a query that are CHAR(n) or VARCHAR(n).

Spark has no such types while it computes. The columns of a scan carry the length as metadata, and keep it until an
expression is made of them. In Spark a UNION keeps the metadata of its first branch. Here a UNION has the common type of
its branches, as in Hive (FunctionRegistry.getCommonClassForUnionAll): the longest length, or none beside a STRING.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from acidsql.acid.hive_types import Char, parse_type
from acidsql.acid.table import Table
from acidsql.grammar.quoting import name_sql
from acidsql.spark.catalyst.gateway import items, with_columns
from acidsql.spark.catalyst.logical_plans import plan_of

CHAR_LENGTH: Final = "acidsql.char"
"""Key of the metadata with the length of a CHAR(n) column. ORC's reader strips the padding, and Hive's expressions see
the value without it (HiveChar.getStrippedValue). Only the final rows of a query are padded."""
VARCHAR_LENGTH: Final = "acidsql.varchar"
"""Key of the metadata with the length of a VARCHAR(n) column. It is there only when a query is asked for its types
(CREATE TABLE .. AS)."""


def with_char_lengths(rows: DataFrame, table: Table) -> DataFrame:
    """Notes the lengths of the table's CHAR columns in the rows, which have columns of these names."""
    kinds = ((c.name, parse_type(c.type)) for c in table.all_columns)
    sized = {name: {CHAR_LENGTH: kind.length} for name, kind in kinds if isinstance(kind, Char)}
    # DataFrame.withMetadata would split a name at its dots and backticks.
    return with_columns(rows, {n: F.col(name_sql(n)).alias(n, metadata=known) for n, known in sized.items()})


def lengths(frame: DataFrame, kind: str) -> list[int | None]:
    """The length of each column of the kind CHAR_LENGTH or VARCHAR_LENGTH; None for the other columns."""
    known = [field.metadata.get(kind) for field in frame.schema.fields]
    if not any(known):
        return known
    plan = plan_of(frame)
    if plan.collectLeaves().size() == 1:  # no UNION
        return known
    columns = zip(known, items(plan.output()), strict=True)
    return [None if length is None else _length(plan, column, kind) for length, column in columns]


def _length(plan: Any, column: Any, kind: str) -> int | None:
    """The length of a column of the plan's output, found where the column comes from."""
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
    """The position of a column in the plan's output, or -1."""
    wanted = column.exprId()
    places = (place for place, one in enumerate(items(plan.output())) if one.exprId().equals(wanted))
    return next(places, -1)
