"""INSERT of rows that the statement or the call gives as they are: literals and parameters, or the columns of a frame.

Nothing has to be computed for these rows but the store assignment, so they need no query engine
(acidsql/arrow/executor.py). Other rows are found by the plan's query only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import frame_of
from acidsql.grammar.statements import Default, Insert, Values
from acidsql.planner.plan import ArrowInsert, FrameRows
from acidsql.planner.queries.name_resolution import default_of


def arrow_insert(statement: Insert, table: Table, columns: Sequence[Column]) -> ArrowInsert | None:
    """The rows of an INSERT, if the statement gives them as they are; None if a query computes them. `columns` are the
    target columns of the rows, by position.

    The trees may still be other expressions than literals: acidsql.values.literal_columns decides about them.
    """
    rows = _rows(statement, table, columns)
    if rows is None:
        return None
    static = {item.column.value: item.value for item in statement.partition if item.value is not None}
    others = [c for c in table.all_columns if c not in columns]
    constants = {c.name: static[c.name] if c.name in static else default_of(c, table) for c in others}
    return ArrowInsert(tuple(columns), rows, _copies(constants))


def _rows(
    statement: Insert, table: Table, columns: Sequence[Column]
) -> tuple[tuple[exp.Expr, ...], ...] | FrameRows | None:
    match statement.rows:
        case Values(rows=rows) if all(len(row) == len(columns) for row in rows):
            defaults = {c.name: default_of(c, table) for c in columns} if _has_default(rows) else {}
            return tuple(
                tuple(defaults[c.name] if isinstance(v, Default) else v for c, v in zip(columns, row, strict=True))
                for row in rows
            )
        case exp.Select() as query if _has_only(query, "expressions"):
            row = tuple(item.unalias().copy() for item in query.expressions)
            return (row,) if len(row) == len(columns) else None
        case exp.Select() as query:
            return frame_columns(query)
        case _:
            return None


def _has_default(rows: Sequence[Sequence[exp.Expr | Default]]) -> bool:
    return any(isinstance(value, Default) for row in rows for value in row)


def frame_columns(query: exp.Select) -> FrameRows | None:
    """The frame of a query that only selects columns of it; None for another query."""
    if not _has_only(query, "expressions", "from_") or query.args.get("from_") is None:
        return None
    source = query.args["from_"].this
    if not isinstance(source, exp.Table) or not _has_only(source, "this", "alias"):
        return None
    frame = frame_of(source)
    alias = source.args.get("alias")
    if frame is None or (alias is not None and not _has_only(alias, "this")):  # an alias may rename the columns
        return None
    if query.expressions == [exp.Star()]:
        return FrameRows(frame)
    items = [item.unalias() for item in query.expressions]
    if not all(isinstance(item, exp.Column) and _has_only(item, "this") for item in items):
        return None
    return FrameRows(frame, tuple(item.name for item in items))


def _has_only(node: exp.Expr, *names: str) -> bool:
    return {name for name, value in node.args.items() if value} <= set(names)


def _copies(trees: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    return {name: tree.copy() for name, tree in trees.items()}
