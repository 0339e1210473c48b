"""DML by the Arrow engine: this process finds and writes the rows of small statements, with pyarrow.

The files, row IDs, statement IDs and errors are those of the strategy `ByDriver`, for which Spark computes the rows.
The plan says which statements it can run (`WritePlan.arrow`): an INSERT of rows that are written in the statement, and
an UPDATE or DELETE whose condition it can evaluate, and a MERGE whose clauses depend on its source alone. Spark then
computes the rows of the source, unless they need no computation (`ArrowMerge.rows`). Where it shows only after a look
at the values or at the table that Spark has to find the rows, nothing is written, and Spark goes on in the transaction
that is already open (acidsql/engines).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, assert_never

import numpy as np
import pyarrow as pa

from acidsql.acid.table import Table
from acidsql.arrow.write import changed_rows, inserted_columns, merged_rows
from acidsql.arrow.write.row_events import Placed
from acidsql.arrow.write.source_rows import rows_of_call, rows_of_table, schema_of_table
from acidsql.planner.plan import (
    BRANCH,
    DRIVER_BYTES,
    ArrowChange,
    ArrowInsert,
    ArrowMerge,
    QueryPlan,
    Scan,
    WritePlan,
)
from acidsql.request import Request
from acidsql.snapshot.key_ranges import come_first, narrowed
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.storage.file_systems import FilesOf
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.copies import OriginalFiles
from acidsql.tracing import Phase, phase
from acidsql.writing.event_files import write_inserts, write_placed
from acidsql.writing.file_slots import SLOT, Slots, assign_slots
from acidsql.writing.outcomes import RowCounts
from acidsql.writing.placed_columns import NEW_BUCKET, OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, value_directories
from acidsql.writing.publishing import StagedFile, WriteTarget, publish
from acidsql.writing.row_placement import Rows
from acidsql.writing.statement_transactions import LateWork, row_counts, write_target
from acidsql.writing.table_write import note_replaced, replaced_parts
from acidsql.writing.write_transaction import WriteTransaction

_IN_MEMORY: Final = 8
"""How many bytes of events may be in memory for each byte of the setting, which counts compressed ones."""


@dataclass(frozen=True, slots=True)
class LeftToSpark:
    """Why Spark has to find the rows of a statement."""

    reason: str


@dataclass(frozen=True, slots=True)
class ArrowWrite:
    """How this engine writes the rows of a statement.

    `run` does it in the open transaction of the statement; it gives None, and nothing is written, if Spark has to find
    the rows."""

    run: Callable[[WriteTransaction, LateWork], RowCounts | None]
    needs_spark: bool = False
    """Whether Spark computes the source of a MERGE."""


class SourceEngine(Protocol):
    """What computes the source of a MERGE: Spark."""

    def source_rows(
        self,
        source: QueryPlan,
        takes: Callable[[Any], bool],
        most_bytes: int,
        plan: WritePlan,
        request: Request,
        txn: WriteTransaction,
        work: LateWork,
    ) -> Any | None:
        """The rows as an Arrow table; None if there are too many, or `takes` refuses their types."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the rows of a MERGE's source come from: the call, a table that this process reads, or Spark."""

    plan: WritePlan
    merge: ArrowMerge
    of_call: pa.Table | None
    table: Scan | None

    @classmethod
    def of(cls, plan: WritePlan, merge: ArrowMerge, request: Request, reads: Callable[[Table], bool]) -> _Source:
        """`reads` tells whether this process reads the files of a table."""
        if merge.rows is None:
            return cls(plan, merge, None, None)
        if merge.source.scans:
            (scan,) = merge.source.scans
            return cls(plan, merge, None, scan if reads(scan.table) else None)
        return cls(plan, merge, rows_of_call(merge, plan.target, request.frames), None)

    @property
    def needs_spark(self) -> bool:
        return self.of_call is None and self.table is None

    @property
    def schema(self) -> pa.Schema:
        """The columns of rows that Spark need not compute."""
        return self.of_call.schema if self.of_call is not None else schema_of_table(self.merge, self.plan.target)

    def takes(self, schema: pa.Schema) -> bool:
        return merged_rows.takes_source(self.plan, self.merge, schema)


@dataclass(frozen=True, slots=True)
class ArrowExecutor:
    """Runs the DML statements of a session that need no Spark. `sources` gives the Spark engine where it has to compute
    the source of a MERGE, `settings` are the live settings of the session, `may_read` tells whether this process is to
    read so many rows of a table, and `reads` whether it reads the files of a table at all."""

    files_of: FilesOf
    sources: Callable[[], SourceEngine]
    footers: FooterCache
    settings: Mapping[str, str]
    may_read: Callable[[int], bool]
    reads: Callable[[Table], bool]

    def prepared(self, plan: WritePlan, request: Request) -> ArrowWrite | LeftToSpark:
        """How to write the rows of a statement that `write_choice` gives to this engine, or why its values are for
        Spark. Nothing has happened in either case."""
        match plan.arrow:
            case ArrowInsert():
                return self._insert(plan, plan.arrow, request)
            case ArrowChange():
                return self._change(plan, plan.arrow)
            case ArrowMerge():
                return self._merge(plan, plan.arrow, request)
            case None:
                return LeftToSpark("only Spark computes its rows")
            case _:
                assert_never(plan.arrow)

    @property
    def _most_bytes(self) -> int:
        return int(self.settings.get(DRIVER_BYTES, 0))

    @property
    def _most_memory(self) -> int:
        return self._most_bytes * _IN_MEMORY

    def _insert(self, plan: WritePlan, insert: ArrowInsert, request: Request) -> ArrowWrite | LeftToSpark:
        rows = inserted_columns.rows_of(insert, plan.target, request.frames)
        if rows is None:
            return LeftToSpark("Spark decides what a column stores of one of its values")
        if rows.nbytes > self._most_memory:
            return LeftToSpark(f"its rows take more memory than {DRIVER_BYTES} allows")

        def write(txn: WriteTransaction, _: LateWork) -> RowCounts:
            txn.view()  # the first statement of a transaction fixes its snapshot
            return self._staged_and_published(plan, (), txn, lambda target: _staged_inserts(plan, rows, target))

        return ArrowWrite(write)

    def _change(self, plan: WritePlan, change: ArrowChange) -> ArrowWrite | LeftToSpark:
        changes = changed_rows.changes_of(plan, change)
        if isinstance(changes, str):
            return LeftToSpark(changes)
        if not self._most_bytes:
            return LeftToSpark(f"{DRIVER_BYTES} is 0")

        def write(txn: WriteTransaction, _: LateWork) -> RowCounts | None:
            bound = StatementSnapshots(self.files_of, txn.view()).bind(plan.scans[0])
            footers = replace(self.footers, copies=OriginalFiles())
            with phase(Phase.SCAN):
                placed = changed_rows.placed_changes(plan, changes, bound, footers, self.may_read, self._most_memory)
            return None if placed is None else self._published(plan, bound, txn, placed)

        return ArrowWrite(write)

    def _merge(self, plan: WritePlan, merge: ArrowMerge, request: Request) -> ArrowWrite | LeftToSpark:
        targets = [scan for scan in plan.scans if scan.is_target]
        if len(targets) != 1:
            return LeftToSpark("its source reads the target too")
        if not self._most_bytes:
            return LeftToSpark(f"{DRIVER_BYTES} is 0")

        source = _Source.of(plan, merge, request, self.reads)
        if not source.needs_spark and not source.takes(source.schema):
            return LeftToSpark("only Spark compares or stores a column of its source")

        def write(txn: WriteTransaction, work: LateWork) -> RowCounts | None:
            def by_spark() -> pa.Table | None:
                return self.sources().source_rows(
                    merge.source, source.takes, self._most_bytes, plan, request, txn, work
                )

            found = self._merged(source, targets[0], txn, by_spark)
            return None if found is None else self._published(plan, found[0], txn, found[1])

        return ArrowWrite(write, needs_spark=source.needs_spark)

    def _merged(
        self, source: _Source, scan: Scan, txn: WriteTransaction, by_spark: Callable[[], pa.Table | None]
    ) -> tuple[BoundScan, Placed] | None:
        """What was read of the target, and the events of a MERGE; None if Spark has to find them."""
        plan, merge = source.plan, source.merge
        footers = replace(self.footers, copies=OriginalFiles())
        snapshots = StatementSnapshots(self.files_of, txn.view())

        def target(scan: Scan) -> merged_rows.TargetRows | None:
            found = merged_rows.TargetRows.of(plan, merge, snapshots.bind(scan), footers)
            return found if found is not None and self.may_read(found.count) else None

        rows = source.of_call
        if source.table is not None:
            with phase(Phase.SCAN):
                bound = snapshots.bind(source.table)
                rows = rows_of_table(merge, plan.target, bound, footers, self.may_read, self._most_memory)
        is_pruned = bool(plan.key_queries)
        if rows is None:
            if not (is_pruned and come_first(scan, merge.keys, snapshots)) and target(scan) is None:
                return None
            rows = by_spark()
        if rows is None or rows.get_total_buffer_size() > self._most_memory:
            return None
        keys = {column: rows.column(key) for column, key in merge.keys.items()}
        found = target(narrowed(scan, keys) if is_pruned else scan)
        if found is None:
            return None
        with phase(Phase.SCAN):
            placed = merged_rows.merged(plan, merge, rows, found, self._most_memory)
        return None if placed is None else (found.prepared.bound, placed)

    def _published(self, plan: WritePlan, bound: BoundScan, txn: WriteTransaction, placed: Placed) -> RowCounts:
        """Writes and publishes the events of rows that were found in a scan of the target."""

        def stage(target: WriteTarget) -> list[StagedFile]:
            return write_placed(placed.events, plan, target, placed.slots, placed.rows)

        return self._staged_and_published(plan, bound.parts, txn, stage)

    def _staged_and_published(
        self,
        plan: WritePlan,
        parts: Sequence[BoundPart],
        txn: WriteTransaction,
        stage: Callable[[WriteTarget], list[StagedFile]],
    ) -> RowCounts:
        """Stages the files, then publishes them. `txn` knows at any moment what to undo. `parts` are the partitions
        that were read."""
        write = txn.begin(target := write_target(plan, parts, txn, self.files_of(plan.target.location)))
        write.staged.extend(stage(target))
        txn.opened.require_open()
        replaced = replaced_parts(plan, write, lambda: StatementSnapshots(self.files_of, txn.view()))
        publish(target, write.staged, write.made, txn.siblings(write), txn.opened.require_open)
        if replaced is not None:
            note_replaced(write, replaced)
        return row_counts(plan, write.staged)


def _staged_inserts(plan: WritePlan, rows: Rows, target: WriteTarget) -> list[StagedFile]:
    if plan.inserts_only:
        return write_inserts(rows.data, target)
    slots = assign_slots(plan.branches, (), 1, plan.target.bucket_count)
    return write_placed(_placed(plan, rows, slots), plan, target, slots)


def _placed(plan: WritePlan, rows: Rows, slots: Slots) -> Any:
    """The rows as placed events (acidsql/writing/placed_columns.py)."""
    count = rows.num_rows
    new = np.zeros(count, np.int64) if rows.buckets is None else rows.buckets
    columns: dict[str, Any] = {BRANCH: np.zeros(count, np.int64)}
    columns |= {name: pa.nulls(count, pa.int64()) for name in (OLD_WRITE_ID, OLD_BUCKET, OLD_ROW)}
    places = pa.array(rows.places)
    for number, name in enumerate(value_directories(plan.target)):
        texts = pa.array([values[number] for values in rows.partitions], pa.string())
        columns[name] = texts.take(places)
    columns[NEW_BUCKET] = new
    columns[SLOT] = np.array(slots.by_bucket(0), np.int64)[new]
    data = rows.data.combine_chunks()
    return pa.table({**columns, **dict(zip(data.column_names, data.columns, strict=True))})
