"""UPDATE and DELETE whose rows the Arrow engine may find: they read their target only. The engine then looks whether it
can evaluate the condition and the new values (acidsql/arrow/write/changed_rows.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.planner.conditions.row_conditions import has_only
from acidsql.planner.plan import ArrowChange, FrameScan, Scan


def arrow_change(
    rows: exp.Query, scans: Sequence[Scan], frames: Sequence[FrameScan], new_values: Mapping[Column, exp.Expr]
) -> ArrowChange | None:
    """The changes of an UPDATE or DELETE, if it reads nothing but its target and moves no row to another partition.
    `rows` is its bound query, and `new_values` are the trees of SET.

    Whether a condition can be evaluated is decided when the values of the parameters are known.
    """
    (scan,) = scans if len(scans) == 1 else (None,)
    if scan is None or not scan.is_target or scan.with_deleted or frames or _has_queries(rows):
        return None
    if any(column in scan.table.partition_columns for column in new_values):
        return None
    where = rows.args.get("where")
    condition = exp.true() if where is None else where.this.copy()
    return ArrowChange(
        rows.args["from_"].this.alias_or_name.lower(),
        condition,
        {column.name: value.copy() for column, value in new_values.items()},
    )


def column_of(node: exp.Column, changes: ArrowChange, table: Table) -> Column | None:
    """The column of the target to which a name in the condition certainly refers."""
    columns = {c.name: c for c in table.all_columns}
    if not has_only(node, ("this", "table")):
        return None
    if node.table and (node.table.lower() != changes.alias or changes.alias in columns):
        return None
    return columns.get(node.name.lower())


def _has_queries(rows: exp.Query) -> bool:
    """Whether the query is more than a SELECT of one table with a condition."""
    if not isinstance(rows, exp.Select) or not has_only(rows, ("expressions", "from_", "where")):
        return True
    return sum(1 for _ in rows.find_all(exp.Query)) > 1 or not isinstance(rows.args["from_"].this, exp.Table)
