"""DML without Spark: this process finds and writes the rows of small statements, with pyarrow.

The files, row IDs, statement IDs and errors are those of the strategy `ByDriver`, for which Spark computes the rows. It
is decided here which statements need no Spark: an INSERT of given rows, and an UPDATE or DELETE whose condition finds
its rows without a doubt. A MERGE whose clauses depend on its source alone needs Spark for the rows of the source only.
Every other statement goes to `acidsql.spark.executor.Executor` before it has written anything; where that shows only
after a look at the table, in the transaction that is already open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from acidsql.direct import changed_rows, given_columns, merged_rows
from acidsql.direct.placed_events import Placed
from acidsql.ingest.placement import Rows
from acidsql.planner.plan import BRANCH, DRIVER_BYTES, GivenChanges, GivenMerge, GivenRows, Plan, Scan, WritePlan
from acidsql.snapshot.key_ranges import come_first, narrowed
from acidsql.snapshot.scan_binding import BoundPart, BoundScan
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.spark.dml_transactions import row_counts, write_target
from acidsql.spark.engine import Engine
from acidsql.spark.executor import Executor, Request
from acidsql.spark.failures import translate
from acidsql.spark.jobs import LateJobs
from acidsql.spark.outcomes import RowCounts, Written
from acidsql.storage.file_systems import LocalFiles, is_local
from acidsql.storage.orc.copies import OriginalFiles
from acidsql.tracing import Phase, phase
from acidsql.writing.event_files import can_write_files, write_inserts, write_placed
from acidsql.writing.file_slots import SLOT, Slots, assign_slots
from acidsql.writing.placed_columns import NEW_BUCKET, OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, value_directories
from acidsql.writing.publishing import StagedFile, WriteTarget, publish
from acidsql.writing.write_transaction import WriteTransaction

_LOCAL: Final = LocalFiles()
_IN_MEMORY: Final = 8
"""How many bytes of events may be in memory for each byte of the setting, which counts compressed ones."""
_FEW_ROWS: Final = 4_000_000
"""Rows of a target that this process reads in any case."""
_MOST_ROWS: Final = 50_000_000
"""Rows that it reads where Spark would have to be started first."""
_MOST_ROWS_A_CORE: Final = 64_000_000
"""Rows that it reads where Spark runs on one core. Spark takes 1.5 times as long for 5,000,000 rows on two cores, but
less where there are many."""


_Write: TypeAlias = Callable[[WriteTransaction, LateJobs], RowCounts]


@dataclass(frozen=True, slots=True)
class DirectWriter:
    """Runs the statements of a session that need no Spark. `settings` are the live settings of the session."""

    engine: Engine
    executor: Executor
    settings: Mapping[str, str]

    def write(self, plan: Plan, request: Request) -> Written | None:
        """Runs a DML statement; None, and nothing has happened, if it is one for Spark.

        Raises what `DmlTransactions.run` raises, DISK_FULL and STORAGE_FAILED.
        """
        if not self.executor.steering.may_skip_spark or not isinstance(plan, WritePlan) or not _is_writable(plan):
            return None
        match plan.given:
            case GivenRows():
                return self._insert(plan, plan.given, request)
            case GivenChanges():
                return self._change(plan, plan.given, request)
            case GivenMerge():
                return self._merge(plan, plan.given, request)
            case None:
                return None
            case _:
                assert_never(plan.given)

    @property
    def _most_bytes(self) -> int:
        return int(self.settings.get(DRIVER_BYTES, 0))

    def _may_read(self, rows: int) -> bool:
        """Whether this process reads so many rows of a target. Where Spark runs, its tasks may be faster."""
        if rows <= _FEW_ROWS:
            return True
        if not self.engine.is_running:
            return rows <= _MOST_ROWS
        return rows * self.engine.spark.sparkContext.defaultParallelism <= _MOST_ROWS_A_CORE

    @property
    def _most_memory(self) -> int:
        return self._most_bytes * _IN_MEMORY

    def _run(
        self, plan: WritePlan, request: Request, write: Callable[[WriteTransaction, LateJobs], RowCounts]
    ) -> Written:
        if self.engine.is_running:
            self.engine.require_exact_time(plan.target)
        jobs = LateJobs()
        with _translated(request.text):
            return self.executor.dml.run(plan, request.progress, jobs, lambda txn: write(txn, jobs))

    def _insert(self, plan: WritePlan, given: GivenRows, request: Request) -> Written | None:
        is_conditional = plan.overwrite is not None and plan.overwrite.if_not_exists
        if is_conditional or plan.target.constraints.checks or not given_columns.takes(plan.target):
            return None
        rows = given_columns.rows_of(given, plan.target, request.frames)
        if rows is None or rows.nbytes > self._most_memory:
            return None

        def write(txn: WriteTransaction, _: LateJobs) -> RowCounts:
            txn.check_unchanged(plan.known_target)
            txn.view()  # the first statement of a transaction fixes its snapshot
            return _staged_and_published(plan, (), txn, lambda target: _staged_inserts(plan, rows, target))

        return self._run(plan, request, write)

    def _change(self, plan: WritePlan, given: GivenChanges, request: Request) -> Written | None:
        changes = changed_rows.changes_of(plan, given)
        if changes is None or not self._most_bytes:
            return None

        def write(txn: WriteTransaction, jobs: LateJobs) -> RowCounts:
            txn.check_unchanged(plan.known_target)
            bound = StatementSnapshots(self.engine.files, txn.view()).bind(plan.scans[0])
            footers = replace(self.executor.footers, copies=OriginalFiles())
            with phase(Phase.SCAN):
                placed = changed_rows.placed_changes(plan, changes, bound, footers, self._may_read, self._most_memory)
            if placed is None:
                return self.executor.write_in(plan, request, txn, jobs)
            return _published(plan, bound, txn, placed)

        return self._run(plan, request, write)

    def _merge(self, plan: WritePlan, given: GivenMerge, request: Request) -> Written | None:
        targets = [scan for scan in plan.scans if scan.is_target]
        if len(targets) != 1 or not self._most_bytes or not merged_rows.can_merge(plan, given):
            return None
        self.engine.spark  # noqa: B018 - it computes the source, and starts before the transaction has locks

        def write(txn: WriteTransaction, jobs: LateJobs) -> RowCounts:
            txn.check_unchanged(plan.known_target)
            found = self._merged(plan, given, request, targets[0], txn, jobs)
            if found is None:
                return self.executor.write_in(plan, request, txn, jobs)
            bound, placed = found
            return _published(plan, bound, txn, placed)

        return self._run(plan, request, write)

    def _merged(
        self,
        plan: WritePlan,
        given: GivenMerge,
        request: Request,
        scan: Scan,
        txn: WriteTransaction,
        jobs: LateJobs,
    ) -> tuple[BoundScan, Placed] | None:
        """What was read of the target, and the events of a MERGE; None if Spark has to find them."""
        footers = replace(self.executor.footers, copies=OriginalFiles())
        snapshots = StatementSnapshots(self.engine.files, txn.view())

        def target(scan: Scan) -> merged_rows.TargetRows | None:
            found = merged_rows.TargetRows.of(plan, given, snapshots.bind(scan), footers)
            return found if found is not None and self._may_read(found.count) else None

        is_pruned = bool(plan.key_queries)
        if not (is_pruned and come_first(scan, given.keys, snapshots)) and target(scan) is None:
            return None

        def takes(schema: pa.Schema) -> bool:
            return merged_rows.takes_source(plan, given, schema)

        rows = self.executor.source_rows(given.source, takes, self._most_bytes, plan, request, txn, jobs)
        if rows is None or rows.get_total_buffer_size() > self._most_memory:
            return None
        keys = {column: rows.column(key) for column, key in given.keys.items()}
        found = target(narrowed(scan, keys) if is_pruned else scan)
        if found is None:
            return None
        with phase(Phase.SCAN):
            placed = merged_rows.merged(plan, given, rows, found, self._most_memory)
        return None if placed is None else (found.prepared.bound, placed)


def _is_writable(plan: WritePlan) -> bool:
    """Whether this process can write the table's files."""
    table = plan.target
    return table.is_transactional and is_local(table.location) and can_write_files(table)


def _published(plan: WritePlan, bound: BoundScan, txn: WriteTransaction, placed: Placed) -> RowCounts:
    """Writes and publishes the events of rows that were found in a scan of the target."""

    def stage(target: WriteTarget) -> list[StagedFile]:
        return write_placed(placed.events, plan, target, placed.slots, placed.rows)

    return _staged_and_published(plan, bound.parts, txn, stage)


def _staged_and_published(
    plan: WritePlan, parts: Sequence[BoundPart], txn: WriteTransaction, stage: Callable[[WriteTarget], list[StagedFile]]
) -> RowCounts:
    """Stages the files, then publishes them. `txn` knows at any moment what to undo. `parts` are the partitions that
    were read."""
    write = txn.begin(target := write_target(plan, parts, txn, _LOCAL))
    write.staged.extend(stage(target))
    txn.opened.require_open()
    publish(target, write.staged, write.made, txn.siblings(write), txn.opened.require_open)
    return row_counts(plan, write.staged)


def _staged_inserts(plan: WritePlan, rows: Rows, target: WriteTarget) -> list[StagedFile]:
    if plan.inserts_only:
        return write_inserts(rows.data, target)
    slots = assign_slots(plan.branches, (), 1, plan.target.bucket_count)
    return write_placed(_placed(plan, rows, slots), plan, target, slots)


def _placed(plan: WritePlan, rows: Rows, slots: Slots) -> Any:
    """The rows as placed events (acidsql/spark/write/event_rows.py)."""
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


@contextmanager
def _translated(text: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translate(error, text) from error
