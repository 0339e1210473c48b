"""Staged files of events that this process writes, as ORC in C++."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType, TracebackType
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import orc

from acidsql.acid.hive_types import HiveType, has_date, has_instant, has_timestamp, is_complex, parse_type
from acidsql.acid.layout import BUCKET, OPERATION_DELETE, ORIGINAL_TRANSACTION, ROW_ID
from acidsql.acid.partition_names import DEFAULT_PARTITION, escape
from acidsql.acid.row_id import encode_bucket
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.merge.cardinality import check_event, check_sorted
from acidsql.planner.plan import BRANCH, Branch, Effect, EventKind, WritePlan
from acidsql.storage.file_systems import FileSystem, NewEnd
from acidsql.storage.orc.commit_notes import commit_note
from acidsql.storage.orc.event_columns import insert_columns
from acidsql.storage.orc.orc_footers import arrow_codec, finished_file, writer_options
from acidsql.values.arrow_types import arrow_type
from acidsql.writing.file_slots import Slots
from acidsql.writing.placed_columns import NEW_BUCKET, OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, staging_columns
from acidsql.writing.publishing import FinishedFile, StagedFile, WriteTarget, staged_as_finished

_FILE: Final = "part-00000-driver.orc"
_Numbers: TypeAlias = "NDArray[np.int64]"


def can_write_files(table: Table) -> bool:
    """Whether pyarrow can write the files of a table as Spark does.

    The files must be ORC, without `orc.*` properties other than the codec, and of types that pyarrow writes.
    """
    options = writer_options(table)
    types = [parse_type(c.type) for c in table.columns]
    return (
        table.file_format == "orc"
        and set(options) == {"orc.compress"}
        and arrow_codec(table) is not None
        and not any(map(_has_times_inside, types))
    )


def _has_times_inside(hive_type: HiveType) -> bool:
    """Whether a value has dates or times inside: writers check only whole values."""
    return is_complex(hive_type) and (has_date(hive_type) or has_timestamp(hive_type) or has_instant(hive_type))


def write_inserts(rows: Any, target: WriteTarget) -> list[StagedFile]:
    """Writes the rows of an INSERT, an Arrow table of the columns `_c0` and so on, to one file without a slot; no file
    for no rows."""
    if not rows.num_rows:
        return []
    ids = insert_columns(rows.num_rows, target.write_id, encode_bucket(0, target.statement_ids[0]), 0)
    # A copy: of a slice, pyarrow writes structs that are not its own (arrow/adapters/orc/util.cc: no offsets).
    copied = rows.combine_chunks().take(pa.array(np.arange(rows.num_rows)))
    note = commit_note(target.operation, target.txn, target.statement_ids[0])
    written = write_events(target.files, target.staging, target.table, "", ids, copied, is_delete=False, note=note)
    return staged_as_finished(target, [written], None)


@dataclass(frozen=True, slots=True)
class NewRows:
    """The rows of placed events, apart from them: an Arrow table with the columns `_c0` and so on, and for each event
    the position of its row."""

    table: Any
    of_events: _Numbers


def write_placed(
    placed: Any, plan: WritePlan, target: WriteTarget, slots: Slots, apart: NewRows | None = None
) -> list[StagedFile]:
    """Writes placed events (event_rows.py), an Arrow table, to the files of their slots. It holds their rows, too,
    unless these are `apart`; delete events need none.

    Raises CARDINALITY_VIOLATION.
    """
    if not placed.num_rows:
        return []
    directories = staging_columns(plan)
    row_columns = (*directories, OLD_WRITE_ID, OLD_BUCKET, OLD_ROW)
    order = _order(placed, row_columns)
    if plan.cardinality_branch is not None:
        branches = _numbers(placed.column(BRANCH))[order]
        checked = order[branches == plan.cardinality_branch]
        check_sorted([_numbers(placed.column(name))[checked] for name in row_columns])
        if (check := check_event(plan.branches)) is not None:
            order = order[branches != check]
    files = list(_files(placed, order, directories, plan))
    if len({f.directory for f in files}) < len(files):
        reason = "two groups of rows would go to one file"
        raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=target.staging, reason=reason)
    in_directory = Counter(f.target for f in files)

    def write(file: _File) -> FinishedFile:
        is_paired = in_directory[file.target] == 1 and _replaces_rows(placed, file, plan.branches[file.branch])
        return _write_file(placed, file, plan, target, apart, is_paired=is_paired)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        written = list(pool.map(write, files))
    return staged_as_finished(target, written, slots.by_code())


def _replaces_rows(placed: Any, file: _File, branch: Branch) -> bool:
    """Whether a file has the new rows of updates, each in the partition of the row that it replaces, whose row ID the
    event has. Sorted events have the order of these row IDs."""
    if branch.kind is not EventKind.INSERT or branch.effect is not Effect.UPDATED or branch.by_columns:
        return False
    return bool(placed.column(OLD_ROW).take(pa.array(file.events)).null_count == 0)


def _order(placed: Any, keys: Sequence[str]) -> _Numbers:
    """The positions of the rows in Spark's order by the columns, NULL first."""
    columns = {k: placed.column(k) for k in keys}
    filled = {k: c.fill_null("" if pa.types.is_string(c.type) else -1) for k, c in columns.items()}
    if all(pa.types.is_integer(column.type) for column in filled.values()):
        by_first = np.argsort(filled[keys[0]].to_numpy(), kind="stable")
        if are_in_order([column.to_numpy()[by_first] for column in filled.values()]):
            return np.asarray(by_first, np.int64)
    order = pc.sort_indices(pa.table(filled), sort_keys=[(k, "ascending") for k in keys])
    return np.asarray(order.to_numpy(), np.int64)


def are_in_order(keys: Sequence[_Numbers], *, strictly: bool = False) -> bool:
    """Whether rows ascend by the keys, of which the first counts most; `strictly`, whether no two rows are equal, too.
    Mostly rows are found in this order."""
    is_in_order = np.full(max(0, len(keys[0]) - 1), not strictly)
    for key in reversed(keys):
        is_in_order = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & is_in_order)
    return bool(is_in_order.all())


@dataclass(frozen=True, slots=True)
class _File:
    """A staged file: its directory, its branch, the positions of its events, and the row ID of its first new row, which
    is the number of insert events before it."""

    directory: str
    branch: int
    events: _Numbers
    first_row: int

    @property
    def target(self) -> tuple[int, str]:
        """What files have in common that go to one directory of a partition: all but the slot."""
        return self.branch, self.directory.partition("/")[2]


def _files(placed: Any, order: _Numbers, directories: Sequence[str], plan: WritePlan) -> Iterator[_File]:
    starts = np.flatnonzero(_starts(placed, order, directories)).tolist()
    first_row = 0
    for start, end in pairwise([*starts, len(order)]):
        one = placed.slice(int(order[start]), 1)
        branch = one.column(BRANCH)[0].as_py()
        parts = (f"{escape(name)}={_escaped(one.column(name)[0].as_py())}" for name in directories)
        yield _File("/".join(parts), branch, order[start:end], first_row)
        if plan.branches[branch].kind is EventKind.INSERT:
            first_row += end - start


def _starts(placed: Any, order: _Numbers, keys: Sequence[str]) -> NDArray[np.bool_]:
    """For each row in the order: whether it differs from the row before it in one of the columns."""
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        values = _numbers(placed.column(key))[order]
        differs[1:] |= values[1:] != values[:-1]
    return differs


def _numbers(column: Any) -> _Numbers:
    """A number for each value, equal for equal values. Numbers stay as they are."""
    if pa.types.is_string(column.type):
        column = column.combine_chunks().dictionary_encode().indices
    return np.asarray(column.cast(pa.int64()).fill_null(-1).to_numpy(), np.int64)


def _write_file(
    placed: Any, file: _File, plan: WritePlan, target: WriteTarget, apart: NewRows | None, *, is_paired: bool
) -> FinishedFile:
    names = [f"_c{i}" for i in range(len(plan.target.columns))]
    count = len(file.events)
    is_insert = plan.branches[file.branch].kind is EventKind.INSERT
    if is_insert:
        first = placed.column(NEW_BUCKET)[int(file.events[0])].as_py()
        bucket = first << 16 | encode_bucket(0, target.statement_ids[file.branch])
        ids = insert_columns(count, target.write_id, bucket, file.first_row)
        rows = placed.select(names) if apart is None else apart.table
        row = rows.take(pa.array(file.events if apart is None else apart.of_events[file.events]))
    else:
        named = placed.select([OLD_WRITE_ID, OLD_BUCKET, OLD_ROW]).take(pa.array(file.events))
        ids, row = _deletions(named, target.write_id), _no_rows(names, count, plan.target)
    note = commit_note(target.operation, target.txn, target.statement_ids[file.branch], is_paired=is_paired)
    return write_events(
        target.files, target.staging, target.table, file.directory, ids, row, is_delete=not is_insert, note=note
    )


def _no_rows(names: Sequence[str], count: int, table: Table) -> Any:
    types = [_without_zone(arrow_type(parse_type(c.type))) for c in table.columns]
    return pa.table({name: pa.nulls(count, kind) for name, kind in zip(names, types, strict=True)})


def _escaped(value: object) -> str:
    """The value as Spark escapes it in a directory's name. No text of a partition is empty (partition_text.py)."""
    text = "" if value is None else str(value)
    return escape(text) if text else DEFAULT_PARTITION


def _deletions(rows: Any, write_id: WriteId) -> dict[str, Any]:
    return {
        "operation": np.full(rows.num_rows, OPERATION_DELETE, np.int32),
        "originalTransaction": rows.column(OLD_WRITE_ID),
        "bucket": rows.column(OLD_BUCKET),
        "rowId": rows.column(OLD_ROW),
        "currentTransaction": np.full(rows.num_rows, write_id, np.int64),
        "row": pa.nulls(rows.num_rows, pa.bool_()),
    }


def write_events(
    files: FileSystem,
    staging: str,
    table: Table,
    directory: str,
    ids: Mapping[str, Any],
    rows: Any,
    *,
    is_delete: bool,
    note: Mapping[str, str] = MappingProxyType({}),
) -> FinishedFile:
    """Writes a file of events, or of the rows of an insert-only table, with its final footer, to a directory below the
    staging directory. `ids` are the six ACID columns. `rows` must not be a slice. `note` goes into the metadata.

    Where a move would copy the file, it is not written before it takes its final place.
    """
    sink = pa.BufferOutputStream()
    orc.write_table(_columns(table, ids, rows), sink, compression=arrow_codec(table))
    path = f"{directory}/{_FILE}" if directory else _FILE
    whole = f"{staging}/{path}"
    content = sink.getvalue().to_pybytes()
    pieces = finished_file(
        content, whole, table, is_delete=is_delete, keys=lambda places: _keys(ids, places), note=note
    )
    if files.new_end(whole) is NewEnd.IN_A_COPY:
        return FinishedFile(path, rows.num_rows, pieces)
    files.make_directories(whole.rpartition("/")[0])
    files.assemble(whole, pieces)
    return FinishedFile(path, rows.num_rows)


class EventFile:
    """A local file of events that is written piece by piece, without its final footer; a context manager. There is no
    file if nothing is written."""

    def __init__(self, path: str, table: Table) -> None:
        self._path = path
        self._table = table
        self._writer: Any = None

    def write(self, ids: Mapping[str, Any], rows: Any) -> None:
        """Adds events, as `write_events` takes them."""
        if self._writer is None:
            self._writer = orc.ORCWriter(self._path, compression=arrow_codec(self._table))
        self._writer.write(_columns(self._table, ids, rows))

    def __enter__(self) -> EventFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()


def _columns(table: Table, ids: Mapping[str, Any], rows: Any) -> Any:
    """The columns of a file of events, or of the rows of an insert-only table."""
    columns = {f.name: _column(rows.column(f.name), f.type) for f in rows.schema}
    if table.is_insert_only:
        return pa.table({c.name: value for c, value in zip(table.columns, columns.values(), strict=True)})
    return pa.table({**ids, **columns})


def _keys(ids: Mapping[str, Any], places: Sequence[int]) -> list[tuple[int, int, int]]:
    """The row IDs at some positions of events."""
    columns = (np.asarray(ids[name])[list(places)].tolist() for name in (ORIGINAL_TRANSACTION, BUCKET, ROW_ID))
    return list(zip(*columns, strict=True))


def _column(values: Any, kind: Any) -> Any:
    filed = _without_zone(kind)
    return values if filed == kind else values.cast(filed)


def _without_zone(kind: Any) -> Any:
    """The type with wall-clock times, which ORC's TIMESTAMP holds. The storage session is in the JVM's zone, UTC."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _without_zone(f.type), f.nullable) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(_without_zone(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_without_zone(kind.key_type), _without_zone(kind.item_type))
    return kind
