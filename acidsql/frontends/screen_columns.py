"""What SHOW COMPACTIONS, LOCKS and TRANSACTIONS, and DESCRIBE HISTORY print on a terminal: few columns, and times and
numbers that people read.

Programs get all columns; those of Hive have milliseconds since 1970 as times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from acidsql.statements.results import ResultColumn, RowsResult

_Fields: TypeAlias = Mapping[str, str | None]


def _whole_name(database: str, table: str, partition: str) -> Callable[[_Fields], str | None]:
    def name(row: _Fields) -> str | None:
        relation = ".".join(filter(None, (row[database], row[table])))
        return "/".join(filter(None, (relation, row[partition])))

    return name


def _field(name: str) -> Callable[[_Fields], str | None]:
    return lambda row: row[name]


def _moment(name: str) -> Callable[[_Fields], str | None]:
    return lambda row: readable_time(row[name])


def _seconds(name: str) -> Callable[[_Fields], str | None]:
    return lambda row: None if (millis := row[name]) is None else f"{int(millis) / 1000:.1f}"


def _owner(row: _Fields) -> str:
    return f"{row['user']}@{row['hostname' if 'hostname' in row else 'host']}"


def _changed_rows(row: _Fields) -> str | None:
    """The counts of a write with signs, as `+3 ~1 -2`; None where nobody has counted any."""
    known = [(sign, row[f"num_{word}_rows"]) for sign, word in (("+", "inserted"), ("~", "updated"), ("-", "deleted"))]
    if all(count is None for _, count in known):
        return None
    return " ".join(f"{sign}{count}" for sign, count in known if count not in (None, "0")) or "none"


def _whole_seconds(row: _Fields) -> str | None:
    """A time of UTC without its milliseconds."""
    time_of_utc = row["timestamp"]
    return None if time_of_utc is None else f"{time_of_utc.partition('.')[0]}Z"


_COLUMNS: Final[Mapping[str, Sequence[tuple[str, Callable[[_Fields], str | None]]]]] = {
    "SHOW COMPACTIONS": (
        ("id", _field("compactionid")),
        ("table", _whole_name("dbname", "tabname", "partname")),
        ("type", _field("type")),
        ("state", _field("state")),
        ("enqueued", _moment("enqueuetime")),
        ("started", _moment("starttime")),
        ("seconds", _seconds("duration")),
        ("error", _field("errormessage")),
    ),
    "SHOW LOCKS": (
        ("lock", _field("lockid")),
        ("table", _whole_name("database", "table", "partition")),
        ("state", _field("lock_state")),
        ("type", _field("lock_type")),
        ("waits for", _field("blocked_by")),
        ("txn", _field("transaction_id")),
        ("since", _moment("acquired_at")),
        ("owner", _owner),
    ),
    "SHOW TRANSACTIONS": (
        ("txn", _field("txnid")),
        ("state", _field("state")),
        ("started", _moment("startedtime")),
        ("last heartbeat", _moment("lastheartbeattime")),
        ("owner", _owner),
    ),
    "DESCRIBE HISTORY": (
        ("version", _field("version")),
        ("committed", _whole_seconds),
        ("txn", _field("txn_id")),
        ("operation", _field("operation")),
        ("rows", _changed_rows),
        ("user", _field("user")),
        ("readable", lambda row: "yes" if row["readable"] == "true" else "no"),
    ),
}
_LEFT_OUT_WHERE_EMPTY: Final = ("error", "waits for")
_NUMBERS: Final = ("id", "txn", "version", "seconds", "enqueued", "started", "since", "last heartbeat")
"""Columns that are aligned as numbers are, and never cut."""


def for_screen(
    result: RowsResult, rows: Iterable[tuple[object, ...]]
) -> tuple[Sequence[ResultColumn], Iterable[tuple[object, ...]]]:
    """The columns and rows that a terminal shows of a result."""
    shown = _COLUMNS.get(result.operation)
    if shown is None:
        return result.columns, rows
    names = [column.name for column in result.columns]
    fields: list[_Fields] = [dict(zip(names, map(_text, row), strict=True)) for row in rows]
    values = {name: [of(row) for row in fields] for name, of in shown}
    kept = [name for name in values if name not in _LEFT_OUT_WHERE_EMPTY or any(values[name])]
    columns = [ResultColumn(name, "bigint" if name in _NUMBERS else "string") for name in kept]
    return columns, _rows([values[name] for name in kept])


def _rows(columns: Sequence[Sequence[object]]) -> Iterator[tuple[object, ...]]:
    return zip(*columns, strict=True)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def readable_time(millis: str | None) -> str | None:
    """The local time of a moment in milliseconds since 1970: of today without the day.

    >>> readable_time(None), readable_time("0")
    (None, None)
    """
    if millis is None or not int(millis):
        return None
    moment = time.localtime(int(millis) / 1000)
    return time.strftime("%H:%M:%S" if moment[:3] == time.localtime()[:3] else "%Y-%m-%d %H:%M", moment)
