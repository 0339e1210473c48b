"""Runs plans on Spark: one snapshot for each statement, one Spark write for each table, files published before the
commit (acidsql/writing/statement_transactions.py).

    one ValidTxnList, one ValidWriteIdList per table -> list the directories -> the plan's query -> staged files
    -> published files
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, assert_never

from pyspark.sql import DataFrame, SparkSession

from acidsql.acid.row_id import RowId
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.planner.plan import DRIVER_BYTES, FrameScan, MultiWritePlan, QueryPlan, Scan, WritePlan
from acidsql.planner.wall_clock import tells_wall_clock_time
from acidsql.request import Request
from acidsql.snapshot.read_transactions import Reader
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.snapshot.statement_snapshots import StatementSnapshots
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories
from acidsql.spark.catalyst.sessions import active_session_kept, adopt
from acidsql.spark.collected_rows import small_rows
from acidsql.spark.engine import Engine
from acidsql.spark.failures import fetch, translate
from acidsql.spark.frames.answer_frames import QueryRows, answer, read_by
from acidsql.spark.frames.caller_frames import plan_text, to_frame
from acidsql.spark.frames.query_columns import as_shown, hive_columns, with_own_names
from acidsql.spark.frames.read_files import ReadFiles
from acidsql.spark.frames.readers import FrameReaders
from acidsql.spark.running_spark import StatementSpark
from acidsql.spark.scan.change_scan import FewChanges, changes_frame, frame_of_changes
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.spark.scan.shared_scan import scanned_once
from acidsql.spark.scan.source_keys import narrow
from acidsql.spark.scan.table_scan import scan_frame
from acidsql.spark.session.jobs import job_description, was_cancelled
from acidsql.spark.session.jvm_loss import SPARK_ERRORS
from acidsql.spark.session.parameter_values import has_instant
from acidsql.spark.session.time_zone import ZONE
from acidsql.spark.target_pruning import pruned
from acidsql.spark.write.staging import check_format
from acidsql.spark.write.table_writer import (
    check_disjoint,
    found_events,
    replaced_directories,
    stage,
    static_partition,
)
from acidsql.storage.file_systems import FilesOf
from acidsql.storage.footer_cache import FooterCache
from acidsql.writing.outcomes import RowCounts, Written
from acidsql.writing.publishing import WriteTarget, empty, publish
from acidsql.writing.session_transaction import SharedTransaction
from acidsql.writing.statement_transactions import LateWork, StatementTransactions, row_counts, write_target
from acidsql.writing.steering import Steering
from acidsql.writing.table_write import note_replaced, replaced_parts
from acidsql.writing.write_transaction import WriteTransaction


class SparkExecutor:
    """Binds plans to snapshots and runs them on Spark."""

    def __init__(
        self,
        engine: Engine,
        files_of: FilesOf,
        transactions: StatementTransactions,
        footers: FooterCache,
        settings: Mapping[str, str],
        steering: Steering,
        few_changes: FewChanges,
    ) -> None:
        """`footers` are those of files that statements have read; `settings` are the live settings of the session;
        `few_changes` reads the changes of a scan if they are few."""
        self._settings = settings
        self._engine = engine
        self._files_of = files_of
        self._transactions = transactions
        self._readers = FrameReaders(transactions.readers)
        self._caches = ScanCaches(footers)
        self._steering = steering
        self._few_changes = few_changes

    def start(self) -> None:
        """Starts Spark if it is not running."""
        _ = self._engine.spark

    def look_after_statement(self) -> None:
        """Called behind each statement of the session but queries (`FrameReaders.look_after_statement`)."""
        self._readers.look_after_statement()

    # -- statements

    def query(self, plan: QueryPlan, request: Request) -> tuple[QueryRows, Callable[[], None]]:
        """The lazy rows of a query on the snapshot of now, and a function that ends its transaction when the rows are
        read. The transaction also ends some time after nobody holds the frames any more."""
        with self.translated(request), self._transactions.session_transaction.alone() as shared:
            if shared is not None:
                return self._query_in(shared, plan, request), lambda: None
            if not plan.scans:
                return self._frame(plan, request, self._transactions.now(), self._caches), lambda: None
            reader = self._transactions.readers.open(self._transactions.locks(plan))
            try:
                caches = self._caches_of(reader)
                read = self._readers.reading(reader, caches.read)
                rows = self._frame(plan, request, self._transactions.now(), caches, read)
                self._readers.keep(reader, rows.frame, read)
            except BaseException:
                self._transactions.readers.end(reader)
                raise
            return rows, lambda: self._transactions.readers.end(reader)

    def _query_in(self, shared: SharedTransaction, plan: QueryPlan, request: Request) -> QueryRows:
        view = self._transactions.view_in(shared, plan)
        caches = self._caches_of(shared.guard)
        read = self._readers.reading(shared.guard, caches.read)
        rows = self._frame(plan, request, view, caches, read)
        self._readers.keep(shared.guard, rows.frame, read)
        return rows

    def _caches_of(self, reader: Reader) -> ScanCaches:
        """The caches for a query whose frames are read as long as `reader` is open."""
        caches = self._caches.of_statement()
        reader.on_end.append(caches.end)
        return caches

    def _statement(self, plan: QueryPlan | WritePlan | MultiWritePlan, request: Request) -> StatementSpark:
        """The private sessions of a statement. It runs in UTC if it uses wall-clock times only."""
        tables = [scan.table for scan in plan.scans]
        views = list(plan.views)
        if not isinstance(plan, QueryPlan):
            tables += [write.target for write in plan.writes]
            views += [view for write in plan.writes for view in write.views]
        text = "\n".join((request.text, *(view.expanded for view in views)))
        in_utc = (
            not request.frames
            and not any(map(has_instant, request.args.values()))
            and tells_wall_clock_time(text, tables)
            and self._engine.running.names_of_its_own().isdisjoint(re.findall(r"\w+", text.lower()))
        )
        return self._engine.running.statement(in_utc=in_utc)

    def _frame(
        self, plan: QueryPlan, request: Request, view: ReadView, caches: ScanCaches, *own: ReadFiles
    ) -> QueryRows:
        spark = self._statement(plan, request)
        self._define_views(spark, plan, request, StatementSnapshots(self._files_of, view), caches)
        rows = with_own_names(spark.rows(plan.sql, request.args), plan.scans)
        reads = (*own, *read_by(request.frames.values()))
        rows = answer(as_shown(rows), request.text, reads)
        spark.drop_views((*(s.view for s in plan.scans), *(f.view for f in plan.frames)))
        return QueryRows(answer(adopt(rows, spark.user), request.text, reads), rows)

    def columns(self, plan: QueryPlan, request: Request, *, of_view: bool = False) -> list[tuple[str, str]]:
        """The names and Hive types of a query's columns. Reads no directory. Raises CREATE_AS_TYPE.

        As in Hive, a column of a view, but not of a table, may have the type of NULL, `void`.
        """
        with self.translated(request):
            spark = self._statement(plan, request)
            self._define_views(spark, plan, request, None, self._caches)
            return hive_columns(spark.rows(plan.sql, request.args), of_view=of_view)

    def spark_plan(self, plan: QueryPlan | WritePlan | MultiWritePlan, request: Request) -> str:
        """Spark's plan of a query, or of the query whose rows a statement writes, as text for people. Lists the
        directories of now, and opens no transaction."""
        with self.translated(request):
            spark = self._statement(plan, request)
            snapshots = StatementSnapshots(self._files_of, self._transactions.now())
            caches = self._caches.of_statement()
            try:
                self._define_views(spark, plan, request, snapshots, caches)
                match plan:
                    case QueryPlan():
                        return plan_text(spark.rows(plan.sql, request.args))
                    case MultiWritePlan():
                        return plan_text(spark.rows(plan.rows, request.args))
                    case WritePlan():
                        return plan_text(found_events(spark, plan, request.args, request.settings(self._settings)).each)
                    case _:
                        assert_never(plan)
            finally:
                caches.end()

    def stored_rows(self, plan: QueryPlan, directories: StoredDirectories, request: Request) -> Iterator[RowPlace]:
        """The rows for which the condition of a query is true, among all that are stored. The query gives row__id and
        INPUT__FILE__NAME of one table."""
        with self.translated(request):
            spark = self._statement(plan, request)
            (scan,) = plan.scans
            caches = self._caches.of_statement()
            try:
                self._engine.running.require_exact_time(scan.table)
                spark.define_view(scan.view, scan_frame(spark.storage, directories.all_rows(scan), caches))
                for row_id, file in fetch(spark.rows(plan.sql, request.args), request.text, None):
                    numbers: Any = row_id
                    place = directories.place_of(RowId(*numbers), str(file))
                    if place is None:
                        raise AcidSqlError(Condition.TABLE_CHANGED, table=scan.table.qualified)
                    yield place
            finally:
                caches.end()

    def write(self, plan: WritePlan | MultiWritePlan, request: Request) -> Written:
        """Runs a DML statement, in a transaction of its own or in that of START TRANSACTION.

        Raises the errors of the statement, LOCK_TIMEOUT, DEADLOCK, and WRITE_CONFLICT if another transaction committed
        first.
        """
        for write in plan.writes:
            check_format(write.target)
        with self.translated(request), self._engine.jobs(_description(plan, request)) as jobs:
            return self._transactions.run(
                plan, request.progress, jobs, lambda txn: self._write_tables(plan, request, txn)
            )

    def write_in(self, plan: WritePlan, request: Request, txn: WriteTransaction, work: LateWork) -> RowCounts:
        """Writes the rows of a statement whose transaction is open and has its locks. `work` gets its jobs."""
        with self.translated(request), self._engine.jobs(_description(plan, request)) as jobs:
            work.running = jobs
            return self._write_tables(plan, request, txn)

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
        """The rows of a query that is a part of a statement, as an Arrow table; None if Spark cannot compute them, and
        where `small_rows` gives None. The transaction of the statement is open and has its locks; `work` gets the
        jobs."""
        caches = self._caches.of_statement()
        with self.translated(request), self._engine.jobs(_description(plan, request)) as jobs:
            work.running = jobs
            spark = self._statement(source, request)
            try:
                self._define_views(spark, source, request, StatementSnapshots(self._files_of, txn.view()), caches)
                return small_rows(spark.sql(source.sql, request.args), takes, most_bytes)
            except SPARK_ERRORS as error:
                if self._engine.lost_by(error) is not None or was_cancelled(error):
                    raise
                txn.opened.require_open()
                return None  # the whole statement's query raises the error, with its place, or has no such error
            finally:
                caches.end()

    # -- snapshots

    def _define_views(
        self,
        spark: StatementSpark,
        plan: QueryPlan | WritePlan | MultiWritePlan,
        request: Request,
        snapshots: StatementSnapshots | None,
        caches: ScanCaches,
    ) -> list[BoundScan]:
        """Defines the views of a plan's scans. They have no rows if there are no snapshots."""
        bound_scans = []
        for scan in plan.scans:
            self._engine.running.require_exact_time(scan.table)
            bound = snapshots.bind(scan) if snapshots is not None else self._without_rows(scan)
            bound_scans.append(bound)
            spark.define_view(scan.view, self._scanned(spark, bound, caches))
        for frame in plan.frames:
            spark.define_view(frame.view, _given_frame(frame, request, spark.query))
        return bound_scans

    def _scanned(self, spark: StatementSpark, bound: BoundScan, caches: ScanCaches) -> DataFrame:
        """The rows of a scan, or the changes that it reads in place of rows."""
        if bound.scan.changes is None:
            return scan_frame(spark.storage, bound, caches)
        few = self._few_changes(bound) if bound.changes is not None else None
        if few is not None:
            return frame_of_changes(spark.storage, bound.scan, few)
        return changes_frame(spark.storage, bound, caches, spark.user.conf.get(ZONE) or "UTC")

    def _without_rows(self, scan: Scan) -> BoundScan:
        return BoundScan(scan, self._files_of(scan.table.location), ())

    # -- writing

    def _write_tables(self, plan: WritePlan | MultiWritePlan, request: Request, txn: WriteTransaction) -> RowCounts:
        """Stages the files of all tables, then publishes them. `txn` knows at any moment what to undo."""
        for one in plan.writes:
            txn.check_unchanged(one.known_target)
        spark = self._statement(plan, request)
        snapshots = StatementSnapshots(self._files_of, txn.view())
        before = len(txn.writes)
        source: AbstractContextManager[None] = nullcontext()
        caches = self._caches.of_statement()
        try:
            if isinstance(plan, MultiWritePlan):
                self._define_views(spark, plan, request, snapshots, caches)
                source = scanned_once(spark, plan, request.args)
            with source:
                counts = [self._write_table(spark, one, request, txn, snapshots, caches) for one in plan.writes]
        finally:
            caches.end()
        written = txn.writes[before:]
        check_disjoint(written)
        for read in read_by(request.frames.values()):
            read.check()  # behind the jobs, and before the rows of another snapshot could be published
        txn.opened.require_open()
        for one, write in zip(plan.writes, written, strict=True):
            if write.target.table is txn.creates:
                txn.check_unchanged(write.target.table)  # CREATE TABLE does not wait for the lock of CREATE TABLE .. AS
            siblings = txn.siblings(write)
            before_it = replaced_parts(one, write, lambda: snapshots)
            publish(write.target, write.staged, write.made, siblings, txn.opened.require_open)
            for directory in write.emptied:
                empty(write.target, directory, write.made, siblings, txn.opened.require_open)
            if before_it is not None:
                note_replaced(write, before_it)
        return RowCounts.sum(counts)

    def _write_table(
        self,
        spark: StatementSpark,
        plan: WritePlan,
        request: Request,
        txn: WriteTransaction,
        snapshots: StatementSnapshots,
        caches: ScanCaches,
    ) -> RowCounts:
        bound = self._bound_scans(spark, plan, request, snapshots, caches)
        self._engine.running.require_exact_time(plan.target)
        parts = [part for b in bound if b.scan.is_target for part in b.parts]
        target = write_target(plan, parts, txn, self._files_of(plan.target.location))
        write = txn.begin(target)
        if _skips_existing(spark, plan, target):
            return RowCounts()
        of_target = [b for b in bound if b.scan.is_target]
        if plan.narrowing is not None:
            narrow(spark, plan.narrowing, of_target, request.args)
        events = found_events(spark, plan, request.args, request.settings(self._settings))
        driver_bytes = int(self._settings.get(DRIVER_BYTES, 0))
        write.staged.extend(stage(events, plan, target, of_target, driver_bytes, self._steering))
        write.emptied.extend(replaced_directories(spark, plan, write))
        return replace(row_counts(plan, write.staged), misfits=events.misfits())

    def _bound_scans(
        self,
        spark: StatementSpark,
        plan: WritePlan,
        request: Request,
        snapshots: StatementSnapshots,
        caches: ScanCaches,
    ) -> list[BoundScan]:
        """Defines the views of the plan's scans, first those whose rows may narrow the scan of the target."""
        if not plan.key_queries:
            return self._define_views(spark, plan, request, snapshots, caches)
        source = tuple(scan for scan in plan.scans if not scan.is_target)
        bound = self._define_views(spark, replace(plan, scans=source), request, snapshots, caches)
        for scan in (scan for scan in plan.scans if scan.is_target):
            found = scan
            for query in plan.key_queries:
                found = pruned(spark, query, found, snapshots, request.args)
            bound += self._define_views(spark, replace(plan, scans=(found,), frames=()), request, snapshots, caches)
        return bound

    # -- edges

    @contextmanager
    def translated(self, request: Request) -> Iterator[None]:
        """Raises an error of Spark, of a file system or of the JVM as an AcidSqlError."""
        try:
            with active_session_kept():
                yield
        except SPARK_ERRORS as error:
            translated = self._engine.lost_by(error) or translate(error, request.text)
            if translated.condition == Condition.DISK_FULL.name:
                self._engine.running.free_disk()
            raise translated from error


def _description(plan: WritePlan | MultiWritePlan, request: Request) -> str:
    targets = " and ".join(dict.fromkeys(w.target.qualified for w in plan.writes))
    return job_description(request.text, f"{plan.operation} {targets}")


def _given_frame(frame: FrameScan, request: Request, spark: SparkSession) -> DataFrame:
    if frame.frame not in request.frames:
        name = f"{{{frame.frame}}}"
        start = request.text.find(name)
        span = Span(request.text, start, start + len(name)) if start >= 0 else None
        raise AcidSqlError(Condition.UNBOUND_PARAMETER, span=span, name=name)
    return to_frame(request.frames[frame.frame], frame.frame, spark)


def _skips_existing(spark: StatementSpark, plan: WritePlan, target: WriteTarget) -> bool:
    """Whether an INSERT OVERWRITE .. IF NOT EXISTS has nothing to do, because its partition exists."""
    if plan.overwrite is None or not plan.overwrite.if_not_exists:
        return False
    values = static_partition(spark, plan)
    return values is not None and target.partition_directory(values) is not None
