"""The rows that an UPDATE or DELETE changes, found by pyarrow, as placed events (acidsql/writing/placed_columns.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from acidsql.acid import hive_types as t
from acidsql.acid.table import Column, Table
from acidsql.arrow.scan.deleted_row_ids import RowIds
from acidsql.arrow.scan.live_rows import LiveRows, PreparedRows
from acidsql.arrow.scan.parallel_reads import MemoryLimit, TooMuchMemoryError, read_in_threads
from acidsql.arrow.write.inserted_columns import is_known, stored_literals, takes
from acidsql.arrow.write.row_events import EVENT_BYTES, OldRows, Placed, PlacedEvents
from acidsql.errors import AcidSqlError
from acidsql.planner.conditions.row_predicates import RowPredicate, row_predicate, undecided
from acidsql.planner.dml.arrow_change import column_of
from acidsql.planner.plan import ArrowChange, EventKind, WritePlan
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.storage.footer_cache import FooterCache
from acidsql.values.column_arrays import UnfitValue, array_of_arrow


@dataclass(frozen=True, slots=True)
class Changes:
    """A condition, and what becomes of the rows for which it is true: new values by column, an array of one value each.
    A DELETE has none."""

    predicate: RowPredicate
    new_values: Mapping[str, pa.Array]


def changes_of(plan: WritePlan, given: ArrowChange) -> Changes | str:
    """The changes, or why Spark has to make them: the condition, what SET stores, or the places of the new rows are not
    certain here."""
    table = plan.target
    predicate = row_predicate(given.condition, lambda node: column_of(node, given, table))
    if undecided(predicate) is not None:
        return "only Spark evaluates its condition"
    columns = {c.name: c for c in table.columns}
    values = {name: stored_literals((tree,), columns[name]) for name, tree in given.new_values.items()}
    known = {name: array for name, array in values.items() if array is not None}
    if len(known) < len(values):
        return "only Spark computes what SET stores"
    if values and not makes_rows(table):
        return f"only Spark makes new rows of {table.qualified}"
    return Changes(predicate, known)


def makes_rows(table: Table) -> bool:
    """Whether new rows of the table can be made of old ones here."""
    kinds = [t.parse_type(c.type) for c in table.columns]
    has_others = any(t.is_complex(kind) or t.has_instant(kind) for kind in kinds)
    partitions = {c.name for c in table.partition_columns}
    constraints = table.constraints
    return not has_others and not constraints.checks and partitions.isdisjoint(constraints.not_null) and takes(table)


def placed_changes(
    plan: WritePlan,
    changes: Changes,
    bound: BoundScan,
    footers: FooterCache,
    may_read: Callable[[int], bool],
    most_bytes: int,
) -> Placed | None:
    """The events of the changes; None if Spark has to find them: so many rows may not be read here, the events take
    more than `most_bytes` of memory, or pyarrow cannot read a file or write a new row."""
    table = plan.target
    kept = [c.name for c in table.columns if changes.new_values and c.name not in changes.new_values]
    try:
        prepared = PreparedRows.of(bound, footers, kept, changes.predicate, row_ids=True)
        if not may_read(rows_to_read(prepared)):
            return None
        limit, events = MemoryLimit(most_bytes), EVENT_BYTES * len(plan.branches)
        found = [rows for some in read_in_threads(prepared, lambda rows: limit.taken(rows, events)) for rows in some]
    except (AcidSqlError, OSError, pa.ArrowException, TooMuchMemoryError):
        return None  # Spark's way reads the file, or reports what is wrong with it
    old, placed = _old_rows(found), PlacedEvents(plan, bound)
    new = _new_rows(table, changes, found) if changes.new_values else {}
    if new is None:
        return None
    for number, branch in enumerate(plan.branches):
        if branch.kind is EventKind.INSERT:
            placed.add_new(number, old, new)
        else:
            placed.add_deletes(number, old)
    return placed.placed()


def rows_to_read(prepared: PreparedRows) -> int:
    """The rows of the stripes that can hold a row for which the condition is true."""
    return sum(
        file.tail.stripe_rows[stripe]
        for file in prepared.files
        if file.tail is not None
        for stripe in prepared.skipping.stripes(file)
    )


def _old_rows(found: Sequence[LiveRows]) -> OldRows:
    ids = RowIds.joined([rows.row_ids for rows in found if rows.row_ids is not None])
    parts = [np.full(rows.count, rows.file.part, np.int64) for rows in found]
    return OldRows(ids, np.concatenate(parts or [np.zeros(0, np.int64)]))


def _new_rows(table: Table, changes: Changes, found: Sequence[LiveRows]) -> dict[str, pa.Array] | None:
    """The columns of the new rows as they are filed, by name; None if pyarrow cannot write a value, or if NULL stands
    where it must not."""
    count = sum(rows.count for rows in found)
    new: dict[str, pa.Array] = {}
    for column in table.columns:
        array = filed(column, [rows.columns[column.name] for rows in found if column.name in rows.columns])
        if column.name in changes.new_values:
            array = changes.new_values[column.name].take(pa.array(np.zeros(count, np.int64)))
        if array is None or (column.name in table.constraints.not_null and array.null_count):
            return None
        new[column.name] = array
    return new


def filed(column: Column, arrays: Sequence[pa.Array]) -> pa.Array | None:
    kind = t.parse_type(column.type)
    try:
        array = array_of_arrow(pa.chunked_array(arrays, arrays[0].type if arrays else pa.null()), kind)
    except UnfitValue:
        return None
    return array if is_known(array, kind) else None
