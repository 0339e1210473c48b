"""DESCRIBE HISTORY: the committed writes of a table, and its compactions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from acidsql.snapshot.table_history import HistoryEntry

HISTORY_COLUMNS: Final = (
    "version",
    "timestamp",
    "txn_id",
    "operation",
    "num_inserted_rows",
    "num_updated_rows",
    "num_deleted_rows",
    "user",
    "readable",
    "source",
)
"""The timestamp is one of UTC, as a literal of SQL."""


def history_row(entry: HistoryEntry) -> tuple[str | None, ...]:
    return (
        str(entry.version),
        None if entry.time is None else utc_text(entry.time),
        _text(entry.txn),
        entry.operation,
        _text(entry.inserted),
        _text(entry.updated),
        _text(entry.deleted),
        entry.user,
        str(entry.is_readable).lower(),
        entry.source,
    )


def utc_text(millis: int) -> str:
    """A moment in milliseconds since 1970 as a time of UTC."""
    text = datetime.fromtimestamp(millis / 1000, UTC).isoformat(" ", "milliseconds")
    return text.replace("+00:00", "Z")


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
