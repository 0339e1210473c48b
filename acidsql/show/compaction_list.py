"""SHOW COMPACTIONS: Hive's columns, and the clauses that filter, order and limit its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, assert_never

from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.grammar.statements import (
    CompactionClause,
    CompactionFilter,
    CompactionId,
    CompactionLimit,
    CompactionOrder,
    Name,
)
from acidsql.metastore.compactions import Compaction

COMPACTION_COLUMNS: Final = (
    "compactionid",
    "dbname",
    "tabname",
    "partname",
    "type",
    "state",
    "workerhost",
    "workerid",
    "enqueuetime",
    "starttime",
    "duration",
    "hadoopjobid",
    "errormessage",
    "initiatorhost",
    "initiatorid",
    "poolname",
    "txnid",
    "nexttxnid",
    "committime",
    "highestwriteid",
)
"""The columns of Hive's ShowCompactionsDesc. Times are milliseconds since 1970, the duration is in milliseconds."""

_Value: TypeAlias = "str | int | None"
_Row: TypeAlias = "dict[str, _Value]"


def compaction_rows(
    compactions: Sequence[Compaction], clauses: Sequence[CompactionClause]
) -> tuple[tuple[str | None, ...], ...]:
    """The rows that the clauses leave, applied in the order of the statement's text. Raises COLUMN_NOT_FOUND."""
    rows: list[_Row] = [dict(zip(COMPACTION_COLUMNS, _row(c), strict=True)) for c in compactions]
    for clause in clauses:
        match clause:
            case CompactionId(number):
                rows = [row for row in rows if row["compactionid"] == number]
            case CompactionFilter():
                rows = [row for row in rows if _matches(row, clause)]
            case CompactionOrder():
                rows = _ordered(rows, clause)
            case CompactionLimit(count):
                rows = rows[:count]
            case _:
                assert_never(clause)
    return tuple(tuple(None if v is None else str(v) for v in row.values()) for row in rows)


def _row(compaction: Compaction) -> tuple[_Value, ...]:
    c, request = compaction, compaction.request
    return (
        c.id,
        request.database,
        request.table,
        request.partition,
        request.type.value,
        c.state.value,
        c.worker_host or None,
        c.worker or None,
        c.enqueued or None,
        c.started or None,
        (c.committed or c.ended) - c.started if c.started and (c.committed or c.ended) else None,
        None,
        c.error or None,
        c.initiator_host or None,
        request.initiator or None,
        request.pool or "default",
        c.txn or None,
        c.next_txn or None,
        c.committed or None,
        c.highest_write_id,
    )


def _matches(row: _Row, clause: CompactionFilter) -> bool:
    """Values compare without regard to case, as in Hive."""
    return str(row[clause.column]).lower() == clause.value.lower()


def _ordered(rows: list[_Row], order: CompactionOrder) -> list[_Row]:
    """Sorts by the last column first: each sort is stable. NULLs come first where a column ascends."""
    for name, descending in reversed(order.columns):
        column = _column(name)
        rows = sorted(rows, key=lambda r, c=column: (r[c] is not None, r[c] or 0), reverse=descending)  # type: ignore[misc]
    return rows


def _column(name: Name) -> str:
    """The column that ORDER BY names; Hive's documentation writes `start` for `starttime`."""
    column = "starttime" if name.value == "start" else name.value
    if column not in COMPACTION_COLUMNS:
        similar = suggestion(column, list(COMPACTION_COLUMNS))
        raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=column, suggestion=similar)
    return column
