"""INSERT without Spark: rows that the statement or a frame gives become files of this process.

The files, row IDs, statement IDs and errors are those of the strategy `ByDriver`, for which Spark computes the rows. It
is decided here which statements need no Spark; every other one, and every one with a value about which there could be
two opinions, goes to `acidsql.spark.executor.Executor` before anything has happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from acidsql.direct import given_columns
from acidsql.ingest.placement import Rows
from acidsql.planner.plan import BRANCH, DRIVER_BYTES, Overwrite, Plan, WritePlan
from acidsql.spark.dml_transactions import DmlTransactions, row_counts, write_target
from acidsql.spark.engine import Engine
from acidsql.spark.executor import Request
from acidsql.spark.failures import translate
from acidsql.spark.outcomes import RowCounts, Written
from acidsql.spark.write.table_writer import Steering
from acidsql.storage.file_systems import LocalFiles, is_local
from acidsql.writing.event_files import can_write_files, write_inserts, write_placed
from acidsql.writing.file_slots import SLOT, assign_slots
from acidsql.writing.placed_columns import NEW_BUCKET, OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, value_directories
from acidsql.writing.publishing import StagedFile, WriteTarget, finish_staged, publish
from acidsql.writing.write_transaction import WriteTransaction

_LOCAL: Final = LocalFiles()


class _NoWork:
    """Nothing runs beside the statement's own thread."""

    def cancel(self) -> None: ...

    def end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class DirectWriter:
    """Runs the statements of a session that need no Spark. `settings` are the live settings of the session."""

    engine: Engine
    dml: DmlTransactions
    steering: Steering
    settings: Mapping[str, str]

    def write(self, plan: Plan, request: Request) -> Written | None:
        """Runs a DML statement; None, and nothing has happened, if it is one for Spark.

        Raises what `DmlTransactions.run` raises, DISK_FULL and STORAGE_FAILED.
        """
        if not self.steering.may_skip_spark or not isinstance(plan, WritePlan):
            return None
        if plan.given is None or not _is_writable(plan):
            return None
        rows = given_columns.rows_of(plan.given, plan.target, request.args, request.frames)
        if rows is None or rows.nbytes > int(self.settings.get(DRIVER_BYTES, 0)):
            return None
        if self.engine.is_running:
            self.engine.require_exact_time(plan.target)
        with _translated(request.text):
            return self.dml.run(plan, request.progress, _NoWork(), lambda txn: _write(plan, rows, txn))


def _is_writable(plan: WritePlan) -> bool:
    """Whether this process can write the table's files, and the rows need neither a check nor a look at the table."""
    table = plan.target
    if isinstance(plan.mode, Overwrite) and plan.mode.if_not_exists:
        return False
    return (
        table.is_transactional
        and not table.constraints.checks
        and is_local(table.location)
        and can_write_files(table, _LOCAL)
        and given_columns.takes(table)
    )


def _write(plan: WritePlan, rows: Rows, txn: WriteTransaction) -> RowCounts:
    """Stages the files, then publishes them. `txn` knows at any moment what to undo."""
    txn.check_unchanged(plan.target)
    txn.view()  # the first statement of a transaction fixes its snapshot
    write = txn.begin(target := write_target(plan, (), txn, _LOCAL))
    write.staged.extend(_staged(plan, rows, target))
    txn.opened.require_open()
    publish(target, write.staged, write.made)
    return row_counts(plan, write.staged)


def _staged(plan: WritePlan, rows: Rows, target: WriteTarget) -> list[StagedFile]:
    if plan.inserts_only:
        write_inserts(rows.data, target)
        return finish_staged(target, None)
    slots = assign_slots(plan.branches, (), 1, plan.target.bucket_count)
    codes = {slot.bucket: code for slot, code in slots.codes.items()}
    write_placed(_placed(plan, rows, codes), plan, target)
    return finish_staged(target, slots.by_code())


def _placed(plan: WritePlan, rows: Rows, codes: Mapping[int, int]) -> Any:
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
    columns[SLOT] = np.array([codes[int(bucket)] for bucket in new], np.int64)
    data = rows.data.combine_chunks()
    return pa.table({**columns, **dict(zip(data.column_names, data.columns, strict=True))})


@contextmanager
def _translated(text: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translate(error, text) from error
