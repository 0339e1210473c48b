"""The directories and files that have the changes of a range of versions.

A write inserts the rows of its deltas, and it deletes the rows that the events of its delete_deltas name. No base has
rows of the range, because a range is read only if the version before it still has its files (earlier_versions.py).

A delta and a delete_delta of one partition that have the same write ID and the same statement ID are the two halves of
an UPDATE, or of an UPDATE clause of MERGE (hive-acid-v2.md, "What acidsql writes"). Hive 4 gives the halves two
statement IDs, and a compaction leaves the statement IDs out: then their rows count as inserted and deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from acidsql.acid.directories import Base, Delta
from acidsql.acid.snapshot_selection import SelectedDirectory, Snapshot
from acidsql.acid.table import Table
from acidsql.acid.write_ids import StatementId, ValidWriteIdList, WriteId
from acidsql.errors import Span
from acidsql.planner.change_range import ChangeType
from acidsql.snapshot.delete_applicability import applicable_delete_files, row_range
from acidsql.snapshot.earlier_versions import not_enough_history, tells_write_ids
from acidsql.snapshot.scan_binding import BoundPart, BoundScan, SourceFile, data_files
from acidsql.snapshot.version import Version
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.tail import BUCKET_COLUMN, ORIGINAL_TRANSACTION_COLUMN, ROW_ID_COLUMN

_ROW_KEY: Final = (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN, ROW_ID_COLUMN)
Bounds: TypeAlias = tuple[int, int]
"""The smallest and the largest of some numbers."""
KeyBounds: TypeAlias = tuple[Bounds | None, ...]
"""The smallest and the largest write ID, bucket property and row ID of some rows; None where they are not known."""


def require_told(table: Table, parts: Sequence[BoundPart], before: Version, span: Span | None) -> None:
    """Checks that each row of the writes behind `before` tells its write. `parts` are those of the last version.

    Raises NOT_ENOUGH_HISTORY for a directory of several writes whose rows have no write IDs: those of insert-only
    tables, which may have become full ACID since.
    """
    for part in parts:
        for directory in _since(part.snapshot.deltas, before.first_after):
            delta = _delta(directory)
            files = [data.file.path.rpartition("/")[2] for data in directory.files]
            if delta.min_write_id < delta.max_write_id and not tells_write_ids(table, files):
                hint = "A compaction has merged rows of several writes, which do not tell their write."
                raise not_enough_history(before.write_id, directory.name, hint, span)


def changing_writes(parts: Sequence[BoundPart], before: Version, writes: ValidWriteIdList) -> frozenset[WriteId]:
    """The committed write IDs behind `before` that may have changes in the partitions."""
    first = before.first_after
    ranges = {
        (max(delta.min_write_id, first), min(delta.max_write_id, writes.high_watermark))
        for part in parts
        for directories in (part.snapshot.deltas, part.snapshot.delete_deltas)
        for delta in map(_delta, _since(directories, first))
    }
    ids = (WriteId(i) for low, high in ranges for i in range(low, high + 1))
    return frozenset(i for i in ids if i not in before and writes.is_valid(i))


def deleted_keys(deletes: Sequence[SourceFile]) -> tuple[Bounds | None, ...]:
    """The bounds of the write IDs, bucket properties and row IDs of the rows that the events in the files delete. There
    is at least one file."""
    return tuple(map(_joined, zip(*map(key_bounds, deletes), strict=True)))


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of the changes that the writes behind the version `before` made. `bound` is the scan of the last
    version."""

    bound: BoundScan
    before: Version
    footers: FooterCache

    @property
    def first(self) -> WriteId:
        """The lowest write ID that may have changes."""
        return self.before.first_after

    def insertions(self, *, net: bool) -> Mapping[ChangeType, BoundScan]:
        """The scans of the rows that the writes inserted, by what is said of these rows; with `net`, without those that
        are gone at the end. In directories with rows of earlier writes, the scans have these too."""
        if net:
            return {ChangeType.INSERT: self._living()}
        return {
            ChangeType.INSERT: self.inserted(by_updates=False),
            ChangeType.UPDATE_POSTIMAGE: self.inserted(by_updates=True),
        }

    def deletions(self, *, net: bool) -> Mapping[ChangeType, Sequence[SourceFile]]:
        """The files of the events by which the writes deleted rows, by what is said of these rows; with `net`, the
        events may delete rows of `before`. In directories with events of earlier writes, they have these too. Of two
        events of one write for a row, the one whose change comes first counts. Raises MALFORMED_LAYOUT."""
        if not self.bound.table.is_full_acid:
            return {}
        if net:
            return {ChangeType.DELETE: self._deletes_of_earlier_rows()}
        return {
            ChangeType.DELETE: self.delete_files(by_updates=False),
            ChangeType.UPDATE_PREIMAGE: self.delete_files(by_updates=True),
        }

    def _living(self) -> BoundScan:
        """The scan of the live rows in the directories of the writes."""

        def narrowed(part: BoundPart) -> BoundPart:
            kept = tuple(_since(part.snapshot.deltas, self.first))
            return replace(part, snapshot=replace(part.snapshot, base=None, original_files=(), deltas=kept))

        return self._recent(self._narrowed(map(narrowed, self.bound.parts)))

    def _deletes_of_earlier_rows(self) -> list[SourceFile]:
        """The files of the events by which the writes may have deleted rows of `before`."""

        def narrowed(part: BoundPart) -> BoundPart:
            kept = tuple(_since(part.snapshot.delete_deltas, self.first))
            return replace(part, snapshot=replace(part.snapshot, delete_deltas=kept))

        found = applicable_delete_files(self._narrowed(map(narrowed, self.bound.parts)), self.footers)
        bounds = ((file, key_bounds(file)[0]) for file in found)
        return [file for file, known in bounds if known is None or known[0] <= self.before.write_id]

    def inserted(self, *, by_updates: bool) -> BoundScan:
        """The scan of the rows that the writes inserted, deleted or not: those that UPDATEs inserted, or the others.
        In directories with rows of earlier writes, it has these too."""

        def narrowed(part: BoundPart) -> BoundPart:
            kept = _of_updates(part.snapshot, self.first, part.snapshot.deltas, wanted=by_updates)
            return _with_data(part, replace(part.snapshot, base=None, original_files=(), deltas=kept))

        return self._recent(self._narrowed(map(narrowed, self.bound.parts)))

    def delete_files(self, *, by_updates: bool) -> list[SourceFile]:
        """The files of the events by which the writes deleted rows: those of UPDATEs, or the others. In directories
        with events of earlier writes, they have these too. Raises MALFORMED_LAYOUT."""

        def narrowed(part: BoundPart) -> BoundPart:
            snapshot = part.snapshot
            kept = _of_updates(snapshot, self.first, snapshot.delete_deltas, wanted=by_updates)
            return replace(part, snapshot=replace(snapshot, delete_deltas=kept))

        return applicable_delete_files(self._narrowed(map(narrowed, self.bound.parts)), self.footers)

    def holding(self, deletes: Sequence[SourceFile]) -> BoundScan:
        """The scan of the data files that may have a row that an event of these files deletes, with its deleted rows.

        The write IDs of the rows rule out directories, and the row IDs in the footers rule out files.
        """
        keys: dict[int, list[KeyBounds]] = {}
        for file in deletes:
            keys.setdefault(file.part, []).append(key_bounds(file))
        parts = (_with_writes(part, [k[0] for k in keys.get(n, ())]) for n, part in enumerate(self.bound.parts))
        some = self._narrowed(parts)
        found = data_files(some, self.footers)
        wanted = {f.origin for f in found if any(meets(key_bounds(f), key) for key in keys[f.part])}
        # The rows of a plain file are numbered behind those of the files before it.
        plain = {f.part for f in found if f.origin in wanted and not f.is_acid}
        wanted |= {f.origin for f in found if f.part in plain and not f.is_acid}
        return replace(some, parts=tuple(part.of_files(wanted) for part in some.parts))

    def _narrowed(self, parts: Iterator[BoundPart]) -> BoundScan:
        return replace(self.bound, parts=tuple(parts))

    def _recent(self, inserted: BoundScan) -> BoundScan:
        """The scan without the files whose footers tell that all rows are of earlier writes."""
        deltas = [_delta(directory) for part in inserted.parts for directory in part.snapshot.deltas]
        if all(delta.min_write_id >= self.first for delta in deltas):
            return inserted
        bounds = {f.origin: key_bounds(f)[0] for f in data_files(inserted, self.footers)}
        wanted = {origin for origin, known in bounds.items() if known is None or known[1] >= self.first}
        return replace(inserted, parts=tuple(part.of_files(wanted) for part in inserted.parts))


def _with_data(part: BoundPart, snapshot: Snapshot) -> BoundPart:
    return replace(part, snapshot=replace(snapshot, delete_deltas=()))


def _since(directories: Sequence[SelectedDirectory], first: WriteId) -> list[SelectedDirectory]:
    return [directory for directory in directories if _delta(directory).max_write_id >= first]


def _of_updates(
    snapshot: Snapshot, first: WriteId, directories: Sequence[SelectedDirectory], *, wanted: bool
) -> tuple[SelectedDirectory, ...]:
    """Those of the directories with writes from `first` on that are halves of UPDATEs, or the others."""
    halves = _statements(snapshot.deltas) & _statements(snapshot.delete_deltas)
    return tuple(d for d in _since(directories, first) if (statement_of(d.parsed) in halves) == wanted)


def _statements(directories: Sequence[SelectedDirectory]) -> set[tuple[WriteId, StatementId] | None]:
    return {statement_of(directory.parsed) for directory in directories} - {None}


def statement_of(parsed: Base | Delta | None) -> tuple[WriteId, StatementId] | None:
    """The write and the statement that wrote a directory; None if it has the events of several, and for a base."""
    if not isinstance(parsed, Delta) or parsed.statement_id is None or parsed.min_write_id < parsed.max_write_id:
        return None
    return parsed.min_write_id, parsed.statement_id


def _delta(directory: SelectedDirectory) -> Delta:
    assert isinstance(directory.parsed, Delta)
    return directory.parsed


def _with_writes(part: BoundPart, writes: Sequence[Bounds | None]) -> BoundPart:
    """The part with the data directories that may have rows of the writes in one of the ranges, without its delete
    events."""

    def may_have(low: int, high: int) -> bool:
        return any(known is None or (known[0] <= high and low <= known[1]) for known in writes)

    snapshot = part.snapshot
    base = snapshot.base
    has_base = base is not None and may_have(0, max(_write_id_of_base(base), 0))
    return _with_data(
        part,
        replace(
            snapshot,
            base=base if has_base else None,
            original_files=snapshot.original_files if may_have(0, 0) else (),
            deltas=tuple(d for d in snapshot.deltas if may_have(_delta(d).min_write_id, _delta(d).max_write_id)),
        ),
    )


def _write_id_of_base(base: SelectedDirectory) -> int:
    assert not isinstance(base.parsed, Delta)
    return base.parsed.write_id


def key_bounds(file: SourceFile) -> KeyBounds:
    """The bounds of the row IDs of a file's rows, or of those that its events delete."""
    if file.tail is None:
        return None, None, None
    if file.is_acid:
        return tuple(file.tail.integer_range(column) for column in _ROW_KEY)
    known = row_range(file)
    assert known is not None
    row_ids = (known.row_ids.start, known.row_ids.stop - 1)
    return (known.write_id, known.write_id), (known.bucket_property, known.bucket_property), row_ids


def _joined(bounds: Sequence[Bounds | None]) -> Bounds | None:
    """The bounds around all these; None if one of them is not known."""
    known = [each for each in bounds if each is not None]
    if len(known) < len(bounds):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def meets(one: KeyBounds, other: KeyBounds) -> bool:
    """Whether a row ID may lie within both bounds."""
    return all(a is None or b is None or (a[0] <= b[1] and b[0] <= a[1]) for a, b in zip(one, other, strict=True))
