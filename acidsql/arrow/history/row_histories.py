"""The lives of single rows, from the events in the files of a table and from the table's history.

Beginning with the rows that are asked for, each event leads to the next: what deletes the row, and, where a pair is
told (row_pairs.py), to the row before an update and to the row after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.arrow.history.row_pairs import Other, RowPairs, Untold, bucket_of
from acidsql.arrow.history.stored_events import EventFiles, StoredDelete, StoredRow
from acidsql.snapshot.changed_files import statement_of
from acidsql.snapshot.row_history import RowChange, RowEvent, RowHistory
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories
from acidsql.snapshot.table_history import HistoryEntry


def row_histories(
    stored: StoredDirectories, writes: Mapping[WriteId, HistoryEntry], roots: Collection[RowPlace]
) -> list[RowHistory]:
    """The histories of the rows at some places, each once. Places without a row have none.

    Raises MALFORMED_LAYOUT, NOT_YET_SUPPORTED.
    """
    events = EventFiles(stored)
    found = _Found(events, RowPairs(events, writes))
    found.follow(roots)
    values = events.values(row for rows in found.rows.values() for row in rows)
    return list(_Assembly(stored, writes, found, values).histories(roots))


@dataclass(frozen=True)
class _Found:
    """The events of the rows that belong together with those that were asked for."""

    events: EventFiles
    pairs: RowPairs
    rows: dict[RowPlace, list[StoredRow]] = field(default_factory=dict)
    deletes: dict[RowPlace, dict[WriteId, list[StoredDelete]]] = field(default_factory=dict)
    before: dict[RowPlace, Other] = field(default_factory=dict)
    after: dict[tuple[RowPlace, WriteId], Other] = field(default_factory=dict)

    def follow(self, roots: Iterable[RowPlace]) -> None:
        waiting = set(roots)
        while waiting:
            for row in self.events.rows(waiting):
                self.rows.setdefault(row.place, []).append(row)
            for event in self.events.deletes(waiting):
                self.deletes.setdefault(event.place, {}).setdefault(event.deleter, []).append(event)
            others = {other for place in waiting for other in self._look_at(place)}
            waiting = others - self.before.keys()

    def _look_at(self, place: RowPlace) -> Iterator[RowPlace]:
        """The rows before and after one."""
        self.before[place] = self.pairs.before(self.rows[place]) if place in self.rows else None
        for write_id, events in self.deletes.get(place, {}).items():
            self.after[place, write_id] = self.pairs.after(events[0], events)
        others = (self.before[place], *(self.after[place, write_id] for write_id in self.deletes.get(place, {})))
        return (other for other in others if isinstance(other, RowPlace))


@dataclass(frozen=True)
class _Assembly:
    """Makes histories of what was found. `values` are those of the rows that are stored."""

    stored: StoredDirectories
    writes: Mapping[WriteId, HistoryEntry]
    found: _Found
    values: Mapping[RowPlace, Mapping[str, object]]

    def histories(self, roots: Iterable[RowPlace]) -> Iterator[RowHistory]:
        known: set[RowPlace] = set()
        for root in roots:
            if root not in known and (root in self.found.rows or root in self.found.deletes):
                together = self._together(root)
                known |= together.keys()
                events = [event for place in together for event in self._events(place, together[place])]
                events.sort(key=lambda event: event[0])
                current = next((place.id for place in together if self._is_seen(place)), None)
                yield RowHistory(tuple(event for _, event in events), current)

    def _together(self, root: RowPlace) -> dict[RowPlace, int]:
        """The row and those before and after it, with their numbers in the order of the updates."""
        first, seen = root, {root}
        while isinstance(earlier := self.found.before.get(first), RowPlace) and earlier not in seen:
            first = earlier
            seen.add(first)
        numbers, waiting = {first: 0}, [first]
        for place in waiting:
            for write_id in self.found.deletes.get(place, {}):
                later = self.found.after.get((place, write_id))
                if isinstance(later, RowPlace) and later not in numbers:
                    numbers[later] = numbers[place] + 1
                    waiting.append(later)
        return numbers

    def _events(self, place: RowPlace, number: int) -> Iterator[tuple[tuple[int, int, int], RowEvent]]:
        """The events that begin with the row at a place, with what orders them."""
        before = self.found.before.get(place)
        if not isinstance(before, RowPlace) and place in self.found.rows:
            is_update = isinstance(before, Untold) and before.is_update
            change = RowChange.UPDATE if is_update else RowChange.INSERT
            event = self._event(change, place.id.write_id, None, place, before)
            yield (event.version, event.statement_id or 0, number), event
        for write_id in sorted(self.found.deletes.get(place, {})):
            after = self.found.after[place, write_id]
            new = after if isinstance(after, RowPlace) else None
            is_update = new is not None or (isinstance(after, Untold) and after.is_update)
            event = self._event(RowChange.UPDATE if is_update else RowChange.DELETE, write_id, place, new, after)
            yield (event.version, event.statement_id or 0, number + 1), event
        overwrite = self._overwrite(place)
        if overwrite is not None:
            event = self._event(RowChange.OVERWRITE, overwrite, place, None, None)
            yield (overwrite, 0, number + 1), event

    def _overwrite(self, place: RowPlace) -> WriteId | None:
        """The write that has replaced the files of a row that was there until then."""
        writes = self.stored.content.writes
        assert writes is not None
        if place.id.write_id and not writes.is_valid(place.id.write_id):
            return None
        first = next((i for i in self.stored.overwrites(place.part) if i > place.id.write_id), None)
        deleted = (i for i in self.found.deletes.get(place, {}) if writes.is_valid(i))
        return None if first is None or any(i < first for i in deleted) else first

    def _event(
        self, change: RowChange, write_id: WriteId, old: RowPlace | None, new: RowPlace | None, other: Other
    ) -> RowEvent:
        place = new or old
        assert place is not None
        bucket, statement = bucket_of(place.id)
        events = () if old is None else self.found.deletes.get(old, {}).get(write_id, ())
        rows = () if new is None else self.found.rows.get(new, ())
        files = map(self.stored.path_of, (*(event.file for event in events), *(row.file for row in rows)))
        values = self.values.get(place, {})
        former = self.values.get(old, {}) if old is not None and new is not None else {}
        is_overwrite = change is RowChange.OVERWRITE
        return RowEvent(
            change,
            write_id,
            self._state(write_id),
            self.stored.parts[place.part].name,
            None if old is None else old.id,
            None if new is None else new.id,
            statement if new is not None else self._statement(events),
            None if is_overwrite else bucket,
            values,
            {name: value for name, value in former.items() if _differ(value, values.get(name))},
            (f"base_{write_id:07}",) if is_overwrite else tuple(dict.fromkeys(files)),
            self.writes.get(write_id),
            other.note if isinstance(other, Untold) else "",
        )

    def _statement(self, events: Sequence[StoredDelete]) -> StatementId | None:
        """The statement that deleted a row; None where its directory has the events of several."""
        named = (statement_of(self.stored.directory_of(event.file).parsed) for event in events)
        return next((statement for found in named if found for _, statement in [found]), None)

    def _state(self, write_id: WriteId) -> str:
        writes = self.stored.content.writes
        assert writes is not None
        return "committed" if write_id <= 0 else writes.state(write_id)

    def _is_seen(self, place: RowPlace) -> bool:
        """Whether readers see the row."""
        deletes = (e for events in self.found.deletes.get(place, {}).values() for e in events)
        is_deleted = any(self._is_read(event.file, event.deleter) for event in deletes)
        is_stored = any(self._is_read(row.file, place.id.write_id) for row in self.found.rows.get(place, ()))
        return is_stored and not is_deleted

    def _is_read(self, file: SourceFile, write_id: WriteId) -> bool:
        """Whether readers read the events of a write in a file."""
        directory = self.stored.directory_of(file)
        return directory.is_read and write_id not in directory.invalid_write_ids


def _differ(one: object, other: object) -> bool:
    """Whether two values of a column differ. NaN is one value, as in Hive."""
    are_nan = one != one and other != other
    return one != other and not are_nan
