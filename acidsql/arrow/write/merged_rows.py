"""The rows that a MERGE changes and inserts, found by pyarrow, as placed events (acidsql/writing/placed_columns.py).

The rows of the source are in memory, with the number of the clause that acts on a target row with their key, and of the
one that acts if there is no such row (planner/merge/arrow_merge.py). The target is read once, and each of its
rows looks for its key among those of the source. No two rows of the source have one key, so that no target row can be
changed twice, and the cardinality check has nothing to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from acidsql.acid import hive_types as t
from acidsql.acid.table import Column, Table
from acidsql.arrow.scan.deleted_row_ids import RowIds
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.parallel_reads import MemoryLimit, TooMuchMemoryError, in_groups, read_in_threads
from acidsql.arrow.write.changed_rows import filed, makes_rows, rows_to_read
from acidsql.arrow.write.inserted_columns import has_one_meaning, stored_arrow
from acidsql.arrow.write.row_events import EVENT_BYTES, OldRows, Placed, PlacedEvents
from acidsql.errors import AcidSqlError
from acidsql.planner.conditions.row_predicates import And, IsOneOf, RowPredicate
from acidsql.planner.merge.arrow_merge import IF_MATCHED, IF_NOT_MATCHED
from acidsql.planner.plan import ArrowClause, ArrowMerge, WritePlan
from acidsql.planner.queries.key_conditions import has_keys
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.storage.footer_cache import FooterCache
from acidsql.writing.placed_columns import value_directories
from acidsql.writing.row_placement import partitions_of

_MOST_KEYS: Final = 1 << 62
"""Combinations of values that a number can tell apart."""

_FEW_KEYS: Final = 256
"""How many keys the rows of a large target are compared with before their other columns are read."""
_LARGE: Final = 1_000_000
"""The rows of a large target."""

_Numbers = NDArray[np.int64]


def can_merge(plan: WritePlan, given: ArrowMerge) -> bool:
    """Whether rows that the clauses write can be made here, whatever the source gives."""
    return makes_rows(plan.target) or all(clause.insert_branch is None for clause in given.clauses)


def takes_source(plan: WritePlan, given: ArrowMerge, schema: pa.Schema) -> bool:
    """Whether the types of the source leave no doubt about which keys are equal, and what the target stores."""
    kinds = {c.name: t.parse_type(c.type) for c in plan.target.all_columns}
    return all(has_one_meaning(schema.field(source).type, kinds[name]) for name, source in _pairs(given))


def _pairs(given: ArrowMerge) -> Iterator[tuple[str, str]]:
    """Columns of the target, each with the column of the source that is compared with it or stored in it."""
    yield from given.keys.items()
    for clause in given.clauses:
        yield from clause.values.items()


@dataclass(frozen=True, slots=True)
class _Source:
    """The rows of the source: `columns` as the target stores them, the numbers of the clauses (-1 for none), and the
    keys."""

    columns: Mapping[str, Any]
    if_matched: _Numbers
    if_not_matched: _Numbers
    keys: _Keys


class _Keys:
    """The keys of the source's rows. Each column's values are numbered, and so are the combinations of all columns."""

    def __init__(self, columns: Sequence[Any]) -> None:
        self._known = [pc.unique(column.drop_null()) for column in columns]
        codes = self._codes(columns)
        self._rows = np.flatnonzero(codes >= 0)
        order = np.argsort(codes[self._rows], kind="stable")
        self._rows = self._rows[order]
        self._sorted = codes[self._rows]
        self.are_unique = bool((self._sorted[1:] != self._sorted[:-1]).all())

    @property
    def are_few(self) -> bool:
        """Whether a number can tell all combinations apart."""
        return int(np.prod([float(len(known)) for known in self._known])) < _MOST_KEYS

    def _codes(self, columns: Sequence[Any]) -> _Numbers:
        """The number of each key; -1 for one that the source does not have, and for NULL."""
        codes = np.zeros(len(columns[0]), np.int64)
        for column, known in zip(columns, self._known, strict=True):
            found = pc.index_in(column.cast(known.type), value_set=known)
            numbers = _numbers(found)
            codes = np.where((codes < 0) | (numbers < 0), -1, codes * len(known) + numbers)
        return codes

    def condition(self, columns: Sequence[Column]) -> RowPredicate | None:
        """A condition that every row with one of the keys fulfils; None if the keys are many, or of other types."""
        found: RowPredicate | None = None
        for column, known in zip(columns, self._known, strict=True):
            if len(known) > _FEW_KEYS or not has_keys(column):
                continue
            days_or_values = known.cast(pa.int32()) if pa.types.is_date32(known.type) else known
            one = IsOneOf(column.name, tuple(days_or_values.to_pylist()))
            found = one if found is None else And(found, one)
        return found

    def rows_of(self, columns: Sequence[Any]) -> _Numbers:
        """The row of the source with the key of each row; -1 if there is none."""
        codes = self._codes(columns)
        rows = np.full(len(codes), -1, np.int64)
        possible = np.flatnonzero(codes >= 0)
        if len(self._sorted):
            places = np.minimum(np.searchsorted(self._sorted, codes[possible]), len(self._sorted) - 1)
            is_found = self._sorted[places] == codes[possible]
            rows[possible[is_found]] = self._rows[places[is_found]]
        return rows


def _numbers(column: Any) -> _Numbers:
    """The integers of a column, -1 for NULL."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    known = pc.if_else(pc.is_valid(column), column, pa.scalar(-1, column.type))
    return np.asarray(known.cast(pa.int64()).to_numpy(zero_copy_only=False), np.int64)


def _source_of(rows: pa.Table, plan: WritePlan, given: ArrowMerge) -> _Source | None:
    """The source's rows; None if one of the values is not certain to be stored as it is, or if a key is there twice."""
    columns = {c.name: c for c in plan.target.all_columns}
    stored: dict[str, Any] = {}
    for name, source in _pairs(given):
        if source not in stored:
            array = stored_arrow(rows.column(source), t.parse_type(columns[name].type))
            if array is None:
                return None
            stored[source] = array
    keys = _Keys([stored[source] for source in given.keys.values()])
    if not keys.are_few or not keys.are_unique:
        return None
    return _Source(stored, _numbers(rows.column(IF_MATCHED)), _numbers(rows.column(IF_NOT_MATCHED)), keys)


# ------------------------------------------------------------------------------------------------ matched rows


@dataclass(frozen=True, slots=True)
class _Matched:
    """The target rows whose keys the source has: the row of the source for each, and the columns that an UPDATE
    keeps."""

    source: _Numbers
    old: OldRows
    kept: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TargetRows:
    """The target's rows before they are read, with the columns that the MERGE needs."""

    prepared: PreparedRows
    kept: tuple[str, ...]

    @classmethod
    def of(cls, plan: WritePlan, given: ArrowMerge, bound: BoundScan, footers: FooterCache) -> TargetRows | None:
        """None if Spark has to read a file, or to report what is wrong with it."""
        updates = [c for c in given.clauses if c.insert_branch is not None and c.delete_branch is not None]
        names = [c.name for c in plan.target.columns]
        kept = tuple(name for name in names if any(name not in update.values for update in updates))
        read = tuple(dict.fromkeys((*given.keys, *kept)))
        try:
            return cls(PreparedRows.of(bound, footers, read, row_ids=True), kept)
        except (AcidSqlError, OSError, pa.ArrowException):
            return None

    @property
    def count(self) -> int:
        """How many rows are to be read."""
        return rows_to_read(self.prepared)

    def matched(self, source: _Source, keys: Sequence[str], most_bytes: int) -> _Matched | None:
        """The rows whose keys the source has; None if Spark has to read a file, or if the columns that an UPDATE keeps
        take more than `most_bytes` of memory."""

        limit = MemoryLimit(most_bytes)

        def of_files(rows: Iterator[LiveRows]) -> list[_Matched]:
            pieces = []
            for some in in_groups(rows, lambda some: some.count):  # each time, the keys of the source are hashed
                for piece in self._found(some, source, keys):
                    kept = sum(column.get_total_buffer_size() for column in piece.kept.values())
                    limit.take(kept + EVENT_BYTES * piece.old.count)
                    pieces.append(piece)
            return pieces

        try:
            found = [piece for pieces in read_in_threads(self._narrowed(source, keys), of_files) for piece in pieces]
        except (AcidSqlError, OSError, pa.ArrowException, TooMuchMemoryError):
            return None
        return _joined(found, self.kept)

    def _narrowed(self, source: _Source, keys: Sequence[str]) -> PreparedRows:
        """The rows of a large target that can have one of a few keys: other columns are read for these only."""
        columns = {column.name: column for column in self.prepared.bound.table.columns}
        if self.count < _LARGE or not columns.keys() >= set(keys):
            return self.prepared
        return replace(self.prepared, predicate=source.keys.condition([columns[key] for key in keys]))

    def _found(self, some: Sequence[LiveRows], source: _Source, keys: Sequence[str]) -> Iterator[_Matched]:
        columns = [pa.chunked_array([rows.columns[key] for rows in some]) for key in keys]
        partners = source.keys.rows_of(columns)
        start = 0
        for rows in some:
            partner = partners[start : start + rows.count]
            start += rows.count
            places = np.flatnonzero(partner >= 0)
            if len(places) and rows.row_ids is not None:
                taken = pa.array(places)
                old = OldRows(rows.row_ids.filtered(places), np.full(len(places), rows.file.part, np.int64))
                yield _Matched(partner[places], old, {name: rows.columns[name].take(taken) for name in self.kept})


def _joined(found: Sequence[_Matched], kept: Sequence[str]) -> _Matched:
    none = [np.zeros(0, np.int64)]
    columns = {
        name: pa.chunked_array([f.kept[name] for f in found]) if found else pa.chunked_array([], pa.null())
        for name in kept
    }
    old = OldRows(RowIds.joined([f.old.ids for f in found]), np.concatenate([f.old.part for f in found] or none))
    return _Matched(np.concatenate([f.source for f in found] or none), old, columns)


# ------------------------------------------------------------------------------------------------ events


def merged(plan: WritePlan, given: ArrowMerge, rows: pa.Table, target: TargetRows, most_bytes: int) -> Placed | None:
    """The events of the MERGE. None if Spark has to find them: a key of the source is there twice, pyarrow cannot read,
    compare or write a value, NULL stands where it must not, or the rows take more than `most_bytes` of memory."""
    source = _source_of(rows, plan, given)
    matched = None if source is None else target.matched(source, tuple(given.keys), most_bytes)
    if source is None or matched is None:
        return None
    has_partner = np.zeros(rows.num_rows, np.bool_)
    has_partner[matched.source] = True
    if_matched = source.if_matched[matched.source]
    if_not_matched = np.where(has_partner, -1, source.if_not_matched)
    if _bytes_of_events(given, source, matched, if_matched, if_not_matched) > most_bytes:
        return None
    events = PlacedEvents(plan, target.prepared.bound)
    for number, clause in enumerate(given.clauses):
        if clause.delete_branch is None:
            places = np.flatnonzero(if_not_matched == number)
            done = _add_inserts(events, plan, clause, _values(plan.target, clause, source, places, {}))
        else:
            places = np.flatnonzero(if_matched == number)
            taken = pa.array(places)
            kept = {name: column.take(taken) for name, column in matched.kept.items()}
            new = _values(plan.target, clause, source, matched.source[places], kept)
            done = _add_changes(events, clause, matched.old.filtered(places), new)
        if not done:
            return None
    return events.placed()


def _bytes_of_events(
    given: ArrowMerge, source: _Source, matched: _Matched, if_matched: _Numbers, if_not_matched: _Numbers
) -> int:
    """About how much memory the events will take, at most. The arguments are the numbers of the clauses, as in
    `_Source`, of the matched target rows and of the source's rows."""
    events = new = 0
    for number, clause in enumerate(given.clauses):
        count = int(np.count_nonzero((if_not_matched if clause.delete_branch is None else if_matched) == number))
        events += count * ((clause.insert_branch is not None) + (clause.delete_branch is not None))
        new += count if clause.insert_branch is not None else 0
    of_source = sum(column.get_total_buffer_size() for column in source.columns.values()) / max(1, len(if_not_matched))
    kept = sum(column.get_total_buffer_size() for column in matched.kept.values())
    return int(EVENT_BYTES * events + of_source * new + kept)


def _values(
    table: Table, clause: ArrowClause, source: _Source, rows: _Numbers, kept: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The columns of the rows that a clause writes, as they are filed; None if one of them cannot be written."""
    if clause.insert_branch is None:
        return {}
    taken = pa.array(rows)
    new = {}
    for column in table.columns if clause.delete_branch is not None else table.all_columns:
        if column.name in clause.values:
            array = source.columns[clause.values[column.name]].take(taken)
        else:
            array = filed(column, kept[column.name].chunks)
        if array is None or (column.name in table.constraints.not_null and array.null_count):
            return None
        new[column.name] = array
    return new


def _add_inserts(events: PlacedEvents, plan: WritePlan, clause: ArrowClause, new: Mapping[str, Any] | None) -> bool:
    """Adds rows of a NOT MATCHED clause; False if there is no place for them."""
    if new is None or clause.insert_branch is None:
        return False
    texts: dict[str, Any] = {}
    if plan.target.partition_columns:
        columns = [(c, t.parse_type(c.type), new[c.name]) for c in plan.target.partition_columns]
        try:
            partitions, places = partitions_of(columns, (), len(next(iter(new.values()))))
        except AcidSqlError:  # Spark's way reports the value
            return False
        for number, name in enumerate(value_directories(plan.target)):
            of_partitions = pa.array([values[number] for values in partitions], pa.string())
            texts[name] = of_partitions.take(pa.array(places))
    events.add_inserts(clause.insert_branch, texts, new)
    return True


def _add_changes(events: PlacedEvents, clause: ArrowClause, old: OldRows, new: Mapping[str, Any] | None) -> bool:
    """Adds the deleted old rows of a MATCHED clause, and the new ones of an UPDATE; False if one of them cannot be
    written."""
    if new is None or clause.delete_branch is None:
        return False
    if clause.insert_branch is not None:
        events.add_new(clause.insert_branch, old, new)
    events.add_deletes(clause.delete_branch, old)
    return True
