"""The rows of a MERGE's source that need no computation (planner/merge/arrow_source.py), as an Arrow table.

Its columns are those of the query `ArrowMerge.source`, which Spark runs where the rows cannot be had here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.acid.table import Column, Table
from acidsql.arrow.scan.live_rows import PreparedRows
from acidsql.arrow.scan.parallel_reads import MemoryLimit, TooMuchMemoryError, read_in_threads
from acidsql.arrow.scan.predicate_masks import true_rows
from acidsql.arrow.scan.spark_schema import column_type
from acidsql.arrow.write.changed_rows import rows_to_read
from acidsql.arrow.write.inserted_columns import frame_table, has_one_meaning, stored_literals
from acidsql.errors import AcidSqlError
from acidsql.planner.merge.arrow_merge import IF_MATCHED, IF_NOT_MATCHED
from acidsql.planner.plan import ArrowMerge, FrameScan
from acidsql.planner.source_rows import Actions, SourceRows
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.storage.footer_cache import FooterCache
from acidsql.values.literal_columns import Kind, literal
from acidsql.values.numpy_arrays import mask_array

_UNREADABLE = (AcidSqlError, OSError, pa.ArrowException, TooMuchMemoryError)


def rows_of_call(merge: ArrowMerge, target: Table, frames: Mapping[str, object]) -> pa.Table | None:
    """The rows of a frame of the call, or of the statement's text; None if Spark has to convert one of their values.
    `frames` are the frames of the call."""
    assert merge.rows is not None
    try:
        arrays = _arrays_of_call(merge.rows, merge.source.frames, frames)
        return None if arrays is None else _queried(merge, merge.rows, target, arrays)
    except _UNREADABLE:
        return None


def rows_of_table(
    merge: ArrowMerge,
    target: Table,
    bound: BoundScan,
    footers: FooterCache,
    may_read: Callable[[int], bool],
    most_bytes: int,
) -> pa.Table | None:
    """The rows of a table; None if Spark has to read them: a file is one that pyarrow does not read, so many rows may
    not be read here, or they take more than `most_bytes` of memory."""
    rows = merge.rows
    assert rows is not None
    kinds = _kinds(rows)
    try:
        prepared = PreparedRows.of(bound, footers, list(rows.columns), rows.predicate)
        if not may_read(rows_to_read(prepared)):
            return None
        limit = MemoryLimit(most_bytes)
        found = [some for group in read_in_threads(prepared, limit.taken) for some in group]
        pieces = {name: [some.columns[name] for some in found] for name in rows.columns}
        arrays = {name: _joined(pieces[name], kinds[name]) for name in rows.columns}
        return _queried(merge, rows, target, (arrays, sum(some.count for some in found)))
    except _UNREADABLE:
        return None


def schema_of_table(merge: ArrowMerge, target: Table) -> pa.Schema:
    """The columns that `rows_of_table` gives, but those of the clauses."""
    rows = merge.rows
    assert rows is not None
    kinds = _kinds(rows)
    stored = {name: parse_type(column.type) for name, column in _stored(merge, target).items()}
    outputs = rows.outputs.items()
    return pa.schema([(n, column_type(kinds[o] if isinstance(o, str) else stored[n])) for n, o in outputs])


def _stored(merge: ArrowMerge, target: Table) -> dict[str, Column]:
    """The columns of the target that store columns of the source's query, by the names of these."""
    columns = {c.name: c for c in target.all_columns}
    return {source: columns[name] for clause in merge.clauses for name, source in clause.values.items()}


def _kinds(rows: SourceRows) -> dict[str, HiveType]:
    return {name: parse_type(column.type) for name, column in rows.columns.items()}


def _joined(arrays: list[Any], kind: HiveType) -> Any:
    return pa.chunked_array(arrays, column_type(kind)).combine_chunks()


# ------------------------------------------------------------------------------------------------ rows of the call


def _arrays_of_call(
    rows: SourceRows, scans: tuple[FrameScan, ...], frames: Mapping[str, object]
) -> tuple[Mapping[str, Any], int] | None:
    """The columns of the rows for which the condition is true, and the number of these rows."""
    given = _of_frame(rows, scans, frames) if rows.view is not None else _of_literals(rows)
    if given is None or rows.predicate is None:
        return given
    arrays, count = given
    mask = mask_array(true_rows(rows.predicate, arrays.__getitem__, _kinds(rows), count))
    return {name: array.filter(mask) for name, array in arrays.items()}, mask.true_count


def _of_frame(
    rows: SourceRows, scans: tuple[FrameScan, ...], frames: Mapping[str, object]
) -> tuple[Mapping[str, Any], int] | None:
    (scan,) = scans
    table = frame_table(frames.get(scan.frame))
    if table is None:
        return None
    names = [name.lower() for name in table.column_names]
    if any(names.count(name) != 1 for name in rows.columns):
        return None
    arrays = {name: table.column(names.index(name)).combine_chunks() for name in rows.columns}
    kinds = _kinds(rows)
    if not all(has_one_meaning(arrays[name].type, kinds[name]) for name in rows.tested):
        return None
    return arrays, table.num_rows


def _of_literals(rows: SourceRows) -> tuple[Mapping[str, Any], int] | None:
    count = len(rows.literals)
    arrays = {}
    for (name, column), trees in zip(rows.columns.items(), zip(*rows.literals, strict=True), strict=True):
        is_unknown = all(literal(tree)[0] is Kind.NULL for tree in trees)
        array = pa.nulls(count) if is_unknown else stored_literals(trees, column)
        if array is None:
            return None
        arrays[name] = array
    return arrays, count


# ------------------------------------------------------------------------------------------------ the query


def _queried(
    merge: ArrowMerge, rows: SourceRows, target: Table, given: tuple[Mapping[str, Any], int]
) -> pa.Table | None:
    """The columns of the source's query; None if the value of an expression is not certain."""
    arrays, count = given
    kinds, stored = _kinds(rows), _stored(merge, target)
    found: dict[str, Any] = {}
    for name, output in rows.outputs.items():
        array = arrays[output] if isinstance(output, str) else _repeated(output, stored[name], count)
        if array is None:
            return None
        found[name] = array
    for name, actions in ((IF_MATCHED, rows.if_matched), (IF_NOT_MATCHED, rows.if_not_matched)):
        found[name] = _acting(actions, arrays, kinds, count)
    return pa.table(found)


def _repeated(tree: exp.Expr, column: Column, count: int) -> Any | None:
    one = stored_literals((tree,), column)
    return None if one is None else one.take(pa.array(np.zeros(count, np.int64)))


def _acting(actions: Actions, arrays: Mapping[str, Any], kinds: Mapping[str, HiveType], count: int) -> Any:
    """The number of the first clause whose condition is true for each row, NULL if none is."""
    numbers = np.zeros(count, np.int32)
    is_open = np.ones(count, np.bool_)
    for predicate, number in actions:
        acts = is_open & true_rows(predicate, arrays.__getitem__, kinds, count)
        numbers[acts] = number
        is_open &= ~acts
    return pa.array(numbers, mask=is_open)
