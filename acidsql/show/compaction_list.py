"""SHOW COMPACTIONS: Hive's columns, and the filters behind the table.

[POOL 'p'] [TYPE 't'] [STATE 's'] [ORDER BY column [DESC], ..] [LIMIT n], or the ID of one compaction
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.statements import Show
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
"""Of Hive's ShowCompactionsDesc; times in milliseconds since 1970, the duration in milliseconds."""

_Value: TypeAlias = "str | int | None"
_TOKEN: Final = re.compile(r"\s*(?:(ORDER\s+BY)|'([^']*)'|\"([^\"]*)\"|`([^`]*)`|(\w+)|(,|.))", re.I | re.S)
_FILTERS: Final = {"POOL": "poolname", "TYPE": "type", "STATE": "state", "STATUS": "state"}


def compaction_rows(found: Sequence[Compaction], statement: Show) -> tuple[tuple[str | None, ...], ...]:
    """The rows that the statement's filters leave. Raises PARSE_SYNTAX_ERROR, COLUMN_NOT_FOUND."""
    rows = [dict(zip(COMPACTION_COLUMNS, _row(c), strict=True)) for c in found]
    if statement.filter is not None:
        rows = _filtered(rows, _Reader(statement))
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


class _Reader:
    """The words of the filters, one by one."""

    def __init__(self, statement: Show) -> None:
        text = statement.filter or ""
        self._source = statement.source
        self._offset = statement.source.rfind(text)
        self._words = list(_words(text))
        self._next = 0

    def peek(self) -> str | None:
        """The next word in upper case; None at the end."""
        return self._words[self._next][0].upper() if self._next < len(self._words) else None

    def take(self) -> str:
        if self._next == len(self._words):
            raise self.wrong("expected more")
        word, _ = self._words[self._next]
        self._next += 1
        return word

    def wrong(self, message: str) -> AcidSqlError:
        """The error under the next word."""
        at = self._words[self._next][1] if self._next < len(self._words) else len(self._source) - self._offset
        word = self._words[self._next][0] if self._next < len(self._words) else ""
        start = self._offset + at
        return AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=Span(self._source, start, start + len(word)),
            message=f"Syntax error near '{word}': {message}",
        )


def _words(text: str) -> Iterator[tuple[str, int]]:
    for found in _TOKEN.finditer(text):
        word = next(group for group in found.groups() if group is not None)
        yield " ".join(word.split()) if found.group(1) else word, found.start(found.lastindex or 0)


def _filtered(rows: list[dict[str, _Value]], reader: _Reader) -> list[dict[str, _Value]]:
    while (word := reader.peek()) is not None:
        if word.isdecimal():
            number = int(reader.take())
            rows = [r for r in rows if r["compactionid"] == number]
        elif word in _FILTERS:
            reader.take()
            value = reader.take().lower()
            column = _FILTERS[word]
            rows = [r for r in rows if str(r[column]).lower() == value]
        elif word == "ORDER BY":
            reader.take()
            rows = _ordered(rows, reader)
        elif word == "LIMIT":
            reader.take()
            if not (reader.peek() or "").isdecimal():
                raise reader.wrong("expected a number")
            rows = rows[: int(reader.take())]
        else:
            raise reader.wrong("expected POOL '..', TYPE '..', STATE '..', ORDER BY, LIMIT or the ID of a compaction")
    return rows


def _ordered(rows: list[dict[str, _Value]], reader: _Reader) -> list[dict[str, _Value]]:
    items: list[tuple[str, bool]] = []
    while True:
        error = reader.wrong("expected a column")
        name = reader.take().lower()
        column = "starttime" if name == "start" else name  # as Hive's documentation has it
        if column not in COMPACTION_COLUMNS:
            near = suggestion(name, list(COMPACTION_COLUMNS))
            raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=error.span, column=name, suggestion=near)
        descending = reader.peek() == "DESC"
        if reader.peek() in ("ASC", "DESC"):
            reader.take()
        items.append((column, descending))
        if reader.peek() != ",":
            break
        reader.take()
    for column, descending in reversed(items):
        rows = sorted(rows, key=lambda r, c=column: (r[c] is not None, r[c] or 0), reverse=descending)  # type: ignore[misc]
    return rows
