"""Which row an UPDATE has put in place of which: it deletes one and inserts another, with a row ID of its own.

A delta and a delete_delta with one write ID and one statement ID are the halves of an UPDATE, or of an UPDATE clause of
MERGE (changed_files.py). Their rows are told apart in three ways:

- The halves have one row each, in all partitions together.
- The delta has one file, whose note says that its rows have the order of those that they replace (commit_notes.py).
- The statements are merged, and the metastore tells that the write has updated one row and done nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from acidsql.acid.directories import Base, Delta
from acidsql.acid.row_id import RowId, decode_bucket
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.arrow.history.stored_events import EventFiles, StoredDelete, StoredRow
from acidsql.arrow.scan.deleted_row_ids import RowIds, runs
from acidsql.snapshot.changed_files import statement_of
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.snapshot.stored_directories import RowPlace
from acidsql.snapshot.table_history import HistoryEntry
from acidsql.storage.orc.commit_notes import note_of


@dataclass(frozen=True, slots=True)
class Untold:
    """The other row of an event is not told, and why. `is_update` means that there is one."""

    note: str
    is_update: bool


Other: TypeAlias = "RowPlace | Untold | None"
"""The other row of an update; None where the event is no update."""


class _Places:
    """Finds the positions of row IDs, which need not be in order."""

    def __init__(self, part: int, ids: RowIds) -> None:
        self.part = part
        self.ids = ids
        order = np.lexsort((ids.row, ids.bucket, ids.write_id))
        ordered = ids.filtered(order)
        self._runs = {
            (int(ordered.write_id[start]), int(ordered.bucket[start])): (ordered.row[start:stop], order[start:stop])
            for start, stop in runs(ordered)
        }

    def position(self, place: RowPlace) -> int | None:
        """None for a row that is not among them, or more than once."""
        run = self._runs.get((place.id.write_id, place.id.bucket_property)) if place.part == self.part else None
        if run is None:
            return None
        rows, positions = run
        first, behind = (int(np.searchsorted(rows, place.id.row_id, side)) for side in ("left", "right"))
        return int(positions[first]) if behind - first == 1 else None

    def at(self, position: int) -> RowPlace:
        ids = self.ids
        write_id, bucket, row = (int(column[position]) for column in (ids.write_id, ids.bucket, ids.row))
        return RowPlace(self.part, RowId(WriteId(write_id), bucket, row))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The rows of the halves of an update, of which those at the same positions belong together."""

    old: _Places
    new: _Places

    def after(self, place: RowPlace) -> RowPlace | None:
        position = self.old.position(place)
        return None if position is None else self.new.at(position)

    def before(self, place: RowPlace) -> RowPlace | None:
        position = self.new.position(place)
        return None if position is None else self.old.at(position)


_Find: TypeAlias = Callable[[_Pairs], RowPlace | None]
_Halves: TypeAlias = tuple[Sequence[_Pairs], "Untold | None"]
"""The pairs of a statement, and what is to be said of its other rows."""


def _may_be_renumbered(parsed: Base | Delta | None, row_id: RowId) -> bool:
    """Whether a directory may be that of a rebalance, which gives all rows the write ID of its base."""
    return isinstance(parsed, Base) and parsed.visibility_txn is not None and parsed.write_id == row_id.write_id


@dataclass(frozen=True)
class RowPairs:
    """Finds the other rows of updates. `writes` is what the table's history tells of each write."""

    events: EventFiles
    writes: Mapping[WriteId, HistoryEntry]
    _of_statements: dict[tuple[WriteId, StatementId], _Halves] = field(default_factory=dict)
    _of_writes: dict[WriteId, _Halves] = field(default_factory=dict)

    def after(self, event: StoredDelete, events: Sequence[StoredDelete]) -> Other:
        """The row that took the place of a deleted one. `events` are all of the row by the same write."""
        named = (statement_of(self.events.stored.directory_of(e.file).parsed) for e in events)
        statement = next((found for found in named if found is not None), None)
        return self._other(event.deleter, statement, lambda pairs: pairs.after(event.place))

    def before(self, rows: Sequence[StoredRow]) -> Other:
        """The row whose place a row has taken. `rows` are all its copies in files."""
        place = rows[0].place
        if place.id.write_id <= 0:
            return None  # it is older than the first write
        parsed = [self.events.stored.directory_of(row.file).parsed for row in rows]
        statement = next(filter(None, map(statement_of, parsed)), None)
        other = self._other(place.id.write_id, statement, lambda pairs: pairs.before(place))
        if not isinstance(other, RowPlace) and all(_may_be_renumbered(each, place.id) for each in parsed):
            note = f"A compaction has merged the events of version {place.id.write_id}. If it was a rebalance, it has"
            return Untold(f"{note} numbered the row anew, and the row may be older.", is_update=False)
        only_in_bases = all(isinstance(each, Base) for each in parsed)
        if other is None and only_in_bases and self._counts(place.id.write_id) is None and self._is_merged(place.id):
            return Untold("A compaction has removed the events that tell whether this was an update.", is_update=False)
        return other

    def _other(
        self,
        write_id: WriteId,
        statement: tuple[WriteId, StatementId] | None,
        find: _Find,
    ) -> Other:
        pairs, rest = self._statement(*statement) if statement else self._write(write_id)
        found = (other for other in map(find, pairs) if other is not None)
        return next(found, rest)

    def _is_merged(self, row_id: RowId) -> bool:
        """Whether a base with the row can be the result of a compaction: that of an overwrite has rows of its own."""
        directories = (d for part in self.events.stored.parts for d in part.directories)
        bases = (d.parsed for d in directories if isinstance(d.parsed, Base))
        return any(base.write_id > row_id.write_id or base.visibility_txn is not None for base in bases)

    # -- the statement's directories are there

    def _statement(self, write_id: WriteId, statement_id: StatementId) -> _Halves:
        key = (write_id, statement_id)
        if key not in self._of_statements:
            self._of_statements[key] = self._of_statement(write_id, statement_id)
        return self._of_statements[key]

    def _of_statement(self, write_id: WriteId, statement_id: StatementId) -> _Halves:
        stored = self.events.stored

        def is_half(_: int, parsed: Base | Delta | None) -> bool:
            return statement_of(parsed) == (write_id, statement_id)

        new, old = stored.files_with_rows(is_half), stored.files_with_deletes(is_half)
        if not new or not old:
            return self._write(write_id) if self._has_merged(write_id) else ((), self._of_hive(write_id))
        counts = [sum(f.tail.rows for f in files if f.tail is not None) for files in (new, old)]
        if counts == [1, 1]:
            deleted = _Places(old[0].part, self.events.all_deletes(old))
            return (_Pairs(deleted, _Places(new[0].part, self.events.all_rows(new))),), None
        note = f"The statement has updated {counts[1]:,} rows, and the files do not tell which of them became which."
        parts = {file.part for file in new}
        found = [self._in_order(part, _in(part, old), _in(part, new)) for part in sorted(parts)]
        return [pairs for pairs in found if pairs is not None], Untold(note, is_update=True)

    def _in_order(self, part: int, old: Sequence[SourceFile], new: Sequence[SourceFile]) -> _Pairs | None:
        """The pairs within a partition, where the file of the new rows has them in the order of the old ones."""
        note = note_of(new[0].tail) if len(new) == 1 and new[0].tail is not None else None
        if note is None or not note.is_paired:
            return None
        deleted, inserted = self.events.all_deletes(old), self.events.all_rows(new)
        ordered = deleted.filtered(np.lexsort((deleted.row, deleted.bucket, deleted.write_id)))
        if len(ordered.row) != len(inserted.row):
            return None
        return _Pairs(_Places(part, ordered), _Places(part, inserted))

    def _of_hive(self, write_id: WriteId) -> Untold | None:
        """What is to be said of a half of which there is no other one: Hive 4 gives the halves two statement IDs."""
        entry = self.writes.get(write_id)
        if entry is None or entry.source != "directory" or entry.operation != "WRITE":
            return None
        note = (
            f"Version {write_id} has deleted and inserted rows by several statement IDs, as an UPDATE of Hive does: if"
            " this is an update, the files do not tell its other row."
        )
        return Untold(note, is_update=False)

    def _has_merged(self, write_id: WriteId) -> bool:
        """Whether a directory may have events of the write beside those of other writes or statements."""
        directories = (d.parsed for part in self.events.stored.parts for d in part.directories)
        return any(_merges(parsed, write_id) for parsed in directories)

    # -- the statements are merged

    def _write(self, write_id: WriteId) -> _Halves:
        if write_id not in self._of_writes:
            self._of_writes[write_id] = self._of_write(write_id)
        return self._of_writes[write_id]

    def _of_write(self, write_id: WriteId) -> _Halves:
        counts = self._counts(write_id)
        if counts is not None and counts[0] == 0:
            return (), None
        is_update = counts is not None and counts[1:] == (0, 0)
        new, old = self.events.inserted_by(write_id, 1), self.events.deleted_by(write_id, 1)
        if is_update and counts == (1, 0, 0) and new is not None and old is not None and len(new) == len(old) == 1:
            (inserted,), (deleted,) = new, old
            return (_Pairs(_single(deleted), _single(inserted)),), None
        has_both = new != set() and old != set()
        if not is_update and not has_both:
            return (), None
        told = "" if is_update else "if this is an update, "
        note = f"A compaction has merged the events of version {write_id}: {told}the files do not tell its other row."
        return (), Untold(note, is_update=is_update)

    def _counts(self, write_id: WriteId) -> tuple[int, int, int] | None:
        """The rows that a write has updated, inserted and deleted; None where nobody tells."""
        entry = self.writes.get(write_id)
        if entry is None or entry.updated is None or entry.inserted is None or entry.deleted is None:
            return None
        return entry.updated, entry.inserted, entry.deleted


def bucket_of(row_id: RowId) -> tuple[int, StatementId]:
    """The bucket number and the statement ID in a row ID. Raises MALFORMED_LAYOUT."""
    decoded = decode_bucket(row_id.bucket_property)
    return decoded.bucket, decoded.statement_id


def _merges(parsed: Base | Delta | None, write_id: WriteId) -> bool:
    if isinstance(parsed, Base):
        return write_id <= parsed.write_id
    return (
        parsed is not None and statement_of(parsed) is None and parsed.min_write_id <= write_id <= parsed.max_write_id
    )


def _in(part: int, files: Sequence[SourceFile]) -> list[SourceFile]:
    return [file for file in files if file.part == part]


def _single(place: RowPlace) -> _Places:
    numbers = (place.id.write_id, place.id.bucket_property, place.id.row_id)
    return _Places(place.part, RowIds(*(np.array([number], np.int64) for number in numbers)))
