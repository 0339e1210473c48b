"""The life of a row as values: who inserted, updated and deleted it, and in which files that lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from acidsql.acid.row_id import RowId
from acidsql.acid.table import Column
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.snapshot.table_history import HistoryEntry


class RowChange(Enum):
    """What a write did to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    OVERWRITE = "overwrite"
    """A write without an event of the row has replaced the files that hold it."""


@dataclass(frozen=True, slots=True)
class RowEvent:
    """One change of a row by the write ID `version`, whose `state` is committed, open, aborted or later than this
    snapshot. An update deletes the row with the ID `old` and inserts one with the ID `new`, of which one is None where
    the files do not tell it; `note` says so. `values` are those of the new row, or else those of the old one.
    """

    change: RowChange
    version: WriteId
    state: str
    partition: str
    old: RowId | None
    new: RowId | None
    statement_id: StatementId | None
    """None where a compaction has merged the statements of a write."""
    bucket: int | None
    values: Mapping[str, object]
    changed: Mapping[str, object]
    """The former values of the columns that an update has changed."""
    files: tuple[str, ...]
    """The files with the events, below the directory of the partition. Results of compactions have events, too."""
    write: HistoryEntry | None
    """What the table's history tells of the write."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowHistory:
    """The events of a row, the oldest one first. `current` is the row ID under which readers see the row now; None for
    a row that was deleted or never committed."""

    events: tuple[RowEvent, ...]
    current: RowId | None


@dataclass(frozen=True, slots=True)
class RowHistories:
    """The rows that were asked for, and whether there are more of them. `columns` are those of the table."""

    columns: tuple[Column, ...]
    rows: Sequence[RowHistory]
    has_more: bool = False
